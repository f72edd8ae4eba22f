// The sandbox in the installed extension: what a card says of it, a host that it refused, a failure that is offered outside,
// an agent that is locked in as a whole, and the mode turned off. Where this machine has no sandbox, what is said instead.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { approve, BOUND, chooseAgent, COUNTERSIGN, idle, ledger, openChat, PYTHON, SCRIPTED_AGENT, send, TRUSTED, waitFor } from './person.mjs';
import { runCommand, screenshot, withWorkbench } from './workbench.mjs';

const AGENT = 'Scripted';
const HOST = 'registry.example';
const FETCH = `curl -sS --max-time 20 http://${HOST}/x; true`;

/** What `countersign doctor` says of this machine's sandbox. */
const SANDBOX = JSON.parse(execFileSync(COUNTERSIGN, ['doctor', '--json'], { encoding: 'utf8', cwd: path.dirname(SCRIPTED_AGENT) })).lines.find(({ check }) => check === 'sandbox');
const available = SANDBOX.state === 'ok';

/** Sets the mode in the workspace, where turning it on counts by itself; the user's settings leave it off. */
function setMode(run, mode) {
  mkdirSync(path.join(run.workspace, '.vscode'), { recursive: true });
  writeFileSync(path.join(run.workspace, '.vscode/settings.json'), JSON.stringify({ 'countersign.sandbox.mode': mode }, null, 2));
}

/** An agent that says nothing and runs a text with bash, without asking; its files lie in the workspace, which the sandbox shows. */
function scripted(run, text) {
  const folder = path.join(run.workspace, 'shelf');
  mkdirSync(folder);
  const [script, log] = ['script.json', 'log.jsonl'].map((name) => path.join(folder, name));
  const said = { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'I tried to write a file of my own and one outside.' } } };
  writeFileSync(script, JSON.stringify({ prompts: [[{ spawn: `${text}; echo ended` }, said]] }));
  writeFileSync(log, '');
  return { [AGENT]: { type: 'acp', command: PYTHON, args: [SCRIPTED_AGENT, script, log] } };
}

/** The sentences of the list that *Show Sandbox Status* opens. */
async function status(page, name) {
  await runCommand(page, 'Countersign: Show Sandbox Status');
  const rows = page.locator('.quick-input-widget:visible .monaco-list-row');
  const headline = page.locator('.quick-input-widget:visible .quick-input-box input');
  await waitFor(async () => /andbox/.test(await headline.getAttribute('placeholder').catch(() => '') ?? ''), 'the status of the sandbox');
  await rows.first().waitFor({ timeout: BOUND });
  await screenshot(page, name);
  const said = [await headline.getAttribute('placeholder'), ...await rows.allInnerTexts()].join('\n');
  await page.keyboard.press('Escape');
  return said;
}

/** The only card there is, about something. */
async function theCard(chat, subject) {
  const card = chat.getByTestId('approval-card').filter({ hasText: subject });
  await card.waitFor({ timeout: BOUND });
  return card;
}

/** Presses a card's button once it takes an answer. */
async function press(card, name) {
  const button = card.getByRole('button', { name, exact: true });
  await waitFor(async () => (await button.getAttribute('aria-disabled')) !== 'true' && (await button.isEnabled()), `a card that takes ${name}`);
  await button.click();
}

/** What the ledger says of a command's runs: where each was confined. */
function runs(run, command) {
  const finished = ledger(run).filter((row) => row.phase === 'finished' && row.tool === 'shell' && row.input?.command === command);
  return finished.map((row) => row.outcome?.sandbox?.mode ?? 'outside');
}

test('the sandbox is named on cards, asks for hosts, offers what it refused outside, and locks agents in', { skip: available ? false : SANDBOX.text }, async () => {
  const prepare = (run) => {
    setMode(run, 'commands');
    const user = path.join(run.folder, 'user/User/settings.json');
    const agents = scripted(run, `echo own > by-agent.txt; echo out > '${run.folder}/by-agent.txt'`);
    writeFileSync(user, JSON.stringify({ ...JSON.parse(readFileSync(user, 'utf8')), 'countersign.agents': agents }, null, 2));
  };
  await withWorkbench('sandbox', { settings: { ...TRUSTED, 'countersign.sandbox.network': 'hosts' }, prepare }, async ({ page, run }) => {
    const there = (name) => existsSync(path.join(run.workspace, name));
    const chat = await openChat(page);

    // The first command of this server: its card says what holds, and so does its row.
    await send(chat, 'run touch inside.txt');
    const card = await theCard(chat, /touch inside\.txt/);
    await screenshot(page, 'sandbox-command');
    assert.match(await card.innerText(), /runs in the sandbox: writes only here, reaches only hosts that you allow/);
    await approve(card);
    await waitFor(() => there('inside.txt'), 'inside.txt on disk');
    await idle(chat);
    await chat.getByText(/by you · sandboxed/).waitFor({ timeout: BOUND });
    await screenshot(page, 'sandbox-ran');
    assert.deepEqual(runs(run, 'touch inside.txt'), ['writable']);
    assert.match(await status(page, 'sandbox-status'), /^Commands run in the sandbox[^]*writes only in the workspace[^]*processes end with the command/);

    // A host that it refused is asked for. Once it is allowed for the chat, the same prompt asks for it no more.
    await send(chat, `run ${FETCH}`);
    await approve(await theCard(chat, /curl -sS/));
    const host = await theCard(chat, `Allow ${HOST} for this chat?`);
    await screenshot(page, 'sandbox-host');
    assert.match(await host.innerText(), new RegExp(`${HOST}:80[^]*wanted by[^]*curl -sS`));
    await press(host, 'Allow for this chat');
    await idle(chat);
    await screenshot(page, 'sandbox-host-allowed');
    await send(chat, `run ${FETCH}`);
    await approve(await theCard(chat, /curl -sS/));
    // It may be reached now, and there is no such host.
    await chat.getByText(/cannot be resolved/).first().waitFor({ timeout: BOUND });
    await idle(chat);
    assert.deepEqual(runs(run, FETCH), ['writable', 'writable']);
    assert.equal(ledger(run).filter((row) => row.phase === 'decided' && row.input?.host === HOST && row.verdict === 'ask').length, 1);

    // What the sandbox made fail is offered outside, on a card of its own; denied, nothing has run there.
    const protectedFolder = 'mkdir -p .vscode/x';
    for (const answer of ['Deny', 'Approve']) {
      await send(chat, `run ${protectedFolder}`);
      await approve(await theCard(chat, 'Run shell command?'));
      const outside = await theCard(chat, 'Run outside the sandbox?');
      await screenshot(page, 'sandbox-outside');
      assert.match(await outside.innerText(), /the sandbox refused \.vscode\/x: it is protected/);
      assert.doesNotMatch(await outside.innerText(), /runs in the sandbox/);
      assert.equal(there('.vscode/x'), false);
      await press(outside, answer);
      await idle(chat);
      assert.equal(there('.vscode/x'), answer === 'Approve');
    }
    await screenshot(page, 'sandbox-outside-ran');
    assert.deepEqual(runs(run, protectedFolder), ['writable', 'writable', 'outside']);

    // An agent is locked in as a whole: without asking it writes only here.
    setMode(run, 'all');
    await until(() => status(page, 'sandbox-status-all'), /hosted agents run in the sandbox/);
    await chooseAgent(chat, AGENT);
    await send(chat, 'go');
    await waitFor(() => there('by-agent.txt'), 'the agent\'s file on disk');
    await idle(chat);
    assert.equal(existsSync(path.join(run.folder, 'by-agent.txt')), false, 'it cannot write outside');
    const shown = chat.getByRole('combobox', { name: 'Agent' });
    await shown.click();
    await chat.locator('[role="option"][aria-description*="sandboxed: locked in by the operating system"]').waitFor({ timeout: BOUND });
    await screenshot(page, 'sandbox-agent');
    await page.keyboard.press('Escape');

    // Off: commands run like any other program, and cards name no sandbox.
    setMode(run, 'off');
    assert.match(await until(() => status(page, 'sandbox-off-status'), /mode is off/), /only commands that just read run in it/);
    await chooseAgent(chat, 'Countersign');
    await send(chat, 'run touch plain.txt');
    const plain = await theCard(chat, /touch plain\.txt/);
    await screenshot(page, 'sandbox-off');
    assert.doesNotMatch(await plain.innerText(), /sandbox/i);
    await approve(plain);
    await waitFor(() => there('plain.txt'), 'plain.txt on disk');
    await idle(chat);
    assert.deepEqual(runs(run, 'touch plain.txt'), ['outside']);
  });
});

/** Makes the workspace a linked worktree of a repository outside it, whose branch `topic` only its remote has. */
function linkWorktree(run) {
  const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.org' };
  const git = (...words) => execFileSync('git', words, { cwd: run.folder, env: { ...process.env, ...identity, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } });
  git('init', '-q', '-b', 'main', 'origin');
  git('-C', 'origin', 'commit', '-q', '--allow-empty', '-m', 'the first commit');
  git('-C', 'origin', 'branch', 'topic');
  git('clone', '-q', 'origin', 'main');
  git('-C', 'main', 'worktree', 'add', '-q', '-b', 'linked', '../linked');
  renameSync(path.join(run.folder, 'linked/.git'), path.join(run.workspace, '.git'));
  git('-C', 'main', 'worktree', 'repair', run.workspace);
}

test('in a linked worktree git reads without a card, and a card says that the sandbox keeps no upstream', { skip: available ? false : SANDBOX.text }, async () => {
  const prepare = (run) => {
    setMode(run, 'commands');
    linkWorktree(run);
  };
  await withWorkbench('sandbox-worktree', { settings: TRUSTED, prepare }, async ({ page, run }) => {
    const chat = await openChat(page);
    await send(chat, 'run git log -1 --oneline');
    await idle(chat);
    await chat.getByText(/the first commit/).first().waitFor({ timeout: BOUND });
    await screenshot(page, 'worktree-read');
    assert.deepEqual(runs(run, 'git log -1 --oneline'), ['readOnly']);

    const commit = 'git -c user.name=A -c user.email=a@example.org commit --allow-empty -qm second && git log -1 --format=%s';
    await send(chat, `run ${commit}`);
    await approve(await theCard(chat, /commit --allow-empty/));
    await idle(chat);
    assert.match(execFileSync('git', ['-C', path.join(run.folder, 'main'), 'log', '-1', '--format=%s', 'linked'], { encoding: 'utf8' }), /second/);

    await send(chat, 'run git switch topic');
    const card = await theCard(chat, /git switch topic/);
    await screenshot(page, 'worktree-upstream');
    assert.match(await card.innerText(), /sandbox: this cannot write `\.git\/config`/);
    await approve(card);
    const outside = await theCard(chat, 'Run outside the sandbox?');
    await screenshot(page, 'worktree-outside');
    assert.match(await outside.innerText(), /main\/\.git\/config: of a repository outside the workspace/);
    await press(outside, 'Deny');
    await idle(chat);
    assert.doesNotMatch(readFileSync(path.join(run.folder, 'main/.git/config'), 'utf8'), /topic/);
  });
});

test('without a sandbox every command asks, and its status and cards say why', { skip: available ? 'this machine has a sandbox' : false }, async () => {
  const settings = { ...TRUSTED, 'countersign.sandbox.mode': 'commands', 'countersign.permissions.allow': ['Bash(touch:*)'] };
  await withWorkbench('no-sandbox', { settings }, async ({ page, run }) => {
    const chat = await openChat(page);
    // What a rule allows asks, because it would run outside.
    await send(chat, 'run touch made.txt');
    const card = await theCard(chat, /touch made\.txt/);
    await screenshot(page, 'no-sandbox');
    await card.getByRole('button', { name: 'Why?' }).click();
    await chat.getByText(/there is no sandbox here/).first().waitFor({ timeout: BOUND });
    assert.match(await status(page, 'no-sandbox-status'), /There is no sandbox here, so every command asks/);
    await card.getByRole('button', { name: 'Deny', exact: true }).click();
    await idle(chat);
    assert.equal(existsSync(path.join(run.workspace, 'made.txt')), false);
  });
});

/** Looks again until it reads so. */
async function until(look, pattern) {
  let said = '';
  await waitFor(async () => pattern.test((said = await look())), String(pattern));
  return said;
}
