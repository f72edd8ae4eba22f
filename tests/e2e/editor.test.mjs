// The ground the other tests stand on: the packaged extension installs, and the editor keeps to itself.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { processesOf } from '../../scripts/editor.mjs';
import { openChat, waitFor } from './person.mjs';
import { BOUND, runCommand, withWorkbench } from './workbench.mjs';

test('the workbench opens with the extension and asks nothing of the outside world, and starts no server before the chat is opened', async () => {
  const strangers = [];
  const note = (asked) => {
    const { protocol, hostname } = new URL(asked.url());
    if (/^(http|ws)/.test(protocol) && hostname !== '127.0.0.1') strangers.push(asked.url());
  };
  const beforeOpen = (page) => page.on('request', note).on('websocket', note);
  const run = await withWorkbench('editor', { beforeOpen, builds: true }, async ({ page, run }) => {
    await runCommand(page, 'Extensions: Show Installed Extensions');
    await page.locator('.extension-list-item .name').filter({ hasText: /countersign/i }).waitFor({ timeout: BOUND });
    // The view's own files have addresses that a service worker answers.
    assert.deepEqual(strangers, []);
    const environments = path.join(run.folder, 'user/User/globalStorage/countersign.countersign/python');
    assert.equal(existsSync(environments), false, 'nobody has used it in this window');
    await openChat(page);
    await waitFor(() => existsSync(environments), 'the environment of the server');
    return run;
  });
  assert.deepEqual(processesOf(run), [], 'the editor leaves nobody behind');
});
