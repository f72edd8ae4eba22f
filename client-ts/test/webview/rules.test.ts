// @vitest-environment jsdom
/** The page of rules and grants. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ToWebview } from '../../src/messages.ts';
import type * as wire from '../../src/wire.gen.ts';
import { fakeWebview, keptByEditor, snapshot } from '../fakeWebview.ts';
import { threads } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('rules and grants are listed with what they do', () => {
  const rule: wire.RuleView = {
    ruleId: 'r',
    list: 'allow',
    rule: 'Bash(ls:*)',
    scope: 'user',
    file: '/home/me/proj/.vscode/settings.json',
    line: 4,
    hits: 0,
  };
  const listed = (rules: wire.RuleView[], grants: wire.GrantView[] = []): ToWebview => ({
    type: 'rules',
    rules,
    grants,
    calls: 1200,
    since: '2026-10-30',
  });
  const show: ToWebview = { type: 'show', page: 'rules' };
  const facts = (selector: string): string => document.querySelector(selector)!.textContent.replaceAll(/\s+/g, ' ');

  it.each<[string, Partial<wire.RuleView>, RegExp]>([
    ['how often and when last', { hits: 3, lastUsed: '2026-11-20T09:00:00Z' }, /used 3 times · last used .*:/],
    ['never', {}, /never used · \.vscode\/settings\.json:4/],
    [
      'nothing for long, and what that rests on',
      { idle: { days: 21, calls: 432 } },
      /matched none of 432 calls in the 21 days since it was first seen/,
    ],
    [
      'a stricter rule covers it',
      { problem: '`Bash(ls:*)` never counts: the deny rule `Bash` covers all of it' },
      /Bash\(ls:\*\) never counts: the deny rule Bash covers all of it/,
    ],
  ])('a rule says %s', async (_, more, expected) => {
    await fakeWebview(snapshot(), show, listed([{ ...rule, ...more }]));
    expect(facts('[data-testid="rule-row"]')).toMatch(expected);
    expect(facts('.page')).toContain('The figures are of 1200 calls since');
  });

  it('a page of rules asks for the list and for proposals, and for the list again when a turn ends', async () => {
    const webview = await fakeWebview(snapshot(), show);
    await webview.say({ type: 'turnEnded', threadId: 't-1' });
    expect([webview.sent('rules').length, webview.sent('proposals').length]).toEqual([2, 1]);
  });

  it('a page of rules that was open before and is shown again asks once', async () => {
    keptByEditor.state = { page: 'rules' };
    const webview = await fakeWebview(snapshot(), show);
    expect([webview.sent('rules').length, webview.sent('proposals').length]).toEqual([1, 1]);
    await webview.say(show);
    expect(webview.sent('rules')).toHaveLength(2);
  });

  it('a proposal says what it would have spared, and is added for the scope on its button', async () => {
    const proposal: wire.RuleProposal = {
      rule: 'Bash(make:*)',
      scopes: ['workspace', 'user'],
      spared: 7,
      since: '2026-11-03T08:00:00Z',
      last: '2026-11-20T09:15:00Z',
      examples: ['make test', 'make \u202Elint'],
      agents: ['Countersign'],
    };
    const webview = await fakeWebview(snapshot(), show, listed([]), {
      type: 'proposals',
      found: { proposals: [proposal], looked: 120, most: 1000, unjudged: 4, since: '2026-10-30T07:00:00Z' },
    });
    expect(facts('[data-testid="proposal-row"]')).toMatch(
      /Bash\(make:\*\).*spared you 7 questions since.*begins with “make”.*make test.*make \\u202elint/,
    );
    expect(facts('.page')).toMatch(/From your last 120 answers.*4 could not be judged again/);
    expect(webview.sent('proposalAdd')).toEqual([]);
    webview.button('Allow in this workspace: Bash(make:*)').click();
    webview.button('Allow everywhere: Bash(make:*)').click();
    expect(webview.sent('proposalAdd').map(({ rule: text, scope }) => [text, scope])).toEqual([
      ['Bash(make:*)', 'workspace'],
      ['Bash(make:*)', 'user'],
    ]);
  });

  it('an untrusted workspace offers a proposal for everywhere only', async () => {
    const proposal: wire.RuleProposal = {
      rule: 'Bash(make:*)',
      scopes: ['user'],
      spared: 3,
      since: 's',
      last: 'l',
      examples: [],
      agents: [],
    };
    await fakeWebview(snapshot(), show, {
      type: 'proposals',
      found: { proposals: [proposal], looked: 3, most: 1000, unjudged: 0 },
    });
    expect(
      [...document.querySelectorAll('[data-testid="proposal-row"] button')].map((button) => button.textContent),
    ).toEqual(['Allow everywhere']);
  });

  it('a grant shows whose it is, where, and how long it still counts, and is revoked by one press', async () => {
    const expiresAt = new Date(Date.now() + 90_000).toISOString();
    const grant: wire.GrantView = {
      grantId: 'g',
      rule: 'Bash(ls)',
      scope: 'timed',
      agentName: 'Countersign',
      threadId: 't-1',
      expiresAt,
    };
    const webview = await fakeWebview(snapshot(), show, listed([], [grant]));
    const title = threads().find((thread) => thread.threadId === 't-1')!.title;
    expect(facts('[data-testid="grant-row"]')).toContain(`Countersign · 15 minutes · in “${title}” · 2 min left`);
    const wait = async (seconds: number): Promise<void> => {
      vi.setSystemTime(Date.now() + (seconds - 1) * 1000);
      vi.advanceTimersByTime(1000);
      await webview.settle();
    };
    await wait(50);
    expect(facts('[data-testid="grant-row"]')).toContain('40 s left');
    const before = webview.sent('rules').length;
    await wait(40);
    expect(webview.sent('rules').length).toBeGreaterThan(before);
    webview.button('Revoke Bash(ls)').click();
    expect(webview.sent('grantRevoke')).toEqual([{ type: 'grantRevoke', grantId: 'g' }]);
    const asked = webview.sent('rules').length;
    await webview.say(listed([], []));
    vi.advanceTimersByTime(5000);
    expect(webview.sent('rules').length).toBe(asked);
  });
});
