// An edit in the editor's own diff editor: Approve and Deny in its title bar, what has to be in view first, and changes that
// are left out.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, idle, ledger, openChat, send, TRUSTED, waitFor } from './person.mjs';
import { screenshot, withWorkbench } from './workbench.mjs';

const OLD = 'old head\nmiddle\nold foot';
const NEW = 'new head\nmiddle\nnew foot';

const diffEditor = (page) => page.locator('.monaco-diff-editor').first();
const button = (page, name) => page.locator('.editor-actions').getByRole('button', { name });

async function openDiff(page, chat, name) {
  const card = chat.getByTestId('approval-card').filter({ hasText: name });
  await card.waitFor({ timeout: BOUND });
  await card.getByRole('button', { name: 'Open diff' }).click();
  await diffEditor(page).waitFor({ timeout: BOUND });
  await button(page, /Approve This Edit/).waitFor({ timeout: BOUND });
  await diffEditor(page).locator('.line-delete, .char-delete, .line-insert').first().waitFor({ timeout: BOUND });
}

/** Presses Approve until it counts: before, it says what was not in view yet and goes there. */
async function approveHere(page, done) {
  await waitFor(async () => {
    if (await done()) return true;
    const approve = button(page, /Approve This Edit/);
    // Presses that follow each other like those of a held key do not count.
    if (await approve.isVisible()) await approve.click({ delay: 50 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    return done();
  }, 'an approval in the diff editor');
}

test('an edit is read and approved in the diff editor, without the changes that were left out', async () => {
  await withWorkbench('diff', { settings: TRUSTED }, async ({ page, run }) => {
    const file = path.join(run.workspace, 'notes.txt');
    const text = () => readFileSync(file, 'utf8');
    writeFileSync(file, OLD);
    const chat = await openChat(page);

    // Both changes, approved where they were read.
    await send(chat, `create notes.txt saying ${NEW}`);
    await openDiff(page, chat, /notes\.txt/);
    await screenshot(page, 'diff-editor');
    await approveHere(page, () => text() === NEW);
    await idle(chat);
    assert.equal(ledger(run).findLast((row) => row.phase === 'decided').by, 'user');
    await button(page, /Approve This Edit/).waitFor({ state: 'hidden', timeout: BOUND });

    // One of two changes is left out: the rest is what is written, marked as edited.
    writeFileSync(file, OLD);
    await send(chat, `create notes.txt saying ${NEW}`);
    await openDiff(page, chat, /notes\.txt/);
    await button(page, /Leave Out Changes/).click();
    const rows = page.locator('.quick-input-list .monaco-list-row');
    await rows.first().waitFor({ timeout: BOUND });
    await screenshot(page, 'diff-leave-out');
    await rows.first().click();
    await page.keyboard.press('Enter');
    await page.locator('.tab', { hasText: '1 of 2 changes left out' }).first().waitFor({ timeout: BOUND });
    assert.equal(text(), OLD);
    await diffEditor(page).locator('.line-insert').first().waitFor({ timeout: BOUND });
    await screenshot(page, 'diff-left-out');
    await approveHere(page, () => text() !== OLD);
    assert.equal(text(), 'old head\nmiddle\nnew foot');
    await idle(chat);
    assert.match(JSON.stringify(ledger(run)), /edited by you/);

    // A change of 400 lines is not approved by one press; each press goes on to what was not in view. Deny needs none.
    writeFileSync(file, `${Array.from({ length: 400 }, (_, index) => `line ${index}`).join('\n')}\n`);
    const before = text();
    await send(chat, 'create notes.txt saying short');
    await openDiff(page, chat, /notes\.txt/);
    await button(page, /Approve This Edit/).click();
    await page.locator('.notifications-toasts', { hasText: /not in view yet/ }).waitFor({ timeout: BOUND });
    assert.equal(text(), before);
    await screenshot(page, 'diff-unseen');
    await button(page, /Deny This Edit/).click();
    await chat.getByTestId('decided-row').filter({ hasText: /denied/i }).first().waitFor({ timeout: BOUND });
    await idle(chat);
    assert.equal(text(), before);

    // A long line is wrapped, so that its end is in view.
    writeFileSync(file, 'x\n');
    await send(chat, `create notes.txt saying ${'word '.repeat(60)}end`);
    await openDiff(page, chat, /notes\.txt/);
    const modified = diffEditor(page).locator('.editor.modified .view-lines:not(.line-delete)');
    await modified.getByText('end', { exact: false }).first().waitFor({ timeout: BOUND });
    const box = await modified.boundingBox();
    for (const line of await modified.locator('.view-line span span').all()) {
      const span = await line.boundingBox();
      if (span) assert.ok(span.x + span.width <= box.x + box.width + 1, 'a line ends in view');
    }
    await approveHere(page, () => text().endsWith('end'));
    await idle(chat);

    // Letters that run from right to left stand in another order in an editor: the card is shown, nothing is approved.
    await send(chat, 'create notes.txt saying \u05D0\u05DC\u05E3 < \u05D1\u05D9\u05EA');
    await openDiff(page, chat, /notes\.txt/);
    await button(page, /Approve This Edit/).click();
    await page.locator('.notifications-toasts', { hasText: /Approve the edit on its card/ }).waitFor({ timeout: BOUND });
    assert.ok(text().endsWith('end'));
    await chat.getByTestId('approval-card').first().waitFor();
  });
});
