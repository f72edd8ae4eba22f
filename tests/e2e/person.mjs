// What a person does in the chat of the real editor, and what they can look at afterwards; for the tests of this folder.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { BOUND, runCommand, webview } from './workbench.mjs';

const ROOT = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
export const COUNTERSIGN = path.join(ROOT, '.venv/bin/countersign');
export const PYTHON = path.join(ROOT, '.venv/bin/python');
/** An agent that does what a script says; how it is written stands in its head. */
export const SCRIPTED_AGENT = path.join(ROOT, 'tests/agents/scripted_agent.py');
export { BOUND };
// A new workspace opens in Restricted Mode; most flows are about a trusted one, which is what a person who works in it has.
export const TRUSTED = { 'security.workspace.trust.enabled': false };

export async function openChat(page) {
  await runCommand(page, 'Countersign: Open Chat');
  const chat = webview(page);
  await chat.getByRole('textbox', { name: 'Message' }).waitFor({ timeout: 2 * BOUND });
  return chat;
}

/** Picks the agent of the next chat. */
export async function chooseAgent(chat, agent) {
  const choice = chat.getByRole('combobox', { name: 'Agent' });
  await choice.click({ timeout: 2 * BOUND });
  await chat.getByRole('option', { name: new RegExp(`^${agent}`) }).click({ timeout: BOUND });
  await choice.filter({ hasText: agent }).waitFor({ timeout: BOUND });
}

export async function send(chat, text) {
  await chat.getByRole('textbox', { name: 'Message' }).fill(text);
  // The first start makes the server's environment, which takes its time on a busy machine.
  await chat.getByRole('button', { name: 'Send' }).click({ timeout: 2 * BOUND });
}

/** The turn is over: there is nothing to stop. */
export async function idle(chat) {
  await chat.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'hidden', timeout: BOUND });
  await chat.getByRole('button', { name: 'Send' }).waitFor({ timeout: BOUND });
}

/** Walks the queue to the card about something. */
export async function cardAbout(page, chat, subject) {
  const card = chat.getByTestId('approval-card').filter({ hasText: subject });
  await waitFor(async () => {
    if (await card.isVisible()) return true;
    await chat.getByRole('button', { name: 'Next approval' }).click();
    return false;
  }, `a card about ${subject}`);
  return card;
}

/** A card takes no approval in its first half second. */
export async function settle(card) {
  const button = card.getByRole('button', { name: 'Approve', exact: true });
  await waitFor(async () => (await button.getAttribute('aria-disabled')) !== 'true' && (await button.isEnabled()), 'a card that can be approved');
}

export async function approve(card) {
  await settle(card);
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
}

export async function waitFor(enough, what) {
  const end = Date.now() + BOUND;
  while (!(await enough())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The server's storage folder, found by its ledger. */
export function storage(run) {
  const found = readdirSync(path.join(run.folder, 'user'), { recursive: true }).find((name) => name.endsWith('ledger.db'));
  assert.ok(found, 'the ledger is in the editor\'s own storage');
  return path.dirname(path.join(run.folder, 'user', found));
}

export function ledger(run) {
  const lines = execFileSync(COUNTERSIGN, ['history', '--storage', storage(run), '--json'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  return lines.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}
