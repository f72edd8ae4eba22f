/**
 * The edit of the workspace's settings file, as the server computed it, on the text that the editor has. Pure; who may ask
 * for it and how it is saved is settings.ts's.
 */
import { createHash } from 'node:crypto';

import type * as wire from './wire.gen.ts';

export interface TextChange {
  offset: number;
  length: number;
  text: string;
}

/** The change that makes the text the server's; undefined if the text is not the one that the server read. */
export function changeOf(text: string, edit: wire.TextEdit): TextChange | undefined {
  const digest = createHash('sha256').update(withLineFeeds(text)).digest('hex');
  if (digest !== edit.replaces) return undefined;
  const after = text.includes('\r\n') ? edit.text.replaceAll('\n', '\r\n') : edit.text;
  const most = Math.min(text.length, after.length);
  let head = 0;
  while (head < most && text[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && text.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { offset: head, length: text.length - head - tail, text: after.slice(head, after.length - tail) };
}

/** The text with the change made. */
export function withChange(text: string, { offset, length, text: put }: TextChange): string {
  return text.slice(0, offset) + put + text.slice(offset + length);
}

function withLineFeeds(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
}
