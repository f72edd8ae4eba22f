/**
 * Logging in to a hosted agent that says that it needs a login, by one of the methods that it offers.
 *
 * INVARIANT (asked again): a command for a terminal is shown whole in a modal before it is run, and what was shown is what
 * is run; its words may be the agent's. It runs with the person's own rights, as if they had typed it.
 * A key is entered in a form that names the program that it is given to; the server then starts the agent anew with it.
 */
import type { Question } from './approvals.ts';
import { block, type EditorText, editorText, paragraphs, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import { asServerError, type Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface LoginHost extends Texts {
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  confirm(question: Question): Promise<boolean>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  showWork<T>(title: EditorText, work: (report: (step: EditorText) => void) => Promise<T>): Promise<T>;
  /** Asks for a key and keeps it; undefined if the form was closed. */
  enterKey(agentName: string, key: wire.AgentSecret): Promise<'kept' | 'removed' | undefined>;
  /** Runs a program in a new terminal that is shown; gives its exit code, if it had one, when the terminal is closed. */
  runInTerminal(name: EditorText, command: readonly string[]): Promise<number | undefined>;
}

/** Opens the page of a login method as the server gave it, never as the webview did. */
export async function openLoginLink(
  host: Texts & Pick<LoginHost, 'tell'> & { openLink(href: string): Promise<boolean> },
  agent: wire.AgentView | undefined,
  methodId: string,
): Promise<void> {
  const url = agent?.login?.find((method) => method.methodId === methodId)?.link?.url;
  if (url === undefined) host.tell('info', host.t('This login is no longer offered; nothing was opened.'));
  else await host.openLink(url);
}

const NAME_LIMIT = 80;
const SENTENCE_LIMIT = 300;

/** `sendAgain` sends the message that the agent did not take for want of the login, and says whether there was one. */
export async function logIn(
  link: Pick<Link, 'request'>,
  host: LoginHost,
  agent: wire.AgentView,
  sendAgain: () => boolean,
): Promise<void> {
  const { t } = host;
  const { agentName, login: methods = [] } = agent;
  if (methods.length === 0)
    return host.tell('info', t('{0} offers no way to log in from here. Use its own program in a terminal.', agentName));
  const items = methods.map((method) => ({
    label: editorText(method.name, NAME_LIMIT),
    ...(method.command && { description: t('in a terminal') }),
    ...(method.keys && { description: t('Set Key') }),
    ...(method.description !== undefined && { detail: editorText(method.description, SENTENCE_LIMIT) }),
    method,
  }));
  const chosen = items.length === 1 ? items[0] : await host.pick(items, t('Log in to {0}', agentName));
  if (!chosen) return;
  try {
    const { command, keys = [], methodId } = chosen.method;
    for (const key of keys) {
      const done = await host.enterKey(agentName, key);
      if (done === undefined || (done === 'removed' && !key.optional)) return;
    }
    if (command) {
      if (!(await inTerminal(host, agentName, command))) return;
      // It reads its login when it starts.
      await link.request('agent/restart', { agentName });
    } else {
      const title = t('Logging in to {0}…', agentName);
      await host.showWork(title, () => link.request('agent/login', { agentName, methodId }));
    }
    if (!sendAgain()) host.tell('info', t('You can send messages to {0} now.', agentName));
  } catch (error) {
    host.tell('error', editorText(host.fromServer(asServerError(error).message)));
  }
}

async function inTerminal(host: LoginHost, agentName: string, command: readonly string[]): Promise<boolean> {
  const { t, detail } = host;
  // A word on a line each, so that none can look like two.
  const words = block(command.join('\n'));
  if (words.rest > 0) {
    host.tell('error', t('The command of {0} is too long to be shown.', agentName));
    return false;
  }
  const yes = await host.confirm({
    message: t('Log in to {0} in a terminal?', agentName),
    detail: paragraphs(
      detail('This program is run with these arguments, which the agent asks for:\n{0}', words),
      detail('It runs with your own rights, outside of the rules and the sandbox. The agent is restarted afterwards.'),
    ),
    button: t('Open the Terminal'),
  });
  if (!yes) return false;
  // INVARIANT (asked again)
  const code = await host.runInTerminal(t('Log in to {0}', agentName), command);
  // Who closes the terminal of a program that runs on may have logged in: the agent says whether they have.
  if (code === undefined || code === 0) return true;
  host.tell(
    'warning',
    t('The login of {0} ended with exit code {1}. Log in again to send the message.', agentName, code),
  );
  return false;
}
