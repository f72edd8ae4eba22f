// Offers one language model to the editor, for models.test.mjs: where the last message asks it to write a file and the request
// offers `write_file`, it calls that tool; `call TOOL JSON` calls any; a result it repeats. Each request is a line of the file
// that MODEL_LOG names. It is the language support of plain text as well: `wrong` is an error, words refer to their like in the
// .txt files of the workspace and are renamed with them, and a line that ends in a colon is a symbol.

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
      const [, name, input] = /^call (\S+) (.*)$/.exec(text) ?? [];
      const wanted = /^write (\S+)/.exec(text)?.[1];
      const say = (words) => progress.report(new vscode.LanguageModelTextPart(words));
      if (results.length > 0) return say(`It is done: ${results.at(-1)}`);
      if (name && tools.includes(name)) return progress.report(new vscode.LanguageModelToolCallPart('call-1', name, JSON.parse(input)));
      if (!wanted || !tools.includes('write_file')) return say('There is nothing to write.');
      say('I write it.');
      progress.report(new vscode.LanguageModelToolCallPart('call-1', 'write_file', { path: wanted, content: 'Written by the model of the editor.\n' }));
    },
  }));
  const errors = vscode.languages.createDiagnosticCollection('plain');
  const check = (document) => {
    if (document.languageId !== 'plaintext' || document.uri.scheme !== 'file') return;
    errors.set(document.uri, places(document, 'wrong').map(({ range }) => new vscode.Diagnostic(range, 'this word is wrong')));
  };
  context.subscriptions.push(
    errors,
    vscode.workspace.onDidOpenTextDocument(check),
    vscode.workspace.onDidChangeTextDocument(({ document }) => check(document)),
    vscode.languages.registerReferenceProvider('plaintext', {
      provideReferences: (document, position) => used(document.getText(document.getWordRangeAtPosition(position))),
    }),
    vscode.languages.registerRenameProvider('plaintext', {
      async provideRenameEdits(document, position, newName) {
        const word = document.getText(document.getWordRangeAtPosition(position));
        const edit = new vscode.WorkspaceEdit();
        for (const { uri, range } of await used(word)) edit.replace(uri, range, newName);
        return edit;
      },
    }),
    vscode.languages.registerDocumentSymbolProvider('plaintext', {
      provideDocumentSymbols: (document) => places(document, '.*(?=:$)').map(({ range }) => new vscode.DocumentSymbol(document.getText(range), '', vscode.SymbolKind.Namespace, range, range)),
    }),
  );
  vscode.workspace.textDocuments.forEach(check);
};

async function used(word) {
  const files = await vscode.workspace.findFiles('**/*.txt');
  const documents = await Promise.all(files.map((file) => vscode.workspace.openTextDocument(file)));
  return documents.flatMap((each) => places(each, word));
}

function places(document, pattern) {
  return [...document.getText().matchAll(new RegExp(pattern, 'gm'))].filter(([text]) => text).map(({ index, 0: text }) => {
    const range = new vscode.Range(document.positionAt(index), document.positionAt(index + text.length));
    return new vscode.Location(document.uri, range);
  });
}

function plain({ role, content }) {
  const texts = (parts) => parts.filter((part) => part instanceof vscode.LanguageModelTextPart).map((part) => part.value);
  return {
    role: role === vscode.LanguageModelChatMessageRole.User ? 'user' : 'assistant',
    text: texts(content).join(''),
    calls: content.filter((part) => part instanceof vscode.LanguageModelToolCallPart).map(({ name, input }) => ({ name, input })),
    results: content.filter((part) => part instanceof vscode.LanguageModelToolResultPart).map((part) => texts(part.content).join('')),
  };
}
