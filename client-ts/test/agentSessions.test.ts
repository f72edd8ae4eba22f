/** The sessions of an agent: what the list shows, and which chat comes of a choice. */
import { beforeEach, expect, it } from 'vitest';

import { listsSessions, mayListSessions, openSession, type SessionsHost } from '../src/agentSessions.ts';
import { createTexts } from '../src/editorText.ts';
import type * as wire from '../src/wire.gen.ts';

let did: unknown[];
let rows: string[];

beforeEach(() => {
  [did, rows] = [[], []];
});

async function open(sessions: wire.AgentSession[], choice: number, more = false): Promise<string | undefined> {
  const host: SessionsHost = {
    ...createTexts((message) => message),
    pick: async (items, question) => {
      rows = [
        String(question),
        ...items.map(({ label, description, detail }) => [label, description, detail].join('|')),
      ];
      return items[choice];
    },
    tell: (level, message) => void did.push([level, String(message)]),
    showWork: async (_, work) => work(() => undefined),
  };
  const request = async (method: string, params: unknown): Promise<never> => {
    did.push([method, params]);
    return (method === 'agent/sessions' ? { sessions, more } : { threadId: 'made' }) as never;
  };
  return openSession({ request }, host, 'It');
}

it('shows titles as plain text and makes a chat of the one that was picked', async () => {
  const sessions = [
    { sessionId: 's-1', title: '$(zap) blue\u202Edoor' },
    { sessionId: 's-2', updatedAt: 'never' },
  ];
  expect(await open(sessions, 1, true)).toBe('made');
  expect(rows[0]).toContain('more than are listed');
  expect(rows[1]).not.toMatch(/\$\(zap\)|\u202E/);
  expect(rows[2]).toBe('s-2||');
  expect(did.at(-1)).toEqual(['thread/create', { agentName: 'It', sessionId: 's-2' }]);
});

it('opens the chat that has the session already', async () => {
  expect(await open([{ sessionId: 's-1', threadId: 't-1' }], 0)).toBe('t-1');
  expect(did).toHaveLength(1);
});

it('does nothing where none was picked, and says so where there is none', async () => {
  expect(await open([{ sessionId: 's-1' }], 7)).toBeUndefined();
  expect(did).toHaveLength(1);
  expect(await open([], 0)).toBeUndefined();
  expect(did.at(-1)).toEqual(['info', 'It has no sessions of this folder.']);
});

it('asks hosted agents only, none that said that it lists nothing, and knows which said that they do', () => {
  const agent: wire.AgentView = {
    agentName: 'It',
    type: 'acp',
    state: 'idle',
    label: 'gated',
    bypass: false,
    default: false,
  };
  expect([agent, { ...agent, listsSessions: true }].map(listsSessions)).toEqual([false, true]);
  expect(mayListSessions(agent)).toBe(true);
  expect(mayListSessions({ ...agent, listsSessions: false })).toBe(false);
  expect(mayListSessions({ ...agent, type: 'builtin' })).toBe(false);
});
