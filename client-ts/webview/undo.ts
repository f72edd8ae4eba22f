/**
 * Whether a change of a file can be taken back, as the history's rows say; for the rows of a chat and of the history alike.
 * The server looks again before it does.
 */
import { html, nothing, type TemplateResult } from 'lit';

import type * as wire from '../src/wire.gen.ts';
import type { Bridge } from './bridge.ts';
import { icon } from './drawn.ts';
import { t } from './l10n.ts';

/** For how long the server keeps what a file held before. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** The button, or the word that it was taken back; nothing where the server could not do it, or that is not known yet. */
export function undoButton(
  receiptId: string,
  rows: readonly wire.HistoryEntry[],
  bridge: Bridge,
): TemplateResult | typeof nothing {
  const { undone, history } = bridge.state;
  if (undone.includes(receiptId) || [...rows, ...history.entries].some((row) => tookBack(row, receiptId)))
    return html`<p class="facts">${t('This change was taken back.')}</p>`;
  if (!rows.some((row) => row.receiptId === receiptId && canBeUndone(row))) return nothing;
  return html`<button type="button" class="secondary small" @click=${() => bridge.post({ type: 'undo', receiptId })}>${icon('discard')} ${t('Undo this change')}</button>`;
}

/** Whether the server has what it needs, whichever agent made the change; the file may differ by now. */
function canBeUndone({ phase, outcome, at }: wire.HistoryEntry): boolean {
  if (phase !== 'finished' || outcome?.['ended'] !== 'done' || typeof outcome['path'] !== 'string') return false;
  switch (outcome['operation']) {
    case 'move':
      return typeof outcome['to'] === 'string';
    case 'create':
    case 'edit':
    case 'delete':
      if (typeof outcome['sha256Before'] !== 'string') return true;
      return outcome['beforeKept'] !== false && Date.now() - Date.parse(at) < KEPT_MS;
    default:
      return false;
  }
}

function tookBack({ phase, outcome }: wire.HistoryEntry, receiptId: string): boolean {
  return (
    phase === 'finished' &&
    outcome?.['operation'] === 'undo' &&
    outcome['ended'] === 'done' &&
    outcome['of'] === receiptId
  );
}
