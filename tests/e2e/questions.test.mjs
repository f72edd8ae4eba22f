// A hosted agent asks a question in the installed extension: a form that a person fills in, a mistake that is said beside its
// field, and what the agent got; then an address that is shown whole and declined. Nothing that was entered is kept.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { BOUND, COUNTERSIGN, idle, openChat, send, TRUSTED, waitFor } from './person.mjs';
import { screenshot, withWorkbench } from './workbench.mjs';

const SCRIPTED_AGENT = fileURLToPath(new URL('../agents/scripted_agent.py', import.meta.url));
const PYTHON = path.join(path.dirname(COUNTERSIGN), 'python');
const AGENT = 'Scripted';
const SECRET = 'correct-horse-battery';
const FORM = {
  mode: 'form',
  message: 'Which database shall the tests use?\nApprove this to go on.',
  requestedSchema: {
    type: 'object',
    properties: {
      engine: { type: 'string', title: 'Engine', oneOf: [{ const: 'pg', title: 'PostgreSQL' }, { const: 'lite', title: 'SQLite' }] },
      port: { type: 'integer', title: 'Port', minimum: 1, maximum: 65535, default: 5432 },
      extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['audit', 'backup'] } },
      keep: { type: 'boolean', title: 'Keep the data afterwards' },
      password: { type: 'string', title: 'Password', description: 'Of the user postgres.' },
    },
    required: ['engine', 'password'],
  },
};
const URL_QUESTION = { mode: 'url', message: 'Log in to go on.', elicitationId: 'login', url: 'https://xn--pple-43d.com/login?next=https%3A%2F%2Fa.example%2F%3Fb%26c&state=f%3D00' };

/** Settings with an agent whose script asks both questions. */
function scripted(run) {
  const [script, log] = ['script.json', 'log.jsonl'].map((name) => path.join(run.folder, name));
  const said = { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Thank you.' } } };
  writeFileSync(script, JSON.stringify({ prompts: [[{ ask: 'elicitation/create', id: 1, params: FORM }, { ask: 'elicitation/create', id: 2, params: URL_QUESTION }, said]] }));
  writeFileSync(log, '');
  return { log, agents: { [AGENT]: { type: 'acp', command: PYTHON, args: [SCRIPTED_AGENT, script, log] } } };
}

test('an agent asks; a person answers a form and declines an address; the chat says so without what was entered', async () => {
  let log;
  const prepare = (run) => {
    const user = path.join(run.folder, 'user/User/settings.json');
    const made = scripted(run);
    log = made.log;
    const more = { 'countersign.agents': made.agents, 'countersign.defaultAgent': AGENT };
    writeFileSync(user, JSON.stringify({ ...JSON.parse(readFileSync(user, 'utf8')), ...more }, null, 2));
  };
  const answer = (id) => readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).find((row) => row.id === id && !row.method)?.result;
  await withWorkbench('questions', { settings: { ...TRUSTED, 'countersign.trace.server': 'verbose' }, prepare }, async ({ page, run }) => {
    const chat = await openChat(page);
    await chat.getByRole('combobox', { name: 'Agent' }).filter({ hasText: AGENT }).waitFor({ timeout: 2 * BOUND });
    await send(chat, 'set up the tests');
    const card = chat.getByRole('group', { name: `A question from ${AGENT}` });
    await card.waitFor({ timeout: 2 * BOUND });
    await card.getByText('approves nothing').waitFor({ timeout: BOUND });
    assert.equal(await chat.getByTestId('approval-card').count(), 0);
    assert.deepEqual(await card.getByRole('button').allInnerTexts(), ['Submit', 'Decline', 'Dismiss']);
    await screenshot(page, 'question-form');

    const submit = card.getByRole('button', { name: 'Submit' });
    await waitFor(() => submit.isEnabled(), 'a question that takes an answer');
    await card.getByLabel('Port').fill('70000');
    await submit.click();
    await card.getByText('Enter 65535 or less.').waitFor({ timeout: BOUND });
    assert.equal(await card.getByText('This is required.').count(), 2);
    await screenshot(page, 'question-errors');
    await card.getByLabel('Engine').selectOption({ label: 'SQLite' });
    await card.getByLabel('Port').fill('5433');
    await card.getByLabel('backup').check();
    await card.getByLabel('Password').fill(SECRET);
    await submit.click();
    await waitFor(() => answer(1) !== undefined, 'the answer with the agent');
    assert.deepEqual(answer(1), { action: 'accept', content: { engine: 'lite', port: 5433, extras: ['backup'], keep: false, password: SECRET } });

    const url = chat.getByTestId('question-url');
    await url.waitFor({ timeout: BOUND });
    assert.equal(await url.innerText(), URL_QUESTION.url);
    await card.getByText('look like others').waitFor({ timeout: BOUND });
    await screenshot(page, 'question-url');
    // The editor asks again before it opens anything, and shows the same address. Who cancels there has answered nothing.
    const open = card.getByRole('button', { name: 'Open in the browser' });
    await waitFor(() => open.isEnabled(), 'a question that opens its address');
    await open.click();
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.waitFor({ timeout: BOUND });
    assert.ok((await dialog.innerText()).replaceAll(/\s/g, '').includes(URL_QUESTION.url), await dialog.innerText());
    await screenshot(page, 'question-url-dialog');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await card.getByText('the question stays open').waitFor({ timeout: BOUND });
    assert.equal(answer(2), undefined);
    await card.getByRole('button', { name: 'Decline' }).click();
    await idle(chat);
    assert.deepEqual(answer(2), { action: 'decline' });
    const rows = chat.getByTestId('question-row');
    assert.deepEqual(await rows.evaluateAll((found) => found.map((row) => row.dataset.state)), ['answered', 'declined']);
    await screenshot(page, 'question-rows');

    // Neither the chat, the ledger, the state of the view, nor a log with a full trace holds what was entered.
    const kept = readdirSync(path.join(run.folder, 'user'), { recursive: true }).map((name) => path.join(run.folder, 'user', name)).filter((file) => statSync(file).isFile());
    const traced = kept.filter((file) => readFileSync(file).includes('elicitation/respond'));
    assert.notEqual(traced.length, 0, 'a trace is written');
    assert.deepEqual(kept.filter((file) => readFileSync(file).includes(SECRET)), []);
  });
});
