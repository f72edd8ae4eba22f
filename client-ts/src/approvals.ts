/**
 * The open approvals as the server told them, and the answers to them. Carries out what the webview or a quick pick asked,
 * but asks again, in a native modal, before anything that widens more than the card it came from.
 *
 * INVARIANT (asked again): bypass, and a rule other than those offered, reach the server only after the person said yes
 * in a modal that the extension drew. The webview's word is not enough.
 */
import { askBypass } from './bypass.ts';
import { block, type DialogText, type EditorText, type Modals, paragraphs } from './editorText.ts';
import type { IntentOf } from './intents.ts';
import { type Kept, keptBy } from './kept.ts';
import { asServerError, defined, type Link } from './link.ts';
import { inOrder } from './queueOrder.ts';
import type { ToWebview } from './messages.ts';
import type * as wire from './wire.gen.ts';

export interface Question {
  message: EditorText;
  detail: DialogText;
  button: EditorText;
}

export interface ApprovalsHost extends Modals {
  /** A native modal. True only if the person pressed `button`; closing it is a no. */
  confirm(question: Question): Promise<boolean>;
  openDiff(approval: wire.ApprovalRequest): Promise<void>;
}

export interface Approvals {
  /** In the order in which their calls were made. */
  all(): readonly wire.ApprovalRequest[];
  replaceAll(approvals: readonly wire.ApprovalRequest[]): void;
  keep(approval: wire.ApprovalRequest): void;
  drop(approvalId: string): void;
  answer(intent: Omit<IntentOf<'answer'>, 'type'>): Promise<void>;
  bypass(intent: Omit<IntentOf<'bypass'>, 'type'>): Promise<void>;
  batch(intent: Omit<IntentOf<'batch'>, 'type'>): Promise<void>;
  openDiff(approvalId: string): Promise<void>;
  /** Puts a request off, or takes it up again; decides nothing. */
  postpone(intent: Omit<IntentOf<'postpone'>, 'type'>): Promise<void>;
  /** Ids of open requests that were put off. */
  postponed(): ReadonlySet<string>;
}

export function createApprovals(
  link: Pick<Link, 'request' | 'notify'>,
  host: ApprovalsHost,
  post: (message: ToWebview) => void,
  kept: (toolCallId: string, kept: Kept) => void,
  modeChosen: (threadId: string, mode: wire.Mode) => void,
  take: (news: () => void) => void,
): Approvals {
  const open = new Map<string, wire.ApprovalRequest>();

  /** The open approval that stood on the screen; undefined, and told, if it is no longer that one. */
  function shown(approvalId: string, digest: string): wire.ApprovalRequest | undefined {
    const approval = open.get(approvalId);
    if (approval?.digest === digest) return approval;
    post({ type: 'answerFailed', approvalId, message: host.t('This request is no longer open; nothing was sent.') });
    return undefined;
  }

  async function answer(intent: Omit<IntentOf<'answer'>, 'type'>): Promise<void> {
    const approval = shown(intent.approvalId, intent.digest);
    if (!approval) return;
    const option = approval.options.find((candidate) => candidate.optionId === intent.optionId);
    if (!option)
      return post({
        type: 'answerFailed',
        approvalId: intent.approvalId,
        message: host.t('This answer is not on offer; nothing was sent.'),
      });
    const rule = intent.rule?.trim();
    // INVARIANT (asked again): a rule that the gate did not write is asked again, whether wider or not.
    let confirmed: wire.RuleConfirmation | undefined;
    if (
      rule !== undefined &&
      option.kind === 'allow_always' &&
      !approval.options.some((one) => one.kind === option.kind && one.rule === rule)
    ) {
      const preview = await previewed(approval, rule);
      if (!preview) return;
      if (!preview.covers)
        return post({
          type: 'answerFailed',
          approvalId: intent.approvalId,
          message: host.t(
            'This rule is not valid, or does not cover this call. Change it, or answer for this call only.',
          ),
        });
      const yes = await host.confirm({
        message: host.t('Keep a rule of your own?'),
        detail: paragraphs(
          host.detail(
            '{0}\n\nThis rule was not among those offered. Whatever it matches will run without asking you, {1}.',
            rule,
            scopeWords(host, option.scope),
          ),
          preview.wider && host.detail('It is wider than the widest rule offered.'),
          preview.examples.length > 0 && host.detail('It would also match:\n{0}', block(preview.examples.join('\n'))),
        ),
        button: host.t('Always Allow'),
      });
      if (!yes) return post({ type: 'answerDropped', approvalId: intent.approvalId });
      confirmed = { ruleDigest: preview.digest };
    }
    const taken = await respond(approval, option.optionId, {
      bypassAll: false,
      reason: intent.reason,
      editedInput: intent.editedInput,
      rule,
      confirmed,
    });
    const left = taken ? keptBy(option, rule) : undefined;
    if (left) kept(approval.toolCall.toolCallId, left);
    if (taken && option.mode !== undefined) modeChosen(approval.threadId, option.mode);
    // After the answer: a turn that is stopped first would have its call recorded as cancelled.
    if (intent.stop) link.notify('thread/cancel', { threadId: approval.threadId });
  }

  /** What the server says of a rule of the person's own; undefined, and told, if it cannot. */
  async function previewed(approval: wire.ApprovalRequest, rule: string): Promise<wire.RulePreviewResult | undefined> {
    try {
      return await link.request('rule/preview', { approvalId: approval.approvalId, rule });
    } catch (error) {
      post({ type: 'answerFailed', approvalId: approval.approvalId, message: asServerError(error).message });
      return undefined;
    }
  }

  async function bypass(intent: Omit<IntentOf<'bypass'>, 'type'>): Promise<void> {
    const approval = shown(intent.approvalId, intent.digest);
    if (!approval) return;
    const option = approval.options.find((one) => one.kind === 'allow_once' && !one.background);
    if (!option)
      return post({
        type: 'answerFailed',
        approvalId: intent.approvalId,
        message: host.t('This request can only be denied.'),
      });
    // INVARIANT (asked again)
    const bypassScope = await askBypass(host, approval.agentName);
    if (!bypassScope) return post({ type: 'answerDropped', approvalId: intent.approvalId });
    await respond(approval, option.optionId, { bypassAll: true, bypassScope });
  }

  /** Whether the server took it. */
  async function respond(
    approval: wire.ApprovalRequest,
    optionId: string,
    rest: Pick<
      wire.ApprovalResponseParams,
      'bypassAll' | 'bypassScope' | 'reason' | 'editedInput' | 'rule' | 'confirmed'
    >,
  ): Promise<boolean> {
    try {
      await link.request('tool/approvalResponse', {
        approvalId: approval.approvalId,
        digest: approval.digest,
        response: { outcome: { outcome: 'selected', optionId } },
        ...defined(rest),
      });
      return true;
    } catch (error) {
      post({ type: 'answerFailed', approvalId: approval.approvalId, message: asServerError(error).message });
      return false;
    }
  }

  async function batch({ cards, decision, reason }: Omit<IntentOf<'batch'>, 'type'>): Promise<void> {
    const open = cards.filter((card) => shown(card.approvalId, card.digest));
    if (open.length === 0) return;
    const approvalIds = open.map((card) => card.approvalId);
    // A server that was started again may have other bytes under these ids by now.
    const digests = open.map((card) => card.digest);
    const { results } = await link.request('tool/approvalBatch', defined({ approvalIds, decision, reason, digests }));
    for (const result of results) {
      if (result.error) post({ type: 'answerFailed', approvalId: result.approvalId, message: result.error.message });
    }
  }

  async function openDiff(approvalId: string): Promise<void> {
    const approval = open.get(approvalId);
    if (approval?.preview.kind === 'diff') await host.openDiff(approval);
  }

  async function postpone({ approvalId, postponed }: Omit<IntentOf<'postpone'>, 'type'>): Promise<void> {
    if (!open.has(approvalId)) return;
    const { expiresAt } = await link.request('tool/approvalPostpone', { approvalId, postponed });
    take(() => {
      const approval = open.get(approvalId);
      if (approval) open.set(approvalId, { ...approval, postponed: postponed || undefined, expiresAt });
    });
    post({ type: 'postponed', approvalId, postponed, ...(expiresAt !== undefined && { expiresAt }) });
  }

  return {
    all: () => [...open.values()].sort(inOrder),
    postpone,
    postponed: () => new Set([...open.values()].filter((one) => one.postponed).map((one) => one.approvalId)),
    replaceAll(approvals) {
      open.clear();
      for (const approval of approvals) open.set(approval.approvalId, approval);
    },
    keep: (approval) => void open.set(approval.approvalId, approval),
    drop: (approvalId) => void open.delete(approvalId),
    answer,
    bypass,
    batch,
    openDiff,
  };
}

export function scopeWords(host: Pick<ApprovalsHost, 't'>, scope: wire.Scope | undefined): EditorText {
  if (scope === 'workspace') return host.t('in this workspace');
  return scope === 'user' ? host.t('in every workspace') : host.t('for now');
}
