// Gemini CLI's policy engine, timed for tests/bench/decide.py, which says what is measured and why. Reads one JSON object
// a line: first `{commands, sets: {name: [{prefix, decision}]}}`, then `{round: name}` for each round over all commands,
// answered by one line with the microseconds of each decision. Ends with its input.
//
// Rules are what its own loader makes of `commandPrefix` in a policy file. It keeps nothing from one decision to the next
// but the loaded grammar. Each round gets arguments of its own, made before the clock starts.

import { createInterface } from 'node:readline';

// Its logger is the console, where the CLI puts a catcher; here nobody looks.
console.debug = console.log = console.warn = console.error = () => {};

const { PolicyEngine } = await import('@google/gemini-cli-core/dist/src/policy/policy-engine.js');
const { buildArgsPatterns } = await import('@google/gemini-cli-core/dist/src/policy/utils.js');

// Deny over ask over allow, as in a file that gives them these priorities: the first that matches counts.
const PRIORITY = { deny: 4.3, ask_user: 4.2, allow: 4.1 };

function ruleOf({ prefix, decision }) {
  const [pattern] = buildArgsPatterns(undefined, prefix);
  return { toolName: 'run_shell_command', argsPattern: new RegExp(pattern), decision, priority: PRIORITY[decision], source: 'bench' };
}

async function round(engine, commands) {
  const calls = commands.map((command) => ({ name: 'run_shell_command', args: { command } }));
  const times = [];
  for (const call of calls) {
    const start = performance.now();
    const { decision } = await engine.check(call, undefined);
    times.push((performance.now() - start) * 1000);
    if (!(decision in PRIORITY)) throw new Error(`no decision on ${call.args.command}`);
  }
  return times;
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { commands, sets } = JSON.parse((await lines.next()).value);
const engines = new Map(Object.entries(sets).map(([name, rules]) => [name, new PolicyEngine({ rules: rules.map(ruleOf) })]));
for await (const line of lines) {
  const times = await round(engines.get(JSON.parse(line).round), commands);
  process.stdout.write(`${JSON.stringify(times)}\n`);
}
