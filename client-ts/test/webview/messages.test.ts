// @vitest-environment jsdom
/** Messages of a chat: what can be done with them, code, places in files, and what is read out while they are written. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type * as wire from '../../src/wire.gen.ts';
import { asPlace, withPlaces } from '../../webview/fileLinks.ts';
import { highlight } from '../../webview/highlight.ts';
import { render } from 'lit';

import { GrowingMarkdown } from '../../webview/growingMarkdown.ts';
import { type Actions, markdown } from '../../webview/markdown.ts';
import { type FakeWebview, fakeWebview, openedWith, snapshot } from '../fakeWebview.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const withEvents = (...events: wire.ThreadOpenResult['events']): Promise<FakeWebview> =>
  fakeWebview(snapshot(), openedWith(events));
const html = (webview: FakeWebview, selector: string): string =>
  webview.find(selector).innerHTML.replaceAll(/<!--.*?-->/g, '');

describe('a message', () => {
  it('is copied as it was written', async () => {
    const webview = await withEvents({ type: 'prompt', text: 'do **it**' }, { type: 'text', text: 'done: `x`' });
    for (const button of document.querySelectorAll<HTMLElement>('[aria-label="Copy this message"]')) button.click();
    expect(webview.sent('copy').map(({ text }) => text)).toEqual(['do **it**', 'done: `x`']);
  });

  it('of the person goes back into the text box, or is sent again', async () => {
    const webview = await withEvents(
      { type: 'prompt', text: 'run the tests' },
      { type: 'done', stopReason: 'end_turn' },
    );
    webview.button('Change this prompt').click();
    await webview.settle();
    expect((webview.find('.composer textarea') as HTMLTextAreaElement).value).toBe('run the tests');
    expect(webview.sent('prompt')).toEqual([]);
    webview.button('Repeat this prompt').click();
    expect(webview.sent('prompt')).toEqual([{ type: 'prompt', threadId: 't-1', text: 'run the tests' }]);
  });

  it('of the person shows what was attached, and says that it is repeated without', async () => {
    const attachments = [
      { path: '/home/me/proj/src/parse.py', startLine: 3, endLine: 4, image: false },
      { path: 'screen\u202egnp.png', image: true },
      { startLine: 1, endLine: 1, image: false },
    ];
    const webview = await withEvents(
      { type: 'prompt', text: 'look', attachments },
      { type: 'done', stopReason: 'end_turn' },
    );
    const chips = [...document.querySelectorAll('[data-testid="sent-attachment"]')];
    expect(chips.map((chip) => chip.textContent.trim())).toEqual([
      'src/parse.py:3-4',
      'screen\\u202egnp.png',
      'the selection:1',
    ]);
    expect(chips.map((chip) => chip.querySelector('.codicon')?.className.match(/codicon-([\w-]+)/)?.[1])).toEqual([
      'selection',
      'file-media',
      'selection',
    ]);
    webview.button('Repeat this prompt without its attachments').click();
    expect(webview.sent('prompt')).toEqual([{ type: 'prompt', threadId: 't-1', text: 'look' }]);
  });

  it('says what it took, where the provider tells', async () => {
    const webview = await withEvents({ type: 'usage', inputTokens: 12_300, outputTokens: 900 });
    expect(webview.find('.tokens').textContent).toContain('12300 tokens read, 900 written in the last answer');
  });
});

describe('an answer can be tried again', () => {
  const tries = (): string[] =>
    [...document.querySelectorAll<HTMLElement>('[data-role="agent"]')].map((message) =>
      message.querySelector('[aria-label^="Try this answer again"]') ? message.textContent : '',
    );

  it('at its last message, once its turn is over, with the prompt that it answers', async () => {
    const turn = (prompt: string, ...texts: string[]): wire.ThreadOpenResult['events'] => [
      { type: 'prompt', text: prompt },
      ...texts.flatMap((text): wire.ThreadOpenResult['events'] => [
        { type: 'text', text },
        { type: 'notice', level: 'info', message: 'n' },
      ]),
      { type: 'done', stopReason: 'end_turn' },
    ];
    const webview = await withEvents(...turn('first', 'a', 'b'), ...turn('second', 'c'));
    expect(tries().map((text) => text.trim())).toEqual(['', 'b', 'c']);
    document.querySelectorAll<HTMLElement>('[aria-label="Try this answer again"]')[0]!.click();
    expect(webview.sent('prompt')).toEqual([{ type: 'prompt', threadId: 't-1', text: 'first' }]);
  });

  it('and not while it is written', async () => {
    const webview = await withEvents({ type: 'prompt', text: 'zero' });
    await webview.say({
      type: 'update',
      update: {
        threadId: 't-1',
        seq: 2,
        events: [
          { type: 'prompt', text: 'first' },
          { type: 'text', text: 'a' },
        ],
      },
    });
    expect(tries()).toEqual(['']);
  });
});

describe('code in a message', () => {
  it('is copied and inserted as it is, and colored', async () => {
    const code = 'def f():  # why\n    return "x", 12';
    const webview = await withEvents({ type: 'text', text: `\`\`\`python\n${code}\n\`\`\`` });
    webview.button('Copy the code').click();
    webview.button('Insert the code at the cursor').click();
    expect([webview.sent('copy'), webview.sent('insert')]).toEqual([
      [{ type: 'copy', text: code }],
      [{ type: 'insert', text: code }],
    ]);
    expect(webview.find('.code-block code').textContent).toBe(code);
    expect(
      [...document.querySelectorAll('[class^="token-"]')].map((token) => `${token.className} ${token.textContent}`),
    ).toEqual([
      'token-keyword def',
      'token-comment # why',
      'token-keyword return',
      'token-string "x"',
      'token-number 12',
    ]);
  });

  const samples = ['python', 'ts', 'bash', 'sql', 'json', 'brainfuck', '', '__proto__', 'constructor'];
  it.each(samples)('loses and invents nothing, whatever it holds: %s', (language) => {
    let seed = 7;
    const next = (below: number): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;
    const pieces = [
      '"',
      "'",
      '`',
      '\\',
      '#',
      '//',
      '/*',
      '*/',
      '--',
      '"""',
      '\n',
      ' ',
      'if',
      'return',
      '12',
      '0x',
      '\u202e',
      'é',
      '$',
      '<b>',
    ];
    for (let round = 0; round < 300; round++) {
      const code = Array.from({ length: next(40) }, () => pieces[next(pieces.length)]).join('');
      expect(
        highlight(code, language)
          .map(({ text }) => text)
          .join(''),
      ).toBe(code);
    }
  });

  it('of any size takes little time', () => {
    for (const text of [
      '"'.repeat(20_000),
      '/*'.repeat(10_000),
      '\\'.repeat(20_000),
      'a'.repeat(20_000),
      '1_'.repeat(10_000),
    ]) {
      const start = performance.now();
      highlight(text, 'ts');
      highlight(text, 'python');
      expect(performance.now() - start).toBeLessThan(2000);
    }
  });
});

describe('places in files', () => {
  it.each<[string, [string, number][]]>([
    [
      'see src/a.py:12 and b.ts:3:7.',
      [
        ['src/a.py', 12],
        ['b.ts', 3],
      ],
    ],
    ['  File /home/me/x.rs:40', [['/home/me/x.rs', 40]]],
    ['(../lib/y.go:9)', [['../lib/y.go', 9]]],
    ['localhost:3000, example.com:8080, 12:30, http://x.py:80/', []],
    ['a.py without a line', []],
  ])('%s', (text, expected) => {
    const parts = withPlaces(text);
    expect(parts.map((part) => part.text).join('')).toBe(text);
    expect(parts.flatMap(({ place }) => (place ? [[place.path, place.line]] : []))).toEqual(expected);
  });

  it.each<[string, boolean]>([
    ['src/a.py', true],
    ['a.py:3', true],
    ['a.py', false],
    ['os.path', false],
    ['rm -rf a/b.py', false],
  ])('inline code %s: %s', (code, leads) => expect(asPlace(code) !== undefined).toBe(leads));

  it('of any length take little time', () => {
    for (const text of ['a.'.repeat(50_000), 'a/'.repeat(50_000), 'a+'.repeat(50_000), 'a.py:'.repeat(20_000)]) {
      const start = performance.now();
      withPlaces(text);
      expect(performance.now() - start).toBeLessThan(2000);
    }
  });

  it('lead there from prose and inline code', async () => {
    const webview = await withEvents({ type: 'text', text: 'fixed in src/a.py:12, see `docs/x.md`' });
    for (const link of document.querySelectorAll<HTMLElement>('.markdown a')) link.click();
    expect(webview.sent('openFile')).toEqual([
      { type: 'openFile', path: 'src/a.py', line: 12 },
      { type: 'openFile', path: 'docs/x.md' },
    ]);
  });
});

it('task lists say what is done', async () => {
  const webview = await withEvents({ type: 'text', text: '- [x] write\n- [ ] test\n- plain' });
  expect(
    [...document.querySelectorAll('.markdown li')].map((item) => item.textContent.replaceAll(/\s+/g, ' ').trim()),
  ).toEqual(['done: write', 'to do: test', 'plain']);
  expect(html(webview, '.markdown ul')).not.toContain('[x]');
});

describe('an answer is read out by paragraph while it is written', () => {
  const spoken = (webview: FakeWebview): string => webview.find('[data-testid="spoken"]').textContent;

  it('each once, when it is complete; what was there before is not', async () => {
    const webview = await withEvents({ type: 'prompt', text: 'a' }, { type: 'text', text: 'old answer' });
    expect(spoken(webview)).toBe('');
    const heard: string[] = [];
    let seq = 1;
    for (const events of [
      [{ type: 'prompt' as const, text: 'b' }],
      [{ type: 'text' as const, text: 'One ' }],
      [{ type: 'text' as const, text: 'two.\n\nThree ' }],
      [{ type: 'text' as const, text: 'four.' }],
      [{ type: 'done' as const, stopReason: 'end_turn' as const }],
    ]) {
      await webview.say({ type: 'update', update: { threadId: 't-1', seq: ++seq, events } });
      if (heard.at(-1) !== spoken(webview)) heard.push(spoken(webview));
    }
    expect(heard).toEqual(['', 'One two.', 'Three four.']);
  });
});

it('no other button is named like one that is known by name', async () => {
  const webview = await fakeWebview(
    snapshot({ queued: { 't-1': [{ id: 'q', text: 'more' }] } }),
    openedWith(
      [
        { type: 'prompt', text: 'a' },
        { type: 'text', text: '```ts\nx\n```' },
      ],
      { running: true },
    ),
  );
  const names = [...document.querySelectorAll('button')].map(
    (button) => button.getAttribute('aria-label') ?? button.textContent.trim(),
  );
  for (const name of ['Send', 'Stop', 'New chat', 'Approve', 'Deny'])
    expect(names.filter((one) => one.toLowerCase().includes(name.toLowerCase()) && one !== name)).toEqual([]);
  expect(webview.posted).toBeDefined();
});

describe('a message that grows looks like one that came whole', () => {
  const act: Actions = { open: () => undefined, copy: () => undefined, insert: () => undefined };
  const pieces = [
    'A paragraph\nof two lines',
    'a title\n=====',
    '# A heading',
    '- one\n- two\n\n  more of two\n    - inner',
    '2. second\n3. third',
    '* a\n* b',
    '> quoted\nand lazy',
    '> - in both\n>\n> end',
    '```ts\nconst a = 1;\n\n# no heading\n```',
    '~~~\nunclosed\n\ntext',
    '    indented\n\n    code',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    '---',
    'a [use] of it',
    '[use]: https://example.com/a',
    '> [use]: https://example.com/b',
    '- [x] done\n- [ ] open',
    'src/a.py:12 and `code`\\',
    '\t- tabs',
  ];
  const drawn = (parts: unknown): string => {
    const box = document.createElement('div');
    render(parts, box);
    return box.innerHTML.replaceAll(/<!--.*?-->/g, '');
  };
  let seed = 1;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };

  it.each(Array.from({ length: 60 }, (_, round) => [round]))('text %d', () => {
    let text = '';
    for (let count = 0; count < 12; count++)
      text += pieces[random(pieces.length)]! + ['\n\n', '\n', '\n\n\n', '\r\n', '\n\n', '\r'][random(6)]!;
    const growing = new GrowingMarkdown();
    const box = document.createElement('div');
    for (let end = 0; end < text.length; end += 1 + random(9)) {
      render(growing.draw(text.slice(0, end), act), box);
      if (random(4) === 0)
        expect(box.innerHTML.replaceAll(/<!--.*?-->/g, '')).toBe(drawn(markdown(text.slice(0, end), act)));
    }
    render(growing.draw(text, act), box);
    expect(box.innerHTML.replaceAll(/<!--.*?-->/g, '')).toBe(drawn(markdown(text, act)));
  });

  it('also where there is so much of it that its beginning is put together', () => {
    const text = Array.from({ length: 100 }, (_, index) => `paragraph ${index}\n\n`).join('');
    const growing = new GrowingMarkdown();
    const box = document.createElement('div');
    for (let end = 0; end <= text.length; end += 7) render(growing.draw(text.slice(0, end), act), box);
    render(growing.draw(text, act), box);
    expect(box.querySelectorAll('.chunk').length).toBeGreaterThan(1);
    for (const chunk of box.querySelectorAll('.chunk')) chunk.replaceWith(...chunk.childNodes);
    expect(box.innerHTML.replaceAll(/<!--.*?-->/g, '')).toBe(drawn(markdown(text, act)));
  });

  it('or was replaced by another', () => {
    const growing = new GrowingMarkdown();
    const box = document.createElement('div');
    for (const text of ['a\n\nb\n\nc', 'a\n\nx', '[a]: b\n\n[a]', 'plain']) render(growing.draw(text, act), box);
    expect(box.textContent).toBe('plain');
  });
});
