/** The sound when an agent begins to wait, in a real Chromium under the webview's content policy. */
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ToWebview } from '../src/messages.ts';
import { snapshot } from './fakeWebview.ts';
import { openStage } from './preview/stage.mjs';

const PATIENCE = 60_000;

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage();
}, PATIENCE);
afterAll(async () => stage.close());

it(
  'is played to its end in a page that was used, and nothing of it is refused',
  async () => {
    const page = await stage.browser.newPage();
    const problems: string[] = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    const given: ToWebview[] = [snapshot()];
    await page.addInitScript((messages) => {
      const Actual = AudioContext;
      const made: AudioContext[] = [];
      globalThis.AudioContext = class extends Actual {
        constructor() {
          super();
          made.push(this);
        }
      };
      Object.assign(window, { given: messages, made });
    }, given);
    await page.goto(`${stage.origin}/?theme=dark`);
    await page.locator('countersign-desk .main').waitFor({ timeout: PATIENCE });
    await page.mouse.click(5, 5);
    await page.evaluate(() => window.postMessage({ type: 'sound' }, '*'));
    await page.waitForFunction(
      () => (window as unknown as { made: AudioContext[] }).made.map(({ state }) => state).join() === 'closed',
      undefined,
      { timeout: PATIENCE },
    );
    expect(problems).toEqual([]);
    await page.close();
  },
  PATIENCE,
);
