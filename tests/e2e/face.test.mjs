// What a person sees of the desk in the installed extension, in one window for all: the first start, what a card hides and what
// it takes, the order of calls, the palette, taking over rules, the history, and a server that is killed.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { processesOf } from '../../scripts/editor.mjs';
import { approve, BOUND, idle, openChat, send, settle, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, webview, withWorkbench } from './workbench.mjs';

const CLAUDE = { permissions: { allow: ['Bash(ls:*)'], deny: ['Bash(curl:*)'], defaultMode: 'acceptEdits' } };
const LINES = Array.from({ length: 60 }, (_, index) => (index === 30 ? 'rm -rf build' : `echo step ${index + 1} >> steps.txt`));

test('what a person sees of the desk', async (t) => {
  const prepare = (run) => {
    mkdirSync(path.join(run.workspace, '.claude'));
    writeFileSync(path.join(run.workspace, '.claude/settings.json'), JSON.stringify(CLAUDE, null, 2));
  };
  await withWorkbench('face', { settings: TRUSTED, prepare }, async (desk) => {
    for (const [name, body] of Object.entries(POINTS)) await t.test(name, () => body(desk));
  });
});

const POINTS = {
  async 'first start: suggestions that work here, the demo named once, a walkthrough'({ page, run }) {
    const chat = await openChat(page);
    const suggestions = chat.getByRole('list', { name: 'Suggestions' }).getByRole('button');
    await suggestions.first().waitFor({ timeout: 2 * BOUND });
    assert.deepEqual(await suggestions.allInnerTexts(), ['list .', 'read README.md', 'create hello.txt saying hi']);
    assert.equal(await chat.getByTestId('demo').count(), 1);
    await suggestions.nth(1).click();
    assert.equal(await chat.getByRole('textbox', { name: 'Message' }).inputValue(), 'read README.md');
    await chat.getByRole('button', { name: 'Send' }).click({ timeout: 2 * BOUND });
    await chat.getByTestId('decided-row').first().waitFor({ timeout: 2 * BOUND });
    await idle(chat);
    await screenshot(page, 'face-first');

    // The steps of the walkthrough, with what they lead to.
    await runCommand(page, 'Welcome: Open Walkthrough...');
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Get Started with Countersign' }).first().click({ timeout: BOUND });
    const steps = page.locator('.getting-started-step .step-title');
    await steps.first().waitFor({ timeout: BOUND });
    await waitFor(async () => (await steps.count()) === 5, 'five steps');
    await screenshot(page, 'face-walkthrough');
    await runCommand(page, 'View: Close All Editors');

    // The file that is open is offered, and goes along once it is pressed.
    await runCommand(page, 'Go to File...');
    await page.keyboard.type('greet.py');
    await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'greet.py' }).first().click({ timeout: BOUND });
    await chat.getByRole('button', { name: 'Attach greet.py' }).click({ timeout: BOUND });
    const chip = chat.getByTestId('chip').filter({ hasText: 'greet.py' });
    await chip.waitFor({ timeout: BOUND });
    await chip.getByRole('button', { name: 'Remove greet.py' }).click();
    await chip.waitFor({ state: 'detached', timeout: BOUND });
    assert.equal(existsSync(path.join(run.workspace, 'hello.txt')), false, 'a suggestion is sent by nobody else');
  },

  async 'a script of 60 lines is approved neither by mouse nor by keys before its dangerous line was in view'({ page, run }) {
    const there = () => existsSync(path.join(run.workspace, 'steps.txt'));
    const chat = await openChat(page);
    await page.setViewportSize({ width: 960, height: 540 });
    await send(chat, `run ${LINES.join('\n')}`);
    const card = chat.getByTestId('approval-card');
    await card.waitFor({ timeout: BOUND });
    const button = card.getByRole('button', { name: 'Approve', exact: true });
    await waitFor(async () => /Scroll through/.test((await button.getAttribute('title')) ?? ''), 'a card that waits for its end');
    assert.equal(await button.isDisabled(), true);
    // Title, risks, reason and buttons are in view, whatever the subject's length.
    const view = await chat.locator('body').evaluate(() => [innerWidth, innerHeight]);
    for (const part of ['.card-title', '.risks', '.why-line', '.buttons']) {
      const { x, y, right, bottom } = await card.locator(part).first().evaluate((one) => one.getBoundingClientRect().toJSON());
      assert.ok(x >= 0 && y >= 0 && right <= view[0] + 1 && bottom <= view[1] + 1, `${part} is in view: ${[x, y, right, bottom, ...view]}`);
    }
    await screenshot(page, 'face-unseen');
    await card.focus();
    await page.keyboard.press('Control+Enter');
    await runCommand(page, 'Countersign: Approve');
    await chat.locator('.note').filter({ hasText: /Nothing was approved/ }).waitFor({ timeout: BOUND });
    assert.equal(there(), false);
    // Stepped through by key, which tells those who listen what came into view.
    await card.focus();
    await waitFor(async () => {
      if (!(await button.isDisabled())) return true;
      await page.keyboard.press('PageDown');
      await new Promise((resolve) => setTimeout(resolve, 150));
      return !(await button.isDisabled());
    }, 'a card that was seen whole');
    await card.focus();
    await page.keyboard.press('Control+Enter');
    await waitFor(there, 'what the script wrote');
    await idle(chat);
    await page.setViewportSize({ width: 1400, height: 900 });
  },

  async 'a risk is amber, a note is not, a reason is said once, and no key that is pressed again and again widens anything'({ page, run }) {
    const chat = await openChat(page);
    const card = chat.getByTestId('approval-card');
    await send(chat, 'run rm -rf build');
    await card.waitFor({ timeout: BOUND });
    assert.match(await card.getByRole('list', { name: 'Risks' }).innerText(), /deletes files/);
    assert.ok((await card.getAttribute('class')).split(' ').includes('risky'));
    await card.getByRole('button', { name: 'Deny', exact: true }).click();
    await idle(chat);
    await send(chat, 'run touch quiet.txt');
    await card.waitFor({ timeout: BOUND });
    assert.equal((await card.getAttribute('class')).split(' ').includes('risky'), false);
    assert.equal(await card.getByRole('list', { name: 'Risks' }).count(), 0);
    assert.equal((await card.innerText()).split('No rule matches').length, 2, 'the reason, once');
    // Enter opens the menu, takes its first entry, and is pressed once more.
    await settle(card);
    await card.getByRole('button', { name: 'Approve options' }).focus();
    for (let press = 0; press < 3; press++) await page.keyboard.press('Enter');
    await idle(chat);
    const saved = [path.join(run.folder, 'user/User/settings.json'), path.join(run.workspace, '.vscode/settings.json')].filter((file) => existsSync(file));
    for (const file of saved) assert.doesNotMatch(readFileSync(file, 'utf8'), /bypass/i);
    assert.equal(await page.locator('.statusbar-item').filter({ hasText: 'bypassed' }).count(), 0);
  },

  async 'calls of one message stand in its order: cards, list, chat'({ page }) {
    const chat = await openChat(page);
    const names = ['one.txt', 'two.txt', 'three.txt'];
    await send(chat, names.map((name) => `run touch ${name}`).join(' and also '));
    const queue = chat.getByTestId('queue');
    await waitFor(async () => (await queue.textContent().catch(() => ''))?.includes('of 3'), 'three cards');
    const card = chat.getByTestId('approval-card');
    for (const [index, name] of names.entries()) {
      await card.filter({ hasText: name }).waitFor({ timeout: BOUND });
      assert.match(await card.locator('.card-position').innerText(), new RegExp(`${index + 1} of 3`));
      await chat.getByRole('button', { name: 'Next approval' }).click();
    }
    const inOrder = (texts) => texts.map((text) => names.find((name) => text.includes(name))).filter(Boolean);
    assert.deepEqual(inOrder(await chat.locator('cs-call').filter({ hasText: /\.txt/ }).allInnerTexts()).slice(-3), names);
    await chat.getByRole('button', { name: 'Review all' }).click();
    const rows = chat.getByTestId('review-row');
    await rows.first().waitFor({ timeout: BOUND });
    assert.deepEqual(inOrder(await rows.allInnerTexts()), names);
    await screenshot(page, 'face-review');
    await chat.getByRole('button', { name: 'Back to the chat' }).click();
  },

  async 'the palette acts on the card that was on the screen, and focus goes back to where the person typed'({ page, run }) {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const chat = await openChat(page);
    const card = chat.getByTestId('approval-card');
    await settle(card);
    const about = /(one|two|three)\.txt/.exec(await card.innerText())[0];
    await card.locator('.card-title').click();
    await runCommand(page, 'Countersign: Approve');
    await waitFor(() => there(about), `${about} on disk`);
    assert.equal(['one.txt', 'two.txt', 'three.txt'].filter(there).length, 1, 'that card alone');
    // The polite region says what was decided.
    await waitFor(async () => /allowed/i.test(await chat.locator('body').evaluate((body) => body.querySelector('[role="status"]').textContent)), 'the decision, said');
    await chat.getByRole('textbox', { name: 'Message' }).click();
    for (let left = 2; left > 0; left--) {
      await runCommand(page, 'Countersign: Deny');
      await waitFor(async () => {
        const position = await card.locator('.card-position').innerText({ timeout: 200 }).catch(() => '');
        return !position.includes(`of ${left}`) && (left === 2 || (await card.count()) === 0);
      }, 'one card less');
    }
    await card.waitFor({ state: 'detached', timeout: BOUND });
    await idle(chat);
    assert.deepEqual(['one.txt', 'two.txt', 'three.txt'].filter(there), [about]);
    // The last card is answered on the card itself: the text box has the focus afterwards.
    await chat.getByRole('textbox', { name: 'Message' }).click();
    await send(chat, 'run touch four.txt');
    await card.waitFor({ timeout: BOUND });
    await card.getByRole('button', { name: 'Deny', exact: true }).click();
    await card.waitFor({ state: 'detached', timeout: BOUND });
    await waitFor(() => chat.locator('body').evaluate(() => document.activeElement?.tagName === 'TEXTAREA'), 'focus in the text box');
    await idle(chat);
    // In a window that is a page of a browser, notifications are the editor's, and it says so.
    await runCommand(page, 'Countersign: Try Notification');
    await page.locator('.notifications-toasts', { hasText: 'The editor shows notifications, because' }).waitFor({ timeout: BOUND });
    await runCommand(page, 'Notifications: Clear All Notifications');
  },

  async 'permissions of another agent are found, shown in our grammar, and saved only when they were ticked'({ page, run }) {
    const settings = () => {
      const file = path.join(run.workspace, '.vscode/settings.json');
      return existsSync(file) ? readFileSync(file, 'utf8') : '';
    };
    await runCommand(page, 'Countersign: Import Permissions of Another Agent…');
    const rows = page.locator('.quick-input-widget:visible .monaco-list-row');
    await rows.filter({ hasText: '.claude/settings.json' }).first().click({ timeout: 2 * BOUND });
    await rows.filter({ hasText: 'allow: Bash(ls:*)' }).first().waitFor({ timeout: BOUND });
    const shown = (await rows.allInnerTexts()).join('\n');
    assert.match(shown, /deny: Bash\(curl:\*\)/);
    assert.match(shown, /left out: .*defaultMode/);
    await screenshot(page, 'face-import');
    await rows.filter({ hasText: 'deny: Bash(curl:*)' }).first().click();
    await page.keyboard.press('Enter');
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.getByText('Add these rules?').waitFor({ timeout: BOUND });
    await dialog.getByRole('button', { name: 'Add Rules' }).click();
    await waitFor(() => settings().includes('Bash(curl:*)'), 'the rule in the settings');
    assert.equal(settings().includes('Bash(ls:*)'), false);
    // The page of rules follows a settings file that is changed by hand.
    await runCommand(page, 'Countersign: Manage Rules');
    const chat = webview(page);
    await chat.getByTestId('rule-row').filter({ hasText: 'Bash(curl:*)' }).waitFor({ timeout: BOUND });
    writeFileSync(path.join(run.workspace, '.vscode/settings.json'), settings().replace('Bash(curl:*)', 'Bash(wget:*)'));
    await chat.getByTestId('rule-row').filter({ hasText: 'Bash(wget:*)' }).waitFor({ timeout: BOUND });
    assert.equal(await chat.getByTestId('rule-row').filter({ hasText: 'Bash(curl:*)' }).count(), 0);
    await chat.getByRole('button', { name: 'Back to the chat' }).click();
  },

  async 'the history says in words what was done, is filtered, draws figures, and takes a change back'({ page, run }) {
    const file = path.join(run.workspace, 'made.md');
    const chat = await openChat(page);
    await send(chat, 'create made.md saying words');
    await approve(chat.getByTestId('approval-card'));
    await waitFor(() => existsSync(file), 'made.md on disk');
    await idle(chat);
    await runCommand(page, 'Countersign: Show Approval History');
    const rows = chat.getByTestId('history-row');
    const made = rows.filter({ hasText: 'made.md' }).first();
    await made.waitFor({ timeout: BOUND });
    assert.match(await made.innerText(), /^Write a file: .*made\.md/);
    await chat.getByTestId('chain').waitFor({ timeout: BOUND });
    await made.locator('.decided-line').click();
    await screenshot(page, 'face-history');
    const words = await made.locator('.facts-list').allInnerTexts();
    assert.match(words.join('\n'), /Kind of change\s+a new file/);
    assert.doesNotMatch(words.join('\n'), /write_file|durationMs|sha256After/);
    await made.getByRole('button', { name: 'Undo this change' }).click();
    await waitFor(() => !existsSync(file), 'the file taken back');
    await made.getByText('This change was taken back.').waitFor({ timeout: BOUND });

    await chat.getByRole('combobox', { name: 'Verdict' }).click();
    await chat.getByRole('option', { name: 'Denied' }).click();
    await waitFor(async () => (await rows.count()) > 0 && (await rows.evaluateAll((all) => all.every((one) => one.dataset.verdict === 'deny'))), 'denied calls alone');
    await chat.getByRole('button', { name: 'Figures' }).click();
    await chat.getByTestId('history-figures').waitFor({ timeout: BOUND });
    await screenshot(page, 'face-figures');
    await chat.getByRole('button', { name: 'Back to the chat' }).click();
  },

  async 'a server that is killed: one sentence, no button that does nothing, and one that starts it again'({ page, run }) {
    const chat = await openChat(page);
    await send(chat, 'run touch five.txt');
    const card = chat.getByTestId('approval-card');
    await card.waitFor({ timeout: BOUND });
    await settle(card);
    const banner = chat.locator('.connection');
    // It starts again by itself, up to five times in three minutes.
    let wasOff = false;
    await waitFor(async () => {
      const restart = chat.getByRole('button', { name: 'Restart Server' });
      if (await restart.isVisible()) return true;
      for (const pid of serversOf(run)) process.kill(pid, 'SIGKILL');
      await banner.waitFor({ timeout: 2000 }).catch(() => undefined);
      wasOff ||= (await banner.isVisible()) && (await chat.locator('.card .primary, .card .buttons .secondary').evaluateAll((all) => all.length > 0 && all.every((one) => one.disabled || one.textContent.trim() === 'Open diff')));
      return false;
    }, 'a server that gave up');
    assert.ok(wasOff, 'while it was away, no button of the card could be pressed');
    await screenshot(page, 'face-crashed');
    assert.equal((await banner.innerText()).replaceAll(/\s+/g, ' ').trim(), 'The server stopped five times in three minutes; agents wait until it runs again. Restart Server');
    assert.doesNotMatch(await chat.locator('body').innerText(), /jsonrpc|Pending response|ECONN|-32\d{3}/i);
    assert.equal(await page.locator('.notifications-toasts .notification-list-item').count(), 0, 'nothing beside the banner');
    await chat.getByRole('button', { name: 'Restart Server' }).click();
    await banner.waitFor({ state: 'detached', timeout: BOUND });
    assert.equal(existsSync(path.join(run.workspace, 'five.txt')), false);
    await card.waitFor({ state: 'detached', timeout: BOUND });
    await send(chat, 'list .');
    await idle(chat);
  },
};

function serversOf(run) {
  return processesOf(run).filter((pid) => {
    try {
      return /countersign\0serve/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  });
}
