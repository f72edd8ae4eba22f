"""The method table: name, direction, params and result of everything we say beyond LSP itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from countersign.wire import (
    agents,
    approvals,
    editor,
    elicitation,
    history,
    providers,
    rules,
    sandbox,
    settings,
    shells,
    threads,
    verdicts,
)
from countersign.wire.base import Empty, WireModel

Direction = Literal["toServer", "toClient"]


@dataclass(frozen=True)
class Method:
    """One method. ``result`` is None for a notification."""

    name: str
    direction: Direction
    params: type[WireModel]
    result: type[WireModel] | None

    @property
    def is_request(self) -> bool:
        return self.result is not None


def _request(name: str, params: type[WireModel], result: type[WireModel]) -> Method:
    return Method(name, "toServer", params, result)


def _from_client(name: str, params: type[WireModel]) -> Method:
    return Method(name, "toServer", params, None)


def _to_client(name: str, params: type[WireModel], result: type[WireModel] | None = None) -> Method:
    return Method(name, "toClient", params, result)


METHODS: tuple[Method, ...] = (
    # approvals
    _to_client("tool/approvalRequest", approvals.ApprovalRequest),
    _request("tool/approvalResponse", approvals.ApprovalResponseParams, approvals.ApprovalResponseResult),
    _to_client("tool/approvalResolved", approvals.ApprovalResolved),
    _request("tool/pendingApprovals", approvals.PendingApprovalsParams, approvals.PendingApprovalsResult),
    _request("rule/preview", approvals.RulePreviewParams, approvals.RulePreviewResult),
    _request("tool/approvalBatch", approvals.ApprovalBatchParams, approvals.ApprovalBatchResult),
    _request("tool/approvalPostpone", approvals.ApprovalPostponeParams, approvals.ApprovalPostponeResult),
    _request("tool/explain", verdicts.ExplainParams, verdicts.ExplainResult),
    # chats
    _request("thread/create", threads.ThreadCreateParams, threads.ThreadCreateResult),
    _request("thread/fork", threads.ThreadForkParams, threads.ThreadCreateResult),
    _request("thread/begin", threads.ThreadBeginParams, Empty),
    _request("thread/list", Empty, threads.ThreadListResult),
    _request("thread/open", threads.ThreadOpenParams, threads.ThreadOpenResult),
    _request("thread/delete", threads.ThreadDeleteParams, Empty),
    _request("thread/rename", threads.ThreadRenameParams, Empty),
    _request("thread/search", threads.ThreadSearchParams, threads.ThreadSearchResult),
    _request("thread/export", threads.ThreadExportParams, threads.ThreadExportResult),
    _request("thread/setMode", threads.ThreadSetModeParams, threads.ThreadSetModeResult),
    _request("thread/setOption", threads.ThreadSetOptionParams, threads.ThreadSetOptionResult),
    _to_client("thread/session", threads.ThreadSession),
    _to_client("thread/titled", threads.ThreadTitled),
    _request("thread/prompt", threads.ThreadPromptParams, threads.ThreadPromptResult),
    _request("thread/compact", threads.ThreadCompactParams, threads.ThreadCompactResult),
    _from_client("thread/cancel", threads.ThreadCancelParams),
    _to_client("thread/update", threads.ThreadUpdate),
    # questions of agents
    _to_client("elicitation/request", elicitation.ElicitationRequest),
    _request("elicitation/respond", elicitation.ElicitationRespondParams, elicitation.ElicitationRespondResult),
    _to_client("elicitation/resolved", elicitation.ElicitationResolved),
    # models and their keys
    _request("model/list", Empty, providers.ModelListResult),
    _to_client("lm/list", Empty, providers.LmListResult),
    _to_client("lm/chat", providers.LmChatParams, providers.LmChatResult),
    _from_client("lm/part", providers.LmPart),
    # what the editor knows
    _to_client("editor/openFiles", Empty, editor.EditorOpenFilesResult),
    _to_client("editor/selection", Empty, editor.EditorSelectionResult),
    _to_client("editor/diagnostics", editor.EditorDiagnosticsParams, editor.EditorDiagnosticsResult),
    _to_client("editor/symbols", editor.EditorSymbolsParams, editor.EditorSymbolsResult),
    _to_client("editor/references", editor.EditorReferencesParams, editor.EditorReferencesResult),
    _to_client("editor/rename", editor.EditorRenameParams, editor.EditorRenameResult),
    _to_client("secret/read", providers.SecretReadParams, providers.SecretReadResult),
    # agents and shells
    _request("agent/list", Empty, agents.AgentListResult),
    _to_client("agent/status", agents.AgentView),
    _request("agent/known", Empty, agents.AgentKnownResult),
    _request("agent/add", agents.AgentAddParams, agents.AgentAddResult),
    _request("agent/restart", agents.AgentRestartParams, Empty),
    _request("agent/login", agents.AgentLoginParams, Empty),
    _request("agent/sessions", agents.AgentSessionsParams, agents.AgentSessionsResult),
    _request("agent/resetLabel", agents.AgentResetLabelParams, Empty),
    _request("agent/probe", agents.AgentProbeParams, agents.AgentProbeResult),
    _request("agent/setBypass", agents.AgentSetBypassParams, Empty),
    _request("shell/list", Empty, shells.ShellListResult),
    _request("shell/output", shells.ShellOutputParams, shells.ShellOutputResult),
    _request("shell/kill", shells.ShellKillParams, shells.ShellKillResult),
    _request("shell/toBackground", shells.ShellToBackgroundParams, shells.ShellToBackgroundResult),
    _to_client("shell/update", shells.ShellView),
    _request("sandbox/status", Empty, sandbox.SandboxStatus),
    # history and its ledger, rules, grants
    _request("history/query", history.HistoryQueryParams, history.HistoryQueryResult),
    _request("history/export", history.HistoryQueryParams, history.HistoryExportResult),
    _request("history/stats", history.HistoryStatsParams, history.HistoryStatsResult),
    _request("history/undo", history.HistoryUndoParams, history.HistoryUndoResult),
    _request("ledger/status", Empty, history.LedgerStatus),
    _to_client("ledger/changed", history.LedgerStatus),
    _to_client("ledger/head", history.LedgerHead),
    _request("ledger/newChain", history.LedgerNewChainParams, history.LedgerStatus),
    _request("rule/list", Empty, rules.RuleListResult),
    _request("rule/proposals", Empty, rules.RuleProposalsResult),
    _request("rule/import", rules.RuleImportParams, rules.RuleImportResult),
    _request("rule/add", rules.RuleAddParams, rules.RuleAddResult),
    _request("rule/remove", rules.RuleRemoveParams, Empty),
    _request("grant/list", Empty, rules.GrantListResult),
    _request("grant/revoke", rules.GrantRevokeParams, Empty),
    # settings
    _from_client("editor/saved", settings.EditorSaved),
    _from_client("settings/changed", settings.SettingsChanged),
    _to_client("settings/update", settings.SettingsUpdateParams, settings.SettingsUpdateResult),
    _to_client("settings/unconfirmed", settings.SettingsUnconfirmed),
    _request("settings/confirm", settings.SettingsConfirmParams, Empty),
    _request("environment/pass", settings.EnvironmentPassParams, Empty),
)

BY_NAME: dict[str, Method] = {method.name: method for method in METHODS}
