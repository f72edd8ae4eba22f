/**
 * The ledger as the editor sees it: keeps the anchor outside the storage folder, says when the chain is broken, and lets
 * the person begin a new one. Nothing but reads runs while it is broken; the server holds that, not this module.
 */
import { editorText, type EditorText, type Modals } from './editorText.ts';
import { asServerError, type Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface LedgerHost extends Modals {
  notify(message: EditorText, ...buttons: EditorText[]): Promise<string | undefined>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  /** Kept beside the editor's own state, for all windows. */
  ledgerAnchor(): wire.LedgerHead | undefined;
  keepLedgerAnchor(head: wire.LedgerHead): void;
}

export interface Ledger {
  /** For `initialize`. */
  anchor(): { ledgerAnchor?: wire.LedgerHead };
  moved(head: wire.LedgerHead): void;
  changed(status: wire.LedgerStatus): void;
  /** Asks the person in a modal; for the command and for the notification. */
  newChain(): Promise<void>;
}

/** What a sentence quotes of the server's reason. */
const REASON_LIMIT = 300;

export function createLedger(link: Pick<Link, 'request'>, host: LedgerHost): Ledger {
  let status: wire.LedgerStatus | undefined;

  async function newChain(): Promise<void> {
    try {
      status = await link.request('ledger/status', {});
      if (status.state !== 'broken') return host.tell('info', host.t('The chain of the ledger is not broken.'));
      const begin = host.t('Begin a New Chain');
      const detail = host.detail(
        'The ledger was damaged: {0}\n\nIt is set aside under a dated name and never deleted. The new chain begins with a row that names the damage. Look at the damaged one first with "countersign history --verify" if you do not know what happened.',
        host.fromServer(status.reason ?? ''),
      );
      const question = host.t('Begin a new ledger chain?');
      if ((await host.choose(question, detail, host.safeButton('changeNothing'), begin)) !== begin) return;
      await link.request('ledger/newChain', { reason: 'a person confirmed it in the editor' });
    } catch (error) {
      host.tell(
        'error',
        host.t('No new chain was begun: {0}', editorText(host.fromServer(asServerError(error).message), REASON_LIMIT)),
      );
    }
  }

  return {
    anchor() {
      const ledgerAnchor = host.ledgerAnchor();
      return ledgerAnchor ? { ledgerAnchor } : {};
    },
    moved: (head) => host.keepLedgerAnchor(head),
    changed(next) {
      const was = status?.state;
      status = next;
      if (next.state !== 'broken' || was === 'broken') return;
      const look = host.t('Begin a New Chain…');
      void host
        .notify(
          host.t(
            'The ledger is damaged, so only reads run: {0}',
            editorText(host.fromServer(next.reason ?? ''), REASON_LIMIT),
          ),
          look,
        )
        .then((pressed) => (pressed === look ? newChain() : undefined));
    },
    newChain,
  };
}
