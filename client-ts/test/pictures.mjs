// Draws the built webview in a real Chromium, in each theme and width, under the extension's own content policy: keeps a
// picture of every scene in .pictures/, and fails on a policy violation, an error on the page, a sideways scroll bar or
// anything axe finds. `npm run build` comes first; `node test/pictures.mjs card light` makes only those.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import * as esbuild from 'esbuild';
import { chromium } from 'playwright-core';

import { themeSheet, THEMES } from './preview/themes.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const DIST = path.join(HERE, '../dist');
const OUT = path.join(HERE, '../.pictures');
const SCENES = ['command', 'plain', 'diff', 'fetch', 'tool', 'chat', 'welcome', 'stopped', 'review', 'hidden', 'long', 'history', 'shells', 'rules'];
const WIDTHS = [300, 460];

const wanted = process.argv.slice(2);
const scenes = SCENES.filter((scene) => wanted.includes(scene));
const themes = Object.keys(THEMES).filter((theme) => wanted.includes(theme));
const problems = [];

const script = await esbuild.build({ entryPoints: [path.join(HERE, 'preview/scenes.ts')], bundle: true, write: false, format: 'iife' });
const axe = readFileSync(path.join(HERE, '../node_modules/axe-core/axe.min.js'), 'utf8');
const server = createServer(serve);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox', '--disable-gpu'] });
try {
  mkdirSync(OUT, { recursive: true });
  for (const theme of themes.length > 0 ? themes : Object.keys(THEMES)) {
    for (const width of WIDTHS) for (const scene of scenes.length > 0 ? scenes : SCENES) await picture(theme, width, scene);
  }
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

async function picture(theme, width, scene) {
  const name = `${scene}-${theme}-${width}`;
  const page = await browser.newPage({ viewport: { width, height: 760 } });
  page.on('console', (message) => message.type() === 'error' && problems.push(`${name}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`${name}: ${error.message}`));
  await page.goto(`${origin}/?scene=${scene}&theme=${theme}`);
  await page.locator('countersign-desk .main').waitFor();
  // Half a second disarmed, which the pictures are not of.
  await page.waitForFunction(() => !document.querySelector('[data-state="arming"]') && document.querySelectorAll('countersign-desk *').length > 20);
  await page.screenshot({ path: path.join(OUT, `${name}.png`) });
  if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) problems.push(`${name}: scrolls sideways`);
  await judge(page, name);
  if (scene === 'history') {
    await page.getByTestId('history-row').first().getByRole('button').click();
    await page.screenshot({ path: path.join(OUT, `receipt-${theme}-${width}.png`) });
    await judge(page, `receipt-${theme}-${width}`);
  }
  if (scene === 'plain') {
    await page.getByRole('button', { name: 'Approve options' }).click();
    await page.screenshot({ path: path.join(OUT, `menu-${theme}-${width}.png`) });
    await judge(page, `menu-${theme}-${width}`);
    await page.getByRole('menuitem', { name: 'Always allow another rule…' }).click();
    await page.getByRole('button', { name: 'Bash(npm run test:*)' }).click();
    await page.screenshot({ path: path.join(OUT, `rule-${theme}-${width}.png`) });
    await judge(page, `rule-${theme}-${width}`);
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.getByRole('combobox', { name: 'Mode' }).click();
    await page.screenshot({ path: path.join(OUT, `modes-${theme}-${width}.png`) });
    await judge(page, `modes-${theme}-${width}`);
  }
  await page.close();
}

/** axe, contrast too. It is put in by the browser's own hand, so the page's policy stays as it is. */
async function judge(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  for (const { id, nodes } of found.violations) for (const node of nodes) problems.push(`${name}: axe ${id}: ${node.target.join(' ')}: ${node.any[0]?.message ?? node.failureSummary}`);
}

function serve(request, response) {
  const url = new URL(request.url, 'http://localhost');
  const file = path.join(DIST, path.basename(url.pathname));
  const types = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };
  if (url.pathname === '/') return answer(response, 'text/html', page(url.searchParams.get('theme')));
  if (url.pathname === '/theme.css') return answer(response, 'text/css', themeSheet(url.searchParams.get('name')));
  if (url.pathname === '/scenes.js') return answer(response, 'text/javascript', script.outputFiles[0].text);
  if (url.pathname === '/favicon.ico') return answer(response, 'text/plain', '');
  if (existsSync(file)) return answer(response, types[path.extname(file)] ?? 'text/plain', readFileSync(file));
  response.writeHead(404).end();
}

function answer(response, type, body) {
  response.writeHead(200, { 'content-type': type }).end(body);
}

/** As panel.ts makes it, with the stand-in for the editor before our script. */
function page(theme) {
  const policy = "default-src 'none'; script-src 'nonce-n'; style-src 'self'; font-src 'self'";
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="/theme.css?name=${theme}"><link rel="stylesheet" href="/webview.css"><title>Countersign</title></head>
<body class="vscode-${theme}"><script nonce="n" src="/scenes.js"></script><script nonce="n" src="/webview.js"></script></body></html>`;
}

function browserPath() {
  const known = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
  const found = known.find((file) => file && existsSync(file));
  if (!found) throw new Error('no Chromium was found; install it, or name its program in the variable CHROMIUM');
  return found;
}
