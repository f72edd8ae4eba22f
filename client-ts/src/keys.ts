/**
 * Keys of model servers and hosted agents: entered by a person in a form, kept in the editor's secret storage, given to
 * the server for one request or one start of an agent. A key is bound to what the form named, the origin of a server or
 * the command line of an agent, and goes nowhere else.
 *
 * No key enters a setting, the log or the trace of messages; one of an agent enters that agent's environment alone.
 */
import { type EditorText, editorText, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import type { Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface KeysHost extends Texts {
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  /** Asks for a text that is not shown while it is typed; undefined if the form was closed. */
  askSecret(title: EditorText, prompt: EditorText): Promise<string | undefined>;
  /** Asks for a text that is shown while it is typed; undefined if the form was closed. */
  askText(title: EditorText, prompt: EditorText): Promise<string | undefined>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  readSecret(name: string): Promise<string | undefined>;
  storeSecret(name: string, value: string): Promise<void>;
  deleteSecret(name: string): Promise<void>;
}

export interface Keys {
  /** The form: whose key, then the key; an empty one removes it. */
  set(): Promise<void>;
  /** The form for one key that the login of an agent takes; undefined if it was closed. */
  enter(agentName: string, key: wire.AgentSecret): Promise<'kept' | 'removed' | undefined>;
  /** The server's question. */
  read(params: wire.SecretReadParams): Promise<wire.SecretReadResult>;
}

interface Kept {
  origin: string;
  key: string;
}

/** A key that can be entered, as the form offers it. */
interface KeyItem extends PickItem {
  label: EditorText;
  prompt: EditorText;
  secret: string;
  origin: string;
  /** No secret: it is shown while it is typed. */
  plain?: boolean;
}

const NAME_LIMIT = 80;

export function createKeys(link: Pick<Link, 'request'>, host: KeysHost): Keys {
  const { t } = host;
  const ofModel = ({ name, model, secret, origin }: wire.ModelView): KeyItem[] =>
    secret === undefined || origin === undefined
      ? []
      : [
          {
            label: editorText(name, NAME_LIMIT),
            description: editorText(model, NAME_LIMIT),
            detail: t('The key is sent to {0}', origin),
            prompt: t(
              'It is kept in the secret storage of the editor and sent to {0} only. Leave it empty to remove it.',
              origin,
            ),
            secret,
            origin,
          },
        ];
  const ofSecret = (
    agentName: string,
    { name, label, secret, origin, optional, plain }: wire.AgentSecret,
  ): KeyItem => ({
    label: editorText(label === undefined ? name : `${name} (${label})`, NAME_LIMIT),
    description: editorText(agentName, NAME_LIMIT),
    detail: t('The key is given to the program {0}', origin),
    prompt: optional
      ? t(
          'The login works without it. It is kept in the secret storage of the editor and given to the program {0} only. Leave it empty to remove it.',
          origin,
        )
      : t(
          'It is kept in the secret storage of the editor and given to the program {0} only. Leave it empty to remove it.',
          origin,
        ),
    secret,
    origin,
    ...(plain && { plain }),
  });
  const ofAgent = ({ agentName, secrets = [] }: wire.AgentView): KeyItem[] =>
    secrets.map((secret) => ofSecret(agentName, secret));

  async function enter({ label, prompt, secret, origin, plain }: KeyItem): Promise<'kept' | 'removed' | undefined> {
    const typed = plain
      ? await host.askText(t('Value of {0}', label), prompt)
      : await host.askSecret(t('Key of {0}', label), prompt);
    if (typed === undefined) return undefined;
    const key = typed.trim();
    if (key === '') {
      await host.deleteSecret(secret);
      return 'removed';
    }
    const kept: Kept = { origin, key };
    await host.storeSecret(secret, JSON.stringify(kept));
    return 'kept';
  }

  return {
    enter: (agentName, key) => enter(ofSecret(agentName, key)),
    async set() {
      const [{ models }, { agents }] = await Promise.all([
        link.request('model/list', {}),
        link.request('agent/list', {}),
      ]);
      const items = [...models.flatMap(ofModel), ...agents.flatMap(ofAgent)];
      if (items.length === 0)
        return host.tell(
          'info',
          host.t(
            'Nothing in your settings needs a key here; add a model under `countersign.models`, or `${secret:NAME}` to the `env` of an agent.',
          ),
        );
      const chosen = items.length === 1 ? items[0] : await host.pick(items, host.t('Which key?'));
      if (!chosen) return;
      const done = await enter(chosen);
      if (done === 'removed') host.tell('info', host.t('The key of {0} is removed.', chosen.label));
      if (done === 'kept')
        host.tell('info', host.t('The key of {0} is kept in the secret storage of the editor.', chosen.label));
    },
    async read({ name, origin }) {
      const kept = parsed(await host.readSecret(name));
      if (!kept) return {};
      if (kept.origin === origin) return { value: kept.key };
      return {
        reason: `the key of \`${name}\` was entered for ${kept.origin}; enter it again with \`Countersign: Set Key\``,
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
