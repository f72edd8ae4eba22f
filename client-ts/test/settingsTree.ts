/** The values of a settings.json below `countersign`, for tests: what a server would report of it. */
import { parse } from 'jsonc-parser';

const SECTION = 'countersign';

/**
 * Everything below `countersign` as the editor reads it: dotted keys at the top are paths, keys further in are names;
 * of duplicate keys the last counts. A broken text gives what could be read of it.
 */
export function settingsTree(text: string): Tree {
  const file: unknown = parse(text, [], { allowTrailingComma: true });
  const root: Tree = {};
  for (const [key, value] of Object.entries(isTree(file) ? file : {})) {
    const names = key.split('.');
    let branch: Tree | undefined = root;
    for (const name of names.slice(0, -1)) {
      if (!branch) break;
      const next: unknown = Object.hasOwn(branch, name) ? branch[name] : (branch[name] = {});
      branch = isTree(next) ? next : undefined;
    }
    if (branch) branch[names.at(-1)!] = value;
  }
  const ours = root[SECTION];
  return isTree(ours) ? ours : {};
}

export function settingAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isTree(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    tree,
  );
}

export type Tree = Record<string, unknown>;

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
