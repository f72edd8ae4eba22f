/**
 * What happens in this window to the file that a workspace's own settings stand in, as the editor tells it. Which of its
 * values a person typed is typedValues.ts's to say.
 */
import * as vscode from 'vscode';

/** Events of one settings file; `file` is its path. */
export interface SettingsFileWatch {
  /** The editor took the text from disk: it opened, reloaded or reverted the file. */
  loaded(file: string, text: string): void;
  /** The text in the editor changed, and is not what lies on disk. */
  changed(file: string): void;
  /** A save begins. `manual`: the person asked for this very save. */
  willSave(file: string, text: string, manual: boolean): void;
  /** The text was written. */
  saved(file: string, text: string): void;
  /** The extension itself edits the text. */
  editedByUs(file: string): void;
  closed(file: string): void;
}

export interface SettingsFiles extends vscode.Disposable {
  watch(watch: SettingsFileWatch): vscode.Disposable;
  /** Does an edit of our own: nothing in it counts as typed, nor does what a failed save leaves in the editor. */
  ours<T>(uri: vscode.Uri, edit: () => Promise<T>): Promise<T>;
}

export function watchSettingsFiles(): SettingsFiles {
  const watches = new Set<SettingsFileWatch>();
  let ourUri: string | undefined;
  const tell = (document: vscode.TextDocument, say: (watch: SettingsFileWatch, file: string) => void): void => {
    if (isSettingsFile(document.uri)) for (const watch of watches) say(watch, document.uri.fsPath);
  };
  const load = (document: vscode.TextDocument): void => {
    if (!document.isDirty) tell(document, (watch, file) => watch.loaded(file, document.getText()));
  };
  const listening = vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(load),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      // Without changes only the dirty mark went, by a save that is told next.
      if (contentChanges.length === 0) return;
      // Clean after a change: the editor took the text from disk.
      if (!document.isDirty) load(document);
      else tell(document, (watch, file) => watch.changed(file));
    }),
    vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
      const manual = reason === vscode.TextDocumentSaveReason.Manual && ourUri !== document.uri.toString();
      tell(document, (watch, file) => watch.willSave(file, document.getText(), manual));
    }),
    vscode.workspace.onDidSaveTextDocument((document) =>
      tell(document, (watch, file) => watch.saved(file, document.getText())),
    ),
    vscode.workspace.onDidCloseTextDocument((document) => tell(document, (watch, file) => watch.closed(file))),
  );
  return {
    watch(watch) {
      watches.add(watch);
      vscode.workspace.textDocuments.forEach(load);
      return new vscode.Disposable(() => watches.delete(watch));
    },
    async ours(uri, edit) {
      ourUri = uri.toString();
      for (const watch of watches) watch.editedByUs(uri.fsPath);
      try {
        return await edit();
      } finally {
        ourUri = undefined;
      }
    },
    dispose: () => void listening.dispose(),
  };
}

/** Values of a `.code-workspace` file are always asked about. */
function isSettingsFile(uri: vscode.Uri): boolean {
  return uri.scheme === 'file' && /[\\/]\.vscode[\\/]settings\.json$/.test(uri.fsPath);
}
