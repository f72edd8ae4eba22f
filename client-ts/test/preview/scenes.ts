/** A stand-in for the editor round the webview: plays a scene, named in the address, and keeps what the webview posts. */
import type { ToWebview } from '../../src/messages.ts';
import {
  commandApproval,
  diffApproval,
  fetchApproval,
  hostApproval,
  outsideCommand,
  plainCommand,
  planApproval,
  question,
  snapshot,
  thread,
  threadOf,
  toolApproval,
} from '../fixtures.ts';

function made(
  approvals: ReturnType<typeof commandApproval>[],
  more: Partial<Extract<ToWebview, { type: 'snapshot' }>> = {},
): ToWebview {
  return snapshot({ approvals, ...more });
}

const opened: ToWebview = { type: 'threadOpened', thread: thread() };

const SCENES: Record<string, ToWebview[]> = {
  command: [made([commandApproval(), plainCommand(), fetchApproval()]), opened],
  plain: [made([plainCommand()]), opened],
  diff: [made([diffApproval()]), opened],
  fetch: [made([fetchApproval()]), opened],
  tool: [made([toolApproval()]), opened],
  plan: [made([planApproval()]), opened],
  question: [made([], { questions: [question()] }), opened],
  sandboxHost: [made([hostApproval()]), opened],
  sandboxOutside: [made([outsideCommand()]), opened],
  chat: [made([]), opened],
  messages: [
    made([], { queued: { 't-1': [{ id: 'q', text: 'and then write the changelog, please, in one line' }] } }),
    {
      type: 'threadOpened',
      thread: threadOf(
        [
          { type: 'prompt', text: 'Why does the parser fail?' },
          {
            type: 'text',
            text: 'It stops at the first tab, in src/parse.py:12:\n\n```python\ndef parse(text):  # one line\n    return text.split("\\t", 1)[0]\n```\n\n- [x] find it\n- [ ] mend it\n\n| file | lines |\n|---|---|\n| `src/parse.py` | 12 |\n',
          },
          { type: 'usage', inputTokens: 12_400, outputTokens: 310 },
        ],
        { running: true },
      ),
    },
  ],
  chats: [
    made([], {
      threads: [
        {
          threadId: 'a',
          title: 'Fix the failing test and clean the build',
          agentName: 'Claude Code',
          mode: 'default',
          updatedAt: '2026-11-20T10:00:00Z',
          waiting: 2,
          state: 'waiting',
        },
        {
          threadId: 'b',
          title: 'Write the changelog',
          agentName: 'Countersign',
          mode: 'default',
          updatedAt: '2026-11-20T09:00:00Z',
          waiting: 0,
          state: 'working',
        },
        {
          threadId: 'c',
          title: 'Rename the parser',
          agentName: 'Gemini',
          mode: 'plan',
          updatedAt: '2026-11-19T09:00:00Z',
          waiting: 0,
          state: 'failed',
        },
        {
          threadId: 'd',
          title: 'Look around',
          agentName: 'Countersign',
          mode: 'default',
          updatedAt: '2026-11-18T09:00:00Z',
          waiting: 0,
          state: 'done',
        },
      ],
    }),
    { type: 'show', page: 'chats' },
  ],
  welcome: [
    made([], {
      threads: [],
      trusted: false,
      suggestions: [{ kind: 'build' }, { kind: 'tests' }, { kind: 'readme', file: 'README.md' }],
    }),
  ],
  stopped: [
    made([], {
      connection: {
        state: 'stopped',
        message: 'no Python was found; install Python 3.11 or newer, or set countersign.interpreter',
      },
    }),
    opened,
  ],
  review: [
    made([commandApproval(), plainCommand(), diffApproval(), fetchApproval()]),
    opened,
    { type: 'show', page: 'review' },
  ],
  hidden: [
    made([
      plainCommand({
        preview: {
          kind: 'command',
          command: 'echo hi \u202Egpj.exe\u202C\u200B && ls\u00A0-la',
          cwd: '/home/me/proj',
          parts: [],
        },
      }),
    ]),
    opened,
  ],
  long: [
    made([
      plainCommand({
        preview: {
          kind: 'command',
          command: Array.from({ length: 60 }, (_, index) => `echo line ${index} of a long script`).join('\n'),
          cwd: '/home/me/proj',
          parts: [],
        },
      }),
    ]),
    opened,
  ],
  history: [
    made([]),
    opened,
    { type: 'show', page: 'history' },
    {
      type: 'history',
      entries: [
        {
          receiptId: 'r-3',
          seq: 7,
          at: '2026-11-20T10:02:00Z',
          phase: 'finished',
          threadId: 't-1',
          agentName: 'Countersign',
          toolCallId: 'c-3',
          tool: 'write_file',
          input: { path: 'notes/deep.md', content: 'some words' },
          verdict: 'allow',
          by: 'user',
          evidence: [{ source: 'default', reason: 'no rule matches, and mode default asks before changing files' }],
          digest: '70d31a199f9f429d7c9ea8f7e7510f7e3be479f8dd6dcebee4a6208d55cefc38',
          outcome: {
            ended: 'done',
            durationMs: 5,
            operation: 'create',
            path: '/home/me/proj/notes/deep.md',
            bytes: 10,
            sha256Before: null,
          },
        },
        {
          receiptId: 'r-2',
          seq: 4,
          at: '2026-11-20T10:01:00Z',
          phase: 'finished',
          threadId: 't-1',
          agentName: 'Countersign',
          toolCallId: 'c-1',
          tool: 'shell',
          input: { command: 'pytest -q' },
          verdict: 'allow',
          by: 'rule',
          evidence: [
            {
              source: 'rule',
              rule: 'Bash(pytest:*)',
              file: '/home/me/proj/.vscode/settings.json',
              line: 4,
              reason: 'an allow rule matches',
            },
          ],
          digest: 'sha256:1234',
          outcome: { exitCode: 0, durationMs: 1200 },
        },
        {
          receiptId: 'r-1',
          seq: 2,
          at: '2026-11-20T10:00:00Z',
          phase: 'decided',
          threadId: 't-1',
          agentName: 'Claude Code',
          toolCallId: 'c-2',
          tool: 'write_file',
          input: { path: 'src/a.py' },
          verdict: 'deny',
          by: 'user',
          evidence: [],
          digest: 'sha256:5678',
        },
      ],
    },
  ],
  attached: [
    made([]),
    opened,
    { type: 'attached', attachment: { id: '1', path: 'src/parse.py', startLine: 3, endLine: 17 } },
    { type: 'attached', attachment: { id: '2', path: 'src/a/folder/of/a/longer/name/than/most/settings.py' } },
    { type: 'openPlace', place: { path: 'src/parse.py', startLine: 20, endLine: 21 } },
    {
      type: 'completions',
      text: 'par',
      found: [
        { name: 'parse.py', path: '/home/me/proj/src/parse.py' },
        { name: 'partition.ts', path: '/home/me/proj/src/a/folder/of/a/longer/name/than/most/partition.ts' },
        { name: 'parse', path: '/home/me/proj/src/parse.py', line: 13 },
      ],
    },
  ],
  shells: [
    made([]),
    opened,
    { type: 'show', page: 'shells' },
    {
      type: 'shells',
      shells: [
        {
          shellId: 's-1',
          toolCallId: 'c-1',
          threadId: 't-1',
          command: 'npm run dev -- --port 3000',
          state: 'running',
          background: true,
        },
        {
          shellId: 's-2',
          toolCallId: 'c-2',
          threadId: 't-1',
          command: 'make build',
          state: 'exited',
          exitCode: 2,
          background: false,
        },
      ],
    },
  ],
  rules: [
    made([]),
    opened,
    { type: 'show', page: 'rules' },
    {
      type: 'rules',
      calls: 1200,
      since: '2026-10-30',
      rules: [
        {
          ruleId: '1',
          list: 'deny',
          rule: 'Bash(rm -rf *)',
          scope: 'user',
          file: '/home/me/.config/Code/User/settings.json',
          line: 12,
          hits: 3,
          lastUsed: '2026-11-20T09:00:00Z',
        },
        {
          ruleId: '2',
          list: 'allow',
          rule: 'Bash(npm run test:*)',
          scope: 'workspace',
          file: '/home/me/proj/.vscode/settings.json',
          line: 4,
          hits: 0,
          idle: { days: 21, calls: 432 },
        },
        {
          ruleId: '3',
          list: 'allow',
          rule: 'Bash(*)',
          scope: 'user',
          hits: 1,
          problem: 'allows every command: too broad to be honest',
        },
      ],
      grants: [
        {
          grantId: 'g',
          rule: 'Edit(./src/parse.py)',
          scope: 'timed',
          agentName: 'Countersign',
          expiresAt: new Date(Date.now() + 9.5 * 60_000).toISOString(),
        },
      ],
    },
    {
      type: 'proposals',
      found: {
        looked: 120,
        most: 1000,
        unjudged: 4,
        since: '2026-10-30T07:00:00Z',
        proposals: [
          {
            rule: 'Bash(npm run test:*)',
            scopes: ['workspace', 'user'],
            spared: 7,
            since: '2026-11-03T08:00:00Z',
            last: '2026-11-20T09:15:00Z',
            examples: ['npm run test', 'npm run test -- --watch'],
            agents: ['Claude', 'Countersign'],
          },
        ],
      },
    },
  ],
};

const posted: unknown[] = [];
const scene = new URL(location.href).searchParams.get('scene') ?? 'command';

Object.assign(window, {
  posted,
  acquireVsCodeApi: () => ({
    getState: () => undefined,
    setState: () => undefined,
    postMessage(message: { type: string }) {
      posted.push(message);
      if (message.type === 'ready')
        for (const said of (window as { given?: ToWebview[] }).given ?? SCENES[scene] ?? [])
          window.postMessage(said, '*');
    },
  }),
});
