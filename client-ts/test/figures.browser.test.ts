/** The figures of the approval history in a real Chromium, under the webview's content policy: all themes, narrow too. */
import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import { snapshot } from './fakeWebview.ts';
import { historyStats } from './fixtures.ts';
import { openStage } from './preview/stage.mjs';

const PATIENCE = 60_000;
const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage();
}, PATIENCE);
afterAll(async () => stage.close());

it.each(
  ['dark', 'light', 'hc-black', 'hc-light'].flatMap((theme) =>
    [300, 700].map((width): [string, number] => [theme, width]),
  ),
)(
  'bars are as long as their numbers, seen on their ground, and axe finds nothing: %s, %d px',
  async (theme, width) => {
    const page = await stage.browser.newPage({ viewport: { width, height: 760 } });
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    const given: ToWebview[] = [
      snapshot(),
      { type: 'show', page: 'history' },
      { type: 'history', entries: [] },
      { type: 'historyStats', stats: historyStats() },
    ];
    await page.addInitScript((messages) => Object.assign(window, { given: messages }), given);
    await page.goto(`${stage.origin}/?theme=${theme}`);
    await page.getByRole('button', { name: 'Figures' }).click({ timeout: PATIENCE });
    await page.locator('.chart-bar').first().waitFor({ timeout: PATIENCE });
    const drawn = await page.evaluate(() => {
      const ground = getComputedStyle(document.body).backgroundColor;
      return {
        sideways: document.documentElement.scrollWidth > window.innerWidth,
        bars: [...document.querySelectorAll('.chart')].map((chart) =>
          [...chart.querySelectorAll('li')].map((item) => {
            const bar = item.querySelector('rect')!;
            return {
              share: bar.getBoundingClientRect().width / item.getBoundingClientRect().width,
              height: bar.getBoundingClientRect().height,
              visible: getComputedStyle(bar).fill !== ground && getComputedStyle(bar).fill !== 'none',
            };
          }),
        ),
      };
    });
    expect([problems, drawn.sideways]).toEqual([[], false]);
    expect(drawn.bars.flat().filter(({ height, visible }) => height < 4 || !visible)).toEqual([]);
    // Of each chart the greatest fills its line; of the decisions, 24, 12 and 3 are in proportion.
    expect(drawn.bars.map((bars) => Math.max(...bars.map(({ share }) => share)).toFixed(2))).toEqual(
      Array.from({ length: 6 }, () => '1.00'),
    );
    expect(drawn.bars[0]?.map(({ share }) => share.toFixed(2))).toEqual(['1.00', '0.50', '0.13']);
    await page.evaluate(AXE);
    const found = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(on: Document): Promise<{ violations: { id: string }[] }> };
      };
      return (await axe.run(document)).violations.map(({ id }) => id);
    });
    expect(found).toEqual([]);
    await page.close();
  },
  PATIENCE,
);
