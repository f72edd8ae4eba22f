/** What the editor tells the server for its agent's tools, within bounds. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

interface Span {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

const fake = vi.hoisted(() => {
  class Position {
    constructor(
      readonly line: number,
      readonly character: number,
    ) {}
    compareTo(other: Position): number {
      return this.line - other.line || this.character - other.character;
    }
  }
  class Tab {
    constructor(
      readonly uri: unknown,
      readonly modified?: unknown,
    ) {}
  }
  class TabInputText extends Tab {}
  class TabInputCustom extends Tab {}
  class TabInputNotebook extends Tab {}
  class TabInputTextDiff extends Tab {}
  const state = {
    tabs: [] as unknown[],
    active: undefined as unknown,
    editor: undefined as unknown,
    diagnostics: [] as [unknown, unknown[]][],
    lines: [] as string[],
    commands: [] as unknown[],
    hears: new Set<(event: { uris: unknown[] }) => void>(),
    reads: new Set<(event: { document: unknown }) => void>(),
    open: [] as unknown[],
    disk: '',
    document: {} as object,
    found: undefined as unknown,
  };
  const file = (fsPath: string): object => ({ scheme: 'file', fsPath });
  return {
    state,
    file,
    Position,
    TabInputText,
    TabInputCustom,
    TabInputNotebook,
    TabInputTextDiff,
    SymbolKind: { 4: 'Class', 5: 'Method', Class: 4, Method: 5 },
    Uri: { file },
    Disposable: { from: (...all: { dispose(): void }[]) => ({ dispose: () => all.forEach((one) => one.dispose()) }) },
    window: {
      get tabGroups() {
        return { all: [{ tabs: state.tabs }], activeTabGroup: { activeTab: state.active } };
      },
      get activeTextEditor() {
        return state.editor;
      },
    },
    languages: {
      onDidChangeDiagnostics(hear: (event: { uris: unknown[] }) => void) {
        state.hears.add(hear);
        return { dispose: () => state.hears.delete(hear) };
      },
      getDiagnostics: (uri?: { fsPath: string }) =>
        uri
          ? (state.diagnostics.find(([known]) => (known as { fsPath: string }).fsPath === uri.fsPath)?.[1] ?? [])
          : state.diagnostics,
    },
    workspace: {
      get textDocuments() {
        return state.open;
      },
      onDidChangeTextDocument(hear: (event: { document: unknown }) => void) {
        state.reads.add(hear);
        return { dispose: () => state.reads.delete(hear) };
      },
      fs: { readFile: async () => new TextEncoder().encode(state.disk) },
      async openTextDocument(uri: unknown) {
        if (state.found instanceof Error) throw state.found;
        return {
          ...state.document,
          uri,
          lineCount: state.lines.length,
          lineAt: (line: number) => ({ text: state.lines[line] }),
          getText: (span?: Span) =>
            span
              ? state.lines[span.start.line]!.slice(span.start.character, span.end.character)
              : state.lines.join('\n'),
        };
      },
    },
    commands: {
      async executeCommand(...command: unknown[]) {
        state.commands.push(command);
        if (state.found instanceof Error) throw state.found;
        return state.found;
      },
    },
  };
});
vi.mock('vscode', () => fake);

const { editorTools } = await import('../src/editorTools.ts');
const { state, file, Position } = fake;
const range = (line: number, character: number): object => ({ start: new Position(line, character) });

beforeEach(() => {
  Object.assign(state, {
    tabs: [],
    active: undefined,
    editor: undefined,
    diagnostics: [],
    lines: [],
    open: [],
    disk: '',
    found: undefined,
  });
  state.commands.length = 0;
});

it('open files are told once each; what is no file is counted', async () => {
  const active = { input: new fake.TabInputTextDiff(undefined, file('/w/a.ts')), isDirty: false };
  state.active = active;
  state.tabs = [
    { input: new fake.TabInputText(file('/w/a.ts')), isDirty: true },
    active,
    { input: new fake.TabInputNotebook(file('/w/b.ipynb')), isDirty: false },
    { input: new fake.TabInputText({ scheme: 'untitled', fsPath: '/w/new' }), isDirty: true },
    { input: undefined, isDirty: false },
  ];
  expect(await editorTools['editor/openFiles']({})).toEqual({
    files: [
      { path: '/w/a.ts', active: true, dirty: true },
      { path: '/w/b.ipynb', active: false, dirty: false },
    ],
    leftOut: 2,
  });
});

it('a selection is told with its place, and cut where it is long', async () => {
  expect(await editorTools['editor/selection']({})).toEqual({});
  const document = { uri: file('/w/a.ts'), isDirty: true, getText: () => 'x'.repeat(70_000) };
  const selection = { start: new Position(2, 0), end: new Position(3, 4) };
  state.editor = { document, selection };
  const { selection: told } = await editorTools['editor/selection']({});
  expect(told).toMatchObject({ path: '/w/a.ts', line: 3, character: 1, endLine: 4, endCharacter: 5, dirty: true });
  expect([told!.text.length, told!.cut]).toEqual([65_536, true]);
  state.editor = { document: { ...document, uri: { scheme: 'output', fsPath: 'log' } }, selection };
  expect(await editorTools['editor/selection']({})).toEqual({});
});

it('problems are those of a file or of all files', async () => {
  const wrong = { range: range(1, 2), severity: 0, message: 'm'.repeat(3000), source: 'ts', code: { value: 7 } };
  state.diagnostics = [
    [file('/w/a.ts'), [wrong, { range: range(0, 0), severity: 3, message: 'hm' }]],
    [{ scheme: 'git', fsPath: '/w/a.ts' }, [wrong]],
  ];
  const all = await editorTools['editor/diagnostics']({ changed: false });
  expect(all.leftOut).toBe(1);
  expect(all.diagnostics).toEqual([
    { path: '/w/a.ts', line: 2, character: 3, severity: 'error', message: 'm'.repeat(1000), source: 'ts', code: '7' },
    { path: '/w/a.ts', line: 1, character: 1, severity: 'hint', message: 'hm' },
  ]);
  expect((await editorTools['editor/diagnostics']({ path: '/w/a.ts', changed: false })).diagnostics).toHaveLength(2);
  expect((await editorTools['editor/diagnostics']({ path: '/w/b.ts', changed: false })).diagnostics).toEqual([]);
});

describe('symbols', () => {
  it('of a file are told with what they stand in', async () => {
    const open = { name: 'open', kind: 5, selectionRange: range(2, 4), children: [] };
    state.found = [{ name: 'Door', kind: 4, selectionRange: range(1, 6), children: [open] }];
    expect(await editorTools['editor/symbols']({ path: '/w/a.ts' })).toEqual({
      symbols: [
        { path: '/w/a.ts', line: 2, character: 7, name: 'Door', kind: 'class' },
        { path: '/w/a.ts', line: 3, character: 5, name: 'open', kind: 'method', container: 'Door' },
      ],
      leftOut: 0,
    });
    expect(state.commands).toEqual([['vscode.executeDocumentSymbolProvider', file('/w/a.ts')]]);
  });

  it('of the workspace are told with their files', async () => {
    const location = (uri: unknown): object => ({ uri, range: range(0, 0) });
    state.found = [
      { name: 'Door', kind: 4, containerName: '', location: location(file('/w/a.ts')) },
      { name: 'Door', kind: 4, containerName: 'x', location: location({ scheme: 'git', fsPath: '/w/a.ts' }) },
    ];
    expect(await editorTools['editor/symbols']({ query: 'Door' })).toEqual({
      symbols: [{ path: '/w/a.ts', line: 1, character: 1, name: 'Door', kind: 'class' }],
      leftOut: 1,
    });
  });

  it('that nobody finds are a reason', async () => {
    expect((await editorTools['editor/symbols']({ path: '/w/a.ts' })).reason).toMatch(/no extension/);
    state.found = new Error('broken');
    expect(await editorTools['editor/symbols']({ query: 'x' })).toEqual({ symbols: [], reason: 'broken' });
  });
});

describe('references', () => {
  it('are those of the first whole word in the line', async () => {
    state.lines = ['', 'redoor(door, $door)'];
    state.found = [{ uri: file('/w/b.ts'), range: range(8, 1) }];
    expect(await editorTools['editor/references']({ path: '/w/a.ts', line: 2, name: 'door' })).toEqual({
      references: [{ path: '/w/b.ts', line: 9, character: 2 }],
      leftOut: 0,
    });
    expect(state.commands).toEqual([['vscode.executeReferenceProvider', file('/w/a.ts'), new Position(1, 7)]]);
  });

  it('are bounded, and a name that is not there is a reason', async () => {
    state.lines = ['door'];
    state.found = Array.from({ length: 2500 }, () => ({ uri: file('/w/b.ts'), range: range(0, 0) }));
    const { references, leftOut } = await editorTools['editor/references']({ path: '/w/a.ts', line: 1, name: 'door' });
    expect([references.length, leftOut]).toEqual([2000, 500]);
    for (const line of [1, 2]) {
      const given = { path: '/w/a.ts', line, name: 'wall' };
      expect((await editorTools['editor/references'](given)).reason).toMatch(/does not stand in line/);
    }
  });
});

describe('a rename', () => {
  const given = { path: '/w/a.ts', line: 1, name: 'door', newName: 'gate' };
  const edit = (line: number, character: number): object => ({
    range: { start: new Position(line, character), end: new Position(line, character + 4) },
    newText: 'gate',
  });
  const told = (line: number, character: number): object => ({
    line,
    character,
    endLine: line,
    endCharacter: character + 4,
    oldText: 'door',
    newText: 'gate',
  });

  it('tells the places of each file in order, with the text that they replace, and changes nothing', async () => {
    state.lines = ['door(door)'];
    state.document = { isDirty: true };
    state.found = { entries: () => [[file('/w/a.ts'), [edit(0, 5), edit(0, 0)]]] };
    expect(await editorTools['editor/rename'](given)).toEqual({
      files: [{ path: '/w/a.ts', dirty: true, edits: [told(1, 1), told(1, 6)] }],
      leftOut: 0,
    });
    expect(state.commands).toEqual([
      ['vscode.executeDocumentRenameProvider', file('/w/a.ts'), new Position(0, 0), 'gate'],
    ]);
  });

  it('counts what is no file or too many, and says why there is nothing', async () => {
    state.lines = ['door'];
    const many = Array.from({ length: 120 }, (_, number) => [file(`/w/${number}.ts`), [edit(0, 0)]]);
    state.found = { entries: () => [[{ scheme: 'git', fsPath: '/w/x' }, [edit(0, 0)]], ...many] };
    const { files, leftOut } = await editorTools['editor/rename'](given);
    expect([files.length, leftOut]).toEqual([100, 21]);
    state.found = { entries: () => [[file('/w/a.ts'), Array.from({ length: 2001 }, () => edit(0, 0))]] };
    expect((await editorTools['editor/rename'](given)).reason).toMatch(/2001 places/);
    state.found = undefined;
    expect(await editorTools['editor/rename'](given)).toEqual({ files: [], leftOut: 0 });
    expect((await editorTools['editor/rename']({ ...given, name: 'wall' })).reason).toMatch(/does not stand in line/);
    state.found = new Error('not renameable');
    expect(await editorTools['editor/rename'](given)).toEqual({ files: [], reason: 'not renameable' });
  });
});

describe('problems of a file that was just changed', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const told = (fsPath: string): void => state.hears.forEach((hear) => hear({ uris: [file(fsPath)] }));
  const asked = async (languageId: string, isDirty = false): Promise<{ over: boolean }> => {
    state.document = { languageId, isDirty };
    const answer = { over: false };
    void editorTools['editor/diagnostics']({ path: '/w/a.ts', changed: true }).then(() => (answer.over = true));
    await vi.advanceTimersByTimeAsync(0);
    return answer;
  };

  it('are waited for until the editor has told of it and then nothing new', async () => {
    const answer = await asked('one');
    told('/w/other.ts');
    await vi.advanceTimersByTimeAsync(1400);
    told('/w/a.ts');
    await vi.advanceTimersByTimeAsync(200);
    told('/w/a.ts');
    await vi.advanceTimersByTimeAsync(299);
    expect(answer.over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([answer.over, state.hears.size]).toEqual([true, 0]);
  });

  it('are waited for three seconds at most', async () => {
    const answer = await asked('two');
    for (let time = 0; time < 2900; time += 100) {
      told('/w/a.ts');
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(answer.over).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    expect(answer.over).toBe(true);
  });

  it('are not waited for again for a while where nothing checks the language', async () => {
    const first = await asked('three');
    await vi.advanceTimersByTimeAsync(1499);
    expect(first.over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(first.over).toBe(true);
    expect((await asked('three')).over).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await asked('three')).over).toBe(false);
    await vi.advanceTimersByTimeAsync(3000);
  });

  it('are waited for from when the editor has read the file anew, where it was open', async () => {
    Object.assign(state, { open: [{ uri: file('/w/a.ts') }], lines: ['old'], disk: 'new' });
    const answer = await asked('five');
    await vi.advanceTimersByTimeAsync(2000);
    state.reads.forEach((hear) => hear({ document: { uri: file('/w/a.ts') } }));
    await vi.advanceTimersByTimeAsync(500);
    expect(answer.over).toBe(false);
    told('/w/a.ts');
    await vi.advanceTimersByTimeAsync(300);
    expect([answer.over, state.reads.size]).toEqual([true, 0]);
  });

  it('are waited for again where the editor had not read the file in time', async () => {
    Object.assign(state, { open: [{ uri: file('/w/a.ts') }], lines: ['old'], disk: 'new' });
    const slow = await asked('six');
    await vi.advanceTimersByTimeAsync(2999);
    expect(slow.over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(slow.over).toBe(true);
    Object.assign(state, { lines: ['new', ''], disk: 'new\r\n' });
    const again = await asked('six');
    expect(again.over).toBe(false);
    await vi.advanceTimersByTimeAsync(1500);
    expect(again.over).toBe(true);
  });

  it('are told at once where the file is not saved or cannot be opened', async () => {
    expect((await asked('four', true)).over).toBe(true);
    state.found = new Error('no such file');
    expect((await asked('four')).over).toBe(true);
    expect(state.hears.size).toBe(0);
  });
});
