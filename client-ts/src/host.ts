/**
 * The editor, as far as we use it. The only module that imports `vscode` values; the others are handed what stands here
 * and so can be tested without an editor. Each function does one thing to the editor and decides nothing.
 */
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import type { Question } from './approvals.ts';
import type { SettingsFile } from './settings.ts';
import type * as wire from './wire.gen.ts';

export type Host = ReturnType<typeof createHost>;

const SECTION = 'countersign';
const PROPOSED = 'countersign-proposed';
/** A setting edited on disk takes the editor up to a third of a second; two seconds is a very busy machine. */
const SETTINGS_READ_TIMEOUT = 2000;

export function createHost(context: vscode.ExtensionContext) {
  const log = vscode.window.createOutputChannel('Countersign', { log: true });
  const proposals = createProposals();
  const status = vscode.window.createStatusBarItem('countersign.status', vscode.StatusBarAlignment.Right, 100);
  status.name = 'Countersign';
  let ourSave: string | undefined;
  context.subscriptions.push(log, status, vscode.workspace.registerTextDocumentContentProvider(PROPOSED, proposals));

  const configuration = () => vscode.workspace.getConfiguration(SECTION, vscode.workspace.workspaceFolders?.[0]?.uri);

  return {
    log,
    t: (message: string, ...values: (string | number)[]): string => vscode.l10n.t(message, ...values),
    version: (context.extension.packageJSON as { version: string }).version,
    extensionPath: context.extensionPath,
    extensionUri: context.extensionUri,
    storage: context.globalStorageUri.fsPath,
    /** Where ledger and chats of this workspace lie. */
    workspaceStorage: (context.storageUri ?? context.globalStorageUri).fsPath,

    // Being asked and told

    async confirm({ message, detail, button }: Question): Promise<boolean> {
      return (await vscode.window.showWarningMessage(message, { modal: true, detail }, button)) === button;
    },
    /** The button that changes nothing comes first, since it is the one that Enter presses. */
    async askAbout(message: string, detail: string): Promise<'accept' | 'ignore' | 'later'> {
      const ignore = vscode.l10n.t('Keep Ignoring');
      const accept = vscode.l10n.t('Accept');
      const pressed = await vscode.window.showWarningMessage(message, { modal: true, detail }, ignore, accept);
      return pressed === accept ? 'accept' : pressed === ignore ? 'ignore' : 'later';
    },
    /** Gives the button pressed; undefined if it was closed. */
    async choose(message: string, detail: string, ...buttons: string[]): Promise<string | undefined> {
      return vscode.window.showWarningMessage(message, { modal: true, detail }, ...buttons);
    },
    async notify(message: string, ...buttons: string[]): Promise<string | undefined> {
      return vscode.window.showInformationMessage(message, ...buttons);
    },
    async complain(message: string, ...buttons: string[]): Promise<string | undefined> {
      return vscode.window.showErrorMessage(message, ...buttons);
    },
    tell(level: 'info' | 'warning' | 'error', message: string): void {
      const show = { info: vscode.window.showInformationMessage, warning: vscode.window.showWarningMessage, error: vscode.window.showErrorMessage }[level];
      void show(`Countersign: ${message}`);
    },
    async pick<T extends { label: string; description?: string; detail?: string }>(items: T[], placeHolder: string): Promise<T | undefined> {
      return vscode.window.showQuickPick(items, { placeHolder, ignoreFocusOut: true });
    },
    withProgress<T>(title: string, work: (report: (step: string) => void) => Promise<T>): Promise<T> {
      // Not a toast: those cover the very corner where the chat is.
      const options = { location: vscode.ProgressLocation.Window, title };
      return Promise.resolve(vscode.window.withProgress(options, (progress) => work((step) => progress.report({ message: step }))));
    },
    showStatus(text: string, tooltip: string, command: string, urgent: boolean): void {
      status.text = text;
      status.tooltip = tooltip;
      status.command = command;
      status.accessibilityInformation = { label: tooltip, role: 'button' };
      status.backgroundColor = urgent ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
      status.show();
    },
    showLog: (): void => log.show(),

    // Files and links

    async openFile(file: string, line?: number): Promise<void> {
      const uri = vscode.Uri.file(path.isAbsolute(file) ? file : path.join(folders()[0] ?? os.homedir(), file));
      const selection = line === undefined ? undefined : new vscode.Range(Math.max(0, line - 1), 0, Math.max(0, line - 1), 0);
      await vscode.window.showTextDocument(uri, { selection, preview: true });
    },
    async openDiff(title: string, file: string, oldText: string, newText: string): Promise<void> {
      await vscode.commands.executeCommand('vscode.diff', proposals.add(file, oldText), proposals.add(file, newText), title, { preview: true });
    },
    async openLink(href: string): Promise<void> {
      const uri = vscode.Uri.parse(href, true);
      if (uri.scheme === 'http' || uri.scheme === 'https') await vscode.env.openExternal(uri);
    },
    selection(): wire.Attachment | undefined {
      const editor = vscode.window.activeTextEditor;
      if (!editor || editor.document.uri.scheme !== 'file') return undefined;
      const { selection, document } = editor;
      if (selection.isEmpty) return { path: document.uri.fsPath };
      return { path: document.uri.fsPath, text: document.getText(selection), startLine: selection.start.line + 1, endLine: selection.end.line + 1 };
    },

    // What is kept

    recall: (key: string): boolean => context.workspaceState.get(key) === true,
    remember: (key: string): void => void context.workspaceState.update(key, true),

    // Settings and trust

    trusted: (): boolean => vscode.workspace.isTrusted,
    workspaceFolders: folders,
    chosen() {
      const text = (key: string): string | undefined => configuration().get<string>(key)?.trim() || undefined;
      return { interpreter: text('interpreter'), serverPath: text('serverPath') };
    },
    notifications: (): string => configuration().get<string>('notifications', 'away'),
    layers(): wire.SettingsLayers {
      const found = vscode.workspace.getConfiguration(undefined, vscode.workspace.workspaceFolders?.[0]?.uri).inspect<Record<string, unknown>>(SECTION);
      return {
        ...(found?.defaultValue && { default: plain(found.defaultValue) }),
        user: plain(found?.globalValue ?? {}),
        workspace: plain(found?.workspaceValue ?? {}),
        ...(found?.workspaceFolderValue && isMultiRoot() && { folder: plain(found.workspaceFolderValue) }),
      };
    },
    /** Folders that are ours or the editor's own: user settings and profiles, a remote machine's, storage, the extension. */
    ownPaths(): string[] {
      const global = context.globalStorageUri.fsPath;
      const user = path.dirname(path.dirname(global));
      const machine = path.join(path.dirname(user), 'Machine');
      return [global, user, machine, context.extensionPath, context.logUri.fsPath, ...(context.storageUri ? [context.storageUri.fsPath] : [])];
    },
    async writeSetting(layer: 'user' | 'workspace', setting: string, value: unknown): Promise<void> {
      const target = layer === 'user' ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
      await configuration().update(setting, value, target);
    },
    async workspaceFile(): Promise<SettingsFile | undefined> {
      const folder = vscode.workspace.workspaceFolders?.[0];
      if (!folder || isMultiRoot()) return undefined;
      const uri = vscode.Uri.joinPath(folder.uri, '.vscode', 'settings.json');
      await vscode.workspace.fs.stat(uri).then(undefined, () => vscode.workspace.fs.writeFile(uri, new Uint8Array()));
      const document = await vscode.workspace.openTextDocument(uri);
      return {
        text: document.getText(),
        dirty: document.isDirty,
        async change(changes) {
          const edit = new vscode.WorkspaceEdit();
          for (const { offset, length, text } of changes) {
            edit.replace(uri, new vscode.Range(document.positionAt(offset), document.positionAt(offset + length)), text);
          }
          ourSave = uri.toString();
          try {
            return (await vscode.workspace.applyEdit(edit)) && (await document.save());
          } finally {
            ourSave = undefined;
          }
        },
      };
    },
    settingsRead(): Promise<void> {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          listening.dispose();
          resolve();
        };
        const timer = setTimeout(done, SETTINGS_READ_TIMEOUT);
        const listening = vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && done());
      });
    },
    models() {
      const models = Object.keys(configuration().get<Record<string, unknown>>('models', {}));
      const agents = configuration().get<Record<string, { model?: string }>>('agents', {});
      const modelOf = Object.entries(agents).flatMap(([name, agent]) => (typeof agent?.model === 'string' ? [[name, agent.model] as const] : []));
      return { models, modelOf: Object.fromEntries(modelOf) };
    },
    async setModel(agentName: string, model: string): Promise<void> {
      const agents = configuration().inspect<Record<string, object>>('agents')?.globalValue ?? {};
      await configuration().update('agents', { ...agents, [agentName]: { ...agents[agentName], model } }, vscode.ConfigurationTarget.Global);
    },
    surroundings() {
      return {
        trusted: vscode.workspace.isTrusted,
        workspace: folders()[0],
        home: os.homedir(),
        mac: process.platform === 'darwin',
        strings: strings(),
      };
    },
    openSettings: (): void => void vscode.commands.executeCommand('workbench.action.openSettings', '@ext:countersign.countersign'),

    // Listening

    onSettingsChanged: (listener: () => void) => vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && listener()),
    onTrusted: (listener: () => void) => vscode.workspace.onDidGrantWorkspaceTrust(listener),
    onWindowFocus: (listener: (focused: boolean) => void) => vscode.window.onDidChangeWindowState((state) => listener(state.focused)),
    windowFocused: (): boolean => vscode.window.state.focused,
    onCommand: (name: string, run: (...args: unknown[]) => unknown) => vscode.commands.registerCommand(name, run),
    run: (command: string, ...args: unknown[]): void => void vscode.commands.executeCommand(command, ...args),
    setContext: (key: string, value: unknown): void => void vscode.commands.executeCommand('setContext', key, value),
    registerView: (id: string, provider: vscode.WebviewViewProvider) => vscode.window.registerWebviewViewProvider(id, provider, { webviewOptions: { retainContextWhenHidden: true } }),
    fileUri: (...parts: string[]): vscode.Uri => vscode.Uri.joinPath(context.extensionUri, ...parts),
    /** What happens to the workspace's settings file in this window; see confirmations.ts. */
    watchSettingsFile(watch: { loaded(file: string, text: string): void; savedByHand(file: string, text: string): void; savedOtherwise(file: string, text: string): void; closed(file: string): void }): vscode.Disposable {
      return watchSettingsFile(watch, (uri) => uri === ourSave);
    },
  };
}

/** `.vscode/settings.json` and `.code-workspace` files: where a workspace's own settings stand. */
function isSettingsFile(document: vscode.TextDocument): boolean {
  return document.uri.scheme === 'file' && /[\\/]\.vscode[\\/]settings\.json$|\.code-workspace$/.test(document.uri.fsPath);
}

function watchSettingsFile(
  watch: { loaded(file: string, text: string): void; savedByHand(file: string, text: string): void; savedOtherwise(file: string, text: string): void; closed(file: string): void },
  isOurs: (uri: string) => boolean,
): vscode.Disposable {
  const reasons = new Map<string, vscode.TextDocumentSaveReason>();
  const load = (document: vscode.TextDocument): void => {
    if (isSettingsFile(document) && !document.isDirty) watch.loaded(document.uri.fsPath, document.getText());
  };
  vscode.workspace.textDocuments.forEach(load);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument(load),
    // Clean after a change: the editor took the text from disk, by reloading or by reverting.
    vscode.workspace.onDidChangeTextDocument(({ document }) => load(document)),
    vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
      if (isSettingsFile(document)) reasons.set(document.uri.toString(), isOurs(document.uri.toString()) ? vscode.TextDocumentSaveReason.AfterDelay : reason);
    }),
    vscode.workspace.onDidSaveTextDocument((document) => {
      if (!isSettingsFile(document)) return;
      const byHand = reasons.get(document.uri.toString()) === vscode.TextDocumentSaveReason.Manual;
      reasons.delete(document.uri.toString());
      (byHand ? watch.savedByHand : watch.savedOtherwise)(document.uri.fsPath, document.getText());
    }),
    vscode.workspace.onDidCloseTextDocument((document) => isSettingsFile(document) && watch.closed(document.uri.fsPath)),
  );
}

/** Texts for *Open diff*: shown, never written. */
function createProposals(): vscode.TextDocumentContentProvider & { add(file: string, text: string): vscode.Uri } {
  const texts = new Map<string, string>();
  let last = 0;
  return {
    add(file, text) {
      const id = String(++last);
      texts.set(id, text);
      // The last twenty diffs can be gone back to; older ones would only hold memory.
      texts.delete(String(last - 40));
      return vscode.Uri.from({ scheme: PROPOSED, path: path.posix.join('/', file.replaceAll('\\', '/')), query: id });
    },
    provideTextDocumentContent: (uri) => texts.get(uri.query) ?? '',
  };
}

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file').map((folder) => folder.uri.fsPath);
}

function isMultiRoot(): boolean {
  return vscode.workspace.workspaceFile !== undefined;
}

/** The editor hands out proxies; what goes over the wire is plain JSON. */
function plain(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}

function strings(): Record<string, string> {
  const bundle = vscode.l10n.bundle ?? {};
  return Object.fromEntries(Object.entries(bundle).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
