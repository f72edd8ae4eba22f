// An agent that needs a key and a login, as a person meets it: what is missing is said, the key is entered in a hidden field
// and reaches that agent alone, and what was written before the login is sent again after it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { BOUND, chooseAgent, idle, ledger, openChat, PYTHON, SCRIPTED_AGENT, send, storage, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, withWorkbench } from './workbench.mjs';

const AGENT = 'Scripted';
const KEY = 'sk-typed-0123456789';
const PAGE = 'https://door.example/keys/%41bc?for=[here](command:door)&more=1';
const ANSWER = 'The blue door is open.';

test('a key is entered for one agent, and a prompt that waited for a login is sent again', async () => {
  await withWorkbench('login', { settings: TRUSTED, prepare: (run) => withAgent(run) }, async ({ page, run }) => {
    const chat = await openChat(page);
    await chooseAgent(chat, AGENT);

    // Without its key it is not started, and the chat says what to do.
    await send(chat, 'open the door');
    await chat.getByText(/\$\{secret:DOOR_KEY\}.*has no value yet/).first().waitFor({ timeout: BOUND });
    await idle(chat);
    assert.equal(existsSync(run.log), false, 'the agent was not started');
    await screenshot(page, 'login-no-key');

    await runCommand(page, 'Countersign: Set Key');
    const field = page.locator('.quick-input-widget:visible .quick-input-box input');
    await waitFor(async () => (await field.getAttribute('type')) === 'password', 'a hidden field');
    await screenshot(page, 'login-key');
    await field.fill(KEY);
    await field.press('Enter');
    await page.locator('.notification-list-item-message').filter({ hasText: 'is kept in the secret storage' }).waitFor({ timeout: BOUND });

    // With it, the agent wants a login; once it has that, the message is sent again without a word of the person.
    await send(chat, 'open the door');
    const needed = chat.getByTestId('needs-login');
    await needed.waitFor({ timeout: BOUND });
    await screenshot(page, 'login-needed');
    await needed.getByRole('button', { name: 'Log in…' }).click();
    await chat.getByText(ANSWER).first().waitFor({ timeout: BOUND });
    await idle(chat);
    assert.equal(await needed.count(), 0);
    await screenshot(page, 'login-done');

    const told = readFileSync(run.log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    assert.equal(told.find((row) => row.started).started.env.DOOR, `door ${KEY}`);
    const prompts = told.filter((row) => row.method === 'session/prompt').map((row) => row.params.prompt[0].text);
    assert.deepEqual(prompts, ['open the door']);
    assert.ok(!JSON.stringify(ledger(run)).includes(KEY));
    assert.ok(!readFileSync(path.join(storage(run), 'chats.db'), 'latin1').includes(KEY));
  });
});

test('an agent is logged in by variables: a value is shown while it is typed, a key is not, and its page opens only on click', async () => {
  const vars = [
    { name: 'DOOR_PROJECT', label: 'Project', secret: false },
    { name: 'DOOR_API_KEY', label: 'Door key' },
  ];
  const prepare = (run) => withAgent(run, { authMethods: [{ id: 'key', name: 'API key', type: 'env_var', vars, link: PAGE }] }, { login_env: 'DOOR_API_KEY' }, {});
  await withWorkbench('login-variables', { settings: TRUSTED, prepare }, async ({ page, run }) => {
    const chat = await openChat(page);
    await chooseAgent(chat, AGENT);
    await send(chat, 'open the door');
    const needed = chat.getByTestId('needs-login');
    await needed.waitFor({ timeout: 2 * BOUND });
    await idle(chat);

    // The page stands there whole. A click opens it, after the editor has asked with the same address.
    const link = chat.getByTestId('login-link');
    assert.equal(await link.locator('code').innerText(), PAGE);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    await screenshot(page, 'login-variables');
    await link.getByRole('button', { name: 'Open in the browser' }).click();
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.waitFor({ timeout: BOUND });
    assert.ok((await dialog.innerText()).replaceAll(/\s/g, '').includes(PAGE), await dialog.innerText());
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await needed.getByRole('button', { name: 'Set Key…' }).click();
    const form = page.locator('.quick-input-widget:visible');
    const field = form.locator('.quick-input-box input');
    const enter = async (title, kind, value) => {
      await form.getByText(title).waitFor({ timeout: BOUND });
      await waitFor(async () => (await field.getAttribute('type')) === kind, `a field of type ${kind}`);
      await field.fill(value);
      await screenshot(page, `login-${kind}`);
      await field.press('Enter');
    };
    await enter('Value of DOOR_PROJECT (Project)', 'text', 'blue-door');
    await enter('Key of DOOR_API_KEY (Door key)', 'password', KEY);

    // The agent is started anew with both, and the message is sent again without a word of the person.
    await chat.getByText(ANSWER).first().waitFor({ timeout: BOUND });
    await idle(chat);
    assert.equal(await needed.count(), 0);
    const told = readFileSync(run.log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
    const started = told.filter((row) => row.started).map(({ started: { env } }) => [env.DOOR_PROJECT, env.DOOR_API_KEY]);
    assert.deepEqual(started, [[undefined, undefined], ['blue-door', KEY]]);
    assert.deepEqual(told.filter((row) => row.method === 'authenticate').map((row) => row.params.methodId), ['key']);
    assert.ok(!JSON.stringify(ledger(run)).includes(KEY));
    assert.ok(!readFileSync(path.join(storage(run), 'chats.db'), 'latin1').includes(KEY));

    // *Set Key* offers both later, too, each in its own kind of field.
    await runCommand(page, 'Countersign: Set Key');
    await form.getByText('DOOR_PROJECT').first().click({ timeout: BOUND });
    await waitFor(async () => (await field.getAttribute('type')) === 'text' && (await form.getByText('Value of DOOR_PROJECT').isVisible()), 'a field that shows its text');
    await field.press('Escape');
  });
});

/** Puts an agent that needs a login, and by default a key of the settings, into the user's settings. */
function withAgent(run, greeting = { authMethods: [{ id: 'browser', name: 'Log in with the browser' }] }, more = {}, env = { DOOR: 'door ${secret:DOOR_KEY}' }) {
  const [script, log] = ['script.json', 'log.jsonl'].map((name) => path.join(run.folder, name));
  run.log = log;
  const said = { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: ANSWER } } };
  writeFileSync(script, JSON.stringify({ prompts: [[said]], greeting, needs_login: 'Authentication required', ...more }));
  const user = path.join(run.folder, 'user/User/settings.json');
  const agents = { [AGENT]: { type: 'acp', command: PYTHON, args: [SCRIPTED_AGENT, script, log], env } };
  writeFileSync(user, JSON.stringify({ ...JSON.parse(readFileSync(user, 'utf8')), 'countersign.agents': agents }, null, 2));
}
