// What survives a reload of the window, and the page of all chats, in the installed extension: a queued message, the draft, the
// open page; renaming and searching; and the end of a queued message's way, its own turn.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { approve, BOUND, idle, openChat, send, TRUSTED, waitFor } from './person.mjs';
import { reload, screenshot, withWorkbench } from './workbench.mjs';

test('a message is queued while a card waits, survives a reload, and is sent when the turn has ended', async () => {
  await withWorkbench('chats', { settings: TRUSTED }, async ({ page, run }) => {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const chat = await openChat(page);
    await send(chat, 'run touch first.txt');
    await chat.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    await send(chat, 'run touch second.txt');
    await send(chat, 'run touch third.txt');
    await waitFor(async () => (await chat.getByTestId('queued').getByRole('listitem').count()) === 2, 'two queued messages');
    await chat.getByRole('textbox', { name: 'Message' }).fill('half a thought');
    await screenshot(page, 'queued');
    await chat.getByRole('button', { name: 'Remove the queued message' }).last().click();
    await waitFor(async () => (await chat.getByTestId('queued').getByRole('listitem').count()) === 1, 'one queued message');

    await reload(page);
    const again = await openChat(page);
    await again.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    assert.match(await again.getByTestId('queued').innerText(), /touch second\.txt/);
    assert.equal(await again.getByRole('textbox', { name: 'Message' }).inputValue(), 'half a thought');
    await screenshot(page, 'queued-after-reload');
    await approve(again.getByTestId('approval-card').first());
    await waitFor(() => there('first.txt'), 'first.txt on disk');
    // The turn has ended by itself: the queued message is sent, and asks like any other.
    const card = again.getByTestId('approval-card').filter({ hasText: 'second.txt' });
    await card.waitFor({ timeout: BOUND });
    assert.equal(await again.getByTestId('queued').count(), 0);
    await approve(card);
    await waitFor(() => there('second.txt'), 'second.txt on disk');
    await idle(again);
    assert.equal(there('third.txt'), false, 'what was removed was never sent');

    await again.getByRole('button', { name: 'All chats' }).click();
    const row = again.getByTestId('chat-row');
    await row.waitFor({ timeout: BOUND });
    await waitFor(async () => (await row.getAttribute('data-state')) === 'done', 'a chat that is done');
    await row.getByRole('button', { name: /^Rename / }).click();
    await again.getByRole('textbox', { name: 'Title of the chat' }).fill('Touching files');
    await page.keyboard.press('Enter');
    await row.filter({ hasText: 'Touching files' }).waitFor({ timeout: BOUND });
    await again.getByRole('searchbox', { name: 'Search the chats' }).fill('SECOND.txt');
    await page.keyboard.press('Enter');
    await again.locator('.excerpt').waitFor({ timeout: BOUND });
    await screenshot(page, 'all-chats');
    await reload(page);
    const last = await openChat(page);
    assert.ok(last);
  });
});

test('a file that is mentioned goes along as a chip', async () => {
  await withWorkbench('mention', { settings: TRUSTED }, async ({ page }) => {
    const chat = await openChat(page);
    const message = chat.getByRole('textbox', { name: 'Message' });
    await message.pressSequentially('explain @gre');
    const found = chat.getByRole('option', { name: /greet\.py/ });
    // While it starts, the editor may take the focus, which closes the list; it opens again for who comes back.
    await found.waitFor({ timeout: BOUND / 4 }).catch(() => message.click());
    await found.waitFor({ timeout: BOUND });
    await chat.getByRole('button', { name: 'All chats' }).focus();
    await found.waitFor({ state: 'hidden', timeout: BOUND });
    await message.focus();
    await found.waitFor({ timeout: BOUND });
    await screenshot(page, 'mention');
    await page.keyboard.press('Enter');
    const chip = chat.getByTestId('chip').filter({ hasText: 'greet.py' });
    await chip.waitFor({ timeout: BOUND });
    assert.equal(await message.inputValue(), 'explain @greet.py ');
    await chat.getByRole('button', { name: 'Send' }).click({ timeout: 2 * BOUND });
    await chip.waitFor({ state: 'detached', timeout: BOUND });
    await idle(chat);
    // The arrow key brings the message back.
    await message.press('ArrowUp');
    assert.equal(await message.inputValue(), 'explain @greet.py');
  });
});

test('a pasted image goes along as a chip, and is not sent to an agent that takes none', async () => {
  const settings = {
    ...TRUSTED,
    'countersign.models': { eyes: { provider: 'anthropic', model: 'm', baseUrl: 'http://127.0.0.1:9', options: { images: true } } },
    'countersign.agents': { Sighted: { model: 'eyes' } },
    'countersign.defaultAgent': 'Sighted',
  };
  await withWorkbench('image', { settings }, async ({ page, run }) => {
    const chat = await openChat(page);
    // Which agent takes images is known once the server runs.
    const agent = chat.getByRole('combobox', { name: 'Agent' });
    await agent.filter({ hasText: 'Sighted' }).waitFor({ timeout: 2 * BOUND });
    await chat.getByRole('textbox', { name: 'Message' }).evaluate((box) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])], 'shot.png', { type: 'image/png' }));
      box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    const chip = chat.getByTestId('chip').filter({ hasText: 'shot.png' });
    await chip.waitFor({ timeout: BOUND });
    await screenshot(page, 'image');
    await agent.click();
    await chat.getByRole('option', { name: /^Countersign/ }).click({ timeout: BOUND });
    await agent.filter({ hasText: 'Countersign' }).waitFor({ timeout: BOUND });
    await send(chat, 'run touch unsent.txt');
    await chat.locator('.note').filter({ hasText: 'Countersign takes no images' }).waitFor({ timeout: BOUND });
    assert.equal(await chat.getByRole('textbox', { name: 'Message' }).inputValue(), 'run touch unsent.txt');
    // Without the image it is sent.
    await chip.getByRole('button', { name: 'Remove shot.png' }).click();
    await send(chat, 'run touch sent.txt');
    await approve(chat.getByTestId('approval-card').filter({ hasText: 'sent.txt' }));
    await waitFor(() => existsSync(path.join(run.workspace, 'sent.txt')), 'sent.txt on disk');
    assert.equal(existsSync(path.join(run.workspace, 'unsent.txt')), false);
  });
});
