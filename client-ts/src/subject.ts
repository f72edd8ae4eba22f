/**
 * What a request is about, in words, from the gate's preview alone: the question at its head and the subject as plain
 * text. Used by the card and by what asks without one, so that both say the same. Pure.
 */
import { reveal } from './reveal.ts';
import type * as wire from './wire.gen.ts';

export type Translate<T extends string = string> = (message: string, ...values: (string | number)[]) => T;

/** "Run shell command?", "Edit src/a.py?", "Fetch example.com?", "Use TOOL of SERVER?". */
export function headline<T extends string>(approval: wire.ApprovalRequest, t: Translate<T>, shorten: (path: string) => string = baseName): T {
  const { preview, toolCall } = approval;
  switch (preview.kind) {
    case 'command':
      return preview.background ? t('Run shell command in the background?') : t('Run shell command?');
    case 'diff': {
      const path = reveal(shorten(preview.path));
      const operation = preview.operation ?? (preview.oldText === undefined ? 'create' : 'edit');
      if (operation === 'create') return t('Create {0}?', path);
      if (operation === 'delete') return t('Delete {0}?', path);
      if (operation === 'move') return t('Move {0}?', path);
      return t('Edit {0}?', path);
    }
    case 'fetch':
      return t('Fetch {0}?', reveal(hostOf(preview.url)));
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

/** The subject in full, as text; hidden characters made visible. */
export function subjectText({ preview }: wire.ApprovalRequest): string {
  switch (preview.kind) {
    case 'command':
      return `${reveal(preview.command)}\n(${reveal(preview.cwd)})`;
    case 'diff':
      return preview.to === undefined ? `${reveal(preview.path)}\n\n${reveal(preview.newText)}` : `${reveal(preview.path)} → ${reveal(preview.to)}`;
    case 'fetch':
      return `${reveal(preview.method)} ${reveal(preview.url)}`;
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

function toolQuestion<T extends string>(tool: string, server: string | undefined, category: wire.Category, t: Translate<T>): T {
  const name = reveal(toolName(tool, server));
  if (server) return t('Use {0} of {1}?', name, reveal(server));
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
