/**
 * A list that opens from a button: placed where there is room, walked with the arrow keys, closed by Escape, by leaving
 * it and by a click elsewhere. Closing it decides nothing. The list's content and meaning are the element's own.
 */
import type { LitElement, ReactiveController } from 'lit';

const MARGIN = 6;

export class Popup implements ReactiveController {
  isOpen = false;

  constructor(
    private readonly host: LitElement,
    private readonly button: string,
    private readonly list: string,
    private readonly entries: string,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    document.addEventListener('pointerdown', this.onElsewhere, true);
    window.addEventListener('resize', this.onResize);
  }

  hostDisconnected(): void {
    document.removeEventListener('pointerdown', this.onElsewhere, true);
    window.removeEventListener('resize', this.onResize);
  }

  hostUpdated(): void {
    if (this.isOpen) this.place();
  }

  readonly toggle = (): void => {
    if (this.isOpen) this.close();
    else void this.open();
  };

  /** Opens with the chosen entry focused, or else the first that is no danger; else the list itself, where Enter does nothing. */
  async open(): Promise<void> {
    this.isOpen = true;
    this.host.requestUpdate();
    await this.host.updateComplete;
    const chosen = this.host.querySelector<HTMLElement>(`${this.entries}[aria-selected="true"]`);
    (
      chosen ??
      this.all().find((entry) => !entry.classList.contains('danger')) ??
      this.host.querySelector<HTMLElement>(this.list)
    )?.focus();
  }

  close(): void {
    this.isOpen = false;
    this.host.requestUpdate();
  }

  closeToButton(): void {
    this.close();
    this.host.querySelector<HTMLElement>(this.button)?.focus();
  }

  readonly onButtonKey = (event: KeyboardEvent): void => {
    if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !event.altKey) {
      event.preventDefault();
      if (!this.isOpen) void this.open();
    }
  };

  readonly onListKey = (event: KeyboardEvent): void => {
    const all = this.all();
    const at = all.indexOf(event.target as HTMLElement);
    const go = (index: number): void => {
      event.preventDefault();
      event.stopPropagation();
      all[(index + all.length) % all.length]?.focus();
    };
    if (event.key === 'ArrowDown' && !event.altKey) go(at + 1);
    else if (event.key === 'ArrowUp' && !event.altKey) go(at - 1);
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(all.length - 1);
    else if (event.key === 'Tab') this.close();
    else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      this.closeToButton();
    } else if ((event.key === 'Enter' || event.key === ' ') && at >= 0) {
      // With other keys held it is another command, and must not choose what happens to hold the focus.
      event.preventDefault();
      event.stopPropagation();
      if (!event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat) (event.target as HTMLElement).click();
    }
  };

  private all(): HTMLElement[] {
    return [...this.host.querySelectorAll<HTMLElement>(this.entries)].filter(
      (entry) => entry.getAttribute('aria-disabled') !== 'true',
    );
  }

  private readonly onElsewhere = (event: Event): void => {
    if (this.isOpen && !event.composedPath().includes(this.host)) this.close();
  };

  private readonly onResize = (): void => {
    if (this.isOpen) this.close();
  };

  /** Above or below the button, whichever has the room; styles by property, which the content policy allows. */
  private place(): void {
    const button = this.host.querySelector<HTMLElement>(this.button);
    const list = this.host.querySelector<HTMLElement>(this.list);
    if (!button || !list) return;
    const anchor = button.getBoundingClientRect();
    const above = anchor.top - 2 * MARGIN;
    const below = window.innerHeight - anchor.bottom - 2 * MARGIN;
    const up = above > below;
    list.style.maxHeight = `${Math.max(80, up ? above : below)}px`;
    list.style.maxWidth = `${window.innerWidth - 2 * MARGIN}px`;
    // Measured from the edge, where it may be as wide as it likes.
    list.style.left = `${MARGIN}px`;
    const left = Math.min(anchor.left, window.innerWidth - list.offsetWidth - MARGIN);
    list.style.left = `${Math.max(MARGIN, left)}px`;
    list.style.top = up ? '' : `${anchor.bottom + 2}px`;
    list.style.bottom = up ? `${window.innerHeight - anchor.top + 2}px` : '';
  }
}
