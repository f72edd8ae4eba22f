/**
 * Open questions of agents as the server told them, and the person's answers to them. A question is no approval: nothing
 * here reaches the gate, and no answer is kept or logged. A URL is opened as the server gave it, never as the webview did.
 */
import type { Texts } from './editorText.ts';
import type { IntentOf } from './intents.ts';
import { asServerError, defined, type Link } from './link.ts';
import type { ToWebview } from './messages.ts';
import type * as wire from './wire.gen.ts';

export interface QuestionsHost extends Texts {
  /** Opens an http(s) URL outside of the editor; false if the person would not. */
  openLink(href: string): Promise<boolean>;
}

export interface Questions {
  /** In the order in which they were asked. */
  all(): readonly wire.ElicitationRequest[];
  asked(question: wire.ElicitationRequest): void;
  resolved(resolved: wire.ElicitationResolved): void;
  /** The server is gone, and the agents with it. */
  forget(): void;
  submit(intent: IntentOf<'questionSubmit'>): Promise<void>;
  open(intent: IntentOf<'questionOpen'>): Promise<void>;
  refuse(intent: IntentOf<'questionRefuse'>): Promise<void>;
}

export function createQuestions(
  link: Pick<Link, 'request'>,
  host: QuestionsHost,
  post: (message: ToWebview) => void,
): Questions {
  const open = new Map<string, wire.ElicitationRequest>();

  async function respond(params: wire.ElicitationRespondParams): Promise<void> {
    const { elicitationId } = params;
    try {
      await link.request('elicitation/respond', defined(params));
    } catch (error) {
      post({ type: 'questionFailed', elicitationId, message: asServerError(error).message });
    }
  }

  function found(elicitationId: string): wire.ElicitationRequest | undefined {
    const question = open.get(elicitationId);
    if (!question)
      post({ type: 'questionFailed', elicitationId, message: host.t('This question has ended; nothing was sent.') });
    return question;
  }

  return {
    all: () => [...open.values()],
    asked(question) {
      open.set(question.elicitationId, question);
      post({ type: 'question', question });
    },
    resolved(resolved) {
      open.delete(resolved.elicitationId);
      post({ type: 'questionResolved', resolved });
    },
    forget: () => open.clear(),
    async submit({ elicitationId, content }) {
      if (found(elicitationId)?.schema) await respond({ elicitationId, action: 'accept', content });
    },
    async open({ elicitationId }) {
      const url = found(elicitationId)?.url;
      if (url === undefined) return;
      if (await host.openLink(url)) return respond({ elicitationId, action: 'accept' });
      post({ type: 'questionFailed', elicitationId, message: host.t('Not opened; the question stays open.') });
    },
    async refuse({ elicitationId, action }) {
      if (found(elicitationId)) await respond({ elicitationId, action });
    },
  };
}
