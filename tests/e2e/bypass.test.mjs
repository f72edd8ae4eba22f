// Bypass of an agent for this window, in the installed extension: from the palette, by a modal whose default changes nothing,
// seen in the status bar and at the composer as long as it lasts, and turned off by one press. And a card that is put off.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, idle, openChat, send, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, withWorkbench } from './workbench.mjs';

test('bypass for this window is asked about, shown while it lasts, and turned off by one press', async () => {
  await withWorkbench('bypass', { settings: TRUSTED }, async ({ page, run }) => {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const chat = await openChat(page);
    const dialog = page.locator('.monaco-dialog-box');
    const status = page.locator('.statusbar-item').filter({ hasText: 'permissions bypassed' });

    // A turn first: the agents are known once the server has answered.
    await send(chat, 'run ls');
    await idle(chat);
    await runCommand(page, 'Countersign: Bypass Permissions for an Agent');
    await dialog.waitFor({ timeout: BOUND });
    await screenshot(page, 'bypass-choice');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden', timeout: BOUND });
    assert.equal(await status.count(), 0, 'Enter turned nothing on');

    await runCommand(page, 'Countersign: Bypass Permissions for an Agent');
    await dialog.getByRole('button', { name: 'Bypass Until Window Closes' }).click({ timeout: BOUND });
    await status.waitFor({ timeout: BOUND });
    await send(chat, 'run touch free.txt');
    await waitFor(() => there('free.txt'), 'free.txt on disk without a card');
    await idle(chat);
    await screenshot(page, 'bypass-on');
    assert.equal(existsSync(path.join(run.workspace, '.vscode/settings.json')), false, 'it is kept nowhere');
    assert.match(await status.innerText(), /Countersign: permissions bypassed/);
    assert.match(await chat.getByTestId('composer').innerText(), /acts without asking until this window closes/);

    await chat.getByRole('button', { name: 'Turn off' }).click();
    await status.waitFor({ state: 'hidden', timeout: BOUND });
    await send(chat, 'run touch asked.txt');
    await chat.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    assert.equal(there('asked.txt'), false);

    // Put off: the card is folded, nothing is decided, and it comes back by a click.
    await chat.getByRole('button', { name: 'Not now' }).click();
    await chat.getByTestId('approval-card').waitFor({ state: 'hidden', timeout: BOUND });
    await screenshot(page, 'put-off');
    assert.match(await chat.getByTestId('queue').innerText(), /1 waiting, 1 put off/);
    assert.equal(there('asked.txt'), false);
    await chat.getByRole('button', { name: 'Show', exact: true }).click();
    await chat.getByTestId('approval-card').first().getByRole('button', { name: 'Deny', exact: true }).click();
    await idle(chat);
  });
});
