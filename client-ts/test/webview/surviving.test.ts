// @vitest-environment jsdom
/** What survives another page, hiding and a new webview: the draft, the page, the place in the chat; and the queue. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type FakeWebview, fakeWebview, keptByEditor, opened, snapshot } from '../fakeWebview.ts';
import { thread } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const box = (webview: FakeWebview): HTMLTextAreaElement => webview.find('.composer textarea') as HTMLTextAreaElement;
const type = async (webview: FakeWebview, text: string): Promise<void> => {
  box(webview).value = text;
  box(webview).dispatchEvent(new Event('input'));
  await webview.settle();
};
const scrollTo = async (webview: FakeWebview, top: number): Promise<void> => {
  const log = webview.find('.transcript');
  Object.defineProperty(log, 'scrollHeight', { configurable: true, value: 5000 });
  Object.defineProperty(log, 'clientHeight', { configurable: true, value: 400 });
  log.dispatchEvent(new Event('wheel'));
  log.scrollTop = top;
  log.dispatchEvent(new Event('scroll'));
  vi.advanceTimersByTime(1000);
  await webview.settle();
};

it.each(['history', 'shells', 'rules'] as const)(
  'the page %s is open again, and asks for what it shows',
  async (page) => {
    const first = await fakeWebview(snapshot(), opened);
    first.bridge.dispatch({ type: 'page', page });
    const second = await fakeWebview(snapshot());
    expect(second.bridge.state.page).toBe(page);
    expect(second.sent(page)).toHaveLength(1);
  },
);

it('the place in a chat is kept over another page and a new webview, until the person scrolls or jumps to the end', async () => {
  const first = await fakeWebview(snapshot(), opened);
  await scrollTo(first, 1234);
  first.bridge.dispatch({ type: 'page', page: 'rules' });
  await first.settle();
  first.bridge.dispatch({ type: 'page', page: 'chat' });
  await first.settle();
  expect(first.find('.transcript').scrollTop).toBe(1234);
  const second = await fakeWebview(snapshot(), opened);
  expect(second.find('.transcript').scrollTop).toBe(1234);
  // What comes below moves nothing.
  await second.say({
    type: 'update',
    update: { threadId: thread().threadId, seq: thread().seq + 1, events: [{ type: 'text', text: 'more' }] },
  });
  expect(second.find('.transcript').scrollTop).toBe(1234);
  second.button('Jump to latest').click();
  vi.advanceTimersByTime(1000);
  await second.settle();
  const third = await fakeWebview(snapshot(), opened);
  expect(third.find('.transcript').scrollTop).toBe(third.find('.transcript').scrollHeight);
});

it('an end that moved away before the view heard of its own scrolling is still followed; who scrolls up leaves it', async () => {
  const webview = await fakeWebview(snapshot(), opened);
  const log = webview.find('.transcript');
  const grow = async (height: number): Promise<void> => {
    Object.defineProperty(log, 'scrollHeight', { configurable: true, value: height });
    Object.defineProperty(log, 'clientHeight', { configurable: true, value: 400 });
    log.dispatchEvent(new Event('scroll'));
    await webview.settle();
  };
  const away = (): boolean => document.querySelector('.jump') !== null;
  await grow(5000);
  expect(away()).toBe(false);
  log.scrollTop = 4600;
  await grow(5000);
  log.scrollTop = 4000;
  await grow(5000);
  expect(away()).toBe(true);
});

it('where the editor kept nothing, what the extension kept is there again', async () => {
  const first = await fakeWebview(snapshot(), opened);
  await type(first, 'half a thought');
  first.bridge.dispatch({ type: 'page', page: 'rules' });
  vi.advanceTimersByTime(1000);
  const kept = first.sent('keep').at(-1)!.text;
  keptByEditor.state = undefined;
  const second = await fakeWebview(snapshot({ kept }));
  expect(second.bridge.state.page).toBe('rules');
  second.bridge.dispatch({ type: 'page', page: 'chat' });
  await second.settle();
  expect(box(second).value).toBe('half a thought');
  // What is written since is not overwritten by another snapshot.
  await type(second, 'another thought');
  await second.say(snapshot({ kept }));
  expect(box(second).value).toBe('another thought');
});

it.each([['another thought'], ['']])(
  'where the editor hands out an old copy, what the extension kept since is there: "%s"',
  async (draft) => {
    const first = await fakeWebview(snapshot(), opened);
    await type(first, 'half a thought');
    vi.advanceTimersByTime(1000);
    const old = keptByEditor.state;
    await type(first, draft);
    first.bridge.dispatch({ type: 'page', page: 'rules' });
    vi.advanceTimersByTime(1000);
    const kept = first.sent('keep').at(-1)!.text;
    keptByEditor.state = old;
    const second = await fakeWebview(snapshot({ kept }));
    expect(second.bridge.state.page).toBe('rules');
    second.bridge.dispatch({ type: 'page', page: 'chat' });
    await second.settle();
    expect(box(second).value).toBe(draft);
    expect(keptByEditor.state).toMatchObject({ draft });
  },
);

it.each([['{'], ['null'], ['[]'], ['{"draft": 3, "page": "review", "scrolls": 1}']])(
  'what was kept by another version is left out: %s',
  async (kept) => {
    const webview = await fakeWebview(snapshot({ kept }), opened);
    expect([webview.bridge.state.page, box(webview).value]).toEqual(['chat', '']);
  },
);

describe('a queued message', () => {
  const queued = {
    't-1': [
      { id: 'q1', text: 'and then the docs' },
      { id: 'q2', text: 'and push' },
    ],
  };
  const texts = (): string[] => [...document.querySelectorAll('.queued-text')].map((one) => one.textContent);

  it('stands above the text box, whole in its title', async () => {
    await fakeWebview(snapshot({ queued }), opened);
    expect(texts()).toEqual(['and then the docs', 'and push']);
  });

  it('goes back into the text box to be edited, after what stands there', async () => {
    const webview = await fakeWebview(snapshot({ queued }), opened);
    await type(webview, 'half a thought');
    webview.button('Change the queued message').click();
    await webview.settle();
    expect(webview.sent('queueRemove')).toEqual([{ type: 'queueRemove', threadId: 't-1', id: 'q1' }]);
    expect(box(webview).value).toBe('half a thought\nand then the docs');
  });

  it('can be removed and sent now', async () => {
    const webview = await fakeWebview(snapshot({ queued }), opened);
    webview.button('Remove the queued message').click();
    webview.button('Start the queued message now').click();
    expect(webview.sent('queueRemove')).toHaveLength(1);
    expect(webview.sent('queueSend')).toEqual([{ type: 'queueSend', threadId: 't-1', id: 'q1' }]);
    await webview.say({ type: 'queued', threadId: 't-1', prompts: [] });
    expect(texts()).toEqual([]);
  });

  it('says what goes along, and what was lost with the window', async () => {
    const attached = [
      { id: 'a', text: 'with a picture', attached: 1 },
      { id: 'b', text: 'kept from before', attached: 2, lost: true },
    ];
    const webview = await fakeWebview(snapshot({ queued: { 't-1': attached } }), opened);
    const notes = [...document.querySelectorAll('.queued-note')].map((one) => one.textContent);
    expect(notes).toEqual(['Attachments: 1', 'Attachments lost with the window: 2']);
    // Back in the text box it would go without them.
    expect(() => webview.button('Change the queued message')).toThrow();
  });
});
