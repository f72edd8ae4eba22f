/** A choice of one among a few, each with a line of explanation: modes, agents, models, chats. Tells it by `picked`. */
import { html, nothing, type TemplateResult } from 'lit';

import { Drawn, icon } from './drawn.ts';
import { t } from './l10n.ts';
import { Popup } from './popup.ts';

export interface Choice {
  value: string;
  name: string;
  explanation?: string;
  /** A coloured dot of this class before the name. */
  dot?: string;
  count?: number;
  /** Why it cannot be chosen; it is shown all the same. */
  refused?: string;
  /** The same as the server said it. */
  original?: string;
  /** Stands under "More" until that is opened. */
  more?: boolean;
}

let pickers = 0;

export class Picker extends Drawn {
  static override properties = {
    label: {},
    value: {},
    empty: {},
    choices: { attribute: false },
    unfolded: { state: true },
  };
  declare label: string;
  declare value: string;
  /** What stands on the button when nothing is chosen. */
  declare empty: string;
  declare choices: readonly Choice[];
  declare private unfolded: boolean;

  private readonly popup = new Popup(this, '.picker-button', '.listbox', '[role="option"]');
  private readonly number = ++pickers;

  constructor() {
    super();
    this.label = '';
    this.value = '';
    this.empty = '';
    this.choices = [];
    this.unfolded = false;
  }

  protected override render(): TemplateResult {
    const { popup } = this;
    const chosen = this.choices.find((choice) => choice.value === this.value);
    const id = `picker-${this.number}`;
    return html`<button
        type="button"
        class="picker-button"
        role="combobox"
        aria-label=${this.label}
        aria-haspopup="listbox"
        aria-expanded=${popup.isOpen ? 'true' : 'false'}
        aria-controls=${id}
        title="${this.label}: ${chosen?.name ?? this.empty}${chosen?.explanation ? `. ${chosen.explanation}` : ''}"
        @click=${this.onClick}
        @keydown=${popup.onButtonKey}
      >
        ${chosen?.dot ? html`<span class="dot ${chosen.dot}" aria-hidden="true"></span>` : nothing}
        <span class="picker-value">${chosen?.name ?? this.empty}</span>${icon('chevron-down')}
      </button>
      <div class="listbox popup" role="listbox" id=${id} aria-label=${this.label} ?hidden=${!popup.isOpen} @keydown=${popup.onListKey}>
        ${popup.isOpen ? this.options() : nothing}
      </div>`;
  }

  private options(): TemplateResult[] {
    const foldable = this.choices.some((choice) => choice.more);
    const folded =
      foldable && !this.unfolded && !this.choices.some((choice) => choice.more && choice.value === this.value);
    const shown = this.choices
      .filter((choice) => !folded || !choice.more)
      .map((choice, index) => this.option(choice, index));
    if (folded) {
      shown.push(
        html`<div role="option" tabindex="-1" class="option" aria-selected="false" @click=${this.unfold}><span class="option-name">${t('More')} ${icon('chevron-down')}</span></div>`,
      );
    }
    return shown;
  }

  private option(choice: Choice, index: number): TemplateResult {
    const id = `picker-${this.number}-${index}`;
    const explanation = choice.refused ?? choice.explanation;
    return html`<div
      role="option"
      tabindex="-1"
      class="option"
      aria-selected=${choice.value === this.value ? 'true' : 'false'}
      aria-labelledby=${id}
      aria-disabled=${choice.refused === undefined ? nothing : 'true'}
      aria-description=${explanation ?? nothing}
      @click=${() => choice.refused === undefined && this.pick(choice.value)}
    >
      ${choice.dot ? html`<span class="dot ${choice.dot}" aria-hidden="true"></span>` : nothing}
      <span class="option-text">
        <span class="option-name"><span id=${id}>${choice.name}</span>${choice.count ? html`<span class="badge">${choice.count}</span>` : nothing}</span>
        ${explanation ? html`<span class="option-why" data-text=${explanation} title=${choice.original === undefined || choice.original === explanation ? nothing : choice.original} aria-hidden="true"></span>` : nothing}
      </span>
      ${choice.value === this.value ? icon('check') : nothing}
    </div>`;
  }

  private readonly onClick = (): void => {
    this.unfolded = false;
    this.popup.toggle();
  };

  private readonly unfold = async (): Promise<void> => {
    const before = this.querySelectorAll('[role="option"]').length - 1;
    this.unfolded = true;
    await this.updateComplete;
    this.querySelectorAll<HTMLElement>('[role="option"]')[before]?.focus();
  };

  private pick(value: string): void {
    this.popup.closeToButton();
    this.dispatchEvent(new CustomEvent('picked', { detail: value }));
  }
}

customElements.define('cs-picker', Picker);
