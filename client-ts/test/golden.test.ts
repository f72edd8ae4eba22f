// @vitest-environment jsdom
/** The golden messages that both languages read: this side draws them, hears them, and says them the same way. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { createDesk, type DeskHost } from '../src/desk.ts';
import type { Link } from '../src/link.ts';
import type { ToWebview } from '../src/messages.ts';
import type * as wire from '../src/wire.gen.ts';
import type { MethodName } from '../src/wire.gen.ts';
import { misfit } from '../src/wire.schema.gen.ts';
import { initialState, reduce } from '../webview/state.ts';
import { fakeWebview, snapshot } from './fakeWebview.ts';
import {
  commandApproval,
  diffApproval,
  fetchApproval,
  hostApproval,
  planApproval,
  plainCommand,
  thread,
  toolApproval,
} from './fixtures.ts';

interface Golden {
  method: string;
  params: unknown[];
  result?: unknown[];
}

const FOLDER = path.join(import.meta.dirname, '../../tests/wire/golden');
const golden: Golden[] = readdirSync(FOLDER).map(
  (name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Golden,
);
const of = (method: string): Golden => golden.find((one) => one.method === method)!;
const paramsOf = <T>(method: string): T[] => of(method).params as T[];

it('there is one for each method of the generated types', () => {
  const generated = [
    ...readFileSync(path.join(import.meta.dirname, '../src/wire.gen.ts'), 'utf8').matchAll(/^ {2}"(\w+\/\w+)":/gm),
  ].map((match) => match[1]!);
  expect(
    golden
      .map((one) => one.method)
      .filter((method) => method !== 'initialize')
      .toSorted(),
  ).toEqual(generated.toSorted());
});

it.each(golden.filter((one) => one.method !== 'initialize').map((one) => [one.method, one] as const))(
  '%s fits its type',
  (method, { params, result = [] }) => {
    const name = method as MethodName;
    expect(
      [...params.map((one) => misfit(name, 'params', one)), ...result.map((one) => misfit(name, 'result', one))].filter(
        Boolean,
      ),
    ).toEqual([]);
  },
);

it('our own fixtures fit it too', () => {
  for (const approval of [
    commandApproval(),
    plainCommand(),
    diffApproval(),
    fetchApproval(),
    hostApproval(),
    planApproval(),
    toolApproval(),
  ]) {
    expect(misfit('tool/approvalRequest', 'params', JSON.parse(JSON.stringify(approval)))).toBeUndefined();
  }
  expect(misfit('thread/open', 'result', thread())).toBeUndefined();
});

describe('requests are drawn', () => {
  const approvals = [
    ...paramsOf<wire.ApprovalRequest>('tool/approvalRequest'),
    ...((of('tool/pendingApprovals').result ?? []) as wire.PendingApprovalsResult[]).flatMap(
      (result) => result.approvals,
    ),
  ];
  it.each(approvals.map((approval, index) => [`${index}: ${approval.preview.kind}`, approval] as const))(
    '%s',
    async (_, approval) => {
      const webview = await fakeWebview(snapshot({ approvals: [approval] }));
      expect(webview.find('[data-testid="approval-card"]').dataset['approvalId']).toBe(approval.approvalId);
      expect(webview.find('.card-title').textContent).toMatch(/\?$/);
    },
  );
});

it('chats are heard, and drawn whole', async () => {
  const threads = (of('thread/open').result ?? []) as wire.ThreadOpenResult[];
  const webview = await fakeWebview(
    snapshot(),
    ...threads.map((thread): ToWebview => ({ type: 'threadOpened', thread })),
  );
  for (const update of paramsOf<wire.ThreadUpdate>('thread/update')) {
    const chat: ToWebview = {
      type: 'threadOpened',
      thread: {
        threadId: update.threadId,
        agentName: 'x',
        mode: 'default',
        seq: update.seq - 1,
        events: [],
        approvals: [],
        running: true,
      },
    };
    await webview.say(chat, { type: 'update', update });
    expect(webview.bridge.state.chats[update.threadId]?.seq).toBe(update.seq);
  }
});

it('everything else that is told changes the state without a complaint', () => {
  const told: ToWebview[] = [
    ...paramsOf<wire.ApprovalResolved>('tool/approvalResolved').map((resolved): ToWebview => ({
      type: 'approvalResolved',
      resolved,
    })),
    ...paramsOf<wire.ShellView>('shell/update').map((shell): ToWebview => ({ type: 'shell', shell })),
    ...((of('history/query').result ?? []) as wire.HistoryQueryResult[]).map((page): ToWebview => ({
      type: 'history',
      ...page,
    })),
    ...((of('history/stats').result ?? []) as wire.HistoryStatsResult[]).map((stats): ToWebview => ({
      type: 'historyStats',
      stats,
    })),
    ...((of('agent/list').result ?? []) as wire.AgentListResult[]).map((list): ToWebview => ({
      type: 'agents',
      ...list,
    })),
    ...((of('rule/list').result ?? []) as wire.RuleListResult[]).map((list): ToWebview => ({
      type: 'rules',
      ...list,
      grants: [],
    })),
  ];
  expect(told.reduce(reduce, initialState()).shells.length).toBeGreaterThan(0);
});

it('an answer is said as the golden one', async () => {
  const expected = paramsOf<wire.ApprovalResponseParams>('tool/approvalResponse').find(
    (params) => params.rule !== undefined,
  )!;
  const said: unknown[] = [];
  const link: Link = {
    state: 'running',
    request: async (_, params) => void said.push(params) as never,
    notify: () => undefined,
  };
  const desk = createDesk(
    link,
    { t: (message: string) => message, keptPrompts: () => undefined } as unknown as DeskHost,
    () => undefined,
    () => undefined,
  );
  const { approvalId, digest, reason, editedInput, rule } = expected;
  desk.approvalRequested({
    ...paramsOf<wire.ApprovalRequest>('tool/approvalRequest')[0]!,
    approvalId,
    digest: digest!,
    options: [{ optionId: 'allow_once', name: '', kind: 'allow_once', rule }],
  });
  await desk.answer({ approvalId, digest: digest!, optionId: 'allow_once', reason, editedInput, rule });
  // The scope of a bypass goes with a bypass only, and a confirmation with a rule that was not offered.
  const { bypassScope: _scope, confirmed: _confirmed, ...plain } = expected;
  expect(said).toEqual([plain]);
});
