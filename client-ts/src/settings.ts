/**
 * Settings on their way to the server and back: the layers as the editor sees them, and the one key that the server asks
 * us to write. What of the workspace's values counts is the server's to say; who confirmed them is confirmations.ts's.
 */
import type { Texts } from './editorText.ts';
import type { Link } from './link.ts';
import { editSetting } from './settingEdit.ts';
import type * as wire from './wire.gen.ts';

/** A settings file open in the editor, which may be dirty there. */
export interface SettingsFile {
  text: string;
  dirty: boolean;
  /** Makes the changes and saves. False if the editor did not take them or could not save. */
  change(changes: { offset: number; length: number; text: string }[]): Promise<boolean>;
}

export interface SettingsHost extends Texts {
  layers(): wire.SettingsLayers;
  trusted(): boolean;
  /** `.vscode/settings.json` of the one workspace folder; undefined where the workspace is not that simple. */
  workspaceFile(): Promise<SettingsFile | undefined>;
  /** The editor's own way, which rewrites the whole value of a setting. Throws if it cannot. */
  writeSetting(layer: 'user' | 'workspace', setting: string, value: unknown): Promise<void>;
  /** Comes back when the editor has read its settings anew, or after two seconds. */
  settingsRead(): Promise<void>;
}

export interface Settings {
  /** Tells the server all layers as they are now. */
  send(byPerson?: wire.ByPerson[]): void;
  initial(): Pick<wire.InitializationOptions, 'settings' | 'trusted'>;
  update(params: wire.SettingsUpdateParams): Promise<wire.SettingsUpdateResult>;
}

/** Settings whose value is one object in settings.json, so that a path into them cannot be a setting of its own. */
const OBJECTS = new Set(['agents', 'models', 'mcpServers', 'hooks']);

export function createSettings(link: Pick<Link, 'notify'>, host: SettingsHost): Settings {
  // The last thing said, so that one change which the editor announces twice is told once.
  let told = '';

  function initial(): { settings: wire.SettingsLayers; trusted: boolean } {
    const now = { settings: host.layers(), trusted: host.trusted() };
    told = JSON.stringify(now);
    return now;
  }

  function send(byPerson?: wire.ByPerson[]): void {
    const now = { settings: host.layers(), trusted: host.trusted() };
    if (!byPerson && JSON.stringify(now) === told) return;
    told = JSON.stringify(now);
    link.notify('settings/changed', { ...now, ...(byPerson && { byPerson }) });
  }

  async function update({ layer, path, value = null }: wire.SettingsUpdateParams): Promise<wire.SettingsUpdateResult> {
    const names = underSection(path);
    const refused = layer === 'workspace' ? await editWorkspace(names, value) : await writeWhole(layer, names, value);
    if (refused !== undefined) return { applied: false, reason: refused };
    // The new layers reach the server before the answer does, so that it never sees "applied" with the old value.
    await host.settingsRead();
    send();
    return { applied: true };
  }

  async function editWorkspace(path: string[], value: unknown): Promise<string | undefined> {
    const file = await host.workspaceFile();
    if (!file) return writeWhole('workspace', path, value);
    if (file.dirty) return host.t('`.vscode/settings.json` has unsaved changes; save or revert it first');
    const edit = editSetting(file.text, path, value);
    if ('refused' in edit) return edit.refused;
    if (edit.changes.length === 0 || (await file.change(edit.changes))) return undefined;
    return host.t('`.vscode/settings.json` could not be saved');
  }

  async function writeWhole(layer: 'user' | 'workspace', path: string[], value: unknown): Promise<string | undefined> {
    const [first = '', ...rest] = path;
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

/** The path below `countersign`, however it is spelled. */
export function underSection(path: readonly string[]): string[] {
  const [first = '', ...rest] = path;
  if (first === 'countersign') return [...rest];
  return first.startsWith('countersign.') ? [...first.split('.').slice(1), ...rest] : [...path];
}

/** A copy of `whole` with one value set, or removed where it is null; other keys are not touched. */
export function withValue(whole: unknown, path: readonly string[], value: unknown): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...(typeof whole === 'object' && whole !== null && !Array.isArray(whole) ? whole : {}) };
  const [first = '', ...rest] = path;
  if (rest.length > 0) copy[first] = withValue(copy[first], rest, value);
  else if (value === null) delete copy[first];
  else copy[first] = value;
  return copy;
}
