/**
 * What the webview may ask of the extension: this list, in these shapes, and nothing else. A message that fits none is
 * dropped. None of them can widen anything by itself: what does is asked again in a native modal (desk.ts, rules.ts).
 */
import { MOST_IMAGE } from './imageSizes.ts';
import type { Mode } from './wire.gen.ts';

type Check<T> = (value: unknown) => value is T;

const text: Check<string> = (value): value is string => typeof value === 'string' && value.length <= 8 * 1024 * 1024;
const count: Check<number> = (value): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const flag: Check<boolean> = (value): value is boolean => typeof value === 'boolean';
const textOrFlag: Check<string | boolean> = (value): value is string | boolean => flag(value) || text(value);
const mode: Check<Mode> = oneOf('plan', 'ask', 'default', 'acceptEdits', 'auto', 'dontAsk');

/** Base64 of an image, as large as the server takes one. */
const imageData: Check<string> = (value): value is string =>
  typeof value === 'string' && value.length <= MOST_IMAGE && /^[A-Za-z0-9+/]+={0,2}$/.test(value);

/** The values of a form by name, none of them nested deeper than a list of texts. */
const formValues: Check<Record<string, string | number | boolean | string[]>> = (
  value,
): value is Record<string, string | number | boolean | string[]> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length <= 1000 &&
  Object.values(value).every(
    (one) => text(one) || flag(one) || (typeof one === 'number' && Number.isFinite(one)) || listOf(text)(one),
  );

/** The card an answer is for, as it stands on the screen. */
const card = { approvalId: text, digest: text };

const SHAPES = {
  ready: {},
  /** This webview has the focus now. */
  focused: {},
  prompt: {
    threadId: optional(text),
    text,
    agentName: optional(text),
    mode: optional(mode),
    /** Ids of what the extension attached. */
    attachments: optional(listOf(text)),
  },
  attachSelection: {},
  attachFile: { path: text, line: optional(count) },
  attachImage: { name: text, mimeType: text, data: imageData },
  /** What was attached is taken away again. */
  detach: { id: text },
  complete: { text },
  queueRemove: { threadId: text, id: text },
  queueSend: { threadId: text, id: text },
  stop: { threadId: text },
  openThread: { threadId: text },
  deleteThread: { threadId: text },
  renameThread: { threadId: text, title: text },
  searchThreads: { text },
  exportThread: { threadId: text },
  threads: {},
  setMode: { threadId: optional(text), mode },
  setOption: { threadId: text, option: text, value: textOrFlag },
  setModel: { agentName: text, model: text },
  answer: {
    ...card,
    optionId: text,
    rule: optional(text),
    reason: optional(text),
    editedInput: optional(text),
    stop: optional(flag),
  },
  bypass: { ...card },
  batch: { cards: listOf(shaped(card)), decision: oneOf('allow_once', 'reject_once'), reason: optional(text) },
  postpone: { approvalId: text, postponed: flag },
  questionSubmit: { elicitationId: text, content: formValues },
  /** Opens the URL that the server gave, and tells the agent so. */
  questionOpen: { elicitationId: text },
  questionRefuse: { elicitationId: text, action: oneOf('decline', 'cancel') },
  openDiff: { approvalId: text },
  openFile: { path: text, line: optional(count) },
  openLink: { href: text },
  history: {
    text: optional(text),
    threadId: optional(text),
    toolCallId: optional(text),
    cursor: optional(text),
    agentName: optional(text),
    verdict: optional(oneOf('allow', 'ask', 'deny')),
    since: optional(text),
  },
  /** Figures over the rows that the history page shows. */
  historyStats: {
    text: optional(text),
    agentName: optional(text),
    verdict: optional(oneOf('allow', 'ask', 'deny')),
    since: optional(text),
  },
  exportHistory: {},
  newLedgerChain: {},
  undo: { receiptId: text },
  shells: {},
  shellOutput: { shellId: text, from: count },
  shellKill: { shellId: text },
  shellToBackground: { toolCallId: text },
  rules: {},
  proposals: {},
  proposalAdd: { rule: text, scope: oneOf('workspace', 'user') },
  ruleAdd: { list: oneOf('allow', 'ask', 'deny'), rule: text, scope: oneOf('workspace', 'user') },
  ruleRemove: { ruleId: text },
  grantRevoke: { grantId: text },
  takeBack: { toolCallId: text },
  agentAdd: {},
  /** A hosted agent's own sessions, one of which becomes a chat; without a name the person picks the agent. */
  agentSessions: { agentName: optional(text) },
  forkThread: { threadId: text },
  /** The agent of a chat without messages opens its session, so that its options are known. */
  beginThread: { threadId: optional(text), agentName: optional(text), mode: optional(mode) },
  agentLogin: { agentName: text, threadId: optional(text) },
  loginLink: { agentName: text, methodId: text },
  agentRestart: { agentName: text },
  labelReset: { agentName: text },
  agentProbe: { agentName: text },
  bypassStart: { agentName: text },
  bypassEnd: { agentName: text },
  passVariable: { name: text },
  keep: { text },
  focusEditor: {},
  copy: { text },
  insert: { text },
  openSettings: {},
  showLog: {},
  restartServer: {},
} as const;

type Shape = Record<string, Check<unknown>>;
type Checked<C> = C extends Check<infer T> ? T : never;
type OptionalKeys<S extends Shape> = { [K in keyof S]: undefined extends Checked<S[K]> ? K : never }[keyof S];
type Fields<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: Checked<S[K]> } & {
  [K in OptionalKeys<S>]?: Checked<S[K]>;
};

export type IntentType = keyof typeof SHAPES;
export type IntentOf<K extends IntentType> = { type: K } & Fields<(typeof SHAPES)[K]>;
export type Intent = { [K in IntentType]: IntentOf<K> }[IntentType];

/** The message as an intent, holding the fields of its shape and no others; undefined if it is none. */
export function asIntent(message: unknown): Intent | undefined {
  if (typeof message !== 'object' || message === null || !('type' in message)) return undefined;
  const type = message.type;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) return undefined;
  const fields = picked(SHAPES[type as IntentType], message);
  return fields && ({ type, ...fields } as Intent);
}

function picked(shape: Shape, value: object): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(shape)) {
    const field: unknown = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
    if (!check(field)) return undefined;
    if (field !== undefined) fields[name] = field;
  }
  return fields;
}

function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

function oneOf<const T extends string>(...words: readonly T[]): Check<T> {
  return (value): value is T => typeof value === 'string' && (words as readonly string[]).includes(value);
}

function listOf<T>(check: Check<T>): Check<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.length <= 1000 && value.every(check);
}

function shaped<S extends Shape>(shape: S): Check<Fields<S>> {
  return (value): value is Fields<S> =>
    typeof value === 'object' && value !== null && picked(shape, value) !== undefined;
}
