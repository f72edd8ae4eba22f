/** A button that opens a menu of actions. What an entry does is told by the event `chosen`, with its id. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { reveal } from '../src/reveal.ts';
import { Drawn, icon, revealed } from './drawn.ts';
import { t } from './l10n.ts';
import { Popup } from './popup.ts';

export type MenuEntry =
  | 'line'
  | {
      id: string;
      label: string;
      /** Stands in the label at `{code}`, drawn as code; without that mark it stands below, and is no part of the name. */
      code?: string;
      /** What else that rule matches; part of its name, on two lines at most, whole in their title. */
      examples?: readonly string[];
      danger?: boolean;
    };

let menus = 0;

export class Menu extends Drawn {
  static override properties = {
    label: {},
    entries: { attribute: false },
    disabled: { type: Boolean },
    primary: { type: Boolean },
  };
  declare label: string;
  declare entries: readonly MenuEntry[];
  declare disabled: boolean;
  declare primary: boolean;

  private readonly popup = new Popup(this, '.menu-button', '.menu', '[role="menuitem"]');
  private readonly number = ++menus;

  constructor() {
    super();
    this.label = '';
    this.entries = [];
    this.disabled = false;
    this.primary = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('disabled') && this.disabled && this.popup.isOpen) this.popup.isOpen = false;
  }

  protected override render(): TemplateResult {
    const { popup } = this;
    return html`<button
        type="button"
        class="menu-button ${this.primary ? 'primary' : 'secondary'}"
        aria-label=${this.label}
        title=${this.label}
        aria-haspopup="menu"
        aria-expanded=${popup.isOpen ? 'true' : 'false'}
        ?disabled=${this.disabled}
        @click=${popup.toggle}
        @keydown=${popup.onButtonKey}
      >
        ${icon('chevron-down')}
      </button>
      ${popup.isOpen ? html`<div class="menu popup" role="menu" tabindex="-1" aria-label=${this.label} @keydown=${popup.onListKey}>${this.entries.map((entry, index) => this.entry(entry, index))}</div>` : nothing}`;
  }

  private entry(entry: MenuEntry, index: number): TemplateResult {
    if (entry === 'line') return html`<div class="menu-line" role="separator"></div>`;
    const id = `menu-${this.number}-${index}`;
    const inLabel = entry.code !== undefined && entry.label.includes('{code}');
    const { examples = [] } = entry;
    const [before, after] = inLabel ? entry.label.split('{code}') : [entry.label, ''];
    return html`<button
      type="button"
      role="menuitem"
      tabindex="-1"
      class=${entry.danger ? 'danger' : ''}
      aria-labelledby=${examples.length > 0 ? `${id} ${id}-also` : id}
      aria-description=${entry.code !== undefined && !inLabel ? reveal(entry.code) : nothing}
      @click=${() => this.choose(entry.id)}
    >
      <span id=${id}>${before}${inLabel ? html`<code>${revealed(entry.code!)}</code>` : nothing}${after}</span>
      ${entry.code !== undefined && !inLabel ? html`<code class="below drawn" data-text=${reveal(entry.code)} aria-hidden="true"></code>` : nothing}
      ${
        examples.length > 0
          ? html`<span class="below also" id="${id}-also" title=${examples.map(reveal).join('\n')}>${t('would also match:')} <code>${revealed(examples.join(' · '))}</code></span>`
          : nothing
      }
    </button>`;
  }

  private choose(id: string): void {
    this.popup.closeToButton();
    this.dispatchEvent(new CustomEvent('chosen', { detail: id }));
  }
}

customElements.define('cs-menu', Menu);
