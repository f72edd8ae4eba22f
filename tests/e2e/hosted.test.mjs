// Hosted agents as a person meets them: one that is installed is added by a few clicks, a plan is a card that changes the
// mode, and after a reload of the window the agent goes on with the same session.

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, chooseAgent, idle, ledger, openChat, PYTHON, SCRIPTED_AGENT, send, settle, TRUSTED, waitFor } from './person.mjs';
import { reload, screenshot, withWorkbench } from './workbench.mjs';

const AGENT = 'Scripted';
const PLAN = '# Paint the door\n\n1. read `greet.py`\n2. change **one** line';
const OPTIONS = [
  { optionId: 'yes', name: 'Yes, manually approve edits', kind: 'allow_once' },
  { optionId: 'no', name: 'No, keep planning', kind: 'reject_once' },
];

test('an agent is added, its plan is approved as a card, and it remembers after a reload', async () => {
  await withWorkbench('hosted', { settings: TRUSTED, prepare: withAgents }, async ({ page, run }) => {
    const chat = await openChat(page);

    // Add Agent… finds what is installed and starts nothing.
    await chat.getByRole('button', { name: 'Add agent…' }).click({ timeout: 2 * BOUND });
    const row = page.locator('.quick-input-widget:visible .monaco-list-row').filter({ hasText: 'OpenCode' }).first();
    await row.waitFor({ timeout: BOUND });
    assert.match(await row.innerText(), /1\.2\.3/);
    await screenshot(page, 'hosted-add-list');
    await row.click();
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.getByText('Add OpenCode to your settings?').waitFor({ timeout: BOUND });
    await screenshot(page, 'hosted-add-dialog');
    await dialog.getByRole('button', { name: 'Add Agent' }).click();
    const settings = () => JSON.parse(readFileSync(run.user, 'utf8') || '{}')['countersign.agents'] ?? {};
    // The editor empties the file before it writes it.
    await waitFor(() => 'OpenCode' in settings(), 'the agent in the settings');
    assert.deepEqual(settings().OpenCode.command.split('/').at(-1), 'opencode');
    assert.ok(AGENT in settings(), 'what stood there still does');

    // The plan is text on a card; approving it with edits changes the mode of this chat.
    await chooseAgent(chat, AGENT);
    await send(chat, 'paint the door');
    const card = chat.getByTestId('approval-card');
    await card.getByText('Paint the door').waitFor({ timeout: BOUND });
    await settle(card);
    // Its label has a color and an explanation, and its own words come last and are called its own.
    const label = card.getByTestId('label');
    assert.equal(await label.innerText(), 'unguarded');
    assert.notEqual(await label.locator('.dot').evaluate((dot) => getComputedStyle(dot).backgroundColor), 'rgba(0, 0, 0, 0)');
    await label.click();
    await waitFor(async () => (await label.getAttribute('aria-expanded')) === 'true', 'the explanation of the label');
    assert.match(await card.innerText(), /unguarded: it acts without this desk/);
    assert.match(await card.innerText(), /The agent calls it: Approve Plan\s+Approve\b/);
    await label.click();
    await screenshot(page, 'hosted-plan');
    await card.getByRole('button', { name: 'Approve and accept edits' }).click();
    await chat.getByText('Painted.').first().waitFor({ timeout: BOUND });
    await idle(chat);
    await waitFor(async () => /Accept edits/i.test(await chat.getByRole('combobox', { name: 'Mode' }).innerText()), 'the mode Accept edits');

    // The same session goes on after a reload, and nothing is said twice.
    run.planned(); // what its next process does
    await reload(page);
    const again = await openChat(page);
    await again.getByText('Painted.').first().waitFor({ timeout: BOUND });
    await send(again, 'and now?');
    await again.getByText('Still the same door.').first().waitFor({ timeout: BOUND });
    await idle(again);
    assert.equal(await again.getByText('does not remember').count(), 0);
    await screenshot(page, 'hosted-resumed');
    const told = readFileSync(run.log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const sessions = told.filter(({ method }) => /^session\/(new|load|prompt)$/.test(method)).map(({ method }) => method);
    assert.deepEqual(sessions, ['session/new', 'session/prompt', 'session/load', 'session/prompt']);
    const answer = told.find((one) => one.result?.outcome?.optionId !== undefined);
    assert.equal(answer.result.outcome.optionId, 'yes');
    const decided = ledger(run).filter(({ tool }) => tool === 'acp:plan').map(({ phase, verdict, by }) => `${phase} ${verdict} ${by}`);
    assert.deepEqual(decided.slice(0, 2), ['decided ask mode', 'decided allow user']);
  });
});

/** Installs a package that is an agent's by name, and puts an agent that plans into the user's settings. */
function withAgents(run) {
  const prefix = path.join(run.folder, 'home/.npm-global');
  const program = path.join(prefix, 'lib/node_modules/opencode-ai/bin/opencode');
  mkdirSync(path.dirname(program), { recursive: true });
  mkdirSync(path.join(prefix, 'bin'));
  writeFileSync(program, '#!/bin/sh\nexit 1\n');
  chmodSync(program, 0o755);
  writeFileSync(path.join(prefix, 'lib/node_modules/opencode-ai/package.json'), JSON.stringify({ name: 'opencode-ai', version: '1.2.3' }));
  symlinkSync(program, path.join(prefix, 'bin/opencode'));

  const [script, log] = ['script.json', 'log.jsonl'].map((name) => path.join(run.folder, name));
  run.log = log;
  run.user = path.join(run.folder, 'user/User/settings.json');
  const says = (text) => ({ update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } });
  const plan = { toolCallId: 'p', kind: 'switch_mode', title: 'Approve Plan', rawInput: { plan: PLAN } };
  const asks = { ask: 'session/request_permission', id: 1, params: { toolCall: plan, options: OPTIONS } };
  const greeting = { agentCapabilities: { loadSession: true } };
  const write = (...prompt) => writeFileSync(script, JSON.stringify({ remembers: true, greeting, prompts: [prompt] }));
  write(asks, says('Painted.'));
  run.planned = () => write(says('Still the same door.'));
  const agents = { [AGENT]: { type: 'acp', command: PYTHON, args: [SCRIPTED_AGENT, script, log] } };
  writeFileSync(run.user, JSON.stringify({ ...JSON.parse(readFileSync(run.user, 'utf8')), 'countersign.agents': agents }, null, 2));
}
