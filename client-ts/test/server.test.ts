/** The server's life as a person sees it: started, started again when it dies, and at some point no more, with a button. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createTexts } from '../src/editorText.ts';
import { type LinkState, plainError } from '../src/link.ts';
import { createServer, type Server, type ServerEvents, type ServerHost } from '../src/server.ts';

const { State, FakeClient } = vi.hoisted(() => {
  const states = { Stopped: 1, Running: 2, Starting: 3 } as const;
  /** A connection to a server that lives and dies when the test says so. */
  class Fake {
    static made: Fake[] = [];
    /** What the next connections come to: the error that `initialize` is answered with. */
    static failure: Error | undefined;
    sent: string[] = [];
    stopped = false;
    private changed: (change: { newState: number }) => void = () => undefined;

    constructor(
      _id: string,
      _name: string,
      readonly program: { command: string; args: string[]; options: { cwd: string; env: NodeJS.ProcessEnv } },
      readonly options: { errorHandler: { closed(): { action: number } } },
    ) {
      Fake.made.push(this);
    }
    onDidChangeState(listener: (change: { newState: number }) => void): void {
      this.changed = listener;
    }
    onNotification(): void {}
    readonly answers = new Map<string, (params: unknown) => unknown>();
    onRequest(method: string, answer: (params: unknown) => unknown): void {
      this.answers.set(method, answer);
    }
    async start(): Promise<void> {
      this.changed({ newState: states.Starting });
      if (Fake.failure) throw Fake.failure;
      this.changed({ newState: states.Running });
    }
    async stop(): Promise<void> {
      this.stopped = true;
      this.die();
    }
    async sendRequest(method: string): Promise<string> {
      this.sent.push(method);
      return 'answer';
    }
    async sendNotification(method: string): Promise<void> {
      this.sent.push(method);
    }
    /** The process is gone. */
    die(): void {
      this.options.errorHandler.closed();
    }
  }
  return { State: states, FakeClient: Fake };
});
vi.mock('vscode-languageclient/node', () => ({
  State,
  LanguageClient: FakeClient,
  CloseAction: { DoNotRestart: 1 },
  ErrorAction: { Continue: 1 },
  RevealOutputChannelOn: { Never: 4 },
}));

let storage: string;
let serverPath: string;
let states: [LinkState, string | undefined][];
let complaints: { message: string; buttons: string[]; press(button: string | undefined): void }[];
let connected: number;
let now: number;
let logged: string[];
let server: Server;

beforeEach(() => {
  storage = mkdtempSync(path.join(tmpdir(), 'cs-server-'));
  serverPath = path.join(storage, 'countersign');
  writeFileSync(serverPath, '', { mode: 0o755 });
  [states, complaints, connected, now, logged] = [[], [], 0, 1_000_000, []];
  FakeClient.made = [];
  FakeClient.failure = undefined;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  const quiet = (): void => undefined;
  const host = {
    ...createTexts((message) => message),
    showWork: async <T>(_title: string, work: (report: (step: string) => void) => Promise<T>) => work(quiet),
    complain: async (message: string, ...buttons: string[]) =>
      new Promise<string | undefined>((press) => complaints.push({ message, buttons, press })),
    showLog: quiet,
    chosen: () => ({ interpreter: undefined, serverPath }),
    workspaceFolders: () => [],
    initializationOptions: () => ({ trusted: true, client: {} }),
    storage,
    extensionPath: storage,
    version: '0.0.0',
    log: { info: quiet, warn: quiet, error: (line: string) => void logged.push(line) },
  } as unknown as ServerHost;
  const events = {
    connected: () => void connected++,
    stateChanged: (state: LinkState, message?: string) => void states.push([state, message]),
    told: {},
    updateSetting: async () => ({ applied: true }),
    editorTools: { 'editor/references': async ({ name }: { name: string }) => ({ references: [], reason: name }) },
  } as unknown as ServerEvents;
  server = createServer(host, events);
});
afterEach(() => rmSync(storage, { recursive: true, force: true }));

const latest = (): InstanceType<typeof FakeClient> => FakeClient.made.at(-1)!;

/** The process dies; comes back once the next one, if there is to be one, stands. */
async function die(times = 1): Promise<void> {
  for (let count = 0; count < times; count++) {
    latest().die();
    // Starting queues behind what is under way; so does this.
    await server.start();
  }
}

/** The fifth death, after which nothing is started by itself. */
async function dieForGood(): Promise<void> {
  await die(4);
  latest().die();
  await vi.waitFor(() => expect(complaints).toHaveLength(1));
}

it('is prepared where a program is chosen, or an environment was made before', async () => {
  expect(await server.isPrepared()).toBe(true);
  serverPath = '';
  expect(await server.isPrepared()).toBe(false);
  mkdirSync(path.join(storage, 'python', '1.0.0-cp311-x'), { recursive: true });
  expect(await server.isPrepared()).toBe(true);
});

describe('a server that dies', () => {
  beforeEach(() => server.start());

  it('is started again, and everything is asked anew', async () => {
    await die();
    expect(FakeClient.made).toHaveLength(2);
    expect([server.state, connected]).toEqual(['running', 2]);
    const restarting = states.slice(states.findIndex(([state]) => state === 'running') + 1, -1);
    // Said for as long as it takes, not only until the first step of the start.
    expect(new Set(restarting.map(([state, message]) => `${state}: ${message}`))).toEqual(
      new Set(['starting: The server stopped; it is being started again.']),
    );
    expect(states.at(-1)).toEqual(['running', undefined]);
    await server.request('thread/list', {});
    expect(latest().sent).toEqual(['thread/list']);
  });

  it('four times in three minutes, and the fifth time says so with a button', async () => {
    await dieForGood();
    expect(FakeClient.made).toHaveLength(5);
    expect([server.state, connected]).toEqual(['stopped', 5]);
    expect(complaints[0]?.buttons).toEqual(['Restart Server']);
    expect(complaints[0]?.message).toContain('five times in three minutes');
    expect(states.at(-1)).toEqual(['stopped', expect.stringContaining('agents wait until it runs again')]);
  });

  it('is started by the button, and may die four times again', async () => {
    await dieForGood();
    complaints[0]?.press('Restart Server');
    await vi.waitFor(() => expect(server.state).toBe('running'));
    await die(4);
    expect([server.state, FakeClient.made.length, complaints.length]).toEqual(['running', 10, 1]);
  });

  it('stays down when the complaint is only closed', async () => {
    await dieForGood();
    complaints[0]?.press(undefined);
    await Promise.resolve();
    expect([server.state, FakeClient.made.length]).toEqual(['stopped', 5]);
  });

  it('now and then is always started again', async () => {
    for (let count = 0; count < 12; count++) {
      await die();
      now += 60_000;
    }
    expect([server.state, complaints]).toEqual(['running', []]);
  });

  it('takes nobody with it who asks meanwhile: they are told, and told what to do', async () => {
    await dieForGood();
    await expect(server.request('thread/list', {})).rejects.toMatchObject({
      message: 'the server is not running; restart it first',
    });
    server.notify('thread/cancel', { threadId: 't' });
    expect(latest().sent).toEqual([]);
  });
});

describe('a server that cannot start', () => {
  it('is tried five times in all; what it says is in the log, and a person gets one sentence', async () => {
    FakeClient.failure = new Error('the initialization options do not fit');
    void server.start();
    await vi.waitFor(() => expect(complaints).toHaveLength(1));
    expect([server.state, connected, FakeClient.made.length]).toEqual(['stopped', 0, 5]);
    expect(complaints[0]?.message).toBe(
      'Countersign: The server stopped five times in three minutes; agents wait until it runs again.',
    );
    expect(logged).toContain('the initialization options do not fit');
  });

  it('works by the button once the cause is mended', async () => {
    FakeClient.failure = new Error('broken');
    void server.start();
    await vi.waitFor(() => expect(complaints).toHaveLength(1));
    FakeClient.failure = undefined;
    complaints[0]?.press('Restart Server');
    await vi.waitFor(() => expect([server.state, connected]).toEqual(['running', 1]));
  });
});

describe('a server that is ended', () => {
  beforeEach(() => server.start());

  it('by us has not crashed: nothing is started, nothing is said', async () => {
    await server.stop();
    expect([server.state, FakeClient.made.length, latest().stopped, complaints]).toEqual(['stopped', 1, true, []]);
  });

  it('by a restart is followed by one other, and its late end changes nothing', async () => {
    const first = latest();
    await server.restart();
    first.die();
    await server.start();
    expect([server.state, FakeClient.made.length, connected]).toEqual(['running', 2, 2]);
  });
});

it('is started in our own folder, with nothing of the editor in its environment', async () => {
  vi.stubEnv('VSCODE_PID', '1');
  vi.stubEnv('PYTHONPATH', '/somewhere');
  await server.start();
  const { command, args, options } = latest().program;
  expect([command, args, options.cwd]).toEqual([serverPath, ['serve'], storage]);
  expect(Object.keys(options.env).filter((name) => /^(VSCODE_|PYTHONPATH$)/.test(name))).toEqual([]);
  vi.unstubAllEnvs();
});

it('says where no server is, and starts none', async () => {
  rmSync(serverPath);
  await server.start();
  expect([server.state, FakeClient.made]).toEqual(['stopped', []]);
  expect(complaints.at(-1)?.message).toContain(`there is no program at ${serverPath}`);
  expect(complaints.at(-1)?.buttons).toEqual(['Retry']);
});

describe('an error reaches a person in plain words', () => {
  const protocol = (message: string, code: number, data?: unknown): Error =>
    Object.assign(new Error(message), { code, ...(data !== undefined && { data }) });
  const gone = 'The server stopped before it answered.';
  const refused = 'The server could not carry this out; its log says why.';
  it.each<[string, unknown, string]>([
    ['closed', protocol('Pending response rejected since connection got disposed', -32097), gone],
    ['not there', protocol('Connection is inactive', -32096), gone],
    ['not written', protocol('write EPIPE', -32099), gone],
    ['not read', protocol('Header must provide a Content-Length property.', -32098), gone],
    ['thrown by the client', new Error('Client is not running and can\u2019t be stopped.'), gone],
    ['no error at all', 'x', gone],
    ['unknown method', protocol('Unhandled method thread/queue', -32601), refused],
    ['wrong params', protocol('Input should be a valid string', -32602), refused],
    ['a fault of ours', protocol('Request thread/open failed', -32603), refused],
    [
      'refused by the server',
      protocol('the file changed since', -32803, { kind: 'conflict' }),
      'the file changed since',
    ],
    [
      'told with its kind',
      protocol('the model is not there', -32000, { kind: 'modelError' }),
      'the model is not there',
    ],
  ])('%s', (_, error, expected) => {
    expect(plainError(error, (message) => message).message).toBe(expected);
  });
});

it('a question for the editor is answered where it fits its type', async () => {
  await server.start();
  const answer = latest().answers.get('editor/references')!;
  expect(await answer({ path: '/w/a', line: 1, name: 'door' })).toEqual({ references: [], reason: 'door' });
  expect(() => answer({ path: '/w/a', line: 'one', name: 'door' })).toThrow(/does not fit/);
});
