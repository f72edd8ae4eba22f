// @vitest-environment jsdom
/** The sound when an agent begins to wait: played in a page that is seen and was used, and let go of afterwards. */
import { afterEach, expect, it, vi } from 'vitest';

import { fakeWebview, snapshot } from '../fakeWebview.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Stands in for Web Audio, which this document has none of; returns what was done with it. */
function fakeAudio(): { done: string[]; end(): void } {
  const done: string[] = [];
  let ended: () => void = () => undefined;
  class Context {
    currentTime = 0;
    destination = {};
    constructor() {
      done.push('context');
    }
    close = async (): Promise<void> => void done.push('closed');
  }
  class Gain {
    gain = { exponentialRampToValueAtTime: () => undefined };
    connect = (): this => this;
  }
  class Oscillator {
    connect = (to: unknown): unknown => to;
    addEventListener = (_: 'ended', listener: () => void): void => void (ended = listener);
    start = (): void => void done.push('start');
    stop = (at: number): void => void done.push(`stop ${at < 1}`);
  }
  vi.stubGlobal('AudioContext', Context);
  vi.stubGlobal('GainNode', Gain);
  vi.stubGlobal('OscillatorNode', Oscillator);
  return { done, end: () => ended() };
}

it.each<[string, DocumentVisibilityState, boolean, string[]]>([
  ['in a page that is seen and was used', 'visible', true, ['context', 'start', 'stop true', 'closed']],
  ['not in a hidden page', 'hidden', true, []],
  ['not before the page was used, where it would be played later', 'visible', false, []],
])('is played %s', async (_, visibility, hasBeenActive, expected) => {
  const audio = fakeAudio();
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(visibility);
  vi.stubGlobal('navigator', Object.assign(Object.create(navigator), { userActivation: { hasBeenActive } }));
  const webview = await fakeWebview(snapshot());
  await webview.say({ type: 'sound' });
  audio.end();
  expect(audio.done).toEqual(expected);
});
