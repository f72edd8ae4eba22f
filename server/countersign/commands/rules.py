"""``countersign rules``: lint, list or test the rules of settings files, or read another agent's, without a server.

With the storage folder of a server, ``list`` says how often each rule decided, in whatever workspace.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from countersign.advice.lint import lint_rules
from countersign.advice.rule_import.entries import BadImport
from countersign.advice.rule_import.read import blocking_import
from countersign.gate import (
    LEDGER_FILE,
    Reader,
    RuleUse,
    blocking_calls_by_day,
    blocking_uses,
    compile_rule,
    use_of_each,
)
from countersign.settings.files import load_file
from countersign.settings.layers import file_layer
from countersign.settings.policy import Problem, RuleText
from countersign.settings.rules import rules_of
from countersign.settings.tree import policy_tree
from countersign.wire.errors import LedgerUnavailable

DEFAULT_FILE = Path(".vscode/settings.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the subcommand."""
    parser.add_argument("action", choices=("lint", "list", "test", "import"), help="what to do with the rules")
    parser.add_argument("--storage", type=Path, help="list: say what each rule decided, by this server's ledger")
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        help=f"settings files; {DEFAULT_FILE} unless given; for `import`, permission files of other agents",
    )


def run(arguments: argparse.Namespace, out: TextIO = sys.stdout, problems: TextIO = sys.stderr) -> int:
    """0: nothing is wrong; 1: something is (for lint an error, not a warning); 2: a file cannot be read."""
    if arguments.storage is not None and arguments.action != "list":
        print(f"`--storage` does nothing with `{arguments.action}`; give it with `list`", file=problems)
        return 2
    if arguments.action == "import":
        return _import(arguments.files, out, problems)
    found: list[Problem] = []
    rules: list[RuleText] = []
    for file in arguments.files or [DEFAULT_FILE]:
        loaded = load_file(file, policy_tree)
        if loaded.tree is None:
            reason = loaded.problem.message if loaded.problem else "there is no such file"
            print(f"{file}: {reason}", file=problems)
            return 2
        rules += rules_of(file_layer("user", str(file), loaded.tree), found)
    match arguments.action:
        case "lint":
            return _lint(rules, found, out)
        case "list":
            return _list_used(rules, arguments.storage, out, problems) if arguments.storage else _list(rules, out)
        case _:
            return _test(rules, out)


def _import(files: Sequence[Path], out: TextIO, problems: TextIO) -> int:
    """Print what permission files would mean as rules, and what of them cannot be carried over. Saves nothing."""
    if not files:
        print("name a permission file of another agent", file=problems)
        return 2
    left_out = 0
    for file in files:
        try:
            found = blocking_import(os.path.realpath(file), os.path.realpath("."))
        except BadImport as error:
            print(f"{file}: {error}", file=problems)
            return 2
        for one in found.rules:
            note = f"  # {one.problem}" if one.problem else ""
            print(f"{one.list:<5}  {one.rule}  {file}:{one.line or 1}: {one.original}{note}", file=out)
        for one in found.left_out:
            print(f"none   {file}:{one.line or 1}: {one.original}: {one.reason}", file=out)
        left_out += len(found.left_out)
    return 1 if left_out else 0


def _lint(rules: Sequence[RuleText], found: Sequence[Problem], out: TextIO) -> int:
    everything = [*found, *lint_rules(rules)]
    for problem in everything:
        place = f"{problem.file}:{problem.line or 1}:{problem.column or 1}"
        print(f"{place}: {problem.severity}: {problem.message}", file=out)
    return 1 if any(problem.severity == "error" for problem in everything) else 0


def _list(rules: Sequence[RuleText], out: TextIO, uses: Sequence[RuleUse] | None = None) -> int:
    broken = 0
    for index, source in enumerate(rules):
        rule, problem = compile_rule(source)
        counts = rule is not None and rule.broken is None
        broken += not counts
        note = f"  # {problem.message}" if problem else ""
        used = "" if uses is None else f"{uses[index].hits:>6} {uses[index].last or 'never':<27}  "
        print(f"{used}{source.list:<5}  {source.text}  {source.file}:{source.line or 1}{note}", file=out)
    return 1 if broken else 0


def _list_used(rules: Sequence[RuleText], storage: Path, out: TextIO, problems: TextIO) -> int:
    """The list with what each rule decided. A ledger knows a settings file by its resolved path."""
    ledger = storage / LEDGER_FILE
    if not ledger.is_file():
        print(f"there is no ledger in {storage}; name the storage folder of a server", file=problems)
        return 2
    reader = Reader(ledger)
    known = [replace(rule, file=os.path.realpath(rule.file)) if rule.file else rule for rule in rules]
    try:
        uses = blocking_uses(reader.rows, None)
        days = blocking_calls_by_day(reader.rows, None)
    except LedgerUnavailable as error:
        print(str(error), file=problems)
        return 2
    code = _list(rules, out, use_of_each(known, uses))
    print(f"of {sum(days.values())} calls{f' since {next(iter(days))}' if days else ''}", file=out)
    return code


def _test(rules: Sequence[RuleText], out: TextIO) -> int:
    """Run every rule against its own examples, one by one, so that each that fails is told."""
    failed = tested = 0
    for source in rules:
        examples = [("match", example) for example in source.matching]
        examples += [("notMatch", example) for example in source.not_matching]
        for key, example in examples:
            alone = replace(
                source,
                matching=(example,) if key == "match" else (),
                not_matching=(example,) if key == "notMatch" else (),
            )
            rule, _ = compile_rule(alone)
            good = rule is not None and rule.broken is None
            tested += 1
            failed += not good
            print(f"{'ok    ' if good else 'FAILED'}  {source.text}  {key}: {example}", file=out)
    print(f"{tested} examples, {failed} failed", file=out)
    return 1 if failed else 0
