/** What a person may change of a call before it runs, and the call's input with that change. Pure. */
import type * as wire from './wire.gen.ts';

/** The text a person may change before the call runs; undefined if the call has no such text. */
export function editableInput({ preview, toolCall, agentOptions }: wire.ApprovalRequest): string | undefined {
  // A hosted agent runs its own call; ours is the answer only.
  if (agentOptions || toolCall.tool.startsWith('acp:') || !isObject(toolCall.rawInput)) return undefined;
  if (preview.kind === 'command' && typeof toolCall.rawInput['command'] === 'string') return preview.command;
  if (
    preview.kind === 'diff' &&
    !preview.tooLarge &&
    (toolCall.tool === 'write_file' || (toolCall.tool === 'edit_file' && preview.oldText))
  )
    return preview.newText;
  return undefined;
}

/** The tool's input with that text in its place, as JSON. */
export function withEdit({ preview, toolCall }: wire.ApprovalRequest, text: string): string | undefined {
  const input = toolCall.rawInput;
  if (!isObject(input)) return undefined;
  if (preview.kind === 'command') return JSON.stringify({ ...input, command: text });
  if (preview.kind !== 'diff') return undefined;
  if (toolCall.tool === 'write_file') return JSON.stringify({ ...input, content: text });
  // The whole file as one edit: what the person typed is what the file will hold.
  return JSON.stringify({ ...input, edits: [{ old_text: preview.oldText ?? '', new_text: text }] });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
