// @vitest-environment jsdom
/** The card of an agent's plan: drawn as Markdown in the agent's words, answered by a person, allows no call. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type * as wire from '../../src/wire.gen.ts';
import { sourceBlocks } from '../../webview/markdownBlocks.ts';
import { subjectRows } from '../../webview/rows.ts';
import { armed, fakeWebview, opened, press, snapshot } from '../fakeWebview.ts';
import { PLAN, planApproval } from '../fixtures.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const shown = (approval: wire.ApprovalRequest = planApproval()): ReturnType<typeof fakeWebview> =>
  fakeWebview(snapshot({ approvals: [approval] }), opened);
const planOf = (markdown: string): wire.ApprovalRequest => planApproval({ preview: { kind: 'plan', markdown } });

describe('the card of a plan', () => {
  it('draws the plan as Markdown, marked as the agent’s words', async () => {
    const webview = await shown();
    expect(webview.find('.card-title').textContent).toBe('Follow this plan?');
    expect(webview.find('.card-subject .facts').textContent).toBe('The plan, in the agent’s own words:');
    const plan = webview.find('.rows.plan');
    expect(plan.getAttribute('role')).toBe('region');
    expect([...plan.querySelectorAll('.heading')].map((found) => found.textContent)).toEqual(['Rename the parser']);
    expect([...plan.querySelectorAll('ol > li')]).toHaveLength(2);
    expect(plan.querySelector('strong')?.textContent).toBe('three');
    expect(document.querySelector('.card')?.textContent).not.toContain('"plan"');
  });

  it('offers its own answers and neither rules nor bypass', async () => {
    await shown();
    const names = [...document.querySelectorAll('.card .buttons button')].map(
      (button) => button.getAttribute('aria-label') ?? button.textContent?.trim(),
    );
    expect(names).toEqual(['Approve', 'Approve and accept edits', 'Keep planning', 'Keep planning options', 'Not now']);
  });

  const answers: [string, string][] = [
    ['Approve', 'allow_once'],
    ['Approve and accept edits', 'allow_plan_accept_edits'],
    ['Keep planning', 'reject_once'],
  ];
  it.each(answers)('%s', async (name, optionId) => {
    const webview = await shown();
    await armed(webview);
    webview.button(name).click();
    expect(webview.sent('answer')).toEqual([{ type: 'answer', approvalId: 'a-plan', digest: 'd-plan', optionId }]);
  });

  it('takes no approval, with another mode either, in its first half second', async () => {
    const webview = await shown();
    expect(webview.button('Approve').disabled).toBe(true);
    expect(webview.button('Approve and accept edits').disabled).toBe(true);
    expect(webview.button('Keep planning').disabled).toBe(false);
  });

  it('Ctrl+Enter approves it plainly', async () => {
    const webview = await shown();
    await armed(webview);
    press(webview.find('.card'), 'Enter', { ctrlKey: true });
    expect(webview.sent('answer')).toEqual([
      { type: 'answer', approvalId: 'a-plan', digest: 'd-plan', optionId: 'allow_once' },
    ]);
  });

  it('keeps planning with a message', async () => {
    const webview = await shown();
    webview.button('Keep planning options').click();
    await webview.settle();
    const items = [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')];
    expect(items.map((item) => item.textContent?.trim())).toEqual([
      'Keep planning with a message…',
      'Reject the plan and stop',
    ]);
    items[0]!.click();
    await webview.settle();
    const field = webview.find('.panel textarea') as HTMLTextAreaElement;
    field.value = 'keep the old name';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await webview.settle();
    webview.button('Keep planning').click();
    expect(webview.sent('answer')).toEqual([
      { type: 'answer', approvalId: 'a-plan', digest: 'd-plan', optionId: 'reject_once', reason: 'keep the old name' },
    ]);
  });

  it('in Plan mode offers to ask before each change', async () => {
    const { options } = planApproval();
    const asking: wire.ApprovalOption = {
      optionId: 'allow_plan_default',
      name: 'Approve and ask before each change',
      kind: 'allow_once',
      scope: 'call',
      mode: 'default',
    };
    const webview = await shown(planApproval({ options: [options[0]!, asking, ...options.slice(1)] }));
    await armed(webview);
    webview.button('Approve and ask before each change').click();
    expect(webview.sent('answer').map(({ optionId }) => optionId)).toEqual(['allow_plan_default']);
  });

  it('its plain text is its source', async () => {
    const webview = await shown();
    webview.button('Plain text').click();
    await webview.settle();
    const lines = [...document.querySelectorAll('.card-subject .line-text')].map((line) => line.textContent);
    expect(lines.join('')).toBe(`${PLAN}\n`);
  });

  it('no text of a plan becomes an element of ours', async () => {
    const webview = await shown(
      planOf('<button>Approve</button>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:a)'),
    );
    const plan = webview.find('.rows.plan');
    expect(plan.querySelectorAll('button, img, a')).toHaveLength(0);
    expect(plan.textContent).toContain('<button>Approve</button>');
  });

  it('hidden characters stand there as escapes', async () => {
    const webview = await shown(planOf('run \u202Eab\u200B now\n\n`a\u200Bb`'));
    expect(
      [...webview.find('.rows.plan').querySelectorAll('.escape')].length +
        (webview.find('.rows.plan').textContent?.match(/\\u200b/g)?.length ?? 0),
    ).toBeGreaterThanOrEqual(2);
  });
});

describe('the blocks of a plan', () => {
  const hostile: [string, string][] = [
    ['a definition that is never drawn', 'a\n\n[//]: # (rm -rf /)\n\nb'],
    ['a definition in an item', '- a\n\n  [x]: http://evil "rm -rf /"\n- b'],
    ['words behind the language of a fence', '```sh rm -rf /\nls\n```'],
    ['a link that says another address', '[docs](http://evil)'],
    ['a link to a file', '[docs](file:///etc/passwd)'],
    ['a cell beyond the header', '| a | b |\n|---|---|\n| 1 | 2 | HIDDEN |'],
    ['a cell that says what another one says', '| rm | x |\n|---|---|\n| 1 | 2 | rm |'],
    ['a cell of signs beyond the header', '| a |\n|---|\n| 1 | / |'],
    ['a cell that a code span seems to hold', '| a |\n|:-:|\n| `x | HIDDEN` |'],
    ['a cell in a list', '- | a |\n  |---|\n  | 1 | HIDDEN |'],
    ['an unknown language', '```HIDDENlang\nls\n```'],
    ['an unknown language, in a quote', '> ~~~rm-rf\n> ls\n> ~~~'],
    ['a language with an entity', '```&#115;h\nls\n```'],
    ['a number that is drawn as another', '1. a\n   1. b\n   7. c'],
    ['an entity in a word', 'r&#109; x'],
    ['a fence without an end', '```\nrm -rf /'],
    ['an entity', 'a &zwnj; b\n\n&lt;b&gt;'],
    ['blank lines and tabs', '\n\n\t\ta\n \n  b\n'],
    ['a list in a quote in a list', '- > 1. a\n  >    - b\n- c'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |'],
    ['nothing but rules', '***\n---'],
    ['text', PLAN],
  ];
  it.each(hostile)('hold every line that is not blank, in order: %s', (_, markdown) => {
    const text = (of: string): string =>
      of
        .split('\n')
        .filter((line) => line.trim())
        .join('\n');
    expect(
      text(
        sourceBlocks(markdown)
          .map((block) => block.text)
          .join('\n'),
      ),
    ).toBe(text(markdown));
  });

  it.each(
    hostile.slice(
      0,
      hostile.findIndex(([name]) => name === 'a fence without an end'),
    ),
  )('stand there as source where drawing would hide something: %s', (_, markdown) => {
    expect(sourceBlocks(markdown).some(({ drawn }) => !drawn)).toBe(true);
  });

  const ordinary: [string, string][] = [
    ['words', 'Rename **it** in `a_b.py`, *then* ~~stop~~ go \\*on\\*; see https://example.com/a-b.\\\nDone.'],
    ['headings', '# One\n\n## Two ##\n\nThree\n====='],
    ['lists', '1. a\n1. b\n3) c\n\n- d\n  1. e\n  2. f\n     - g\n  3. h\n- [x] i\n* j'],
    ['a table', '| a | `b` |\n|:--|--:|\n| 1 | x \\| y |\n| 2 |\n'],
    ['fences', '```python\na = "#|*"\n```\n\n~~~TS\nb\n~~~\n\n```\nc\n```\n\n    d'],
    ['a quote', '> a\n> b\n\n***'],
    ['text', PLAN],
  ];
  it.each(ordinary)('are drawn where drawing shows all of them: %s', (_, markdown) => {
    expect(sourceBlocks(markdown).filter(({ drawn }) => !drawn)).toEqual([]);
  });

  it('of a table with a cell too many show that cell on the card', async () => {
    const webview = await shown(planOf('| a | b |\n|---|---|\n| 1 | 2 | HIDDEN |\n\n```HIDDENlang\nls\n```'));
    expect(webview.find('.rows.plan').textContent).toContain('| HIDDEN |');
    expect(webview.find('.rows.plan').textContent).toContain('```HIDDENlang');
  });

  it('each has to be seen, and a long one line by line', () => {
    const long = '```\n' + 'x\n'.repeat(500) + '```';
    for (const markdown of [long, 'word '.repeat(5000), PLAN]) {
      const rows = subjectRows(planOf(markdown), {});
      expect(rows.every(({ must }) => must)).toBe(true);
      expect(rows.some(({ kind }) => kind === 'block')).toBe(markdown === PLAN);
    }
  });
});
