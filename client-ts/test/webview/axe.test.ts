// @vitest-environment jsdom
/** axe on each card and page. */
import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type * as wire from '../../src/wire.gen.ts';
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
  it('on a question with every kind of field, and mistakes', async () => {
    const choices = [
      { const: 'a', title: 'A', description: 'first' },
      { const: 'b', title: 'B' },
    ];
    const properties: wire.ElicitationSchema['properties'] = {
      text: { type: 'string', title: 'Text', description: 'any', pattern: '^a' },
      secret: { type: 'string', title: 'Token', secret: true },
      day: { type: 'string', title: 'Day', format: 'date' },
      count: { type: 'integer', title: 'Count' },
      yes: { type: 'boolean', title: 'Yes' },
      one: { type: 'string', title: 'One', oneOf: choices },
      many: { type: 'array', title: 'Many', items: { anyOf: choices } },
    };
    const schema = { type: 'object' as const, title: 'Form', properties, required: Object.keys(properties) };
    const told = {
      threadId: 't-1',
      agentName: 'Claude Code',
      message: 'Which?',
      createdAt: '2026-02-03T04:05:06.789Z',
    };
    const questions: wire.ElicitationRequest[] = [
      { ...told, elicitationId: 'q-1', schema },
      { ...told, elicitationId: 'q-2', url: 'http://xn--a.example/', host: 'xn--a.example', notes: ['unencrypted'] },
    ];
    const webview = await fakeWebview(snapshot({ questions }), opened);
    await armed(webview);
    webview.button('Submit').click();
    await webview.settle();
    expect(document.querySelectorAll('.field-error')).toHaveLength(6);
    expect(await violations()).toEqual([]);
    webview.button('Next question').click();
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
