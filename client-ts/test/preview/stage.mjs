/** The webview in a real Chromium: builds it, serves it under the extension's own content policy, and opens the browser. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import * as esbuild from 'esbuild';
import { chromium } from 'playwright-core';

import { themeSheet } from './themes.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const CLIENT = path.join(HERE, '../..');

export async function openStage() {
  const built = await esbuild.build({
    entryPoints: { scenes: path.join(HERE, 'scenes.ts'), webview: path.join(CLIENT, 'webview/main.ts') },
    bundle: true,
    write: false,
    format: 'iife',
    outdir: '/',
    loader: { '.ttf': 'file' },
    assetNames: '[name]',
    conditions: ['production'],
  });
  const files = new Map(built.outputFiles.map((file) => [`/${path.basename(file.path)}`, file.contents]));
  const types = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const answer = (type, body) => response.writeHead(200, { 'content-type': type }).end(body);
    if (url.pathname === '/') return answer('text/html', documentOf(url.searchParams.get('theme') ?? 'dark'));
    if (url.pathname === '/theme.css') return answer('text/css', themeSheet(url.searchParams.get('name')));
    if (url.pathname === '/favicon.ico') return answer('text/plain', '');
    const file = files.get(url.pathname) ?? distributed(url.pathname);
    return file
      ? answer(types[path.extname(url.pathname)] ?? 'text/plain', Buffer.from(file))
      : response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox', '--disable-gpu'] });
  return {
    browser,
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** What the build copies beside the bundle, such as the icons' font. */
function distributed(name) {
  const file = path.join(CLIENT, 'dist', path.basename(name));
  return existsSync(file) ? readFileSync(file) : undefined;
}

/** What the editor puts on the body in each theme. */
const BODY_CLASSES = {
  dark: 'vscode-dark',
  light: 'vscode-light',
  'hc-black': 'vscode-high-contrast',
  'hc-light': 'vscode-high-contrast vscode-high-contrast-light',
};

/** As panel.ts makes it, with the stand-in for the editor before our script. */
function documentOf(theme) {
  const policy = "default-src 'none'; script-src 'nonce-n'; style-src 'self'; font-src 'self'";
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="/theme.css?name=${theme}"><link rel="stylesheet" href="/webview.css"><title>Countersign</title></head>
<body class="${BODY_CLASSES[theme]}"><script nonce="n" src="/scenes.js"></script><script nonce="n" src="/webview.js"></script></body></html>`;
}

export function browserPath() {
  const known = [
    process.env.CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ];
  const found = known.find((file) => file && existsSync(file));
  if (!found) throw new Error('no Chromium was found; install it, or name its program in the variable CHROMIUM');
  return found;
}
