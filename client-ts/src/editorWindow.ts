/**
 * The editor's surfaces that show text, in the types that make it safe. The only module that calls them: whoever has a
 * text for the editor gets it through `editorText.ts` first, because nothing else fits these parameters.
 */
import * as vscode from 'vscode';

import type { DialogText, EditorText, SafeButton } from './editorText.ts';

export type Severity = 'info' | 'warning' | 'error';

export interface PickItem {
  label: EditorText;
  description?: EditorText;
  detail?: EditorText;
}

export interface StatusItem {
  text: EditorText;
  tooltip: EditorText;
  command: string;
  urgent: boolean;
}

/** A message in a corner of the window. Gives the button pressed. */
export function showMessage(
  severity: Severity,
  message: EditorText,
  ...buttons: EditorText[]
): Thenable<string | undefined> {
  const { showInformationMessage, showWarningMessage, showErrorMessage } = vscode.window;
  return { info: showInformationMessage, warning: showWarningMessage, error: showErrorMessage }[severity](
    message,
    ...buttons,
  );
}

/**
 * A dialog that waits for an answer; the only one there is. Gives the button pressed; undefined if it was closed.
 *
 * Enter presses the first button, so that one neither widens nor loses anything.
 */
export function showModal(
  message: EditorText,
  detail: DialogText,
  safe: SafeButton,
  ...acting: EditorText[]
): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(message, { modal: true, detail }, safe, ...acting);
}

export function showPick<T extends PickItem>(items: T[], placeHolder: EditorText): Thenable<T | undefined> {
  return vscode.window.showQuickPick(items, { placeHolder, ignoreFocusOut: true });
}

/** A list in which several stay ticked. */
export function showPickMany<T extends PickItem & { picked: boolean }>(
  items: T[],
  placeHolder: EditorText,
): Thenable<T[] | undefined> {
  return vscode.window.showQuickPick(items, { placeHolder, canPickMany: true, ignoreFocusOut: true });
}

/** A form with one field whose text is hidden. Gives the text; undefined if it was closed. */
export function showSecretForm(title: EditorText, prompt: EditorText): Thenable<string | undefined> {
  return vscode.window.showInputBox({ title, prompt, password: true, ignoreFocusOut: true });
}

/** The same with a text that is shown while it is typed. */
export function showTextForm(title: EditorText, prompt: EditorText): Thenable<string | undefined> {
  return vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
}

/** Not a toast: those cover the very corner where the chat is. */
export function showProgress<T>(
  title: EditorText,
  work: (report: (step: EditorText) => void) => Promise<T>,
): Thenable<T> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, (progress) =>
    work((step) => progress.report({ message: step })),
  );
}

export function createStatus(
  id: string,
  name: EditorText,
  priority: number,
): vscode.Disposable & { show(item: StatusItem): void; hide(): void } {
  const item = vscode.window.createStatusBarItem(id, vscode.StatusBarAlignment.Right, priority);
  item.name = name;
  return {
    show({ text, tooltip, command, urgent }) {
      item.text = text;
      item.tooltip = tooltip;
      item.command = command;
      item.accessibilityInformation = { label: tooltip, role: 'button' };
      item.backgroundColor = urgent ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
      item.show();
    },
    hide: () => item.hide(),
    dispose: () => item.dispose(),
  };
}

/** A webview in a tab of the editor area, which stays as it is while others hide it. */
export function showTab(type: string, title: EditorText): vscode.WebviewPanel {
  return vscode.window.createWebviewPanel(type, title, vscode.ViewColumn.Active, { retainContextWhenHidden: true });
}

/** A terminal with one program in it, shown beside what has the focus; settings for terminals do not change its environment. */
export function showTerminal(
  name: EditorText,
  command: readonly string[],
  cwd: string,
  env: Record<string, string | undefined>,
): vscode.Terminal | undefined {
  const [shellPath, ...shellArgs] = command;
  if (!shellPath) return undefined;
  const options = { name, shellPath, shellArgs, cwd, env, strictEnv: true, isTransient: true };
  const terminal = vscode.window.createTerminal(options);
  terminal.show(true);
  return terminal;
}

/**
 * The same, until the terminal is closed, which it is by itself where the program ends without an error. Gives the exit
 * code; undefined where the terminal was closed while the program ran.
 */
export async function untilTerminalCloses(...terminal: Parameters<typeof showTerminal>): Promise<number | undefined> {
  const shown = showTerminal(...terminal);
  if (!shown) return undefined;
  return new Promise((resolve) => {
    const listening = vscode.window.onDidCloseTerminal((closed) => {
      if (closed !== shown) return;
      listening.dispose();
      resolve(closed.exitStatus?.code);
    });
  });
}

/** Two texts side by side under a title of ours. */
export async function showDiff(title: EditorText, before: vscode.Uri, after: vscode.Uri): Promise<void> {
  await vscode.commands.executeCommand('vscode.diff', before, after, title, { preview: true });
}
