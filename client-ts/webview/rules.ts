/** Rules and grants that count, where each stands and how often it did, to be taken back or added to. */
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { Drawn, icon, revealed } from './drawn.ts';
import { t } from './l10n.ts';
import type { State } from './state.ts';
import { ruleMeaning, scopeWords, shortPath, timeWords, verdictWord } from './words.ts';

type NewRule = { list: wire.RuleView['list']; rule: string; scope: 'workspace' | 'user' };

export class Rules extends Drawn {
  static override properties = { bridge: { attribute: false }, state: { attribute: false }, draft: { state: true } };
  declare bridge: Bridge;
  declare state: State;
  private declare draft: NewRule;

  constructor() {
    super();
    this.draft = { list: 'deny', rule: '', scope: 'workspace' };
  }

  protected override render(): TemplateResult {
    const { rules, grants, loaded } = this.state.rules;
    const lists = (['deny', 'ask', 'allow'] as const).map((list) => ({ list, found: rules.filter((rule) => rule.list === list) })).filter(({ found }) => found.length > 0);
    return html`<section class="page" aria-label=${t('Rules')}>
      <div class="page-scroll" tabindex="0">
        ${lists.map(
          ({ list, found }) => html`<h2 class="page-title">${listTitle(list)}</h2>
            <ul class="rows">${repeat(found, (rule) => rule.ruleId, (rule) => this.rule(rule))}</ul>`,
        )}
        ${grants.length > 0 ? html`<h2 class="page-title">${t('Granted for now')}</h2><ul class="rows">${repeat(grants, (grant) => grant.grantId, (grant) => this.grant(grant))}</ul>` : nothing}
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

  private rule(rule: wire.RuleView): TemplateResult {
    const { file, line } = rule;
    const open = (event: Event): void => {
      event.preventDefault();
      if (file) this.bridge.post({ type: 'openFile', path: file, ...(line !== undefined && { line }) });
    };
    const used = rule.hits === 0 ? t('never used') : rule.hits === 1 ? t('used once') : t('used {0} times', rule.hits);
    return html`<li class="rule-row" data-testid="rule-row" data-rule-id=${rule.ruleId}>
      <div class="rule-text">
        <code>${revealed(rule.rule)}</code>
        <p class="facts">${scopeWords(rule.scope)} · ${used}${rule.lastUsed ? ` · ${timeWords(rule.lastUsed)}` : ''}${file ? html` · <a href="#" @click=${open}>${shortPath(file, this.state.workspace, this.state.home)}${line === undefined ? '' : `:${line}`}</a>` : nothing}</p>
        ${rule.problem ? html`<p class="problem">${icon('warning')} ${rule.problem}</p>` : nothing}
      </div>
      ${rule.scope === 'managed' || rule.scope === 'default' ? nothing : html`<button type="button" class="tool" aria-label=${t('Remove {0}', rule.rule)} title=${t('Remove')} @click=${() => this.bridge.post({ type: 'ruleRemove', ruleId: rule.ruleId })}>${icon('trash')}</button>`}
    </li>`;
  }

  private grant(grant: wire.GrantView): TemplateResult {
    const until = grant.expiresAt ? t('until {0}', timeWords(grant.expiresAt)) : scopeWords(grant.scope);
    return html`<li class="rule-row" data-testid="grant-row">
      <div class="rule-text"><code>${revealed(grant.rule)}</code><p class="facts">${grant.agentName} · ${until}</p></div>
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
