/**
 * A receipt of the history in a person's words: what a call was given, how it ended and what decided it. Names that have no
 * words, such as those of another agent's tools, stay as they are.
 */
import type * as wire from '../src/wire.gen.ts';
import { t } from './l10n.ts';
import { durationWords, resolvedWords, trackingWords } from './words.ts';

export type Fact = [name: string, value: string];
type Shorten = (path: string) => string;

/** Parts of one field that are shown separately, such as the edits of one call. */
const PARTS = 100;

/** What a call was given, each field by its name in words. */
export function inputFacts(input: unknown): Fact[] {
  if (!isRecord(input)) return input === undefined || input === null ? [] : [[t('Input'), plainly(input)]];
  return Object.entries(input).flatMap(([name, value]) => field(fieldWords(name), value));
}

function field(name: string, value: unknown): Fact[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value) && value.length > 0 && value.length <= PARTS && value.every(isRecord))
    return value.flatMap((part, index) =>
      Object.entries(part).map(([inner, one]): Fact => [`${name} ${index + 1}, ${fieldWords(inner)}`, plainly(one)]),
    );
  return [[name, plainly(value)]];
}

function fieldWords(name: string): string {
  const words: Record<string, string> = {
    path: t('File'),
    file_path: t('File'),
    filePath: t('File'),
    to: t('Moved to'),
    content: t('Content'),
    contents: t('Content'),
    edits: t('Replacement'),
    old_text: t('Text before'),
    old_string: t('Text before'),
    oldString: t('Text before'),
    new_text: t('Text after'),
    new_string: t('Text after'),
    newString: t('Text after'),
    offset: t('First line'),
    limit: t('Most lines'),
    pattern: t('Pattern'),
    query: t('Query'),
    command: t('Command'),
    description: t('Description'),
    timeout: t('Timeout'),
    cwd: t('Folder'),
    shell: t('Shell'),
    background: t('In the background'),
    outside_sandbox: t('Outside the sandbox, because'),
    shell_id: t('Running command'),
    from: t('From byte'),
    text: t('Text'),
    items: t('Tasks'),
    status: t('State'),
    url: t('Address'),
    prompt: t('Prompt'),
    plan: t('Plan'),
    receiptId: t('Of receipt'),
  };
  return Object.hasOwn(words, name) ? words[name]! : name;
}

/** What the history says of how a call ended. */
export function outcomeFacts(outcome: Record<string, unknown>, shorten: Shorten): Fact[] {
  const known = outcomeWords(shorten);
  return Object.entries(outcome)
    .filter(([name, value]) => value !== null && !(value === false && ONLY_IF_TRUE.has(name)))
    .map(([name, value]) => {
      const [words, say] = Object.hasOwn(known, name) ? known[name]! : [name, plainly];
      return [words, say(value)];
    });
}

const ONLY_IF_TRUE: ReadonlySet<string> = new Set(['background', 'timedOut']);

function outcomeWords(shorten: Shorten): Record<string, [string, (value: unknown) => string]> {
  const took = (value: unknown): string =>
    typeof value === 'number' ? durationWords(value) || t('{0} ms', value) : plainly(value);
  const place = (value: unknown): string => (typeof value === 'string' ? shorten(value) : plainly(value));
  return {
    ended: [t('Ended'), endWords],
    state: [t('State'), stateWords],
    note: [t('Note'), plainly],
    model: [t('Model'), plainly],
    durationMs: [t('Took'), took],
    waitedMs: [t('Waited'), took],
    expiresAt: [t('Would expire'), plainly],
    exitCode: [t('Exit code'), plainly],
    timedOut: [t('Timed out'), plainly],
    background: [t('In the background'), plainly],
    shellId: [t('Running command'), plainly],
    sandbox: [t('Sandbox'), sandboxWords],
    withheld: [t('Variables kept back'), listed],
    ran: [t('What ran'), plainly],
    ranDigest: [t('SHA-256 of what ran'), plainly],
    argumentsDigest: [t('SHA-256 of the input'), plainly],
    processTracking: [t('Processes'), (value) => trackingWords(plainly(value))],
    operation: [t('Kind of change'), operationWords],
    of: [t('Of receipt'), plainly],
    path: [t('File'), place],
    to: [t('Moved to'), place],
    url: [t('Address'), plainly],
    status: [t('HTTP status'), plainly],
    bytes: [t('Bytes'), plainly],
    entries: [t('Entries'), plainly],
    matches: [t('Matches'), plainly],
    files: [t('Files'), plainly],
    places: [t('Places'), plainly],
    items: [t('Tasks'), plainly],
    newProblems: [t('New problems'), plainly],
    mode: [t('File mode'), (value) => (typeof value === 'number' ? value.toString(8) : plainly(value))],
    sha256: [t('SHA-256'), plainly],
    sha256Before: [t('SHA-256 before'), plainly],
    sha256After: [t('SHA-256 after'), plainly],
    beforeKept: [t('Content before'), (value) => (value === false ? t('not kept') : plainly(value))],
    left: [t('Left behind'), plainly],
    certain: [t('Made by this agent'), (value) => (value === false ? t('not certain') : plainly(value))],
  };
}

function endWords(value: unknown): string {
  const words: Record<string, string> = {
    done: t('done'),
    failed: t('failed'),
    cancelled: t('cancelled'),
    interrupted: t('interrupted'),
  };
  return inWords(words, value);
}

/** Of a request, or of a command. */
function stateWords(value: unknown): string {
  const requests: wire.ApprovalResolved['state'][] = ['allowed', 'denied', 'cancelled', 'expired', 'interrupted'];
  const request = requests.find((state) => state === value);
  if (request) return resolvedWords({ approvalId: '', threadId: '', state: request, by: 'user' });
  const words: Record<string, string> = {
    running: t('running'),
    exited: t('ended by itself'),
    killed: t('was ended'),
    unknown: t('unknown'),
    'nothing done': t('nothing was done'),
  };
  return inWords(words, value);
}

function operationWords(value: unknown): string {
  const words: Record<string, string> = {
    create: t('a new file'),
    edit: t('edited'),
    delete: t('deleted'),
    move: t('moved'),
    undo: t('taken back'),
  };
  return inWords(words, value);
}

function sandboxWords(value: unknown): string {
  if (!isRecord(value)) return plainly(value);
  const refused = listed(value['refusedHosts'] ?? []);
  return [
    value['mode'] === 'readOnly' ? t('read-only sandbox') : t('sandboxed'),
    refused && t('refused hosts: {0}', refused),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What kind of thing decided, where its reason does not say that by itself. */
export function sourceWords(source: wire.Source): string {
  switch (source) {
    case 'floor':
      return t('Safety floor:');
    case 'hook':
      return t('Hook:');
    default:
      return '';
  }
}

function inWords(words: Record<string, string>, value: unknown): string {
  return typeof value === 'string' && Object.hasOwn(words, value) ? words[value]! : plainly(value);
}

function listed(value: unknown): string {
  return Array.isArray(value) ? value.map(plainly).join(', ') : plainly(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainly(value: unknown): string {
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
