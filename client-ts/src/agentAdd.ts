/**
 * *Add Agent…*: agents that the server found on this machine, one of which a person has written into the user's settings.
 *
 * INVARIANT (asked again): the modal shows the command before anything is written, and the server writes that command or
 * nothing. Nothing is installed from here: for an agent that is not installed the person gets the command as text.
 */
import type { Question } from './approvals.ts';
import { block, type DialogText, type EditorText, editorText, paragraphs, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import { asServerError, type Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface AddAgentHost extends Texts {
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  confirm(question: Question): Promise<boolean>;
  copy(text: string): Promise<void>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
}

const NAME_LIMIT = 80;
const SENTENCE_LIMIT = 300;

export async function addAgent(link: Pick<Link, 'request'>, host: AddAgentHost): Promise<void> {
  try {
    const { agents } = await link.request('agent/known', {});
    const chosen = await host.pick(
      agents.map((agent) => rowOf(agent, host)),
      host.t('Which agent is to be added?'),
    );
    if (!chosen) return;
    await (chosen.agent.command
      ? add(link, host, chosen.agent, chosen.agent.command)
      : tellInstall(host, chosen.agent));
  } catch (error) {
    host.tell('error', editorText(host.fromServer(asServerError(error).message)));
  }
}

async function add(
  link: Pick<Link, 'request'>,
  host: AddAgentHost,
  agent: wire.KnownAgent,
  command: string[],
): Promise<void> {
  const { t, detail } = host;
  const title = editorText(agent.title, NAME_LIMIT);
  // A word on a line each, so that none can look like two.
  const words = block(command.join('\n'));
  if (words.rest > 0) return host.tell('error', t('The command of {0} is too long to be shown.', title));
  const yes = await host.confirm({
    message: t('Add {0} to your settings?', title),
    detail: paragraphs(
      detail('It is started with this program and these arguments:\n{0}', words),
      agent.installed?.version !== undefined && detail('Version: {0}', agent.installed.version),
      detail('{0}: {1}', labelWords(agent.label, host), host.fromServer(agent.why)),
      ...needs(agent, host),
      agent.configured.length > 0 && detail('Your settings have it already, as {0}.', agent.configured.join(', ')),
    ),
    button: t('Add Agent'),
  });
  // INVARIANT (asked again)
  if (!yes) return;
  const { agentName } = await link.request('agent/add', { recipe: agent.recipe, command });
  host.tell('info', t('{0} is added. Choose it beneath the text box for a new chat.', agentName));
}

async function tellInstall(host: AddAgentHost, agent: wire.KnownAgent): Promise<void> {
  const { t, detail } = host;
  const yes = await host.confirm({
    message: t('{0} is not installed', editorText(agent.title, NAME_LIMIT)),
    detail: paragraphs(
      detail('Install it in a terminal, then choose Add Agent… again:\n{0}', agent.install),
      detail('{0}: {1}', labelWords(agent.label, host), host.fromServer(agent.why)),
      ...needs(agent, host),
    ),
    button: t('Copy the Command'),
  });
  if (yes) await host.copy(agent.install);
}

/** What a person has to do besides. */
function needs(agent: wire.KnownAgent, { detail }: Texts): (DialogText | false)[] {
  return [
    agent.missing.length > 0 && detail('It needs programs that are not in PATH: {0}', agent.missing.join(', ')),
    agent.login !== undefined && detail('Log in once, in a terminal: {0}', agent.login),
  ];
}

type Row = PickItem & { agent: wire.KnownAgent };

function rowOf(agent: wire.KnownAgent, host: Texts): Row {
  const { t } = host;
  const { installed } = agent;
  const label = labelWords(agent.label, host);
  const state = !installed
    ? t('not installed')
    : agent.configured.length > 0
      ? t('added already, as {0}', agent.configured.join(', '))
      : installed.version === undefined
        ? label
        : t('{0} · {1}', installed.version, label);
  return {
    label: editorText(agent.title, NAME_LIMIT),
    description: state,
    detail: installed
      ? editorText(host.fromServer(agent.why), SENTENCE_LIMIT)
      : t('Install: {0}', editorText(agent.install)),
    agent,
  };
}

function labelWords(label: wire.KnownAgent['label'], { t }: Texts): EditorText {
  const words = {
    gated: t('gated'),
    asksOnly: t('asks only'),
    sandboxed: t('sandboxed'),
    unguarded: t('unguarded'),
  } satisfies Record<wire.KnownAgent['label'], EditorText>;
  return words[label];
}
