/**
 * The server's Python: finds an interpreter, and makes the private environment that the server runs in. Owns where it
 * lies, when it is whole and which older one is kept; starting the server in it is server.ts's. Node only, no editor.
 *
 * An environment is built under a name of its own and renamed into place when it works, so a folder that stands under
 * its key is whole. Scripts in it keep the old path, so it is only ever run as `python -m`. Nothing of the workspace is
 * used: no interpreter in it, and no process is started in it.
 */
import { createHash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';

export interface Python {
  executable: string;
  version: readonly [number, number, number];
  /** Such as `cp312`. */
  tag: string;
  /** Such as `linux-x86_64`. */
  platform: string;
  hasVenv: boolean;
  /** Has a pip that can install into another environment (22.3), which saves it one of its own. */
  hasPip: boolean;
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** The outside world, handed in. `run` never rejects: a program that cannot be started ends with code -1. */
export interface World {
  run(command: string, args: readonly string[], cwd: string): Promise<RunResult>;
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  log(line: string): void;
}

export type SetupKind = 'noPython' | 'badInterpreter' | 'noVenv' | 'noServer' | 'failed';

/** Why there is no environment. The message is one sentence that says what to do next. */
export class SetupProblem extends Error {
  constructor(
    readonly kind: SetupKind,
    message: string,
  ) {
    super(message);
  }
}

export const OLDEST = [3, 11] as const;

const PROBE = `
import json, platform, sys, sysconfig
try:
    import ensurepip, venv
    has_venv = True
except ImportError:
    has_venv = False
try:
    import pip, venv
    has_pip = tuple(map(int, pip.__version__.split(".")[:2])) >= (22, 3)
except (ImportError, ValueError):
    has_pip = False
print(json.dumps({
    "executable": getattr(sys, "_base_executable", None) or sys.executable,
    "version": list(sys.version_info[:3]),
    "tag": ("cp" if platform.python_implementation() == "CPython" else "py") + "%d%d" % sys.version_info[:2],
    "platform": sysconfig.get_platform(),
    "hasVenv": has_venv,
    "hasPip": has_pip,
}))`;

/**
 * The interpreter a person chose, or the newest suitable one on the PATH. Those inside `forbidden` folders (the
 * workspace) are passed over. Raises a SetupProblem if there is none.
 */
export async function findPython(
  world: World,
  chosen: string | undefined,
  forbidden: readonly string[],
  cwd: string,
): Promise<Python> {
  if (chosen) {
    const python = await probe(world, chosen, cwd);
    if (python && isNewEnough(python)) return python;
    const found = python ? `is Python ${python.version.join('.')}` : 'is no Python that can be started';
    throw new SetupProblem(
      'badInterpreter',
      `\`${chosen}\` ${found}; set countersign.interpreter to Python 3.11 or newer`,
    );
  }
  let old: Python | undefined;
  for (const candidate of await candidates(world, forbidden)) {
    const python = await probe(world, candidate, cwd);
    if (!python || (await isInside(python.executable, forbidden))) continue;
    if (isNewEnough(python)) return python;
    old ??= python;
  }
  const seen = old ? `only Python ${old.version.join('.')} was found` : 'no Python was found';
  throw new SetupProblem('noPython', `${seen}; install Python 3.11 or newer, or set countersign.interpreter`);
}

export interface Wanted {
  /** Global storage; environments lie in `python/` below it. */
  storage: string;
  /** The extension's `server` folder: one wheel and one hashed lock. */
  carried: string;
  version: string;
  report(step: string): void;
}

/** The interpreter of a whole environment for this version, made first if need be. Raises a SetupProblem. */
export async function prepareEnvironment(
  world: World,
  python: Python,
  forbidden: readonly string[],
  wanted: Wanted,
): Promise<string> {
  const { wheel, lock, wheels } = await carriedFiles(wanted.carried);
  const base = path.join(wanted.storage, 'python');
  const key = [wanted.version, python.tag, python.platform, await digest([wheel, lock])]
    .join('-')
    .replaceAll(/[^\w.-]/g, '_');
  const place = path.join(base, key);
  if (await exists(place)) {
    await fs.utimes(place, new Date(), new Date());
    return interpreterOf(world, place);
  }
  await fs.mkdir(base, { recursive: true });
  await removeAbandoned(base);
  const building = path.join(base, `.building-${process.pid}-${randomUUID()}`);
  try {
    await build(world, python, forbidden, building, { wheel, lock, wheels }, wanted.report);
    await fs.rename(building, place).catch(async (error: unknown) => {
      // Another window was faster: its environment is as good as ours.
      if (!(await exists(place))) throw error;
    });
  } finally {
    await fs.rm(building, { recursive: true, force: true });
  }
  await keepTwo(base, key);
  return interpreterOf(world, place);
}

/** The newest environment of another version, to fall back on; undefined if there is none. */
export async function previousEnvironment(world: World, storage: string): Promise<string | undefined> {
  const [newest] = await environments(path.join(storage, 'python'));
  return newest && interpreterOf(world, newest.folder);
}

async function build(
  world: World,
  python: Python,
  forbidden: readonly string[],
  folder: string,
  { wheel, lock, wheels }: Carried,
  report: (step: string) => void,
): Promise<void> {
  const cwd = path.dirname(folder);
  const inside = interpreterOf(world, folder);
  // A platform's own extension carries every wheel: then no index is asked.
  const strict = [
    ...(wheels === undefined ? [] : ['--no-index', '--find-links', wheels]),
    '--require-hashes',
    '--only-binary',
    ':all:',
    '-r',
    lock,
  ];
  const must = async (command: string, ...args: string[]): Promise<void> => {
    world.log(`${command} ${args.join(' ')}`);
    const result = await world.run(command, args, cwd);
    if (result.stdout.trim()) world.log(result.stdout.trimEnd());
    if (result.stderr.trim()) world.log(result.stderr.trimEnd());
    if (result.code !== 0)
      throw new SetupProblem(
        'failed',
        `making the server's Python environment failed (${lastLine(result.stderr)}); see the log`,
      );
  };
  const uv = await onPath(world, ['uv'], forbidden);
  if (uv[0]) {
    try {
      report('making an environment with uv');
      await must(uv[0], 'venv', '--python', python.executable, folder);
      report('installing what the server needs');
      await must(uv[0], 'pip', 'install', '--python', inside, '--compile-bytecode', ...strict);
      report('installing the server');
      await must(uv[0], 'pip', 'install', '--python', inside, '--compile-bytecode', '--no-index', '--no-deps', wheel);
      await must(inside, '-I', '-c', 'import countersign.cli');
      return;
    } catch (error) {
      world.log(`uv did not do it, going on with pip: ${error instanceof Error ? error.message : String(error)}`);
      await fs.rm(folder, { recursive: true, force: true });
    }
  }
  if (!python.hasVenv && !python.hasPip) {
    throw new SetupProblem(
      'noVenv',
      `this Python cannot make environments; install the package \`python${python.version[0]}.${python.version[1]}-venv\` (Debian, Ubuntu) or uv, then retry`,
    );
  }
  const flags = ['--disable-pip-version-check', '--no-input'];
  const pip: [string, ...string[]] = python.hasPip
    ? [python.executable, '-I', '-m', 'pip', '--python', inside, ...flags, 'install']
    : [inside, '-I', '-m', 'pip', ...flags, 'install'];
  report('making an environment');
  await must(python.executable, '-I', '-m', 'venv', ...(python.hasPip ? ['--without-pip'] : []), folder);
  report('installing what the server needs');
  await must(...pip, ...strict);
  report('installing the server');
  await must(...pip, '--no-index', '--no-deps', wheel);
  await must(inside, '-I', '-c', 'import countersign.cli');
}

async function probe(world: World, executable: string, cwd: string): Promise<Python | undefined> {
  const result = await world.run(executable, ['-I', '-c', PROBE], cwd);
  if (result.code !== 0) return undefined;
  try {
    const said = JSON.parse(result.stdout) as Python;
    return { ...said, version: [said.version[0], said.version[1], said.version[2]] };
  } catch {
    return undefined; // something that is called python and is none
  }
}

function isNewEnough({ version }: Python): boolean {
  return version[0] > OLDEST[0] || (version[0] === OLDEST[0] && version[1] >= OLDEST[1]);
}

async function candidates(world: World, forbidden: readonly string[]): Promise<string[]> {
  const names =
    world.platform === 'win32'
      ? ['python.exe', 'python3.exe', 'py.exe']
      : ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];
  return onPath(world, names, forbidden);
}

/** Programs of these names on the PATH, by name and then by place; relative entries and forbidden folders left out. */
async function onPath(world: World, names: readonly string[], forbidden: readonly string[]): Promise<string[]> {
  const suffix = world.platform === 'win32' ? '.exe' : '';
  const folders = (world.env['PATH'] ?? world.env['Path'] ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder));
  const found: string[] = [];
  for (const name of names) {
    for (const folder of folders) {
      const file = path.join(folder, name.endsWith(suffix) ? name : name + suffix);
      if (!found.includes(file) && (await exists(file)) && !(await isInside(file, forbidden))) found.push(file);
    }
  }
  return found;
}

/** Whether the file, or what it links to, or the folder it stands in, is in one of the folders. */
async function isInside(file: string, folders: readonly string[]): Promise<boolean> {
  const real = async (name: string) => fs.realpath(name).catch(() => path.resolve(name));
  const places = [path.resolve(file), await real(file), path.join(await real(path.dirname(file)), path.basename(file))];
  for (const folder of folders) {
    for (const root of [path.resolve(folder), await real(folder)]) {
      if (places.some((place) => place === root || place.startsWith(root + path.sep))) return true;
    }
  }
  return false;
}

interface Carried {
  wheel: string;
  lock: string;
  /** The folder of all wheels that the lock names, in an extension for one platform. */
  wheels: string | undefined;
}

async function carriedFiles(folder: string): Promise<Carried> {
  const names = await fs.readdir(folder).catch(() => []);
  const wheel = names.find((name) => name.endsWith('.whl'));
  const lock = names.find((name) => name.endsWith('.txt'));
  if (!wheel || !lock)
    throw new SetupProblem('noServer', 'this build of the extension carries no server; set countersign.serverPath');
  return {
    wheel: path.join(folder, wheel),
    lock: path.join(folder, lock),
    wheels: names.some((name) => name === 'wheels') ? path.join(folder, 'wheels') : undefined,
  };
}

async function digest(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await fs.readFile(file));
  return hash.digest('hex').slice(0, 12);
}

function interpreterOf(world: World, folder: string): string {
  return world.platform === 'win32' ? path.join(folder, 'Scripts', 'python.exe') : path.join(folder, 'bin', 'python');
}

async function environments(base: string): Promise<{ folder: string; used: number }[]> {
  const names = (await fs.readdir(base).catch(() => [])).filter((name) => !name.startsWith('.'));
  const found = await Promise.all(
    names.map(async (name) => {
      const folder = path.join(base, name);
      return { folder, used: (await fs.stat(folder)).mtimeMs };
    }),
  );
  return found.sort((one, other) => other.used - one.used);
}

/** The one just made and the one used last before it. */
async function keepTwo(base: string, key: string): Promise<void> {
  const others = (await environments(base)).filter(({ folder }) => path.basename(folder) !== key);
  for (const { folder } of others.slice(1)) await fs.rm(folder, { recursive: true, force: true });
}

/** Half-made ones of windows that died; a day is longer than any set-up takes. */
async function removeAbandoned(base: string): Promise<void> {
  for (const name of await fs.readdir(base)) {
    if (!name.startsWith('.building-')) continue;
    const folder = path.join(base, name);
    const { mtimeMs } = await fs.stat(folder);
    if (Date.now() - mtimeMs > 24 * 3600 * 1000) await fs.rm(folder, { recursive: true, force: true });
  }
}

async function exists(file: string): Promise<boolean> {
  return fs.stat(file).then(
    () => true,
    () => false,
  );
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() || 'no message';
}
