// The client of the wire benches: an editor's side in Node, as thin as can be, so that what is measured is the server.
//
//   node node_client.mjs answer|start COUNT THREAD COMMAND ARGS...
//
// answer  initializes, asks for COUNT approval rounds in THREAD, and answers each approvalRequest at once; the child
//         times them
// start   starts the child COUNT times, and prints the milliseconds from the start to the answer of initialize
import { spawn } from 'node:child_process';

const [, , mode, count, threadId, command, ...args] = process.argv;

function start(onMessage) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let held = Buffer.alloc(0);
  child.stdout.on('data', (data) => {
    held = held.length === 0 ? data : Buffer.concat([held, data]);
    for (;;) {
      const end = held.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(held.toString('latin1', 0, end))[1]);
      if (held.length < end + 4 + length) return;
      const body = held.toString('utf8', end + 4, end + 4 + length);
      held = held.subarray(end + 4 + length);
      onMessage(JSON.parse(body));
    }
  });
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  return { child, send };
}

const initialize = { id: 'init', method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } };

function answer() {
  let id = 0;
  const { send } = start((message) => {
    if (message.method === 'tool/approvalRequest') {
      const { approvalId, digest, options } = message.params;
      const response = { outcome: { outcome: 'selected', optionId: options[0].optionId } };
      send({ id: ++id, method: 'tool/approvalResponse', params: { approvalId, digest, response, bypassAll: false } });
    } else if (message.id === 'init') {
      send({ method: 'initialized', params: {} });
      send({ id: 'rounds', method: 'thread/prompt', params: { threadId, text: count } });
    } else if (message.id === 'rounds') {
      if (message.error !== undefined) throw new Error(JSON.stringify(message.error));
      send({ id: 'end', method: 'shutdown' });
      send({ method: 'exit' });
    }
  });
  send(initialize);
}

async function startUp() {
  const times = [];
  for (let i = 0; i < Number(count); i++) {
    const began = performance.now();
    await new Promise((resolve) => {
      const { child, send } = start((message) => {
        if (message.id === 'init') {
          times.push(performance.now() - began);
          send({ id: 'end', method: 'shutdown' });
          send({ method: 'exit' });
        }
      });
      child.on('exit', resolve);
      send(initialize);
    });
  }
  process.stdout.write(JSON.stringify(times));
}

await { answer, start: startUp }[mode]();
