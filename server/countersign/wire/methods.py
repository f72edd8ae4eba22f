"""The method table: name, direction, params and result of everything we say beyond LSP itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from . import approvals, desk, settings, threads, verdicts
from .base import Empty, WireModel

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
    _request("tool/explain", verdicts.ExplainParams, verdicts.ExplainResult),
    # chats
    _request("thread/create", threads.ThreadCreateParams, threads.ThreadCreateResult),
    _request("thread/list", Empty, threads.ThreadListResult),
    _request("thread/open", threads.ThreadOpenParams, threads.ThreadOpenResult),
    _request("thread/delete", threads.ThreadDeleteParams, Empty),
    _request("thread/setMode", threads.ThreadSetModeParams, threads.ThreadSetModeResult),
    _request("thread/prompt", threads.ThreadPromptParams, threads.ThreadPromptResult),
    _from_client("thread/cancel", threads.ThreadCancelParams),
    _to_client("thread/update", threads.ThreadUpdate),
    # agents and shells
    _request("agent/list", Empty, desk.AgentListResult),
    _to_client("agent/status", desk.AgentView),
    _request("agent/restart", desk.AgentRestartParams, Empty),
    _request("agent/setBypass", desk.AgentSetBypassParams, Empty),
    _request("shell/list", Empty, desk.ShellListResult),
    _request("shell/output", desk.ShellOutputParams, desk.ShellOutputResult),
    _request("shell/kill", desk.ShellKillParams, desk.ShellKillResult),
    _request("shell/toBackground", desk.ShellToBackgroundParams, desk.ShellToBackgroundResult),
    _to_client("shell/update", desk.ShellView),
    # history, rules, grants
    _request("history/query", desk.HistoryQueryParams, desk.HistoryQueryResult),
    _request("history/export", desk.HistoryQueryParams, desk.HistoryExportResult),
    _request("history/undo", desk.HistoryUndoParams, desk.HistoryUndoResult),
    _request("rule/list", Empty, desk.RuleListResult),
    _request("rule/proposals", Empty, desk.RuleProposalsResult),
    _request("rule/add", desk.RuleAddParams, desk.RuleAddResult),
    _request("rule/remove", desk.RuleRemoveParams, Empty),
    _request("grant/list", Empty, desk.GrantListResult),
    _request("grant/revoke", desk.GrantRevokeParams, Empty),
    # settings
    _from_client("settings/changed", settings.SettingsChanged),
    _to_client("settings/update", settings.SettingsUpdateParams, settings.SettingsUpdateResult),
    _to_client("settings/unconfirmed", settings.SettingsUnconfirmed),
    _request("settings/confirm", settings.SettingsConfirmParams, Empty),
)

BY_NAME: dict[str, Method] = {method.name: method for method in METHODS}
