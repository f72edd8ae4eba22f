/**
 * Settings on their way to the server and back: the layers as the editor sees them, and the one key that the server asks
 * us to write. What of the workspace's values counts is the server's to say; who confirmed them is confirmations.ts's.
 */
import type { Texts } from './editorText.ts';
import type { Link } from './link.ts';
import { changeOf, type TextChange } from './settingEdit.ts';
import type * as wire from './wire.gen.ts';

/** A settings file open in the editor, which may be dirty there. */
export interface SettingsFile {
  text: string;
  dirty: boolean;
  /** Makes the change and saves. False if the editor did not take it or could not save. */
  change(change: TextChange): Promise<boolean>;
}

export interface SettingsHost extends Texts {
  layers(): wire.SettingsLayers;
  /** Where the workspace's layer is kept; undefined where that is the folder's `.vscode/settings.json`. */
  settingsFiles(): wire.SettingsFiles | undefined;
  trusted(): boolean;
  /** `.vscode/settings.json` of the one workspace folder; undefined where the workspace is not that simple. */
  workspaceFile(): Promise<SettingsFile | undefined>;
  /** The editor's own way, which rewrites the whole value of a setting. Throws if it cannot. */
  writeSetting(layer: 'user' | 'workspace', setting: string, value: unknown): Promise<void>;
  /** Comes back when the editor has read its settings anew, or after two seconds. */
  settingsRead(): Promise<void>;
}

export interface Settings {
  /**
   * Tells the server all layers as they are now, if it was told others. Where no server runs, nothing counts as told:
   * called once more when it does, this sends what changed while it started.
   */
  send(byPerson?: wire.ByPerson[]): void;
  initial(): Pick<wire.InitializationOptions, 'settings' | 'trusted' | 'files'>;
  update(params: wire.SettingsUpdateParams): Promise<wire.SettingsUpdateResult>;
}

/** Settings whose value is one object in settings.json, so that a path into them cannot be a setting of its own. */
const OBJECTS = new Set(['agents', 'models', 'mcpServers', 'hooks']);

/** The model that is always there. */
const DEMO_MODEL = 'demo';

/** Models in the order in which the server offers them, by the value of the setting. */
export function offeredModels(models: Record<string, unknown>): string[] {
  return [...new Set([DEMO_MODEL, ...Object.keys(models)])];
}

export function createSettings(link: Pick<Link, 'notify' | 'state'>, host: SettingsHost): Settings {
  // The last thing said, so that one change which the editor announces twice is told once.
  let told = '';

  function current(): { settings: wire.SettingsLayers; trusted: boolean; files?: wire.SettingsFiles } {
    const files = host.settingsFiles();
    return { settings: host.layers(), trusted: host.trusted(), ...(files && { files }) };
  }

  function initial(): ReturnType<typeof current> {
    const now = current();
    told = JSON.stringify(now);
    return now;
  }

  function send(byPerson?: wire.ByPerson[]): void {
    if (link.state !== 'running') return;
    const now = current();
    if (!byPerson && JSON.stringify(now) === told) return;
    told = JSON.stringify(now);
    link.notify('settings/changed', { ...now, ...(byPerson && { byPerson }) });
  }

  async function update(params: wire.SettingsUpdateParams): Promise<wire.SettingsUpdateResult> {
    const { layer } = params;
    const names = underSection(params.path);
    const refused = layer === 'workspace' ? await editWorkspace(names, params) : await writeWhole(layer, names, params);
    if (refused !== undefined) return { applied: false, reason: refused };
    // The new layers reach the server before the answer does, so that it never sees "applied" with the old value.
    await host.settingsRead();
    send();
    return { applied: true };
  }

  /** The server computed the edit; it counts only on the text that it read. */
  async function editWorkspace(path: string[], params: wire.SettingsUpdateParams): Promise<string | undefined> {
    const file = params.edit && (await host.workspaceFile());
    if (!params.edit || !file) return writeWhole('workspace', path, params);
    if (file.dirty) return host.t('`.vscode/settings.json` has unsaved changes; save or revert it first');
    const change = changeOf(file.text, params.edit);
    if (!change) return host.t('`.vscode/settings.json` is not the same in the editor and on disk; try again');
    if ((change.length === 0 && change.text === '') || (await file.change(change))) return undefined;
    return host.t('`.vscode/settings.json` could not be saved');
  }

  async function writeWhole(
    layer: 'user' | 'workspace',
    path: string[],
    params: wire.SettingsUpdateParams,
  ): Promise<string | undefined> {
    const [first = '', ...rest] = path;
    const before = nested((layer === 'user' ? host.layers().user : host.layers().workspace) ?? {});
    const wanted = wantedValue(settingAt(before, path), params);
    if ('refused' in wanted) return wanted.refused;
    const { value } = wanted;
    if (dropsForbidding(before, withValue(before, path, value), path, params)) return DROPS;
    try {
      if (!OBJECTS.has(first) || rest.length === 0) await host.writeSetting(layer, path.join('.'), value ?? undefined);
      else {
        const layers = host.layers();
        const whole = (layer === 'user' ? layers.user : layers.workspace)?.[first];
        await host.writeSetting(layer, first, withValue(whole, rest, value));
      }
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  return { initial, send, update };
}

const DROPS = 'the edit would drop a deny or ask rule that it does not name';

/** The value to write: of a list, what stands there now with the entries put in and taken out. */
function wantedValue(
  now: unknown,
  { value = null, insert, remove }: wire.SettingsUpdateParams,
): { value: unknown } | { refused: string } {
  if (insert === undefined && remove === undefined) return { value };
  if (now !== undefined && now !== null && !Array.isArray(now))
    return { refused: 'the setting is not a list; correct it by hand first' };
  const left = ((now ?? []) as unknown[]).filter((entry) => !includes(remove ?? [], entry));
  return { value: [...left, ...(insert ?? []).filter((entry) => !includes(left, entry))] };
}

/** Whether a deny or ask rule would be gone that the edit does not name. */
function dropsForbidding(
  before: Tree,
  after: Tree,
  path: readonly string[],
  { remove }: wire.SettingsUpdateParams,
): boolean {
  return ['deny', 'ask'].some((list) => {
    const named = path.join('.') === `permissions.${list}` ? (remove ?? []) : [];
    const left = entriesOf(settingAt(after, ['permissions', list]));
    return entriesOf(settingAt(before, ['permissions', list])).some(
      (entry) => !includes(left, entry) && !includes(named, entry),
    );
  });
}

type Tree = Record<string, unknown>;

function settingAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isTree(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    tree,
  );
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entriesOf(list: unknown): unknown[] {
  return Array.isArray(list) ? list : [];
}

function includes(list: readonly unknown[], entry: unknown): boolean {
  const text = JSON.stringify(entry);
  return list.some((one) => JSON.stringify(one) === text);
}

/** A layer as the editor gives it, where a key may stand for a path. */
function nested(layer: Record<string, unknown>): Tree {
  return Object.entries(layer).reduce<Tree>((tree, [key, value]) => withValue(tree, key.split('.'), value), {});
}

/** The path below `countersign`, however it is spelled. */
export function underSection(path: readonly string[]): string[] {
  const [first = '', ...rest] = path;
  if (first === 'countersign') return [...rest];
  return first.startsWith('countersign.') ? [...first.split('.').slice(1), ...rest] : [...path];
}

/** A copy of `whole` with one value set, or removed where it is null; other keys are not touched. */
export function withValue(whole: unknown, path: readonly string[], value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = {
    ...(typeof whole === 'object' && whole !== null && !Array.isArray(whole) ? whole : {}),
  };
  const [first = '', ...rest] = path;
  if (rest.length > 0) copy[first] = withValue(copy[first], rest, value);
  else if (value === null) delete copy[first];
  else copy[first] = value;
  return copy;
}
