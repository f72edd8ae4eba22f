/** The composer in a real Chromium: a count that does not fit is not there, and never shown in part. */
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import type * as wire from '../src/wire.gen.ts';
import { snapshot, threadOf } from './fixtures.ts';
import { openStage } from './preview/stage.mjs';

const PATIENCE = 60_000;

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage();
}, PATIENCE);
afterAll(async () => stage.close());

it(
  'counts are whole or not seen, at every width, and the buttons are in view',
  async () => {
    const page = await stage.browser.newPage({ viewport: { width: 300, height: 500 } });
    const events: wire.ThreadEvent[] = [
      { type: 'usage', contextUsed: 4000, contextTokens: 8000, cost: 0.5 },
      { type: 'usage', inputTokens: 123_456, outputTokens: 789 },
    ];
    const given: ToWebview[] = [snapshot(), { type: 'threadOpened', thread: threadOf(events) }];
    await page.addInitScript((messages) => Object.assign(window, { given: messages }), given);
    await page.goto(`${stage.origin}/?theme=dark`);
    await page.locator('.counts .tokens').waitFor({ state: 'attached', timeout: PATIENCE });
    const seen = new Set<string>();
    for (let width = 300; width <= 640; width += 5) {
      await page.setViewportSize({ width, height: 500 });
      const drawn = await page.evaluate(() => {
        const box = document.querySelector('.counts')!.getBoundingClientRect();
        const parts = [...document.querySelectorAll('.counts > span')].map((each) => each.getBoundingClientRect());
        const share = (part: DOMRect): number => {
          const wide = Math.min(part.right, box.right) - Math.max(part.left, box.left);
          const high = Math.min(part.bottom, box.bottom) - Math.max(part.top, box.top);
          return wide <= 0 || high <= 0 ? 0 : (wide * high) / (part.width * part.height);
        };
        const send = document.querySelector('.composer .send')!.getBoundingClientRect();
        return { shares: parts.map((part) => share(part).toFixed(1)), inView: send.right <= window.innerWidth };
      });
      expect([width, drawn.inView]).toEqual([width, true]);
      for (const share of drawn.shares) seen.add(share);
    }
    expect([...seen].toSorted()).toEqual(['0.0', '1.0']);
    await page.close();
  },
  PATIENCE,
);
