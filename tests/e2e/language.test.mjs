// The installed extension in an editor whose language is German: a card says the server's reason in German, and keeps the
// English at hand.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, webview, withWorkbench } from './workbench.mjs';

test('an editor in German draws the server\'s reasons in German, with the English as their title', async () => {
  await withWorkbench('language', { settings: TRUSTED, prepare: speakGerman, args: ['--locale', 'de'] }, async ({ page }) => {
    await runCommand(page, 'Countersign: Chat öffnen');
    const chat = webview(page);
    const message = chat.getByRole('textbox', { name: 'Nachricht' });
    await message.waitFor({ timeout: 2 * BOUND });
    await message.fill('run npm install');
    await chat.getByRole('button', { name: 'Senden' }).click({ timeout: 2 * BOUND });
    const card = chat.getByTestId('approval-card');
    const reason = card.getByText(/^Keine Regel/);
    await reason.waitFor({ timeout: BOUND });
    assert.match(await reason.getAttribute('title'), /^no rule matches/i);
    await screenshot(page, 'language-card');
    const approve = card.getByRole('button', { name: 'Genehmigen', exact: true });
    await waitFor(() => approve.isEnabled(), 'a card that was seen');
    await card.getByRole('button', { name: 'Ablehnen', exact: true }).click();
    await card.waitFor({ state: 'detached', timeout: BOUND });
    await screenshot(page, 'language-denied');
  });
});

/** Tells the editor of a language pack without a word in it, as one that is installed does: its language is then German. */
function speakGerman(run) {
  const folder = path.join(run.folder, 'language-pack');
  mkdirSync(folder, { recursive: true });
  const translations = path.join(folder, 'main.i18n.json');
  writeFileSync(translations, JSON.stringify({ version: '1.0.0', contents: {} }));
  const pack = { hash: 'german', label: 'Deutsch', extensions: [{ extensionIdentifier: { id: 'test.german' }, version: '1.0.0' }], translations: { vscode: translations } };
  mkdirSync(path.join(run.folder, 'user'), { recursive: true });
  writeFileSync(path.join(run.folder, 'user/languagepacks.json'), JSON.stringify({ de: pack }));
}
