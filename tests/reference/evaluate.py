"""A second, plain reading of docs/gate.md for tests: what the gate should say of a command under some rules.

From the page and not from the engine, on shfmt's tree; it shares the tables of programs only. It covers S1 to S4, S6 to
S8, S12 and the precedence, where paths need no disk, without the read-only set. Where it cannot tell, it is ``unsure``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from posixpath import basename, join, normpath
from typing import Any

from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, SUBCOMMANDS, TABLES, WRAPPERS
from countersign.gate.shell.programs.wrapper_row import Wrapper

from .trees import HOLE, Trees, Word, read_word

WORKSPACE, HOME = "/nowhere/ws", "/nowhere/home"
GAP = "\1"  # between words, so that no blank inside a word is taken for a word's end


@dataclass(frozen=True)
class Question:
    """One pair: a command and the policy that it meets. Rules are texts, as in a settings file."""

    command: str
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    mode: str = "default"
    bypass: bool = False


def evaluate(questions: Sequence[Question], trees: Trees) -> list[str]:
    """The answers, in order. Nested shell texts are read in rounds, so that shfmt is started few times."""
    wanted = {question.command for question in questions}
    while wanted:
        trees.load(wanted)
        wanted = {inner for text in wanted for inner in read_text(text, trees).texts if inner not in trees}
    return [_answer(question, trees) for question in questions]


# --- what a text holds (S3, S6, S12) ---------------------------------------------------------------------------------

Simple = tuple[tuple[tuple[str, str], ...], tuple[Word, ...]]
"""A simple command: names and values of its assignments (a hole in one that is not plain), and its words."""


@dataclass
class Reading:
    """Everything in a text, wherever it stands. ``levels`` are those of things that are no simple commands."""

    simples: dict[int, Simple] = field(default_factory=dict)
    redirects: list[tuple[str, str, int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    levels: set[str] = field(default_factory=set)


_SCRIPT_NAME = re.compile(r"(?!.*_proxy(=|$))[a-z_][a-z0-9_]*(=|$)")
_SAFE_NAME = re.compile("CI|NODE_ENV|(FORCE|NO)_COLOR|TZ|LANG|LC_.*|TERM|RUST_(BACKTRACE|LOG)|GOOS|GOARCH|DEBUG|"
                        "PYTHON(UNBUFFERED|DONTWRITEBYTECODE)")  # fmt: skip
_EVALUATING_TESTS = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"}
_SETTING = ("@", "=", ":=")
_JUDGED_EXPANSION = {"Type", "Pos", "End", "Dollar", "Rbrace", "Param", "Short", "Exp", "Length", "Repl"}


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(child)


def read_text(text: str, trees: Trees) -> Reading:
    found, tree = Reading(), trees[text]
    if tree is None or any(unicodedata.category(char)[0] in "CZ" and char not in "\n\t " for char in text):
        return Reading(levels={"unsure"})
    for node in _nodes(tree):
        for each in node.get("Redirs", []):
            found.redirects.append((each["Op"], read_word(each["Word"]).text, id(node.get("Cmd"))))
        match node.get("Type"):
            case "CallExpr":
                assigns = tuple(_read_assign(each, found) for each in node.get("Assigns", []))
                words = tuple(read_word(word) for word in node.get("Args", []))
                found.simples[id(node)] = (assigns, words)
                inners = [look_inside(view) for view in _views(words)]
                found.texts += [inner.text for inner in inners if inner is not None and HOLE not in inner.text]
            case "DeclClause":
                assigns = [_read_assign(each, found) for each in node.get("Args", [])]
                words = (Word(node["Variant"]["Value"]), *(Word(f"{name}={value}") for name, value in assigns))
                found.simples[id(node)] = ((), words)
            case "FuncDecl":
                found.functions.add(node.get("Name", {}).get("Value", ""))  # zsh knows some without a name
            case "TestClause":
                found.levels.add("open" if _EVALUATING_TESTS & {each.get("Op") for each in _nodes(node)} else "neutral")
            case "ArithmCmd" | "ArithmExp" | "CStyleLoop":
                numbers = all(re.fullmatch(r"\d+", each["Value"]) for each in _nodes(node) if each.get("Type") == "Lit")
                found.levels.add("neutral" if numbers else "open")
            case "ParamExp" if not set(node) - _JUDGED_EXPANSION and node.get("Exp", {}).get("Op") not in _SETTING:
                pass
            case "ParamExp" | "LetClause" | "CoprocClause" | "ExtGlob":
                found.levels.add("open")
    return found


def _read_assign(node: Mapping[str, Any], found: Reading) -> tuple[str, str]:
    found.levels |= {"open"} if "Index" in node or "Array" in node else set()
    return node.get("Name", {}).get("Value", ""), read_word(node.get("Value")).text + HOLE * node.get("Append", False)


# --- wrappers (S7) ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inner:
    """What a wrapper runs: a command that begins at its word ``start``, or a text that a shell reads."""

    kind: str
    words: tuple[Word, ...] = ()
    start: int = 0
    text: str = HOLE


def look_inside(words: Sequence[Word]) -> Inner | None:
    texts = [basename(words[0].text), *(word.text for word in words[1:])] if words else [""]
    if texts[0] in SHELLS:
        after = [texts[at + 1] for at, text in enumerate(texts[:-1]) if re.fullmatch("-[a-z]*c[a-z]*", text)]
        return Inner("closed", text=after[0] if after else HOLE)
    runs = [at + 1 for at, text in enumerate(texts) if re.fullmatch("-(exec|ok)(dir)?", text)]
    if texts[0] == "find" and runs:
        end = next((at for at, text in enumerate(texts) if text in (";", "+")), len(texts))
        found = (Word(HOLE, True) if "{}" in word.text else word for word in words[runs[0] : end])
        return Inner("closed", tuple(found), runs[0])
    if texts[0] in INTERPRETERS and INTERPRETERS[texts[0]].module in texts[1:2]:
        return Inner("runner", tuple(words[2:]), 2)
    rows = [(SUBCOMMANDS[key], at) for at in (3, 2) if (key := tuple(texts[:at])) in SUBCOMMANDS]
    rows += [(WRAPPERS[texts[0]], 1)] if texts[0] in WRAPPERS else []
    return _unwrap(words, *rows[0]) if rows else None


def _unwrap(words: Sequence[Word], row: Wrapper, at: int) -> Inner:
    options, skip, replaced = False, row.skip, ""
    while at < len(words):
        text = words[at].text
        if re.match("-.", text):
            if words[0].text == "xargs" and text.startswith("-I"):
                replaced = text[2:] or next((word.text for word in words[at + 1 : at + 2]), "")
            options, name = True, text.partition("=")[0]
            cluster = next((end for end, letter in enumerate(text) if end and letter in row.grammar.short), 0)
            takes = name == text and name[2:] in row.grammar.long if name[:2] == "--" else cluster == len(text) - 1
            at += 2 if takes else 1
        elif skip or (row.assigns and re.match(r"[A-Za-z_]\w*=", text)):
            skip, at = max(skip - 1, 0), at + 1
        else:
            break
    known = (Word(HOLE, True, True) if replaced and replaced in word.text else word for word in words[at:])
    inner = (*known, *[Word(HOLE, True, True)] * row.unknown_tail)
    if row.tail != "command" or HOLE in "".join(word.text for word in words[:at]) or not words[at:]:
        return Inner("closed", text=" ".join(word.text for word in inner) if row.tail == "text" else HOLE)
    return Inner("closed" if row.bare and options else row.kind, inner, at)


def _views(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """The command itself and all that it runs in turn: what deny and ask look at."""
    yield words
    if (inner := look_inside(words)) and inner.words:
        yield from _views(inner.words)


# --- rules (S1, S2) --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    tool: str
    words: tuple[str, ...] = ()
    prefix: bool = False
    path: str = ""

    @property
    def literal(self) -> tuple[str, ...]:
        """Its words before the first wildcard."""
        return self.words[: next((at for at, word in enumerate(self.words) if HOLE in word), len(self.words))]

    def matches(self, words: Sequence[str], gap: str) -> bool:
        """Whether it surely matches: no hole of the words stands where the rule has text of its own."""
        pattern = re.escape(gap.join(self.words)).replace(HOLE, ".*") + (f"(?:{gap}.*)?" if self.prefix else "")
        return self.tool == "Bash" and re.fullmatch(pattern, gap.join(words), re.S) is not None

    def may_match(self, words: Sequence[str]) -> bool:
        """Whether it matches for some text in the holes."""
        text, pattern = re.sub(rf"(?<!\S)0?{HOLE}\S*", HOLE, " ".join(words)), " ".join(self.words)
        patterns = (pattern, f"{pattern} {HOLE}") if self.prefix else (pattern,)
        texts = (text, text.replace(f" {HOLE}", HOLE)) if HOLE in text else ()
        return any(_meet(one, other) for one in patterns for other in texts)


@lru_cache(1 << 12)
def read_rule(text: str) -> Rule:
    tool, _, spec = text.removesuffix(")").partition("(")
    if tool != "Bash" or not spec:
        return Rule(tool, (HOLE,) if tool == "Bash" else (), path=spec or "**")
    prefix = spec.endswith((":*", " *"))
    return Rule(tool, tuple((spec[:-2] if prefix else spec).replace("*", HOLE).split(" ")), prefix)


@lru_cache(1 << 16)
def _meet(one: str, other: str) -> bool:
    """Whether two texts with holes can be the same text."""
    if not one or not other:
        return not (one + other).strip(HOLE)
    if HOLE in (one[0], other[0]):
        return _meet(one[1:], other) or _meet(one, other[1:])
    return one[0] == other[0] and _meet(one[1:], other[1:])


# --- one simple command ----------------------------------------------------------------------------------------------

# What is known of one part: deny; ask (a rule or floor says so); unsure (one might); allow; neutral (S12, or it reads a
# file); open (no rule speaks), far (it reads outside), secret (it reads one), must (it writes outside, or is unknown).


def _level(simple: Simple, question: Question, functions: set[str]) -> str:
    assigns, program = simple
    named = [f"{name}={value}" for name, value in assigns]
    views = [[word.text for word in view] for view in _views(program) if view]
    spellings = [*views, *([basename(view[0]), *view[1:]] for view in views)]
    spellings += [[*named, *view] for view in views[:1] if HOLE not in "".join(named)]
    for listed, level in ((question.deny, "deny"), (question.ask, "ask")):
        pairs = [(rule, words) for rule in map(read_rule, listed) if rule.tool == "Bash" for words in spellings]
        if any(rule.matches(words, gap) for rule, words in pairs for gap in (" ", GAP)):
            return level
        if pairs and (any(HOLE in view[0] for view in views) or any(rule.may_match(words) for rule, words in pairs)):
            return "unsure"
    splits = ("IFS",) if program and program[0].text == "read" else ()  # how the one line is split, and nothing after
    safe = [
        assign
        for assign in assigns
        if HOLE not in assign[1] and (_SAFE_NAME.fullmatch(assign[0]) or assign[0] in splits)
    ]
    kept = [f"{name}={value}" for name, value in assigns if (name, value) not in safe]
    if not program:
        return "neutral" if all(_SCRIPT_NAME.match(assign) for assign in kept) else "open"
    level = _covered(program, kept, named, question, functions, False)
    unnamed = _reads_unnamed(program) and not NAMES_FILES.search(question.command)
    return "must" if level in ("allow", "open") and unnamed else level


def _covered(
    words: tuple[Word, ...], kept: list[str], named: list[str], question: Question, functions: set[str], wrapped: bool
) -> str:
    name, inner = words[0].text, look_inside(words)
    if HOLE in name or (name in SHELLS and len(words) == 2 and HOLE in words[1].text):
        return "must"
    if name in functions:
        return "open"
    plain = inner is None and not wrapped and all(_SCRIPT_NAME.match(assign) for assign in kept)
    if plain and _neutral([word.text for word in words]):
        return "neutral"
    if inner is not None and inner.kind == "clear" and inner.words and not kept:
        level = _covered(inner.words, [], [], question, functions, True)
        if level in ("allow", "must"):
            return level
    # An allow rule must name all words of a wrapper, but of a package runner only those that reach what it runs.
    reaches = inner is not None and inner.kind == "runner" and not look_inside(inner.words)
    reach = 0 if inner is None else inner.start + 1 if reaches else len(words)
    for rule in map(read_rule, question.allow):
        for before in (kept, named):
            spelling = [*before, *(word.text for word in words)]
            named_enough = len(rule.literal) >= len(before) + reach and (rule.literal or not wrapped)
            if named_enough and rule.matches(spelling, GAP) and not _escapes(words, inner, rule):
                return "allow"
    return "open"


NAMES_FILES = re.compile(r"\b(?:for|select|read|find|ls|git|rg|grep)\b|\w=")
"""In a text: what may say which files an expansion names. The reference does not follow it."""


def _reads_unnamed(words: tuple[Word, ...]) -> bool:
    """True if a known reader gets an operand that is only known at run time (S11), itself or in a wrapper."""
    if (inner := look_inside(words)) is not None and inner.words:
        return _reads_unnamed(inner.words)
    row = TABLES.get((basename(words[0].text),))
    return row is not None and row.operands in ("read", "pattern") and any(word.expands for word in words[1:])


def _neutral(texts: list[str]) -> bool:
    """Whether it needs no rule (S12)."""
    match texts:
        case ["true" | "false" | ":" | "break" | "continue" | "return" | "exit" | "wait" | "shift", *_]:
            return True
        case ["[", *rest, "]"] | ["test", *rest]:
            return "-v" not in rest
        case ["read", "-r", *rest] | ["read" | "local", *rest]:
            return all(_SCRIPT_NAME.match(text) for text in rest)
        case ["set", *rest]:
            return re.fullmatch("(\1-[eux]+|\1-[eux]*o\1pipefail)+", GAP.join(["", *rest])) is not None
        case ["cd", place]:
            return HOLE not in place and place not in ("", "-") and _inside(_absolute(place))
    return False


def _escapes(words: tuple[Word, ...], inner: Inner | None, rule: Rule) -> bool:
    """Whether these words may go beyond what a rule for the program covers (S9 to S11), seen coarsely."""
    texts = [word.text for word in words]
    if inner is not None:
        return rule.literal != tuple(texts) and _escapes(inner.words, None, rule)
    row = next((TABLES[tuple(texts[:end])] for end in (3, 2, 1) if tuple(texts[:end]) in TABLES), None)
    if rule.literal == tuple(texts) or (row is None and texts[0] != "git" and texts[0] not in INTERPRETERS):
        return False
    if row is None or row.closed or row.operands not in ("none", "read", "list", "pattern"):
        return True
    if row.operands != "none" and any(re.search(r"^[/~.]|\.\.|/\.", text) for text in texts if "/dev/fd/" not in text):
        return True
    for before, word in pairwise(words):
        option = word.text.partition("=")[0]
        takes = before.text[2:] in row.grammar.long if before.text[:2] == "--" else before.text[1:] in row.grammar.short
        if row.escapes and word.text not in rule.literal and (word.loose and not (takes and len(before.text) > 1)):
            return True
        if word.text == "--" or (row.grammar.ordered and word.text[:1] != "-"):
            break
        if option[:1] == "-" and any(each.startswith(option) or each[1:] in option[1:] for each in row.escapes):
            return word.text not in rule.literal
    return texts[0] == "make" and any(re.match(r"\w+=", text) for text in texts)


# --- paths of redirections (S8) --------------------------------------------------------------------------------------

_PROTECTED = re.compile(
    r"(.*/)?(\.git(/.*)?|\.(vscode|idea|husky|devcontainer|countersign|claude|codex|gemini|qwen|opencode|cline|clinerules|copilot"
    r"|cursor|zed|windsurf|kiro|roo|amazonq|augment|continue|factory|junie|kilocode|pi|helix)/.*|\.devcontainer\.json|\.hg/(hgrc|hgrc-not-shared|sharedpath)"
    r"|\.?mise(\.local)?\.toml|\.mise(/.*)?|\.config/mise(\.toml|/.*)?|\.yarnrc"
    r"|\.envrc|\.mcp\.json|\.npmrc|\.gitmodules|[^/]*\.code-workspace|\.yarnrc\.yml|\.cargo/config\.toml"
    r"|\.?venv/bin/.*|env/bin/.*|([^/]+/)*site-packages/.*|pyvenv\.cfg|\.yarn/(releases|plugins)/.*|\.pnp\.cjs|tools/bazel"
    r"|\.pre-commit-config\.yaml|\.?lefthook\.yml|lefthook-local\.yml|mise/config\.toml|\.aider\.conf\.yml"
    r"|\.?crush\.json|\.opencode\.json|node_modules/\.bin/.*|opencode\.json"
    r"|\.github/(hooks|copilot)/.*)", re.I)  # fmt: skip
_SECRET = re.compile(r"(.*/)?(\.env(\..*)?|[^/]*\.pem|\.npmrc|\.pypirc|id_(rsa|ed25519|ecdsa)[^/]*)", re.I)


def _absolute(path: str) -> str:
    return normpath(join(WORKSPACE, path))


def _inside(path: str) -> bool:
    return f"{path}/".startswith(WORKSPACE + "/")


def _touches(texts: Sequence[str], tools: tuple[str, ...], path: str, flags: int = 0) -> bool:
    """Whether a path rule of the list matches a path, by P3 for patterns inside the workspace."""
    for rule in map(read_rule, texts):
        if rule.tool in tools and _inside(path):
            pattern = re.sub("^[.]?/", "", rule.path).removesuffix(
                "/**" if flags else ""
            )  # with a folder's inside, it too
            regex = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
            regex = f"{'' if '/' in rule.path else '(?:.*/)?'}{regex}(?:/.*)?"
            if re.fullmatch(regex, path[len(WORKSPACE) + 1 :], flags | re.S):
                return True
    return False


def _redirect_level(operator: str, target: str, question: Question) -> str:
    descriptor = operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", target)
    if operator in ("<<", "<<-", "<<<") or descriptor or re.fullmatch(r"/dev/(null|fd/.*|stdout|stderr)", target, re.S):
        return "neutral"
    writes, path = operator != "<", _absolute(target)
    if HOLE in target or not target:
        return "unsure" if any(read_rule(rule).tool != "Bash" for rule in question.deny + question.ask) else "must"
    tools = ("Read", "Edit")[: 1 + writes]
    if _touches(question.deny, tools, path, re.I):
        return "deny"
    if not _inside(path) or operator == "<>":
        return {"<": "far", "<>": "unsure"}.get(operator, "must")
    inside = path[len(WORKSPACE) + 1 :]
    if _touches(question.ask, tools[-1:], path, re.I) or (writes and _PROTECTED.fullmatch(inside)):
        return "ask"
    if not writes:
        return "secret" if _SECRET.fullmatch(inside) else "read"
    return "allow" if _touches(question.allow, ("Edit",), path) else "open"


# --- all of it (docs/gate.md "Order of precedence") ------------------------------------------------------------------


def _levels(text: str, question: Question, trees: Trees, functions: set[str]) -> set[str]:
    found = read_text(text, trees)
    functions = functions | found.functions
    commands = {key: _level(simple, question, functions) for key, simple in found.simples.items()}
    levels = found.levels | set(commands.values())
    for operator, target, key in found.redirects:
        level = _redirect_level(operator, target, question)
        # docs/gate.md "Outside the workspace":
        # a rule for the command allows what it reads, outside too; without one, mode `ask` asks for reads.
        answered = commands.get(key) == "allow" or (level == "read" and question.mode != "ask")
        levels.add("neutral" if level in ("far", "read") and answered else "open" if level == "read" else level)
    return levels.union(
        *(_levels(inner, question, trees, functions) & {"deny", "unsure", "ask"} for inner in found.texts)
    )


def _answer(question: Question, trees: Trees) -> str:
    levels = _levels(question.command, question, trees, set())
    blocked = question.mode == "plan" and not levels & {"unsure", "ask"} and not levels <= {"neutral", "far", "secret"}
    if "deny" in levels or blocked:
        return "deny"
    if question.mode == "plan":
        return "allow" if levels == {"neutral"} else "unsure"
    if "unsure" in levels:
        return "unsure"
    settled = {"neutral", "allow"}
    settled |= {"open", "far", "must", "secret"} if question.bypass else set()
    settled |= {"open", "far"} if question.mode == "auto" else set()
    if levels and levels <= settled:
        return "allow"
    return "deny" if question.mode == "dontAsk" else "ask"
