/**
 * The language models that the editor offers, asked for the server: what comes from `vscode.lm` goes out as the wire's
 * parts, one by one. The editor asks the person for leave the first time.
 */
import * as vscode from 'vscode';

import type { EditorText } from './editorText.ts';
import type * as wire from './wire.gen.ts';

export interface EditorModels {
  list(): Promise<wire.LmListResult>;
  /** Asks; `tell` sends a part. Cancelled by the token. */
  chat(
    params: wire.LmChatParams,
    tell: (part: wire.LmPart) => Promise<void>,
    token: vscode.CancellationToken,
  ): Promise<wire.LmChatResult>;
}

export function createEditorModels(justification: EditorText): EditorModels {
  return {
    async list() {
      const models = await vscode.lm.selectChatModels({});
      return {
        models: models.map(({ id, vendor, family, name, maxInputTokens }) => ({
          id,
          vendor,
          family,
          name,
          maxInputTokens,
        })),
      };
    },
    async chat({ requestId, model: wanted, messages, tools }, tell, token) {
      let parts = 0;
      try {
        const models = await vscode.lm.selectChatModels({});
        const model = models.find(
          ({ id, vendor, family }) => wanted === id || wanted === `${vendor}/${family}` || wanted === family,
        );
        if (!model) {
          const known = models.map(({ vendor, family }) => `${vendor}/${family}`).slice(0, 20);
          return { parts, reason: `the editor does not offer it; it offers ${known.join(', ') || 'none'}` };
        }
        const response = await model.sendRequest(
          messages.map(asMessage),
          {
            justification,
            tools: tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters })),
          },
          token,
        );
        for await (const part of response.stream) {
          const content = asContent(part);
          if (!content) continue;
          parts += 1;
          await tell({ requestId, content });
        }
        return { parts };
      } catch (error) {
        return { parts, reason: reasonOf(error) };
      }
    },
  };
}

/** Why the editor's model did not answer. Where the person did not let us use it, how they can. */
function reasonOf(error: unknown): string {
  if (error instanceof vscode.LanguageModelError && error.code === vscode.LanguageModelError.NoPermissions.name)
    return 'you have not allowed Countersign to use it; send the message again and choose Allow when the editor asks, or allow it with the command Manage Language Model Access';
  return error instanceof Error ? error.message : String(error);
}

function asMessage({ role, content }: wire.LmMessage): vscode.LanguageModelChatMessage {
  return role === 'user'
    ? vscode.LanguageModelChatMessage.User(content.flatMap(userPart))
    : vscode.LanguageModelChatMessage.Assistant(content.flatMap(assistantPart));
}

type UserPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart | vscode.LanguageModelDataPart;
type AssistantPart = vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart;

function userPart(content: wire.LmContent): UserPart[] {
  switch (content.type) {
    case 'text':
      return [new vscode.LanguageModelTextPart(content.text)];
    case 'image':
      return [vscode.LanguageModelDataPart.image(Buffer.from(content.data, 'base64'), content.mimeType)];
    case 'toolResult':
      return [new vscode.LanguageModelToolResultPart(content.callId, [new vscode.LanguageModelTextPart(content.text)])];
    case 'toolCall':
      return [];
  }
}

function assistantPart(content: wire.LmContent): AssistantPart[] {
  switch (content.type) {
    case 'text':
      return [new vscode.LanguageModelTextPart(content.text)];
    case 'toolCall':
      return [new vscode.LanguageModelToolCallPart(content.callId, content.name, JSON.parse(content.input) as object)];
    case 'image':
    case 'toolResult':
      return [];
  }
}

/** What a model may also say, such as its thinking in a form of its own, is passed over. */
function asContent(part: unknown): wire.LmPart['content'] | undefined {
  if (part instanceof vscode.LanguageModelTextPart) return { type: 'text', text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart)
    return { type: 'toolCall', callId: part.callId, name: part.name, input: JSON.stringify(part.input ?? {}) };
  return undefined;
}
