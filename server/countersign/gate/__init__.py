"""The gate decides, asks and remembers. It runs nothing and draws nothing: it asks through an Asker that it is handed.

A call enters at `Gate.submit` (``gate.py``). ``decisions/`` gives the verdict, ``approvals/`` asks a person where the
verdict is ask, ``ledger/`` records both, and the call's `Plan` then runs with the `Permit` that only the gate makes.
``deciding.py`` brings the policy and grants of the moment, ``turn_order.py`` keeps the calls of a turn in their order,
and ``workers.py`` runs blocking work in threads of the agent that it is for, of heavy agents one piece at a time.
The names below are the package's face: code outside the gate imports them from here and nothing past it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from countersign.gate.approvals.file_binding import blocking_still_true as blocking_still_true
    from countersign.gate.approvals.pending import Resolution as Resolution
    from countersign.gate.approvals.rule_examples import matches as matches
    from countersign.gate.approvals.stored_requests import Tampered as Tampered
    from countersign.gate.approvals.stored_requests import blocking_question as blocking_question
    from countersign.gate.call import BadArguments as BadArguments
    from countersign.gate.call import Effect as Effect
    from countersign.gate.call import FetchUrl as FetchUrl
    from countersign.gate.call import FileState as FileState
    from countersign.gate.call import ProposePlan as ProposePlan
    from countersign.gate.call import ReachHost as ReachHost
    from countersign.gate.call import ReadPath as ReadPath
    from countersign.gate.call import RunCommand as RunCommand
    from countersign.gate.call import ToolCall as ToolCall
    from countersign.gate.call import UseTool as UseTool
    from countersign.gate.call import WritePath as WritePath
    from countersign.gate.deciding import Decide as Decide
    from countersign.gate.decision import Decision as Decision
    from countersign.gate.decisions.decide import compile_rules as compile_rules
    from countersign.gate.decisions.decide import decide as decide
    from countersign.gate.decisions.decide import judge_for as judge_for
    from countersign.gate.decisions.hosts import host_verdict as host_verdict
    from countersign.gate.finding import Finding as Finding
    from countersign.gate.gate import Gate as Gate
    from countersign.gate.ledger.before_images import BeforeImages as BeforeImages
    from countersign.gate.ledger.entry import Adopted as Adopted
    from countersign.gate.ledger.entry import Parked as Parked
    from countersign.gate.ledger.entry import StoredRequest as StoredRequest
    from countersign.gate.ledger.entry import now as now
    from countersign.gate.ledger.entry import parse_moment as parse_moment
    from countersign.gate.ledger.entry import shown as shown
    from countersign.gate.ledger.export import Exported as Exported
    from countersign.gate.ledger.export import blocking_export as blocking_export
    from countersign.gate.ledger.export import blocking_verify_export as blocking_verify_export
    from countersign.gate.ledger.figures import blocking_active_hours as blocking_active_hours
    from countersign.gate.ledger.figures import blocking_call_figures as blocking_call_figures
    from countersign.gate.ledger.figures import blocking_call_times as blocking_call_times
    from countersign.gate.ledger.hash_chain import Fault as Fault
    from countersign.gate.ledger.hash_chain import Verification as Verification
    from countersign.gate.ledger.head_file import blocking_read_heads as blocking_read_heads
    from countersign.gate.ledger.new_chain import Anchor as Anchor
    from countersign.gate.ledger.reader import LEDGER_FILE as LEDGER_FILE
    from countersign.gate.ledger.reader import Reader as Reader
    from countersign.gate.ledger.redact import MARK as MARK
    from countersign.gate.ledger.redact import redact as redact
    from countersign.gate.ledger.redact import secret_values as secret_values
    from countersign.gate.ledger.retention import blocking_rotate as blocking_rotate
    from countersign.gate.ledger.rule_usage import RuleUse as RuleUse
    from countersign.gate.ledger.rule_usage import blocking_calls_by_day as blocking_calls_by_day
    from countersign.gate.ledger.rule_usage import blocking_uses as blocking_uses
    from countersign.gate.ledger.rule_usage import use_of_each as use_of_each
    from countersign.gate.ledger.secret_forms import has_secret_form as has_secret_form
    from countersign.gate.ledger.secret_forms import is_secret_name as is_secret_name
    from countersign.gate.ledger.server_lock import Owner as Owner
    from countersign.gate.ledger.signature import KEY_BYTES as KEY_BYTES
    from countersign.gate.ledger.signature import blocking_check_signature as blocking_check_signature
    from countersign.gate.ledger.signature import blocking_check_signed_export as blocking_check_signed_export
    from countersign.gate.ledger.signature import blocking_sign_head as blocking_sign_head
    from countersign.gate.ledger.signature import blocking_write_signature as blocking_write_signature
    from countersign.gate.ledger.signature import key_name as key_name
    from countersign.gate.ledger.signature import signature_path as signature_path
    from countersign.gate.ledger.writer import Ledger as Ledger
    from countersign.gate.paths.kept_by_git import KEPT_BY_GIT as KEPT_BY_GIT
    from countersign.gate.paths.path_judge import PathJudge as PathJudge
    from countersign.gate.paths.sensitive_paths import PROTECTED_IN_HOME as PROTECTED_IN_HOME
    from countersign.gate.paths.sensitive_paths import SECRET_IN_HOME as SECRET_IN_HOME
    from countersign.gate.paths.sensitive_paths import is_package_binary as is_package_binary
    from countersign.gate.paths.sensitive_paths import protected_names as protected_names
    from countersign.gate.paths.sensitive_paths import protected_reason as protected_reason
    from countersign.gate.paths.sensitive_paths import secret_name as secret_name
    from countersign.gate.paths.system_folders import DEFAULT_PATH as DEFAULT_PATH
    from countersign.gate.paths.system_folders import SYSTEM_FOLDERS as SYSTEM_FOLDERS
    from countersign.gate.patterns import WILD as WILD
    from countersign.gate.patterns import CommandPattern as CommandPattern
    from countersign.gate.patterns import HostPattern as HostPattern
    from countersign.gate.patterns import NamePattern as NamePattern
    from countersign.gate.patterns import ParamPattern as ParamPattern
    from countersign.gate.patterns import PathPattern as PathPattern
    from countersign.gate.patterns import ascii_names as ascii_names
    from countersign.gate.patterns import command_specifier as command_specifier
    from countersign.gate.patterns import escape_path as escape_path
    from countersign.gate.patterns import spelled_address as spelled_address
    from countersign.gate.permit import Permit as Permit
    from countersign.gate.permit import Stale as Stale
    from countersign.gate.plan import Plan as Plan
    from countersign.gate.plan import Prepare as Prepare
    from countersign.gate.probes.hidden_characters import hidden_character as hidden_character
    from countersign.gate.probes.hidden_characters import visible as visible
    from countersign.gate.receipt import Offer as Offer
    from countersign.gate.receipt import Outcome as Outcome
    from countersign.gate.receipt import Picture as Picture
    from countersign.gate.receipt import Refused as Refused
    from countersign.gate.receipt import Settled as Settled
    from countersign.gate.risk import GIT_SETTINGS as GIT_SETTINGS
    from countersign.gate.rules.rule import CANONICAL as CANONICAL
    from countersign.gate.rules.rule import EFFECT_TOOLS as EFFECT_TOOLS
    from countersign.gate.rules.rule import HOST_TOOL as HOST_TOOL
    from countersign.gate.rules.rule import NARROWER_THAN_READ as NARROWER_THAN_READ
    from countersign.gate.rules.rule import BadRule as BadRule
    from countersign.gate.rules.rule import Rule as Rule
    from countersign.gate.rules.rule import compile_rule as compile_rule
    from countersign.gate.rules.rule import parse_rule as parse_rule
    from countersign.gate.rules.rule_set import ListName as ListName
    from countersign.gate.rules.rule_set import RuleSet as RuleSet
    from countersign.gate.running_calls import RunningCalls as RunningCalls
    from countersign.gate.shell.files.git_folders import Repository as Repository
    from countersign.gate.shell.files.git_folders import repository_at as repository_at
    from countersign.gate.shell.flow.self_check import engine_fault as engine_fault
    from countersign.gate.shell.syntax.bash_check import BashSyntax as BashSyntax
    from countersign.gate.shell.syntax.bash_check import SyntaxChecker as SyntaxChecker
    from countersign.gate.turn import Turn as Turn
    from countersign.gate.workers import Workers as Workers
    from countersign.gate.workers import check_cancelled as check_cancelled
    from countersign.gate.workers import hold_heavy_agents_while as hold_heavy_agents_while
    from countersign.gate.workers import in_worker as in_worker
    from countersign.gate.workers import in_worker_alone as in_worker_alone
    from countersign.gate.workers import in_worker_to_the_end as in_worker_to_the_end
    from countersign.gate.workers import sharing as sharing

# Loaded at first use: `countersign check` needs neither the ledger nor the gate's tasks. A test compares the two lists.
_NAMES = {
    "approvals.file_binding": "blocking_still_true",
    "approvals.pending": "Resolution",
    "approvals.rule_examples": "matches",
    "approvals.stored_requests": "Tampered blocking_question",
    "call": "BadArguments Effect FetchUrl FileState ProposePlan ReachHost ReadPath RunCommand ToolCall UseTool "
    "WritePath",
    "decision": "Decision",
    "deciding": "Decide",
    "decisions.decide": "compile_rules decide judge_for",
    "decisions.hosts": "host_verdict",
    "finding": "Finding",
    "gate": "Gate",
    "ledger.before_images": "BeforeImages",
    "ledger.entry": "Adopted Parked StoredRequest now parse_moment shown",
    "ledger.export": "Exported blocking_export blocking_verify_export",
    "ledger.figures": "blocking_active_hours blocking_call_figures blocking_call_times",
    "ledger.hash_chain": "Fault Verification",
    "ledger.head_file": "blocking_read_heads",
    "ledger.new_chain": "Anchor",
    "ledger.reader": "LEDGER_FILE Reader",
    "ledger.redact": "MARK redact secret_values",
    "ledger.retention": "blocking_rotate",
    "ledger.rule_usage": "RuleUse blocking_calls_by_day blocking_uses use_of_each",
    "ledger.secret_forms": "has_secret_form is_secret_name",
    "ledger.server_lock": "Owner",
    "ledger.signature": (
        "KEY_BYTES blocking_check_signature blocking_check_signed_export blocking_sign_head blocking_write_signature"
        " key_name signature_path"
    ),
    "ledger.writer": "Ledger",
    "paths.path_judge": "PathJudge",
    "paths.kept_by_git": "KEPT_BY_GIT",
    "paths.sensitive_paths": (
        "PROTECTED_IN_HOME SECRET_IN_HOME is_package_binary protected_names protected_reason secret_name"
    ),
    "paths.system_folders": "DEFAULT_PATH SYSTEM_FOLDERS",
    "patterns": (
        "CommandPattern HostPattern NamePattern ParamPattern PathPattern WILD ascii_names command_specifier escape_path"
        " spelled_address"
    ),
    "permit": "Permit Stale",
    "plan": "Plan Prepare",
    "probes.hidden_characters": "hidden_character visible",
    "receipt": "Offer Outcome Picture Refused Settled",
    "risk": "GIT_SETTINGS",
    "rules.rule": "BadRule CANONICAL EFFECT_TOOLS HOST_TOOL NARROWER_THAN_READ Rule compile_rule parse_rule",
    "rules.rule_set": "ListName RuleSet",
    "running_calls": "RunningCalls",
    "shell.files.git_folders": "Repository repository_at",
    "shell.flow.self_check": "engine_fault",
    "shell.syntax.bash_check": "BashSyntax SyntaxChecker",
    "turn": "Turn",
    "workers": "Workers check_cancelled hold_heavy_agents_while in_worker in_worker_alone in_worker_to_the_end sharing",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import the module that has ``name``, and keep the name here."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
