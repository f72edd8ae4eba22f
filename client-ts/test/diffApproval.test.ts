/** Approving in the diff editor: the same conditions as on a card, and changes that were left out. */
import { beforeEach, describe, expect, it } from 'vitest';

import { changesOf, firstUnclear, withoutChanges } from '../src/changes.ts';
import { createDiffApproval, type DiffApproval, type DiffApprovalHost } from '../src/diffApproval.ts';
import { DiffSeen, type View, wholeLines } from '../src/diffSeen.ts';
import { changesDrawing } from '../src/drawingSettings.ts';
import { createTexts } from '../src/editorText.ts';
import type * as wire from '../src/wire.gen.ts';
import { diffApproval, hostApproval } from './fixtures.ts';

type Answered = { approvalId: string; digest: string; optionId: string; editedInput?: string };

let waiting: wire.ApprovalRequest[];
let answered: Answered[];
let told: string[];
let shown: string[];
let cards: number;
let focused: boolean;
let time: number;
let views: (View & { id: string })[];
let wraps: boolean;
let drawing: string | undefined;
let texts: [string, string][];
let ticked: (index: number) => boolean;
let contexts: Record<string, unknown>;
let diffs: DiffApproval;

const whole = (id: string): typeof views =>
  (['before', 'after'] as const).map((side) => ({ id, side, ranges: [[0, 9999]], lineCount: 10_000, stickyLines: 5 }));
const later = (by: number): void => void (time += by);

beforeEach(() => {
  [waiting, answered, told, shown, texts, views, contexts] = [[], [], [], [], [], [], {}];
  [cards, focused, time, wraps, drawing, ticked] = [0, true, 1000, true, undefined, () => true];
  const host: DiffApprovalHost = {
    ...createTexts((message) => message),
    tell: (_, message) => void told.push(message),
    pickMany: async (items) => items.filter((_, index) => ticked(index)),
    setContext: (key, value) => void (contexts[key] = value),
    windowFocused: () => focused,
    now: () => time,
    showCard: () => void cards++,
  };
  diffs = createDiffApproval(
    host,
    {
      async open(title, _file, before, after) {
        shown.push(title);
        texts.push([before, after]);
        return String(shown.length);
      },
      idOf: (resource) => (typeof resource === 'string' ? resource : String(shown.length)),
      resourceOf: (id) => `countersign-proposed:${id}`,
      views: () => views,
      wraps: () => wraps,
      workspaceDrawing: () => drawing,
      marksBlanks: () => false,
      reveal: (id) => views.some((view) => view.id === id),
    },
    () => ({ approvals: () => waiting, answer: async (answer) => void answered.push(answer) }),
  );
});

async function opened(approval: wire.ApprovalRequest): Promise<wire.ApprovalRequest> {
  waiting = [approval];
  await diffs.open(approval);
  return approval;
}

describe('Approve in the diff editor', () => {
  it('answers for this call once all was in view for half a second, and only once', async () => {
    const { approvalId, digest } = await opened(diffApproval());
    expect(contexts['countersign.openDiffs']).toEqual(['countersign-proposed:1']);
    views = whole('1');
    diffs.viewChanged();
    later(499);
    await diffs.approve();
    expect([answered, told.length]).toEqual([[], 1]);
    later(500);
    await Promise.all([diffs.approve(), diffs.approve()]);
    expect(answered).toEqual([{ approvalId, digest, optionId: 'allow_once' }]);
  });

  it.each<[string, Partial<View>[]]>([
    ['the old text alone was in view', [{ side: 'before', ranges: [[0, 99]] }]],
    ['the new text alone was in view', [{ side: 'after', ranges: [[0, 99]] }]],
    ['nothing is on the screen', []],
    ['the end is cut off', ['before', 'after'].map((side) => ({ side: side as 'after', ranges: [[0, 13]] }))],
    [
      'sticky lines may lie over it',
      ['before', 'after'].map((side) => ({ side: side as 'after', ranges: [[10, 40]] })),
    ],
    [
      'it lies in a folded region',
      ['before', 'after'].map((side) => ({
        side: side as 'after',
        ranges: [
          [0, 12],
          [15, 40],
        ],
      })),
    ],
  ])('answers nothing where %s', async (_, more) => {
    await opened(diffApproval());
    views = more.map((view) => ({ ...whole('1')[0]!, ...view }));
    diffs.viewChanged();
    later(5000);
    await diffs.approve();
    expect(answered).toEqual([]);
    expect(told).toHaveLength(1);
  });

  it('counts anew when the window got the focus back, and nothing that was drawn without it', async () => {
    await opened(diffApproval());
    focused = false;
    views = whole('1');
    diffs.viewChanged();
    later(5000);
    await diffs.approve();
    focused = true;
    diffs.viewChanged();
    later(499);
    await diffs.approve();
    expect(answered).toEqual([]);
    later(500);
    await diffs.approve();
    expect(answered).toHaveLength(1);
  });

  const edit = (oldText: string | undefined, newText: string, more: object = {}): wire.ApprovalRequest =>
    diffApproval({ preview: { kind: 'diff', path: '/w/a.py', operation: 'edit', oldText, newText, ...more } });
  it.each<[string, wire.ApprovalRequest]>([
    ['a risk', diffApproval({ risks: ['changes settings'] })],
    ['a hidden character', edit('a\n', 'b\u200B\n')],
    ['an override', edit('a\n', 'b \u202E c\n')],
    ['letters that run from right to left', edit('a\n', 'mv \u05D0 \u05D1\n')],
    ['a text that takes long to compare', edit('a\n'.repeat(3000), 'b\n'.repeat(3000))],
    ['a line without end', edit('a\n', `b${' '.repeat(600)}; rm\n`)],
    ['an indentation that alone changes', edit('if a:\n    b()\n', 'if a:\nb()\n')],
    ['another end of lines', edit('a\nb\n', 'a\r\nb\r\n')],
    ['a lone carriage return', edit('a\n', 'rm x\recho\n')],
    ['a removed line with a hidden character', edit('b\u200B\n', 'c\n')],
    ['a path that its title cuts', edit('a\n', 'b\n', { path: `/w/${'d'.repeat(80)}/a.py` })],
    ['a path with newlines', edit('a\n', 'b\n', { path: '/w/a\nb.py' })],
    ['a move', edit('a\n', 'a\n', { operation: 'move', to: '/w/b.py' })],
    ['an approval that lasts', { ...hostApproval(), preview: diffApproval().preview }],
  ])('sends %s to the card', async (_, approval) => {
    await opened(approval);
    views = whole('1');
    diffs.viewChanged();
    later(5000);
    await diffs.approve();
    expect([answered, cards]).toEqual([[], 1]);
  });

  it('approves what is too large for a card once each change was in view, and else lets it only be denied', async () => {
    const tooLarge = { tooLarge: true };
    const { approvalId, digest } = await opened(edit('a\n', 'b\n', tooLarge));
    later(5000);
    await diffs.approve();
    expect(answered).toEqual([]);
    views = whole('1');
    diffs.viewChanged();
    later(5000);
    await diffs.approve();
    expect(answered).toEqual([{ approvalId, digest, optionId: 'allow_once' }]);
    [answered, cards] = [[], 0];
    for (const approval of [
      edit('a\n'.repeat(3000), 'b\n'.repeat(3000), tooLarge),
      edit('a\n', 'b\u200B\n', tooLarge),
    ]) {
      await opened(approval);
      views = whole(String(shown.length));
      diffs.viewChanged();
      later(5000);
      await diffs.approve();
    }
    expect([answered, cards]).toEqual([[], 0]);
    expect(told.at(-1)).toContain('can only be denied');
  });

  it('sends a diff whose lines are not wrapped to the card', async () => {
    await opened(diffApproval());
    wraps = false;
    views = whole('1');
    later(5000);
    await diffs.approve();
    expect([answered, cards]).toEqual([[], 1]);
  });

  it('sends a diff that the workspace draws otherwise than the person to the card', async () => {
    await opened(diffApproval());
    drawing = 'editor.tokenColorCustomizations';
    views = whole('1');
    later(5000);
    await diffs.approve();
    expect([answered, cards]).toEqual([[], 1]);
    expect(told[0]).toContain('editor.tokenColorCustomizations');
  });

  it.each<[boolean, string, unknown]>([
    [false, 'editor.lineHeight', undefined],
    [true, 'editor.lineHeight', 1],
    [true, 'workbench.colorCustomizations', { 'titleBar.activeBackground': '#123', 'editor.foreground': '#000' }],
    [true, 'workbench.colorCustomizations', { '[Dark]': { 'editor.foreground': '#000' } }],
    [false, 'workbench.colorCustomizations', { 'titleBar.activeBackground': '#123' }],
  ])('drawing changes (%s) where the workspace sets %s to %j', (changes, name, value) => {
    expect(changesDrawing(name, value)).toBe(changes);
  });

  it('takes a key that is held down for no answer, however long', async () => {
    await opened(diffApproval());
    for (let presses = 0; presses < 200; presses++) {
      if (presses === 20) views = whole('1');
      diffs.viewChanged();
      await diffs.approve();
      later(30);
    }
    expect(answered).toEqual([]);
    later(500);
    await diffs.approve();
    expect(answered).toHaveLength(1);
  });

  it.each([
    ['has ended', () => (waiting = [])],
    ['is another one under its id', () => (waiting = [diffApproval({ digest: 'other' })])],
  ])('answers nothing once the request %s', async (_, change) => {
    await opened(diffApproval());
    views = whole('1');
    diffs.viewChanged();
    later(5000);
    change();
    await diffs.approve();
    await diffs.deny();
    diffs.approvalsChanged();
    expect([answered, contexts['countersign.openDiffs']]).toEqual([[], []]);
  });

  it('denies at once, seen or not', async () => {
    const { approvalId, digest } = await opened(diffApproval());
    await diffs.deny();
    expect(answered).toEqual([{ approvalId, digest, optionId: 'reject_once' }]);
  });
});

describe('lines in view', () => {
  const seenLines = (ranges: View['ranges'], stickyLines: number): number[] => {
    const lines = Array.from({ length: 60 }, (_, line) => `line ${line}`);
    return [...lines.keys()].filter((line) => {
      const one = new DiffSeen([{ oldStart: 0, removed: [], newStart: line, added: [lines[line]!] }]);
      one.take({ side: 'after', ranges, lineCount: 60, stickyLines });
      return one.count === 0;
    });
  };
  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  it.each<[string, View['ranges'], number, number[]]>([
    ['a view in the middle', [[10, 20]], 5, from(15, 19)],
    [
      'sticky lines over a fold',
      [
        [10, 10],
        [30, 40],
      ],
      5,
      from(34, 39),
    ],
    [
      'sticky lines over several folds',
      [
        [10, 10],
        [20, 21],
        [30, 40],
      ],
      5,
      from(32, 39),
    ],
    [
      'the beginning',
      [
        [0, 3],
        [10, 20],
      ],
      5,
      [...from(0, 3), ...from(10, 19)],
    ],
    ['the end', [[50, 59]], 0, from(51, 59)],
  ])('%s', (_, ranges, stickyLines, lines) => expect(seenLines(ranges, stickyLines)).toEqual(lines));

  const position = (line: number, character: number) => ({ line, character });
  it.each([
    ['a first line whose first rows are out of view', position(0, 80), position(3, 9), [[1, 3]]],
    ['a last line whose last rows are out of view', position(0, 0), position(3, 5), [[0, 2]]],
    ['one row of one line', position(2, 4), position(2, 8), [[3, 1]]],
    ['whole lines', position(1, 0), position(3, 9), [[1, 3]]],
  ])('%s', (_, start, end, lines) => expect(wholeLines([{ start, end }], () => 9)).toEqual(lines));
});

describe('changes that are left out', () => {
  it('make an edited call of the rest, which is shown and must be seen before it is approved', async () => {
    const approval = await opened(diffApproval());
    const preview = approval.preview as wire.DiffPreview;
    expect(contexts['countersign.editableDiffs']).toEqual(['countersign-proposed:1']);
    views = whole('1');
    diffs.viewChanged();
    later(5000);
    ticked = (index) => index === 1;
    await diffs.leaveOut();
    expect(shown.at(-1)).toContain('1 of 2 changes left out');
    const rest = preview.oldText!.replace('print(parse("7"))', 'print(parse(" 7 "))');
    expect(texts.at(-1)).toEqual([preview.oldText, rest]);
    await diffs.approve();
    expect(answered).toEqual([]);
    views = whole('2');
    diffs.viewChanged();
    later(500);
    await diffs.approve();
    expect(answered.map(({ editedInput, ...answer }) => [answer, JSON.parse(editedInput!)])).toEqual([
      [
        { approvalId: 'a-diff', digest: 'd-diff', optionId: 'allow_once' },
        { path: 'src/parse.py', edits: [{ old_text: preview.oldText, new_text: rest }] },
      ],
    ]);
  });

  it.each<[string, wire.ApprovalRequest, (index: number) => boolean]>([
    ['all of them', diffApproval(), () => false],
    ['one of a hosted agent', diffApproval({ agentOptions: [] }), (index) => index === 0],
    [
      'the only one',
      diffApproval({ preview: { kind: 'diff', path: '/w/a', operation: 'edit', oldText: 'a\n', newText: 'b\n' } }),
      () => false,
    ],
  ])('%s: nothing is shown or sent', async (_, approval, tick) => {
    await opened(approval);
    ticked = tick;
    await diffs.leaveOut();
    expect([shown.length, answered, told.length]).toEqual([1, [], 1]);
  });

  const line = (next: (below: number) => number): string =>
    `${'abc '.slice(0, 1 + next(4))}${next(4) === 0 ? '\r' : ''}\n`;
  it('compose to either text, and to nothing else than their lines', () => {
    let state = 7;
    const next = (below: number): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff) % below;
    for (let round = 0; round < 500; round++) {
      const text = (): string =>
        Array.from({ length: next(12) }, () => line(next)).join('') + (next(3) === 0 ? 'no end' : '');
      const [before, after] = [text(), text()];
      const changes = changesOf(before, after);
      expect(withoutChanges(before, after, new Set())).toBe(after);
      expect(withoutChanges(before, after, new Set(changes.keys()))).toBe(before);
      for (const index of changes.keys()) {
        const rest = withoutChanges(before, after, new Set([index]));
        // What is left are changes of the same lines, and never one more.
        const lines = (of: readonly { removed: readonly string[]; added: readonly string[] }[]): number =>
          of.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0);
        expect(lines(changesOf(before, rest))).toBeLessThan(lines(changes));
      }
      const seen = new DiffSeen(changes);
      expect(seen.count === 0).toBe(
        changes.every(({ added, removed }) => [...added, ...removed].every((of) => !of.trim())),
      );
      if (before === after) expect(firstUnclear(before, after, false)).toBeUndefined();
    }
  });
});
