/**
 * The server as the rest of the extension sees it: typed requests and notifications. The real one stands on
 * vscode-languageclient (server.ts); tests hand in one of their own. Names and shapes are those of the wire.
 */
import type * as wire from './wire.gen.ts';

export interface Requests {
  'tool/approvalResponse': [wire.ApprovalResponseParams, wire.ApprovalResponseResult];
  'tool/pendingApprovals': [wire.PendingApprovalsParams, wire.PendingApprovalsResult];
  'tool/approvalBatch': [wire.ApprovalBatchParams, wire.ApprovalBatchResult];
  'thread/create': [wire.ThreadCreateParams, wire.ThreadCreateResult];
  'thread/list': [wire.Empty, wire.ThreadListResult];
  'thread/open': [wire.ThreadOpenParams, wire.ThreadOpenResult];
  'thread/delete': [wire.ThreadDeleteParams, wire.Empty];
  'thread/setMode': [wire.ThreadSetModeParams, wire.ThreadSetModeResult];
  'thread/prompt': [wire.ThreadPromptParams, wire.ThreadPromptResult];
  'agent/list': [wire.Empty, wire.AgentListResult];
  'agent/restart': [wire.AgentRestartParams, wire.Empty];
  'shell/list': [wire.Empty, wire.ShellListResult];
  'shell/output': [wire.ShellOutputParams, wire.ShellOutputResult];
  'shell/kill': [wire.ShellKillParams, wire.ShellKillResult];
  'shell/toBackground': [wire.ShellToBackgroundParams, wire.ShellToBackgroundResult];
  'history/query': [wire.HistoryQueryParams, wire.HistoryQueryResult];
  'history/export': [wire.HistoryQueryParams, wire.HistoryExportResult];
  'history/undo': [wire.HistoryUndoParams, wire.HistoryUndoResult];
  'rule/list': [wire.Empty, wire.RuleListResult];
  'rule/add': [wire.RuleAddParams, wire.RuleAddResult];
  'rule/remove': [wire.RuleRemoveParams, wire.Empty];
  'grant/list': [wire.Empty, wire.GrantListResult];
  'grant/revoke': [wire.GrantRevokeParams, wire.Empty];
  'settings/confirm': [wire.SettingsConfirmParams, wire.Empty];
}

export interface Notifications {
  'thread/cancel': wire.ThreadCancelParams;
  'settings/changed': wire.SettingsChanged;
}

/** What the server tells us. */
export interface Told {
  'tool/approvalRequest': wire.ApprovalRequest;
  'tool/approvalResolved': wire.ApprovalResolved;
  'thread/update': wire.ThreadUpdate;
  'agent/status': wire.AgentView;
  'shell/update': wire.ShellView;
  'settings/unconfirmed': wire.SettingsUnconfirmed;
}

export type LinkState = 'stopped' | 'starting' | 'running';

export interface Link {
  readonly state: LinkState;
  /** Rejects with a `ServerError` where the server answers with an error, also when there is no server. */
  request<M extends keyof Requests>(method: M, params: Requests[M][0]): Promise<Requests[M][1]>;
  /** Does nothing when there is no server. */
  notify<M extends keyof Notifications>(method: M, params: Notifications[M]): void;
}

/** An error answer. `kind` is the wire's `data.kind`, where the server gave one. */
export class ServerError extends Error {
  constructor(message: string, readonly kind: string | undefined) {
    super(message);
  }
}

export function asServerError(error: unknown): ServerError {
  if (error instanceof ServerError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const data: unknown = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  const kind = typeof data === 'object' && data !== null && 'kind' in data && typeof data.kind === 'string' ? data.kind : undefined;
  return new ServerError(message, kind);
}
