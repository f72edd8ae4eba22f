/**
 * A probe of a configured agent, in a terminal: it finds out on this machine whether the agent asks before it acts.
 *
 * INVARIANT (asked again): the program says in the terminal what it will start and asks there. The terminal does not take
 * the focus, so that no key meant for the editor answers it.
 */
import { type EditorText, editorText, type Texts } from './editorText.ts';
import { asServerError, type Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface ProbeHost extends Texts {
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  /** Runs a program in a new terminal that is shown, without the terminal settings of the workspace. */
  openTerminal(name: EditorText, command: readonly string[]): void;
}

const NAME_LIMIT = 80;
const SENTENCE_LIMIT = 400;

/** Agents that can be probed: the built-in one asks by construction. */
export function canProbe(agent: wire.AgentView): boolean {
  return agent.type === 'acp';
}

export async function probeAgent(link: Pick<Link, 'request'>, host: ProbeHost, agent: wire.AgentView): Promise<void> {
  if (!canProbe(agent)) return;
  try {
    const { command } = await link.request('agent/probe', { agentName: agent.agentName });
    host.openTerminal(host.t('Probe {0}', editorText(agent.agentName, NAME_LIMIT)), command);
  } catch (error) {
    const reason = editorText(host.fromServer(asServerError(error).message), SENTENCE_LIMIT);
    host.tell('error', host.t('The agent cannot be probed: {0}', reason));
  }
}
