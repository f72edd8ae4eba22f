// Both ends of a burst of approvals in Node, over vscode-jsonrpc: the client drives any server, ours or the one below.
//
//   node node_burst.mjs client COUNT COMMAND ARGS...    starts the server, asks for COUNT approvals at once and answers
//                                                       each; prints the seconds of five bursts as JSON
//   node node_burst.mjs server                          the other end in Node: a map of open requests, and no ledger
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../client-ts/package.json', import.meta.url));
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-jsonrpc/node');
const [, , mode, ...rest] = process.argv;
const BURSTS = 5;

function connect(input, output) {
  const connection = createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
  connection.onError((error) => {
    throw error;
  });
  return connection;
}

async function client(count, command, ...args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const connection = connect(child.stdout, child.stdin);
  let open = 0;
  let allEnded = () => {};
  connection.onNotification('tool/approvalRequest', ({ approvalId, digest, options }) => {
    const response = { outcome: { outcome: 'selected', optionId: options[0].optionId } };
    void connection.sendRequest('tool/approvalResponse', { approvalId, digest, response, bypassAll: false });
  });
  connection.onNotification('tool/approvalResolved', ({ state }) => {
    if (state !== 'allowed') throw new Error(`an approval ended as ${state}`);
    if (--open === 0) allEnded();
  });
  connection.listen();
  await connection.sendRequest('initialize', { processId: null, rootUri: null, capabilities: {} });
  await connection.sendNotification('initialized', {});
  const seconds = [];
  for (let burst = 0; burst <= BURSTS; burst++) {
    open = Number(count);
    const ended = new Promise((resolve) => (allEnded = resolve));
    const began = performance.now();
    const asked = connection.sendRequest('thread/prompt', { threadId: 'burst', text: count });
    await Promise.all([ended, asked]);
    // The first one warms both ends up.
    if (burst > 0) seconds.push((performance.now() - began) / 1000);
  }
  process.stdout.write(JSON.stringify(seconds));
  await connection.sendRequest('shutdown');
  await connection.sendNotification('exit');
  connection.end();
}

function server() {
  const request = JSON.parse(readFileSync(0 === rest.length ? '/dev/null' : rest[0], 'utf8'));
  const connection = connect(process.stdin, process.stdout);
  const open = new Map();
  connection.onRequest('initialize', () => ({ capabilities: {} }));
  connection.onNotification('initialized', () => {});
  connection.onRequest('thread/prompt', async ({ text }) => {
    await Promise.all(
      Array.from({ length: Number(text) }, (_, number) => {
        const approvalId = String(number);
        const settled = new Promise((resolve) => open.set(approvalId, resolve));
        void connection.sendNotification('tool/approvalRequest', { ...request, approvalId });
        return settled;
      }),
    );
    return { stopReason: 'end_turn' };
  });
  connection.onRequest('tool/approvalResponse', ({ approvalId }) => {
    open.get(approvalId)(true);
    open.delete(approvalId);
    void connection.sendNotification('tool/approvalResolved', {
      approvalId, threadId: 't', state: 'allowed', by: 'user', seq: 1,
    });
    return { approvalId, state: 'allowed' };
  });
  connection.onRequest('shutdown', () => null);
  connection.onNotification('exit', () => process.exit(0));
  connection.listen();
}

await { client, server }[mode](...rest);
