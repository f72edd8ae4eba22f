// The built-in agent on models other than demo, in the installed extension: a model that another extension offers to the editor,
// a model server with a key that is entered in the editor, another model in the middle of a chat, a chat that is summarized for
// its model, and what a chat took.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { approve, BOUND, idle, ledger, openChat, PYTHON, send, TRUSTED, waitFor } from './person.mjs';
import { reload, runCommand, screenshot, withWorkbench } from './workbench.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const KEY = 'sk-typed-0123456789abcdef';
const WRITTEN = 'Written by the model of the editor.\n';
const LONG = `[[wall]] ${'The wall is long and wants a second coat of blue paint. '.repeat(90)}`;
const SCRIPT = {
  bodies: true,
  scenarios: {
    door: { steps: [{ text: 'The door is blue.' }] },
    wall: { steps: [{ text: 'The person wants the wall **blue**. Open: the second coat.' }] },
  },
};

test('a model of another extension writes with leave, and a model server goes on with its chat', async () => {
  await withModelServer(async (server) => {
    const prepare = (run) => {
      run.asked = path.join(run.folder, 'editor-model.jsonl');
      run.env = { ...run.env, MODEL_LOG: run.asked };
      const models = { editor: { provider: 'vscode', model: 'scripted/scripted' }, lab: { provider: 'openai', baseUrl: `${server.url}/v1`, model: 'm' } };
      choose(run, models, 'editor');
    };
    await withWorkbench('models', { settings: TRUSTED, prepare, also: packModel }, async ({ page, run }) => {
      const chat = await openChat(page);
      await send(chat, 'write blue.txt');
      const card = chat.getByTestId('approval-card').filter({ hasText: 'blue.txt' });
      await card.waitFor({ timeout: 2 * BOUND });
      await screenshot(page, 'models-card');
      assert.equal(existsSync(path.join(run.workspace, 'blue.txt')), false);
      await approve(card);
      await chat.getByText(/^It is done: /).first().waitFor({ timeout: BOUND });
      await idle(chat);
      assert.equal(readFileSync(path.join(run.workspace, 'blue.txt'), 'utf8'), WRITTEN);
      await screenshot(page, 'models-answer');
      const [first, second] = rows(run.asked);
      assert.ok(first.tools.includes('write_file'));
      assert.equal(first.said.at(-1).text, 'write blue.txt');
      assert.deepEqual(second.said.at(-2).calls, [{ name: 'write_file', input: { path: 'blue.txt', content: WRITTEN } }]);

      // Another model goes on with what the first one did.
      await chooseModel(chat, 'lab');
      await send(chat, 'is it done? [[door]]');
      await chat.getByText('The door is blue.').first().waitFor({ timeout: BOUND });
      await idle(chat);
      await screenshot(page, 'models-switched');
      const { messages } = server.requests().at(-1).body;
      const told = messages.filter(({ role }) => role !== 'system');
      assert.deepEqual(told.map(({ role }) => role), ['user', 'assistant', 'tool', 'assistant', 'user']);
      assert.equal(told[0].content, 'write blue.txt');
      assert.deepEqual(JSON.parse(told[1].tool_calls[0].function.arguments), { path: 'blue.txt', content: WRITTEN });
      assert.match(JSON.stringify(told[3].content), /It is done/);
      assert.equal(rows(run.asked).length, 2, 'the first model is not asked again');

      // The choice is this chat's, and stays; a new chat has the model of the settings.
      await reload(page);
      const again = await openChat(page);
      const model = again.getByRole('combobox', { name: 'Model' });
      await model.filter({ hasText: 'lab' }).waitFor({ timeout: 2 * BOUND });
      await again.getByRole('button', { name: 'New chat' }).click();
      await model.filter({ hasText: 'editor' }).waitFor({ timeout: BOUND });
    });
  });
});

test('the agent asks the editor what it knows, and reads nothing that a rule holds back', async () => {
  const prepare = (run) => {
    run.asked = path.join(run.folder, 'editor-model.jsonl');
    run.env = { ...run.env, MODEL_LOG: run.asked };
    choose(run, { editor: { provider: 'vscode', model: 'scripted/scripted' } }, 'editor');
    mkdirSync(path.join(run.workspace, '.vscode'), { recursive: true });
    mkdirSync(path.join(run.workspace, 'private'), { recursive: true });
    writeFileSync(path.join(run.workspace, '.vscode/settings.json'), JSON.stringify({ 'countersign.permissions': { deny: ['Read(private/**)'] } }));
    writeFileSync(path.join(run.workspace, 'house.txt'), 'Ground floor:\nthe door is blue\n');
    writeFileSync(path.join(run.workspace, 'private/plan.txt'), 'a secret door\n');
    writeFileSync(path.join(run.workspace, 'shed.txt'), 'the roof is blue\n');
  };
  await withWorkbench('models-editor-tools', { settings: TRUSTED, prepare, also: packModel }, async ({ page, run }) => {
    const chat = await openChat(page);
    const results = () => (existsSync(run.asked) ? rows(run.asked).flatMap(({ said }) => said.at(-1).results) : []);
    const asked = async (name, input) => {
      const before = results().length;
      await send(chat, `call ${name} ${JSON.stringify(input)}`);
      await waitFor(() => results().length > before, `a result of ${name}`);
      await idle(chat);
      return results().at(-1);
    };
    const used = await asked('find_references', { path: 'house.txt', line: 2, name: 'door' });
    assert.match(used, /^house\.txt:2:5$/m);
    assert.match(used, /1 left out, of files that are secret or held back by a rule/);
    assert.doesNotMatch(used, /plan/);
    assert.match(await asked('find_symbols', { path: 'house.txt' }), /^house\.txt:1:1: namespace Ground floor$/m);
    assert.match(await asked('get_selection', {}), /no file is open/);
    assert.match(await asked('list_open_files', {}), /no file is open/);
    await screenshot(page, 'models-editor-tools');

    const rename = { path: 'house.txt', line: 2, name: 'door', new_name: 'gate' };
    assert.match(await asked('rename_symbol', rename), /held back by a rule; nothing was changed/);
    const repainted = results().length;
    await send(chat, `call rename_symbol ${JSON.stringify({ ...rename, name: 'blue', new_name: 'green' })}`);
    const cardOf = (name) => chat.getByTestId('approval-card').filter({ hasText: name });
    for (const name of ['house.txt', 'shed.txt']) {
      await cardOf(name).waitFor({ timeout: BOUND });
      await screenshot(page, `models-rename-${name.slice(0, -4)}`);
      await approve(cardOf(name));
    }
    await waitFor(() => results().length > repainted, 'a result of the rename');
    await idle(chat);
    assert.match(results().at(-1), /^changed `house\.txt`/m);
    assert.match(results().at(-1), /^changed `shed\.txt`/m);
    assert.equal(readFileSync(path.join(run.workspace, 'house.txt'), 'utf8'), 'Ground floor:\nthe door is green\n');
    assert.equal(readFileSync(path.join(run.workspace, 'shed.txt'), 'utf8'), 'the roof is green\n');
    await screenshot(page, 'models-renamed');

    // A busy machine's editor may read the file too late for the result; then the next change tells of one more.
    for (let words = 1; !/in this file that it did not show before/.test(results().at(-1)) && words < 6; words++) {
      const before = results().length;
      await send(chat, `call write_file ${JSON.stringify({ path: 'house.txt', content: `the dor is ${Array(words).fill('wrong').join(' ')}\n` })}`);
      const card = chat.getByTestId('approval-card').filter({ hasText: 'house.txt' });
      await card.waitFor({ timeout: BOUND });
      await approve(card);
      await waitFor(() => results().length > before, 'a result of the write');
      await idle(chat);
    }
    assert.match(results().at(-1), /shows \d problems? in this file that it did not show before/);
    assert.match(results().at(-1), /^house\.txt:1:\d+: error: this word is wrong$/m);
    assert.match(await asked('get_diagnostics', {}), /^house\.txt:1:12: error: this word is wrong$/m);
    await screenshot(page, 'models-editor-tools-problems');
  });
});

test('a key that is typed reaches its server alone, and a long chat is summarized and stays whole', async () => {
  await withModelServer(async (server) => {
    const prices = { input: 1000, output: 5000 };
    const prepare = (run) => {
      // Beside instructions and tools there is room for one long message, and not for two.
      choose(run, { claude: { provider: 'anthropic', baseUrl: server.url, model: 'm', contextTokens: 9500, options: { prices } } }, 'claude');
    };
    await withWorkbench('models-key', { settings: TRUSTED, prepare }, async ({ page, run }) => {
      const chat = await openChat(page);
      // The server that names where the key goes has started once a message can be sent.
      await chat.getByRole('textbox', { name: 'Message' }).fill('[[door]] which colour?');
      await waitFor(() => chat.getByRole('button', { name: 'Send' }).isEnabled(), 'a server that runs');
      await runCommand(page, 'Countersign: Set Key');
      const field = page.locator('.quick-input-widget:visible .quick-input-box input');
      await waitFor(async () => (await field.getAttribute('type')) === 'password', 'a hidden field');
      await page.locator('.quick-input-widget:visible').filter({ hasText: server.url }).waitFor({ timeout: BOUND });
      await screenshot(page, 'models-key');
      await field.fill(KEY);
      await field.press('Enter');
      await page.locator('.notification-list-item-message').filter({ hasText: 'is kept in the secret storage' }).waitFor({ timeout: BOUND });

      await chat.getByRole('button', { name: 'Send' }).click();
      await chat.getByText('The door is blue.').first().waitFor({ timeout: BOUND });
      await idle(chat);
      assert.equal(server.requests().at(-1).key, KEY);
      // 10 tokens in and 10 out for the prices of the settings.
      await chat.getByTestId('figures').filter({ hasText: '$0.06' }).waitFor({ timeout: BOUND });
      await screenshot(page, 'models-cost');

      for (const _ of [1, 2]) {
        const asked = server.requests().length;
        await send(chat, LONG);
        await waitFor(() => server.requests().length > asked, 'a request');
        await idle(chat);
      }
      const row = chat.locator('[data-role="compacted"]').first();
      await row.waitFor({ timeout: BOUND });
      // Three answers and a summary.
      await chat.getByTestId('figures').filter({ hasText: '$0.24' }).waitFor({ timeout: BOUND });
      await screenshot(page, 'models-compacted');
      assert.equal(await row.evaluate((one) => one.open), false);
      await row.locator('summary').click();
      await row.getByText('Open: the second coat.').waitFor({ timeout: BOUND });
      await screenshot(page, 'models-compacted-open');
      const summarized = server.requests().find(({ body }) => /You summarize a coding chat/.test(JSON.stringify(body.system)));
      assert.match(JSON.stringify(summarized.body.messages), /which colour/);
      assert.doesNotMatch(JSON.stringify(server.requests().at(-1).body.messages), /which colour/);

      // The chat is whole all the same, and after a reload too; by hand it goes as well.
      const whole = async (view) => {
        await view.getByText('which colour?').first().waitFor({ timeout: BOUND });
        assert.equal(await view.locator('[data-role="user"]').filter({ hasText: 'second coat' }).count(), 2);
      };
      await whole(chat);
      await reload(page);
      const again = await openChat(page);
      await again.locator('[data-role="compacted"]').first().waitFor({ timeout: BOUND });
      await whole(again);
      const summaries = await again.locator('[data-role="compacted"]').count();
      await send(again, '/compact');
      await waitFor(async () => (await again.locator('[data-role="compacted"]').count()) === summaries + 1, 'one more summary');
      await idle(again);
      await screenshot(page, 'models-compacted-by-hand');

      // The secret storage of this editor is the browser's, so no file of the run holds the key, nor does the ledger.
      assert.deepEqual(filesWith(run, KEY), []);
      assert.ok(!JSON.stringify(ledger(run)).includes(KEY));
    });
  });
});

/** Runs with the scripted model server of the other tests, which `start` begins in the folder of a run; it ends with this. */
async function withModelServer(body) {
  let child, log;
  const server = {
    url: undefined,
    requests: () => (existsSync(log) ? rows(log).filter(({ api }) => api !== 'http') : []),
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'cs-model-'));
  try {
    const script = path.join(folder, 'script.json');
    log = path.join(folder, 'log.jsonl');
    writeFileSync(script, JSON.stringify(SCRIPT));
    child = spawn(PYTHON, [path.join(HERE, 'serve_model.py'), script, log], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [port] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(BOUND) });
    server.url = `http://127.0.0.1:${String(port).trim()}`;
    await body(server);
  } finally {
    child?.stdin.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Puts models into the user's settings, and one of them into those of the built-in agent. */
function choose(run, models, model) {
  const user = path.join(run.folder, 'user/User/settings.json');
  const given = { 'countersign.models': models, 'countersign.agents': { Countersign: { model } } };
  writeFileSync(user, JSON.stringify({ ...JSON.parse(readFileSync(user, 'utf8')), ...given }, null, 2));
}

async function chooseModel(chat, name) {
  const choice = chat.getByRole('combobox', { name: 'Model' });
  await choice.click();
  await chat.getByRole('option', { name }).click({ timeout: BOUND });
  await choice.filter({ hasText: name }).waitFor({ timeout: BOUND });
}

/** Packs the extension that offers a model. */
function packModel(run) {
  const vsix = path.join(run.folder, 'model.vsix');
  const args = ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', vsix];
  execFileSync(path.join(HERE, '../../client-ts/node_modules/.bin/vsce'), args, { cwd: path.join(HERE, 'model-extension'), stdio: ['ignore', 'ignore', 'inherit'] });
  return [vsix];
}

/** The files under the folders of a run, and of the workspace in it, that hold a text; databases and logs among them. */
function filesWith(run, text) {
  return readdirSync(run.folder, { recursive: true }).map((name) => path.join(run.folder, name)).filter((file) => {
    const found = lstatSync(file, { throwIfNoEntry: false });
    return found?.isFile() && readFileSync(file, 'latin1').includes(text);
  });
}

function rows(file) {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
}
