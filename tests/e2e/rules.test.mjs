// Rules as a person lives with them, in the installed extension: an answer that kept one is taken back from its card by one press,
// and what was approved again and again is proposed, taken by one press, and asks no more.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { approve, BOUND, idle, openChat, send, settle, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, withWorkbench } from './workbench.mjs';

test('a rule is kept, taken back, proposed from history and taken', async () => {
  await withWorkbench('rules', { settings: TRUSTED }, async ({ page, run }) => {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const settings = () => readFileSync(path.join(run.workspace, '.vscode/settings.json'), 'utf8');
    const chat = await openChat(page);
    const card = chat.getByTestId('approval-card').first();

    // Approved three times, each for once.
    for (const name of ['made1', 'made2', 'made3']) {
      await send(chat, `run touch ${name}`);
      await card.waitFor({ timeout: BOUND });
      await approve(card);
      await waitFor(() => there(name), `${name} on disk`);
      await idle(chat);
    }

    // Always, and taken back from the card that it was said on.
    await send(chat, 'run mkdir kept');
    await card.waitFor({ timeout: BOUND });
    await settle(card);
    await card.getByRole('button', { name: 'Approve options' }).click();
    const wider = chat.getByRole('menuitem', { name: 'Always allow Bash(mkdir:*) in this workspace' });
    assert.match(await wider.innerText(), /would also match: mkdir build/);
    await chat.getByRole('menuitem', { name: 'Always allow Bash(mkdir kept) in this workspace' }).click();
    await waitFor(() => there('kept'), 'the folder on disk');
    await idle(chat);
    assert.match(settings(), /Bash\(mkdir kept\)/);
    await screenshot(page, 'kept');
    await chat.getByRole('button', { name: 'Take back Bash(mkdir kept)' }).click();
    await waitFor(() => !settings().includes('mkdir'), 'the settings without the rule');

    // The proposal says what it rests on; nothing is applied before it is pressed.
    await runCommand(page, 'Countersign: Manage Rules');
    const proposal = chat.getByTestId('proposal-row').first();
    await proposal.waitFor({ timeout: BOUND });
    await screenshot(page, 'proposals');
    assert.match(await proposal.innerText(), /Bash\(touch:\*\)[^]*spared you 3 questions[^]*touch made3/);
    assert.equal(settings().includes('touch'), false);
    await proposal.getByRole('button', { name: 'Allow in this workspace: Bash(touch:*)' }).click();
    await waitFor(() => settings().includes('"Bash(touch:*)"'), 'the rule in the settings');
    await proposal.waitFor({ state: 'hidden', timeout: BOUND });

    // It asks no more, and the rule says that it was used.
    await chat.getByRole('button', { name: 'Back to the chat' }).click();
    await send(chat, 'run touch made4');
    await waitFor(() => there('made4'), 'made4 on disk without a card');
    await idle(chat);
    await runCommand(page, 'Countersign: Manage Rules');
    await waitFor(async () => /used once/.test(await chat.getByTestId('rule-row').first().innerText()), 'the rule to have been used once');
    await screenshot(page, 'rule-used');
  });
});
