/** Five hundred open requests over a reload of the window: all in the view's model again, whichever way they come. */
import { describe, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import type * as wire from '../src/wire.gen.ts';
import { type Event, initialState, reduce, shownCard, type State } from '../webview/state.ts';
import { agents, commandApproval, threads } from './fixtures.ts';

const NUMBER = 500;
const approvals: wire.ApprovalRequest[] = Array.from({ length: NUMBER }, (_, each) =>
  commandApproval({
    approvalId: `a-${each}`,
    digest: `d-${each}`,
    threadId: `t-${each % 7}`,
    createdAt: new Date(Date.UTC(2026, 10, 20) + each).toISOString(),
  }),
);
const snapshot = (known: readonly wire.ApprovalRequest[], loaded = true): ToWebview => ({
  type: 'snapshot',
  agents: agents(),
  threads: threads(),
  approvals: [...known],
  queued: {},
  models: [],
  modelOf: {},
  trusted: true,
  mac: false,
  strings: {},
  connection: { state: 'running' },
  loaded,
});
const asked = (approval: wire.ApprovalRequest): Event => ({ type: 'approvalRequest', approval });
const ids = (state: State): string[] => state.waiting.map((one) => one.approval.approvalId);
const all = approvals.map((approval) => approval.approvalId);
/** Each in an order that is not its own. */
const shuffled = approvals.map((_, each) => approvals[(each * 137 + 11) % NUMBER] as wire.ApprovalRequest);

describe('all that were open are in the model again', () => {
  const ways: [string, Event[]][] = [
    ['one after the other, as the server takes them up', [snapshot([]), ...approvals.map(asked)]],
    ['in any order', [snapshot([]), ...shuffled.map(asked)]],
    ['in the list that was asked for', [snapshot([], false), snapshot(approvals)]],
    [
      'in the list, some of them told before and some again',
      [
        snapshot([], false),
        ...shuffled.slice(0, 200).map(asked),
        snapshot(approvals),
        ...shuffled.slice(100, 300).map(asked),
      ],
    ],
    ['some in the list, the others told', [snapshot(approvals.slice(0, 250)), ...shuffled.map(asked)]],
  ];
  it.each(ways)('%s', (_, events) => {
    const state = events.reduce(reduce, initialState());
    expect(ids(state)).toEqual(all);
    expect(state.waiting.map((one) => one.approval)).toEqual(approvals);
    expect(shownCard(state)).toBeDefined();
  });
});

it('those that ended while they came back are not in it', () => {
  const ended = approvals.filter((_, each) => each % 2 === 0);
  const gone: Event[] = ended.map(({ approvalId, threadId }) => ({
    type: 'approvalResolved',
    resolved: { approvalId, threadId, state: 'interrupted', by: 'change' },
  }));
  const state = [snapshot([]), ...approvals.map(asked), ...gone].reduce(reduce, initialState());
  expect(ids(state)).toEqual(all.filter((_, each) => each % 2 === 1));
});
