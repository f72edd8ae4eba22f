// What a hosted agent offers, in the installed extension: its model is chosen and reaches it, what would make it ask less is
// shown and cannot be chosen, its commands are completed, and its title and figures stand where those of the built-in agent do.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { BOUND, COUNTERSIGN, idle, openChat, send, TRUSTED, waitFor } from './person.mjs';
import { screenshot, withWorkbench } from './workbench.mjs';

const SCRIPTED_AGENT = fileURLToPath(new URL('../agents/scripted_agent.py', import.meta.url));
const PYTHON = path.join(path.dirname(COUNTERSIGN), 'python');
const AGENT = 'Scripted';
const select = (id, value, names, more = {}) => ({ id, name: id, type: 'select', currentValue: value, options: Object.entries(names).map(([key, name]) => ({ value: key, name })), ...more });
const OPTIONS = [
  select('Model', 'fast', { fast: 'Fast 2', deep: 'Deep 2' }, { category: 'model' }),
  select('mode', 'ask', { ask: 'Ask', yolo: 'YOLO' }, { name: 'Agent mode', category: 'mode' }),
  { id: 'web', name: 'Web search', type: 'boolean', currentValue: true },
];
const STEPS = [
  { update: { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'review', description: 'Reviews the changes', input: { hint: 'a branch' } }] } },
  { update: { sessionUpdate: 'session_info_update', title: 'A title of the agent' } },
  { update: { sessionUpdate: 'usage_update', used: 25_000, size: 100_000, cost: { amount: 0.5, currency: 'USD' } } },
  { update: { sessionUpdate: 'plan', entries: [{ content: 'Read the parser', status: 'completed' }, { content: 'Fix it', status: 'in_progress' }] } },
  { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Ready.' } } },
];

test('the model of an agent is changed in the composer, and what would make it ask less is not', async () => {
  let log;
  const prepare = (run) => {
    const script = path.join(run.folder, 'script.json');
    log = path.join(run.folder, 'log.jsonl');
    writeFileSync(script, JSON.stringify({ prompts: [STEPS], offers: { configOptions: OPTIONS } }));
    writeFileSync(log, '');
    const user = path.join(run.folder, 'user/User/settings.json');
    const agents = { [AGENT]: { type: 'acp', command: PYTHON, args: [SCRIPTED_AGENT, script, log] } };
    writeFileSync(user, JSON.stringify({ ...JSON.parse(readFileSync(user, 'utf8')), 'countersign.agents': agents, 'countersign.defaultAgent': AGENT }, null, 2));
  };
  const told = (method) => readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((row) => row.method === method).map((row) => row.params);
  await withWorkbench('options', { settings: TRUSTED, prepare }, async ({ page }) => {
    const chat = await openChat(page);
    await send(chat, 'go');
    await chat.getByText('Ready.').first().waitFor({ timeout: 2 * BOUND });
    await idle(chat);
    await chat.getByTestId('agent-options').waitFor({ timeout: BOUND });
    await screenshot(page, 'options');
    await chat.getByText('A title of the agent').first().waitFor({ timeout: BOUND });
    assert.match(await chat.getByTestId('figures').innerText(), /25 % · \$0\.50/);

    const model = chat.getByRole('combobox', { name: `Model (${AGENT})` });
    await model.click();
    await screenshot(page, 'options-model');
    await chat.getByRole('option', { name: 'Deep 2' }).click();
    await model.filter({ hasText: 'Deep 2' }).waitFor({ timeout: BOUND });
    await chat.getByRole('switch', { name: `Web search (${AGENT})` }).click();
    await waitFor(async () => (await chat.getByRole('switch', { name: `Web search (${AGENT})` }).getAttribute('aria-checked')) === 'false', 'the switch turned off');
    const values = told('session/set_config_option').map(({ configId, value, type }) => [configId, value, type]);
    assert.deepEqual(values, [['Model', 'deep', undefined], ['web', false, 'boolean']]);

    // What would make it ask less is there, with the reason, and does nothing.
    await chat.getByRole('combobox', { name: `Agent mode (${AGENT})` }).click();
    const yolo = chat.getByRole('option', { name: 'YOLO' });
    assert.equal(await yolo.getAttribute('aria-disabled'), 'true');
    await screenshot(page, 'options-refused');
    await yolo.click({ force: true });
    await page.keyboard.press('Escape');
    assert.equal(told('session/set_config_option').length, 2);

    await chat.getByRole('textbox', { name: 'Message' }).fill('/re');
    await chat.getByRole('option', { name: '/review' }).waitFor({ timeout: BOUND });
    await screenshot(page, 'options-commands');
    await chat.getByRole('textbox', { name: 'Message' }).press('Tab');
    await chat.getByTestId('command-hint').filter({ hasText: 'a branch' }).waitFor({ timeout: BOUND });
    await chat.getByRole('textbox', { name: 'Message' }).press('Enter');
    await waitFor(() => told('session/prompt').length === 2, 'the command at the agent');
    assert.deepEqual(told('session/prompt')[1].prompt, [{ type: 'text', text: '/review' }]);
    await idle(chat);
  });
});
