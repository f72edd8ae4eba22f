/** Prompts that are written while a turn runs. */
import { beforeEach, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import { createPrompts, type Prompts } from '../src/prompts.ts';
import type * as wire from '../src/wire.gen.ts';

let sent: unknown[];
let posted: ToWebview[];
let kept: unknown;
let turns: { text: string; end(stopReason: wire.StopReason): Promise<void>; fail(error: Error): Promise<void> }[];
let prompts: Prompts;

const settled = async (): Promise<void> => {
  for (let count = 0; count < 10; count++) await Promise.resolve();
};
const make = (): Prompts =>
  createPrompts(
    {
      request: async (method, params) => {
        sent.push([method, params]);
        return new Promise((resolve, reject) => {
          turns.push({
            text: (params as wire.ThreadPromptParams).text,
            end: async (stopReason) => {
              resolve({ stopReason } as never);
              await settled();
            },
            fail: async (error) => {
              reject(error);
              await settled();
            },
          });
        });
      },
      notify: (method, params) => void sent.push([method, params]),
    },
    { keptPrompts: () => kept, keepPrompts: (queued) => (kept = structuredClone(queued)) },
    (message) => posted.push(message),
    async () => undefined,
    (threadId) => (threadId === 'shown' ? 'plan' : undefined),
  );
const waiting = (): string[] => (prompts.queued()['t'] ?? []).map(({ text }) => text);
const begun = (): string[] => turns.map(({ text }) => text);
const idOf = (text: string): string => prompts.queued()['t']!.find((one) => one.text === text)!.id;

beforeEach(async () => {
  [sent, posted, kept, turns] = [[], [], undefined, []];
  prompts = make();
  for (const text of ['one', 'two', 'three']) void prompts.send('t', text);
  await settled();
});

it('waits for the end of the turn, in its order, one turn each', async () => {
  expect([begun(), waiting()]).toEqual([['one'], ['two', 'three']]);
  await turns[0]!.end('end_turn');
  expect([begun(), waiting()]).toEqual([['one', 'two'], ['three']]);
  await turns[1]!.end('end_turn');
  await turns[2]!.end('end_turn');
  expect([begun(), waiting()]).toEqual([['one', 'two', 'three'], []]);
  expect(posted.filter(({ type }) => type === 'prompted')).toHaveLength(3);
});

it('a prompt of another chat does not wait', async () => {
  void prompts.send('other', 'hello');
  await settled();
  expect(begun()).toEqual(['one', 'hello']);
});

it.each(['cancelled', 'error'] as const)(
  'after a turn that ended with %s the rest waits for the person',
  async (reason) => {
    await turns[0]!.end(reason);
    expect([begun(), waiting()]).toEqual([['one'], ['two', 'three']]);
    void prompts.send('t', 'four');
    await settled();
    expect([begun(), waiting()]).toEqual([
      ['one', 'four'],
      ['two', 'three'],
    ]);
  },
);

it('a server that went away sends nothing by itself', async () => {
  await turns[0]!.fail(new Error('gone'));
  prompts.disconnected();
  expect([begun(), waiting()]).toEqual([['one'], ['two', 'three']]);
  expect(posted.at(-1)).toMatchObject({ type: 'turnEnded', threadId: 't' });
});

it('what was removed is never sent', async () => {
  prompts.remove('t', idOf('two'));
  await turns[0]!.end('end_turn');
  expect([begun(), waiting()]).toEqual([['one', 'three'], []]);
});

it('sent now, it stops the turn and is the next one, whatever stood before it', async () => {
  await prompts.sendNow('t', idOf('three'));
  expect(sent.at(-1)).toEqual(['thread/cancel', { threadId: 't' }]);
  expect(begun()).toEqual(['one']);
  await turns[0]!.end('cancelled');
  expect([begun(), waiting()]).toEqual([['one', 'three'], ['two']]);
});

it('sent now without a turn, it is sent at once', async () => {
  await turns[0]!.end('cancelled');
  void prompts.sendNow('t', idOf('three'));
  await settled();
  expect([begun(), waiting()]).toEqual([['one', 'three'], ['two']]);
});

it('a turn taken up after a reload is waited for too, and what waited is still there', async () => {
  prompts = make();
  expect(waiting()).toEqual(['two', 'three']);
  prompts.opened('t', true);
  void prompts.send('t', 'four');
  await settled();
  expect(waiting()).toEqual(['two', 'three', 'four']);
  prompts.updated({ threadId: 't', seq: 9, events: [{ type: 'done', stopReason: 'end_turn' }] });
  await settled();
  expect([begun().at(-1), waiting()]).toEqual(['two', ['three', 'four']]);
});

it.each([[null], ['text'], [{ t: 'x' }], [{ t: [1, { id: 2, text: 'x' }] }], [{ t: [{ id: 'a' }] }]])(
  'what was kept in another shape is left out: %j',
  (other) => {
    kept = other;
    expect(make().queued()).toEqual({});
  },
);

it('a prompt whose attachments went with the window says so, and waits for the person', async () => {
  void prompts.send('t', 'four', [{ kind: 'image', mimeType: 'image/png', data: 'AAAA' }]);
  await settled();
  expect(prompts.queued()['t']!.at(-1)).toMatchObject({ text: 'four', attached: 1 });
  prompts = make();
  expect(prompts.queued()['t']!.at(-1)).toMatchObject({ text: 'four', attached: 1, lost: true });
  for (const text of ['two', 'three']) prompts.remove('t', idOf(text));
  prompts.opened('t', true);
  prompts.updated({ threadId: 't', seq: 9, events: [{ type: 'done', stopReason: 'end_turn' }] });
  await settled();
  expect([begun(), waiting()]).toEqual([['one'], ['four']]);
  prompts = make();
  expect(prompts.queued()['t']).toMatchObject([{ text: 'four', lost: true }]);
  void prompts.sendNow('t', idOf('four'));
  await settled();
  expect([begun(), waiting()]).toEqual([['one', 'four'], []]);
});

it('sends again what an agent did not take for want of a login, once, and with what was attached', async () => {
  for (const text of ['two', 'three']) prompts.remove('t', idOf(text));
  const file: wire.Attachment = { kind: 'file', path: '/a' };
  void prompts.send('other', 'four', [file]);
  await turns[0]!.fail(Object.assign(new Error('broken'), { data: { kind: 'modelError' } }));
  await turns[1]!.fail(Object.assign(new Error('log in'), { data: { kind: 'needsLogin' } }));
  expect(prompts.sendAgain('t')).toBe(false);
  expect(prompts.sendAgain('other')).toBe(true);
  expect(prompts.sendAgain('other')).toBe(false);
  await settled();
  expect(begun()).toEqual(['one', 'four', 'four']);
  expect(sent.at(-1)).toEqual(['thread/prompt', { threadId: 'other', text: 'four', attachments: [file] }]);
});

it('tells the server the mode in which the window shows the chat', async () => {
  void prompts.send('shown', 'four');
  expect(sent.at(-1)).toEqual(['thread/prompt', { threadId: 'shown', text: 'four', shownMode: 'plan' }]);
});

it('sends nothing again that the agent had begun to answer', async () => {
  for (const text of ['two', 'three']) prompts.remove('t', idOf(text));
  prompts.updated({ threadId: 't', seq: 1, events: [{ type: 'text', text: 'I begin' }] });
  await turns[0]!.fail(Object.assign(new Error('log in'), { data: { kind: 'needsLogin' } }));
  expect(prompts.sendAgain('t')).toBe(false);
});
