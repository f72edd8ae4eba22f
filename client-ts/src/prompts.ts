/**
 * Prompts on their way to the server. One that is written while a turn runs waits here, where the person can still change
 * or remove it, and is sent when the turn has ended by itself. After a stop or an error the rest waits for the person, and
 * so does one whose attachments were lost, because they are not kept beyond the window.
 */
import { asServerError, type Link } from './link.ts';
import type { QueuedPrompt, ToWebview } from './messages.ts';
import type * as wire from './wire.gen.ts';

interface Waiting extends QueuedPrompt {
  attachments?: wire.Attachment[];
  /** The person stopped the turn to have this one sent. */
  now?: boolean;
}

export interface Prompts {
  /** Sends it, or queues it behind the turn that runs; comes back when its turn has ended. */
  send(threadId: string, text: string, attachments?: wire.Attachment[]): Promise<void>;
  remove(threadId: string, id: string): void;
  /** Sends a queued prompt before all others, and stops the turn that runs for it. */
  sendNow(threadId: string, id: string): Promise<void>;
  /** Sends the prompt of a chat again that its agent did not take for want of a login; says whether there was one. */
  sendAgain(threadId: string): boolean;
  queued(): Record<string, QueuedPrompt[]>;
  /** Follows the turns that run without a prompt of this window, such as one taken up after a reload. */
  updated(update: wire.ThreadUpdate): void;
  opened(threadId: string, running: boolean): void;
  threadGone(threadId: string): void;
  /** The server that ran the turns has gone. */
  disconnected(): void;
}

export interface PromptsHost {
  /** Prompts that waited when the window was closed, in the shape in which they were kept. */
  keptPrompts(): unknown;
  keepPrompts(queued: Record<string, QueuedPrompt[]>): void;
}

export function createPrompts(
  link: Pick<Link, 'request' | 'notify'>,
  host: PromptsHost,
  post: (message: ToWebview) => void,
  /** A prompt was sent, or its turn has ended: the list of chats is another. */
  changed: () => Promise<void>,
  /** The mode in which this window shows a chat; its turn runs in no looser one. */
  modeOf: (threadId: string) => wire.Mode | undefined,
): Prompts {
  const waiting = new Map<string, Waiting[]>(Object.entries(asQueues(host.keptPrompts())));
  const sent = new Map<string, number>();
  const running = new Set<string>();
  const withoutLogin = new Map<string, Pick<Waiting, 'text' | 'attachments'>>();
  /** Chats whose agent has begun to answer the latest prompt. */
  const answering = new Set<string>();
  let last = 0;

  const isBusy = (threadId: string): boolean => (sent.get(threadId) ?? 0) > 0 || running.has(threadId);

  function queued(): Record<string, QueuedPrompt[]> {
    return Object.fromEntries(
      [...waiting]
        .filter(([, prompts]) => prompts.length > 0)
        .map(([threadId, prompts]) => [threadId, prompts.map(shown)]),
    );
  }

  function change(threadId: string, prompts: Waiting[]): void {
    if (prompts.length > 0) waiting.set(threadId, prompts);
    else waiting.delete(threadId);
    post({ type: 'queued', threadId, prompts: prompts.map(shown) });
    host.keepPrompts(queued());
  }

  async function send(threadId: string, text: string, attachments: wire.Attachment[] = []): Promise<void> {
    if (isBusy(threadId)) {
      const id = `${Date.now()}-${++last}`;
      const attached = attachments.length > 0 && { attached: attachments.length };
      return change(threadId, [...(waiting.get(threadId) ?? []), { id, text, attachments, ...attached }]);
    }
    sent.set(threadId, (sent.get(threadId) ?? 0) + 1);
    withoutLogin.delete(threadId);
    answering.delete(threadId);
    post({ type: 'prompted', threadId, text });
    let reason: wire.StopReason = 'error';
    try {
      const shownMode = modeOf(threadId);
      const turn = link.request('thread/prompt', {
        threadId,
        text,
        ...(shownMode && { shownMode }),
        ...(attachments.length > 0 && { attachments }),
      });
      void changed().catch(() => undefined); // the list is drawn again when the turn ends
      reason = (await turn).stopReason;
      post({ type: 'turnEnded', threadId });
    } catch (error) {
      const { kind, message } = asServerError(error);
      if (kind === 'needsLogin' && !answering.has(threadId)) withoutLogin.set(threadId, { text, attachments });
      post({ type: 'turnEnded', threadId, error: message });
    }
    sent.set(threadId, (sent.get(threadId) ?? 1) - 1);
    running.delete(threadId);
    await Promise.all([ended(threadId, reason), changed()]);
  }

  /** The next one follows a turn that ended by itself, or the person asked for it. */
  async function ended(threadId: string, reason: wire.StopReason): Promise<void> {
    const [next, ...rest] = waiting.get(threadId) ?? [];
    if (!next || isBusy(threadId)) return;
    if (!next.now && (next.lost || reason === 'cancelled' || reason === 'error')) return;
    change(threadId, rest);
    await send(threadId, next.text, next.attachments);
  }

  function taken(threadId: string, id: string): [Waiting | undefined, Waiting[]] {
    const prompts = waiting.get(threadId) ?? [];
    return [prompts.find((prompt) => prompt.id === id), prompts.filter((prompt) => prompt.id !== id)];
  }

  return {
    send,
    sendAgain(threadId) {
      const prompt = withoutLogin.get(threadId);
      if (!prompt || isBusy(threadId)) return false;
      void send(threadId, prompt.text, prompt.attachments);
      return true;
    },
    queued,
    remove(threadId, id) {
      change(threadId, taken(threadId, id)[1]);
    },
    async sendNow(threadId, id) {
      const [prompt, others] = taken(threadId, id);
      if (!prompt) return;
      if (isBusy(threadId)) {
        change(threadId, [{ ...prompt, now: true }, ...others]);
        return link.notify('thread/cancel', { threadId });
      }
      change(threadId, others);
      await send(threadId, prompt.text, prompt.attachments);
    },
    updated({ threadId, events }) {
      if (events.some(({ type }) => type === 'text' || type === 'toolCall')) answering.add(threadId);
      const end = events.findLast((event) => event.type === 'done');
      if (!end) {
        if (events.some(({ type }) => type === 'prompt' || type === 'text' || type === 'toolCall'))
          running.add(threadId);
        return;
      }
      running.delete(threadId);
      // The end of a prompt of ours is its answer, which comes next.
      if (!isBusy(threadId)) void ended(threadId, end.stopReason);
    },
    opened(threadId, runs) {
      if (runs) running.add(threadId);
      else running.delete(threadId);
    },
    threadGone(threadId) {
      withoutLogin.delete(threadId);
      change(threadId, []);
    },
    disconnected() {
      running.clear();
    },
  };
}

function shown({ id, text, attached, lost }: Waiting): QueuedPrompt {
  return { id, text, ...(attached !== undefined && { attached }), ...(lost && { lost }) };
}

/** What was kept, as far as it has the shape of it. */
function asQueues(kept: unknown): Record<string, Waiting[]> {
  if (typeof kept !== 'object' || kept === null) return {};
  return Object.fromEntries(
    Object.entries(kept).flatMap(([threadId, prompts]: [string, unknown]) => {
      const known = (Array.isArray(prompts) ? prompts : []).filter(
        (prompt: unknown): prompt is QueuedPrompt =>
          typeof prompt === 'object' &&
          prompt !== null &&
          'id' in prompt &&
          typeof prompt.id === 'string' &&
          'text' in prompt &&
          typeof prompt.text === 'string',
      );
      return known.length > 0 ? [[threadId, known.map(withoutAttachments)]] : [];
    }),
  );
}

function withoutAttachments({ id, text, attached }: QueuedPrompt): Waiting {
  return typeof attached === 'number' ? { id, text, attached, lost: true } : { id, text };
}
