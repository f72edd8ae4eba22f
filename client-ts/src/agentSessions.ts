/**
 * *Open a Session of an Agent…*: the sessions that a hosted agent keeps of this folder; the one that a person picks
 * becomes a chat. Titles are the agent's words.
 */
import { type EditorText, editorText, type Texts } from './editorText.ts';
import type { PickItem } from './editorWindow.ts';
import type { Link } from './link.ts';
import type * as wire from './wire.gen.ts';

export interface SessionsHost extends Texts {
  pick<T extends PickItem>(items: T[], placeHolder: EditorText): Promise<T | undefined>;
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  showWork<T>(title: EditorText, work: (report: (step: EditorText) => void) => Promise<T>): Promise<T>;
}

const NAME_LIMIT = 80;

/** Whether it said when it was last started that it lists its sessions. */
export function listsSessions(agent: wire.AgentView): boolean {
  return agent.type === 'acp' && agent.listsSessions === true;
}

/** Whether it may have such sessions; of an agent that was not started yet only its start tells. */
export function mayListSessions(agent: wire.AgentView): boolean {
  return agent.type === 'acp' && agent.listsSessions !== false;
}

/** Comes back with the chat that has the session, new or not; undefined where none was picked. */
export async function openSession(
  link: Pick<Link, 'request'>,
  host: SessionsHost,
  agentName: string,
): Promise<string | undefined> {
  const { t } = host;
  const { sessions, more } = await host.showWork(t('Asking {0} for its sessions…', agentName), () =>
    link.request('agent/sessions', { agentName }),
  );
  if (sessions.length === 0) {
    host.tell('info', t('{0} has no sessions of this folder.', agentName));
    return undefined;
  }
  const items = sessions.map((session) => ({
    label: editorText(session.title ?? session.sessionId, NAME_LIMIT),
    description: editorText(timeOf(session), NAME_LIMIT),
    ...(session.threadId !== undefined && { detail: t('a chat has it already') }),
    session,
  }));
  const question = more
    ? t('Open which session of {0}? It has more than are listed.', agentName)
    : t('Open which session of {0}?', agentName);
  const chosen = await host.pick(items, question);
  if (!chosen) return undefined;
  const { sessionId, threadId } = chosen.session;
  if (threadId !== undefined) return threadId;
  const made = await host.showWork(t('{0} opens its session…', agentName), () =>
    link.request('thread/create', { agentName, sessionId }),
  );
  return made.threadId;
}

function timeOf({ updatedAt }: wire.AgentSession): string {
  const at = new Date(updatedAt ?? '');
  return Number.isNaN(at.getTime()) ? '' : at.toLocaleString();
}
