/**
 * What the built-in agent's editor tools ask of the editor, answered within bounds: open files, selection, problems,
 * symbols and references. The server judges every file that an answer names before a model reads of it.
 */
import * as vscode from 'vscode';

import type * as wire from './wire.gen.ts';

export interface EditorTools {
  'editor/openFiles'(params: object): Promise<wire.EditorOpenFilesResult>;
  'editor/selection'(params: object): Promise<wire.EditorSelectionResult>;
  'editor/diagnostics'(params: wire.EditorDiagnosticsParams): Promise<wire.EditorDiagnosticsResult>;
  'editor/symbols'(params: wire.EditorSymbolsParams): Promise<wire.EditorSymbolsResult>;
  'editor/references'(params: wire.EditorReferencesParams): Promise<wire.EditorReferencesResult>;
  'editor/rename'(params: wire.EditorRenameParams): Promise<wire.EditorRenameResult>;
}

/** Entries of one answer, and UTF-16 code units of a text in it; the server reads no more of either. */
const MOST_ENTRIES = 2000;
const MOST_TEXT = 1000;
const MOST_SELECTED = 64 * 1024;
/** Files that one rename changes; each has an approval of its own. */
const MOST_FILES = 100;

export const editorTools: EditorTools = {
  async 'editor/openFiles'() {
    const active = vscode.window.tabGroups.activeTabGroup.activeTab;
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const files = new Map<string, wire.EditorFile>();
    let leftOut = 0;
    for (const tab of tabs) {
      const path = pathOf(tab.input);
      if (path === undefined) leftOut += 1;
      else {
        const before = files.get(path);
        files.set(path, {
          path,
          active: tab === active || before?.active === true,
          dirty: tab.isDirty || before?.dirty === true,
        });
      }
    }
    const found = [...files.values()];
    return { files: found.slice(0, MOST_ENTRIES), leftOut: leftOut + Math.max(0, found.length - MOST_ENTRIES) };
  },
  async 'editor/selection'() {
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.uri.scheme !== 'file') return {};
    const { document, selection } = editor;
    const text = document.getText(selection);
    return {
      selection: {
        path: document.uri.fsPath,
        line: selection.start.line + 1,
        character: selection.start.character + 1,
        endLine: selection.end.line + 1,
        endCharacter: selection.end.character + 1,
        text: text.slice(0, MOST_SELECTED),
        dirty: document.isDirty,
        cut: text.length > MOST_SELECTED,
      },
    };
  },
  async 'editor/diagnostics'({ path, changed }) {
    if (path !== undefined && changed) await checkedAnew(vscode.Uri.file(path));
    const all: [vscode.Uri, readonly vscode.Diagnostic[]][] =
      path === undefined
        ? vscode.languages.getDiagnostics()
        : [[vscode.Uri.file(path), vscode.languages.getDiagnostics(vscode.Uri.file(path))]];
    const found = all.flatMap(([uri, diagnostics]) => diagnostics.map((diagnostic) => [uri, diagnostic] as const));
    const { kept, leftOut } = bounded(found, ([uri]) => uri);
    return { diagnostics: kept.map(([uri, diagnostic]) => asDiagnostic(uri, diagnostic)), leftOut };
  },
  async 'editor/symbols'({ path, query }) {
    try {
      const uri = path === undefined ? undefined : vscode.Uri.file(path);
      const found = uri
        ? await vscode.commands.executeCommand<AnySymbol[] | undefined>('vscode.executeDocumentSymbolProvider', uri)
        : await vscode.commands.executeCommand<AnySymbol[] | undefined>('vscode.executeWorkspaceSymbolProvider', query);
      if (found === undefined && uri) return { symbols: [], reason: 'no extension of the editor finds symbols there' };
      const { kept, leftOut } = bounded([...flattened(found ?? [], uri)], (symbol) => symbol.uri);
      return { symbols: kept.map(asSymbol), leftOut };
    } catch (error) {
      return { symbols: [], reason: messageOf(error) };
    }
  },
  async 'editor/references'({ path, line, name }) {
    try {
      const place = await placeOf(path, line, name);
      if (typeof place === 'string') return { references: [], reason: place };
      const found = await vscode.commands.executeCommand<vscode.Location[] | undefined>(
        'vscode.executeReferenceProvider',
        place.uri,
        place.position,
      );
      const { kept, leftOut } = bounded(found ?? [], ({ uri }) => uri);
      return { references: kept.map(({ uri, range }) => ({ path: uri.fsPath, ...at(range.start) })), leftOut };
    } catch (error) {
      return { references: [], reason: messageOf(error) };
    }
  },
  async 'editor/rename'({ path, line, name, newName }) {
    try {
      const place = await placeOf(path, line, name);
      if (typeof place === 'string') return { files: [], reason: place };
      const found = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>(
        'vscode.executeDocumentRenameProvider',
        place.uri,
        place.position,
        newName,
      );
      const { kept, leftOut } = bounded(found?.entries() ?? [], ([uri]) => uri, MOST_FILES);
      const files = await Promise.all(kept.map(([uri, edits]) => asFileEdits(uri, edits)));
      const places = files.reduce((sum, { edits }) => sum + edits.length, 0);
      if (places > MOST_ENTRIES) return { files: [], reason: `${places} places would change; ${MOST_ENTRIES} at most` };
      return { files, leftOut };
    } catch (error) {
      return { files: [], reason: messageOf(error) };
    }
  },
};

/** Until the editor first tells of a text that it has read; then until it has told nothing new for a while; all together. */
const FIRST_WORD = 1500;
const QUIET = 300;
const ALL_WORDS = 3000;
/** For how long a language that told nothing is not waited for again: nothing may check it. */
const IN_VAIN = 60_000;
const inVain = new Map<string, number>();

/** Opens a file, unseen, and waits until the editor has checked its text; a document that is not saved stays as it is. */
async function checkedAnew(uri: vscode.Uri): Promise<void> {
  let heard: (() => void) | undefined;
  let read: (() => void) | undefined;
  const isIt = (other: vscode.Uri): boolean => other.scheme === 'file' && other.fsPath === uri.fsPath;
  const wasOpen = vscode.workspace.textDocuments.some((document) => isIt(document.uri));
  const listening = vscode.Disposable.from(
    vscode.languages.onDidChangeDiagnostics(({ uris }) => uris.some(isIt) && heard?.()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => isIt(document.uri) && read?.()),
  );
  try {
    await new Promise<void>((resolve) => {
      const timers: ReturnType<typeof setTimeout>[] = [];
      let over = false;
      const done = (): void => {
        over = true;
        timers.forEach(clearTimeout);
        resolve();
      };
      let last: ReturnType<typeof setTimeout> | undefined;
      heard = () => {
        clearTimeout(last);
        timers.push((last = setTimeout(done, QUIET)));
      };
      timers.push(setTimeout(done, ALL_WORDS));
      const opened = async (document: vscode.TextDocument): Promise<void> => {
        const { isDirty, languageId } = document;
        if (isDirty || (inVain.get(languageId) ?? 0) > Date.now()) return done();
        const waitForWord = (): void => {
          read = undefined;
          if (over) return;
          const first = setTimeout(() => {
            if (last !== undefined) return;
            inVain.set(languageId, Date.now() + IN_VAIN);
            done();
          }, FIRST_WORD);
          timers.push(first);
        };
        // The editor reads a file that was open again when its watcher tells of it: before, nothing can be checked.
        read = waitForWord;
        if (!wasOpen || (await hasTextOfDisk(document))) read?.();
      };
      void vscode.workspace.openTextDocument(uri).then(opened).then(undefined, done);
    });
  } finally {
    listening.dispose();
  }
}

/** Whether a document is as its file is; of a file in another encoding than UTF-8 it is not known, and counts as no. */
async function hasTextOfDisk(document: vscode.TextDocument): Promise<boolean> {
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(document.uri));
  return text.replaceAll('\r\n', '\n') === document.getText().replaceAll('\r\n', '\n');
}

/** The file of an editor tab: of a comparison the one that it shows as new. */
function pathOf(input: unknown): string | undefined {
  const uri =
    input instanceof vscode.TabInputText ||
    input instanceof vscode.TabInputCustom ||
    input instanceof vscode.TabInputNotebook
      ? input.uri
      : input instanceof vscode.TabInputTextDiff
        ? input.modified
        : undefined;
  return uri?.scheme === 'file' ? uri.fsPath : undefined;
}

/** The first occurrence of a name in a line, as a whole word where there is one; else why there is none. */
async function placeOf(
  path: string,
  line: number,
  name: string,
): Promise<{ uri: vscode.Uri; position: vscode.Position } | string> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  const text = line <= document.lineCount ? document.lineAt(line - 1).text : '';
  const isWord = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}_$]/u.test(character);
  const starts: number[] = [];
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) starts.push(start);
  const whole = starts.find((start) => !isWord(text[start - 1]) && !isWord(text[start + name.length]));
  const start = whole ?? starts[0];
  if (start === undefined) return `the name does not stand in line ${line} as the editor has the file`;
  return { uri: document.uri, position: new vscode.Position(line - 1, start) };
}

function bounded<T>(
  found: readonly T[],
  uriOf: (entry: T) => vscode.Uri,
  most = MOST_ENTRIES,
): { kept: T[]; leftOut: number } {
  const kept = found.filter((entry) => uriOf(entry).scheme === 'file').slice(0, most);
  return { kept, leftOut: found.length - kept.length };
}

/** The edits of a file in its order, each with the text that it replaces, so that the server can tell another text. */
async function asFileEdits(uri: vscode.Uri, edits: readonly vscode.TextEdit[]): Promise<wire.EditorFileEdits> {
  const document = await vscode.workspace.openTextDocument(uri);
  const ordered = [...edits].sort((one, other) => one.range.start.compareTo(other.range.start));
  return {
    path: uri.fsPath,
    dirty: document.isDirty,
    edits: ordered.map(({ range, newText }) => ({
      ...at(range.start),
      endLine: range.end.line + 1,
      endCharacter: range.end.character + 1,
      oldText: document.getText(range),
      newText,
    })),
  };
}

const SEVERITIES: Record<vscode.DiagnosticSeverity, wire.EditorSeverity> = ['error', 'warning', 'information', 'hint'];

function asDiagnostic(
  uri: vscode.Uri,
  { range, severity, message, source, code }: vscode.Diagnostic,
): wire.EditorDiagnostic {
  const rule = typeof code === 'object' ? code.value : code;
  return {
    path: uri.fsPath,
    ...at(range.start),
    severity: SEVERITIES[severity],
    message: cut(message),
    ...(source !== undefined && { source: cut(source) }),
    ...(rule !== undefined && { code: cut(String(rule)) }),
  };
}

type AnySymbol = vscode.DocumentSymbol | vscode.SymbolInformation;
interface Found {
  uri: vscode.Uri;
  name: string;
  kind: vscode.SymbolKind;
  container: string;
  start: vscode.Position;
}

function* flattened(symbols: readonly AnySymbol[], uri?: vscode.Uri, container = ''): Generator<Found> {
  for (const symbol of symbols) {
    const { name, kind } = symbol;
    if ('location' in symbol)
      yield {
        uri: symbol.location.uri,
        name,
        kind,
        container: symbol.containerName,
        start: symbol.location.range.start,
      };
    else if (uri) {
      yield { uri, name, kind, container, start: symbol.selectionRange.start };
      yield* flattened(symbol.children, uri, name);
    }
  }
}

function asSymbol({ uri, name, kind, container, start }: Found): wire.EditorSymbol {
  return {
    path: uri.fsPath,
    ...at(start),
    name: cut(name),
    kind: (vscode.SymbolKind[kind] ?? 'symbol').toLowerCase(),
    ...(container && { container: cut(container) }),
  };
}

function at({ line, character }: vscode.Position): { line: number; character: number } {
  return { line: line + 1, character: character + 1 };
}

function cut(text: string): string {
  return text.slice(0, MOST_TEXT);
}

function messageOf(error: unknown): string {
  return cut(error instanceof Error ? error.message : String(error));
}
