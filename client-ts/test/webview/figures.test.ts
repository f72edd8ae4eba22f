// @vitest-environment jsdom
/** The figures of the approval history: sums, the words beside the bars, and when they are asked for. */
import axe from 'axe-core';
import { describe, expect, it } from 'vitest';

import type { ToWebview } from '../../src/messages.ts';
import type * as wire from '../../src/wire.gen.ts';
import { type Bar, decisionBars, modelBars, promptBars, spreadBars, timeBars } from '../../webview/figures.ts';
import { fakeWebview, snapshot } from '../fakeWebview.ts';
import { historyStats } from '../fixtures.ts';

const call = (more: Partial<wire.CallFigures>): wire.CallFigures => ({
  day: '2026-11-20',
  agentName: 'Countersign',
  calls: 1,
  waitedMs: 0,
  toolMs: 0,
  ...more,
});
const model = (more: Partial<wire.ModelFigures>): wire.ModelFigures => ({
  day: '2026-11-20',
  agentName: 'Countersign',
  requests: 1,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  ...more,
});
const amounts = (bars: Bar[]): [string, number][] => bars.map(({ label, amount }) => [label, amount]);

describe('decisions by kind', () => {
  it.each<[string, Partial<wire.CallFigures>, string, string]>([
    ['a rule', { verdict: 'allow', by: 'rule' }, 'allowed by a rule', 'allow'],
    ['the mode', { verdict: 'allow', by: 'mode' }, 'allowed by the mode', 'allow'],
    ['the person', { verdict: 'allow', by: 'user' }, 'allowed by you', 'allow'],
    ['a denial', { verdict: 'deny', by: 'rule' }, 'denied by a rule', 'deny'],
    ['nobody in time', { verdict: 'deny', by: 'timeout' }, 'denied because nobody answered', 'deny'],
    ['no end yet', { verdict: 'ask' }, 'asked', 'other'],
  ])('%s', (_, more, label, look) => {
    expect(decisionBars([call(more)])).toMatchObject([{ label, amount: 1, look }]);
  });

  it('sums days and agents, most frequent first, without rows that only ended that day', () => {
    const bars = decisionBars([
      call({ verdict: 'deny', by: 'rule', calls: 2 }),
      call({ verdict: 'allow', by: 'user', calls: 3 }),
      call({ verdict: 'allow', by: 'user', calls: 4, day: '2026-11-21', agentName: 'Other' }),
      call({ verdict: 'allow', by: 'mode', calls: 0, toolMs: 9 }),
    ]);
    expect(amounts(bars)).toEqual([
      ['allowed by you', 7],
      ['denied by a rule', 2],
    ]);
  });
});

describe('prompts by day', () => {
  const counts = (calls: wire.CallFigures[]): number[] => promptBars(calls).map(({ amount }) => amount);

  it('counts what a person answered or let expire, and shows the days between', () => {
    expect(
      counts([
        call({ day: '2026-11-28', by: 'user', verdict: 'allow', calls: 2 }),
        call({ day: '2026-11-28', by: 'rule', verdict: 'allow', calls: 50 }),
        call({ day: '2026-11-30', by: 'timeout', verdict: 'deny', calls: 1 }),
        call({ day: '2026-12-01', by: 'mode', verdict: 'allow', calls: 4 }),
      ]),
    ).toEqual([2, 0, 1, 0]);
  });

  it('shows two weeks at most, the last ones, over the end of a year', () => {
    const bars = promptBars([
      call({ day: '2026-01-01', by: 'user', calls: 9 }),
      call({ day: '2027-01-02', by: 'user', calls: 3 }),
    ]);
    expect([bars.length, bars[0]?.amount, bars.at(-1)?.amount]).toEqual([14, 0, 3]);
    expect(new Set(bars.map(({ label }) => label)).size).toBe(14);
  });

  it('is empty without calls, or with a day that is not a date', () => {
    expect([counts([]), counts([call({ day: 'x' })])]).toEqual([[], []]);
  });
});

it('waiting and tool time are sums over all calls', () => {
  const bars = timeBars([call({ waitedMs: 4000, toolMs: 12 }), call({ waitedMs: 5000, toolMs: 13 })]);
  expect(bars.map(({ label, amount, words }) => [label, amount, words])).toEqual([
    ['Waiting for you', 9000, '9.0 s'],
    ['Tools at work', 25, '25 ms'],
  ]);
  expect(timeBars([call({})])).toEqual([]);
});

it('times are spread over buckets, which name their bounds', () => {
  const times: wire.CallTimes[] = [
    { upToMs: 1000, waited: 0, ran: 5 },
    { upToMs: 60_000, waited: 0, ran: 1 },
    { waited: 0, ran: 2 },
  ];
  expect(spreadBars(times, 'waited')).toEqual([]);
  expect(amounts(spreadBars(times, 'ran'))).toEqual([
    ['up to 1 s', 5],
    ['up to 1 min', 1],
    ['more than 1 min', 2],
  ]);
});

describe('tokens and cost by model', () => {
  it('sums the days of each model, and names the agent where the model is not known', () => {
    const bars = modelBars([
      model({ model: 'small', inputTokens: 5, outputTokens: 1 }),
      model({ model: 'big', inputTokens: 500, outputTokens: 40, cachedTokens: 300, cost: 0.25 }),
      model({ model: 'big', inputTokens: 100, outputTokens: 10, requests: 2, cost: 0.5, day: '2026-11-21' }),
      model({ agentName: 'Claude', inputTokens: 10, outputTokens: 5 }),
    ]);
    expect(amounts(bars)).toEqual([
      ['big', 650],
      ['Model of Claude', 15],
      ['small', 6],
    ]);
    expect(bars[0]?.words).toMatch(/^650 · .*0[.,]75/);
    expect(bars[0]?.more).toBe('Requests: 3, input: 600 (cached: 300), output: 50');
  });

  it('says how long the calls of each model waited and ran', () => {
    const bars = modelBars(
      [model({ model: 'big', inputTokens: 1 }), model({ model: 'small' })],
      [
        call({ model: 'big', waitedMs: 4000, toolMs: 12 }),
        call({ model: 'big', waitedMs: 5000, toolMs: 0 }),
        call({ model: 'small' }),
        call({ waitedMs: 70_000 }), // a hosted agent's
      ],
    );
    expect(bars.map(({ time }) => time)).toEqual(['Waiting for you: 9.0 s, tools at work: 12 ms', undefined]);
  });

  it('shows no cost where no price is known', () => {
    expect(modelBars([model({ model: 'free', inputTokens: 7 })])[0]?.words).toBe('7');
  });
});

describe('on the page', () => {
  const show: ToWebview[] = [
    { type: 'show', page: 'history' },
    { type: 'history', entries: [] },
  ];

  it('are asked for when they are opened, and again with each filter or search, but not while they are closed', async () => {
    const webview = await fakeWebview(snapshot(), ...show);
    expect(webview.sent('historyStats')).toEqual([]);
    webview.button('Figures').click();
    await webview.settle();
    expect(webview.button('Figures').getAttribute('aria-expanded')).toBe('true');
    expect(webview.find('[data-testid="history-figures"]').textContent).toContain('Loading');
    const search = webview.find('input[type="search"]') as HTMLInputElement;
    search.value = 'npm';
    search.dispatchEvent(new Event('input', { bubbles: true }));
    const submit = (): boolean =>
      webview.find('form[role="search"]').dispatchEvent(new Event('submit', { cancelable: true }));
    submit();
    expect(webview.sent('historyStats')).toEqual([{ type: 'historyStats' }, { type: 'historyStats', text: 'npm' }]);
    webview.button('Figures').click();
    await webview.settle();
    submit();
    expect([
      document.querySelector('[data-testid="history-figures"]'),
      webview.sent('historyStats').length,
      webview.sent('history').at(-1),
    ]).toEqual([null, 2, { type: 'history', text: 'npm' }]);
  });

  it.each<[string, wire.HistoryStatsResult]>([
    ['with sums', historyStats()],
    ['without any', { calls: [], models: [], times: [], activeHours: 0 }],
  ])('say every number as text, %s, and axe finds nothing', async (_, stats) => {
    const webview = await fakeWebview(snapshot(), ...show);
    webview.button('Figures').click();
    await webview.say({ type: 'historyStats', stats });
    for (const bar of document.querySelectorAll('.chart li')) {
      expect(bar.querySelector('.chart-label')?.textContent).toMatch(/\S/);
      expect(bar.querySelector('.chart-number')?.textContent).toMatch(/\d/);
      expect(bar.querySelector('svg')?.getAttribute('aria-hidden')).toBe('true');
    }
    expect([...document.querySelectorAll('.chart figcaption')].map((title) => title.textContent)).toEqual([
      'Decisions',
      'Prompts by day (UTC)',
      'Waiting and tool time',
      'How long calls waited for you',
      'How long tools ran',
      'Tokens by model',
    ]);
    document.documentElement.lang = 'en';
    document.title = 'Countersign';
    const { violations } = await axe.run(document, { rules: { 'color-contrast': { enabled: false } } });
    expect(violations.map(({ id }) => id)).toEqual([]);
  });

  it('say how often a person was asked in an hour with calls', async () => {
    const webview = await fakeWebview(snapshot(), ...show);
    webview.button('Figures').click();
    await webview.say({ type: 'historyStats', stats: historyStats() });
    expect(webview.find('[data-testid="history-figures"]').textContent).toContain('2.5 in each hour with calls.');
    await webview.say({ type: 'historyStats', stats: { ...historyStats(), activeHours: 0 } });
    expect(webview.find('[data-testid="history-figures"]').textContent).not.toContain('in each hour');
  });

  it('draw no hidden character of a model or an agent', async () => {
    const webview = await fakeWebview(snapshot(), ...show);
    webview.button('Figures').click();
    await webview.say({
      type: 'historyStats',
      stats: {
        calls: [],
        models: [model({ model: 'a\u202eb' }), model({ agentName: 'c\u200bd' })],
        times: [],
        activeHours: 0,
      },
    });
    const labels = [...document.querySelectorAll('.chart-label')].map((label) => label.textContent);
    expect(labels.toSorted()).toEqual(['Model of c\\u200bd', 'a\\u202eb']);
  });
});
