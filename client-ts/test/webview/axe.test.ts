// @vitest-environment jsdom
/** axe on each card and page. */
import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { armed, fakeWebview, opened, snapshot } from '../fakeWebview.ts';
import { commandApproval, diffApproval, fetchApproval, plainCommand, toolApproval } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('axe finds nothing', () => {
  const approvals = { command: commandApproval(), diff: diffApproval(), fetch: fetchApproval(), tool: toolApproval() };
  it.each(Object.entries(approvals))('on a card: %s', async (_, approval) => {
    const webview = await fakeWebview(snapshot({ approvals: [approval, plainCommand()] }), opened);
    await armed(webview);
    expect(await violations()).toEqual([]);
    webview.button('Approve options').click();
    await webview.settle();
    expect(await violations()).toEqual([]);
  });
  it.each(['chat', 'chats', 'history', 'shells', 'rules', 'review'] as const)('on the page: %s', async (page) => {
    await fakeWebview(snapshot({ approvals: [commandApproval(), plainCommand()] }), opened, { type: 'show', page });
    expect(await violations()).toEqual([]);
  });

  async function violations(): Promise<string[]> {
    vi.useRealTimers();
    document.documentElement.lang = 'en';
    document.title = 'Countersign';
    // Contrast needs a real browser: test/pictures.mjs.
    const { violations } = await axe.run(document, { rules: { 'color-contrast': { enabled: false } } });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}`));
  }
});
