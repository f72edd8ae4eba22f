// @vitest-environment jsdom
/** Questions of agents: a form or a URL in the agent's words, that looks like no approval and approves nothing. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type Entered, readEntry } from '../../webview/formValues.ts';
import type * as wire from '../../src/wire.gen.ts';
import { armed, fakeWebview, type FakeWebview, openedWith, snapshot } from '../fakeWebview.ts';
import { plainCommand } from '../fixtures.ts';

const form = (
  properties: Record<string, wire.ElicitationProperty>,
  required: string[] = [],
  more: Partial<wire.ElicitationRequest> = {},
): wire.ElicitationRequest => ({
  elicitationId: 'q-1',
  threadId: 't-1',
  agentName: 'Claude Code',
  message: 'Which database shall the tests use?',
  schema: { type: 'object', properties, required },
  createdAt: '2026-02-03T04:05:06.789Z',
  ...more,
});
const link = (more: Partial<wire.ElicitationRequest> = {}): wire.ElicitationRequest => {
  const { schema: _, ...rest } = form({});
  return { ...rest, url: 'https://example.com/login?state=1', host: 'example.com', ...more };
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const drawn = async (question: wire.ElicitationRequest, ready = true): Promise<FakeWebview> => {
  const webview = await fakeWebview(snapshot({ questions: [question] }), openedWith([]));
  if (ready) await armed(webview);
  return webview;
};
async function enter(webview: FakeWebview, name: string, value: string): Promise<void> {
  const field = webview.find(`[data-field="${name}"] :is(input, textarea, select)`) as HTMLInputElement;
  field.value = value;
  field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  await webview.settle();
}
async function press(webview: FakeWebview, name: string): Promise<void> {
  webview.button(name).click();
  await webview.settle();
}
const answers = (webview: FakeWebview): unknown[] =>
  webview.posted.filter(({ type }) => type === 'answer' || type === 'batch' || type === 'bypass');

describe('a form', () => {
  const fields: Record<string, wire.ElicitationProperty> = {
    engine: {
      type: 'string',
      title: 'Engine',
      oneOf: [
        { const: 'pg', title: 'PostgreSQL' },
        { const: 'lite', title: 'SQLite' },
      ],
    },
    port: { type: 'integer', title: 'Port', minimum: 1, maximum: 65535, default: 5432 },
    keep: { type: 'boolean', title: 'Keep the data' },
    extras: {
      type: 'array',
      title: 'Extras',
      items: {
        anyOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
      },
    },
    mail: { type: 'string', title: 'Mail', format: 'email' },
    token: { type: 'string', title: 'Token', secret: true },
  };

  it('sends typed values, without those that were left empty', async () => {
    const webview = await drawn(form(fields, ['engine']));
    await enter(webview, 'engine', '1');
    const boxes = [...document.querySelectorAll<HTMLInputElement>('[data-field="extras"] input')];
    boxes[1]!.checked = true;
    boxes[1]!.dispatchEvent(new Event('change', { bubbles: true }));
    await webview.settle();
    await press(webview, 'Submit');
    expect(webview.sent('questionSubmit')).toEqual([
      {
        type: 'questionSubmit',
        elicitationId: 'q-1',
        content: { engine: 'lite', port: 5432, keep: false, extras: ['b'] },
      },
    ]);
    // A second press sends nothing while the first is on its way.
    await press(webview, 'Submit');
    expect(webview.sent('questionSubmit')).toHaveLength(1);
    expect(answers(webview)).toEqual([]);
  });

  it('says beside each field what is wrong, sends nothing, and marks what is required', async () => {
    const webview = await drawn(form(fields, ['engine']));
    expect(webview.find('[data-field="engine"] label').textContent).toContain('(required)');
    await enter(webview, 'port', '70000');
    await enter(webview, 'mail', 'nobody');
    await press(webview, 'Submit');
    const errors = [...document.querySelectorAll('.field-error')].map((one) => one.textContent.trim());
    expect(errors).toEqual([
      'This is required.',
      'Enter 65535 or less.',
      'Enter an e-mail address, such as name@example.com.',
    ]);
    const select = webview.find('[data-field="engine"] select');
    expect(select.getAttribute('aria-invalid')).toBe('true');
    expect(select.getAttribute('aria-describedby')).toContain(webview.find('.field-error').id);
    expect(webview.sent('questionSubmit')).toEqual([]);
  });

  it('warns of a secret, hides it while it is typed, and hands it to nothing that is kept', async () => {
    const webview = await drawn(form(fields));
    const field = webview.find('[data-field="token"]');
    expect(field.textContent).toContain('This seems to ask for a secret.');
    expect(field.querySelector('input')!.type).toBe('password');
    await enter(webview, 'token', 'hunter2');
    vi.advanceTimersByTime(1000);
    expect(JSON.stringify(webview.posted)).not.toContain('hunter2');
  });

  it('keeps what was entered while the person pages to another question', async () => {
    const second = form({ b: { type: 'string' } }, [], { elicitationId: 'q-2', message: 'And now?' });
    const webview = await fakeWebview(
      snapshot({ questions: [form({ a: { type: 'string' } }), second] }),
      openedWith([]),
    );
    await enter(webview, 'a', 'half an ans');
    await press(webview, 'Next question');
    expect(webview.find('.question').textContent).toContain('And now?');
    await press(webview, 'Previous question');
    expect((webview.find('[data-field="a"] textarea') as HTMLTextAreaElement).value).toBe('half an ans');
  });
});

describe('what it can be taken for', () => {
  it.each(['Approve', 'Allow once', 'Countersign: allowed by a rule', '\u202eevorppA', '<b>Approve</b>'])(
    'an agent that says %j draws no button and no words of ours',
    async (words) => {
      const question = form({ [words]: { type: 'boolean', title: words, description: words } }, [], { message: words });
      const webview = await drawn({ ...question, schema: { ...question.schema!, title: words, description: words } });
      const buttons = [...document.querySelectorAll('.question button')].map((one) => one.textContent.trim());
      expect(buttons).toEqual(['Submit', 'Decline', 'Dismiss']);
      expect(webview.find('.card-title').textContent).toBe('A question from Claude Code');
      expect(document.querySelector('[data-testid="approval-card"]')).toBeNull();
      expect(document.querySelector('.question b')).toBeNull();
      expect(webview.find('.question').textContent).not.toContain('\u202e');
      expect(webview.find('.question > .origin').textContent).toContain('approves nothing');
    },
  );

  it('no command and no key of an approval answers it', async () => {
    const webview = await drawn(form({}));
    for (const action of ['approve', 'allowChat', 'deny'] as const) await webview.say({ type: 'act', action });
    webview
      .find('.question')
      .dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, altKey: true, bubbles: true }));
    webview
      .find('.question')
      .dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }));
    expect(webview.posted.filter(({ type }) => type.startsWith('question') || type === 'answer')).toEqual([]);
  });

  it('an approval comes first, and the question says that it waits', async () => {
    const webview = await fakeWebview(snapshot({ questions: [form({})], approvals: [plainCommand()] }), openedWith([]));
    expect(document.querySelector('cs-question')).toBeNull();
    expect(webview.find('[data-testid="questions-behind"]').textContent).toContain('1 question waits');
  });
});

describe('nothing by accident', () => {
  it('takes no answer in its first half second, and a refusal at once', async () => {
    const webview = await drawn(form({}), false);
    expect(webview.button('Submit').disabled).toBe(true);
    await press(webview, 'Decline');
    expect(webview.sent('questionRefuse')).toEqual([
      { type: 'questionRefuse', elicitationId: 'q-1', action: 'decline' },
    ]);
  });

  it('does not take the focus, and goes when the question has ended', async () => {
    const webview = await fakeWebview(snapshot(), openedWith([]));
    const before = document.activeElement;
    await webview.say({ type: 'question', question: form({}) });
    expect(document.activeElement).toBe(before);
    await webview.say({
      type: 'questionResolved',
      resolved: { elicitationId: 'q-1', threadId: 't-1', state: 'cancelled' },
    });
    expect(document.querySelector('cs-question')).toBeNull();
    expect(webview.find('.sr').textContent).toBe('The question has ended: ended without an answer.');
  });

  it('is asked for the focus by the command that goes to what waits', async () => {
    const webview = await drawn(form({}));
    await webview.say({ type: 'act', action: 'focus' });
    await webview.settle();
    expect(document.activeElement).toBe(webview.find('.question'));
  });

  it('says why an answer was not taken, and takes another', async () => {
    const webview = await drawn(form({}));
    await press(webview, 'Dismiss');
    await webview.say({ type: 'questionFailed', elicitationId: 'q-1', message: 'the field `a` is required' });
    expect(webview.find('.question .failed').textContent).toContain('required');
    await press(webview, 'Submit');
    expect(webview.sent('questionSubmit')).toHaveLength(1);
  });
});

describe('a URL', () => {
  it('is shown whole and opened by a press of its button alone', async () => {
    const url = `https://example.com/login?state=${'x'.repeat(900)}`;
    const webview = await drawn(link({ url }));
    expect(webview.find('[data-testid="question-url"]').textContent).toBe(url);
    expect(document.querySelector('.question a')).toBeNull();
    expect(webview.sent('questionOpen')).toEqual([]);
    await press(webview, 'Open in the browser');
    expect(webview.sent('questionOpen')).toEqual([{ type: 'questionOpen', elicitationId: 'q-1' }]);
    expect(webview.sent('openLink')).toEqual([]);
  });

  it('is warned about where its host can look like another, and where it is not encrypted', async () => {
    const webview = await drawn(
      link({ url: 'http://xn--pple-43d.com/', host: 'xn--pple-43d.com', notes: ['internationalName', 'unencrypted'] }),
    );
    expect(webview.find('.question').textContent).toMatch(/xn--pple-43d\.com.*look like others.*not encrypted/s);
  });
});

it('the chat has one row for a question, with its end and no answer', async () => {
  const event = {
    type: 'question',
    elicitationId: 'q-1',
    agentName: 'Claude Code',
    message: 'Which?',
    state: 'waiting',
  } as const;
  const webview = await fakeWebview(snapshot(), openedWith([event]));
  expect(webview.find('[data-testid="question-row"]').textContent).toContain('waits for your answer');
  await webview.say({ type: 'threadOpened', thread: { ...openedThread([event, { ...event, state: 'answered' }]) } });
  const rows = [...document.querySelectorAll('[data-testid="question-row"]')].map((row) => row.textContent.trim());
  expect(rows).toEqual(['Claude Code asked: Which? · answered by you']);
  await webview.say({ type: 'threadOpened', thread: openedThread([event, { type: 'done', stopReason: 'end_turn' }]) });
  expect(webview.find('[data-testid="question-row"]').dataset['state']).toBe('cancelled');
});

function openedThread(events: Parameters<typeof openedWith>[0]): wire.ThreadOpenResult {
  const message = openedWith(events);
  if (message.type !== 'threadOpened') throw new Error('no chat');
  return message.thread;
}

it.each<[wire.ElicitationProperty, Entered, boolean, unknown]>([
  [{ type: 'integer' }, ' 12 ', false, 12],
  [{ type: 'integer' }, '1.5', false, 'Enter a whole number.'],
  [{ type: 'integer' }, '0x10', false, 'Enter a number.'],
  [{ type: 'number' }, '1e3', false, 1000],
  [{ type: 'number' }, 'NaN', false, 'Enter a number.'],
  [{ type: 'number', minimum: 2 }, '1', false, 'Enter 2 or more.'],
  [{ type: 'string' }, '', true, 'This is required.'],
  [{ type: 'string' }, '', false, undefined],
  [{ type: 'string' }, ' x ', false, ' x '],
  [{ type: 'string', minLength: 2 }, 'x', false, 'Enter at least 2 characters.'],
  [{ type: 'string', maxLength: 1 }, '😀', false, '😀'],
  [{ type: 'string', format: 'uri' }, 'example.com', false, 'Enter a URI, such as https://example.com.'],
  [{ type: 'string', format: 'date' }, '2026-01-31', false, '2026-01-31'],
  [{ type: 'string', format: 'date-time' }, '2026-01-31T10:00Z', false, '2026-01-31T10:00:00.000Z'],
  [{ type: 'array', minItems: 2 }, ['a'], false, 'Choose at least 2.'],
  [{ type: 'array' }, [], true, 'Choose at least 1.'],
  [{ type: 'array' }, [], false, undefined],
  [{ type: 'boolean' }, false, true, false],
])('%j with %j entered', (field, entered, required, expected) => {
  const read = readEntry(field, entered, required);
  expect('error' in read ? read.error : read.value).toEqual(expected);
});
