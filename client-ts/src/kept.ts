/** What an answer left behind beside its own call: a rule, or a grant for a while. Pure. */
import type * as wire from './wire.gen.ts';

export interface Kept {
  list: 'allow' | 'deny';
  rule: string;
  scope: Exclude<wire.Scope, 'call'>;
}

/** What an answer with this option keeps; undefined where it is about the one call only. */
export function keptBy(
  { kind, scope, rule: offered }: wire.ApprovalOption,
  rule: string | undefined,
): Kept | undefined {
  const text = rule ?? offered;
  if (text === undefined || scope === undefined || scope === 'call') return undefined;
  if (kind === 'allow_always') return { list: 'allow', rule: text, scope };
  return kind === 'reject_always' ? { list: 'deny', rule: text, scope } : undefined;
}

/** The same from the history of one call, which outlives the window. It notes what allows only. */
export function keptIn(entries: readonly wire.HistoryEntry[]): Kept | undefined {
  for (const { phase, by, verdict, outcome } of entries) {
    const note = phase === 'decided' && by === 'user' && verdict === 'allow' ? outcome?.['note'] : undefined;
    const found = typeof note === 'string' ? /^kept (.+) \((turn|chat|timed|workspace|user)\)$/s.exec(note) : null;
    if (found) return { list: 'allow', rule: found[1]!, scope: found[2] as Kept['scope'] };
  }
  return undefined;
}
