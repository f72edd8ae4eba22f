/** Cards in a real Chromium: what is drawn is what runs, in its order; nothing is approved that was not in view. */
import { readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import type * as wire from '../src/wire.gen.ts';
import { snapshot } from './fakeWebview.ts';
import { agents, commandApproval, options, question, thread, toolApproval } from './fixtures.ts';
import { HOSTILE } from './hostileSubjects.ts';
import { openStage } from './preview/stage.mjs';

/** In CSS pixels: a narrow and a wide view, and both at 200 % zoom of a window 960 by 540. */
const VIEWS = { narrow: [300, 540], wide: [960, 540], zoomed: [480, 270], narrowest: [300, 270] } as const;
const PATIENCE = 60_000;

type Table = Record<string, string>;
const table = (file: string): Table => JSON.parse(readFileSync(`l10n/${file}`, 'utf8')) as Table;
/** Every text of ours made 40 % longer, as other languages are. */
const longer = (file: string): Table =>
  Object.fromEntries(
    Object.keys(table(file)).map((text) => [
      text,
      `${text} ${'länger '.repeat(Math.ceil(text.length / 7)).slice(0, Math.ceil(text.length * 0.4))}`.trimEnd(),
    ]),
  );
/** Our own texts, and the server's. */
const LANGUAGES: [string, Table, Table][] = [
  ['as they are', {}, {}],
  ['40 % longer', longer('bundle.l10n.json'), longer('reasons.json')],
  ...['de', 'ja'].map((language): [string, Table, Table] => [
    `in the language ${language}`,
    table(`bundle.l10n.${language}.json`),
    table(`reasons.${language}.json`),
  ]),
];

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage();
}, PATIENCE);
afterAll(async () => stage.close());

async function shown(
  approvals: wire.ApprovalRequest[],
  view: readonly [number, number],
  ...more: ToWebview[]
): Promise<Page> {
  return shownIn('dark', approvals, view, ...more);
}

async function shownIn(
  theme: string,
  approvals: wire.ApprovalRequest[],
  [width, height]: readonly [number, number],
  ...more: ToWebview[]
): Promise<Page> {
  const page = await stage.browser.newPage({ viewport: { width, height } });
  await page.addInitScript(
    (given) => Object.assign(window, { given }),
    [snapshot({ approvals }), { type: 'threadOpened', thread: thread() }, ...more],
  );
  await page.goto(`${stage.origin}/?theme=${theme}`);
  await page.waitForFunction(
    () => document.querySelector('[data-testid="approval-card"][data-state="waiting"], [data-testid="review-row"]'),
    undefined,
    { timeout: PATIENCE },
  );
  return page;
}

const answers = (page: Page): Promise<{ type: string }[]> =>
  page.evaluate(() =>
    (window as unknown as { posted: { type: string }[] }).posted.filter(
      ({ type }) => type === 'answer' || type === 'batch',
    ),
  );

/** What does not lie whole in the view, or lies under something else. Of a list, its row is scrolled to first. */
const outside = (page: Page, row = 0): Promise<string[]> =>
  page.evaluate((index) => {
    const card = document.querySelectorAll('.card')[index]!;
    if (card.closest('.review')) card.scrollIntoView({ block: 'start' });
    const wanted = [
      card.querySelector('.card-title'),
      card.querySelector('.risks'),
      card.querySelector('.strip'),
      card.querySelector('.why-line, .reason'),
      ...document.querySelectorAll(
        '.card .buttons .primary:not(.menu-button), .card .buttons .split > .secondary, .page-foot .buttons > *',
      ),
    ];
    return wanted.flatMap((element) => {
      if (!element) return [];
      const { top, left, bottom, right, width, height } = element.getBoundingClientRect();
      const name = `${element.className || element.textContent} ${[top, left, bottom, right].map(Math.round).join(' ')}`;
      if (width === 0 || height === 0 || top < -1 || left < -1 || bottom > innerHeight + 1 || right > innerWidth + 1)
        return [name];
      const over = document.elementFromPoint(left + Math.min(width / 2, 40), top + Math.min(height / 2, 8));
      return over && (element.contains(over) || over.contains(element))
        ? []
        : [`${name} is covered by ${over?.className}`];
    });
  }, row);

/** The mark of a hosted agent's label: its color, how that stands out, and what it says. */
const labelOf = (page: Page): Promise<{ color: string; contrast: number; words: string; title: string }> =>
  page.evaluate(() => {
    const label = document.querySelector<HTMLElement>('.card .origin .label')!;
    const dot = label.querySelector('.dot')!;
    const canvas = document.createElement('canvas').getContext('2d')!;
    // What is drawn, with all that is behind it, as light.
    const light = (element: Element): number => {
      const behind: string[] = [];
      for (let at: Element | null = element; at; at = at.parentElement)
        behind.unshift(getComputedStyle(at).backgroundColor);
      for (const color of ['white', ...behind]) {
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
      }
      const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) =>
        value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
    };
    const [low, high] = [light(dot), light(label)].sort((one, other) => one - other);
    return {
      color: getComputedStyle(dot).backgroundColor,
      contrast: (high! + 0.05) / (low! + 0.05),
      words: label.textContent.replace(/[\s·]+/g, ' ').trim(),
      title: label.title,
    };
  });

/** Pairs of characters that are drawn in another order than they stand in the text. */
const disordered = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const element of document.querySelectorAll('.card .rows .line-text, .card .rows .lead, .card .card-title')) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      let last: { rect: DOMRect; text: string } | undefined;
      let count = 0;
      while (walker.nextNode() && count < 1500) {
        const node = walker.currentNode as Text;
        for (let at = 0; at < node.data.length && count < 1500; at++, count++) {
          const size = node.data.codePointAt(at)! > 0xffff ? 2 : 1;
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + size);
          const text = node.data.slice(at, at + size);
          if (size === 2) at++;
          const rects = range.getClientRects();
          const rect = rects[rects.length - 1];
          if (!rect || rect.width === 0) continue;
          const middle = rect.top + rect.height / 2;
          if (last && (middle < last.rect.top - 1 || (middle < last.rect.bottom && rect.left < last.rect.left - 0.5)))
            found.push(`${last.text}${text}`);
          last = { rect, text };
        }
      }
    }
    return found;
  });

/** A linear congruential generator: the same cards each time. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;
}

/** A command with dangers in some of its lines, which the strip leads to, and in parts that stand nowhere in it. */
function withDangers(preview: wire.Preview, next: (below: number) => number): wire.Preview {
  if (preview.kind !== 'command') return preview;
  const part = (text: string, start?: number): wire.CommandPart => ({
    text,
    verdict: 'ask',
    ...(start !== undefined && { start, end: start + text.length }),
    risks: Array.from({ length: next(3) }, () => ({
      id: 'x',
      severity: 'danger',
      text: 'deletes files of the workspace',
    })),
    evidence: { source: 'default', reason: 'no rule matches' },
  });
  const lines = [...preview.command.matchAll(/[^\n]+/g)].slice(0, 40);
  return {
    ...preview,
    parts: [
      ...lines.map(({ 0: text, index }) => part(text, index)),
      ...Array.from({ length: next(3) }, () => part('rm -rf ~')),
    ],
  };
}

/** A hostile subject with agent, reason, risks and options made up. */
function generated(next: (below: number) => number, id: string): wire.ApprovalRequest {
  const words = (most: number): string =>
    Array.from({ length: 1 + next(most) }, () => 'abcdefghij'.slice(0, 1 + next(10))).join(next(3) === 0 ? '\n' : ' ');
  const subjects = Object.values(HOSTILE);
  const subject = subjects[next(subjects.length)]!;
  return {
    ...subject,
    preview: withDangers(subject.preview, next),
    approvalId: `a-${id}`,
    digest: `d-${id}`,
    agentName: words(8),
    reason: words(200),
    risks: Array.from({ length: next(6) }, () => words(6)),
    options: options({ rule: 'Bash(x)', background: next(2) === 0 }),
  };
}

/** Something was not in view yet, so that no press counts. Without this, a press may count once half a second has passed. */
const isUnseen = async (page: Page): Promise<boolean> =>
  (await page.locator('[data-testid="unseen"]:not([data-rows="0"])').count()) > 0;

/** Approved only on its own card, whose button says for how long. */
const lasting = ({ options: offered }: wire.ApprovalRequest): boolean =>
  offered.some(({ kind, scope }) => kind === 'allow_once' && scope === 'chat');

describe('hostile subjects', () => {
  it('are at least forty', () => expect(Object.keys(HOSTILE).length).toBeGreaterThanOrEqual(40));

  it.each(Object.entries(HOSTILE))(
    '%s',
    async (_, approval) => {
      const page = await shown([approval], VIEWS.narrow);
      for (const [name, [width, height]] of Object.entries({ narrow: VIEWS.narrow, narrowest: VIEWS.narrowest })) {
        await page.setViewportSize({ width, height });
        await page.evaluate(
          (given) => window.postMessage(given, '*'),
          snapshot({ approvals: [{ ...approval, approvalId: name, digest: name }] }),
        );
        await page.waitForFunction(
          (id) => document.querySelector(`[data-approval-id="${id}"][data-state="waiting"]`),
          name,
          { timeout: PATIENCE },
        );
        await page.evaluate(() => ((window as unknown as { posted: unknown[] }).posted.length = 0));
        expect(await outside(page)).toEqual([]);
        expect(
          await page.evaluate(
            () =>
              document.documentElement.scrollWidth <= innerWidth &&
              [...document.querySelectorAll('.card .rows')].every((box) => box.scrollWidth <= box.clientWidth),
          ),
        ).toBe(true);
        // The button says for how long where an approval lasts beyond its call, as that of a host does.
        const approve = page.getByRole('button', {
          name: lasting(approval) ? 'Allow for this chat' : 'Approve',
          exact: true,
        });
        await page.locator('.card').evaluate((card: HTMLElement) => card.focus());
        for (let steps = 0; steps < 400 && !(await approve.isEnabled()); steps++) {
          if (steps < 2 && (await isUnseen(page))) await page.keyboard.press('Control+Enter');
          await page.keyboard.press('PageDown');
        }
        expect(await answers(page)).toEqual([]);
        expect(await approve.isEnabled()).toBe(true);
        expect(await outside(page)).toEqual([]);
        expect(await disordered(page)).toEqual([]);
        await approve.click();
        expect(await answers(page)).toHaveLength(1);
      }
      await page.close();
    },
    4 * PATIENCE,
  );
});

describe('hostile subjects in Review all', () => {
  it('what an approval would keep for the chat is not approved there, also once all of it was seen', async () => {
    const approval = Object.values(HOSTILE).find(lasting)!;
    const page = await shown([approval], VIEWS.wide, { type: 'show', page: 'review' });
    await page.locator('.card .rows').evaluate((rows: HTMLElement) => rows.focus());
    const unseen = page.locator('[data-testid="unseen"]');
    for (let steps = 0; steps < 400 && (await unseen.count()) > 0; steps++) {
      if ((await unseen.getAttribute('data-rows')) === '0') break;
      await page.keyboard.press('PageDown');
    }
    await page.locator('.review-end').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => !document.querySelector('.page-foot .facts'), undefined, { timeout: PATIENCE });
    const approve = page.getByRole('button', { name: 'Approve 1 selected', exact: true });

    await approve.click({ force: true });
    expect(await approve.isEnabled()).toBe(false);
    expect(await answers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deny 1 selected', exact: true }).click();
    expect(await answers(page)).toMatchObject([{ type: 'batch', decision: 'reject_once' }]);
    await page.close();
  });

  it.each(Object.entries(HOSTILE).filter(([, approval]) => !lasting(approval)))(
    '%s',
    async (_, hostile) => {
      const approval = { ...hostile, risks: [] };
      const page = await shown([approval], VIEWS.narrowest, { type: 'show', page: 'review' });
      const approve = page.getByRole('button', { name: 'Approve 1 selected', exact: true });
      await page.waitForFunction(() => document.querySelector('.review .rows'));
      expect(await outside(page)).toEqual([]);
      const box = page.locator('.card .rows');
      for (let steps = 0; steps < 400 && !(await approve.isEnabled()); steps++) {
        if (steps < 2 && (await isUnseen(page))) await approve.click({ force: true });
        await box.evaluate((rows: HTMLElement) => rows.focus());
        await page.keyboard.press('PageDown');
        // What is short is seen at once; then the end of its row has to come into view, and the first half second to pass.
        if (await page.locator('[data-testid="unseen"][data-rows="0"], .review cs-rows:not(:has(.strip))').count()) {
          await page.locator('.review-end').scrollIntoViewIfNeeded();
          await page.waitForFunction(
            () => !document.querySelector<HTMLButtonElement>('.page-foot .primary')?.disabled,
            undefined,
            { timeout: PATIENCE },
          );
        }
      }
      expect(await answers(page)).toEqual([]);
      expect(await outside(page)).toEqual([]);
      expect(await disordered(page)).toEqual([]);
      await approve.click();
      expect(await answers(page)).toHaveLength(1);
      await page.close();
    },
    4 * PATIENCE,
  );
});

it(
  'a script of 60 lines is not approved by the mouse before its end was scrolled to, in the card and in Review all',
  async () => {
    const approval = { ...HOSTILE['a danger in line 31 of 60']!, risks: [] };
    for (const review of [false, true]) {
      const page = await shown(
        [approval],
        VIEWS.narrow,
        ...(review ? [{ type: 'show' as const, page: 'review' as const }] : []),
      );
      const approve = page.getByRole('button', { name: review ? 'Approve 1 selected' : 'Approve', exact: true });
      expect(await approve.isEnabled()).toBe(false);
      // To the end in one leap: the middle was in view at no time.
      await page.locator('.card .rows').evaluate((box) => (box.scrollTop = box.scrollHeight));
      await page.waitForFunction(
        () => Number(document.querySelector<HTMLElement>('[data-testid="unseen"]')?.dataset['rows']) < 55,
      );
      expect(await approve.isEnabled()).toBe(false);
      await page.locator('.card .rows').evaluate((box) => (box.scrollTop = 0));
      const rows = page.locator('.card .rows');
      await rows.scrollIntoViewIfNeeded();
      await rows.hover({ position: { x: 40, y: 20 } });
      for (let turn = 0; turn < 80 && !(await approve.isEnabled()); turn++) {
        await page.mouse.wheel(0, 40);
        await page.evaluate(
          () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
        );
      }
      await approve.click({ timeout: PATIENCE });
      expect(await answers(page)).toHaveLength(1);
      await page.close();
    }
  },
  2 * PATIENCE,
);

it.each(LANGUAGES)(
  'title, risks, strip, reason and buttons are in view, whatever the card and the view, with texts %s',
  async (_, strings, reasons) => {
    const next = generator(4242);
    const page = await shown([commandApproval()], VIEWS.wide);
    for (let round = 0; round < 60; round++) {
      const approval = generated(next, String(round));
      const view = { width: 300 + next(700), height: 270 + next(700) };
      await page.setViewportSize(view);
      await page.evaluate(
        (given) => window.postMessage(given, '*'),
        snapshot({ strings, reasons, approvals: next(2) === 0 ? [approval] : [approval, toolApproval()] }),
      );
      await page.waitForFunction(
        (id) => document.querySelector<HTMLElement>(`[data-approval-id="${id}"] .rows`),
        approval.approvalId,
      );
      const denial = approval.preview.kind === 'plan' ? 'Keep planning' : 'Deny';
      expect(await page.getByRole('button', { name: strings[denial] ?? denial, exact: true }).count()).toBe(1);
      expect([view, approval.preview, await outside(page)]).toEqual([view, approval.preview, []]);
    }
    await page.close();
  },
  2 * PATIENCE,
);

it.each([
  ['de', 'Keine Regel passt. Der Modus „Standard“ fragt vor Befehlen', 'löscht Dateien'],
  ['ja', '一致するルールがありません。モード「標準」はコマンドの前に確認します', 'ファイルを削除'],
])(
  'reason and risks in %s fit a view of 300 pixels, and say in English what the server said',
  async (language, reason, risk) => {
    const approval = commandApproval({
      reason: 'no rule matches. Default mode asks before commands',
      risks: ['deletes files', 'runs code that its arguments do not show'],
    });
    const page = await shown([approval], VIEWS.narrow);
    await page.evaluate(
      (given) => window.postMessage(given, '*'),
      snapshot({
        strings: table(`bundle.l10n.${language}.json`),
        reasons: table(`reasons.${language}.json`),
        approvals: [approval],
      }),
    );
    const why = page.locator('.why-line [data-testid="translated"]');
    await why.waitFor({ timeout: PATIENCE });
    expect(await why.textContent()).toBe(reason);
    expect(await why.getAttribute('title')).toBe('no rule matches. Default mode asks before commands');
    const first = page.locator('.risks [data-testid="translated"]').first();
    expect([await first.textContent(), await first.getAttribute('title')]).toEqual([risk, 'deletes files']);
    expect(await outside(page)).toEqual([]);
    // Whose request it is stands in one line, which is cut off.
    const wider = await page.evaluate(() =>
      [...document.querySelectorAll('.card, .card :not(.origin *)')].flatMap((one) =>
        one.getBoundingClientRect().right > innerWidth ? [`${one.className}: ${one.textContent}`] : [],
      ),
    );
    expect(wider).toEqual([]);
    await page.close();
  },
  PATIENCE,
);

/** Sizes at which the layout changes, and those of a narrow view, of 960 by 540 and of both at 200 % zoom. */
const CORNERS = [
  ...Object.values(VIEWS),
  ...[271, 300, 340, 341, 419, 420, 421, 500, 639, 640, 641].flatMap((height) => [
    [300, height] as const,
    [480, height] as const,
  ]),
];

it.each(LANGUAGES.slice(0, 2))(
  'the composer is in view beside title, risks, strip, reason and buttons, whatever the card and the view, with texts %s',
  async (_, strings) => {
    const next = generator(99);
    const page = await shown([commandApproval()], VIEWS.wide);
    const message = page.getByRole('textbox', { name: strings['Message'] ?? 'Message' });
    for (let round = 0; round < 70; round++) {
      const approval = generated(next, String(round));
      const [width, height] = CORNERS[round] ?? [300 + next(300), 270 + next(500)];
      await page.setViewportSize({ width, height });
      const approvals = next(2) === 0 ? [approval] : [approval, toolApproval()];
      const queued: Record<string, { id: string; text: string }[]> =
        next(3) === 0 ? { 't-1': [{ id: 'q', text: 'and then write the changelog' }] } : {};
      const notice = { type: 'notice', level: 'warning', message: `Not attached: ${'words '.repeat(next(20))}` };
      await page.evaluate(
        (given) => given.forEach((one) => window.postMessage(one, '*')),
        [snapshot({ strings, approvals, queued }), ...(next(3) === 0 ? [notice] : [])],
      );
      await page.waitForFunction(
        (id) => document.querySelector<HTMLElement>(`[data-approval-id="${id}"] .rows`),
        approval.approvalId,
      );
      const given = [width, height, approval.preview, approvals.length, queued];
      const isInView = (): Promise<string[]> =>
        page.evaluate(() =>
          ['.composer textarea', '.composer .send'].filter((selector) => {
            const element = document.querySelector(selector)!;
            const { top, left, bottom, right } = element.getBoundingClientRect();
            const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
            return (
              bottom - top < 18 || top < 0 || bottom > innerHeight || right > innerWidth || !element.contains(over)
            );
          }),
        );
      // Where it is pressed, as a person does it, and it takes what is written.
      expect([given, await isInView(), await outside(page)]).toEqual([given, [], []]);
      const text = Array.from({ length: 1 + next(12) }, (_unused, line) => `line ${line}`).join('\n');
      await message.click({ timeout: 5000 });
      await message.fill(text);
      expect(await message.inputValue()).toBe(text);
      expect([given, await isInView(), await outside(page)]).toEqual([given, [], []]);
      await message.fill('');
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    }
    await page.close();
  },
  2 * PATIENCE,
);

it.each(LANGUAGES.slice(0, 2))(
  'the head, words and buttons of a question and the composer are in view, whatever the view, with texts %s',
  async (_, strings) => {
    const page = await shown([commandApproval()], VIEWS.wide);
    for (const [round, [width, height]] of CORNERS.entries()) {
      await page.setViewportSize({ width, height });
      const message = 'Which database shall the tests use? '.repeat(1 + (round % 9));
      const asked = [question({ elicitationId: `q-${round}`, message }), question({ elicitationId: 'behind' })];
      await page.evaluate(
        (given) => window.postMessage(given, '*'),
        snapshot({ strings, approvals: [], questions: round % 2 === 0 ? asked : asked.slice(0, 1) }),
      );
      await page.waitForFunction((id) => document.querySelector(`[data-elicitation-id="${id}"]`), `q-${round}`);
      const hidden = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            '.question .card-title, .question .agent-words, .question .buttons button, .composer textarea, .composer .send',
          ),
        ].flatMap((element) => {
          if (element.closest('.question-body')) element.scrollIntoView({ block: 'start' });
          const { top, left, bottom, right, height: size } = element.getBoundingClientRect();
          const over = document.elementFromPoint(left + Math.min((right - left) / 2, 40), top + Math.min(size / 2, 8));
          const clipped = top < -1 || right > innerWidth + 1 || (bottom > innerHeight + 1 && size < 40);
          return clipped || size < 18 || !over || !(element.contains(over) || over.contains(element))
            ? [`${element.className} ${[top, left, bottom, right].map(Math.round).join(' ')}`]
            : [];
        }),
      );
      expect([width, height, hidden]).toEqual([width, height, []]);
    }
    await page.close();
  },
  2 * PATIENCE,
);

it.each(LANGUAGES)(
  'title, risks, strip and reason of each request in Review all are in view together, and the buttons always, with texts %s',
  async (_, strings) => {
    const page = await shown([commandApproval()], VIEWS.wide, { type: 'show', page: 'review' });
    const next = generator(777);
    for (let round = 0; round < 40; round++) {
      const view = { width: 300 + next(700), height: 270 + next(700) };
      await page.setViewportSize(view);
      const approvals = Array.from({ length: 1 + next(3) }, (_, index) => generated(next, `${round}-${index}`));
      await page.evaluate((given) => window.postMessage(given, '*'), snapshot({ strings, approvals }));
      await page.waitForFunction(
        (id) => document.querySelector<HTMLElement>(`[data-approval-id="${id}"] .rows`),
        approvals.at(-1)!.approvalId,
      );
      for (let row = 0; row < approvals.length; row++)
        expect([view, approvals[row]!.preview, await outside(page, row)]).toEqual([view, approvals[row]!.preview, []]);
    }
    await page.close();
  },
  2 * PATIENCE,
);

it.each(['dark', 'light', 'hc-black', 'hc-light'])(
  'the label of a hosted agent has a color of its own and an explanation in the theme %s',
  async (theme) => {
    const said = { asksOnly: 'asks only', sandboxed: 'sandboxed', unguarded: 'unguarded' } as const;
    const colors = new Set<string>();
    for (const [label, words] of Object.entries(said)) {
      const card = commandApproval({ agentName: 'Claude Code' });
      const agent = agents().find(({ agentName }) => agentName === 'Claude Code')!;
      const labelled = { ...agent, label: label as wire.AgentView['label'] };
      const page = await shownIn(theme, [card], VIEWS.narrow, { type: 'agents', agents: [labelled] });
      await page.waitForFunction(
        (wanted) => document.querySelector('.card .origin .label')?.textContent.includes(wanted),
        words,
        { timeout: PATIENCE },
      );
      const drawn = await labelOf(page);
      colors.add(drawn.color);
      expect([drawn.words, drawn.title.startsWith(`${words}: `)]).toEqual([words, true]);
      // As WCAG 1.4.11 asks of a mark.
      expect(drawn.contrast, `${theme}, ${label}: ${drawn.color}`).toBeGreaterThanOrEqual(3);
      await page.close();
    }
    expect(colors.size).toBe(3);
  },
  2 * PATIENCE,
);

it(
  'what would stall the view is drawn piece by piece',
  async () => {
    const cards: wire.ApprovalRequest[] = [
      commandApproval({
        preview: { kind: 'command', command: `echo ${'\u200B'.repeat(200_000)}`, cwd: '/', parts: [] },
      }),
      commandApproval({
        preview: { kind: 'command', command: `echo ${'a\u200B'.repeat(100_000)}`, cwd: '/', parts: [] },
      }),
      {
        ...toolApproval(),
        preview: {
          kind: 'tool',
          server: 'x',
          input: Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index])),
        },
      },
      commandApproval({
        preview: {
          kind: 'command',
          command: 'ls\n'.repeat(701),
          cwd: '/',
          parts: Array.from({ length: 701 }, () => ({
            text: 'ls',
            verdict: 'ask' as const,
            evidence: { source: 'default' as const, reason: 'no rule matches' },
          })),
        },
      }),
    ];
    for (const card of cards) {
      const page = await shown([card], VIEWS.narrow);
      expect(await page.evaluate(() => document.querySelectorAll('.card *').length)).toBeLessThan(15_000);
      expect(await page.getByRole('button', { name: 'Approve', exact: true }).isEnabled()).toBe(false);
      await page.close();
    }
  },
  2 * PATIENCE,
);
