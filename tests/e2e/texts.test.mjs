// Text of agents, files, settings and errors in the editor's own surfaces: whatever it says, nothing of it becomes a link that
// runs a command, an icon or a line of its own, and pressing it does nothing. And what a person typed is not asked about.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, idle, openChat, send, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, withWorkbench } from './workbench.mjs';

// Its effect can be seen: a tab of that name opens.
const COMMAND = 'command:workbench.action.files.newUntitledFile';
const link = (text) => `[${text}](${COMMAND})`;
const AGENT = `${link('Agent')}$(flame)`;

// The editor would close brackets and quotes by itself, at other places before and after it has read its grammar of JSON;
// in a browser it would also save by itself after a second, and a rule that no person saved is asked about.
const PLAIN_TYPING = {
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoIndent': 'none',
  'editor.quickSuggestions': { other: 'off', strings: 'off', comments: 'off' },
  'editor.suggestOnTriggerCharacters': false,
  'files.autoSave': 'off',
};

test('names of files, hosts and agents stay text in notifications, the status bar and dialogs', async () => {
  const settings = {
    ...TRUSTED,
    ...PLAIN_TYPING,
    'countersign.notifications': 'always',
    'countersign.agents': { [AGENT]: { type: 'builtin' } },
    'countersign.defaultAgent': AGENT,
  };
  await withWorkbench('texts', { settings }, async ({ page, run }) => {
    const chat = await openChat(page);
    await send(chat, `create ${link('Review')}.md saying hi and also fetch http://${link('Host')}/ and also delete ${link('$(trash)')} and also run ${link('Run')}`);
    await chat.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    const toasts = page.locator('.notifications-toasts .notification-list-item');
    await waitFor(async () => (await toasts.count()) >= 1, 'a notification');
    await screenshot(page, 'texts-notifications');
    await runCommand(page, 'Notifications: Show Notifications');
    const notes = page.locator('.notifications-center .notification-list-item');
    await waitFor(async () => (await notes.count()) >= 1, 'the list of notifications');
    const said = await notes.locator('.notification-list-item-message').allInnerTexts();
    assert.ok(said.some((text) => text.includes(`[Review] (${COMMAND}).md`)), said.join('\n'));
    assert.ok(said.every((text) => text.includes('[Agent]') && text.includes('$ (flame)')), said.join('\n'));
    await inert(page, '.notifications-center .notification-list-item-message');
    await page.keyboard.press('Escape');

    const status = page.locator('.statusbar-item[id*="countersign"]').first();
    assert.match(await status.innerText(), /approval/);
    assert.equal(await status.locator('.codicon').count(), 1, 'only the icon of ours');
    await chat.getByRole('button', { name: 'Stop', exact: true }).click();
    await idle(chat);

    // The workspace's settings: keys and values of the repository's choice.
    mkdirSync(path.join(run.workspace, '.vscode'), { recursive: true });
    const file = path.join(run.workspace, '.vscode/settings.json');
    const asked = [
      { 'countersign.agents': { [`${link('a')}\n\nThis is safe.\u202E`]: { command: './run.sh', args: ['--x', link('b')] } } },
      { 'countersign.permissions.allow': ['Bash(make:*)'] },
      { 'countersign.permissions.allow': [`Bash(${'x'.repeat(9000)})`] },
      { 'countersign.permissions.additionalDirectories': ['../libs'] },
    ];
    for (const [index, value] of asked.entries()) {
      writeFileSync(file, JSON.stringify(value, null, 2));
      const dialog = page.locator('.monaco-dialog-box');
      await dialog.waitFor({ timeout: BOUND });
      await screenshot(page, `texts-dialog-${index}`);
      const headline = await dialog.locator('.dialog-message-text').innerText();
      assert.match(headline, /^This workspace wants to set countersign\.[^\n\u202E]{0,90}$/);
      assert.doesNotMatch(headline, /\]\(/);
      assert.match(await dialog.innerText(), /settings\.json, line \d+/);
      await inert(page, '.monaco-dialog-box .dialog-message-container');
      assert.equal(await dialog.getByRole('button', { name: 'Accept' }).count(), index === 2 ? 0 : 1, 'what is not shown whole cannot be accepted');
      await dialog.getByRole('button', { name: 'Keep Ignoring' }).click();
      await dialog.waitFor({ state: 'hidden', timeout: BOUND });
    }

    // In the file itself: problems, and what a rule means.
    const rule = `Bash(${link('x')} ![p](https://x.example/p.png) $(flame))`;
    writeFileSync(file, '{}\n');
    await openInEditor(page, 'settings.json');
    await replaceAndSave(page, file, `{"countersign.permissions.deny": [${JSON.stringify(rule)}]}`);
    for (let count = 0; count < 4; count++) await page.keyboard.press('ArrowLeft');
    await runCommand(page, 'Show or Focus Hover');
    const hover = page.locator('.monaco-hover:visible').filter({ hasText: 'Deny' }).first();
    await hover.waitFor({ timeout: BOUND });
    await screenshot(page, 'texts-hover');
    assert.equal(await hover.locator('img').count(), 0);
    await inert(page, '.monaco-hover .hover-contents', { pressed: false });
    await page.keyboard.press('Escape');
  });
});

test('a rule that a person types and saves is not asked about; one that was hidden in the file is', async () => {
  await withWorkbench('typed', { settings: { ...TRUSTED, ...PLAIN_TYPING } }, async ({ page, run }) => {
    const file = path.join(run.workspace, '.vscode/settings.json');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '{}\n');
    const chat = await openChat(page);
    await openInEditor(page, 'settings.json');
    await replaceAndSave(page, file, '{"countersign.permissions.allow": ["Bash(touch typed.txt)"]}');
    await waitFor(async () => {
      await send(chat, 'run touch typed.txt');
      await waitFor(async () => existsSync(path.join(run.workspace, 'typed.txt')) || (await chat.getByTestId('approval-card').count()) > 0, 'a card or an effect');
      if (existsSync(path.join(run.workspace, 'typed.txt'))) return true;
      // A card that is open when the rule comes into force ends as allowed.
      const deny = chat.getByTestId('approval-card').first().getByRole('button', { name: 'Deny', exact: true });
      await deny.click({ timeout: 3_000 }).catch(() => {});
      await idle(chat);
      return existsSync(path.join(run.workspace, 'typed.txt'));
    }, 'the typed rule to count');
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    await idle(chat);

    // The same rule brought back by a checkout, and one that a person merely uncovers.
    for (const [before, after] of [
      ['{// "countersign.permissions.allow": ["Bash(touch hidden.txt)"]\n}', '{"countersign.permissions.allow": ["Bash(touch hidden.txt)"]}'],
      ['{"countersign.permissions.allow": ["Bash(touch checkout.txt)"], "countersign.permissions.allow": []}', '{"countersign.permissions.allow": ["Bash(touch checkout.txt)"]}'],
    ]) {
      writeFileSync(file, before);
      await waitFor(async () => (await editorText(page)).includes(before.includes('hidden') ? 'hidden' : 'checkout'), 'the editor to read the file again');
      await openInEditor(page, 'settings.json');
      await replaceAndSave(page, file, after);
      const dialog = page.locator('.monaco-dialog-box');
      await dialog.waitFor({ timeout: BOUND });
      await screenshot(page, 'typed-dialog');
      await dialog.getByRole('button', { name: 'Keep Ignoring' }).click();
      await dialog.waitFor({ state: 'hidden', timeout: BOUND });
    }
  });
});

test('the words of an error stay text', async () => {
  // Where the server lies is a setting of the machine, not of the user.
  const prepare = (run) => {
    mkdirSync(path.join(run.folder, 'user/Machine'), { recursive: true });
    writeFileSync(path.join(run.folder, 'user/Machine/settings.json'), JSON.stringify({ 'countersign.serverPath': `/nowhere/${link('Fix it')}` }));
  };
  await withWorkbench('errors', { settings: TRUSTED, prepare }, async ({ page }) => {
    const message = page.locator('.notifications-toasts .notification-list-item-message').filter({ hasText: 'Countersign' }).first();
    await message.waitFor({ timeout: 2 * BOUND });
    await screenshot(page, 'texts-error');
    assert.match(await message.innerText(), /\[Fix it\] \(command:/);
    await inert(page, '.notifications-toasts .notification-list-item-message');
  });
});

/** Nothing in it leads anywhere, and pressing it opens nothing. */
async function inert(page, selector, { pressed = true } = {}) {
  const places = page.locator(selector);
  assert.ok((await places.count()) > 0, `${selector} is there`);
  assert.equal(await places.locator('a[href]:not([href=""]), a[data-href]:not([data-href^="http"]), [onclick]').count(), 0);
  if (pressed) for (const place of await places.all()) await place.click({ force: true });
  assert.equal(await page.locator('.tab').filter({ hasText: 'Untitled' }).count(), 0, 'no command ran');
}

async function openInEditor(page, name) {
  await page.keyboard.press('Control+P');
  const input = page.locator('.quick-input-widget:visible .quick-input-box input');
  await input.waitFor({ timeout: BOUND });
  await input.fill(name);
  await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: '.vscode' }).first().click({ timeout: BOUND });
  await page.locator('.editor-instance .monaco-editor .view-lines').first().click({ timeout: BOUND });
}

/** In the editor that has the focus. */
async function replaceAndSave(page, file, text) {
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
  await page.keyboard.press('Control+S');
  await waitFor(() => readFileSync(file, 'utf8').trim() === text.trim(), `the file on disk to be ${text}`);
}

async function editorText(page) {
  return (await page.locator('.editor-instance .view-lines').first().innerText()).replaceAll('\u00A0', ' ');
}
