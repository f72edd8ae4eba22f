// Draws the built webview in a real Chromium, in each theme and view, under the extension's own content policy: keeps a
// picture of every state in .pictures/, compares them with the committed sheets of test/pictures/ (preview/sheets.mjs), and
// fails on a difference, a policy violation, an error on the page, a sideways scroll bar or anything axe finds.
// `npm run build` comes first. `node test/pictures.mjs light zoom` makes only those; where states are named, none is compared;
// `node test/pictures.mjs --keep` writes the sheets anew, to be looked at and committed.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { committedSheet, differences, keepSheet, sheetOf, TOLERANCE } from './preview/sheets.mjs';
import { openStage } from './preview/stage.mjs';
import { THEMES } from './preview/themes.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.join(HERE, '../.pictures');
const SHEETS = path.join(HERE, 'pictures');
/** The clock of every picture: some states show times. */
const NOW = Date.parse('2026-11-20T10:30:00Z');
const SCENES = [
  'command',
  'plain',
  'diff',
  'fetch',
  'tool',
  'question',
  'chat',
  'messages',
  'chats',
  'attached',
  'welcome',
  'stopped',
  'review',
  'hidden',
  'long',
  'history',
  'shells',
  'rules',
  'plan',
];
/** The side bar as it is, wider, and in an editor tab; and a window of 960 by 540 at 200 % zoom. */
const VIEWS = { 300: [300, 760], 420: [420, 760], 700: [700, 760], zoom: [480, 270] };

const keeps = process.argv.includes('--keep');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const scenes = SCENES.filter((scene) => wanted.includes(scene));
const themes = Object.keys(THEMES).filter((theme) => wanted.includes(theme));
const views = Object.keys(VIEWS).filter((view) => wanted.includes(view));
const problems = [];

const axe = readFileSync(path.join(HERE, '../node_modules/axe-core/axe.min.js'), 'utf8');
const { origin, browser, close } = await openStage();
const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
await context.addInitScript((now) => {
  const Actual = Date;
  globalThis.Date = class extends Actual {
    constructor(...given) {
      super(...(given.length > 0 ? given : [now]));
    }
    static now = () => now;
  };
}, NOW);
try {
  mkdirSync(OUT, { recursive: true });
  for (const theme of themes.length > 0 ? themes : Object.keys(THEMES)) {
    for (const view of views.length > 0 ? views : Object.keys(VIEWS)) {
      const drawn = new Map();
      for (const scene of scenes.length > 0 ? scenes : SCENES) await picture(theme, view, scene, drawn);
      if (scenes.length === 0) await compare(theme, view, drawn);
    }
  }
} finally {
  await close();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Against the sheet that is committed, or in its place. */
async function compare(theme, view, drawn) {
  const file = path.join(SHEETS, `${theme}-${view}.webp`);
  const names = [...drawn.keys()].sort((one, other) => (one < other ? -1 : 1));
  const sheet = await sheetOf(
    browser,
    names.map((name) => drawn.get(name)),
    VIEWS[view],
  );
  if (keeps) return keepSheet(file, sheet);
  const before = committedSheet(file);
  if (!before)
    return problems.push(`${theme}-${view}: there is no committed sheet; look at the pictures, then add --keep`);
  const shares = await differences(browser, before, sheet, names.length, VIEWS[view]);
  for (const [index, share] of shares.entries())
    if (share > TOLERANCE)
      problems.push(
        `${names[index]}-${theme}-${view}: ${Math.round(share * 100)} % of it differs from the committed picture`,
      );
}

async function picture(theme, view, scene, drawn) {
  const name = `${scene}-${theme}-${view}`;
  const [width, height] = VIEWS[view];
  const page = await context.newPage();
  await page.setViewportSize({ width, height });
  page.on('console', (message) => message.type() === 'error' && problems.push(`${name}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`));
  const shoot = async (state) => {
    const file = path.join(OUT, `${state}-${theme}-${view}.png`);
    drawn.set(state, await page.screenshot({ path: file, animations: 'disabled' }));
  };
  await page.goto(`${origin}/?scene=${scene}&theme=${theme}`);
  await page.locator('countersign-desk .main').waitFor();
  // Half a second disarmed, which the pictures are not of.
  await page.waitForFunction(
    () =>
      !document.querySelector('[data-state="arming"], .question .primary:disabled') &&
      document.querySelectorAll('countersign-desk *').length > 20,
  );
  if (scene === 'attached') await page.getByRole('textbox', { name: 'Message' }).pressSequentially('Explain @par');
  await shoot(scene);
  if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth))
    problems.push(`${name}: scrolls sideways`);
  await judge(page, name);
  if (scene === 'history') {
    await page.getByTestId('history-row').first().getByRole('button').click();
    await shoot('receipt');
    await judge(page, `receipt-${theme}-${view}`);
  }
  if (scene === 'plain') {
    await page.getByRole('button', { name: 'Approve options' }).click();
    await shoot('menu');
    await judge(page, `menu-${theme}-${view}`);
    await page.getByRole('menuitem', { name: 'Always allow another rule…' }).click();
    await page.getByRole('button', { name: 'Bash(npm run test:*)' }).click();
    await shoot('rule');
    await judge(page, `rule-${theme}-${view}`);
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    // In a very low view the composer makes room for the card.
    const mode = page.getByRole('combobox', { name: 'Mode' });
    if (await mode.isVisible()) {
      await mode.click();
      await shoot('modes');
      await judge(page, `modes-${theme}-${view}`);
    }
  }
  await page.close();
}

/**
 * axe, contrast too. It is put in by the browser's own hand, so the page's policy stays as it is. In the zoomed view the
 * names of labels are not compared with their texts: of a label that its scroll box cuts, axe reads a part.
 */
async function judge(page, name) {
  await page.evaluate(axe);
  const enabled = !name.endsWith('-zoom');
  const found = await page.evaluate((rules) => globalThis.axe.run(document, { rules }), {
    'label-content-name-mismatch': { enabled },
  });
  for (const { id, nodes } of found.violations)
    for (const node of nodes)
      problems.push(`${name}: axe ${id}: ${node.target.join(' ')}: ${node.any[0]?.message ?? node.failureSummary}`);
}
