/** How things are said: decisions, modes, times, paths. Text only; pure, but for the language chosen in l10n.ts. */
import { headline, subjectText } from '../src/subject.ts';
export { shortPath } from '../src/subject.ts';
import type { Kept } from '../src/kept.ts';
import type * as wire from '../src/wire.gen.ts';
import { fromServer, t } from './l10n.ts';

/** Of a command in a row of the chat, which has one line. */
const FACT_LIMIT = 600;

export function headlineOf(approval: wire.ApprovalRequest, shorten?: (path: string) => string): string {
  return headline(approval, t, shorten);
}

export function resolvedWords({ state, by }: wire.ApprovalResolved): string {
  switch (state) {
    case 'allowed':
      return by === 'user' ? t('allowed') : `${t('allowed')} ${byWords(by)}`;
    case 'denied':
      return by === 'user' ? t('denied') : `${t('denied')} ${byWords(by)}`;
    case 'cancelled':
      return t('cancelled');
    case 'expired':
      return t('timed out');
    case 'interrupted':
      return by === 'change' ? t('withdrawn, because it changed') : t('interrupted');
  }
}

/** What a request would do, in one line: the command, or the head of its card. */
export function factOf(approval: wire.ApprovalRequest): string {
  const { preview } = approval;
  return preview.kind === 'command' ? preview.command.slice(0, FACT_LIMIT) : headlineOf(approval).replace(/\?$/, '');
}

/** What ended without the person's answer: whose it was, what was asked, how it ended, and why. One line. */
export function endedWords(
  approval: wire.ApprovalRequest,
  resolved: wire.ApprovalResolved,
  say: (reason: string) => string = fromServer,
): string {
  const subject =
    approval.preview.kind === 'command'
      ? (subjectText(approval).split('\n', 1)[0] ?? '')
      : headlineOf(approval).replace(/\?$/, '');
  const what = `${approval.agentName}: ${subject.length > 80 ? `${subject.slice(0, 79)}…` : subject}`;
  const reason = resolved.reason?.replaceAll('\n', ' ');
  return [what, resolvedWords(resolved), reason && say(reason)].filter(Boolean).join(' · ');
}

/** What became of an agent's question. */
export function questionWords(state: wire.QuestionState): string {
  const words: Record<wire.QuestionState, string> = {
    waiting: t('waits for your answer'),
    answered: t('answered by you'),
    declined: t('declined by you'),
    dismissed: t('dismissed by you'),
    opened: t('opened by you'),
    completed: t('completed, the agent says'),
    cancelled: t('ended without an answer'),
  };
  return words[state] ?? state;
}

/** "by you", "by a rule": who or what decided. */
export function byWords(by: wire.DecidedBy): string {
  const words: Record<wire.DecidedBy, string> = {
    user: t('by you'),
    rule: t('by a rule'),
    grant: t('by your earlier answer'),
    mode: t('by the mode'),
    bypass: t('by bypass'),
    hook: t('by a hook'),
    floor: t('by a safety floor'),
    limit: t('by a limit'),
    timeout: t('because nobody answered'),
    cancel: t('because the turn was stopped'),
    change: t('because it changed'),
    agentExit: t('because the agent ended'),
    restart: t('because the server restarted'),
    nobody: t('because nobody could be asked'),
  };
  return words[by] ?? by;
}

export interface ModeWords {
  mode: wire.Mode;
  name: string;
  explanation: string;
  more: boolean;
}

export function modeWords(): ModeWords[] {
  return [
    { mode: 'plan', name: t('Plan'), explanation: t('Reads and proposes; changes nothing'), more: false },
    {
      mode: 'default',
      name: t('Default'),
      explanation: t('Reads in the workspace; asks before anything else'),
      more: false,
    },
    {
      mode: 'acceptEdits',
      name: t('Accept edits'),
      explanation: t('Edits files in the workspace; asks before commands and network'),
      more: false,
    },
    { mode: 'auto', name: t('Auto'), explanation: t('Does everything your rules do not stop'), more: false },
    { mode: 'ask', name: t('Ask every time'), explanation: t('Asks before every call, reading too'), more: true },
    { mode: 'dontAsk', name: t("Don't ask"), explanation: t('Never asks: what is not allowed is denied'), more: true },
  ];
}

export function modeName(mode: wire.Mode): string {
  return modeWords().find((words) => words.mode === mode)?.name ?? mode;
}

export function modeExplanation(mode: wire.Mode): string {
  return modeWords().find((words) => words.mode === mode)?.explanation ?? '';
}

export function labelWords(label: wire.AgentView['label']): string {
  const words: Record<wire.AgentView['label'], string> = {
    gated: t('gated: every call comes to this desk'),
    asksOnly: t('asks only: it decides itself what to ask about'),
    sandboxed: t('sandboxed: locked in by the operating system'),
    unguarded: t('unguarded: it acts without this desk'),
  };
  return words[label] ?? label;
}

/** The label alone; what it means is `labelWords`. */
export function labelName(label: wire.AgentView['label']): string {
  const words: Record<wire.AgentView['label'], string> = {
    gated: t('gated'),
    asksOnly: t('asks only'),
    sandboxed: t('sandboxed'),
    unguarded: t('unguarded'),
  };
  return words[label] ?? label;
}

export function scopeWords(scope: string): string {
  const words: Record<string, string> = {
    call: t('this call'),
    turn: t('this turn'),
    chat: t('this chat'),
    timed: t('15 minutes'),
    workspace: t('this workspace'),
    user: t('everywhere'),
    managed: t('your organisation'),
    default: t('built in'),
  };
  return words[scope] ?? scope;
}

/** What an answer left behind, before its rule. */
export function keptWords({ list, scope }: Kept): string {
  const words: Record<Kept['scope'], [string, string]> = {
    turn: [t('Allowed for this turn:'), t('Denied for this turn:')],
    chat: [t('Allowed for this chat:'), t('Denied for this chat:')],
    timed: [t('Allowed for 15 minutes:'), t('Denied for 15 minutes:')],
    workspace: [t('Always allowed in this workspace:'), t('Always denied in this workspace:')],
    user: [t('Always allowed everywhere:'), t('Always denied everywhere:')],
  };
  return words[scope][list === 'allow' ? 0 : 1];
}

/** What could outlive a command, where no control group ends its processes. */
export function trackingWords(tracking: string): string {
  const words: Record<string, string> = {
    subReaper: t(
      'A process that killed its supervisor and the server, too, would outlive the command: a sub-reaper ends its processes, not a control group.',
    ),
    processGroup: t(
      'A process that left its session and lost its parent would outlive the command: there is no control group and no sub-reaper here.',
    ),
  };
  return words[tracking] ?? tracking;
}

/** "0.4 s", "12 s", "3 min". */
export function durationWords(milliseconds: number): string {
  if (milliseconds < 100) return '';
  if (milliseconds < 10_000) return t('{0} s', (milliseconds / 1000).toFixed(1));
  if (milliseconds < 120_000) return t('{0} s', Math.round(milliseconds / 1000));
  return t('{0} min', Math.round(milliseconds / 60_000));
}

/** A moment as the person's clock shows it; with the day if it was another. */
export function timeWords(at: string, now: Date = new Date()): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  const time = clock.format(date);
  return date.toDateString() === now.toDateString() ? time : `${calendar.format(date)} ${time}`;
}

// Made once: making a formatter is slow, and the header tells the times of all chats with each word of an answer.
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const calendar = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** A day as the person's calendar shows it. */
export function dayWords(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? at
    : date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
}

/** How long something still counts: "14 min left", "40 s left"; empty once it is over. */
export function remainingWords(until: string, now: Date = new Date()): string {
  const seconds = Math.ceil((new Date(until).getTime() - now.getTime()) / 1000);
  if (Number.isNaN(seconds) || seconds <= 0) return '';
  return seconds < 60 ? t('{0} s left', seconds) : t('{0} min left', Math.ceil(seconds / 60));
}

/** What a rule would cover beside this call, in one sentence. */
export function ruleMeaning(rule: string): string {
  const parsed = /^(\w[\w*-]*)(?:\((.*)\))?$/s.exec(rule.trim());
  if (!parsed) return t('This does not look like a rule; it would be refused.');
  const [, tool = '', inside] = parsed;
  if (tool === 'Bash') return commandMeaning(inside);
  if (tool === 'Edit' || tool === 'Write')
    return inside === undefined ? t('Covers every change of any file.') : pathMeaning(inside, t('changes'));
  if (tool === 'Read') return inside === undefined ? t('Covers reading any file.') : pathMeaning(inside, t('reading'));
  if (tool === 'WebFetch')
    return inside === undefined
      ? t('Covers every address.')
      : t('Covers every page and every port of {0}.', inside.replace(/^domain:/, ''));
  if (tool.startsWith('mcp__'))
    return tool.split('__').length > 2 && !tool.endsWith('*')
      ? t('Covers this tool with any input.')
      : t('Covers every tool of this server, with any input.');
  if (tool === 'Agent') return t('Covers every call of this agent as a tool.');
  return inside === undefined ? t('Covers this tool with any input.') : t('Covers calls with this very argument.');
}

function commandMeaning(inside: string | undefined): string {
  if (inside === undefined || inside === '*') return t('Covers every command.');
  const prefix = /^(.*?)(?::\*| \*)$/s.exec(inside)?.[1];
  if (prefix !== undefined && !prefix.includes('*'))
    return t('Covers every command that begins with “{0}”, alone or followed by anything.', prefix);
  if (inside.includes('*')) return t('Covers every command of this form; * stands for any text.');
  return t('Covers exactly this command, wherever it stands in a line.');
}

function pathMeaning(pattern: string, what: string): string {
  if (pattern.endsWith('**'))
    return t('Covers {0} of every file below {1}.', what, pattern.replace(/\/?\*\*$/, '') || '/');
  if (pattern.includes('*')) return t('Covers {0} of every file that matches {1}.', what, pattern);
  return t('Covers {0} of this path, and of what is below it if it is a folder.', what);
}

export function verdictWord(verdict: wire.Verdict): string {
  return { allow: t('Allow'), ask: t('Ask'), deny: t('Deny') }[verdict];
}

/** What a tool does, in a person's words; one that has none keeps its name. */
export function toolWords(tool: string): string {
  const words: Record<string, string> = {
    read_file: t('Read a file'),
    write_file: t('Write a file'),
    edit_file: t('Edit a file'),
    delete_file: t('Delete a file'),
    move_file: t('Move a file'),
    list_dir: t('List a folder'),
    glob: t('Find files'),
    search: t('Search in files'),
    shell: t('Run a command'),
    shell_output: t('Read what a command wrote'),
    shell_input: t('Type into a command'),
    shell_kill: t('End a command'),
    todo_write: t('Write the list of tasks'),
    undo: t('Take a change back'),
    web_fetch: t('Fetch a page'),
    list_open_files: t('List open files'),
    get_selection: t('Get the selection'),
    get_diagnostics: t('Get problems'),
    find_symbols: t('Find symbols'),
    find_references: t('Find references'),
    rename_symbol: t('Rename a symbol'),
    'acp:plan': t('Plan'),
    'acp:read': t('Read'),
    'acp:edit': t('Edit'),
    'acp:delete': t('Delete'),
    'acp:move': t('Move'),
    'acp:search': t('Search'),
    'acp:execute': t('Run a command'),
    'acp:fetch': t('Fetch a page'),
  };
  const mcp = /^mcp__(.+?)__(.+)$/.exec(tool);
  if (mcp) return t('{0} of {1}', mcp[2]!, mcp[1]!);
  return Object.hasOwn(words, tool) ? words[tool]! : tool;
}

/** A place as a person writes it: a path, with a line or lines behind it. */
export function placeName(place: {
  path: string;
  startLine?: number | undefined;
  endLine?: number | undefined;
}): string {
  const { path, startLine, endLine } = place;
  if (startLine === undefined) return path;
  return endLine === undefined || endLine === startLine ? `${path}:${startLine}` : `${path}:${startLine}-${endLine}`;
}
