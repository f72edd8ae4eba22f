/** Where other programs usually keep their permissions; which of these files exist is the host's. Pure. */
import * as path from 'node:path';

export interface Place {
  /** The program's name, which is the same in every language. */
  product: string;
  path: string;
  /** The path is a folder, and meant are its files with this ending. */
  ending?: string;
  /** A file that is there for other reasons counts only if it holds this. */
  holds?: string;
}

export function importPlaces(of: {
  workspace: string | undefined;
  home: string;
  /** The editor's own folder of user settings. */
  userFolder: string;
  environment: Readonly<Record<string, string | undefined>>;
}): Place[] {
  const { workspace, home, userFolder, environment } = of;
  const below = (folder: string | undefined, ...parts: string[]): string | undefined =>
    folder === undefined ? undefined : path.join(folder, ...parts);
  const claude = environment['CLAUDE_CONFIG_DIR'] || path.join(home, '.claude');
  const codex = environment['CODEX_HOME'] || path.join(home, '.codex');
  const places: (Omit<Place, 'path'> & { path: string | undefined })[] = [
    { product: 'Claude Code', path: below(workspace, '.claude', 'settings.json') },
    { product: 'Claude Code', path: below(workspace, '.claude', 'settings.local.json') },
    { product: 'Claude Code', path: path.join(claude, 'settings.json') },
    { product: 'Codex', path: below(workspace, '.codex', 'rules'), ending: '.rules' },
    { product: 'Codex', path: path.join(codex, 'rules'), ending: '.rules' },
    { product: 'Gemini CLI', path: below(workspace, '.gemini', 'policies'), ending: '.toml' },
    { product: 'Gemini CLI', path: path.join(home, '.gemini', 'policies'), ending: '.toml' },
    { product: 'VS Code', path: below(workspace, '.vscode', 'settings.json'), holds: 'chat.tools.' },
    { product: 'VS Code', path: path.join(userFolder, 'settings.json'), holds: 'chat.tools.' },
  ];
  return places.flatMap((place) => (place.path === undefined ? [] : [{ ...place, path: place.path }]));
}
