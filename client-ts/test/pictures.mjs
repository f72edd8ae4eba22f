// Draws the built webview in a real Chromium, in each theme and width, under the extension's own content policy: keeps a
// picture of every scene in .pictures/, and fails on a policy violation, an error on the page, a sideways scroll bar or
// anything axe finds. `npm run build` comes first; `node test/pictures.mjs card light` makes only those.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { openStage } from './preview/stage.mjs';
import { THEMES } from './preview/themes.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.join(HERE, '../.pictures');
const SCENES = [
  'command',
  'plain',
  'diff',
  'fetch',
  'tool',
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
];
/** The side bar as it is, wider, and in an editor tab; and a window of 960 by 540 at 200 % zoom. */
const VIEWS = { 300: [300, 760], 420: [420, 760], 700: [700, 760], zoom: [480, 270] };

const wanted = process.argv.slice(2);
const scenes = SCENES.filter((scene) => wanted.includes(scene));
const themes = Object.keys(THEMES).filter((theme) => wanted.includes(theme));
const problems = [];

const axe = readFileSync(path.join(HERE, '../node_modules/axe-core/axe.min.js'), 'utf8');
const { origin, browser, close } = await openStage();
try {
  mkdirSync(OUT, { recursive: true });
  for (const theme of themes.length > 0 ? themes : Object.keys(THEMES)) {
    for (const view of Object.keys(VIEWS))
      for (const scene of scenes.length > 0 ? scenes : SCENES) await picture(theme, view, scene);
  }
} finally {
  await close();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

async function picture(theme, view, scene) {
  const name = `${scene}-${theme}-${view}`;
  const [width, height] = VIEWS[view];
  const page = await browser.newPage({ viewport: { width, height } });
  page.on('console', (message) => message.type() === 'error' && problems.push(`${name}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`));
  await page.goto(`${origin}/?scene=${scene}&theme=${theme}`);
  await page.locator('countersign-desk .main').waitFor();
  // Half a second disarmed, which the pictures are not of.
  await page.waitForFunction(
    () =>
      !document.querySelector('[data-state="arming"]') && document.querySelectorAll('countersign-desk *').length > 20,
  );
  if (scene === 'attached') await page.getByRole('textbox', { name: 'Message' }).pressSequentially('Explain @par');
  await page.screenshot({ path: path.join(OUT, `${name}.png`) });
  if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth))
    problems.push(`${name}: scrolls sideways`);
  await judge(page, name);
  if (scene === 'history') {
    await page.getByTestId('history-row').first().getByRole('button').click();
    await page.screenshot({ path: path.join(OUT, `receipt-${theme}-${view}.png`) });
    await judge(page, `receipt-${theme}-${view}`);
  }
  if (scene === 'plain') {
    await page.getByRole('button', { name: 'Approve options' }).click();
    await page.screenshot({ path: path.join(OUT, `menu-${theme}-${view}.png`) });
    await judge(page, `menu-${theme}-${view}`);
    await page.getByRole('menuitem', { name: 'Always allow another rule…' }).click();
    await page.getByRole('button', { name: 'Bash(npm run test:*)' }).click();
    await page.screenshot({ path: path.join(OUT, `rule-${theme}-${view}.png`) });
    await judge(page, `rule-${theme}-${view}`);
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.getByRole('combobox', { name: 'Mode' }).click();
    await page.screenshot({ path: path.join(OUT, `modes-${theme}-${view}.png`) });
    await judge(page, `modes-${theme}-${view}`);
  }
  await page.close();
}

/** axe, contrast too. It is put in by the browser's own hand, so the page's policy stays as it is. */
async function judge(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() =>
    globalThis.axe.run(document, { rules: { 'label-content-name-mismatch': { enabled: true } } }),
  );
  for (const { id, nodes } of found.violations)
    for (const node of nodes)
      problems.push(`${name}: axe ${id}: ${node.target.join(' ')}: ${node.any[0]?.message ?? node.failureSummary}`);
}
