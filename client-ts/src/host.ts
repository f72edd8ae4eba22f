/**
 * The editor, as far as we use it. The modules at the editor's boundary import `vscode` values; the others are handed what stands here
 * and so can be tested without an editor. Each function does one thing to the editor and decides nothing. Surfaces that
 * show text are editorWindow.ts's; files of settings are settingsFiles.ts's.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import type { Question } from './approvals.ts';
import { CHAT_VIEW } from './asker.ts';
import { createTexts, type DialogText, type EditorText, editorText, ownText, type SafeButton } from './editorText.ts';
import {
  createStatus,
  type PickItem,
  type Severity,
  showMessage,
  showModal,
  showPick,
  showPickMany,
  showProgress,
  showSecretForm,
  showTextForm,
  showTab,
  showTerminal,
  untilTerminalCloses,
} from './editorWindow.ts';
import { TAB_TYPE } from './panel.ts';
import { importPlaces, type Place } from './importPlaces.ts';
import { matchingFiles, matchingSymbols } from './completions.ts';
import type { QueuedPrompt } from './messages.ts';
import { networkOf } from './network.ts';
import { offeredModels, type SettingsFile } from './settings.ts';
import { type SettingsFileWatch, watchSettingsFiles } from './settingsFiles.ts';
import { createReasons, type ReasonTable } from './reasons.ts';
import { reveal } from './reveal.ts';
import { cleaned } from './server.ts';
import { MOST_NAMES, type Suggestion, suggestionsFor } from './suggestions.ts';
import { createSystemNotifier } from './systemNotifications.ts';
import type * as wire from './wire.gen.ts';

export type Host = ReturnType<typeof createHost>;

const SECTION = 'countersign';
/** A setting edited on disk takes the editor up to a third of a second; two seconds is a very busy machine. */
const SETTINGS_READ_TIMEOUT = 2000;
/** Bytes of a settings file that is looked into. */
const MOST_SETTINGS = 1 << 20;
/** Milliseconds that a selection stays as it is before it is offered. */
const PLACE_DELAY = 150;

export function createHost(context: vscode.ExtensionContext) {
  const log = inertLog(vscode.window.createOutputChannel('Countersign', { log: true }));
  const reasons = readReasons(context.extensionPath, vscode.env.language);
  const texts = createTexts((message) => vscode.l10n.t(message), createReasons(reasons ?? {}));
  const { t } = texts;
  const status = createStatus('countersign.status', ownText('Countersign'), 100);
  const bypassStatus = createStatus('countersign.bypassed', t('Countersign: bypass'), 101);
  const files = watchSettingsFiles();
  const systemNotifier = createSystemNotifier({
    platform: process.platform,
    environment: process.env,
    remote: vscode.env.remoteName !== undefined,
    browser: vscode.env.uiKind === vscode.UIKind.Web,
  });
  context.subscriptions.push(log, status, bypassStatus, files, systemNotifier);

  const configuration = () => vscode.workspace.getConfiguration(SECTION, vscode.workspace.workspaceFolders?.[0]?.uri);

  return {
    log,
    ...texts,
    version: (context.extension.packageJSON as { version: string }).version,
    extensionPath: context.extensionPath,
    extensionUri: context.extensionUri,
    storage: context.globalStorageUri.fsPath,
    /** Where ledger and chats of this workspace lie. */
    workspaceStorage: (context.storageUri ?? context.globalStorageUri).fsPath,

    // Being asked and told

    async confirm({ message, detail, button }: Question): Promise<boolean> {
      return (await showModal(message, detail, texts.safeButton('changeNothing'), button)) === button;
    },
    /** Gives the button pressed; undefined if it was closed. Enter presses the safe one. */
    async choose(
      message: EditorText,
      detail: DialogText,
      safe: SafeButton,
      ...acting: EditorText[]
    ): Promise<string | undefined> {
      return showModal(message, detail, safe, ...acting);
    },
    async notify(message: EditorText, ...buttons: EditorText[]): Promise<string | undefined> {
      return showMessage('info', message, ...buttons);
    },
    async complain(message: EditorText, ...buttons: EditorText[]): Promise<string | undefined> {
      return showMessage('error', message, ...buttons);
    },
    tell(severity: Severity, message: EditorText): void {
      void showMessage(severity, t('Countersign: {0}', message));
    },
    async pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined> {
      return showPick(items, placeHolder);
    },
    async chooseFile(): Promise<string | undefined> {
      return (await vscode.window.showOpenDialog({ canSelectMany: false }))?.[0]?.fsPath;
    },
    async filesToImport(): Promise<{ product: string; path: string }[]> {
      const userFolder = path.dirname(path.dirname(context.globalStorageUri.fsPath));
      const places = importPlaces({
        workspace: folders()[0],
        home: os.homedir(),
        userFolder,
        environment: process.env,
      });
      return (await Promise.all(places.map(filesOf))).flat();
    },
    async pickMany<T extends PickItem & { picked: boolean }>(
      items: T[],
      placeHolder: EditorText,
    ): Promise<T[] | undefined> {
      return showPickMany(items, placeHolder);
    },
    async askSecret(title: EditorText, prompt: EditorText): Promise<string | undefined> {
      return showSecretForm(title, prompt);
    },
    async askText(title: EditorText, prompt: EditorText): Promise<string | undefined> {
      return showTextForm(title, prompt);
    },
    showWork<T>(title: EditorText, work: (report: (step: EditorText) => void) => Promise<T>): Promise<T> {
      return Promise.resolve(showProgress(title, work));
    },
    showStatus(text: EditorText, tooltip: EditorText, command: string, urgent: boolean): void {
      status.show({ text, tooltip, command, urgent });
    },
    /** Stands beside the status as long as an agent acts without asking. */
    showBypass(text: EditorText | undefined, tooltip: EditorText, command: string): void {
      if (text === undefined) bypassStatus.hide();
      else bypassStatus.show({ text, tooltip, command, urgent: true });
    },
    showLog: (): void => log.show(),

    // Files and links

    async openFile(file: string, line?: number): Promise<void> {
      const uri = vscode.Uri.file(path.isAbsolute(file) ? file : path.join(folders()[0] ?? os.homedir(), file));
      const selection =
        line === undefined ? undefined : new vscode.Range(Math.max(0, line - 1), 0, Math.max(0, line - 1), 0);
      await vscode.window.showTextDocument(uri, { selection, preview: true });
    },
    async openLink(href: string): Promise<boolean> {
      const uri = vscode.Uri.parse(href, true);
      if (uri.scheme !== 'http' && uri.scheme !== 'https') return false;
      // As text: a Uri is written anew with other escapes, which is another address than the person saw.
      return vscode.env.openExternal(href as unknown as vscode.Uri);
    },
    selection(): wire.Attachment | undefined {
      const editor = vscode.window.activeTextEditor;
      if (!editor || editor.document.uri.scheme !== 'file') return undefined;
      const { selection, document } = editor;
      if (selection.isEmpty) return { path: document.uri.fsPath };
      return {
        path: document.uri.fsPath,
        text: document.getText(selection),
        startLine: selection.start.line + 1,
        endLine: selection.end.line + 1,
      };
    },

    matchingFiles,
    matchingSymbols,

    // What is kept

    readSecret: async (name: string): Promise<string | undefined> => context.secrets.get(name),
    storeSecret: async (name: string, value: string): Promise<void> => context.secrets.store(name, value),
    deleteSecret: async (name: string): Promise<void> => context.secrets.delete(name),

    recall: (key: string): boolean => context.workspaceState.get(key) === true,
    remember: (key: string): void => void context.workspaceState.update(key, true),
    keptView: (view: string): string | undefined => context.workspaceState.get<string>(keptKey(view)),
    keepView: (text: string | undefined, view: string): void => void context.workspaceState.update(keptKey(view), text),
    keptPrompts: (): unknown => context.workspaceState.get('countersign.queuedPrompts'),
    keepPrompts: (queued: Record<string, QueuedPrompt[]>): void =>
      void context.workspaceState.update('countersign.queuedPrompts', queued),
    ledgerAnchor: (): wire.LedgerHead | undefined =>
      context.globalState.get(`countersign.ledgerAnchor:${(context.storageUri ?? context.globalStorageUri).fsPath}`),
    keepLedgerAnchor: (head: wire.LedgerHead): void =>
      void context.globalState.update(
        `countersign.ledgerAnchor:${(context.storageUri ?? context.globalStorageUri).fsPath}`,
        head,
      ),

    // Settings and trust

    trusted: (): boolean => vscode.workspace.isTrusted,
    workspaceFolders: folders,
    chosen() {
      const text = (key: string): string | undefined => configuration().get<string>(key)?.trim() || undefined;
      return { interpreter: text('interpreter'), serverPath: text('serverPath') };
    },
    notifications: (): string => configuration().get<string>('notifications', 'away'),
    notificationSound: (): boolean => configuration().get<boolean>('notificationSound', false),
    systemNotifications: (): boolean => configuration().get<boolean>('systemNotifications', true),
    systemNotifier,
    /** What is open already comes to the front; the editor has no command for just that. */
    raiseWindow(): void {
      const open = vscode.workspace.workspaceFile ?? vscode.workspace.workspaceFolders?.[0]?.uri;
      if (vscode.env.uiKind === vscode.UIKind.Desktop && !vscode.env.remoteName && open?.scheme === 'file')
        void vscode.commands.executeCommand('vscode.openFolder', open);
    },
    layers(): wire.SettingsLayers {
      const found = vscode.workspace
        .getConfiguration(undefined, vscode.workspace.workspaceFolders?.[0]?.uri)
        .inspect<Record<string, unknown>>(SECTION);
      return {
        ...(found?.defaultValue && { default: plain(found.defaultValue) }),
        user: plain(found?.globalValue ?? {}),
        workspace: plain(found?.workspaceValue ?? {}),
        ...(found?.workspaceFolderValue && isMultiRoot() && { folder: plain(found.workspaceFolderValue) }),
      };
    },
    network(): wire.NetworkSettings {
      const http = vscode.workspace.getConfiguration('http');
      return networkOf((name) => http.inspect(name)?.globalValue);
    },
    /** The open `.code-workspace` file, which holds the workspace layer; none before it is first saved. */
    settingsFiles(): wire.SettingsFiles | undefined {
      const file = vscode.workspace.workspaceFile;
      return file && (file.scheme === 'file' ? { workspace: file.fsPath } : {});
    },
    /** Folders that are ours or the editor's own: user settings and profiles, a remote machine's, storage, the extension. */
    ownPaths(): string[] {
      const global = context.globalStorageUri.fsPath;
      const user = path.dirname(path.dirname(global));
      const machine = path.join(path.dirname(user), 'Machine');
      return [
        global,
        user,
        machine,
        context.extensionPath,
        context.logUri.fsPath,
        ...(context.storageUri ? [context.storageUri.fsPath] : []),
      ];
    },
    /** The ripgrep that the editor ships, where this version of it keeps one. */
    ripgrep(): string | undefined {
      const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
      const places = ['node_modules', 'node_modules.asar.unpacked'].flatMap((modules) => [
        path.join(vscode.env.appRoot, modules, '@vscode', 'ripgrep', 'bin', name),
        path.join(
          vscode.env.appRoot,
          modules,
          '@vscode',
          'ripgrep-universal',
          'bin',
          `${process.platform}-${process.arch}`,
          name,
        ),
      ]);
      return places.find((place) => fs.existsSync(place));
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
        async change({ offset, length, text }) {
          const edit = new vscode.WorkspaceEdit();
          edit.replace(uri, new vscode.Range(document.positionAt(offset), document.positionAt(offset + length)), text);
          return files.ours(uri, async () => (await vscode.workspace.applyEdit(edit)) && (await document.save()));
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
        const listening = vscode.workspace.onDidChangeConfiguration(
          (event) => event.affectsConfiguration(SECTION) && done(),
        );
      });
    },
    models() {
      const models = offeredModels(configuration().get<Record<string, unknown>>('models', {}));
      const agents = configuration().get<Record<string, { model?: string }>>('agents', {});
      const modelOf = Object.entries(agents).flatMap(([name, agent]) =>
        typeof agent?.model === 'string' ? [[name, agent.model] as const] : [],
      );
      return { models, modelOf: Object.fromEntries(modelOf) };
    },
    async setModel(agentName: string, model: string): Promise<void> {
      const agents = configuration().inspect<Record<string, object>>('agents')?.globalValue ?? {};
      await configuration().update(
        'agents',
        { ...agents, [agentName]: { ...agents[agentName], model } },
        vscode.ConfigurationTarget.Global,
      );
    },
    surroundings() {
      return {
        trusted: vscode.workspace.isTrusted,
        workspace: folders()[0],
        home: os.homedir(),
        mac: process.platform === 'darwin',
        strings: strings(),
        ...(reasons && { reasons }),
      };
    },
    suggestions: (): Suggestion[] => suggestionsFor(namesIn(folders()[0])),
    focusEditor: (): void => void vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup'),
    copy: async (text: string): Promise<void> => vscode.env.clipboard.writeText(text),
    async insert(text: string): Promise<void> {
      const editor = vscode.window.activeTextEditor;
      if (!editor) return this.tell('info', t('Open a file and put the cursor where the text is to go.'));
      await editor.edit((edit) => {
        for (const selection of editor.selections) edit.replace(selection, text);
      });
    },
    openTerminal: (name: EditorText, command: readonly string[]): void =>
      void showTerminal(name, command, context.globalStorageUri.fsPath, cleaned(process.env)),
    runInTerminal: (name: EditorText, command: readonly string[]): Promise<number | undefined> =>
      untilTerminalCloses(name, command, context.globalStorageUri.fsPath, cleaned(process.env)),
    openSettings: (): void =>
      void vscode.commands.executeCommand('workbench.action.openSettings', '@ext:countersign.countersign'),

    // Listening

    onSettingsChanged: (listener: () => void) =>
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && listener()),
    /** What a person changes on disk in the editor: saves, and files that are made, moved or deleted in its explorer. */
    onSaved: (listener: (paths: string[]) => void) => {
      const tell = (...uris: readonly vscode.Uri[]) => {
        const paths = uris.filter(({ scheme }) => scheme === 'file').map(({ fsPath }) => fsPath);
        if (paths.length > 0) listener(paths);
      };
      return vscode.Disposable.from(
        vscode.workspace.onDidSaveTextDocument(({ uri }) => tell(uri)),
        vscode.workspace.onDidSaveNotebookDocument(({ uri }) => tell(uri)),
        vscode.workspace.onDidCreateFiles(({ files }) => tell(...files)),
        vscode.workspace.onDidDeleteFiles(({ files }) => tell(...files)),
        vscode.workspace.onDidRenameFiles(({ files }) => tell(...files.flatMap((each) => [each.oldUri, each.newUri]))),
      );
    },
    /** Another file is open, or something else is selected; not for each step of a selection that grows. */
    onPlaceChanged(listener: () => void): vscode.Disposable {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const soon = (): void => {
        clearTimeout(timer);
        timer = setTimeout(listener, PLACE_DELAY);
      };
      return vscode.Disposable.from(
        vscode.window.onDidChangeActiveTextEditor(soon),
        vscode.window.onDidChangeTextEditorSelection(soon),
        { dispose: () => clearTimeout(timer) },
      );
    },
    onTrusted: (listener: () => void) => vscode.workspace.onDidGrantWorkspaceTrust(listener),
    onWindowFocus: (listener: (focused: boolean) => void) =>
      vscode.window.onDidChangeWindowState((state) => listener(state.focused)),
    windowFocused: (): boolean => vscode.window.state.focused,
    /** What goes wrong in a command is told by us: the editor would show the error's own words, links and all. */
    onCommand: (name: string, run: (resource?: unknown) => unknown) =>
      vscode.commands.registerCommand(name, async (resource?: unknown) => {
        try {
          await run(resource);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          log.error(`${name}: ${message}`);
          void showMessage('error', t('Countersign: {0}', editorText(texts.fromServer(message))));
        }
      }),
    run: (command: string, ...args: unknown[]): void => void vscode.commands.executeCommand(command, ...args),
    setContext: (key: string, value: unknown): void => void vscode.commands.executeCommand('setContext', key, value),
    registerView: (id: string, provider: vscode.WebviewViewProvider) =>
      vscode.window.registerWebviewViewProvider(id, provider, { webviewOptions: { retainContextWhenHidden: true } }),
    openTab: (title: EditorText): vscode.WebviewPanel => showTab(TAB_TYPE, title),
    /** Tabs of before a reload of the window. */
    onTabRestored: (listener: (tab: vscode.WebviewPanel, state: unknown) => void) =>
      vscode.window.registerWebviewPanelSerializer(TAB_TYPE, {
        deserializeWebviewPanel: async (tab, state: unknown) => listener(tab, state),
      }),
    // Where the editor is in a language that we have no texts for, they are in English.
    language: vscode.l10n.bundle === undefined ? 'en' : vscode.env.language,
    fileUri: (...parts: string[]): vscode.Uri => vscode.Uri.joinPath(context.extensionUri, ...parts),
    watchSettingsFile: (watch: SettingsFileWatch): vscode.Disposable => files.watch(watch),
  };
}

/** The log, with nothing in it that is hidden or drives a terminal: an agent's error output ends there. */
function inertLog(log: vscode.LogOutputChannel): vscode.LogOutputChannel {
  const inert = (value: unknown): unknown => (typeof value === 'string' ? reveal(value) : value);
  return new Proxy(log, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function'
        ? (...args: unknown[]) => (member as (...args: unknown[]) => unknown).apply(target, args.map(inert))
        : member;
    },
  });
}

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === 'file')
    .map((folder) => folder.uri.fsPath);
}

async function filesOf({ product, path: place, ending, holds }: Place): Promise<{ product: string; path: string }[]> {
  try {
    if (ending !== undefined) {
      const names = (await fs.promises.readdir(place)).filter((name) => name.endsWith(ending)).sort();
      return names.map((name) => ({ product, path: path.join(place, name) }));
    }
    const { size } = await fs.promises.stat(place);
    const held =
      holds === undefined || (size <= MOST_SETTINGS && (await fs.promises.readFile(place, 'utf8')).includes(holds));
    return held ? [{ product, path: place }] : [];
  } catch {
    return []; // it is not there
  }
}

/** Names in the workspace's folder, the first of very many. */
function namesIn(folder: string | undefined): string[] {
  const names: string[] = [];
  try {
    const open = folder === undefined ? undefined : fs.opendirSync(folder);
    for (let entry = open?.readSync(); entry && names.length < MOST_NAMES; entry = open?.readSync())
      names.push(entry.name);
    open?.closeSync();
  } catch {
    return []; // a folder that cannot be read suggests what an empty one does
  }
  return names.sort();
}

function keptKey(view: string): string {
  return view === CHAT_VIEW ? 'countersign.view' : `countersign.view:${view}`;
}

function isMultiRoot(): boolean {
  return vscode.workspace.workspaceFile !== undefined;
}

/** The editor hands out proxies; what goes over the wire is plain JSON. */
function plain(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}

/** Translations of the server's texts; none in English, and in a language that we have none for. */
function readReasons(extensionPath: string, language: string): ReasonTable | undefined {
  if (!/^[a-z]{2,3}(-[a-z]+)*$/i.test(language)) return undefined;
  const file = path.join(extensionPath, 'l10n', `reasons.${language}.json`);
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as ReasonTable) : undefined;
}

function strings(): Record<string, string> {
  const bundle = vscode.l10n.bundle ?? {};
  return Object.fromEntries(
    Object.entries(bundle).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
