/**
 * Values in the workspace's settings that loosen something and wait for a person: asks about each once in a native
 * modal, or confirms at once what the person typed and saved in this window themselves (typedValues.ts).
 *
 * INVARIANT (narrowing): only extension code gets here. A value is accepted by a press on a dialog that showed all of
 * it, or because the person typed it; by the latter at most once in this window.
 */
import {
  block,
  BLOCK_LIMIT,
  BLOCK_LINES,
  type DialogText,
  editorText,
  type EditorText,
  paragraphs,
  type Modals,
  type Texts,
} from './editorText.ts';
import { asServerError, type Link } from './link.ts';
import type { SettingsFileWatch } from './settingsFiles.ts';
import { createTypedValues } from './typedValues.ts';
import type * as wire from './wire.gen.ts';

export interface ConfirmationsHost extends Modals {
  tell(level: 'info' | 'warning' | 'error', message: EditorText): void;
  openFile(file: string, line?: number): Promise<void>;
  trusted(): boolean;
}

export interface Confirmations extends SettingsFileWatch {
  /** The server's list, which replaces the one before. */
  unconfirmed(params: wire.SettingsUnconfirmed): void;
  /** Asks about everything open, also what was put off; for the command and for a grant of trust. */
  review(): Promise<void>;
  open(): number;
}

/** A headline has one line. */
const HEADLINE_LIMIT = 80;
/** What a sentence quotes stands whole beside it. */
const SENTENCE_LIMIT = 400;

export function createConfirmations(link: Pick<Link, 'request'>, host: ConfirmationsHost): Confirmations {
  let items: readonly wire.UnconfirmedItem[] = [];
  const typed = createTypedValues();
  /** Asked or answered, for as long as the server lists them: one that comes back is asked about anew. */
  const asked = new Set<string>();
  /** Ever answered in this window; no second time without a dialog. */
  const answered = new Set<string>();
  let asking: Promise<void> | undefined;

  function confirmTyped(): void {
    for (const item of items)
      if (!answered.has(item.digest) && !asked.has(item.digest) && typed.isTyped(item)) void answer(item, true);
  }

  async function answer(item: wire.UnconfirmedItem, accept: boolean): Promise<void> {
    asked.add(item.digest);
    answered.add(item.digest);
    items = items.filter((one) => one.digest !== item.digest);
    try {
      await link.request('settings/confirm', { digest: item.digest, accept });
    } catch (error) {
      host.tell(
        'error',
        host.t(
          '{0} could not be confirmed: {1}',
          editorText(item.key, HEADLINE_LIMIT),
          host.fromServer(asServerError(error).message),
        ),
      );
    }
  }

  async function askEach(): Promise<void> {
    for (let next = nextItem(); next; next = nextItem()) {
      const { digest } = next;
      const said = await askAbout(next);
      // It left the settings while the dialog stood; another value is another question.
      const stillOpen = items.some((item) => item.digest === digest);
      // Put off: nothing is said to the server, and nothing more is asked until the person wants it.
      if (said === 'later') return items.forEach((item) => asked.add(item.digest));
      if (stillOpen) await answer(next, said === 'accept');
    }
  }

  async function askAbout(item: wire.UnconfirmedItem): Promise<'accept' | 'ignore' | 'later'> {
    const ignore = host.safeButton('keepIgnoring');
    const accept = host.t('Accept');
    const openFile = host.t('Open File');
    const { detail, whole } = describe(item, host);
    // What is not shown whole cannot be accepted.
    const acting = [...(whole ? [accept] : []), ...(item.file === undefined ? [] : [openFile])];
    const pressed = await host.choose(
      host.t('This workspace wants to set {0}', editorText(item.key, HEADLINE_LIMIT)),
      detail,
      ignore,
      ...acting,
    );
    if (pressed === openFile && item.file !== undefined) await host.openFile(item.file, item.line);
    return pressed === accept && whole ? 'accept' : pressed === ignore ? 'ignore' : 'later';
  }

  function nextItem(): wire.UnconfirmedItem | undefined {
    return host.trusted() ? items.find((item) => !asked.has(item.digest)) : undefined;
  }

  function askAll(): Promise<void> {
    asking ??= askEach().finally(() => (asking = undefined));
    return asking;
  }

  return {
    unconfirmed(params) {
      items = params.items;
      for (const digest of asked) if (!items.some((item) => item.digest === digest)) asked.delete(digest);
      confirmTyped();
      void askAll();
    },
    review() {
      asked.clear();
      return askAll();
    },
    open: () => items.length,
    loaded: (file, text) => typed.loaded(file, text),
    changed: (file) => typed.changed(file),
    willSave: (file, text, manual) => typed.willSave(file, text, manual),
    saved(file, text) {
      typed.saved(file, text);
      confirmTyped();
    },
    editedByUs: (file) => typed.editedByUs(file),
    closed: (file) => typed.closed(file),
  };
}

/** All that a dialog says of a value below its headline, and whether the value stands there in full. */
export function describe(
  item: wire.UnconfirmedItem,
  { detail, fromServer }: Pick<Texts, 'detail' | 'fromServer'>,
): { detail: DialogText; whole: boolean } {
  const value = jsonText(item.value);
  const resolved =
    item.resolved === undefined || jsonText(item.resolved) === value ? undefined : jsonText(item.resolved);
  const shown = [item.key, value, ...(resolved === undefined ? [] : [resolved])].join('\n');
  const whole = shown.length <= BLOCK_LIMIT && shown.split('\n').length <= BLOCK_LINES;
  const text = paragraphs(
    // First, because a long value pushes what follows it off the screen.
    whole
      ? detail('Until you accept it, it is ignored.')
      : detail(
          'It is too long to be shown whole, so it cannot be accepted here and stays ignored. Shorten it, or put it into your user settings.',
        ),
    item.file !== undefined &&
      (item.line === undefined ? detail('In {0}', item.file) : detail('In {0}, line {1}', item.file, item.line)),
    // The server's sentences; the value in them is the one below.
    detail('{0}', capitalized(clause(fromServer(item.allows ?? item.text)))),
    item.changed !== undefined && detail('Changed: {0}', clause(fromServer(item.changed))),
    item.key.length > HEADLINE_LIMIT && detail('Setting: {0}', item.key),
    detail('Value: {0}', block(value)),
    resolved !== undefined && detail('It stands for: {0}', block(resolved)),
  );
  return { detail: text, whole };
}

/** Words of the server's. A dialog shows plain text, where backticks would be noise. */
function clause(text: string): string {
  const quoted = text.replaceAll(/`([^`]*)`/g, '“$1”');
  return quoted.length <= SENTENCE_LIMIT ? quoted : `${quoted.slice(0, SENTENCE_LIMIT)}…`;
}

function capitalized(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** JSON, but a text of one line as it is. */
function jsonText(value: unknown): string {
  return typeof value === 'string' && !/[\n\r]/.test(value) ? value : (JSON.stringify(value, null, 2) ?? '');
}
