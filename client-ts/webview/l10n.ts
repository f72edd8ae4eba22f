/** Strings in the editor's language: English is the key, as in vscode.l10n, whose bundle the extension sends along. */
import { createReasons, type ReasonTable } from '../src/reasons.ts';

let bundle: Record<string, string> = {};
let table: ReasonTable = {};
let reasons = createReasons(table);

export function useStrings(strings: Record<string, string>): void {
  bundle = strings;
}

/** What was found with a table stays found while the same one comes again, as it does with each snapshot. */
export function useReasons(given: ReasonTable): void {
  if (isSame(given, table)) return;
  table = given;
  reasons = createReasons(table);
}

function isSame(one: ReasonTable, other: ReasonTable): boolean {
  const entries = Object.entries(one);
  return entries.length === Object.keys(other).length && entries.every(([key, value]) => other[key] === value);
}

/** A text that the server wrote, where it is known; else as it is. What draws it is `serverText` of drawn.ts. */
export function fromServer(text: string): string {
  return reasons.translated(text) ?? text;
}

export function t(message: string, ...values: (string | number)[]): string {
  return (bundle[message] ?? message).replaceAll(/\{(\d+)\}/g, (whole, index: string) =>
    String(values[Number(index)] ?? whole),
  );
}
