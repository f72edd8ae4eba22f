/**
 * Notifications of the operating system, shown by the program that each desktop has for them: notify-send or osascript.
 * Owns which program there is and how it is called; when one is shown is attention.ts's. Knows no editor.
 *
 * The program gets its texts as arguments, without a shell. Relative folders on PATH are passed over, because they would
 * lead into the folder that happens to be open.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';

import type { EditorText } from './editorText.ts';

/** Where the extension runs, as far as notifications go. */
export interface Desktop {
  platform: NodeJS.Platform;
  environment: NodeJS.ProcessEnv;
  /** The window is on another machine than the extension. */
  remote: boolean;
  /** The window is a page of a browser. */
  browser: boolean;
}

/** Why there are no notifications of the operating system. */
export type Lack = 'remote' | 'browser' | 'platform' | 'desktop' | 'program';

export interface SystemNotifier {
  /** The program's name, or why notifications stay in the editor. */
  readonly found: { program: 'notify-send' | 'osascript' } | { lack: Lack };
  /** Whether a click on a notification reaches us; asks the program once. */
  takesClicks(): Promise<boolean>;
  /** Shows one; undefined where there is nothing to show it with. `button` is drawn where the desktop draws any. */
  show(text: EditorText, button: EditorText): SystemNotification | undefined;
  /** Takes back all that stand. */
  dispose(): void;
}

export interface SystemNotification {
  /** True once it was clicked, false if it ended in any other way. */
  readonly clicked: Promise<boolean>;
  close(): void;
}

const TITLE = 'Countersign';
const ASKING_TIMEOUT = 2000;
/** Of what a program writes; the name of an action is short. */
const OUTPUT_LIMIT = 16 * 1024;
/** `default` is a click on the notification itself; desktops that have no such click draw the other as a button. */
const ACTIONS = ['default', 'review'];
const SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];

export function createSystemNotifier(desktop: Desktop): SystemNotifier {
  const found = findProgram(desktop);
  const standing = new Set<SystemNotification>();
  let clicks: Promise<boolean> | undefined;

  function takesClicks(): Promise<boolean> {
    clicks ??=
      'lack' in found || found.program === 'osascript'
        ? Promise.resolve(false)
        : // The option came with libnotify 0.8.
          run(found.file, ['--help'], ASKING_TIMEOUT).ended.then((output) => output.includes('--action'));
    return clicks;
  }

  function show(text: EditorText, button: EditorText): SystemNotification | undefined {
    if ('lack' in found) return undefined;
    const { file, program } = found;
    let closed = false;
    let running: Running | undefined;
    const clicked = takesClicks().then(async (canClick) => {
      if (closed) return false;
      running = run(file, program === 'osascript' ? forOsascript(text) : forNotifySend(text, canClick && button));
      const output = await running.ended;
      return !closed && canClick && ACTIONS.includes(output.trim());
    });
    const notification: SystemNotification = {
      clicked,
      close() {
        closed = true;
        running?.interrupt();
      },
    };
    standing.add(notification);
    void clicked.then(() => standing.delete(notification));
    return notification;
  }

  return {
    found: 'lack' in found ? found : { program: found.program },
    takesClicks,
    show,
    dispose() {
      for (const notification of standing) notification.close();
    },
  };
}

/** Its summary is plain text; its body would be read as markup. */
function forNotifySend(text: EditorText, button: EditorText | false): string[] {
  const actions = button === false ? [] : ACTIONS.map((action) => `--action=${action}=${button}`);
  return [`--app-name=${TITLE}`, ...actions, ...(actions.length > 0 ? ['--wait'] : []), '--', text];
}

/** The texts are arguments of a fixed script. The first of them begins with a letter, so that none is read as an option. */
function forOsascript(text: EditorText): string[] {
  return [...SCRIPT.flatMap((line) => ['-e', line]), TITLE, text];
}

function findProgram({
  platform,
  environment,
  remote,
  browser,
}: Desktop): { program: 'notify-send' | 'osascript'; file: string } | { lack: Lack } {
  if (remote) return { lack: 'remote' };
  if (browser) return { lack: 'browser' };
  if (platform !== 'linux' && platform !== 'darwin') return { lack: 'platform' };
  if (platform === 'linux' && !environment['DISPLAY'] && !environment['WAYLAND_DISPLAY']) return { lack: 'desktop' };
  const program = platform === 'linux' ? 'notify-send' : 'osascript';
  const folders = (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const file = folders.map((folder) => path.join(folder, program)).find(isProgram);
  return file === undefined ? { lack: 'program' } : { program, file };
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

interface Running {
  /** What it wrote, however it ended; empty if it could not be started. */
  ended: Promise<string>;
  /** notify-send then takes its notification back. */
  interrupt(): void;
}

function run(file: string, args: readonly string[], timeout?: number): Running {
  const child = spawn(file, [...args], { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', timeout });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (output.length < OUTPUT_LIMIT) output += chunk;
  });
  const ended = new Promise<string>((resolve) => {
    child.on('error', () => resolve(''));
    child.on('close', () => resolve(output));
  });
  return { ended, interrupt: () => void child.kill('SIGINT') };
}
