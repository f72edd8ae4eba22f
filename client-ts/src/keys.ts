/**
 * Keys of model servers: entered by a person in a form, kept in the editor's secret storage, given to the server for one
 * request at a time. A key is bound to the origin that the form named, and goes nowhere else.
 *
 * No key enters a setting, the log, the trace of messages or an environment.
 */
import { type EditorText, editorText, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import type { Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface KeysHost extends Texts {
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  /** Asks for a text that is not shown while it is typed; undefined if the form was closed. */
  askSecret(title: EditorText, prompt: EditorText): Promise<string | undefined>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  readSecret(name: string): Promise<string | undefined>;
  storeSecret(name: string, value: string): Promise<void>;
  deleteSecret(name: string): Promise<void>;
}

export interface Keys {
  /** The form: which model, then its key; an empty one removes it. */
  set(): Promise<void>;
  /** The server's question. */
  read(params: wire.SecretReadParams): Promise<wire.SecretReadResult>;
}

interface Kept {
  origin: string;
  key: string;
}

const NAME_LIMIT = 80;

export function createKeys(link: Pick<Link, 'request'>, host: KeysHost): Keys {
  return {
    async set() {
      const { models } = await link.request('model/list', {});
      const items = models.flatMap((model) =>
        model.secret === undefined || model.origin === undefined
          ? []
          : [
              {
                label: editorText(model.name, NAME_LIMIT),
                description: editorText(model.model, NAME_LIMIT),
                detail: host.t('The key is sent to {0}', model.origin),
                secret: model.secret,
                origin: model.origin,
              },
            ],
      );
      if (items.length === 0)
        return host.tell(
          'info',
          host.t('No model of your settings needs a key here; add one under `countersign.models`.'),
        );
      const chosen = items.length === 1 ? items[0] : await host.pick(items, host.t('The key of which model?'));
      if (!chosen) return;
      const typed = await host.askSecret(
        host.t('Key of {0}', chosen.label),
        host.t(
          'It is kept in the secret storage of the editor and sent to {0} only. Leave it empty to remove it.',
          chosen.origin,
        ),
      );
      if (typed === undefined) return;
      const key = typed.trim();
      if (key === '') {
        await host.deleteSecret(chosen.secret);
        return host.tell('info', host.t('The key of {0} is removed.', chosen.label));
      }
      const kept: Kept = { origin: chosen.origin, key };
      await host.storeSecret(chosen.secret, JSON.stringify(kept));
      host.tell('info', host.t('The key of {0} is kept in the secret storage of the editor.', chosen.label));
    },
    async read({ name, origin }) {
      const kept = parsed(await host.readSecret(name));
      if (!kept) return {};
      if (kept.origin === origin) return { value: kept.key };
      return {
        reason: `the key of \`${name}\` was entered for ${kept.origin}; enter it again with \`Countersign: Set Model Key\``,
      };
    },
  };
}

function parsed(text: string | undefined): Kept | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('origin' in value) || !('key' in value)) return undefined;
    return typeof value.origin === 'string' && typeof value.key === 'string'
      ? { origin: value.origin, key: value.key }
      : undefined;
  } catch {
    return undefined;
  }
}
