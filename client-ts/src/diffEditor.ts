/**
 * The editor's diff editor, as far as we use it: opens two texts that are shown and never written, and tells which lines
 * of them are in view. What may be approved there is diffApproval.ts's.
 */
import * as path from 'node:path';
import * as vscode from 'vscode';

import { type Side, type View, wholeLines } from './diffSeen.ts';
import { changesDrawing, DRAWING_SETTINGS } from './drawingSettings.ts';
import { type EditorText, editorText } from './editorText.ts';
import { showDiff } from './editorWindow.ts';

const PROPOSED = 'countersign-proposed';
/** Texts of the last diffs can be gone back to; older ones would only hold memory. */
const KEPT = 40;

export interface DiffEditor {
  /** Opens two texts of one file side by side, and gives the diff's id. */
  open(title: EditorText, file: string, before: string, after: string): Promise<string>;
  /** The diff that a command was called on, or the one in front. */
  idOf(resource: unknown): string | undefined;
  /** As conditions of menus know the diff. */
  resourceOf(id: string): string | undefined;
  /** What is in view of the diffs on the screen. */
  views(): readonly (View & { id: string })[];
  /** Lines of this diff are wrapped, so that none of them goes on out of view. */
  wraps(id: string): boolean;
  /** A setting by which the workspace, not the person, changes how texts are drawn; undefined if it has none. */
  workspaceDrawing(id: string): string | undefined;
  /** Changes of blanks at the ends of lines are marked. */
  marksBlanks(id: string): boolean;
  /** Brings a line into view; false where that side of the diff is not on the screen. */
  reveal(id: string, side: Side, line: number): boolean;
  onChange(listener: () => void): vscode.Disposable;
}

export function createDiffEditor(): DiffEditor & vscode.Disposable {
  const texts = new Map<string, { uri: vscode.Uri; text: string }>();
  /** What the setting for wrapping was when the lines of this diff were wrapped. */
  const wrapped = new Map<string, string>();
  let last = 0;
  const provider = vscode.workspace.registerTextDocumentContentProvider(PROPOSED, {
    provideTextDocumentContent: ({ query }) => texts.get(query)?.text ?? '',
  });

  function add(id: string, side: Side, file: string, text: string): vscode.Uri {
    // The editor shows the path beside the title, and takes the language from its end.
    const uri = vscode.Uri.from({
      scheme: PROPOSED,
      path: path.posix.join('/', editorText(file.replaceAll('\\', '/'))),
      query: `${id}-${side}`,
    });
    texts.set(uri.query, { uri, text });
    return uri;
  }

  const editorsOf = (id: string): vscode.TextEditor[] =>
    vscode.window.visibleTextEditors.filter(
      ({ document: { uri } }) => uri.scheme === PROPOSED && parsed(uri)?.[0] === id,
    );

  function wrapping(id: string): string | undefined {
    const document = editorsOf(id).find(({ document }) => parsed(document.uri)?.[1] === 'after')?.document;
    if (!document) return undefined;
    const ofDiffs = vscode.workspace.getConfiguration('diffEditor', document).get<string>('wordWrap', 'inherit');
    return ofDiffs === 'inherit'
      ? vscode.workspace.getConfiguration('editor', document).get<string>('wordWrap')
      : ofDiffs;
  }

  /** Lines go on out of view unless they are wrapped; where the person has not set that, this diff alone is switched. */
  async function wrap(id: string): Promise<void> {
    const set = wrapping(id);
    if (set !== 'off' && set !== 'on' && set !== 'bounded') return;
    if (set === 'off') {
      // The command switches the editor that has the focus, which may be another one by now.
      const front = vscode.window.activeTextEditor?.document.uri;
      if (front?.scheme !== PROPOSED || parsed(front)?.[0] !== id) return;
      await vscode.commands.executeCommand('editor.action.toggleWordWrap');
    }
    wrapped.set(id, set);
  }

  return {
    async open(title, file, before, after) {
      const id = String(++last);
      const uris = [add(id, 'before', file, before), add(id, 'after', file, after)] as const;
      for (const side of ['before', 'after']) texts.delete(`${last - KEPT}-${side}`);
      await showDiff(title, ...uris);
      await wrap(id);
      return id;
    },
    idOf(resource) {
      const { activeTab } = vscode.window.tabGroups.activeTabGroup;
      const uri =
        resource instanceof vscode.Uri
          ? resource
          : activeTab?.input instanceof vscode.TabInputTextDiff
            ? activeTab.input.modified
            : undefined;
      return uri?.scheme === PROPOSED ? parsed(uri)?.[0] : undefined;
    },
    resourceOf: (id) => texts.get(`${id}-after`)?.uri.toString(),
    views() {
      return vscode.window.visibleTextEditors.flatMap(({ document, visibleRanges }) => {
        const [id, side] = document.uri.scheme === PROPOSED ? (parsed(document.uri) ?? []) : [];
        const shown = texts.get(document.uri.query)?.text;
        if (id === undefined || side === undefined || shown === undefined) return [];
        // Another extension may have changed the document, and the editor may split a text into other lines than we do.
        if (linesAlike(document.getText()) !== linesAlike(shown) || shown.split('\n').length !== document.lineCount)
          return [];
        const sticky = vscode.workspace.getConfiguration('editor.stickyScroll', document);
        return [
          {
            id,
            side,
            ranges: wholeLines(visibleRanges, (line) => document.lineAt(line).text.length),
            lineCount: document.lineCount,
            stickyLines: sticky.get<boolean>('enabled', true) ? sticky.get<number>('maxLineCount', 5) : 0,
          },
        ];
      });
    },
    wraps: (id) => wrapped.has(id) && wrapped.get(id) === wrapping(id),
    workspaceDrawing(id) {
      const document = editorsOf(id).find(({ document }) => parsed(document.uri)?.[1] === 'after')?.document;
      const settings = vscode.workspace.getConfiguration(undefined, document);
      return DRAWING_SETTINGS.find((name) => {
        const at = settings.inspect(name);
        return [
          at?.workspaceValue,
          at?.workspaceFolderValue,
          at?.workspaceLanguageValue,
          at?.workspaceFolderLanguageValue,
        ].some((value) => changesDrawing(name, value));
      });
    },
    marksBlanks: (id) =>
      !vscode.workspace
        .getConfiguration('diffEditor', texts.get(`${id}-after`)?.uri)
        .get<boolean>('ignoreTrimWhitespace', true),
    reveal(id, side, line) {
      const editor = editorsOf(id).find(({ document }) => parsed(document.uri)?.[1] === side);
      editor?.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
      return editor !== undefined;
    },
    onChange(listener) {
      return vscode.Disposable.from(
        vscode.window.onDidChangeTextEditorVisibleRanges(listener),
        vscode.window.onDidChangeVisibleTextEditors(listener),
        vscode.window.onDidChangeWindowState(listener),
      );
    },
    dispose: () => provider.dispose(),
  };
}

/** The text as the editor holds it: one kind of line end, no byte order mark. */
function linesAlike(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

function parsed({ query }: vscode.Uri): [id: string, side: Side] | undefined {
  const [id, side] = query.split('-');
  return id && (side === 'before' || side === 'after') ? [id, side] : undefined;
}
