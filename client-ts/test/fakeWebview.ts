/** Draws the webview in a document of the test's own, with a stand-in for the editor that keeps what was posted. */
import { beforeEach, vi } from 'vitest';

import type { Intent } from '../src/intents.ts';
import type { ToWebview } from '../src/messages.ts';
import { ARMING_TIME } from '../src/armingTime.ts';
import { type Bridge, createBridge } from '../webview/bridge.ts';
import { Root } from '../webview/root.ts';
import { snapshot, thread, threadOf } from './fixtures.ts';

export { snapshot };

export interface FakeWebview {
  root: Root;
  bridge: Bridge;
  posted: Intent[];
  say(...messages: ToWebview[]): Promise<void>;
  settle(): Promise<void>;
  /** What was posted of one kind. */
  sent<K extends Intent['type']>(type: K): Extract<Intent, { type: K }>[];
  find(selector: string): HTMLElement;
  button(name: string): HTMLButtonElement;
}

export const opened: ToWebview = { type: 'threadOpened', thread: thread() };

export function openedWith(...chat: Parameters<typeof threadOf>): ToWebview {
  return { type: 'threadOpened', thread: threadOf(...chat) };
}

/** Height of a segment in a document that has no layout. */
export const ROW_HEIGHT = 18;

/** Segments one below the other in a box that fills the view, and scrolls; everything else as large as the view. */
function layOut(): void {
  HTMLElement.prototype.scrollIntoView = () => undefined;
  HTMLElement.prototype.getBoundingClientRect = function layout(this: HTMLElement) {
    const unit = this.dataset['unit'];
    if (unit === undefined && !this.matches('.rows-end'))
      return new DOMRect(0, 0, window.innerWidth, window.innerHeight);
    const box = this.closest<HTMLElement>('.rows')!;
    const at = unit === undefined ? box.querySelectorAll('[data-unit]').length : Number(unit);
    return new DOMRect(0, at * ROW_HEIGHT - box.scrollTop, window.innerWidth, ROW_HEIGHT);
  };
}

/** What the editor keeps for a webview, which outlives it; each test begins with nothing kept. */
export const keptByEditor: { state: unknown } = { state: undefined };
beforeEach(() => {
  keptByEditor.state = undefined;
});

export async function fakeWebview(...messages: ToWebview[]): Promise<FakeWebview> {
  document.body.replaceChildren();
  layOut();
  const posted: Intent[] = [];
  const bridge = createBridge({
    postMessage: (message) => posted.push(message as Intent),
    getState: () => keptByEditor.state,
    setState: (state) => void (keptByEditor.state = state),
  });
  const root = new Root();
  root.bridge = bridge;
  document.body.append(root);
  const fake: FakeWebview = {
    root,
    bridge,
    posted,
    async settle() {
      // Drawing is done in microtasks, element inside element.
      for (let depth = 0; depth < 8; depth++) await root.updateComplete.then(() => undefined);
    },
    async say(...said) {
      for (const message of said) window.dispatchEvent(new MessageEvent('message', { data: message }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      await fake.settle();
    },
    sent: (type) => posted.filter((intent): intent is never => intent.type === type),
    find(selector) {
      const found = document.querySelector<HTMLElement>(selector);
      if (!found) throw new Error(`nothing is drawn for ${selector}`);
      return found;
    },
    button(name) {
      const found = [...document.querySelectorAll<HTMLButtonElement>('button')].find(
        (button) => (button.getAttribute('aria-label') ?? button.textContent.trim()) === name,
      );
      if (!found) throw new Error(`there is no button ${name}`);
      return found;
    },
  };
  if (messages.length > 0) await fake.say(...messages);
  return fake;
}

/** Lets a card's first half second pass; timers are vitest's. */
export async function armed(webview: FakeWebview): Promise<void> {
  vi.advanceTimersByTime(ARMING_TIME);
  await webview.settle();
}

export function press(target: EventTarget, key: string, more: KeyboardEventInit = {}): boolean {
  return target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
}
