/**
 * Text that the server sends for the editor itself to show: messages, log lines, problems, hovers, completions. They go
 * from vscode-languageclient straight to the editor, so they are neutralized on the way in. Knows no editor.
 *
 * INVARIANT (plain text): see editorText.ts. The server quotes files, settings and agents in these.
 */
import { editorText } from './editorText.ts';
import { reveal } from './reveal.ts';

/**
 * A message off the wire with the texts in it that the editor would show made inert, messages and problems in the
 * language of the window by `fromServer`; other messages as they are.
 */
export function neutralized<M extends object>(message: M, fromServer: FromServer = (text) => text): M {
  const { method, params } = message as { method?: unknown; params?: unknown };
  if (typeof method !== 'string' || !isRecord(params)) return message;
  const made = paramsOf(method, params, fromServer);
  return made === params ? message : { ...message, params: made };
}

type FromServer = (text: string) => string;

function paramsOf(method: string, params: Record<string, unknown>, fromServer: FromServer): Record<string, unknown> {
  switch (method) {
    case 'window/showMessage':
      return { ...params, message: line(fromServer(String(params['message']))) };
    case 'window/showMessageRequest':
      return {
        ...params,
        message: line(fromServer(String(params['message']))),
        actions: list(params['actions']).map((action) =>
          isRecord(action) ? { ...action, title: line(action['title']) } : action,
        ),
      };
    case 'window/logMessage':
      return { ...params, message: reveal(String(params['message'])) };
    case '$/progress':
      return isRecord(params['value']) ? { ...params, value: lines(params['value'], 'title', 'message') } : params;
    case 'textDocument/publishDiagnostics':
      return {
        ...params,
        diagnostics: list(params['diagnostics']).map((one) => (isRecord(one) ? diagnostic(one, fromServer) : one)),
      };
    default:
      return params;
  }
}

/** A problem: its words, and nothing in it that is a link. */
function diagnostic(one: Record<string, unknown>, fromServer: FromServer): Record<string, unknown> {
  const { codeDescription: _, relatedInformation: __, ...rest } = one;
  const { message } = rest;
  return lines(typeof message === 'string' ? { ...rest, message: fromServer(message) } : rest, 'message', 'source');
}

/** What an editor needs to know of a Markdown string in order to draw it. */
export interface Markdown {
  value: string;
  isTrusted?: unknown;
  supportHtml?: boolean;
  supportThemeIcons?: boolean;
}

/** A Markdown text that runs no command, holds no HTML and no icon, and loads nothing: no link or picture is left in it. */
export function inertMarkdown<M extends Markdown>(markdown: M): M {
  markdown.isTrusted = false;
  markdown.supportHtml = false;
  markdown.supportThemeIcons = false;
  markdown.value = reveal(markdown.value)
    // Links and pictures written in place, the lines that say where others lead, and addresses in angle brackets.
    .replaceAll('](', '] (')
    .replaceAll(']:', '] :')
    .replaceAll(/<(?=[a-z][a-z0-9+.-]*:)/gi, '< ');
  return markdown;
}

function lines(record: Record<string, unknown>, ...keys: string[]): Record<string, unknown> {
  return {
    ...record,
    ...Object.fromEntries(keys.filter((key) => record[key] !== undefined).map((key) => [key, line(record[key])])),
  };
}

function line(value: unknown): string {
  return editorText(String(value));
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
