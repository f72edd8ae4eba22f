"""Write the list of every reason and error text that a person can meet, or with ``--check`` compare it.

The list is read from the source: texts of exceptions that are raised, of evidence, refusals and failed outcomes, and
the reasons in the records of programs. What
is known only at run time stands as the expression in braces. To review a change of wording, read the diff of the list.

From the same texts come the templates for translators (``client-ts/l10n/reasons.json``), with ``{0}``, ``{1}`` … where
an expression stands: those that a person reads in the editor. The client knows a text of the server by its template.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "server" / "countersign"
RECORDS = SERVER / "gate" / "shell" / "programs" / "records"
TARGET = ROOT / "tests" / "messages.txt"
TEMPLATES = ROOT / "client-ts" / "l10n" / "reasons.json"

RISKS = "gate/risk.py"

UNTRANSLATED = {
    "advice/rule_import/entries.py: Bash(": "it is a rule",
    "agents/acp/launch_binding.py": "names and numbers alone",
    "agents/compaction.py: Person": "a model reads it",
    "agents/compaction.py: Result": "a model reads it",
    "agents/compaction.py: You": "a model reads it",
    "agents/instructions": "a model reads it",
    "agents/models/demo.py": "the demo model says it, as an answer in the chat",
    "agents/models/endpoint.py": "an address",
    "agents/probe": "the probe prints it in a terminal",
    "agents/prompt.py": "a model reads it",
    "commands/": "a command prints it in a terminal",
    "gate/shell/languages/embedded_commands.py": "names of options",
    "gate/shell/printing/print_tree.py: for": "a command",
    "gate/shell/printing/print_tree.py: {": "a command",
    "lsp/base_protocol.py": "only a program that is no editor meets it",
    "lsp/language/hover.py": "a part of a hover, which is Markdown",
    "lsp/language/rule_descriptions.py": "a part of a hover, which is Markdown",
    "agents/models/failures.py: API key": "a service says it, and the server reads it",
    "gate/decisions/decide.py: judging a call": "the log alone has it",
    "gate/shell/printing/inner_texts.py: and or": "words of shells",
    "tools/sandbox/proxy.py: Forbidden": "a program in the sandbox reads it",
    "advice/setting_effect.py: the agent {": "a part of a sentence",
    "settings/not_yet.py: `{": "it would match whatever is said of a setting",
    "settings/confirmations.py: quick_check": "the log alone has it",
    "tools/editor": "a model reads it, as the result of a call",
    "tools/files": "a model reads it, as the result of a call",
    "tools/sandbox/confiner.py: import": "a program",
    "tools/shell/shell_output.py: {": "a model reads it, as the result of a call",
    "tools/search": "a model reads it, as the result of a call",
    "tools/todo": "a model reads it, as the result of a call",
    "tools/web": "a model reads it, as the result of a call",
}
"""Beginnings of modules, or of a module and its text, that no person reads as the server's, and why."""
HOLE = re.compile(r"\{\d+\}")

REASONS = {"reason", "message", "text", "caveat", "allows", "words"}
"""Keywords whose value is shown."""
RESULTS = {
    "ask_floor",
    "spoken",
    "Outcome",
    "Refused",
    "CannotSucceed",
    "Resolution",
    "SandboxState",
    "Note",
    "Risk",
    "Problem",
}
"""Calls whose texts are shown."""
INTERNAL = {"AssertionError", "NotImplementedError", "AttributeError", "KeyError", "TypeError", "StopIteration"}
PROSE_IN = ("advice/", "agents/acp/", "agents/models/", "agents/limits", "agents/transcript", "gate/", "lsp/",
            "settings/", "tools/cgroups", "tools/sandbox/", "tools/shell/environment")  # fmt: skip
NO_PROSE_IN = ("agents/acp/earlier_words", "agents/acp/hints", "agents/acp/log_limit", "agents/acp/session.py",
               "agents/models/demo", "gate/ledger/export", "gate/shell/flow/self_check", "gate/shell/languages/sql",
               "gate/shell/programs/compiled",
               "lsp/base_protocol", "lsp/connection", "lsp/language/completion", "lsp/language/hover",
               "lsp/language/rule_descriptions", "tools/sandbox/host_tool", "tools/sandbox/namespaces")  # fmt: skip
"""Where any sentence is one that a person can meet; elsewhere are the schemas of tools, and what models read."""
PROSE = re.compile(
    r"(?<![\w.-])"
    r"(?:it|its|the|a|an|is|are|cannot|was|were|this|that|no|not|could|may|there|what|by|with|than|named|of|but|only"
    r"|anything|behind|whose|which|to run)"
    r"(?![\w.-])"
)
UNSHOWN = ("log.", "re.", "logging.", "warnings.")
TASKS = {"Field", "_own", "own", "create_task", "Thread", "spawn"}
"""Calls whose texts are read in the log, in a schema or as the name of a task."""
SENTENCE = re.compile(
    r"(?!.*(?:\(\?|\[ \\t|\[\^))(?!(?:CREATE|SELECT|INSERT|PRAGMA|UPDATE|DELETE) )[a-zA-Z`{][^ ]* .*\S", re.DOTALL
)
"""Two words at least, since anything shorter is a name; neither a regular expression nor SQL."""


def messages(path: Path) -> list[str]:
    """Return the texts of one module, in order and once each."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    found = {text for node in ast.walk(tree) for value in _shown(node) for text in _texts(value, constants)}
    name = path.relative_to(SERVER).as_posix() if path.is_relative_to(SERVER) else path.name
    if name.startswith(PROSE_IN) and not name.startswith(NO_PROSE_IN):
        tables = {
            node.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        }
        inner = {id(constants[table]) for table in tables if isinstance(constants.get(table), ast.Dict)}
        found |= {text for value in _literals(tree, inner) for text in _texts(value, constants) if is_prose(text)}
    return sorted({" ".join(text.split()) for text in found if SENTENCE.fullmatch(text.strip())})


def is_prose(text: str) -> bool:
    """Whether a text of the source is a sentence or a part of one, wherever it stands."""
    words = PROSE.findall(re.sub(r"`[^`]*`", "", template_of(text)))
    return len(text.split()) >= (2 if text.startswith(("a ", "an ")) else 3) and len(words) > len(text.split()) // 15


def _literals(tree: ast.AST, inner: set[int]) -> Iterator[ast.expr]:
    """The texts of a module that are no part of another, and are neither documentation nor logged. ``inner`` are
    tables whose words stand in other texts."""
    todo = [tree]
    while todo:
        node = todo.pop()
        match node:
            case ast.JoinedStr() | ast.Constant(str()):
                yield node
            case ast.Expr(ast.Constant()) | ast.Assert():
                pass
            case ast.Dict() if id(node) in inner:
                pass
            case ast.Call(func=function) if _name(function) in INTERNAL | TASKS or ast.unparse(function).startswith(
                UNSHOWN
            ):
                pass
            case ast.BinOp(op=ast.Add()) if "{" in "".join(_texts(node, {})):
                yield node
            case _:
                todo += ast.iter_child_nodes(node)


def _shown(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a node that a person may read."""
    match node:
        case ast.Raise(exc=ast.Call(func=function, args=[*arguments])) if _name(function) not in INTERNAL:
            yield from arguments
        case ast.Call(func=function, args=[*arguments], keywords=[*keywords]):
            if _name(function) in RESULTS:
                yield from arguments
            yield from (word.value for word in keywords if word.arg in REASONS)
        case ast.Assign(targets=[ast.Name(name)], value=value) if name in REASONS or re.fullmatch(r"_?[A-Z_]+", name):
            if isinstance(value, (ast.Constant, ast.JoinedStr, ast.BinOp)):
                yield value
        case ast.Return(value=ast.Constant() | ast.JoinedStr() as value):
            yield value


def _name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]


def _texts(value: ast.expr, constants: Mapping[str, ast.expr], depth: int = 0) -> Iterator[str]:
    match value:
        case ast.Constant(str() as text):
            yield text
        case ast.JoinedStr(values):
            for parts in product(*(_part(part, constants) for part in values)):
                yield "".join(parts)
        case ast.BinOp(left, ast.Add(), right):
            yield from (
                one + other for one in _texts(left, constants, depth) for other in _texts(right, constants, depth)
            )
        case ast.IfExp(_, body, orelse):
            yield from _texts(body, constants, depth)
            yield from _texts(orelse, constants, depth)
        case ast.Name(name) if name in constants and depth == 0:
            yield from _texts(constants[name], constants, 1)
        case _:
            pass


def _part(part: ast.expr, constants: Mapping[str, ast.expr]) -> list[str]:
    """What may stand in one place of an f-string: its text, the words of a table, or the expression in braces."""
    match part:
        case ast.FormattedValue(ast.Subscript(ast.Name(table))) if isinstance(words := constants.get(table), ast.Dict):
            return [value.value for value in words.values if isinstance(value, ast.Constant)]  # type: ignore[misc]
        case ast.FormattedValue(value):
            return ["{" + ast.unparse(value) + "}"]
        case ast.Constant(value):
            return [str(value)]
        case _:
            return []


def by_module() -> dict[str, list[str]]:
    """Return all texts: modules in order, and the records of programs behind them."""
    found = {path.relative_to(SERVER).as_posix(): messages(path) for path in sorted(SERVER.rglob("*.py"))}
    found[RISKS] = risks()
    found[RECORDS.relative_to(SERVER).as_posix()] = reasons()
    return {name: texts for name, texts in found.items() if texts}


def rendered(listed: Mapping[str, list[str]]) -> str:
    """Return the whole list: modules in order, their texts below each."""
    blocks = ["\n".join([name, *(f"    {text}" for text in texts)]) for name, texts in listed.items()]
    return "\n\n".join(blocks) + "\n"


def rendered_templates(listed: Mapping[str, list[str]]) -> str:
    """Return the templates for translators, in the form of the bundles of vscode.l10n: each stands for itself."""
    found = {
        template
        for name, texts in listed.items()
        for text in texts
        if not f"{name}: {text}".startswith(tuple(UNTRANSLATED))
        if has_words(template := template_of(text))
    }
    return json.dumps({each: each for each in sorted(found)}, ensure_ascii=False, indent=2) + "\n"


def template_of(text: str) -> str:
    """Return a text of the list with its holes numbered. Braces of the text itself become a hole like any other: they
    stand in backticks, and what stands there is never translated."""
    template, depth, holes = "", 0, 0
    for character in text:
        if character == "{":
            if depth == 0:
                template, holes = f"{template}{{{holes}}}", holes + 1
            depth += 1
        elif character == "}" and depth > 0:
            depth -= 1
        elif depth == 0:
            template += character
    return template


def has_words(template: str) -> bool:
    """Whether there is something to translate beside the holes and what stands in backticks."""
    return re.search(r"[A-Za-z]{2}", HOLE.sub("", re.sub(r"`[^`]*`", "", template))) is not None


def risks() -> list[str]:
    """Return the words of risks, also those of one word, and the kinds of risks that name something."""
    tree = ast.parse((SERVER / RISKS).read_text(encoding="utf-8"))
    tables = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    words = ast.literal_eval(tables["_IDS"])
    kinds = ast.literal_eval(tables["_WITH_DETAIL"].args[0])  # type: ignore[attr-defined]
    return sorted([*words, *(f"{kind}: {{detail}}" for kind in kinds)])


def reasons() -> list[str]:
    """Return the reasons of the records of programs, once each."""
    found: set[str] = set()
    for path in RECORDS.glob("*.toml"):
        facets = [tomllib.loads(path.read_text(encoding="utf-8"))]
        while facets:
            facet = facets.pop()
            facets += [value for value in facet.values() if isinstance(value, dict)]
            found.update(value for name, value in facet.items() if name == "why")
    return sorted(found)


def main() -> int:
    listed = by_module()
    stale = False
    for target, text in ((TARGET, rendered(listed)), (TEMPLATES, rendered_templates(listed))):
        if "--check" not in sys.argv[1:]:
            target.write_text(text, encoding="utf-8")
        elif target.read_text(encoding="utf-8") != text:
            print(f"{target.name} is out of date; run `make messages` and read the diff", file=sys.stderr)
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
