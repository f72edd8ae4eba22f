/** Finding Python and making the private environment, with programs that only pretend. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  findPython,
  prepareEnvironment,
  previousEnvironment,
  type Python,
  SetupProblem,
  type World,
} from '../src/environment.ts';

let root: string;
let ran: string[];

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'cs-env-'));
  ran = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...parts: string[]): string => path.join(root, ...parts);

function program(name: string): string {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), '');
  return at(name);
}

/** Programs by the end of their path; each gives what it prints, or undefined to fail. */
function world(programs: Record<string, (args: readonly string[]) => string | undefined>, folders: string[]): World {
  return {
    env: { PATH: folders.map((folder) => at(folder)).join(path.delimiter) },
    platform: 'linux',
    log: () => undefined,
    async run(command, args) {
      ran.push([path.relative(root, command), ...args.filter((arg) => !arg.includes('\n'))].join(' '));
      const found = Object.entries(programs).find(([end]) => command.endsWith(end));
      const stdout = found?.[1](args);
      return { code: stdout === undefined ? 1 : 0, stdout: stdout ?? '', stderr: stdout === undefined ? 'failed' : '' };
    },
  };
}

const python =
  (executable: string, version: number[], more = {}): (() => string) =>
  () =>
    JSON.stringify({
      executable,
      version,
      tag: `cp${version[0]}${version[1]}`,
      platform: 'linux-x86_64',
      hasVenv: true,
      hasPip: false,
      ...more,
    });

describe('Python is found', () => {
  it('on the PATH, past one that is too old', async () => {
    program('old/python3');
    program('new/python3');
    const found = await findPython(
      world(
        { 'old/python3': python(at('old/python3'), [3, 9, 1]), 'new/python3': python(at('new/python3'), [3, 12, 0]) },
        ['old', 'new'],
      ),
      undefined,
      [],
      root,
    );
    expect(found.executable).toBe(at('new/python3'));
  });

  it('but never in the workspace, by a link neither, nor one that leads there', async () => {
    program('workspace/.venv/bin/python3');
    mkdirSync(at('links'));
    symlinkSync(at('workspace/.venv/bin/python3'), at('links/python3'));
    program('liar/python3');
    const programs = { 'liar/python3': python(at('workspace/.venv/bin/python3'), [3, 12, 0]) };
    await expect(
      findPython(world(programs, ['workspace/.venv/bin', 'links', 'liar']), undefined, [at('workspace')], root),
    ).rejects.toMatchObject({ kind: 'noPython' });
    expect(ran.filter((line) => !line.startsWith('liar'))).toEqual([]);
  });

  it('as chosen, and a choice that is too old is an error that names it', async () => {
    await expect(
      findPython(world({ python: python('/x/python', [3, 10, 2]) }, []), '/x/python', [], root),
    ).rejects.toThrow('`/x/python` is Python 3.10.2; set countersign.interpreter to Python 3.11 or newer');
  });

  it('or its absence says what was seen', async () => {
    program('old/python3');
    await expect(
      findPython(world({ 'old/python3': python(at('old/python3'), [3, 8, 0]) }, ['old']), undefined, [], root),
    ).rejects.toThrow('only Python 3.8.0 was found');
    await expect(findPython(world({}, []), undefined, [], root)).rejects.toThrow('no Python was found');
  });
});

describe('the environment', () => {
  const found: Python = {
    executable: '/py/python3',
    version: [3, 12, 1],
    tag: 'cp312',
    platform: 'linux-x86_64',
    hasVenv: true,
    hasPip: false,
  };
  const wanted = () => ({ storage: at('storage'), carried: at('server'), version: '1.2.3', report: () => undefined });
  const made = (args: readonly string[]): string => {
    if (args.includes('venv')) program(path.relative(root, `${args.at(-1)!}/bin/python`));
    return '';
  };

  beforeEach(() => {
    program('server/countersign_desk-1.2.3-py3-none-any.whl');
    program('server/requirements.txt');
  });

  it('is made with venv and pip, with hashes, and named by version, Python, platform and content', async () => {
    const interpreter = await prepareEnvironment(
      world({ python3: made, 'bin/python': () => '' }, []),
      found,
      [],
      wanted(),
    );
    expect(path.relative(at('storage/python'), interpreter)).toMatch(
      /^1\.2\.3-cp312-linux-x86_64-[0-9a-f]{12}\/bin\/python$/,
    );
    expect(
      ran.map((line) =>
        line
          .replaceAll(/\S*\.building-\S*?\//g, 'ENV/')
          .replaceAll(/\S*\.building-\S*/g, 'ENV')
          .replaceAll(root, ''),
      ),
    ).toEqual([
      '../../py/python3 -I -m venv ENV',
      'ENV/bin/python -I -m pip --disable-pip-version-check --no-input install --require-hashes --only-binary :all: -r /server/requirements.txt',
      'ENV/bin/python -I -m pip --disable-pip-version-check --no-input install --no-index --no-deps /server/countersign_desk-1.2.3-py3-none-any.whl',
      'ENV/bin/python -I -c import countersign.cli',
    ]);
  });

  it('is filled from the wheels that the extension carries, and asks no index', async () => {
    program('server/wheels/pure-1.0-py3-none-any.whl');
    await prepareEnvironment(world({ python3: made, 'bin/python': () => '' }, []), found, [], wanted());
    const installs = ran.filter((line) => line.includes(' install '));
    expect(installs).toHaveLength(2);
    expect(installs.every((line) => line.includes('--no-index'))).toBe(true);
    expect(installs[0]).toContain(`--no-index --find-links ${at('server/wheels')} --require-hashes`);
  });

  it('is filled by the interpreter’s own pip where it has one', async () => {
    await prepareEnvironment(
      world({ python3: made }, []),
      { ...found, hasVenv: false, hasPip: true },
      [],
      wanted(),
    ).catch(() => undefined);
    expect(
      ran.map(
        (line) =>
          line
            .replaceAll(/\S*\.building-\S*?\//g, 'ENV/')
            .replaceAll(/\S*\.building-\S*/g, 'ENV')
            .split(' -r ')[0],
      ),
    ).toEqual([
      '../../py/python3 -I -m venv --without-pip ENV',
      '../../py/python3 -I -m pip --python ENV/bin/python --disable-pip-version-check --no-input install --require-hashes --only-binary :all:',
      expect.stringContaining(
        '../../py/python3 -I -m pip --python ENV/bin/python --disable-pip-version-check --no-input install --no-index --no-deps',
      ),
      'ENV/bin/python -I -c import countersign.cli',
    ]);
  });

  it('is used again without anything being run', async () => {
    const programs = { python3: made, 'bin/python': () => '' };
    const first = await prepareEnvironment(world(programs, []), found, [], wanted());
    ran = [];
    expect(await prepareEnvironment(world(programs, []), found, [], wanted())).toBe(first);
    expect(ran).toEqual([]);
  });

  it('is made with uv where there is one, and with pip where uv fails', async () => {
    program('tools/uv');
    await prepareEnvironment(world({ 'tools/uv': made, 'bin/python': () => '' }, ['tools']), found, [], wanted());
    expect(
      ran.filter((line) => line.startsWith('tools/uv')).map((line) => line.split(' ').slice(1, 3).join(' ')),
    ).toEqual(['venv --python', 'pip install', 'pip install']);
    rmSync(at('storage'), { recursive: true });
    ran = [];
    await prepareEnvironment(
      world({ 'tools/uv': () => undefined, python3: made, 'bin/python': () => '' }, ['tools']),
      found,
      [],
      wanted(),
    );
    expect(ran.map((line) => line.split(' ')[0]!.replace(/.*\.building-[^/]*/, 'ENV'))).toEqual([
      'tools/uv',
      '../../py/python3',
      'ENV/bin/python',
      'ENV/bin/python',
      'ENV/bin/python',
    ]);
  });

  it('that fails half way leaves nothing behind', async () => {
    await expect(
      prepareEnvironment(world({ python3: made, 'bin/python': () => undefined }, []), found, [], wanted()),
    ).rejects.toBeInstanceOf(SetupProblem);
    expect(readdirSync(at('storage/python'))).toEqual([]);
  });

  it('without the venv module says which package is missing', async () => {
    await expect(prepareEnvironment(world({}, []), { ...found, hasVenv: false }, [], wanted())).rejects.toThrow(
      'install the package `python3.12-venv`',
    );
  });

  it('keeps the previous one to fall back on, and not more', async () => {
    const programs = { python3: made, 'bin/python': () => '' };
    for (const version of ['1.0.0', '1.1.0', '1.2.0'])
      await prepareEnvironment(world(programs, []), found, [], { ...wanted(), version });
    expect(readdirSync(at('storage/python')).map((name) => name.split('-')[0])).toEqual(['1.1.0', '1.2.0']);
    expect(await previousEnvironment(world({}, []), at('storage'))).toContain('1.2.0');
  });

  it('cannot be made by a build that carries no server', async () => {
    rmSync(at('server'), { recursive: true });
    await expect(prepareEnvironment(world({}, []), found, [], wanted())).rejects.toMatchObject({ kind: 'noServer' });
  });
});
