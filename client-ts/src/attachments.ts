/**
 * What a person hands along with a prompt: files by their path, and selections with their text, which the webview never
 * holds. A path alone gives an agent nothing to read: whatever it reads then is judged as any call.
 */
import { defined } from './link.ts';
import type { Attached, Completion, ToWebview } from './messages.ts';
import { shortPath } from './subject.ts';
import type * as wire from './wire.gen.ts';

export interface AttachmentsHost {
  /** The open file, with what is selected in it; undefined if no file is open. */
  selection(): wire.Attachment | undefined;
  /** Files and symbols of the workspace whose names contain the text. */
  complete(text: string): Promise<Completion[]>;
  surroundings(): { workspace?: string; home?: string };
}

export interface Attachments {
  attachSelection(): void;
  attachFile(path: string, line?: number): void;
  complete(text: string): Promise<void>;
  /** What these ids stand for, which go out of use. */
  take(ids: readonly string[]): wire.Attachment[];
}

/** Attached and never sent; older ones would only hold memory. */
const KEPT = 100;

export function createAttachments(host: AttachmentsHost, post: (message: ToWebview) => void): Attachments {
  const kept = new Map<string, wire.Attachment>();
  let last = 0;

  function attach(attachment: wire.Attachment): void {
    const { workspace, home } = host.surroundings();
    const id = String(++last);
    kept.set(id, attachment);
    for (const old of [...kept.keys()].slice(0, -KEPT)) kept.delete(old);
    const { startLine, endLine } = attachment;
    const path = shortPath(attachment.path ?? '', workspace, home);
    post({ type: 'attached', attachment: defined({ id, path, startLine, endLine }) satisfies Attached });
  }

  return {
    attachSelection() {
      const selection = host.selection();
      if (selection) attach(selection);
    },
    attachFile: (path, line) => attach({ path, ...(line !== undefined && { startLine: line, endLine: line }) }),
    async complete(text) {
      post({ type: 'completions', text, found: await host.complete(text) });
    },
    take: (ids) =>
      ids.flatMap((id) => {
        const attachment = kept.get(id);
        kept.delete(id);
        return attachment ? [attachment] : [];
      }),
  };
}
