// @vitest-environment jsdom
/** Review all. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { armed, fakeWebview, opened, snapshot } from '../fakeWebview.ts';
import { fetchApproval, plainCommand } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('a denial of several can carry one message, an approval does not', async () => {
  const webview = await fakeWebview(
    snapshot({ approvals: [plainCommand(), { ...fetchApproval(), risks: [] }] }),
    opened,
    { type: 'show', page: 'review' },
  );
  await armed(webview);
  const field = webview.find('.review input.message') as HTMLInputElement;
  field.value = 'use the mirror';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await webview.settle();
  webview.button('Deny 2 selected').click();
  const cards = [
    { approvalId: 'a-plain', digest: 'd-plain' },
    { approvalId: 'a-fetch', digest: 'd-fetch' },
  ];
  expect(webview.sent('batch')).toEqual([{ type: 'batch', cards, decision: 'reject_once', reason: 'use the mirror' }]);
});
