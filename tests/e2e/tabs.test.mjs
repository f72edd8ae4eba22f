// Two chats side by side in editor tabs of the installed extension: each with its own thread, draft and cards; the same card
// in the tab and in the view is decided once; palette commands act on the card of the tab that had the focus; a reload of the
// window brings both back.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { approve, BOUND, openChat, send, settle, TRUSTED, waitFor } from './person.mjs';
import { EXTENSION, reload, runCommand, screenshot, withWorkbench } from './workbench.mjs';

/** The documents of all our webviews, the chat view's too. */
async function documents(page) {
  const count = await page.locator(`iframe.webview.ready[src*="extensionId=${EXTENSION}" i]`).count();
  return Array.from({ length: count }, (_, index) =>
    page.frameLocator(`iframe.webview.ready[src*="extensionId=${EXTENSION}" i] >> nth=${index}`).frameLocator('iframe#active-frame'),
  );
}

/** The webviews by what they are: the chat view, and the tabs by the order in which they were made. */
async function byName(page, number) {
  let found;
  await waitFor(async () => {
    found = {};
    for (const one of await documents(page)) {
      const name = await one.locator('body').getAttribute('data-view', { timeout: 1000 }).catch(() => null);
      if (name) found[name] = one;
    }
    return Object.keys(found).length === number;
  }, `${number} webviews`);
  return found;
}

test('two chats stand side by side, each with its own draft and cards, and come back after a reload', async () => {
  await withWorkbench('tabs', { settings: TRUSTED }, async ({ page, run }) => {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const side = await openChat(page);
    await send(side, 'run touch first.txt');
    await side.getByTestId('approval-card').first().waitFor({ timeout: 2 * BOUND });
    await runCommand(page, 'Countersign: Open Chat in Editor Tab');
    let views = await byName(page, 2);
    const [first] = Object.keys(views).filter((name) => name !== 'view');
    const tab = views[first];
    const inTab = tab.getByTestId('approval-card').filter({ hasText: 'first.txt' });
    await inTab.waitFor({ timeout: BOUND });
    await tab.getByRole('textbox', { name: 'Message' }).fill('a draft in the tab');
    await screenshot(page, 'tab-with-card');

    // A second chat, begun in the view, opened in a tab beside the first.
    const view = views.view;
    await view.getByRole('button', { name: 'New chat' }).click();
    await send(view, 'run touch second.txt');
    await view.getByTestId('approval-card').first().waitFor({ timeout: BOUND });
    await waitFor(async () => /1 of 2|2 of 2/.test(await view.locator('.card-position').innerText().catch(() => '')), 'both cards in the view');
    await runCommand(page, 'View: Split Editor Right').catch(() => undefined);
    await view.getByRole('textbox', { name: 'Message' }).click();
    await runCommand(page, 'Countersign: Open Chat in Editor Tab');
    views = await byName(page, 3);
    const second = Object.keys(views).find((name) => name !== 'view' && name !== first);
    const other = views[second];
    await other.getByTestId('approval-card').filter({ hasText: 'second.txt' }).waitFor({ timeout: BOUND });
    assert.equal(await other.getByTestId('approval-card').filter({ hasText: 'first.txt' }).count(), 0);
    assert.equal(await other.locator('.card-position').count(), 0, 'the tab has the card of its own chat alone');
    await other.getByRole('textbox', { name: 'Message' }).fill('another draft');
    await runCommand(page, 'View: Move Editor into Right Group');
    views = await byName(page, 3);
    await screenshot(page, 'two-tabs');

    // The palette acts on the card of the tab that had the focus before it.
    const right = views[second];
    await settle(right.getByTestId('approval-card'));
    await right.locator('.card').click({ position: { x: 5, y: 5 } });
    await runCommand(page, 'Countersign: Approve');
    await waitFor(() => there('second.txt'), 'second.txt on disk');
    assert.equal(there('first.txt'), false, 'the other chat still waits');
    for (const one of [right, views.view]) await one.getByTestId('approval-card').filter({ hasText: 'second.txt' }).waitFor({ state: 'detached', timeout: BOUND });

    await reload(page);
    // A tab behind others is made again only when it is shown; these two are in front, each in its group.
    views = await byName(page, 3);
    assert.deepEqual(Object.keys(views).sort(), ['view', first, second].sort());
    assert.equal(await views[first].getByRole('textbox', { name: 'Message' }).inputValue(), 'a draft in the tab');
    assert.equal(await views[second].getByRole('textbox', { name: 'Message' }).inputValue(), 'another draft');
    const again = views[first].getByTestId('approval-card').filter({ hasText: 'first.txt' });
    await again.waitFor({ timeout: BOUND });
    assert.equal(await views[second].getByTestId('approval-card').count(), 0);
    await screenshot(page, 'two-tabs-after-reload');
    // One decision: answered in the tab, it is gone from the view.
    await approve(again);
    await waitFor(() => there('first.txt'), 'first.txt on disk');
    await views.view.getByTestId('approval-card').waitFor({ state: 'detached', timeout: BOUND });
    await screenshot(page, 'tabs-decided');
  });
});
