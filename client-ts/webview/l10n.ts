/** Strings in the editor's language: English is the key, as in vscode.l10n, whose bundle the extension sends along. */

let bundle: Record<string, string> = {};

export function useStrings(strings: Record<string, string>): void {
  bundle = strings;
}

export function t(message: string, ...values: (string | number)[]): string {
  return (bundle[message] ?? message).replaceAll(/\{(\d+)\}/g, (whole, index: string) =>
    String(values[Number(index)] ?? whole),
  );
}
