// @vitest-environment jsdom
/** What goes along with a prompt, mentions, and what was written before. */
import { describe, expect, it, vi } from 'vitest';

import type { ToWebview } from '../../src/messages.ts';
import { pathsOf } from '../../webview/composer.ts';
import type * as wire from '../../src/wire.gen.ts';
import { type FakeWebview, fakeWebview, opened, openedWith, press, snapshot } from '../fakeWebview.ts';
import { agents } from '../fixtures.ts';

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

  it('offer the open file and what is selected in it, which goes along only once it is pressed', async () => {
    const webview = await fakeWebview(snapshot(), opened);
    const offered = (): string | undefined => document.querySelector('.offer-name')?.textContent;
    expect(offered()).toBeUndefined();
    await webview.say({ type: 'openPlace', place: { path: 'src/\u202Ea.py' } });
    expect([offered(), chips()]).toEqual(['src/\\u202ea.py', []]);
    await webview.say({ type: 'openPlace', place: { path: 'src/a.py', startLine: 3, endLine: 5 } });
    webview.button('Attach src/a.py:3-5').click();
    expect(webview.sent('attachSelection')).toHaveLength(1);
    await webview.say({ type: 'attached', attachment: { id: '1', path: 'src/a.py', startLine: 3, endLine: 5 } });
    expect([offered(), chips()]).toEqual([undefined, ['src/a.py:3-5']]);
    await webview.say({ type: 'openPlace', place: { path: 'src/b.py' } });
    webview.button('Do not offer src/b.py').click();
    await webview.settle();
    await webview.say({ type: 'openPlace', place: { path: 'src/b.py', startLine: 1, endLine: 2 } });
    expect(offered()).toBeUndefined();
    await webview.say({ type: 'openPlace', place: { path: 'src/c.py' } });
    expect(offered()).toBe('src/c.py');
    await webview.say({ type: 'openPlace' });
    expect(offered()).toBeUndefined();
    await type(webview, 'look');
    webview.button('Send').click();
    expect(webview.sent('prompt')[0]).toMatchObject({ attachments: ['1'] });
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

it('an agent that needs a login says so, with its own button, before and in a chat', async () => {
  const detail = 'the agent needs a login (`Authentication required`)';
  const waiting = agents().map((one) => ({ ...one, ...(one.default && { state: 'needsLogin' as const, detail }) }));
  for (const says of [[], [opened]]) {
    const webview = await fakeWebview(snapshot({ agents: waiting }), ...says);
    expect(webview.find('[data-testid="needs-login"]').textContent).toContain(detail);
    webview.button('Log in…').click();
    const inChat = says.length > 0 && { threadId: 't-1' };
    expect(webview.sent('agentLogin')).toEqual([{ type: 'agentLogin', agentName: 'Countersign', ...inChat }]);
    await webview.say(snapshot({ agents: agents() }));
    expect(document.querySelector('[data-testid="needs-login"]')).toBeNull();
  }
});

it('an agent whose login is a key only says so on the button', async () => {
  const key = { name: 'KEY', secret: 'agents.Countersign/KEY', origin: 'it' };
  const methods = [{ methodId: 'key', name: 'API key', keys: [key] }];
  for (const [login, label] of [
    [methods, 'Set Key…'],
    [[...methods, { methodId: 'browser', name: 'Browser' }], 'Log in…'],
  ] as const) {
    const waiting = agents().map((one) => ({
      ...one,
      ...(one.default && { state: 'needsLogin' as const, login: [...login] }),
    }));
    const webview = await fakeWebview(snapshot({ agents: waiting }));
    expect(webview.find('[data-testid="needs-login"] button').textContent).toBe(label);
  }
});

it('the page of a login is shown whole and opened only by its button, by the method’s id', async () => {
  const url = `https://xn--dr-via.example/${'keys/'.repeat(80)}?a=[x](command:y)`;
  const link = { url, host: 'xn--dr-via.example', notes: ['internationalName' as const] };
  const login = [
    { methodId: 'key', name: 'API key', link },
    { methodId: 'browser', name: 'Browser' },
  ];
  const waiting = agents().map((one) => ({ ...one, ...(one.default && { state: 'needsLogin' as const, login }) }));
  const webview = await fakeWebview(snapshot({ agents: waiting }));
  const shown = document.querySelectorAll('[data-testid="login-link"]');
  expect(shown).toHaveLength(1);
  expect(shown[0]!.querySelector('code')!.textContent).toBe(url);
  expect(shown[0]!.querySelector('a')).toBeNull();
  expect(shown[0]!.textContent).toContain('look like others');
  expect(webview.sent('loginLink')).toEqual([]);
  webview.button('Open in the browser').click();
  expect(webview.sent('loginLink')).toEqual([{ type: 'loginLink', agentName: 'Countersign', methodId: 'key' }]);
});

it('the list of agents ends with a way to add one, which chooses none and keeps the chat', async () => {
  const webview = await fakeWebview(snapshot(), opened);
  (webview.find('.agent-picker .picker-button') as HTMLButtonElement).click();
  await webview.settle();
  const rows = [...document.querySelectorAll<HTMLElement>('.agent-picker .option')];
  expect(rows.at(-1)!.textContent).toContain('Add agent…');
  rows.at(-1)!.click();
  await webview.settle();
  expect(webview.sent('agentAdd')).toEqual([{ type: 'agentAdd' }]);
  expect(webview.find('.agent-picker .picker-value').textContent).toBe('Countersign');
});

describe('images', () => {
  const PNG = new File([new Uint8Array([137, 80, 78, 71])], 'a.png', { type: 'image/png' });
  const JPEG = new File(['jpeg'], 'b.jpeg', { type: 'image/jpeg' });
  const agent = (images?: boolean): ToWebview =>
    snapshot({ agents: agents().map((one) => ({ ...one, ...(images !== undefined && { images }) })) });

  /** Pastes or drops files, and says whether the editor's own way of doing it was left alone. */
  function give(webview: FakeWebview, kind: 'paste' | 'drop', files: File[], text = ''): boolean {
    const event = new Event(kind, { bubbles: true, cancelable: true });
    const data = { files, types: ['Files'], getData: (type: string) => (type === 'text/plain' ? text : '') };
    Object.assign(event, { clipboardData: data, dataTransfer: data });
    return box(webview).dispatchEvent(event);
  }
  const notes = (): string[] => [...document.querySelectorAll('.note')].map((note) => note.textContent.trim());

  it.each(['paste', 'drop'] as const)(
    'that are given by %s go to the extension in their order, as base64',
    async (kind) => {
      const webview = await fakeWebview(agent(true), opened);
      expect(give(webview, kind, [PNG, JPEG])).toBe(false);
      await vi.waitFor(() => expect(webview.sent('attachImage')).toHaveLength(2), 60_000);
      expect(webview.sent('attachImage')).toEqual([
        { type: 'attachImage', name: 'a.png', mimeType: 'image/png', data: 'iVBORw==' },
        { type: 'attachImage', name: 'b.jpeg', mimeType: 'image/jpeg', data: 'anBlZw==' },
      ]);
    },
  );

  it('are a chip each, also under one name, and one that is removed does not go along', async () => {
    const webview = await fakeWebview(agent(), opened);
    for (const id of ['1', '2'])
      await webview.say({ type: 'attached', attachment: { id, path: 'image.png', image: true } });
    expect(chips()).toEqual(['image.png', 'image.png']);
    webview.button('Remove image.png').click();
    await type(webview, 'look');
    webview.button('Send').click();
    await webview.settle();
    expect(webview.sent('detach')).toEqual([{ type: 'detach', id: '1' }]);
    expect(webview.sent('prompt').map(({ attachments }) => attachments)).toEqual([['2']]);
  });

  it('that come with a text, and a text alone, are pasted as the editor does it', async () => {
    const webview = await fakeWebview(agent(true), opened);
    expect([give(webview, 'paste', [PNG], 'a\tb'), give(webview, 'paste', [], 'words')]).toEqual([true, true]);
    await webview.settle();
    expect(webview.sent('attachImage')).toEqual([]);
  });

  const large = Object.defineProperty(new File(['x'], 'c.png', { type: 'image/png' }), 'size', { value: 8_000_000 });
  it.each([
    ['no image', [new File(['x'], 'a\u202E.svg', { type: 'image/svg+xml' })], 'a\\u202e.svg is not a PNG'],
    ['too large', [large], 'c.png has more than 7 MB'],
    ['empty', [new File([], 'd.png', { type: 'image/png' })], 'd.png cannot be read'],
  ])('%s: it says so, and nothing is sent', async (_, files, said) => {
    const webview = await fakeWebview(agent(true), opened);
    give(webview, 'drop', files);
    await vi.waitFor(() => expect(notes().join()).toContain(said), 60_000);
    expect(webview.sent('attachImage')).toEqual([]);
  });

  it('are taken in a chat with another model than that of the settings, of which only the server knows', async () => {
    const option = (value: string): wire.ThreadOption => ({ optionId: 'model', name: 'Model', type: 'select', value });
    const webview = await fakeWebview(agent(false), openedWith([], { options: [option('demo')] }));
    give(webview, 'paste', [PNG]);
    await vi.waitFor(() => expect(notes().join()).toContain('Countersign takes no images'), 60_000);
    await webview.say({ type: 'session', session: { threadId: 't-1', options: [option('eyes')], commands: [] } });
    give(webview, 'paste', [PNG]);
    await vi.waitFor(() => expect(webview.sent('attachImage')).toHaveLength(1), 60_000);
  });

  it('are not taken for an agent that takes none, and not sent to one that was chosen since', async () => {
    const webview = await fakeWebview(agent(false), opened);
    expect(give(webview, 'paste', [PNG])).toBe(false);
    await vi.waitFor(() => expect(notes().join()).toContain('Countersign takes no images'), 60_000);
    expect(webview.sent('attachImage')).toEqual([]);
    await webview.say(agent(true), { type: 'attached', attachment: { id: '1', path: 'a.png', image: true } });
    await type(webview, 'look');
    await webview.say(agent(false));
    webview.button('Send').click();
    await webview.settle();
    // The text and the chip stay, to be sent to another.
    expect([webview.sent('prompt'), box(webview).value, chips()]).toEqual([[], 'look', ['a.png']]);
    await webview.say(agent(true));
    webview.button('Send').click();
    expect(webview.sent('prompt').map(({ attachments }) => attachments)).toEqual([['1']]);
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

  it('are asked for again when what the server knows is there, if nothing was found before', async () => {
    const webview = await fakeWebview(snapshot({ loaded: false }));
    await type(webview, 'look at @par');
    await webview.say({ type: 'completions', text: 'par', found: [] });
    await webview.say(snapshot());
    expect(webview.sent('complete')).toEqual([
      { type: 'complete', text: 'par' },
      { type: 'complete', text: 'par' },
    ]);
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

describe('options before the first message', () => {
  const hosted = (more: Partial<wire.AgentView> = {}): wire.AgentView[] => [
    { agentName: 'It', type: 'acp', state: 'idle', label: 'gated', bypass: false, default: true, ...more },
  ];
  const begin = (): HTMLElement | null => document.querySelector('[data-testid="begin"]');

  it('are asked of the agent only when the person wants them', async () => {
    const webview = await fakeWebview(snapshot({ agents: hosted() }));
    expect(webview.sent('beginThread')).toEqual([]);
    begin()!.click();
    expect(webview.sent('beginThread')).toEqual([{ type: 'beginThread', agentName: 'It', mode: 'default' }]);
    await webview.say(openedWith([], { agentName: 'It' }));
    begin()!.click();
    expect(webview.sent('beginThread').at(-1)).toEqual({ type: 'beginThread', threadId: 't-1' });
  });

  it('are not offered where nothing may be started, nor by the built-in agent', async () => {
    for (const more of [
      { agents: hosted(), trusted: false },
      { agents: hosted({ type: 'builtin' }) },
      { agents: hosted({ state: 'needsLogin' }) },
    ]) {
      await fakeWebview(snapshot(more));
      expect(begin()).toBeNull();
    }
  });
});

describe('the model of the built-in agent', () => {
  const choices = ['demo', 'local', 'b\u202Eig'].map((value) => ({ value, name: value }));
  const option: wire.ThreadOption = {
    optionId: 'model',
    name: 'Model',
    category: 'model',
    type: 'select',
    value: 'local',
    choices,
  };
  const settled = snapshot({ models: ['local', 'big'], modelOf: { Countersign: 'big' } });
  const picked = async (webview: FakeWebview, name: string): Promise<void> => {
    (webview.find('.model-picker .picker-button') as HTMLButtonElement).click();
    await webview.settle();
    const rows = [...document.querySelectorAll<HTMLElement>('.model-picker .option')];
    rows.find((row) => row.querySelector('.option-name')!.textContent.trim() === name)!.click();
    await webview.settle();
  };

  it('is that of its settings before the first message, and of the chat after it', async () => {
    const webview = await fakeWebview(settled);
    expect(webview.find('.model-picker .picker-value').textContent).toBe('big');
    await picked(webview, 'local');
    expect(webview.sent('setModel')).toEqual([{ type: 'setModel', agentName: 'Countersign', model: 'local' }]);
    await webview.say(openedWith([], { options: [option] }));
    expect(webview.find('.model-picker .picker-value').textContent).toBe('local');
    expect(document.querySelector('.agent-options')).toBeNull();
    await picked(webview, 'b\\u202eig');
    await picked(webview, 'local');
    expect(webview.sent('setOption')).toEqual([
      { type: 'setOption', threadId: 't-1', option: 'model', value: 'b\u202Eig' },
    ]);
    expect(webview.sent('setModel')).toHaveLength(1);
  });

  it('can be demo before the first message, and is it where the settings name none', async () => {
    const webview = await fakeWebview(snapshot({ models: ['demo', 'local'], modelOf: {} }));
    expect(webview.find('.model-picker .picker-value').textContent).toBe('demo');
    await picked(webview, 'local');
    await webview.say(snapshot({ models: ['demo', 'local'], modelOf: { Countersign: 'local' } }));
    await picked(webview, 'demo');
    expect(webview.sent('setModel').map(({ model }) => model)).toEqual(['local', 'demo']);
    await webview.say(snapshot({ models: ['demo'], modelOf: {} }));
    expect(document.querySelector('.model-picker')).toBeNull();
  });

  it('is named where the settings no longer have it', async () => {
    const webview = await fakeWebview(settled, openedWith([], { options: [{ ...option, value: 'gone' }] }));
    expect(webview.find('.model-picker .picker-value').textContent).toBe('gone');
  });
});

describe('options and commands of the agent', () => {
  const options: wire.ThreadOption[] = [
    {
      optionId: 'model',
      name: 'Model',
      type: 'select',
      value: 'fast',
      choices: [
        { value: 'fast', name: 'Fast' },
        { value: 'deep', name: 'De\u202Eep', description: 'thinks for long', group: 'Large' },
        { value: 'yolo', name: 'YOLO', refused: 'Claude Code would ask for less with this' },
      ],
    },
    { optionId: 'web', name: 'Web search', type: 'boolean', value: true },
    { optionId: 'auto', name: 'Auto approve', type: 'boolean', value: false, refused: 'Countersign keeps this' },
  ];
  const commands = [
    { name: 'review', description: 'Reviews', hint: 'a branch' },
    { name: 'release notes', description: 'Writes' },
    { name: 'init', description: '' },
  ];
  const chat = (): ToWebview => openedWith([], { agentName: 'Claude Code', options, commands });
  const switches = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('.agent-options [role="switch"]')];
  const offered = (): string[] =>
    [...document.querySelectorAll('#completions li span:not(.facts, .codicon)')].map((row) => row.textContent);

  it('are drawn by their type, and a choice is sent with it', async () => {
    const webview = await fakeWebview(snapshot(), chat());
    (webview.find('.agent-options .picker-button') as HTMLButtonElement).click();
    await webview.settle();
    const rows = [...document.querySelectorAll<HTMLElement>('.agent-options .option')];
    expect(rows.map((row) => row.querySelector('.option-name')!.textContent.trim())).toEqual([
      'Fast',
      'De\\u202eep',
      'YOLO',
    ]);
    expect(rows[1]!.getAttribute('aria-description')).toBe('Large · thinks for long');
    rows[1]!.click();
    expect(switches().map((one) => [one.getAttribute('aria-checked'), one.getAttribute('aria-disabled')])).toEqual([
      ['true', null],
      ['false', 'true'],
    ]);
    switches()[0]!.click();
    expect(webview.sent('setOption')).toEqual([
      { type: 'setOption', threadId: 't-1', option: 'model', value: 'deep' },
      { type: 'setOption', threadId: 't-1', option: 'web', value: false },
    ]);
  });

  it('by which it would ask less say why, and are not sent', async () => {
    const webview = await fakeWebview(snapshot(), chat());
    expect(switches()[1]!.title).toBe('Countersign keeps this');
    switches()[1]!.click();
    (webview.find('.agent-options .picker-button') as HTMLButtonElement).click();
    await webview.settle();
    const row = [...document.querySelectorAll<HTMLElement>('.agent-options .option')].at(-1)!;
    expect(row.getAttribute('aria-disabled')).toBe('true');
    expect(row.getAttribute('aria-description')).toBe('Claude Code would ask for less with this');
    row.click();
    expect(webview.sent('setOption')).toEqual([]);
  });

  it('change as the agent says, and go with its session', async () => {
    const webview = await fakeWebview(snapshot(), chat());
    const now = options.map((one) => (one.optionId === 'model' ? { ...one, value: 'deep' } : one)).slice(0, 1);
    await webview.say({ type: 'session', session: { threadId: 't-1', options: now, commands } });
    expect(webview.find('.agent-options .picker-value').textContent).toBe('De\\u202eep');
    expect(switches()).toEqual([]);
    await webview.say({ type: 'session', session: { threadId: 't-1', options: [], commands: [] } });
    expect(document.querySelector('.agent-options')).toBeNull();
  });

  it('commands are offered after a slash at the beginning, with their hint, and sent as they stand', async () => {
    const webview = await fakeWebview(snapshot(), chat());
    await type(webview, 'a /re');
    expect(offered()).toEqual([]);
    await type(webview, '/RE');
    expect(offered()).toEqual(['/review', '/release notes']);
    await key(webview, 'ArrowDown');
    await key(webview, 'Enter');
    expect(box(webview).value).toBe('/release notes ');
    await type(webview, '/review');
    expect(webview.find('[data-testid="command-hint"]').textContent).toBe('a branch');
    // It is written out already, so that Enter sends it.
    await key(webview, 'Enter');
    expect(webview.sent('prompt')).toEqual([{ type: 'prompt', threadId: 't-1', text: '/review' }]);
    await type(webview, '/');
    await key(webview, 'Escape');
    expect(offered()).toEqual([]);
  });
});

it('how full the context is stays when the tokens of an answer are told by themselves', async () => {
  const webview = await fakeWebview(
    snapshot(),
    openedWith([
      { type: 'usage', contextUsed: 50_000, contextTokens: 100_000, cost: 0.5 },
      { type: 'usage', inputTokens: 3, outputTokens: 4 },
    ]),
  );
  expect(webview.find('[data-testid="figures"]').textContent).toBe('50 % · $0.50');
});

it('a new chat says which MCP servers of the agent are off', async () => {
  const servers = 'its own MCP servers are off here: `github`';
  const told = agents().map((one) => ({ ...one, ...(one.default && { servers }) }));
  const webview = await fakeWebview(snapshot({ agents: told, threads: [] }));
  expect(webview.find('[data-testid="own-servers"]').textContent).toBe(`Countersign: ${servers}`);
  await webview.say(opened);
  expect(document.querySelector('[data-testid="own-servers"]')).toBeNull();
});
