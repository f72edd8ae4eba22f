// What a person is asked before settings of a workspace widen anything, in the installed extension: each dialog shows the
// value, what it stands for, where it is written and what changed since it was last confirmed; Enter changes nothing.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, openChat, TRUSTED, waitFor } from './person.mjs';
import { openWorkbench, runCommand, screenshot, withWorkbench } from './workbench.mjs';

test('a dialog shows what is confirmed, and a confirmation ends when that changes', async () => {
  await withWorkbench('confirmations', { settings: TRUSTED }, async ({ page, run }) => {
    const file = path.join(run.workspace, '.vscode/settings.json');
    const dialog = page.locator('.monaco-dialog-box');
    mkdirSync(path.dirname(file), { recursive: true });
    await openChat(page);

    // An agent entry, confirmed; then only one argument of it is another.
    const agent = (script) => JSON.stringify({ 'countersign.agents': { Helper: { type: 'acp', command: 'node', args: [script] } } }, null, 2);
    writeFileSync(file, agent('helper.js'));
    const first = await shown(dialog, page, 'confirm-agent');
    assert.match(first, /Until you accept it, it is ignored/);
    assert.match(first, /settings\.json, line \d+/);
    assert.match(first, /would run a program with your rights/);
    assert.match(first, /"helper\.js"/);
    assert.doesNotMatch(first, /Changed/);
    await dialog.getByRole('button', { name: 'Accept' }).click();
    await dialog.waitFor({ state: 'hidden', timeout: BOUND });
    writeFileSync(file, agent('other.js'));
    assert.match(await shown(dialog, page, 'confirm-changed'), /Changed: was [^]*helper\.js[^]* when it was last confirmed[^]*Value:[^]*"other\.js"/);
    // Enter presses the button that changes nothing.
    assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), 'Keep Ignoring');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden', timeout: BOUND });

    // A folder behind a link: shown resolved, and asked about again when the link leads elsewhere.
    for (const name of ['one', 'two']) mkdirSync(path.join(run.folder, name));
    const link = path.join(run.workspace, 'libs');
    symlinkSync(path.join(run.folder, 'one'), link);
    writeFileSync(file, JSON.stringify({ 'countersign.permissions.additionalDirectories': ['libs'] }, null, 2));
    assert.match(await shown(dialog, page, 'confirm-folder'), /Value: libs[^]*It stands for: \S*\/one$/m);
    await dialog.getByRole('button', { name: 'Accept' }).click();
    await dialog.waitFor({ state: 'hidden', timeout: BOUND });
    symlinkSync(path.join(run.folder, 'two'), `${link}.new`);
    renameSync(`${link}.new`, link);
    const relinked = await shown(dialog, page, 'confirm-relinked');
    assert.match(relinked, /It stands for: \S*\/two$/m);
    assert.match(relinked, /Changed: was [^]*\/one/);
    await dialog.getByRole('button', { name: 'Keep Ignoring' }).click();
    await dialog.waitFor({ state: 'hidden', timeout: BOUND });
    rmSync(file);
  });
});

test('values of a .code-workspace file are asked about under that file, and explained in it', async () => {
  const rule = 'Bash(make:*)';
  const text = (rules) => `${JSON.stringify({ folders: [{ path: 'workspace' }], settings: { 'countersign.permissions.allow': rules } }, null, 2)}\n`;
  const prepare = (run) => writeFileSync(path.join(run.folder, 'app.code-workspace'), text([rule]));
  await withWorkbench('code-workspace', { settings: TRUSTED, prepare }, async ({ page, run, editor }) => {
    const url = new URL(editor.url);
    url.search = new URLSearchParams({ workspace: path.join(run.folder, 'app.code-workspace') }).toString();
    await openWorkbench(page, url.href);
    await openChat(page);
    const dialog = page.locator('.monaco-dialog-box');
    assert.match(await shown(dialog, page, 'confirm-code-workspace'), /In \S*\/app\.code-workspace, line \d+[^]*make[^]*would run without asking[^]*Value: Bash\(make:\*\)/);
    await dialog.getByRole('button', { name: 'Keep Ignoring' }).click();
    await dialog.waitFor({ state: 'hidden', timeout: BOUND });

    await runCommand(page, 'Preferences: Open Workspace Settings (JSON)');
    const editorText = page.locator('.monaco-editor').filter({ hasText: 'Bash(make:*)' }).last();
    await editorText.locator('.squiggly-info').first().waitFor({ state: 'attached', timeout: BOUND });
    const hover = page.locator('.monaco-hover:visible').filter({ hasText: 'any command that begins with the words' });
    await waitFor(async () => {
      await editorText.locator('.view-line span span').filter({ hasText: 'Bash(make:*)' }).first().hover();
      return (await hover.count()) > 0;
    }, 'a hover on the rule');
    assert.match(await hover.first().innerText(), /ignored, because you chose so on this machine/);
    await screenshot(page, 'code-workspace-hover');
  });
});

/** What the dialog says, once it is there. */
async function shown(dialog, page, name) {
  await dialog.waitFor({ timeout: BOUND });
  await screenshot(page, name);
  return (await dialog.locator('.dialog-message-container').innerText()).replaceAll('\u00A0', ' ');
}
