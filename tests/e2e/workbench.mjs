// Drives the workbench in a real Chromium: open it, run a command, reach into a webview, take a picture. How the editor is
// started and contained is scripts/editor.mjs's; what is tested is each *.test.mjs's.

import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { installExtension, startEditor, temporaryRun } from '../../scripts/editor.mjs';

export const EXTENSION = 'countersign.countersign';
/** Milliseconds until a wait gives up; scaled as in `tests/patience.py`. */
export const BOUND = 60_000 * Number(process.env.COUNTERSIGN_TEST_PATIENCE ?? '1');

// Pictures, and the logs of a test that failed.
const RESULTS = fileURLToPath(new URL('../../.run/e2e', import.meta.url));
// The server's environment as the extension built it, under the name that tells its wheel, lock and Python.
const ENVIRONMENTS = fileURLToPath(new URL('../../.run/environments', import.meta.url));

/**
 * One test's editor, from nothing: a new run folder with the extension installed, code-server, Chromium, the workspace open.
 * The server's environment is that of an earlier test where there is one, unless the test is about it (`builds`). `also(run)` packs further extensions; `body({ page, editor, run, browser })` does the testing. If it throws, a picture and
 * the logs are kept in .run/e2e; however it ends, everything is ended and removed.
 */
export async function withWorkbench(name, options, body) {
  const run = temporaryRun(options);
  const files = path.join(RESULTS, name);
  rmSync(files, { recursive: true, force: true });
  let editor, browser, page;
  try {
    options.prepare?.(run);
    if (!options.builds && existsSync(ENVIRONMENTS)) copyFolder(ENVIRONMENTS, environmentsOf(run));
    await installExtension(run, options.vsix);
    for (const vsix of options.also?.(run) ?? []) await installExtension(run, vsix);
    editor = await startEditor(run, options);
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(BOUND);
    page.setDefaultNavigationTimeout(2 * BOUND);
    await options.beforeOpen?.(page);
    await openWorkbench(page, editor.url);
    const result = await body({ page, editor, run, browser });
    keepEnvironment(run);
    return result;
  } catch (error) {
    mkdirSync(files, { recursive: true });
    await page?.screenshot({ path: path.join(files, 'failed.png') }).catch(() => {}); // the page may be what broke
    for (const log of logsOf(run)) copyFileSync(log, path.join(files, path.basename(log)));
    // A machine that runs tests may keep no files, only what was printed.
    console.error(`${name}: ${await seen(page, run)}`);
    throw error;
  } finally {
    await browser?.close();
    await editor?.stop();
    rmSync(run.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const environmentsOf = (run) => path.join(run.folder, `user/User/globalStorage/${EXTENSION}/python`);

/** Nothing in an environment names the folder it stands in: the extension itself moves it into place. */
function copyFolder(from, to) {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

function keepEnvironment(run) {
  const built = existsSync(environmentsOf(run)) ? readdirSync(environmentsOf(run)).filter((name) => !name.startsWith('.')) : [];
  if (built.length !== 1 || existsSync(path.join(ENVIRONMENTS, built[0]))) return;
  const making = `${ENVIRONMENTS}-${process.pid}`;
  copyFolder(environmentsOf(run), making);
  rmSync(ENVIRONMENTS, { recursive: true, force: true });
  renameSync(making, ENVIRONMENTS);
}

/** What stood on screen and in the settings, and how the extension's log ended, for who reads of a failed test. */
async function seen(page, run) {
  const texts = async (selector) => (page ? page.locator(selector).allInnerTexts().catch(() => []) : []);
  const onScreen = [...await texts('.monaco-dialog-box'), ...await texts('.notification-list-item-message'), ...await texts('.editor-instance .view-lines')];
  const file = path.join(run.workspace, '.vscode/settings.json');
  const log = logsOf(run).find((name) => /ountersign\.log$/.test(name));
  return JSON.stringify({
    onScreen,
    settings: existsSync(file) ? readFileSync(file, 'utf8') : null,
    log: log ? readFileSync(log, 'utf8').slice(-2000) : null,
  }, null, 2);
}

/** What the editor and the extension wrote; VS Code keeps one folder of logs a window. */
function logsOf(run) {
  const own = ['install.log', 'editor.log'].map((name) => path.join(run.folder, name));
  const logs = path.join(run.folder, 'user/logs');
  const theirs = existsSync(logs) ? readdirSync(logs, { recursive: true }).filter((name) => /ountersign|remoteexthost/.test(name)) : [];
  return [...own, ...theirs.filter((name) => name.endsWith('.log')).map((name) => path.join(logs, name))].filter(existsSync);
}

export async function launchBrowser() {
  return chromium.launch({
    executablePath: browserPath(),
    headless: true,
    // No sandbox of its own: tests run as root in containers. Else: nothing is fetched in the background.
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

function browserPath() {
  const known = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
  const found = known.find((file) => file && existsSync(file));
  if (!found) throw new Error('no Chromium was found; please install it, or name its program in the variable CHROMIUM');
  return found;
}

export async function openWorkbench(page, url) {
  await page.goto(url);
  await workbenchReady(page);
}

/** Closes and opens the window, as *Reload Window* does. */
export async function reload(page) {
  // As a person does it: the editor writes down what it keeps.
  await Promise.all([page.waitForEvent('load', { timeout: 2 * BOUND }), runCommand(page, 'Developer: Reload Window')]);
  await workbenchReady(page);
}

async function workbenchReady(page) {
  await page.locator('.monaco-workbench').waitFor({ timeout: 2 * BOUND });
  await page.locator('.statusbar-item').first().waitFor({ timeout: 2 * BOUND });
}

/** Runs a command by its title in the palette. An extension's commands come a moment after the workbench: it asks again. */
export async function runCommand(page, title) {
  for (let tries = 0; tries < 20; tries++) {
    await page.keyboard.press('F1');
    const input = page.locator('.quick-input-widget:visible .quick-input-box input');
    try {
      await input.waitFor({ timeout: 5000 });
      await input.fill(`>${title}`);
      const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
      await row.waitFor({ timeout: 1500 });
      await row.click();
      return;
    } catch {
      await page.keyboard.press('Escape');
    }
  }
  throw new Error(`there is no command \`${title}\` in the palette`);
}

/** The document inside an extension's webview, as a frame locator. */
export function webview(page, extension = EXTENSION) {
  return page.frameLocator(`iframe.webview.ready[src*="extensionId=${extension}" i]`).frameLocator('iframe#active-frame');
}

/** Keeps a picture as .run/e2e/NAME.png, and gives its path. */
export async function screenshot(page, name) {
  const file = path.join(RESULTS, `${name}.png`);
  await page.screenshot({ path: file });
  return file;
}
