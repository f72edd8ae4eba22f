/**
 * The figures of the approval history: decisions by kind, prompts by day, waiting and tool time and how they are spread,
 * tokens and cost by model. Sums what `history/stats` gives by day and draws it as bars. Each bar has its words and its number beside it as text, so
 * the bar itself is hidden from assistive technology. It asks for nothing; the history page does.
 */
import { html, nothing, type TemplateResult } from 'lit';

import type * as wire from '../src/wire.gen.ts';
import { revealed } from './drawn.ts';
import { t } from './l10n.ts';
import { byWords, durationWords } from './words.ts';

type Look = 'allow' | 'deny' | 'other';

export interface Bar {
  label: string;
  /** What the length stands for. */
  amount: number;
  /** The amount as a person reads it. */
  words: string;
  look: Look;
  /** A second line, and a third. */
  more?: string;
  time?: string;
}

const DAYS = 14;
const DAY = 86_400_000;

export function figures(stats: wire.HistoryStatsResult | undefined): TemplateResult {
  return html`<section class="charts" aria-label=${t('Figures')} data-testid="history-figures">
    ${stats ? charts(stats) : html`<p class="empty">${t('Loading')}</p>`}
  </section>`;
}

function charts({ calls, models, times, activeHours }: wire.HistoryStatsResult): TemplateResult[] {
  const left = t('Filters by verdict or text leave models out.');
  return [
    chart(t('Decisions'), decisionBars(calls)),
    chart(
      t('Prompts by day (UTC)'),
      promptBars(calls),
      [t('Calls that you answered, or that nobody answered in time.'), rateWords(calls, activeHours)]
        .filter(Boolean)
        .join(' '),
    ),
    chart(t('Waiting and tool time'), timeBars(calls)),
    chart(t('How long calls waited for you'), spreadBars(times, 'waited')),
    chart(t('How long tools ran'), spreadBars(times, 'ran')),
    chart(
      t('Tokens by model'),
      modelBars(models, calls),
      models.length === 0 ? left : t('The cost is of requests whose price is known.'),
    ),
  ];
}

/** Who or what decided, the most frequent first. */
export function decisionBars(calls: readonly wire.CallFigures[]): Bar[] {
  const sums = new Map<string, Bar>();
  for (const { verdict, by, calls: count } of calls) {
    if (count === 0) continue; // rows of calls that ended on another day than they were decided on
    const known = sums.get(`${verdict} ${by}`);
    const amount = (known?.amount ?? 0) + count;
    sums.set(`${verdict} ${by}`, {
      label: [verdictWords(verdict), by ? byWords(by) : ''].filter(Boolean).join(' '),
      amount,
      words: numberWords(amount),
      look: verdict === 'allow' || verdict === 'deny' ? verdict : 'other',
    });
  }
  return [...sums.values()].sort((one, other) => other.amount - one.amount);
}

/** How often a person was asked on each of the last days that have calls, with the days between them. */
export function promptBars(calls: readonly wire.CallFigures[]): Bar[] {
  const days = calls.map(({ day }) => Date.parse(`${day}T00:00:00Z`)).filter((at) => !Number.isNaN(at));
  if (days.length === 0) return [];
  const last = days.reduce((one, other) => Math.max(one, other));
  const first = Math.max(
    days.reduce((one, other) => Math.min(one, other)),
    last - (DAYS - 1) * DAY,
  );
  return Array.from({ length: (last - first) / DAY + 1 }, (_, index) => {
    const date = new Date(first + index * DAY);
    const day = date.toISOString().slice(0, 10);
    const asked = calls.filter((one) => one.day === day && isPrompt(one));
    const amount = sum(asked.map((one) => one.calls));
    return {
      label: date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
      amount,
      words: numberWords(amount),
      look: 'other',
    };
  });
}

/** How long calls waited for an answer, and how long their tools took. */
export function timeBars(calls: readonly wire.CallFigures[]): Bar[] {
  const rows: [string, number][] = [
    [t('Waiting for you'), sum(calls.map(({ waitedMs }) => waitedMs))],
    [t('Tools at work'), sum(calls.map(({ toolMs }) => toolMs))],
  ];
  if (rows.every(([, amount]) => amount === 0)) return [];
  return rows.map(([label, amount]) => ({ label, amount, words: tookWords(amount), look: 'other' }));
}

function tookWords(ms: number): string {
  return durationWords(ms) || t('{0} ms', ms);
}

/** How many calls took how long; empty where none did. */
export function spreadBars(times: readonly wire.CallTimes[], kind: 'waited' | 'ran'): Bar[] {
  if (times.every((one) => one[kind] === 0)) return [];
  return times.map((one, index): Bar => {
    const above = times[index - 1]?.upToMs ?? 0;
    return {
      label: one.upToMs === undefined ? t('more than {0}', boundWords(above)) : t('up to {0}', boundWords(one.upToMs)),
      amount: one[kind],
      words: numberWords(one[kind]),
      look: 'other',
    };
  });
}

/** A bound of a bucket, which is whole seconds or minutes. */
function boundWords(ms: number): string {
  return ms < 60_000 ? t('{0} s', numberWords(ms / 1000)) : t('{0} min', numberWords(ms / 60_000));
}

/** How often a person was asked in an hour in which an agent worked. */
function rateWords(calls: readonly wire.CallFigures[], activeHours: number): string {
  if (activeHours === 0) return '';
  const rate = sum(calls.filter(isPrompt).map((one) => one.calls)) / activeHours;
  return t('{0} in each hour with calls.', rate.toLocaleString(undefined, { maximumFractionDigits: 1 }));
}

function isPrompt({ by }: wire.CallFigures): boolean {
  return by === 'user' || by === 'timeout';
}

/** What each model took, and how long its calls waited and ran; a hosted agent's is not known, so the agent stands for it. */
export function modelBars(models: readonly wire.ModelFigures[], calls: readonly wire.CallFigures[] = []): Bar[] {
  const groups = new Map<string, wire.ModelFigures[]>();
  for (const one of models) {
    const name = one.model ?? t('Model of {0}', one.agentName);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups]
    .map(([label, each]): Bar => {
      const input = sum(each.map((one) => one.inputTokens));
      const output = sum(each.map((one) => one.outputTokens));
      const costs = each.flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
      return {
        label,
        amount: input + output,
        words:
          costs.length > 0 ? `${numberWords(input + output)} · ${costWords(sum(costs))}` : numberWords(input + output),
        look: 'other',
        more: t(
          'Requests: {0}, input: {1} (cached: {2}), output: {3}',
          numberWords(sum(each.map((one) => one.requests))),
          numberWords(input),
          numberWords(sum(each.map((one) => one.cachedTokens))),
          numberWords(output),
        ),
        ...modelTime(calls.filter(({ model }) => model !== undefined && model === each[0]?.model)),
      };
    })
    .sort((one, other) => other.amount - one.amount);
}

function modelTime(calls: readonly wire.CallFigures[]): Pick<Bar, 'time'> {
  const waited = sum(calls.map(({ waitedMs }) => waitedMs));
  const ran = sum(calls.map(({ toolMs }) => toolMs));
  return waited + ran === 0
    ? {}
    : { time: t('Waiting for you: {0}, tools at work: {1}', tookWords(waited), tookWords(ran)) };
}

function chart(title: string, bars: readonly Bar[], note = ''): TemplateResult {
  const most = bars.reduce((known, { amount }) => Math.max(known, amount), 0);
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    ${bars.length === 0 ? html`<p class="facts">${t('None')}</p>` : html`<ul aria-label=${title}>${bars.map((bar) => line(bar, most))}</ul>`}
    ${note === '' ? nothing : html`<p class="facts">${note}</p>`}
  </figure>`;
}

/** The length is an attribute of the drawing, since the page's content policy takes no styles. */
function line({ label, amount, words, look, more, time }: Bar, most: number): TemplateResult {
  const share = most === 0 ? 0 : (100 * amount) / most;
  return html`<li>
    <span class="chart-label">${revealed(label)}</span> <span class="chart-number">${words}</span>
    <svg class="chart-bar ${look}" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width=${share} height="1"></rect></svg>
    ${[more, time].map((text) => (text === undefined ? nothing : html`<span class="facts">${text}</span>`))}
  </li>`;
}

function verdictWords(verdict: wire.Verdict | undefined): string {
  return verdict === 'allow' ? t('allowed') : verdict === 'deny' ? t('denied') : t('asked');
}

function numberWords(value: number): string {
  return value.toLocaleString();
}

function costWords(dollars: number): string {
  return dollars.toLocaleString(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
