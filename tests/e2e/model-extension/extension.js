// Offers one language model to the editor, for models.test.mjs: where the last message asks it to write a file and the request
// offers `write_file`, it calls that tool; a result it repeats. Each request is a line of the file that MODEL_LOG names.

const { appendFileSync } = require('node:fs');
const vscode = require('vscode');

const ABOUT = { id: 'scripted-1', name: 'Scripted 1', family: 'scripted', version: '1', maxInputTokens: 100_000, maxOutputTokens: 10_000, capabilities: { toolCalling: true } };

exports.activate = (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('scripted', {
    provideLanguageModelChatInformation: () => [ABOUT],
    provideTokenCount: async (_model, text) => JSON.stringify(text).length / 4,
    async provideLanguageModelChatResponse(_model, messages, options, progress) {
      const said = messages.map(plain);
      const tools = (options.tools ?? []).map(({ name }) => name);
      appendFileSync(process.env.MODEL_LOG, `${JSON.stringify({ said, tools })}\n`);
      const { results, text } = said.at(-1);
      const wanted = /^write (\S+)/.exec(text)?.[1];
      const say = (words) => progress.report(new vscode.LanguageModelTextPart(words));
      if (results.length > 0) return say(`It is done: ${results.at(-1)}`);
      if (!wanted || !tools.includes('write_file')) return say('There is nothing to write.');
      say('I write it.');
      progress.report(new vscode.LanguageModelToolCallPart('call-1', 'write_file', { path: wanted, content: 'Written by the model of the editor.\n' }));
    },
  }));
};

function plain({ role, content }) {
  const texts = (parts) => parts.filter((part) => part instanceof vscode.LanguageModelTextPart).map((part) => part.value);
  return {
    role: role === vscode.LanguageModelChatMessageRole.User ? 'user' : 'assistant',
    text: texts(content).join(''),
    calls: content.filter((part) => part instanceof vscode.LanguageModelToolCallPart).map(({ name, input }) => ({ name, input })),
    results: content.filter((part) => part instanceof vscode.LanguageModelToolResultPart).map((part) => texts(part.content).join('')),
  };
}
