// Gathers every string that a person reads into l10n/bundle.l10n.json, for translators; a test fails when it is stale.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const HERE = import.meta.dirname;
// A call of `t` or `detail` with its first argument, which is a literal; either is a name of its own or a member of a host.
const CALL = /(?<![\w$])(?:t|detail)\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")/g;

export const BUNDLE = path.join(HERE, 'l10n/bundle.l10n.json');

export function bundle() {
  const found = new Set();
  for (const folder of ['src', 'webview']) {
    for (const name of readdirSync(path.join(HERE, folder)).filter((name) => name.endsWith('.ts'))) {
      const source = readFileSync(path.join(HERE, folder, name), 'utf8');
      for (const [, single, double] of source.matchAll(CALL))
        found.add(JSON.parse(`"${single?.replaceAll("\\'", "'").replaceAll('"', '\\"') ?? double}"`));
    }
  }
  return `${JSON.stringify(Object.fromEntries([...found].sort((one, other) => (one < other ? -1 : 1)).map((text) => [text, text])), null, 2)}\n`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(BUNDLE, bundle());
