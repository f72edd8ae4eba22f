"""A second parser's opinion of a text in Plain Bash: tree-sitter's grammar must find the same simple commands, words
and redirections as ours.

Needed where an agent runs its own text, so that nothing can be printed anew. The grammar takes memory by the square of
hostile input, so it is only given texts inside the subset, and short ones. Without the module there is no agreement.
Both trees are reduced to lists: commands in order of appearance, each a list of words, and redirections sorted.

Both parsers read as bash 5.2 does, which parses what stands inside `$(…)` and `<(…)`. An older one looks for its end
first, and may take a pattern of `case`, or what a here-document holds, for that end: `echo $({ case a in b) : | evil`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from countersign.gate.shell.syntax import tree
from countersign.gate.shell.syntax.bash_check import INNER_HEREDOCS, SyntaxChecker
from countersign.gate.shell.syntax.parser import read

MAX_LENGTH = 20_000
"""Characters up to which the second parser is asked."""

Run = tuple[str, str]
"""A stretch of a word: its kind (``u`` unquoted, ``q`` quoted, or an expansion) and its text."""
Runs = tuple[Run, ...]
Found = tuple[list[tuple[Runs, ...]], list[tuple[Runs, ...]]]
"""Commands and redirections."""


class Disagreement(Exception):
    """The two parsers do not agree, or one of them does not know; the message says why."""


def disagreement(text: str, check_syntax: SyntaxChecker | None = None) -> str | None:
    """Why the second parser does not agree with our reading of a text, or the bash of this machine (``check_syntax``)
    may not read it as either does; None if all agree."""
    if len(text) > MAX_LENGTH:
        return "the text is too long for the second parser"
    parse = _parser()
    if parse is None:
        return "the second parser is not installed"
    try:
        root = parse(text.encode()).root_node
        if root.has_error:
            return "the second parser does not understand the text"
        theirs = _theirs(root)
        reading = _Ours()
        reading.script(read(text).script)
    except (Disagreement, tree.NotUnderstood, UnicodeError) as error:
        return str(error)
    if reading.commands != theirs[0]:
        return "the second parser finds other commands or words"
    if sorted(reading.redirects) != sorted(theirs[1]):
        return "the second parser finds other redirections"
    if reading.has_inner_heredocs:
        if "\\\n" in text:
            return "a bash older than 5.2 joins lines of a here-document inside `$(…)`"
        if check_syntax is not None and check_syntax(INNER_HEREDOCS) is not None:
            return "the bash of this machine may end `$(…)` within a here-document"
    return None


@lru_cache(maxsize=1)
def _parser() -> Callable[[bytes], Any] | None:
    try:
        import tree_sitter  # noqa: PLC0415 only hosted agents need it, and it fails closed
        import tree_sitter_bash  # noqa: PLC0415 likewise
    except ImportError:
        return None
    try:
        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())).parse
    except (ValueError, TypeError, AttributeError):
        return None


def _merged(runs: Iterable[Run]) -> Runs:
    found: list[Run] = []
    for kind, text in runs:
        if kind in {"u", "q"} and not text:
            continue
        if kind in {"u", "q"} and found and found[-1][0] == kind:
            found[-1] = (kind, found[-1][1] + text)
        else:
            found.append((kind, text))
    return tuple(found)


# --- our tree --------------------------------------------------------------------------------------------------------


class _Ours:
    """Gathers commands and redirections of our tree in order of appearance."""

    def __init__(self) -> None:
        self.commands: list[tuple[Runs, ...]] = []
        self.redirects: list[tuple[Runs, ...]] = []
        self.has_inner_heredocs = False
        self._depth = 0

    def script(self, script: tree.Script) -> None:
        for statement in script.statements:
            self.node(statement, ())

    def inner_script(self, script: tree.Script) -> None:
        self._depth += 1
        self.script(script)
        self._depth -= 1

    def node(self, node: tree.Node, prefix: tuple[Runs, ...]) -> None:
        match node:
            case tree.Simple():
                self.simple(node, prefix)
            case tree.Timed(body=tree.Not(body=body)):
                self.node(body, (*prefix, (("u", "time"),), (("u", "!"),)))
            case tree.Timed(body=body):
                self.node(body, (*prefix, (("u", "time"),)))
            case tree.Not(body=body):
                self.node(body, prefix)
            case tree.Pipeline(stages=stages):
                for index, stage in enumerate(stages):
                    self.node(stage, () if index else prefix)
            case tree.Chain(first=first, links=links):
                self.node(first, prefix)
                for _, link in links:
                    self.node(link, ())
            case tree.Compound() if not prefix:
                self.compound(node)
            case _:
                raise Disagreement("the second parser does not know `time` before a compound command")

    def simple(self, command: tree.Simple, prefix: tuple[Runs, ...]) -> None:
        if command.kind == "arithmetic":
            raise Disagreement("arithmetic is not compared")
        place = len(self.commands)
        words = [*prefix, *(self.assignment(each) for each in command.assignments)]
        brackets = command.kind == "test"
        declared = list(command.declared)
        words += [(("u", "[["),)] if brackets else []
        for word in command.words:
            if declared and word.source == declared[0].source and not word.bare:
                words.append(self.assignment(declared.pop(0)))
            else:
                words.append(self.word(word))
        words += [(("u", "]]"),)] if brackets else []
        if words:
            self.commands.insert(place, tuple(words))
        for redirect in command.redirects:
            self.redirect(redirect)

    def assignment(self, assignment: tree.Assignment) -> Runs:
        if assignment.items is not None or assignment.formula is not None:
            raise Disagreement("arrays are not compared")
        name = assignment.name + ("+=" if assignment.appends else "=")
        value = self.word(assignment.value) if assignment.value is not None else ()
        return _merged((("u", name), *value))

    def redirect(self, redirect: tree.Redirect) -> None:
        if redirect.variable is not None:
            raise Disagreement("`{name}` before a redirection is not compared")
        if redirect.heredoc is not None:
            if redirect.heredoc.word is None or redirect.heredoc.word.value is None:
                raise Disagreement("a here-document with expansions is not compared")
            self.has_inner_heredocs = self.has_inner_heredocs or self._depth > 0
            target: Runs = (("q", redirect.heredoc.body or ""),)
        else:
            target = self.word(redirect.target)
        self.redirects.append(((("u", redirect.descriptor + redirect.operator),), target))

    def compound(self, node: tree.Compound) -> None:
        match node.kind:
            case "loop" if node.name is not None and not node.formulas:
                self.insert(f"for {node.name}", node.words)
            case "case":
                self.case(node)
                return
            case "group" | "subshell" | "if" | "loop" if not node.formulas:
                pass
            case _:
                raise Disagreement(f"`{node.kind}` is not compared")
        for body in node.bodies:
            self.script(body)
        for redirect in node.redirects:
            self.redirect(redirect)

    def case(self, node: tree.Compound) -> None:
        if self._depth:
            raise Disagreement("a bash older than 5.2 may end `$(…)` at a pattern of `case`")
        self.insert("case", node.words[:1])
        rest = node.words[1:]
        for (_, count), body in zip(node.endings, node.bodies, strict=True):
            self.insert("in", rest[:count])
            rest = rest[count:]
            self.script(body)
        for redirect in node.redirects:
            self.redirect(redirect)

    def insert(self, name: str, words: Sequence[tree.Word]) -> None:
        """Words that are no command's, in front of the commands that stand in them."""
        place = len(self.commands)
        self.commands.insert(place, ((("u", name),), *map(self.word, words)))

    def word(self, word: tree.Word) -> Runs:
        return _merged(run for piece in word.pieces for run in self.piece(piece))

    def piece(self, piece: tree.Piece) -> Iterator[Run]:
        match piece:
            case tree.Text(text=text, quoted=quoted):
                yield ("q" if quoted else "u"), text
            case tree.Glob(text=text):
                yield "u", text
            case tree.Variable(name=name, quoted=quoted, plain=True):
                yield ('"$' if quoted else "$"), name
            case tree.Variable(name=name, quoted=quoted, operator=":-", words=(word,)) if word.value is not None:
                yield ('"$' if quoted else "$"), f"{name}:-{word.source}"
            case tree.Substitution(script=script, quoted=quoted):
                yield ('"$(' if quoted else "$("), ""
                self.inner_script(script)
            case tree.Process(script=script, writes=False):
                yield "<(", ""
                earlier, self.has_inner_heredocs = self.has_inner_heredocs, False
                self.inner_script(script)
                if self.has_inner_heredocs:
                    raise Disagreement("a here-document inside `<(…)` is not compared")
                self.has_inner_heredocs = earlier
            case tree.Arithmetic(text=text, quoted=quoted, scripts=()):
                yield ('"$((' if quoted else "$(("), re.sub(r"\s+", "", text)
            case _:
                raise Disagreement("an expansion is not compared")


# --- their tree ------------------------------------------------------------------------------------------------------

_LISTS = frozenset(
    "program list pipeline redirected_statement subshell compound_statement if_statement elif_clause else_clause "
    "while_statement do_group negated_command heredoc_redirect".split()
)
_WORDS = frozenset(
    "word number string raw_string concatenation simple_expansion expansion command_substitution process_substitution "
    "arithmetic_expansion brace_expression extglob_pattern regex test_operator variable_name".split()
)
_TESTS = frozenset("unary_expression binary_expression parenthesized_expression negation_expression".split())
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_QUOTED = re.compile(r'\\([$`"\\\n])')


def _theirs(root: Any) -> Found:
    reading = _Theirs()
    reading.statement(root)
    return reading.commands, reading.redirects


def _string(node: Any) -> str:
    return node.text.decode()


class _Theirs:
    """Gathers commands and redirections of a tree-sitter tree in order of appearance."""

    def __init__(self) -> None:
        self.commands: list[tuple[Runs, ...]] = []
        self.redirects: list[tuple[Runs, ...]] = []

    def statement(self, node: Any) -> None:
        kind = node.type
        if not node.is_named or kind in {"comment", "heredoc_start", "heredoc_body", "heredoc_end"}:
            return
        if kind in _LISTS:
            if kind == "heredoc_redirect":
                self.heredoc(node)
            for child in node.children:
                self.statement(child)
        elif kind in {"command", "declaration_command", "unset_command", "variable_assignments"}:
            self.command(node.children)
        elif kind == "variable_assignment":
            self.command([node])
        elif kind == "test_command":
            self.command(list(self.tested(node)))
        elif kind in {"file_redirect", "herestring_redirect"}:
            self.redirect(node)
        elif kind == "for_statement":
            self.loop(node)
        elif kind == "case_statement":
            self.case(node)
        elif kind == "file_descriptor" and node.parent.type == "heredoc_redirect":
            raise Disagreement("a here-document with a descriptor is not compared")
        else:
            raise Disagreement(f"`{kind}` is not compared")

    def command(self, children: Sequence[Any]) -> None:
        place, words = len(self.commands), list[Runs]()
        redirects: list[Any] = []
        for child in children:
            if child.type in {"file_redirect", "herestring_redirect"}:
                redirects.append(child)
            elif child.type == "variable_assignment":
                words.append(self.assignment(child))
            elif child.type == "command_name":
                words.append(self.word(child.children))
            elif child.type != "comment":
                words.append(self.word([child]))
        if words:
            self.commands.insert(place, tuple(words))
        for redirect in redirects:
            self.redirect(redirect)

    def assignment(self, node: Any) -> Runs:
        name, operator, *value = node.children
        if name.type != "variable_name" or any(child.type == "array" for child in value):
            raise Disagreement("arrays are not compared")
        return _merged((("u", _string(name) + _string(operator)), *self.word(value)))

    def tested(self, node: Any) -> Iterator[Any]:
        for child in node.children:
            if child.type in _TESTS:
                yield from self.tested(child)
            else:
                yield child

    def redirect(self, node: Any) -> None:
        descriptor, operator, *target = ("", *node.children)
        if operator.type == "file_descriptor":
            descriptor, operator, *target = (_string(operator), *target)
        if len(target) != 1:
            raise Disagreement("a redirection with more than one target is not compared")
        self.redirects.append(((("u", descriptor + _string(operator)),), self.word(target)))

    def heredoc(self, node: Any) -> None:
        body = "".join(_string(child) for child in node.children if child.type == "heredoc_body")
        if any(child.type == "<<-" for child in node.children):
            body = re.sub(r"(?m)^\t+", "", body)
        self.redirects.append(((("u", "<<"),), (("q", body),)))

    def loop(self, node: Any) -> None:
        place, words, name = len(self.commands), list[Runs](), ""
        rest: list[Any] = []
        for child in node.children:
            if child.type == "variable_name" and not name:
                name = _string(child)
            elif child.type in _WORDS:
                words.append(self.word([child]))
            elif child.is_named:
                rest.append(child)
            elif child.type == "select":
                raise Disagreement("`select` is not compared")
        self.commands.insert(place, ((("u", f"for {name}"),), *words))
        for child in rest:
            self.statement(child)

    def case(self, node: Any) -> None:
        place = len(self.commands)
        self.commands.insert(place, ((("u", "case"),), *self.words(node.children)))
        for item in node.children:
            if item.type != "case_item":
                continue
            closed = next(index for index, child in enumerate(item.children) if child.type == ")")
            if any(child.type in {";&", ";;&"} for child in item.children):
                raise Disagreement("a `case` branch that goes on is not compared")
            self.commands.append(((("u", "in"),), *self.words(item.children[:closed])))
            for child in item.children[closed:]:
                self.statement(child)

    def words(self, children: Sequence[Any]) -> list[Runs]:
        return [self.word([child]) for child in children if child.type in _WORDS]

    def word(self, nodes: Sequence[Any]) -> Runs:
        return _merged(run for node in nodes for run in self.runs(node, '"' if node.type == "string" else ""))

    def runs(self, node: Any, quote: str) -> Iterator[Run]:
        text = _string(node).lstrip(" ") if quote and node.type != "string" else _string(node)
        match node.type:
            case "concatenation" | "command_name":
                for child in node.children:
                    yield from self.runs(child, "")
            case "raw_string":
                yield "q", text[1:-1]
            case "string":
                yield from self.in_quotes(node)
            case "simple_expansion":
                yield f"{quote}$", text[1:]
            case "expansion":
                if node.child_count > 5 or any(child.type == "string" for child in node.children):
                    raise Disagreement("an expansion is not compared")
                yield f"{quote}$", text[2:-1]
            case "command_substitution":
                if text[0] == "`":
                    raise Disagreement("backquotes are not compared")
                yield f"{quote}$(", ""
                for child in node.children:
                    self.statement(child)
            case "process_substitution" if text[0] == "<":
                yield "<(", ""
                for child in node.children:
                    self.statement(child)
            case "arithmetic_expansion" if text.startswith("$(("):
                yield f"{quote}$((", re.sub(r"\s+", "", text[3:-2])
            case kind if not node.is_named or kind in _WORDS:
                yield from _unquoted(text)
            case kind:
                raise Disagreement(f"`{kind}` is not compared")

    def in_quotes(self, node: Any) -> Iterator[Run]:
        """What stands between double quotes: expansions, and as text whatever lies between them."""
        data, start = node.text, node.start_byte
        position = 1
        for child in node.children:
            if child.type in {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"}:
                yield "q", _unescaped(data[position : child.start_byte - start])
                # It counts blanks in front of an expansion as part of it.
                yield "q", " " * (len(child.text) - len(child.text.lstrip(b" ")))
                yield from self.runs(child, '"')
                position = child.end_byte - start
        yield "q", _unescaped(data[position:-1])


def _unescaped(data: bytes) -> str:
    return _ESCAPE_QUOTED.sub(lambda found: "" if found[1] == "\n" else found[1], data.decode())


def _unquoted(text: str) -> Iterator[Run]:
    position = 0
    for found in _ESCAPE.finditer(text):
        yield "u", text[position : found.start()]
        if found[1] != "\n":
            yield "q", found[1]
        position = found.end()
    yield "u", text[position:]
