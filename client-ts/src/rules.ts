/**
 * Rules and grants between the webview and the server: listed, proposed, added, taken out, and taken back from the card
 * that they were kept on.
 *
 * INVARIANT (asked again): an allow rule that the server itself did not propose, and taking out a rule that stops
 * something, reach the server only after the person said yes in a modal that the extension drew.
 */
import { type ApprovalsHost, scopeWords } from './approvals.ts';
import type { IntentOf } from './intents.ts';
import { type Kept, keptIn } from './kept.ts';
import type { Link } from './link.ts';
import type { ToWebview } from './messages.ts';
import type * as wire from './wire.gen.ts';

export interface Rules {
  list(): Promise<void>;
  /** For every page of rules that is open; nothing if none was ever turned to. */
  listAgain(): Promise<void>;
  propose(): Promise<void>;
  add(intent: IntentOf<'ruleAdd'>): Promise<void>;
  addProposal(intent: IntentOf<'proposalAdd'>): Promise<void>;
  remove(ruleId: string): Promise<void>;
  revoke(grantId: string): Promise<void>;
  /** An answer kept something; it can be taken back from its call. */
  kept(toolCallId: string, kept: Kept): void;
  takeBack(toolCallId: string): Promise<void>;
}

export function createRules(
  link: Pick<Link, 'request'>,
  host: Pick<ApprovalsHost, 't' | 'detail' | 'confirm'>,
  post: (message: ToWebview) => void,
): Rules {
  const byCall = new Map<string, Kept>();
  let wasListed = false;
  let proposals: readonly wire.RuleProposal[] = [];

  async function list(): Promise<void> {
    wasListed = true;
    const [{ rules, calls, since }, { grants }] = await Promise.all([
      link.request('rule/list', {}),
      link.request('grant/list', {}),
    ]);
    post({ type: 'rules', rules, grants, calls, since });
  }

  async function propose(): Promise<void> {
    const found = await link.request('rule/proposals', {});
    ({ proposals } = found);
    post({ type: 'proposals', found });
  }

  async function add({ list: listed, rule, scope }: IntentOf<'ruleAdd'>): Promise<void> {
    // INVARIANT (asked again)
    const yes =
      listed !== 'allow' ||
      (await host.confirm({
        message: host.t('Always allow this?'),
        detail: host.detail(
          '{0}\n\nWhatever this rule matches will run without asking you, {1}.',
          rule,
          scopeWords(host, scope),
        ),
        button: host.t('Always Allow'),
      }));
    if (yes) await link.request('rule/add', { list: listed, rule, scope });
    await list();
  }

  async function addProposal({ rule, scope }: IntentOf<'proposalAdd'>): Promise<void> {
    // INVARIANT (asked again): the server worded this rule and tried it; another one goes the way of `add`.
    const offered = proposals.some((one) => one.rule === rule && one.scopes.includes(scope));
    if (!offered) return add({ type: 'ruleAdd', list: 'allow', rule, scope });
    await link.request('rule/add', { list: 'allow', rule, scope });
    await Promise.all([list(), propose()]);
  }

  async function mayRemove({ list: listed, rule }: Pick<wire.RuleView, 'list' | 'rule'>): Promise<boolean> {
    // INVARIANT (asked again)
    if (listed === 'allow') return true;
    return host.confirm({
      message: listed === 'deny' ? host.t('Stop denying this?') : host.t('Stop asking about this?'),
      detail: host.detail('{0}\n\nWhat this rule stops will be judged without it, in the open requests too.', rule),
      button: host.t('Remove Rule'),
    });
  }

  async function remove(ruleId: string): Promise<void> {
    const { rules } = await link.request('rule/list', {});
    const found = rules.find((one) => one.ruleId === ruleId);
    if (found && !(await mayRemove(found))) return;
    // One that is gone by now is the server's to tell.
    await link.request('rule/remove', { ruleId });
    await list();
  }

  async function revoke(grantId: string): Promise<void> {
    await link.request('grant/revoke', { grantId });
    await list();
  }

  async function takeBack(toolCallId: string): Promise<void> {
    const kept =
      byCall.get(toolCallId) ?? keptIn((await link.request('history/query', { filter: { toolCallId } })).entries);
    if (!kept) return post({ type: 'notice', level: 'info', message: host.t('Nothing was kept from this answer.') });
    if (!(await mayRemove(kept))) return;
    const gone = await (kept.scope === 'workspace' || kept.scope === 'user' ? takeRuleBack(kept) : takeGrantBack(kept));
    byCall.delete(toolCallId);
    post({ type: 'kept', toolCallId });
    post({
      type: 'notice',
      level: 'info',
      message: gone
        ? host.detail('Taken back: `{0}`', kept.rule)
        : host.detail('`{0}` no longer counts; there was nothing to take back.', kept.rule),
    });
    await list();
  }

  /** Whether it was still there. */
  async function takeRuleBack({ list: listed, rule, scope }: Kept): Promise<boolean> {
    const { rules } = await link.request('rule/list', {});
    const found = rules.find((one) => one.list === listed && one.rule === rule && one.scope === scope);
    if (found) await link.request('rule/remove', { ruleId: found.ruleId });
    return found !== undefined;
  }

  async function takeGrantBack({ rule, scope }: Kept): Promise<boolean> {
    const { grants } = await link.request('grant/list', {});
    const found = grants.filter((one) => one.rule === rule && one.scope === scope);
    for (const { grantId } of found) await link.request('grant/revoke', { grantId });
    return found.length > 0;
  }

  return {
    list,
    listAgain: async () => (wasListed ? list() : undefined),
    propose,
    add,
    addProposal,
    remove,
    revoke,
    takeBack,
    kept(toolCallId, kept) {
      byCall.set(toolCallId, kept);
      post({ type: 'kept', toolCallId, kept });
    },
  };
}
