/**
 * The server's life: the environment it runs in, start, restart after a crash, stop. Everything is said over its stdio
 * by vscode-languageclient; what is said is desk.ts's and settings.ts's.
 *
 * INVARIANT (quiet before trust): the server is started with `python -I` in our own storage folder, so neither the
 * workspace's modules nor PYTHON* variables decide what code runs.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import type { CancellationToken, CompletionItem, LogOutputChannel, MarkdownString, MarkedString } from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type Message,
  RevealOutputChannelOn,
  type MessageTransports,
  State,
  type Executable,
} from 'vscode-languageclient/node';

import { findPython, prepareEnvironment, previousEnvironment, SetupProblem, type World } from './environment.ts';
import type { EditorModels } from './editorModels.ts';
import type { EditorTools } from './editorTools.ts';
import { type EditorText, editorText, type Texts } from './editorText.ts';
import {
  asServerError,
  plainError,
  defined,
  type Link,
  type LinkState,
  type Notifications,
  type Requests,
  ServerError,
  type Told,
  DISCONNECTED,
} from './link.ts';
import { inertMarkdown, neutralized } from './serverText.ts';
import type * as wire from './wire.gen.ts';
import type { MethodName } from './wire.gen.ts';
import { misfit } from './wire.schema.gen.ts';

export interface ServerHost extends Texts {
  /** Shows work under way; `report` says which step. */
  showWork<T>(title: EditorText, work: (report: (step: EditorText) => void) => Promise<T>): Promise<T>;
  /** An error message with buttons, where the view does not show it already; gives the one pressed. */
  complain(message: EditorText, ...buttons: EditorText[]): Promise<string | undefined>;
  showLog(): void;
  /** Settings of the machine; a workspace cannot set them. */
  chosen(): { interpreter: string | undefined; serverPath: string | undefined };
  /** Folders whose programs are never started. */
  workspaceFolders(): string[];
  initializationOptions(): wire.InitializationOptions;
  storage: string;
  extensionPath: string;
  version: string;
  log: LogOutputChannel;
}

export interface ServerEvents {
  /** A connection stands; everything is to be asked anew. */
  connected(): void;
  stateChanged(state: LinkState, message?: string): void;
  told: { [M in keyof Told]: (params: Told[M]) => void };
  updateSetting(params: wire.SettingsUpdateParams): Promise<wire.SettingsUpdateResult>;
  readSecret(params: wire.SecretReadParams): Promise<wire.SecretReadResult>;
  editorModels: EditorModels;
  editorTools: EditorTools;
}

export interface Server extends Link {
  /** Whether it can be started without making its environment first, which takes a minute and the network. */
  isPrepared(): Promise<boolean>;
  start(): Promise<void>;
  /** Stops what runs, forgets its crashes and starts anew. */
  restart(): Promise<void>;
  /** Comes back when the server has gone, after seven seconds at the latest. */
  stop(): Promise<void>;
}

/** Four times in three minutes; after that something is wrong that starting again does not mend. */
const RESTARTS = 4;
const RESTART_WINDOW = 3 * 60 * 1000;
/** Where rules are written: the server tells problems there, explains on hover and completes. It passes over all others. */
const SETTINGS_FILES = [
  { scheme: 'file', pattern: '**/.vscode/settings.json' },
  { scheme: 'file', pattern: '**/*.code-workspace' },
  { scheme: 'vscode-userdata', pattern: '**/settings.json' },
  { scheme: 'file', pattern: '**/countersign.countersign/**/rules.json' },
  { scheme: 'file', pattern: '**/{countersign,Countersign}/settings.json' },
];

/** The server promises to be gone within five seconds. */
const STOP_TIMEOUT = 6000;

/** A program that is named by its path is looked for first: to start it five times would say less. */
async function mustBeThere(program: string): Promise<void> {
  if (!program.includes(path.sep)) return;
  await fs.access(program, fs.constants.X_OK).catch(() => {
    throw new SetupProblem('noServer', `there is no program at ${program}; correct or remove countersign.serverPath`);
  });
}

export function createServer(host: ServerHost, events: ServerEvents): Server {
  let client: QuietClient | undefined;
  let state: LinkState = 'stopped';
  let crashes: number[] = [];
  /** Why it is being started, where a person should know; it stands on the screen until the server runs. */
  let why: string | undefined;
  // One start or stop at a time, in the order they were asked for.
  let queue: Promise<void> = Promise.resolve();

  const enqueue = (work: () => Promise<void>): Promise<void> => (queue = queue.then(work, work));

  function changeState(next: LinkState, message?: string): void {
    state = next;
    events.stateChanged(next, message);
  }

  async function start(): Promise<void> {
    if (client) return;
    changeState('starting', why);
    let program: Executable;
    try {
      program = await locate();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      host.log.error(message);
      return giveUp(message, error instanceof SetupProblem ? host.t('Retry') : host.t('Restart Server'));
    }
    host.log.info(`starting ${program.command} ${(program.args ?? []).join(' ')}`);
    const made = new QuietClient('countersign', 'Countersign', program, {
      documentSelector: SETTINGS_FILES,
      markdown: { isTrusted: false, supportHtml: false },
      middleware: {
        provideHover: async (document, position, token, next) => {
          const hover = await next(document, position, token);
          hover?.contents.forEach(inertContent);
          return hover;
        },
        provideCompletionItem: async (document, position, context, token, next) => {
          const found = await next(document, position, context, token);
          for (const item of (Array.isArray(found) ? found : found?.items) ?? []) inertCompletion(item);
          return found;
        },
        resolveCompletionItem: async (item, token, next) => {
          const resolved = await next(item, token);
          if (resolved) inertCompletion(resolved);
          return resolved;
        },
        // The server has no document of its own to show.
        window: { showDocument: async () => ({ success: false }) },
      },
      outputChannel: host.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: () => host.initializationOptions(),
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed() {
          crashed(made);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    });
    made.fromServer = host.fromServer;
    made.readSecret = async (params) => (fits('secret/read', params) ? events.readSecret(params) : {});
    client = made;
    listen(made);
    await made.start().catch((error: unknown) => {
      const { message } = asServerError(error);
      host.log.error(message);
      crashed(made);
    });
  }

  /** What a person decides by must be whole; a chat from a newer server may hold things we do not know and pass over. */
  function fits(method: MethodName, params: unknown): boolean {
    const place = misfit(method, 'params', params);
    if (place === undefined) return true;
    host.log.error(`${method} does not fit its type at ${place}`);
    return method === 'thread/update';
  }

  /** Starts anew, unless it crashes again and again. What it said of it is in the log. */
  function crashed(ended: LanguageClient): void {
    if (client !== ended) return;
    client = undefined;
    const now = Date.now();
    crashes = [...crashes.filter((at) => now - at < RESTART_WINDOW), now];
    if (crashes.length > RESTARTS) {
      const message = host.t('The server stopped five times in three minutes; agents wait until it runs again.');
      return giveUp(message, host.t('Restart Server'));
    }
    why = host.t('The server stopped; it is being started again.');
    changeState('starting', why);
    void enqueue(start);
  }

  function listen(made: LanguageClient): void {
    made.onDidChangeState(({ newState }) => {
      if (client !== made) return;
      if (newState === State.Starting) changeState('starting', why);
      if (newState === State.Running) {
        why = undefined;
        changeState('running');
        events.connected();
      }
    });
    for (const method of Object.keys(events.told) as (keyof Told)[]) {
      const hear = events.told[method] as (params: unknown) => void;
      made.onNotification(method, (params: unknown) => {
        if (fits(method, params)) hear(params);
      });
    }
    made.onRequest('lm/list', () => events.editorModels.list());
    made.onRequest('lm/chat', (params: wire.LmChatParams, token: CancellationToken) =>
      fits('lm/chat', params)
        ? events.editorModels.chat(params, (part) => made.sendNotification('lm/part', part), token)
        : { parts: 0, reason: 'the request does not fit its type' },
    );
    for (const method of Object.keys(events.editorTools) as (keyof EditorTools)[]) {
      const answer = events.editorTools[method] as (params: unknown) => Promise<unknown>;
      made.onRequest(method, (params: unknown) => {
        if (!fits(method, params)) throw new Error('the request does not fit its type');
        return answer(params);
      });
    }
    made.onRequest('settings/update', (params: wire.SettingsUpdateParams) =>
      fits('settings/update', params)
        ? events.updateSetting(params)
        : { applied: false, reason: 'the request does not fit its type' },
    );
  }

  function giveUp(message: string, again: EditorText): void {
    why = undefined;
    changeState('stopped', message);
    void host.complain(host.t('Countersign: {0}', editorText(message)), again).then((pressed) => {
      if (pressed === again) return restart();
      return undefined;
    });
  }

  async function stop(): Promise<void> {
    const stopping = client;
    client = undefined;
    if (!stopping) return;
    await stopping
      .stop(STOP_TIMEOUT)
      .catch((error: unknown) => host.log.warn(`stopping: ${asServerError(error).message}`));
    changeState('stopped');
  }

  function restart(): Promise<void> {
    crashes = [];
    return enqueue(async () => {
      await stop();
      await start();
    });
  }

  async function locate(): Promise<Executable> {
    const { interpreter, serverPath } = host.chosen();
    await fs.mkdir(host.storage, { recursive: true });
    const options = { cwd: host.storage, env: cleaned(process.env) };
    if (serverPath) {
      await mustBeThere(serverPath);
      // A Python of its own environment, for those who work on the server, or the `countersign` program.
      const isPython = /^python[\d.]*(\.exe)?$/i.test(path.basename(serverPath));
      return { command: serverPath, args: isPython ? pythonArgs() : ['serve'], options };
    }
    const command = await privatePython(interpreter);
    return { command, args: pythonArgs(), options };
  }

  async function privatePython(interpreter: string | undefined): Promise<string> {
    const world = nodeWorld(host.log);
    const forbidden = host.workspaceFolders();
    const wanted = { storage: host.storage, carried: path.join(host.extensionPath, 'server'), version: host.version };
    try {
      return await host.showWork(host.t('Countersign: preparing the server'), async (report) => {
        const python = await findPython(world, interpreter, forbidden, host.storage);
        const tell = (step: string): void => {
          report(editorText(step));
          changeState('starting', host.t('Preparing the server: {0}', step));
        };
        return prepareEnvironment(world, python, forbidden, { ...wanted, report: tell });
      });
    } catch (error) {
      const previous = await previousEnvironment(world, host.storage);
      if (!previous || !(error instanceof SetupProblem)) throw error;
      host.log.error(error.message);
      void host
        .complain(host.t('Countersign runs the previous version of its server: {0}', error.message), host.t('Show Log'))
        .then((pressed) => pressed && host.showLog());
      return previous;
    }
  }

  return {
    get state() {
      return state;
    },
    isPrepared: async () =>
      Boolean(host.chosen().serverPath) || (await previousEnvironment(nodeWorld(host.log), host.storage)) !== undefined,
    start: () => enqueue(start),
    restart,
    stop: () => enqueue(stop),
    async request<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]> {
      if (!client || state !== 'running')
        throw new ServerError(host.t('the server is not running; restart it first'), DISCONNECTED);
      try {
        return await client.sendRequest<Requests[M][1]>(method, client.withheld(method, defined(params)));
      } catch (error) {
        host.log.warn(`${method}: ${asServerError(error).message}`);
        throw plainError(error, host.t);
      }
    },
    notify<M extends keyof Notifications>(method: M, params: Notifications[M]): void {
      if (client && state === 'running')
        void client
          .sendNotification(method, params)
          .catch((error: unknown) => host.log.warn(asServerError(error).message));
    },
  };
}

/**
 * Says in the log what went wrong; what a person should see of it, this module tells them. What the server itself has the
 * editor show is neutralized as it is read. A question for a key is answered here, and what a person entered into the form
 * of an agent is put in here, below the client, which would write either into its trace.
 */
class QuietClient extends LanguageClient {
  readSecret?: (params: wire.SecretReadParams) => Promise<wire.SecretReadResult>;
  fromServer?: (text: string) => string;
  /** Values of forms on their way, by the object that stands for them above. */
  private readonly entered = new WeakMap<object, Record<string, unknown>>();

  /** The params of a request, with a stand-in for what must not be traced. */
  withheld(method: string, params: object): object {
    const { content } = params as Partial<wire.ElicitationRespondParams>;
    if (method !== 'elicitation/respond' || content === undefined) return params;
    const standIn = { ...params, content: {} };
    this.entered.set(standIn, content);
    return standIn;
  }

  /** The message as it is written. */
  private whole(message: Message): Message {
    const params: unknown = (message as Partial<{ params: unknown }>).params;
    const content = typeof params === 'object' && params !== null ? this.entered.get(params) : undefined;
    return content === undefined ? message : ({ ...message, params: { ...(params as object), content } } as Message);
  }

  protected override async createMessageTransports(encoding: string): Promise<MessageTransports> {
    const transports = await super.createMessageTransports(encoding);
    const { reader, writer } = transports;
    return {
      ...transports,
      writer: {
        onError: writer.onError,
        onClose: writer.onClose,
        write: (message) => writer.write(this.whole(message)),
        end: () => writer.end(),
        dispose: () => writer.dispose(),
      },
      reader: {
        onError: reader.onError,
        onClose: reader.onClose,
        onPartialMessage: reader.onPartialMessage,
        listen: (hear) =>
          reader.listen((message) => {
            const question = asSecretQuestion(message);
            if (!question) return hear(neutralized(message, this.fromServer));
            const refused = { code: -32603, message: 'the secret storage cannot be read' };
            void this.readSecret?.(question.params)
              .then(
                (result) => ({ result }),
                () => ({ error: refused }),
              )
              .then((answer) => writer.write({ jsonrpc: '2.0', id: question.id, ...answer } as unknown as Message))
              .catch((error: unknown) => this.warn(asServerError(error).message));
          }),
        dispose: () => reader.dispose(),
      },
    };
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override info(message: string, data?: unknown): void {
    super.info(message, data, false);
  }
}

function asSecretQuestion(message: Message): { id: string | number; params: wire.SecretReadParams } | undefined {
  const request = message as Partial<{ id: string | number; method: string; params: wire.SecretReadParams }>;
  if (request.method !== 'secret/read' || request.id === undefined || request.params === undefined) return undefined;
  return { id: request.id, params: request.params };
}

/** A hover's content is a Markdown string, or a plain one in an old form. */
function inertContent(content: MarkedString | MarkdownString): void {
  if (typeof content === 'object' && !('language' in content)) inertMarkdown(content);
}

function inertCompletion(item: CompletionItem): void {
  if (typeof item.documentation === 'object') inertMarkdown(item.documentation);
  item.detail &&= editorText(item.detail);
  item.command = undefined;
}

function pythonArgs(): string[] {
  return ['-I', '-X', 'utf8', '-m', 'countersign', 'serve'];
}

/**
 * Without what the editor put there for itself, and what would change which code a Python runs; the server filters again
 * what agents and commands get.
 */
export function cleaned(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) =>
        !/^(VSCODE_|ELECTRON_|PYTHONPATH$|PYTHONHOME$|PYTHONSTARTUP$|VIRTUAL_ENV$|__PYVENV_LAUNCHER__$)/.test(name),
    ),
  );
}

/** Long enough for a slow download; a set-up that hangs for ever would never offer a retry. */
const RUN_TIMEOUT = 10 * 60 * 1000;

export function nodeWorld(log: Pick<LogOutputChannel, 'info'>): World {
  return {
    env: process.env,
    platform: process.platform,
    log: (line) => log.info(line),
    run: (command, args, cwd) =>
      new Promise((resolve) => {
        const child = spawn(command, [...args], {
          cwd,
          env: cleaned(process.env),
          stdio: ['ignore', 'pipe', 'pipe'],
          timeout: RUN_TIMEOUT,
        });
        let stdout = '';
        let stderr = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
        child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
        child.on('error', (error) => resolve({ code: -1, stdout, stderr: error.message }));
        child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
      }),
  };
}
