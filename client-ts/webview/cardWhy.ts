/** Why a card asks: the gate's reason and evidence, the agent's label and mode, and last the agent's own words. */
import { html, nothing, type TemplateResult } from 'lit';

import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { clipped, fullSentence, icon, revealed, serverText, verdictIcon, withheldButtons } from './drawn.ts';
import { fromServer, t } from './l10n.ts';
import type { State } from './state.ts';
import { labelWords, modeName, shortPath } from './words.ts';

/** Of an agent's own words; they decide nothing. */
const TITLE_LIMIT = 300;
/** What stands beside "Why?"; the whole of it is behind it. */
const REASON_LIMIT = 160;
/** A command may have thousands of effects. */
const EFFECTS = 200;

function agentsWords(
  { toolCall, agentName, agentOptions }: wire.ApprovalRequest,
  state: State,
): TemplateResult | typeof nothing {
  const { title } = toolCall;
  // Titles of our own tools are the gate's words and say what the card says anyway.
  const hosted =
    agentOptions !== undefined || state.agents.find((agent) => agent.agentName === agentName)?.type !== 'builtin';
  if (!title || !hosted) return nothing;
  return html`<p class="says"><span class="says-who">${t('The agent calls it:')}</span> <q>${clipped(title, TITLE_LIMIT)}</q></p>`;
}

/** Why it asks, in one line, and behind it all that the gate found. */
export function whyBox(
  approval: wire.ApprovalRequest,
  bridge: Bridge,
  opened: boolean,
  toggle: () => void,
): TemplateResult {
  const { state } = bridge;
  const evidence = approval.effects.find((effect) => effect.verdict !== 'allow')?.evidence;
  const mode =
    state.chats[approval.threadId]?.mode ?? state.threads.find((thread) => thread.threadId === approval.threadId)?.mode;
  const label = state.agents.find((agent) => agent.agentName === approval.agentName)?.label;
  const id = `card-why-${approval.approvalId}`;
  const shown = evidence?.rule && !approval.reason.includes(evidence.rule);
  return html`<div class="why-box">
      <p class="why-line">
        ${icon('info')}<span>${serverText(approval.reason, (text) => fullSentence(text, REASON_LIMIT))}${shown ? html`: ${ruleLink(evidence, bridge)}` : evidence?.file ? html` ${placeLink(evidence, bridge)}` : nothing}</span
        ><button type="button" class="link" aria-expanded=${opened ? 'true' : 'false'} aria-controls=${id} @click=${toggle}>${t('Why?')}</button>
      </p>
      <ul class="effects" id=${id} tabindex=${opened ? '0' : nothing} aria-label=${t('Why')} ?hidden=${!opened}>
        ${
          !opened
            ? nothing
            : html`${fromServer(approval.reason).length > REASON_LIMIT ? html`<li>${icon('info')}<span>${serverText(approval.reason, fullSentence)}</span></li>` : nothing}${approval.effects
                .slice(0, EFFECTS)
                .map(
                  (effect) =>
                    html`<li>${verdictIcon(effect.verdict)}<span><span class="effect-kind">${effectWord(effect.kind)}</span> <code>${revealed(effect.resource)}</code> <span class="why">${effect.evidence.reason === approval.reason ? nothing : serverText(effect.evidence.reason)}</span> ${effect.evidence.rule ? ruleLink(effect.evidence, bridge) : nothing}</span></li>`,
                )}${approval.effects.length > EFFECTS ? html`<li><span></span><span>${t('and {0} more', approval.effects.length - EFFECTS)}</span></li>` : nothing}`
        }
        ${label ? html`<li>${icon('hubot')}<span>${revealed(approval.agentName)}: ${labelWords(label)}</span></li>` : nothing}
        ${mode ? html`<li>${icon('settings')}<span>${t('mode {0}', modeName(mode))}</span></li>` : nothing}
      </ul>
      ${agentsWords(approval, state)}
      ${withheldButtons(approval.withheld, state.trusted, (name) => bridge.post({ type: 'passVariable', name }))}
    </div>`;
}

function ruleLink(evidence: wire.Evidence, bridge: Bridge): TemplateResult {
  return html`<code>${revealed(evidence.rule ?? '')}</code> ${placeLink(evidence, bridge)}`;
}

function placeLink({ file, line }: wire.Evidence, bridge: Bridge): TemplateResult | typeof nothing {
  if (!file) return nothing;
  const open = (event: Event): void => {
    event.preventDefault();
    bridge.post({ type: 'openFile', path: file, ...(line !== undefined && { line }) });
  };
  const { workspace, home } = bridge.state;
  return html`<a href="#" @click=${open}>${shortPath(file, workspace, home)}${line === undefined ? '' : `:${line}`}</a>`;
}

function effectWord(kind: wire.EffectKind): string {
  const words: Record<wire.EffectKind, string> = {
    read: t('reads'),
    write: t('writes'),
    command: t('runs'),
    fetch: t('fetches'),
    external: t('uses'),
  };
  return words[kind] ?? kind;
}
