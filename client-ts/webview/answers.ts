/** The answers a card can give, from the options the gate offered: menu entries, and input as edited. Pure. */
import type * as wire from '../src/wire.gen.ts';
import { t } from './l10n.ts';
import type { MenuEntry } from './menu.ts';

export interface Answer {
  optionId: string;
  rule?: string;
  reason?: string;
  editedInput?: string;
  /** Stop the turn once this is answered. */
  stop?: boolean;
}

/** The plain one of a kind: for this call, in the foreground, without another mode. */
export function optionOf(
  approval: wire.ApprovalRequest,
  kind: 'allow_once' | 'reject_once',
): wire.ApprovalOption | undefined {
  return approval.options.find((option) => option.kind === kind && !option.background && !option.mode);
}

/** The menu beside Approve. Ids are option ids, or `rule` and `bypass`; what the server would refuse is left out. */
export function approveEntries(approval: wire.ApprovalRequest, trusted: boolean): MenuEntry[] {
  const widening = approval.options.filter((option) => option.kind === 'allow_always');
  const passing = widening
    .filter((option) => option.scope !== 'workspace' && option.scope !== 'user')
    .map((option) => ({ id: option.optionId, label: passingLabel(option), code: option.rule }));
  const lasting = widening
    .filter((option) => option.scope === 'workspace' || option.scope === 'user')
    .map((option) => ({
      id: option.optionId,
      label: lastingLabel(option),
      code: option.rule,
      examples: option.examples,
    }));
  const groups: MenuEntry[][] = [
    passing,
    lasting.length > 0 ? [...lasting, { id: 'rule', label: t('Always allow another rule…') }] : [],
    trusted && optionOf(approval, 'allow_once')
      ? [{ id: 'bypass', label: t('Bypass permissions for {0}…', approval.agentName), danger: true }]
      : [],
  ];
  return groups
    .filter((group) => group.length > 0)
    .flatMap((group, index) => (index === 0 ? group : ['line' as const, ...group]));
}

export function denyEntries(approval: wire.ApprovalRequest): MenuEntry[] {
  const always = approval.options
    .filter((option) => option.kind === 'reject_always')
    .map((option) => ({
      id: option.optionId,
      label:
        option.scope === 'workspace' ? t('Always deny {code} in this workspace') : t('Always deny {code} everywhere'),
      code: option.rule,
    }));
  const plan = approval.preview.kind === 'plan';
  const plain: MenuEntry[] = optionOf(approval, 'reject_once')
    ? [
        { id: 'message', label: plan ? t('Keep planning with a message…') : t('Deny with a message…') },
        { id: 'stop', label: plan ? t('Reject the plan and stop') : t('Deny and stop') },
      ]
    : [];
  return always.length > 0 && plain.length > 0 ? [...plain, 'line', ...always] : [...plain, ...always];
}

function passingLabel(option: wire.ApprovalOption): string {
  if (option.scope === 'turn') return t('Allow for this turn');
  if (option.scope === 'chat') return t('Allow for this chat');
  if (option.scope === 'timed') return t('Allow for 15 minutes');
  return option.name;
}

function lastingLabel(option: wire.ApprovalOption): string {
  return option.scope === 'workspace'
    ? t('Always allow {code} in this workspace')
    : t('Always allow {code} everywhere');
}
