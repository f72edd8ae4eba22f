// @vitest-environment jsdom
/** What goes along with a prompt, mentions, and what was written before. */
import { describe, expect, it } from 'vitest';

import { pathsOf } from '../../webview/composer.ts';
import { type FakeWebview, fakeWebview, opened, press, snapshot } from '../fakeWebview.ts';

const box = (webview: FakeWebview): HTMLTextAreaElement => webview.find('.composer textarea') as HTMLTextAreaElement;
async function type(webview: FakeWebview, text: string): Promise<void> {
  box(webview).value = text;
  box(webview).setSelectionRange(text.length, text.length);
  box(webview).dispatchEvent(new Event('input'));
  await webview.settle();
}
const key = async (webview: FakeWebview, name: string): Promise<boolean> => {
  const went = press(box(webview), name);
  await webview.settle();
  return went;
};
const chips = (): string[] => [...document.querySelectorAll('.chip-name')].map((chip) => chip.textContent);

describe('chips', () => {
  it('show what goes along, can be removed, and are gone once it was sent', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    webview.button('Attach the selection or open file').click();
    expect(webview.sent('attachSelection')).toHaveLength(1);
    const attached = (id: string, path: string, more: object = {}) =>
      webview.say({ type: 'attached', attachment: { id, path, ...more } });
    await attached('1', 'src/a.py', { startLine: 3, endLine: 5 });
    await attached('2', 'src/\u202Eb.py');
    await attached('3', 'src/c.py', { startLine: 7, endLine: 7 });
    // The same once more is one chip, which holds what was selected last.
    await attached('4', 'src/a.py', { startLine: 3, endLine: 5 });
    expect(chips()).toEqual(['src/\\u202eb.py', 'src/c.py:7', 'src/a.py:3-5']);
    webview.button('Remove src/c.py:7').click();
    await type(webview, 'explain this');
    webview.button('Send').click();
    await webview.settle();
    expect(webview.sent('prompt')).toEqual([
      { type: 'prompt', threadId: 't-1', text: 'explain this', attachments: ['2', '4'] },
    ]);
    expect(chips()).toEqual([]);
  });

  it('come from files that are dropped, and from nothing else', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    const drop = (kind: string, text: string): void => {
      const event = new Event('drop', { bubbles: true, cancelable: true });
      Object.assign(event, { dataTransfer: { types: [kind], getData: (type: string) => (type === kind ? text : '') } });
      webview.find('.composer-box').dispatchEvent(event);
    };
    drop('text/uri-list', 'file:///home/me/proj/a%20b.py\r\nfile:///home/me/proj/a%20b.py');
    drop('application/vnd.code.uri-list', 'vscode-remote://ssh-remote+x/home/me/c.py');
    drop('text/uri-list', 'https://example.com/a.py\njavascript:alert(1)\nfile:///%ff');
    drop('text/plain', '/etc/passwd');
    expect(webview.sent('attachFile').map(({ path }) => path)).toEqual(['/home/me/proj/a b.py', '/home/me/c.py']);
    expect(pathsOf('file:///C:/a.py')).toEqual(['C:/a.py']);
  });
});

describe('mentions', () => {
  const found = [
    { name: 'parse.py', path: '/home/me/proj/src/parse.py' },
    { name: 'parse', path: '/home/me/proj/src/parse.py', line: 13 },
  ];

  it('are completed by keys: the name stands in the text, the file goes along', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await type(webview, 'look at @par');
    expect(webview.sent('complete').at(-1)).toEqual({ type: 'complete', text: 'par' });
    await webview.say({ type: 'completions', text: 'par', found });
    expect([...document.querySelectorAll('[role="option"]')].map((one) => one.textContent.trim())).toEqual([
      'parse.pysrc/parse.py',
      'parsesrc/parse.py:13',
    ]);
    await key(webview, 'ArrowDown');
    expect(document.getElementById(box(webview).getAttribute('aria-activedescendant')!)!.textContent).toContain(':13');
    await key(webview, 'Enter');
    expect(box(webview).value).toBe('look at @parse ');
    expect(webview.sent('attachFile')).toEqual([{ type: 'attachFile', path: '/home/me/proj/src/parse.py', line: 13 }]);
    expect([webview.sent('prompt'), document.querySelectorAll('[role="option"]').length]).toEqual([[], 0]);
    // Without a list, Enter sends.
    await key(webview, 'Enter');
    expect(webview.sent('prompt')).toHaveLength(1);
  });

  it.each(['me@example.com', '@ ', 'a@b'])('%j is none', async (text) => {
    const webview = await fakeWebview(snapshot(), opened);
    await type(webview, text);
    await webview.say({ type: 'completions', text: 'example.com', found });
    expect([webview.sent('complete'), document.querySelectorAll('[role="option"]').length]).toEqual([[], 0]);
  });

  it('an answer for what was written before is not shown, and Escape closes the list', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    await type(webview, '@parse');
    await webview.say({ type: 'completions', text: 'par', found });
    expect(document.querySelectorAll('[role="option"]')).toHaveLength(0);
    await webview.say({ type: 'completions', text: 'parse', found });
    expect(document.querySelectorAll('[role="option"]')).toHaveLength(2);
    await key(webview, 'Escape');
    expect(document.querySelectorAll('[role="option"]')).toHaveLength(0);
    expect(box(webview).value).toBe('@parse');
  });
});

describe('arrow keys bring back what was written before', () => {
  it('oldest and newest are the ends, and what was begun comes back', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    const before = document.querySelectorAll('[data-role="user"]').length;
    for (const text of ['first', 'second\nof two lines']) {
      await type(webview, text);
      webview.button('Send').click();
      await webview.say({ type: 'prompted', threadId: 't-1', text });
    }
    await type(webview, 'begun');
    await key(webview, 'ArrowUp');
    expect(box(webview).value).toBe('second\nof two lines');
    // In its second line the arrow goes up in the text.
    expect(await key(webview, 'ArrowUp')).toBe(true);
    box(webview).setSelectionRange(0, 0);
    await key(webview, 'ArrowUp');
    expect(box(webview).value).toBe('first');
    for (let more = 0; more < before; more++) await key(webview, 'ArrowUp');
    const oldest = box(webview).value;
    await key(webview, 'ArrowUp');
    expect(box(webview).value).toBe(oldest);
    for (let more = 0; more < before + 2; more++) await key(webview, 'ArrowDown');
    expect(box(webview).value).toBe('begun');
    expect(await key(webview, 'ArrowDown')).toBe(true);
  });
});
