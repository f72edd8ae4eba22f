// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ARMING_TIME } from '../src/armingTime.ts';
import { fakeWebview, opened, snapshot } from './fakeWebview.ts';
import { options, plainCommand } from './fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('who chooses a rule for always sees what else it would match', () => {
  const examples = ['npm run test src', 'npm run test \u202E-x', `npm run test ${'long '.repeat(60)}`];
  const wide = plainCommand({
    options: options({ rule: 'Bash(npm run test)', wider: 'Bash(npm run test:*)', examples }),
  });
  const said = (element: Element, by: 'aria-labelledby' | 'aria-describedby'): string =>
    (element.getAttribute(by) ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent.trim() ?? '')
      .join(' ')
      .replaceAll(/\s+/g, ' ');

  const openMenu = async (): ReturnType<typeof fakeWebview> => {
    const webview = await fakeWebview(snapshot({ approvals: [wide] }), opened);
    vi.advanceTimersByTime(ARMING_TIME);
    await webview.settle();
    webview.button('Approve options').click();
    await webview.settle();
    return webview;
  };

  it('a menu entry for a wide rule says what else that would match, to everybody and whole', async () => {
    await openMenu();
    const also = [...document.querySelectorAll('[role="menuitem"]')]
      .filter((item) => item.textContent.includes('Always allow Bash'))
      .map((item) => [said(item, 'aria-labelledby'), item.querySelector('.also')?.getAttribute('title') ?? '']);
    const line = `would also match: npm run test src · npm run test \\u202e-x · ${examples[2]!.trim()}`;
    const title = `npm run test src\nnpm run test \\u202e-x\n${examples[2]}`;
    expect(also).toEqual([
      ['Always allow Bash(npm run test) in this workspace', ''],
      ['Always allow Bash(npm run test) everywhere', ''],
      [`Always allow Bash(npm run test:*) in this workspace ${line}`, title],
      [`Always allow Bash(npm run test:*) everywhere ${line}`, title],
    ]);
  });

  it("where a width is chosen its examples stand below it; a rule of the person's own words has none", async () => {
    const webview = await openMenu();
    [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')]
      .find((item) => item.textContent.includes('another rule'))!
      .click();
    await webview.settle();
    const shown = (): (string | null)[][] =>
      [...document.querySelectorAll('.panel .examples code')].map((code) => [
        code.textContent,
        code.getAttribute('title'),
      ]);
    expect(shown()).toEqual([]);
    webview.button('Bash(npm run test:*)').click();
    await webview.settle();
    const seen = ['npm run test src', 'npm run test \\u202e-x', examples[2]!];
    expect(shown()).toEqual(seen.map((text) => [text, text]));
    expect(said(webview.button('Always allow in this workspace'), 'aria-describedby')).toContain(
      'It would also match: npm run test src',
    );
    const field = webview.find('.panel textarea') as HTMLTextAreaElement;
    field.value = 'Bash(npm:*)';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await webview.settle();
    expect(shown()).toEqual([]);
  });
});
