/** Commands that run or ran, with their output read on while they are open. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { Drawn, icon, revealed } from './drawn.ts';
import { t } from './l10n.ts';
import type { State } from './state.ts';

/** Milliseconds between two looks at the output of a running command that is open on the screen. */
const POLL = 1000;

export class Shells extends Drawn {
  static override properties = { bridge: { attribute: false }, state: { attribute: false }, opened: { state: true } };
  declare bridge: Bridge;
  declare state: State;
  declare private opened: string | undefined;

  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => {
      const shell = this.state.shells.find((one) => one.shellId === this.opened);
      if (shell?.state === 'running') this.readOn(shell.shellId);
    }, POLL);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('state')?.shells.find((one) => one.shellId === this.opened);
    const now = this.state.shells.find((one) => one.shellId === this.opened);
    // Ended since: what it said last is still to be read.
    if (before && now && before.state !== now.state) this.readOn(now.shellId);
  }

  protected override render(): TemplateResult {
    const { shells } = this.state;
    // What runs comes first, and of the rest what was started last.
    const order = shells
      .toReversed()
      .sort((one, other) => Number(other.state === 'running') - Number(one.state === 'running'));
    return html`<section class="page" aria-label=${t('Shells')}>
      <div class="page-scroll" tabindex="0">
        ${repeat(
          order,
          (shell) => shell.shellId,
          (shell) => this.row(shell),
        )} ${shells.length === 0 ? html`<p class="empty">${t('No command runs in the background.')}</p>` : nothing}
      </div>
    </section>`;
  }

  private row(shell: wire.ShellView): TemplateResult {
    const opened = this.opened === shell.shellId;
    const running = shell.state === 'running';
    const how = running
      ? shell.background
        ? t('running in the background')
        : t('running')
      : shell.state === 'killed'
        ? t('killed')
        : t('exit {0}', shell.exitCode ?? '?');
    const output = this.state.outputs[shell.shellId];
    return html`<div class="decided ${running ? 'running' : shell.exitCode === 0 ? 'done' : 'failed'}" data-testid="shell-row" data-shell-id=${shell.shellId} data-state=${shell.state}>
      <div class="shell-line">
        <button type="button" class="decided-line" aria-expanded=${opened ? 'true' : 'false'} @click=${() => this.toggle(shell.shellId)}>
          ${icon(running ? 'loading' : 'terminal', running ? 'codicon-modifier-spin' : '')}<span class="call-title">${revealed(shell.command)}</span><span class="call-how">${how}</span>${icon(opened ? 'chevron-down' : 'chevron-right')}
        </button>
        ${running ? html`<button type="button" class="tool" aria-label=${t('Kill {0}', shell.command)} title=${t('Kill')} @click=${() => this.bridge.post({ type: 'shellKill', shellId: shell.shellId })}>${icon('trash')}</button>` : nothing}
      </div>
      ${
        opened
          ? html`<div class="decided-body">
            ${output?.truncated ? html`<p class="facts">${t('Only the last part is shown.')}</p>` : nothing}
            <pre class="code output" tabindex="0" aria-label=${t('Output')}>${output ? revealed(output.text || t('no output yet')) : t('Loading')}</pre>
          </div>`
          : nothing
      }
    </div>`;
  }

  private toggle(shellId: string): void {
    this.opened = this.opened === shellId ? undefined : shellId;
    if (this.opened) this.readOn(shellId);
  }

  private readOn(shellId: string): void {
    this.bridge.post({ type: 'shellOutput', shellId, from: this.state.outputs[shellId]?.next ?? 0 });
  }
}

customElements.define('cs-shells', Shells);
