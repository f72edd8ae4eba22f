/**
 * What a request is about, in words, from the gate's preview alone: the question at its head and the subject as plain
 * text. Used by the card and by what asks without one, so that both say the same. Pure.
 */
import { reveal, revealLine } from './reveal.ts';
import type * as wire from './wire.gen.ts';

export type Translate<T extends string = string> = (message: string, ...values: (string | number)[]) => T;

/** "Run shell command?", "Run outside the sandbox?", "Edit src/a.py?", "Fetch example.com?", "Use TOOL of SERVER?". */
export function headline<T extends string>(
  approval: wire.ApprovalRequest,
  t: Translate<T>,
  shorten: (path: string) => string = baseName,
): T {
  const { preview, toolCall } = approval;
  switch (preview.kind) {
    case 'command':
      if (preview.outside) return t('Run outside the sandbox?');
      return preview.background ? t('Run shell command in the background?') : t('Run shell command?');
    case 'diff': {
      const path = elided(revealLine(shorten(preview.path)));
      const operation = preview.operation ?? (preview.oldText === undefined ? 'create' : 'edit');
      if (operation === 'create') return t('Create {0}?', path);
      if (operation === 'delete') return t('Delete {0}?', path);
      if (operation === 'move') return t('Move {0}?', path);
      return t('Edit {0}?', path);
    }
    case 'fetch':
      return t('Fetch {0}?', elided(revealLine(hostOf(preview.url))));
    case 'host':
      return t('Allow {0} for this chat?', elided(revealLine(preview.host)));
    case 'plan':
      return t('Follow this plan?');
    case 'tool':
      return toolQuestion(toolCall.tool, preview.server, toolCall.category, t);
  }
}

/** A path as seen from the workspace, or from home; unchanged if it is below neither. */
export function shortPath(path: string, workspace: string | undefined, home: string | undefined): string {
  if (workspace && path === workspace) return '.';
  if (workspace && path.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  if (home && path === home) return '~';
  if (home && path.startsWith(`${home}/`)) return `~${path.slice(home.length)}`;
  return path;
}

/** A name in a headline; a longer one keeps its two ends there, and stands whole in the subject. */
const NAME_LIMIT = 60;

/** Whether a name is too long for the headline. */
export function isElided(name: string): boolean {
  return revealLine(name).length > NAME_LIMIT;
}

function elided(shown: string): string {
  if (shown.length <= NAME_LIMIT) return shown;
  const half = NAME_LIMIT / 2 - 1;
  return `${shown.slice(0, half).replace(/[\uD800-\uDBFF]$/, '')}…${shown.slice(-half).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** Whether neither a card nor a dialog can draw it; only the diff editor may show all of it. */
export function isTooLarge({ preview }: wire.ApprovalRequest): boolean {
  return preview.kind === 'diff' && preview.tooLarge === true;
}

/** The names that the headline could not hold whole. */
export function longNames(
  preview: wire.Preview,
  toolCall: Pick<wire.ToolCallView, 'tool'>,
  shorten: (path: string) => string,
): ['path' | 'tool' | 'server', string][] {
  const names: ['path' | 'tool' | 'server', string][] = [];
  if (preview.kind === 'diff') names.push(['path', shorten(preview.path)]);
  if (preview.kind === 'tool') {
    names.push(['tool', toolName(toolCall.tool, preview.server)]);
    if (preview.server !== undefined) names.push(['server', preview.server]);
  }
  return names.filter(([, name]) => isElided(name));
}

/** The subject in full, as text; hidden characters made visible. */
export function subjectText({ preview }: wire.ApprovalRequest): string {
  switch (preview.kind) {
    case 'command':
      return `${reveal(preview.command)}\n(${reveal(preview.cwd)})`;
    case 'diff':
      return preview.to === undefined
        ? `${reveal(preview.path)}\n\n${reveal(preview.newText)}`
        : `${reveal(preview.path)} → ${reveal(preview.to)}`;
    case 'fetch':
      return `${reveal(preview.method)} ${reveal(preview.url)}`;
    case 'host':
      return `${reveal(preview.host)}:${preview.port}\n(${reveal(preview.command)})`;
    case 'plan':
      return reveal(preview.markdown);
    case 'tool':
      return reveal(JSON.stringify(preview.input, null, 2) ?? '');
  }
}

export function hostOf(url: string): string {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
}

function toolQuestion<T extends string>(
  tool: string,
  server: string | undefined,
  category: wire.Category,
  t: Translate<T>,
): T {
  const name = elided(revealLine(toolName(tool, server)));
  if (server) return t('Use {0} of {1}?', name, elided(revealLine(server)));
  if (category === 'read') return t('Read with {0}?', name);
  return t('Use {0}?', name);
}

/** `mcp__server__tool` and `acp:kind` without what is said elsewhere. */
function toolName(tool: string, server: string | undefined): string {
  const prefix = server === undefined ? undefined : `mcp__${server}__`;
  if (prefix && tool.startsWith(prefix)) return tool.slice(prefix.length);
  return tool.startsWith('acp:') ? tool.slice('acp:'.length) : tool;
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
