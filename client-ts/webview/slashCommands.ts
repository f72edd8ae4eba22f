/** Slash commands of an agent: which fit what is written, and what may follow one. */
import type { AgentCommand } from '../src/wire.gen.ts';

const MOST_SHOWN = 50;

/** What stands between a slash at the very beginning and the cursor, where that is still in the first line. */
export function slashText(text: string, cursor: number): string | undefined {
  const before = text.slice(0, cursor);
  return before.startsWith('/') && !before.includes('\n') ? before.slice(1) : undefined;
}

/** The commands that begin with a text, in the agent's order; in any case of letters. */
export function matching(commands: readonly AgentCommand[], text: string): AgentCommand[] {
  const wanted = text.toLowerCase();
  return commands.filter(({ name }) => name.toLowerCase().startsWith(wanted)).slice(0, MOST_SHOWN);
}

/** What may follow the command that stands at the beginning, while nothing does. */
export function hintOf(commands: readonly AgentCommand[], text: string): string | undefined {
  return commands.find(({ name }) => text.trimEnd() === `/${name}`)?.hint;
}
