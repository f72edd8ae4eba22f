/**
 * What a screen reader is told of an answer while it is written: each paragraph once, when it is complete. A class because
 * it knows what was said. Chats that are opened are not read out.
 */
import type { Item } from './chat.ts';

/** Read out at once; the rest is in the chat. */
const LIMIT = 2000;

export class Speech {
  private item: number | undefined;
  private said = 0;

  /** The paragraphs that were completed since the last call; empty if there are none. */
  follow(items: readonly Item[], running: boolean): string {
    const last = items.findLast((item) => item.kind === 'text');
    if (last?.kind !== 'text') return '';
    const isNew = last.id !== this.item;
    if (isNew) {
      const known = this.item !== undefined || running;
      this.item = last.id;
      // What was there when the chat was opened is not new.
      this.said = known ? 0 : last.text.length;
    }
    const complete = running && items.at(-1) === last ? last.text.lastIndexOf('\n\n') + 1 : last.text.length;
    if (complete <= this.said) return '';
    const text = last.text.slice(this.said, complete).trim();
    this.said = complete;
    return text.length > LIMIT ? `${text.slice(0, LIMIT)} …` : text;
  }

  /** Another chat is shown: what it holds is old. */
  restart(items: readonly Item[]): void {
    const last = items.findLast((item) => item.kind === 'text');
    this.item = last?.id ?? -1;
    this.said = last?.kind === 'text' ? last.text.length : 0;
  }
}
