/** The panels of a card: a rule of one's own, a message with a denial, and the editor of its input. */
import { html, nothing, type TemplateResult } from 'lit';

import { reveal } from '../src/reveal.ts';
import type * as wire from '../src/wire.gen.ts';
import { revealed } from './drawn.ts';
import { t } from './l10n.ts';
import { ruleMeaning, scopeWords } from './words.ts';

/** What is open on a card beside its subject. */
export type Panel =
  | { kind: 'none' }
  | { kind: 'rule'; option: wire.ApprovalOption; rule: string }
  | { kind: 'message'; text: string }
  | { kind: 'edit'; text: string };

type Change = (panel: Panel) => void;

export function inputEditor(text: string, change: Change): TemplateResult {
  const rows = Math.min(14, Math.max(2, text.split('\n').length + 1));
  return html`<label class="edit"
      ><span>${t('Edited by you; it is judged again before it runs')}</span
      ><textarea rows=${rows} spellcheck="false" .value=${text} @input=${(event: Event) => change({ kind: 'edit', text: (event.target as HTMLTextAreaElement).value })}></textarea>
    </label>`;
}

export function panelView(
  panel: Panel,
  approval: wire.ApprovalRequest,
  change: Change,
): TemplateResult | typeof nothing {
  if (panel.kind === 'message') return messagePanel(panel.text, change);
  if (panel.kind === 'rule') return rulePanel(panel.option, panel.rule, approval, change);
  return nothing;
}

function messagePanel(text: string, change: Change): TemplateResult {
  return html`<div class="panel">
      <label class="field"><span>${t('Message to the agent')}</span><textarea rows="2" .value=${text} @input=${(event: Event) => change({ kind: 'message', text: (event.target as HTMLTextAreaElement).value })}></textarea></label>
    </div>`;
}

function rulePanel(
  option: wire.ApprovalOption,
  rule: string,
  { approvalId, options }: wire.ApprovalRequest,
  change: Change,
): TemplateResult {
  const scopes = options.filter(
    (one) =>
      one.kind === option.kind && one.rule === option.rule && (one.scope === 'workspace' || one.scope === 'user'),
  );
  const { examples = [] } = options.find((one) => one.kind === option.kind && one.rule === rule.trim()) ?? {};
  const widths = [
    ...new Set(options.filter((one) => one.kind === option.kind && one.scope === option.scope).map((one) => one.rule)),
  ];
  return html`<div class="panel">
      <label class="field"><span>${t('Rule')}</span><textarea class="rule" rows="2" spellcheck="false" .value=${rule} @input=${(event: Event) => change({ kind: 'rule', option, rule: (event.target as HTMLTextAreaElement).value })}></textarea></label>
      ${
        widths.length > 1
          ? html`<div class="widths" role="group" aria-label=${t('Widths')}>
            ${widths.map((width) => html`<button type="button" class="chip" aria-pressed=${width === rule ? 'true' : 'false'} @click=${() => change({ kind: 'rule', option, rule: width ?? '' })}><code>${revealed(width ?? '')}</code></button>`)}
          </div>`
          : nothing
      }
      <div class="facts" id="rule-meaning-${approvalId}">
        ${ruleMeaning(rule)}
        ${
          examples.length > 0
            ? html`${t('It would also match:')}
              <ul class="examples cut">${examples.map((example) => html`<li><code title=${reveal(example)}>${revealed(example)}</code></li>`)}</ul>`
            : nothing
        }
      </div>
      ${
        scopes.length > 1
          ? html`<div class="widths" role="group" aria-label=${t('Scope')}>
            ${scopes.map((one) => html`<button type="button" class="chip" aria-pressed=${one === option ? 'true' : 'false'} @click=${() => change({ kind: 'rule', option: one, rule })}>${scopeWords(one.scope ?? 'call')}</button>`)}
          </div>`
          : nothing
      }
    </div>`;
}
