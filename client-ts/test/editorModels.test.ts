import { beforeEach, expect, it, vi } from 'vitest';

import type { EditorText } from '../src/editorText.ts';
import type { LmPart } from '../src/wire.gen.ts';

const fake = vi.hoisted(() => {
  class LanguageModelTextPart {
    constructor(readonly value: string) {}
  }
  class LanguageModelToolCallPart {
    constructor(
      readonly callId: string,
      readonly name: string,
      readonly input: object,
    ) {}
  }
  class LanguageModelToolResultPart {
    constructor(
      readonly callId: string,
      readonly content: unknown[],
    ) {}
  }
  class LanguageModelError extends Error {
    constructor(readonly code: string) {
      super('Language model cannot be used');
    }
    static NoPermissions(): LanguageModelError {
      return new LanguageModelError('NoPermissions');
    }
  }
  const models: unknown[] = [];
  return {
    models,
    LanguageModelError,
    LanguageModelTextPart,
    LanguageModelToolCallPart,
    LanguageModelToolResultPart,
    LanguageModelDataPart: { image: (data: Uint8Array, mime: string) => ({ size: data.length, mime }) },
    LanguageModelChatMessage: {
      User: (content: unknown[]) => ({ role: 'user', content }),
      Assistant: (content: unknown[]) => ({ role: 'assistant', content }),
    },
    lm: { selectChatModels: async () => models },
  };
});
vi.mock('vscode', () => fake);

const { createEditorModels } = await import('../src/editorModels.ts');

const asked: unknown[] = [];
let pieces: unknown[];

beforeEach(() => {
  asked.length = 0;
  pieces = [
    new fake.LanguageModelTextPart('I read.'),
    { thinking: 'passed over' },
    new fake.LanguageModelToolCallPart('c', 'read_file', { path: 'a' }),
  ];
  fake.models.splice(0, Infinity, {
    id: 'x-1',
    vendor: 'copilot',
    family: 'gpt',
    name: 'GPT',
    maxInputTokens: 9000,
    async sendRequest(messages: unknown, options: unknown) {
      asked.push(messages, options);
      return {
        stream: (async function* () {
          for (const piece of pieces) {
            if (piece instanceof Error) throw piece;
            yield piece;
          }
        })(),
      };
    },
  });
});

async function chat(model: string) {
  const told: LmPart[] = [];
  const params = {
    requestId: 'r',
    model,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image', mimeType: 'image/png', data: 'aWFn' },
        ],
      },
      { role: 'assistant', content: [{ type: 'toolCall', callId: 'c', name: 'x', input: '{"a":1}' }] },
      { role: 'user', content: [{ type: 'toolResult', callId: 'c', text: 'done' }] },
    ],
    tools: [{ name: 'x', description: 'does', parameters: { type: 'object' } }],
  } as const;
  const result = await createEditorModels('why' as EditorText).chat(
    params as never,
    async (part) => void told.push(part),
    undefined as never,
  );
  return { told, result };
}

it('parts go out as they come, and the answer says how many there were', async () => {
  for (const name of ['x-1', 'gpt', 'copilot/gpt']) {
    const { told, result } = await chat(name);
    expect(told.map(({ content }) => content)).toEqual([
      { type: 'text', text: 'I read.' },
      { type: 'toolCall', callId: 'c', name: 'read_file', input: '{"path":"a"}' },
    ]);
    expect(result).toEqual({ parts: 2 });
  }
});

it('a conversation reaches the model whole', async () => {
  await chat('gpt');
  expect(asked[0]).toEqual([
    { role: 'user', content: [{ value: 'hi' }, { size: 3, mime: 'image/png' }] },
    { role: 'assistant', content: [{ callId: 'c', name: 'x', input: { a: 1 } }] },
    { role: 'user', content: [{ callId: 'c', content: [{ value: 'done' }] }] },
  ]);
});

it('a failure is a reason, and so is a model that is not there', async () => {
  pieces = [new fake.LanguageModelTextPart('half'), new Error('blocked')];
  expect((await chat('gpt')).result).toEqual({ parts: 1, reason: 'blocked' });
  expect((await chat('other')).result.reason).toBe('the editor does not offer it; it offers copilot/gpt');
});

it('a person who did not allow it is told how to', async () => {
  pieces = [fake.LanguageModelError.NoPermissions()];
  expect((await chat('gpt')).result.reason).toMatch(/^you have not allowed Countersign to use it; .* choose Allow /);
  pieces = [new fake.LanguageModelError('Blocked')];
  expect((await chat('gpt')).result.reason).toBe('Language model cannot be used');
});

it('the list says what each model takes', async () => {
  const { models } = await createEditorModels('why' as EditorText).list();
  expect(models).toEqual([{ id: 'x-1', vendor: 'copilot', family: 'gpt', name: 'GPT', maxInputTokens: 9000 }]);
});
