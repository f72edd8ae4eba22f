/** Files and symbols of the workspace for an @-mention, by the editor's own search. */
import * as path from 'node:path';
import * as vscode from 'vscode';

import { MOST_COMPLETIONS } from './attachments.ts';
import type { Completion } from './messages.ts';

/** Files that are ranked; the editor gives them in no order. */
const MOST_FILES = 2000;

export async function matchingFiles(text: string): Promise<Completion[]> {
  // Without characters that mean something in a glob: the text is a part of a name.
  const part = text.replaceAll(/[^\p{L}\p{N}_./ -]/gu, '?');
  const found = await vscode.workspace.findFiles(
    part.includes('/') ? `**/${part}*` : `**/*${part}*`,
    undefined,
    MOST_FILES,
  );
  const wanted = text.toLowerCase();
  const rank = ({ name }: Completion): number => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return found
    .filter(({ scheme }) => scheme === 'file')
    .map(({ fsPath }) => ({ name: path.basename(fsPath), path: fsPath }))
    .sort(
      (one, other) =>
        rank(one) - rank(other) || one.path.length - other.path.length || (one.path < other.path ? -1 : 1),
    )
    .slice(0, MOST_COMPLETIONS);
}

export async function matchingSymbols(text: string): Promise<Completion[]> {
  if (text.length < 2) return [];
  const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    'vscode.executeWorkspaceSymbolProvider',
    text,
  );
  return (found ?? [])
    .filter(({ location }) => location.uri.scheme === 'file')
    .map(({ name, location }) => ({ name, path: location.uri.fsPath, line: location.range.start.line + 1 }));
}
