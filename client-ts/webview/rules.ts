/**
 * Rules and grants that count, where each stands, how often it decided and what is wrong with it; and rules that the
 * server proposes from what was approved again and again. Each can be taken out or added by one press.
 */
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { Drawn, icon, revealed, serverText } from './drawn.ts';
import { t } from './l10n.ts';
import type { State } from './state.ts';
import { dayWords, remainingWords, ruleMeaning, scopeWords, shortPath, timeWords, verdictWord } from './words.ts';

const SECOND = 1000;

type NewRule = { list: wire.RuleView['list']; rule: string; scope: 'workspace' | 'user' };

export class Rules extends Drawn {
  static override properties = { bridge: { attribute: false }, state: { attribute: false }, draft: { state: true } };
  declare bridge: Bridge;
  declare state: State;
  declare private draft: NewRule;

  private clock: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.draft = { list: 'deny', rule: '', scope: 'workspace' };
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.clock);
  }

  /** What remains of a grant is drawn each second while there is one that ends by itself. */
  protected override updated(): void {
    clearTimeout(this.clock);
    if (this.state.rules.grants.some(({ expiresAt }) => expiresAt !== undefined))
      this.clock = setTimeout(this.tick, SECOND);
  }

  private readonly tick = (): void => {
    if (this.state.rules.grants.some(({ expiresAt }) => expiresAt !== undefined && remainingWords(expiresAt) === ''))
      this.bridge.post({ type: 'rules' });
    this.requestUpdate();
  };

  protected override render(): TemplateResult {
    const { rules, grants, calls, since, loaded } = this.state.rules;
    const lists = (['deny', 'ask', 'allow'] as const)
      .map((list) => ({ list, found: rules.filter((rule) => rule.list === list) }))
      .filter(({ found }) => found.length > 0);
    return html`<section class="page" aria-label=${t('Rules')}>
      <div class="page-scroll" tabindex="0">
        ${this.proposals()}
        ${lists.map(
          ({ list, found }) => html`<h2 class="page-title">${listTitle(list)}</h2>
            <ul class="rows">${repeat(
              found,
              (rule) => rule.ruleId,
              (rule) => this.rule(rule),
            )}</ul>`,
        )}
        ${rules.length > 0 && since !== undefined ? html`<p class="facts">${t('The figures are of {0} calls since {1}.', calls, dayWords(since))}</p>` : nothing}
        ${
          grants.length > 0
            ? html`<h2 class="page-title">${t('Granted for now')}</h2><ul class="rows">${repeat(
                grants,
                (grant) => grant.grantId,
                (grant) => this.grant(grant),
              )}</ul>`
            : nothing
        }
        ${rules.length === 0 && grants.length === 0 ? html`<p class="empty">${loaded ? t('There are no rules yet: agents ask about everything their mode does not allow.') : t('Loading')}</p>` : nothing}
      </div>
      <form class="page-foot" @submit=${this.add}>
        <div class="new-rule">
          <select aria-label=${t('List')} .value=${this.draft.list} @change=${(event: Event) => (this.draft = { ...this.draft, list: (event.target as HTMLSelectElement).value as NewRule['list'] })}>
            ${(['deny', 'ask', 'allow'] as const).map((list) => html`<option value=${list} ?selected=${list === this.draft.list}>${verdictWord(list)}</option>`)}
          </select>
          <input type="text" aria-label=${t('Rule')} placeholder="Bash(npm test:*)" spellcheck="false" .value=${this.draft.rule} @input=${(event: Event) => (this.draft = { ...this.draft, rule: (event.target as HTMLInputElement).value })} />
          <select aria-label=${t('Scope')} .value=${this.draft.scope} @change=${(event: Event) => (this.draft = { ...this.draft, scope: (event.target as HTMLSelectElement).value as NewRule['scope'] })}>
            <option value="workspace">${scopeWords('workspace')}</option>
            <option value="user">${scopeWords('user')}</option>
          </select>
          <button type="submit" class="secondary small" ?disabled=${!this.draft.rule.trim()}>${t('Add')}</button>
        </div>
        ${this.draft.rule.trim() ? html`<p class="facts">${ruleMeaning(this.draft.rule)}</p>` : nothing}
      </form>
    </section>`;
  }

  private proposals(): TemplateResult | typeof nothing {
    const found = this.state.proposals;
    if (!found || found.proposals.length === 0) return nothing;
    const { looked, unjudged, since } = found;
    return html`<h2 class="page-title">${t('For fewer questions')}</h2>
      <p class="facts">${t('From your last {0} answers, since {1}: rules under which those calls, judged again, would not have asked, and nothing that you denied would have run.', looked, dayWords(since ?? ''))} ${unjudged > 0 ? t('{0} could not be judged again, such as calls of hosted agents.', unjudged) : nothing}</p>
      <ul class="rows">${repeat(
        found.proposals,
        ({ rule }) => rule,
        (proposal) => this.proposal(proposal),
      )}</ul>`;
  }

  private proposal({ rule, scopes, spared, since, examples, agents }: wire.RuleProposal): TemplateResult {
    const label = { workspace: t('Allow in this workspace'), user: t('Allow everywhere') };
    return html`<li class="rule-row" data-testid="proposal-row">
      <div class="rule-text">
        <code>${revealed(rule)}</code>
        <p class="facts">${t('It would have spared you {0} questions since {1}', spared, dayWords(since))} · ${agents.join(', ')}</p>
        <p class="facts">${ruleMeaning(rule)}</p>
        <ul class="examples" aria-label=${t('Some of them')}>${examples.map((example) => html`<li><code>${revealed(example)}</code></li>`)}</ul>
        <div class="row-buttons">
          ${scopes.flatMap((scope) => (scope === 'workspace' || scope === 'user' ? [html`<button type="button" class="secondary small" aria-label=${`${label[scope]}: ${rule}`} @click=${() => this.bridge.post({ type: 'proposalAdd', rule, scope })}>${label[scope]}</button>`] : []))}
        </div>
      </div>
    </li>`;
  }

  private rule(rule: wire.RuleView): TemplateResult {
    const { file, line } = rule;
    const open = (event: Event): void => {
      event.preventDefault();
      if (file) this.bridge.post({ type: 'openFile', path: file, ...(line !== undefined && { line }) });
    };
    const used = rule.hits === 0 ? t('never used') : rule.hits === 1 ? t('used once') : t('used {0} times', rule.hits);
    const last = rule.lastUsed ? ` · ${t('last used {0}', timeWords(rule.lastUsed))}` : '';
    return html`<li class="rule-row" data-testid="rule-row" data-rule-id=${rule.ruleId}>
      <div class="rule-text">
        <code>${revealed(rule.rule)}</code>
        <p class="facts">${scopeWords(rule.scope)} · ${used}${last}${file ? html` · <a href="#" @click=${open}>${shortPath(file, this.state.workspace, this.state.home)}${line === undefined ? '' : `:${line}`}</a>` : nothing}</p>
        ${rule.problem ? html`<p class="problem">${icon('warning')} <span>${serverText(rule.problem)}</span></p>` : nothing}
        ${rule.idle ? html`<p class="problem">${icon('info')} <span>${t('It matched none of {1} calls in the {0} days since it was first seen here.', rule.idle.days, rule.idle.calls)}</span></p>` : nothing}
      </div>
      ${rule.scope === 'managed' || rule.scope === 'default' ? nothing : html`<button type="button" class="tool" aria-label=${t('Remove {0}', rule.rule)} title=${t('Remove')} @click=${() => this.bridge.post({ type: 'ruleRemove', ruleId: rule.ruleId })}>${icon('trash')}</button>`}
    </li>`;
  }

  private grant(grant: wire.GrantView): TemplateResult {
    const { agentName, threadId, expiresAt } = grant;
    const chat = this.state.threads.find((one) => one.threadId === threadId)?.title;
    const facts = [
      agentName,
      scopeWords(grant.scope),
      chat && t('in “{0}”', chat),
      expiresAt && (remainingWords(expiresAt) || t('over')),
    ];
    return html`<li class="rule-row" data-testid="grant-row">
      <div class="rule-text"><code>${revealed(grant.rule)}</code><p class="facts">${facts.filter(Boolean).join(' · ')}</p></div>
      <button type="button" class="tool" aria-label=${t('Revoke {0}', grant.rule)} title=${t('Revoke')} @click=${() => this.bridge.post({ type: 'grantRevoke', grantId: grant.grantId })}>${icon('trash')}</button>
    </li>`;
  }

  private readonly add = (event: Event): void => {
    event.preventDefault();
    const rule = this.draft.rule.trim();
    if (!rule) return;
    this.bridge.post({ type: 'ruleAdd', ...this.draft, rule });
    this.draft = { ...this.draft, rule: '' };
  };
}

function listTitle(list: wire.RuleView['list']): string {
  return { deny: t('Always denied'), ask: t('Always asked'), allow: t('Always allowed') }[list];
}

customElements.define('cs-rules', Rules);
