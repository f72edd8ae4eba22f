/**
 * One question of an agent: its words, marked as such, and a form or a URL. It looks like no approval and approves nothing.
 *
 * INVARIANT (nothing by accident): an answer that sends or opens something counts only when the card has stood for half a
 * second in a focused window; declining and dismissing are never delayed.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { revealLine, revealProse } from '../src/reveal.ts';
import type * as wire from '../src/wire.gen.ts';
import { Arming } from './arming.ts';
import type { Bridge } from './bridge.ts';
import { Drawn, icon, revealed, serverText } from './drawn.ts';
import { foreignUrl } from './foreignUrl.ts';
import { type Entered, initialEntry, readEntry } from './formValues.ts';
import { t } from './l10n.ts';
import { Press } from './press.ts';
import type { OpenQuestion } from './state.ts';

/** Texts longer than this, or without a bound, get several lines. */
const ONE_LINE = 200;

/** What was entered, for as long as the question is open: paging through several loses nothing, and nothing is stored. */
const entries = new WeakMap<wire.ElicitationRequest, Map<string, Entered>>();

export class QuestionCard extends Drawn {
  static override properties = {
    bridge: { attribute: false },
    open: { attribute: false },
    position: { type: Number },
    total: { type: Number },
    windowFocused: { attribute: false },
    connected: { attribute: false },
    errors: { state: true },
  };
  declare bridge: Bridge;
  declare open: OpenQuestion;
  declare position: number;
  declare total: number;
  declare windowFocused: boolean;
  declare connected: boolean;
  declare private errors: Readonly<Record<string, string>>;

  private readonly arming = new Arming(this);
  private readonly press = new Press(this);

  constructor() {
    super();
    this.errors = {};
    this.windowFocused = true;
    this.connected = true;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('windowFocused')) this.arming.follow(this.windowFocused);
  }

  protected override updated(): void {
    this.press.follow(this.ready);
  }

  private get ready(): boolean {
    return this.connected && !this.open.answering && this.arming.armed;
  }

  private get entered(): Map<string, Entered> {
    const { question } = this.open;
    const known = entries.get(question) ?? new Map<string, Entered>();
    entries.set(question, known);
    return known;
  }

  protected override render(): TemplateResult {
    const { question, failed } = this.open;
    const id = question.elicitationId;
    const { state } = this.bridge;
    const thread = state.threads.find((one) => one.threadId === question.threadId);
    const elsewhere = question.threadId !== state.current && thread;
    return html`<section class="question" role="group" aria-labelledby="question-head-${id}" tabindex="-1" data-testid="question-card" data-elicitation-id=${id}>
      <header class="card-head">
        ${icon('comment-discussion')}
        <h2 id="question-head-${id}" class="card-title">${t('A question from {0}', revealLine(question.agentName))}</h2>
        ${
          this.total > 1
            ? html`<span class="card-position">${t('{0} of {1}', this.position, this.total)}</span>
              <button type="button" class="tool" aria-label=${t('Previous question')} title=${t('Previous question')} @click=${() => this.step(-1)}>${icon('chevron-left')}</button>
              <button type="button" class="tool" aria-label=${t('Next question')} title=${t('Next question')} @click=${() => this.step(1)}>${icon('chevron-right')}</button>`
            : nothing
        }
      </header>
      <p class="origin">${t('In the agent’s own words. An answer goes to the agent and approves nothing.')}${elsewhere ? html` · ${t('from “{0}”', revealLine(thread.title))}` : nothing}</p>
      <div class="question-body" tabindex="0" role="region" aria-label=${t('The question')}>
        <blockquote class="agent-words"><bdi>${revealProse(question.message)}</bdi></blockquote>
        ${question.schema ? this.form(question.schema) : this.link(question)}
      </div>
      ${failed ? html`<p class="failed" role="alert">${icon('error')}<span>${serverText(failed)}</span></p>` : nothing}
      <div class="buttons">
        ${
          question.schema
            ? html`<button type="button" class="primary" ?disabled=${!this.ready} @click=${this.submit}>${t('Submit')}</button>`
            : html`<button type="button" class="primary" ?disabled=${!this.ready} @click=${this.openUrl}>${t('Open in the browser')}</button>`
        }
        <button type="button" class="secondary" ?disabled=${!this.connected || this.open.answering} title=${t('Tell the agent that you will not answer')} @click=${() => this.refuse('decline')}>${t('Decline')}</button>
        <button type="button" class="secondary" ?disabled=${!this.connected || this.open.answering} title=${t('Close the question without an answer')} @click=${() => this.refuse('cancel')}>${t('Dismiss')}</button>
      </div>
    </section>`;
  }

  private link({ url = '', host = '', notes }: wire.ElicitationRequest): TemplateResult {
    return html`<p class="facts">${t('It wants you to open this address, on the host {0}:', host)}</p>
      ${foreignUrl(url, notes)}`;
  }

  private form(schema: wire.ElicitationSchema): TemplateResult {
    const { title, description } = schema;
    return html`${title || description ? html`<blockquote class="agent-words">${title ? html`<p class="form-title"><bdi>${revealLine(title)}</bdi></p>` : nothing}${description ? html`<bdi>${revealProse(description)}</bdi>` : nothing}</blockquote>` : nothing}
    ${Object.entries(schema.properties).map(([name, field], index) => this.field(name, field, index, schema.required.includes(name)))}`;
  }

  private field(name: string, field: wire.ElicitationProperty, index: number, required: boolean): TemplateResult {
    const id = `question-${this.open.question.elicitationId}-${index}`;
    const error = this.errors[name];
    const label = html`<bdi>${revealLine(field.title ?? name)}</bdi>${required ? html` <span class="required">${t('(required)')}</span>` : nothing}`;
    const described = [`${id}-more`, ...(error ? [`${id}-error`] : [])].join(' ');
    const more = html`<div id="${id}-more">
      ${field.description ? html`<p class="facts agent-says"><bdi>${revealProse(field.description)}</bdi></p>` : nothing}
      ${field.pattern ? html`<p class="facts">${t('Expected form:')} <code>${revealed(field.pattern)}</code></p>` : nothing}
      ${field.secret ? html`<p class="question-warning">${icon('warning')}<span>${t('This seems to ask for a secret. What you enter goes to the agent as it is; Countersign keeps no copy.')}</span></p>` : nothing}
    </div>`;
    const wrong = error
      ? html`<p class="field-error" id="${id}-error" role="alert">${icon('error')}<span>${error}</span></p>`
      : nothing;
    if (field.type === 'boolean')
      return html`<div class="question-field" data-field=${name}><label class="choice"><input id=${id} type="checkbox" .checked=${this.valueOf(name, field) === true} aria-describedby=${described} @change=${(event: Event) => this.enter(name, (event.target as HTMLInputElement).checked)}><span>${label}</span></label>${more}${wrong}</div>`;
    if (field.type === 'array')
      return html`<fieldset class="question-field" data-field=${name} aria-describedby=${described}><legend>${label}</legend>${more}${this.choices(name, field, id)}${wrong}</fieldset>`;
    return html`<div class="question-field" data-field=${name}><label for=${id}>${label}</label>${more}${field.oneOf ? this.select(name, field, field.oneOf, id, described, required) : this.input(name, field, id, described, required)}${wrong}</div>`;
  }

  private input(
    name: string,
    field: wire.ElicitationProperty,
    id: string,
    described: string,
    required: boolean,
  ): TemplateResult {
    const value = String(this.valueOf(name, field));
    const invalid = this.errors[name] !== undefined ? 'true' : 'false';
    const enter = (event: Event): void => this.enter(name, (event.target as HTMLInputElement).value);
    const long =
      field.type === 'string' && !field.secret && !field.format && (field.maxLength ?? ONE_LINE + 1) > ONE_LINE;
    if (long)
      return html`<textarea id=${id} rows="2" spellcheck="false" .value=${value} aria-describedby=${described} aria-invalid=${invalid} aria-required=${required ? 'true' : 'false'} @input=${enter}></textarea>`;
    const type = field.secret
      ? 'password'
      : field.format === 'date'
        ? 'date'
        : field.format === 'date-time'
          ? 'datetime-local'
          : 'text';
    const mode = field.type === 'string' ? 'text' : field.type === 'integer' ? 'numeric' : 'decimal';
    return html`<input id=${id} type=${type} inputmode=${mode} autocomplete="off" spellcheck="false" .value=${value} aria-describedby=${described} aria-invalid=${invalid} aria-required=${required ? 'true' : 'false'} @input=${enter}>`;
  }

  private select(
    name: string,
    field: wire.ElicitationProperty,
    choices: readonly wire.ElicitationChoice[],
    id: string,
    described: string,
    required: boolean,
  ): TemplateResult {
    const value = this.valueOf(name, field);
    const chosen = choices.find((choice) => choice.const === value);
    // An index stands for a choice, so that the empty one is no agent's value.
    return html`<select id=${id} aria-describedby=${described} aria-invalid=${this.errors[name] !== undefined ? 'true' : 'false'} aria-required=${required ? 'true' : 'false'} @change=${(event: Event) => this.enter(name, choices[Number((event.target as HTMLSelectElement).value)]?.const ?? '')}>
        <option value="" ?selected=${chosen === undefined}>${t('Choose…')}</option>
        ${choices.map((choice, index) => html`<option value=${index} ?selected=${choice === chosen}>${revealLine(choice.title)}</option>`)}
      </select>
      ${chosen?.description ? html`<p class="facts agent-says"><bdi>${revealProse(chosen.description)}</bdi></p>` : nothing}`;
  }

  private choices(name: string, field: wire.ElicitationProperty, id: string): TemplateResult {
    const value = this.valueOf(name, field);
    const chosen = Array.isArray(value) ? (value as string[]) : [];
    const toggle = (one: string, on: boolean): void =>
      this.enter(
        name,
        (field.items?.anyOf ?? [])
          .map((choice) => choice.const)
          .filter((each) => (each === one ? on : chosen.includes(each))),
      );
    return html`<div class="choices">${(field.items?.anyOf ?? []).map(
      (choice, index) =>
        html`<label class="choice"><input id="${id}-${index}" type="checkbox" .checked=${chosen.includes(choice.const)} @change=${(event: Event) => toggle(choice.const, (event.target as HTMLInputElement).checked)}><span><bdi>${revealLine(choice.title)}</bdi>${choice.description ? html` <span class="facts"><bdi>${revealProse(choice.description)}</bdi></span>` : nothing}</span></label>`,
    )}</div>`;
  }

  private valueOf(name: string, field: wire.ElicitationProperty): Entered {
    return this.entered.get(name) ?? initialEntry(field);
  }

  private enter(name: string, entered: Entered): void {
    this.entered.set(name, entered);
    const { [name]: _, ...others } = this.errors;
    this.errors = others;
    this.requestUpdate();
  }

  private readonly submit = async (): Promise<void> => {
    const { question } = this.open;
    if (!this.ready || !this.press.counts || !question.schema) return;
    const content: [string, string | number | boolean | string[]][] = [];
    const errors: [string, string][] = [];
    for (const [name, field] of Object.entries(question.schema.properties)) {
      const read = readEntry(field, this.valueOf(name, field), question.schema.required.includes(name));
      if ('error' in read) errors.push([name, read.error]);
      else if (read.value !== undefined) content.push([name, read.value]);
    }
    this.errors = Object.fromEntries(errors);
    if (errors.length > 0) {
      await this.updateComplete;
      this.querySelector<HTMLElement>('.question-field:has(.field-error) :is(input, select, textarea)')?.focus();
      return;
    }
    const { elicitationId } = question;
    this.bridge.dispatch({ type: 'questionAnswering', elicitationId });
    this.bridge.post({ type: 'questionSubmit', elicitationId, content: Object.fromEntries(content) });
  };

  private readonly openUrl = (): void => {
    if (!this.ready || !this.press.counts) return;
    const { elicitationId } = this.open.question;
    this.bridge.dispatch({ type: 'questionAnswering', elicitationId });
    this.bridge.post({ type: 'questionOpen', elicitationId });
  };

  private refuse(action: 'decline' | 'cancel'): void {
    const { elicitationId } = this.open.question;
    if (this.open.answering || !this.connected) return;
    this.bridge.dispatch({ type: 'questionAnswering', elicitationId });
    this.bridge.post({ type: 'questionRefuse', elicitationId, action });
  }

  private step(by: 1 | -1): void {
    this.bridge.dispatch({ type: 'questionStep', by });
  }
}

customElements.define('cs-question', QuestionCard);
