/**
 * What a person hands along with a prompt: files by their path, selections with their text, which the webview never
 * holds, and images that were pasted or dropped into it. A path alone gives an agent nothing to read: whatever it reads then is judged as any call.
 */
import { askingView } from './asker.ts';
import type { EditorText } from './editorText.ts';
import { megabytes, MOST_IMAGES } from './imageSizes.ts';
import { defined } from './link.ts';
import type { Attached, Completion, OpenPlace, ToWebview } from './messages.ts';
import { shortPath } from './subject.ts';
import type * as wire from './wire.gen.ts';

export interface AttachmentsHost {
  /** The open file, with what is selected in it; undefined if no file is open. */
  selection(): wire.Attachment | undefined;
  /** Files of the workspace whose names contain the text. */
  matchingFiles(text: string): Promise<Completion[]>;
  /** Symbols of that kind; programs for languages find them, which may take long or never answer. */
  matchingSymbols(text: string): Promise<Completion[]>;
  surroundings(): { workspace?: string; home?: string };
  t(message: string, ...values: (string | number)[]): EditorText;
}

export interface Attachments {
  attachSelection(): void;
  /** Tells where the person is in the editor now. */
  placeChanged(): void;
  attachFile(path: string, line?: number): void;
  attachImage(name: string, mimeType: string, data: string): void;
  detach(id: string): void;
  /** The webview that showed what it attached has gone. */
  forget(): void;
  /** Posts what is found for the text, unless the view has asked for another by then. */
  complete(text: string): Promise<void>;
  /** What these ids stand for, which go out of use. */
  take(ids: readonly string[]): wire.Attachment[];
}

/** Files and symbols that are offered for a mention. */
export const MOST_COMPLETIONS = 20;
/** Attached and never sent; older ones would only hold memory. */
const KEPT = 100;

export function createAttachments(host: AttachmentsHost, post: (message: ToWebview) => void): Attachments {
  const kept = new Map<string, { attachment: wire.Attachment; view: string }>();
  /** What each view asked for last: the editor answers in no order, and an older answer would take the place of a newer. */
  const wanted = new Map<string, object>();
  let last = 0;

  function attach(attachment: wire.Attachment): void {
    const { workspace, home } = host.surroundings();
    const id = String(++last);
    kept.set(id, { attachment, view: askingView() });
    for (const old of [...kept.keys()].slice(0, -KEPT)) kept.delete(old);
    const { startLine, endLine } = attachment;
    const image = attachment.kind === 'image' ? (true as const) : undefined;
    const path = image ? (attachment.path ?? '') : shortPath(attachment.path ?? '', workspace, home);
    post({ type: 'attached', attachment: defined({ id, path, startLine, endLine, image }) satisfies Attached });
  }

  return {
    attachSelection() {
      const selection = host.selection();
      if (selection) attach(selection);
    },
    placeChanged() {
      const { workspace, home } = host.surroundings();
      const { path, startLine, endLine } = host.selection() ?? {};
      const place = path === undefined ? undefined : { path: shortPath(path, workspace, home), startLine, endLine };
      post(defined({ type: 'openPlace' as const, place: place && (defined(place) as OpenPlace) }));
    },
    attachFile: (path, line) => attach({ path, ...(line !== undefined && { startLine: line, endLine: line }) }),
    attachImage(name, mimeType, data) {
      const held = [...kept.values()].reduce((sum, { attachment }) => sum + (attachment.data?.length ?? 0), 0);
      if (held + data.length <= MOST_IMAGES) return attach({ kind: 'image', path: name, mimeType, data });
      const message = host.t('Not attached: the images of one message may have {0} MB in all.', megabytes(MOST_IMAGES));
      post({ type: 'notice', level: 'warning', message });
    },
    detach: (id) => void kept.delete(id),
    forget() {
      wanted.delete(askingView());
      for (const [id, { view }] of kept) if (view === askingView()) kept.delete(id);
    },
    async complete(text) {
      const view = askingView();
      const request = {};
      wanted.set(view, request);
      const offer = (found: Completion[]): void => {
        if (wanted.get(view) === request) post({ type: 'completions', text, found });
      };
      const symbols = host.matchingSymbols(text);
      symbols.catch(() => undefined); // reported below, when the files were shown
      const files = await host.matchingFiles(text);
      offer(files);
      const found = [...files, ...(await symbols)].slice(0, MOST_COMPLETIONS);
      if (found.length > files.length) offer(found);
    },
    take: (ids) =>
      ids.flatMap((id) => {
        const attachment = kept.get(id)?.attachment;
        kept.delete(id);
        return attachment ? [attachment] : [];
      }),
  };
}
