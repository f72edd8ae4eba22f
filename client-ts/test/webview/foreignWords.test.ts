// @vitest-environment jsdom
/**
 * An agent's own words that look like ours. Our words about a decision stand in `.call-how`, behind an icon, or in an element
 * with a heading of ours; an agent's title is quoted on one line, and its plan and errors stand where no decision is drawn.
 */
import { describe, expect, it } from 'vitest';

import type * as wire from '../../src/wire.gen.ts';
import { fakeWebview, openedWith, snapshot } from '../fakeWebview.ts';
import { agents, plainCommand, toolApproval } from '../fixtures.ts';

/** As our rows, cards and notes say it. */
const OURS = [
  'Edit a.py · Denied · by you',
  'Allowed · by a rule · sandboxed · 1.2 s',
  'checked by Countersign',
  'No rule matches. Default mode asks before commands.',
  '✓ Allowed\n\nchecked by Countersign · by you',
  'safe\t\t\t\t\t· Allowed · by a rule',
  '<span class="call-how">Denied · by you</span>',
  '\ueab2 Allowed · by you \u202e',
  '{"refused":"denied","by":"user","reason":"no","hint":"do without it"}',
];

const call = (agentName: string, title: string, more: Partial<wire.ToolCallEvent> = {}): wire.ToolCallEvent => ({
  type: 'toolCall',
  toolCallId: 'c-x',
  agentName,
  tool: 'acp:execute',
  title,
  kind: 'execute',
  category: 'execute',
  rawInput: {},
  status: 'running',
  ...more,
});
const result = (more: Partial<wire.ToolResultEvent> = {}): wire.ToolResultEvent => ({
  type: 'toolResult',
  toolCallId: 'c-x',
  tool: 'acp:execute',
  success: true,
  output: '',
  decidedBy: 'rule',
  durationMs: 1200,
  ...more,
});
const texts = (selector: string): string[] =>
  [...document.querySelectorAll(selector)].map((element) => element.textContent.trim());

describe.each(OURS)('an agent says %j', (words) => {
  it.each([
    ['a hosted agent', agents(), 'Claude Code'],
    ['an agent that is no longer set up', agents(), 'Removed'],
    ['an agent, before the agents are known', [], 'Claude Code'],
  ])('as the title of a call that runs, and then ended: %s', async (_, known, agentName) => {
    for (const [events, how] of [
      [[call(agentName, words)], 'running'],
      [[call(agentName, words), result()], 'by a rule · 1.2 s'],
    ] as const) {
      const webview = await fakeWebview(snapshot({ agents: known }), openedWith([...events], { agentName }));
      const title = webview.find('.call-title');
      expect(texts('.call-how')).toEqual([how]);
      // Quoted, whole in the quotation, on one line.
      expect([...title.children].map((child) => child.tagName)).toEqual(['Q']);
      expect(title.firstElementChild!.textContent).toBe(title.textContent);
      expect(title.textContent).not.toMatch(/[\n\t\u202e]/);
    }
  });

  it.each([
    ['a hosted agent', agents(), 'Claude Code'],
    ['an agent that is no longer set up', agents(), 'Removed'],
  ])('as the title on a card, where it comes after our words, quoted: %s', async (_, known, agentName) => {
    const approval = plainCommand({ agentName, toolCall: { ...plainCommand().toolCall, title: words } });
    const webview = await fakeWebview(snapshot({ agents: known, approvals: [approval] }), openedWith([]));
    const says = webview.find('.card .says');
    expect(says.querySelector('.says-who')?.textContent).toBe('The agent calls it:');
    expect(says.textContent.trim()).toMatch(/^The agent calls it:/);
    expect(texts('.card .says q')[0]).not.toMatch(/[\n\t\u202e]/);
    // Nowhere else on the card, and below the reason.
    const others = webview.find('.card').cloneNode(true) as HTMLElement;
    others.querySelector('.says')!.remove();
    const quoted = says.querySelector('q')!.textContent;
    if (!words.startsWith('No rule')) expect(others.textContent).not.toContain(quoted);
    const reason = webview.find('.card .why-line');
    expect(reason.compareDocumentPosition(says) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  });

  it('as its plan, which is a list of its own and no row of a decision', async () => {
    await fakeWebview(snapshot(), openedWith([{ type: 'todo', items: [{ text: words, status: 'completed' }] }]));
    expect(texts('.call-how, .decided-line, .card, .note')).toEqual([]);
    expect(document.querySelector('.todo')?.getAttribute('aria-label')).toBe('To do');
    expect(texts('.todo li .sr')).toEqual(['done:']);
    expect(document.querySelectorAll('.todo li > *')).toHaveLength(3);
  });

  it('as the error of a call, which stands in its output and not in the line of the decision', async () => {
    const failed = result({ success: false, output: words });
    const webview = await fakeWebview(snapshot(), openedWith([call('Claude Code', 'Run'), failed]));
    expect(texts('.call-how')).toEqual(['Failed · by a rule · 1.2 s']);
    webview.find('.decided-line').click();
    await webview.settle();
    expect(webview.find('.decided-body cs-rows .rows, .decided-body cs-rows').closest('.decided-line')).toBeNull();
    expect(texts('.call-how')).toEqual(['Failed · by a rule · 1.2 s']);
  });

  it('beside a refusal of the gate, which has a field of its own', async () => {
    const refusal = { kind: 'denied', reason: 'use make', hint: 'do without it' } as const;
    const refused = result({ success: false, output: words, refusal, decidedBy: 'user', durationMs: 0 });
    const webview = await fakeWebview(snapshot(), openedWith([call('Claude Code', 'Run'), refused]));
    expect(texts('.call-how')).toEqual(['Denied · by you']);
    webview.find('.decided-line').click();
    await webview.settle();
    expect(webview.find('.decided-body').textContent).not.toContain(words);
  });
});

describe('a card says each thing once', () => {
  const reason = 'no rule matches. Default mode asks before commands';
  const effect = (resource: string, verdict: wire.Verdict, why: string): wire.ApprovalRequest['effects'][number] => ({
    ...toolApproval().effects[0]!,
    kind: 'command',
    resource,
    verdict,
    evidence: { source: 'default', reason: why },
  });

  it.each<[string, wire.ApprovalRequest['effects']]>([
    ['one part', [effect('a', 'ask', reason)]],
    ['parts with the reason of the card', ['a', 'b', 'c'].map((one) => effect(one, 'ask', reason))],
    [
      'parts with reasons of their own',
      [effect('a', 'ask', reason), effect('b', 'allow', 'it only reads'), effect('c', 'deny', 'a deny rule matches')],
    ],
  ])('with %s: one verdict mark for each, and its own reason only where it is another', async (_, effects) => {
    const webview = await fakeWebview(snapshot({ approvals: [plainCommand({ reason, effects })] }), openedWith([]));
    webview.button('Why?').click();
    await webview.settle();
    const parts = [...document.querySelectorAll('.card .effects > li')].filter((one) =>
      one.querySelector('.effect-kind'),
    );
    expect(parts.map((part) => part.querySelectorAll('.verdict').length)).toEqual(effects.map(() => 1));
    expect(parts.map((part) => part.querySelector('.why')?.textContent.trim())).toEqual(
      effects.map(({ evidence }) => (evidence.reason === reason ? '' : evidence.reason)),
    );
    const said = webview.find('.card').textContent.toLowerCase();
    expect(said.split(reason.toLowerCase())).toHaveLength(2);
  });
});
