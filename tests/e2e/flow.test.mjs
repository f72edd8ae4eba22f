// The whole way once, as a person goes it: a prompt in the installed extension, cards, answers by clicks and keys, the effect on
// disk, the chat and the ledger; bypass by the card and by hand; a reload with a card open. Never talks to the server itself.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { approve, BOUND, cardAbout, COUNTERSIGN, idle, ledger, openChat, send, settle, storage, TRUSTED, waitFor } from './person.mjs';
import { reload, screenshot, withWorkbench } from './workbench.mjs';

test('a prompt becomes cards, answers become effects, and everything is in the ledger', async () => {
  await withWorkbench('flow', { settings: TRUSTED }, async ({ page, run }) => {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const settings = path.join(run.workspace, '.vscode/settings.json');
    const chat = await openChat(page);
    await screenshot(page, 'chat-empty');

    // One approved by a click, one denied by keys.
    await send(chat, 'create hello.txt saying hi and also run touch made.txt');
    await chat.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    await waitFor(async () => (await chat.getByTestId('queue').textContent())?.includes('of 2'), 'two cards in the queue');
    await screenshot(page, 'card-diff');
    const editCard = await cardAbout(page, chat, /hello\.txt/);
    await approve(editCard);
    await waitFor(() => there('hello.txt'), 'hello.txt on disk');
    assert.equal(readFileSync(path.join(run.workspace, 'hello.txt'), 'utf8'), 'hi');
    const commandCard = await cardAbout(page, chat, /touch made\.txt/);
    await screenshot(page, 'card-command');
    await commandCard.getByRole('button', { name: 'Deny', exact: true }).focus();
    await page.keyboard.press('Enter');
    await chat.getByTestId('decided-row').filter({ hasText: /denied/i }).first().waitFor({ timeout: BOUND });
    await idle(chat);
    assert.equal(there('made.txt'), false, 'what was denied did not run');
    await screenshot(page, 'chat-decided');

    // Looking around makes no card, and history says why.
    await send(chat, 'run ls -la');
    await idle(chat);
    assert.equal(await chat.getByTestId('approval-card').count(), 0);
    const looked = ledger(run).filter((row) => row.input?.command === 'ls -la');
    assert.deepEqual(looked.map((row) => row.phase), ['decided', 'started', 'finished']);
    assert.equal(looked[0].by, 'mode');
    assert.match(looked[0].evidence[0].reason, /read/i);

    // Bypass: confirmed in the editor's own dialog, written to the workspace's settings, then no cards.
    await send(chat, 'run touch first.txt');
    const bypassed = chat.getByTestId('approval-card').first();
    await bypassed.waitFor({ timeout: BOUND });
    await settle(bypassed);
    await bypassed.getByRole('button', { name: 'Approve options' }).click();
    await chat.getByRole('menuitem', { name: /^Bypass permissions for Countersign/ }).click();
    await screenshot(page, 'bypass-modal');
    await page.getByRole('button', { name: 'Bypass Permissions' }).click();
    await waitFor(() => there('first.txt'), 'first.txt on disk');
    await idle(chat);
    await waitFor(() => existsSync(settings) && /"bypassPermissions":\s*true/.test(readFileSync(settings, 'utf8')), 'bypass in the settings file');
    await send(chat, 'run touch second.txt');
    await waitFor(() => there('second.txt'), 'second.txt on disk without a card');
    await idle(chat);
    assert.equal(ledger(run).findLast((row) => row.input?.command === 'touch second.txt').by, 'bypass');

    // The file edited by hand takes effect without a restart; a comment in it survives.
    const edited = readFileSync(settings, 'utf8').replace(/"bypassPermissions":\s*true/, '"bypassPermissions": /* by hand */ false');
    writeFileSync(settings, edited);
    await waitFor(async () => {
      const name = `third-${Date.now()}.txt`;
      await send(chat, `run touch ${name}`);
      await waitFor(async () => there(name) || (await chat.getByTestId('approval-card').count()) > 0, 'a card or an effect');
      return !there(name);
    }, 'cards again after the file was edited');
    await chat.getByTestId('approval-card').first().getByRole('button', { name: 'Deny', exact: true }).click();
    await idle(chat);
    assert.match(readFileSync(settings, 'utf8'), /\/\* by hand \*\//);

    // A reload with a card open: the card comes back, and its answer runs that very call, once.
    await send(chat, 'run echo once >> once.txt');
    await chat.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    const id = await chat.getByTestId('approval-card').first().getAttribute('data-approval-id');
    await reload(page);
    const again = await openChat(page);
    const kept = again.getByTestId('approval-card').first();
    await kept.waitFor({ timeout: BOUND });
    assert.equal(await kept.getAttribute('data-approval-id'), id);
    assert.equal(there('once.txt'), false);
    await approve(kept);
    await waitFor(() => there('once.txt'), 'once.txt on disk');
    await idle(again);
    assert.equal(readFileSync(path.join(run.workspace, 'once.txt'), 'utf8'), 'once\n');

    // The ledger holds.
    const rows = ledger(run);
    assert.deepEqual(rows.filter((row) => row.input?.path === 'hello.txt').map((row) => `${row.phase} ${row.verdict} ${row.by}`), [
      'decided ask mode', 'decided allow user', 'started allow user', 'finished allow user',
    ]);
    assert.deepEqual(rows.filter((row) => row.input?.command === 'touch made.txt').map((row) => `${row.phase} ${row.verdict} ${row.by}`), [
      'decided ask mode', 'decided deny user',
    ]);
    assert.match(execFileSync(COUNTERSIGN, ['history', '--storage', storage(run), '--verify'], { encoding: 'utf8' }), /rows hold/);
  });
});
