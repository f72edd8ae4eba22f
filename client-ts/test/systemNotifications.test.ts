/** Notifications of the operating system, with programs of ours under the names of the real ones. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createTexts } from '../src/editorText.ts';
import { createSystemNotifier, type Desktop, type SystemNotifier } from '../src/systemNotifications.ts';

const { t } = createTexts((message) => message);
let folder: string;
let made: SystemNotifier[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'notifier-'));
  made = [];
});
afterEach(() => {
  for (const notifier of made) notifier.dispose();
  rmSync(folder, { recursive: true });
});

/** A program that writes down its arguments, one a line, and goes on as the shell text says. */
function program(name: string, rest: string, at = 'bin'): void {
  mkdirSync(path.join(folder, at), { recursive: true });
  const file = path.join(folder, at, name);
  const words = `[ "$1" = --help ] && { echo "  -A, $HELP"; exit; }\nfor word; do echo "$word" >> ${folder}/args; done`;
  writeFileSync(
    file,
    `#!/bin/sh\nHELP=${rest === 'old' ? '--icon' : '--action'}\n${words}\n${rest === 'old' ? '' : rest}\n`,
  );
  chmodSync(file, 0o755);
}

function notifier(changed: Partial<Desktop> = {}): SystemNotifier {
  const environment = { PATH: path.join(folder, 'bin'), DISPLAY: ':0' };
  const one = createSystemNotifier({ platform: 'linux', environment, remote: false, browser: false, ...changed });
  made.push(one);
  return one;
}
const args = (): string[] => readFileSync(path.join(folder, 'args'), 'utf8').trimEnd().split('\n');
const show = (one: SystemNotifier) => one.show(t('{0} waits for you', '--$(touch x)`id`'), t('Review'))!;

describe('there are none', () => {
  const bin = () => path.join(folder, 'bin');
  const cases: [string, () => Partial<Desktop>, string][] = [
    ['beside a window on another machine', () => ({ remote: true }), 'remote'],
    ['in a browser', () => ({ browser: true }), 'browser'],
    ['on Windows', () => ({ platform: 'win32' }), 'platform'],
    ['without a desktop', () => ({ environment: { PATH: bin() } }), 'desktop'],
    ['without the program', () => ({ environment: { PATH: '/nowhere', DISPLAY: ':0' } }), 'program'],
    [
      'where PATH has it in a relative folder only',
      () => ({ environment: { PATH: '.:bin:', DISPLAY: ':0' } }),
      'program',
    ],
  ];
  it.each(cases)('%s', async (_, changed, lack) => {
    program('notify-send', '');
    const one = notifier(changed());
    expect([one.found, show(one), await one.takesClicks()]).toEqual([{ lack }, undefined, false]);
    expect(existsSync(path.join(folder, 'args'))).toBe(false);
  });
});

describe('notify-send', () => {
  it('gets the texts as arguments, behind the end of its options, and tells of a click', async () => {
    for (const action of ['default', 'review']) {
      program('notify-send', `echo ${action}`);
      expect(await show(notifier()).clicked).toBe(true);
    }
    expect(args().slice(0, 6)).toEqual([
      '--app-name=Countersign',
      '--action=default=Review',
      '--action=review=Review',
      '--wait',
      '--',
      '--$ (touch x)`id` waits for you',
    ]);
  });

  it('of before 0.8 shows it without actions, which nobody can click', async () => {
    program('notify-send', 'old');
    const one = notifier({ environment: { PATH: path.join(folder, 'bin'), WAYLAND_DISPLAY: 'wayland-0' } });
    expect([one.found, await show(one).clicked]).toEqual([{ program: 'notify-send' }, false]);
    expect(args()).toEqual(['--app-name=Countersign', '--', '--$ (touch x)`id` waits for you']);
  });

  it.each(['exit 3', 'echo closed', 'echo default extra'])('that ends otherwise was not clicked: %s', async (rest) => {
    program('notify-send', rest);
    expect(await show(notifier()).clicked).toBe(false);
  });

  it('that cannot be started was not clicked', async () => {
    program('notify-send', '');
    writeFileSync(path.join(folder, 'bin', 'notify-send'), '#!/no/such/interpreter\n');
    expect(await show(notifier()).clicked).toBe(false);
  });

  it('is interrupted when its notification is taken back, and so does what stands at the end', async () => {
    program('notify-send', `trap 'echo taken back >> ${folder}/log; exit' INT\nwhile :; do sleep 0.05; done`);
    const one = notifier();
    const both = [show(one), show(one)];
    await vi.waitFor(() => expect(args().length).toBe(12), 5000);
    both[0]!.close();
    expect(await both[0]!.clicked).toBe(false);
    one.dispose();
    expect(await both[1]!.clicked).toBe(false);
    const log = readFileSync(path.join(folder, 'log'), 'utf8');
    expect(log.match(/taken back/g)).toHaveLength(2);
  });

  it('that was taken back before it was started is not started', async () => {
    program('notify-send', 'echo default');
    const notification = show(notifier());
    notification.close();
    expect(await notification.clicked).toBe(false);
    expect(existsSync(path.join(folder, 'args'))).toBe(false);
  });
});

it('osascript gets the texts as arguments of a script that never changes, and tells of no click', async () => {
  program('osascript', 'echo default; exit 1');
  const one = notifier({ platform: 'darwin', environment: { PATH: path.join(folder, 'bin') } });
  expect([one.found, await one.takesClicks()]).toEqual([{ program: 'osascript' }, false]);
  expect(await show(one).clicked).toBe(false);
  expect(args()).toEqual([
    '-e',
    'on run argv',
    '-e',
    'display notification (item 2 of argv) with title (item 1 of argv)',
    '-e',
    'end run',
    'Countersign',
    '--$ (touch x)`id` waits for you',
  ]);
});
