"""A text as bash would read it: the grammar's statements, with every byte accounted for.

tree-sitter-bash says where statements begin and end and how they hang together. Its node kinds are on an allow-list,
and between them nothing is left over: what stands inside a simple command is read again by ``lexer.py``, and what
stands between two nodes must be blanks, comments or the operator that the grammar saw there. So a gap in the grammar
(words split at a backslash-newline, redirections that swallow arguments, heredocs) makes a text not understood, never
misread. Whether bash accepts the text is asked of bash itself, in ``syntax.py``.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache

import tree_sitter
import tree_sitter_bash
from tree_sitter import Node as Tree

from .lexer import Lexer
from .outline import MAX_DEPTH, Cut, closing, outline
from .script import (
    Chain,
    Compound,
    CompoundKind,
    Formula,
    Node,
    Not,
    NotUnderstood,
    Pipeline,
    Reading,
    Redirect,
    Script,
    Simple,
    Word,
)
from .words import decode, encode, make_word, plain_word

PARSE_SECONDS = 0.5
"""The grammar needs 15 ms for 100 kB; some hostile texts take it minutes. Past this a text is not understood."""

_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
_THREAD = threading.local()

_SIMPLE = frozenset({
    "command", "variable_assignment", "variable_assignments", "declaration_command", "unset_command",
    "file_redirect", "herestring_redirect",
})  # fmt: skip
_RESERVED = frozenset({
    "!", "{", "}", "[[", "]]", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case",
    "esac", "function", "select", "in", "coproc",
})  # fmt: skip
_GAP = re.compile(r"(?:[ \t]|\\\n)*")
_BOUNDARY = frozenset(" \t\n;&|()<>")
_SUBSTITUTIONS = ("$(", "<(", ">(")


def read(text: str) -> Reading:
    """Read a command line.

    Raises:
        NotUnderstood: it cannot be read with certainty.
    """
    fragments: list[str] = []
    script = _Reader(encode(text), 0, fragments).script()
    return Reading(text, script, tuple(fragments))


@lru_cache(maxsize=512)
def read_kept(text: str) -> Reading | NotUnderstood:
    """``read``, kept for the next time; the reason instead of an exception. For texts of ordinary size."""
    try:
        return read(text)
    except NotUnderstood as error:
        return error


class _Reader:
    """Reads one text. Keeps which newlines and heredocs it has met, for the proof of the outline's cuts."""

    def __init__(self, text: str, depth: int, fragments: list[str]) -> None:
        if depth > MAX_DEPTH // 2:
            raise NotUnderstood("the text is nested deeper than we follow")
        shape = outline(text)
        self.text, self.cuts = shape.text, shape.cuts
        self.depth, self.fragments = depth, fragments
        self.lexer = Lexer(self.text, self)
        self.nesting = 0
        self.place = 0
        self.places = 0
        self.newlines: dict[int, int] = {}
        self.met: dict[int, int] = {}
        self.opened: dict[int, Tree] = {}

    def script(self) -> Script:
        root = _parse(self.text)
        if root.has_error:
            raise NotUnderstood("the text does not parse")
        if any(mark in self.text for mark in _SUBSTITUTIONS):
            self.opened = _substitutions(root)
        script = self.statements(root.children, 0, len(self.text))
        self.prove_cuts()
        return script

    def prove_cuts(self) -> None:
        """Every heredoc was met as an operator, and its body stood behind the first newline after it."""
        for operator, cut in self.cuts.items():
            place = self.met.get(operator)
            if place is None or self.newlines.get(cut.newline) != place:
                raise NotUnderstood("a here-document is not read as bash reads it")
            if "\n" in self.text[operator : cut.newline]:
                raise NotUnderstood("a here-document does not begin on the next line")

    # --- what the lexer asks ---------------------------------------------------------------------------------------------

    def open(self, start: int, inside: int) -> tuple[Script, str | None, int]:
        node = self.opened.get(start)
        if node is None or node.type not in {"command_substitution", "process_substitution"}:
            raise NotUnderstood("a substitution is not read as bash reads it")
        children = node.children
        end = node.end_byte
        if len(children) < 2 or children[0].end_byte != inside or self.text[end - 1] != ")":
            raise NotUnderstood("a substitution is not read as bash reads it")
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise NotUnderstood("the text is nested deeper than we follow")
        before, self.place = self.place, self.places + 1
        self.places += 1
        script = self.statements(children[1:-1], inside, end - 1)
        self.place = before
        self.nesting -= 1
        return script, constant_output(script), end

    def open_text(self, text: str) -> tuple[Script, str | None]:
        self.fragments.append(decode(text))
        script = _Reader(text, self.depth + 1, self.fragments).script()
        return script, constant_output(script)

    def cut_at(self, operator: int) -> Cut | None:
        cut = self.cuts.get(operator)
        if cut is not None:
            self.met[operator] = self.place
        return cut

    def heredoc_word(self, body: str) -> Word:
        lexer = Lexer(body, _BodyOpener(body, self))
        pieces = []
        lexer.quoted(0, len(body), pieces, "")
        return make_word("", pieces, quoting=True)

    # --- statements ------------------------------------------------------------------------------------------------------

    def statements(self, children: Iterable[Tree], start: int, end: int) -> Script:
        """The statements that are ``text[start:end]``, of which ``children`` are the nodes."""
        found: list[Node] = []
        background: set[int] = set()
        position, separated = start, True
        for child in children:
            kind = child.type
            if kind in {"comment", "\n"}:
                continue
            at = child.start_byte
            separated = self.gap(position, at) or separated
            position = child.end_byte
            if kind in {";", "&"} and child.child_count == 0:
                if separated and (not found or self.text[at - 1] in ";&"):
                    raise NotUnderstood("a separator stands where a command should")
                if kind == "&":
                    background.add(len(found) - 1)
                separated = True
                continue
            if not separated:
                raise NotUnderstood("two commands stand together without a separator")
            found.append(self.statement(child, None, timed=True))
            separated = False
        self.gap(position, end)
        return Script(tuple(found), frozenset(background))

    def gap(self, start: int, end: int) -> bool:
        """Account for what stands between two nodes; whether a newline is in it."""
        position, newline = start, False
        while True:
            found = _GAP.match(self.text, position, end)
            position = found.end() if found else position
            if position >= end:
                if position > end:
                    raise NotUnderstood("the grammar's nodes overlap")
                return newline
            char = self.text[position]
            if char == "\n":
                self.newlines[position] = self.place
                newline = True
                position += 1
            elif char == "#" and (position == 0 or self.text[position - 1] in _BOUNDARY):
                stop = self.text.find("\n", position)
                position = end if stop < 0 else stop
                if position > end:
                    raise NotUnderstood("a comment reaches into a command")
            else:
                raise NotUnderstood("something between two commands is not understood")

    def statement(self, node: Tree, tail: int | None, *, timed: bool) -> Node:
        """One node and, up to ``tail``, the redirections behind it."""
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise NotUnderstood("the text is nested deeper than we follow")
        found = self.statement_kind(node, node.end_byte if tail is None else tail, timed=timed)
        self.nesting -= 1
        return found

    def statement_kind(self, node: Tree, end: int, *, timed: bool) -> Node:
        match node.type:
            case kind if kind in _SIMPLE:
                return self.simple(node.start_byte, end, timed=timed)
            case "redirected_statement":
                body = next((child for child in node.children if child.is_named), node)
                if body.type in _SIMPLE or body.type == "heredoc_redirect":
                    return self.simple(node.start_byte, end, timed=timed)
                if body.start_byte != node.start_byte:
                    raise NotUnderstood("a redirection stands in front of a compound command")
                return self.statement(body, end, timed=timed)
            case "test_command":
                if not self.text.startswith("[[", node.start_byte):
                    return self.simple(node.start_byte, end, timed=timed)
                return self.test(node, end)
            case "pipeline":
                return self.pipeline(node, end, timed=timed)
            case "list":
                return self.chain(node, end, timed=timed)
            case "negated_command":
                children = _named(node)
                self.token(node.start_byte, node.start_byte + 1)
                self.gap(node.start_byte + 1, children[-1].start_byte)
                if len(children) != 1 or not self.text.startswith("!", node.start_byte):
                    raise NotUnderstood("a negation is not read as bash reads it")
                return Not(self.statement(children[0], end, timed=True))
            case "subshell":
                if self.text.startswith("((", node.start_byte):
                    raise NotUnderstood("`((` is not closed by `))`")
                return self.bracketed(node, end, "subshell", "(", ")")
            case "compound_statement":
                if self.text.startswith("((", node.start_byte):
                    return self.arithmetic(node, end)
                return self.bracketed(node, end, "group", "{", "}")
            case "if_statement":
                segments = self.segments(node, "if", {"if", "then", "elif", "else", "fi"}, "fi")
                bodies = tuple(self.statements(*segment) for _, *segment in segments)
                return self.compound(node, end, "if", bodies)
            case "while_statement":
                segments = self.segments(node, "", {"while", "until", "do", "done"}, "done")
                if [keyword for keyword, *_ in segments] not in (["while", "do"], ["until", "do"]):
                    raise NotUnderstood("a loop is not read as bash reads it")
                bodies = tuple(self.statements(*segment) for _, *segment in segments)
                return self.compound(node, end, "loop", bodies)
            case "for_statement":
                return self.for_loop(node, end)
            case "c_style_for_statement":
                return self.counting_loop(node, end)
            case "case_statement":
                return self.case(node, end)
            case "function_definition":
                return self.function(node, end)
        raise NotUnderstood(f"`{node.type.replace('_', ' ')}` is not understood")

    def simple(self, start: int, end: int, *, timed: bool) -> Simple:
        command = self.lexer.simple(start, end, timed=timed)
        words = command.words
        if words and words[0].bare:
            self.check_reserved(words, timed=timed)
        if not (words or command.assignments or command.redirects):
            raise NotUnderstood("a command is empty")
        return command

    def check_reserved(self, words: Sequence[Word], *, timed: bool) -> None:
        """The grammar takes some reserved words for arguments or names; what follows them is then not one command."""
        first = words[0].value
        if first in {"time", "coproc"}:
            if first == "time" and not timed:
                return
            if any(word.bare and word.value in _RESERVED for word in words[1:]):
                raise NotUnderstood(f"`{first}` stands in front of a compound command")
        elif first in _RESERVED:
            raise NotUnderstood(f"`{first}` stands where a command should")

    def test(self, node: Tree, end: int) -> Node:
        """``[[ … ]]``: its words, with the operators among them as words of their own."""
        close = node.end_byte
        position, words = node.start_byte + 2, []
        regex = False
        while True:
            position = self.skip_lines(position, close)
            if self.text.startswith("]]", position) and (position + 2 == close):
                break
            if position >= close:
                raise NotUnderstood("a `[[` is not read as bash reads it")
            operator = None if regex else re.compile(r"&&|\|\||[()<>]").match(self.text, position, close)
            if operator is not None:
                words.append(plain_word(operator[0]))
                position = operator.end()
                continue
            word, position = self.lexer.word(position, close, "regex" if regex else "test")
            if word.bare and word.value == "]]":
                raise NotUnderstood("a `[[` is not read as bash reads it")
            regex = word.bare and word.value == "=~"
            words.append(word)
        self.token(close - 2, close)
        scripts = tuple(script for word in words for script in word.scripts)
        redirects = self.lexer.redirects(close, end)
        source = decode(self.text[node.start_byte : end])
        return Simple(source, tuple(words), (), redirects, "test", scripts=scripts)

    def skip_lines(self, position: int, end: int) -> int:
        while position < end:
            position = self.lexer.blanks(position, end)
            if not self.text.startswith("\n", position):
                break
            position += 1
        return position

    def arithmetic(self, node: Tree, end: int) -> Node:
        start, close = node.start_byte, node.end_byte
        if self.lexer.arithmetic_end(start + 2, close) != close - 2:
            raise NotUnderstood("`((` is not closed by `))`")
        formula, scripts = self.lexer.formula(start + 2, close - 2)
        redirects = self.lexer.redirects(close, end)
        return Simple(decode(self.text[start:end]), (), (), redirects, "arithmetic", formula, scripts=scripts)

    def pipeline(self, node: Tree, end: int, *, timed: bool) -> Node:
        stages: list[Node] = []
        children = [child for child in node.children if child.type != "comment"]
        position = node.start_byte
        for index, child in enumerate(children):
            self.gap(position, child.start_byte)
            position = child.end_byte
            if index % 2:
                if child.type not in {"|", "|&"}:
                    raise NotUnderstood("a pipeline is not read as bash reads it")
                continue
            tail = end if index == len(children) - 1 else None
            stage = self.statement(child, tail, timed=timed and index == 0)
            stages += stage.stages if isinstance(stage, Pipeline) else (stage,)
        if len(children) % 2 == 0:
            raise NotUnderstood("a pipeline is not read as bash reads it")
        return Pipeline(tuple(stages))

    def chain(self, node: Tree, end: int, *, timed: bool) -> Node:
        links: list[tuple[str, Node]] = []
        tail: int | None = end
        while node.type == "list":
            children = [child for child in node.children if child.type != "comment"]
            if len(children) != 3 or children[1].type not in {"&&", "||"}:
                raise NotUnderstood("a list is not read as bash reads it")
            left, operator, right = children
            self.gap(left.end_byte, operator.start_byte)
            self.gap(operator.end_byte, right.start_byte)
            links.append((operator.type, self.statement(right, tail, timed=True)))
            node, tail = left, None
        first = self.statement(node, None, timed=timed)
        return Chain(first, tuple(reversed(links)))

    # --- compound commands -----------------------------------------------------------------------------------------------

    def compound(
        self,
        node: Tree,
        end: int,
        kind: CompoundKind,
        bodies: tuple[Script, ...],
        *,
        words: tuple[Word, ...] = (),
        name: str | None = None,
        listed: bool = False,
        formulas: tuple[Formula, ...] = (),
        scripts: tuple[Script, ...] = (),
        redirects_from: int | None = None,
    ) -> Compound:
        redirects = self.lexer.redirects(node.end_byte if redirects_from is None else redirects_from, end)
        if not bodies or (kind != "case" and any(not body.statements for body in bodies)):
            raise NotUnderstood("a compound command has an empty body")
        inner = (*scripts, *(script for word in words for script in word.scripts))
        source = decode(self.text[node.start_byte : end])
        return Compound(kind, source, bodies, redirects, words, name, listed, formulas, inner)

    def bracketed(self, node: Tree, end: int, kind: CompoundKind, opener: str, closer: str) -> Compound:
        children = node.children
        if children[0].type != opener or children[-1].type != closer:
            raise NotUnderstood("a group is not read as bash reads it")
        if kind == "group":
            self.token(children[0].start_byte, children[0].end_byte)
            self.token(children[-1].start_byte, children[-1].end_byte)
        body = self.statements(children[1:-1], children[0].end_byte, children[-1].start_byte)
        return self.compound(node, end, kind, (body,))

    def segments(
        self, node: Tree, first: str, keywords: set[str], last: str
    ) -> list[tuple[str, list[Tree], int, int]]:
        """The parts between a compound command's keywords, each with the keyword in front of it."""
        found: list[tuple[str, list[Tree], int, int]] = []
        keyword, start, children = "", node.start_byte, []
        for child in _flat(node):
            if child.type in keywords and child.child_count == 0:
                self.token(child.start_byte, child.end_byte)
                if keyword or children:
                    found.append((keyword, children, start, child.start_byte))
                keyword, start, children = child.type, child.end_byte, []
            else:
                children.append(child)
        if keyword != last or children or (first and found[0][0] != first) or not found[0][0]:
            raise NotUnderstood("a compound command is not read as bash reads it")
        return found

    def for_loop(self, node: Tree, end: int) -> Compound:
        text = self.text
        head = re.compile(r"(?:for|select)[ \t]+([A-Za-z_]\w*)", re.ASCII).match(text, node.start_byte)
        segments = self.segments(node, "", {"for", "select", "in", "do", "done"}, "done")
        keywords = [keyword for keyword, *_ in segments]
        if head is None or keywords[0] not in {"for", "select"} or keywords[1:] not in (["in", "do"], ["do"]):
            raise NotUnderstood("a loop is not read as bash reads it")
        listed = keywords[1] == "in"
        words: tuple[Word, ...] = ()
        if listed:
            self.gap(head.end(), segments[1][2] - 2)
            words = self.loop_words(segments[1][2], segments[1][3])
        elif text[head.end() : segments[0][3]].strip(" \t\n") not in {"", ";"}:
            raise NotUnderstood("a loop is not read as bash reads it")
        body = self.statements(*segments[-1][1:])
        return self.compound(node, end, "loop", (body,), words=words, name=head[1], listed=listed)

    def loop_words(self, start: int, end: int) -> tuple[Word, ...]:
        found: list[Word] = []
        position = self.lexer.blanks(start, end)
        while position < end and self.text[position] not in ";\n":
            word, position = self.lexer.word(position, end)
            found.append(word)
            position = self.lexer.blanks(position, end)
        if position >= end:
            raise NotUnderstood("a loop is not read as bash reads it")
        self.gap(position + (self.text[position] == ";"), end)
        return tuple(found)

    def counting_loop(self, node: Tree, end: int) -> Compound:
        start = self.text.index("((", node.start_byte)
        self.gap(node.start_byte + 3, start)
        close = self.lexer.arithmetic_end(start + 2, node.end_byte)
        formula, scripts = self.lexer.formula(start + 2, close)
        flat = [child for child in _flat(node) if child.start_byte >= close + 2 and child.type != "comment"]
        tokens = [child for child in flat if child.type in {"do", "done"} and child.child_count == 0]
        if len(tokens) != 2 or self.text[close + 2 : tokens[0].start_byte].strip(" \t\n") not in {"", ";"}:
            raise NotUnderstood("a loop is not read as bash reads it")
        for token in tokens:
            self.token(token.start_byte, token.end_byte)
        inner = [child for child in flat if tokens[0].end_byte <= child.start_byte < tokens[1].start_byte]
        body = self.statements(inner, tokens[0].end_byte, tokens[1].start_byte)
        return self.compound(node, end, "loop", (body,), formulas=(formula,), scripts=scripts)

    def case(self, node: Tree, end: int) -> Compound:
        segments = self.segments(node, "case", {"case", "in", "esac"}, "esac")
        if [keyword for keyword, *_ in segments] != ["case", "in"]:
            raise NotUnderstood("a `case` is not read as bash reads it")
        subject, position = self.lexer.word(self.lexer.blanks(segments[0][2], segments[0][3]), segments[0][3])
        self.gap(position, segments[0][3])
        words, bodies = [subject], []
        _, items, position, stop = segments[1]
        for item in items:
            if item.type == "comment":
                continue
            if item.type != "case_item":
                raise NotUnderstood("a `case` is not read as bash reads it")
            self.gap(position, item.start_byte)
            patterns, body = self.case_item(item)
            words += patterns
            bodies.append(body)
            position = item.end_byte
        self.gap(position, stop)
        return self.compound(node, end, "case", tuple(bodies), words=tuple(words))

    def case_item(self, item: Tree) -> tuple[list[Word], Script]:
        position, end = item.start_byte, item.end_byte
        if self.text.startswith("(", position):
            position += 1
        patterns: list[Word] = []
        while True:
            word, position = self.lexer.word(self.lexer.blanks(position, end), end)
            patterns.append(word)
            position = self.lexer.blanks(position, end)
            separator = self.text[position : position + 1]
            position += 1
            if separator == ")":
                break
            if separator != "|":
                raise NotUnderstood("a `case` is not read as bash reads it")
        children = [child for child in item.children if child.start_byte >= position]
        stop = end
        if children and children[-1].type in {";;", ";&", ";;&"}:
            stop = children.pop().start_byte
        return patterns, self.statements(children, position, stop)

    def function(self, node: Tree, end: int) -> Compound:
        body = node.child_by_field_name("body")
        if body is None:
            raise NotUnderstood("a function is not read as bash reads it")
        head = re.compile(r"(?:function[ \t]+)?([\w.:+@,/-]+)[ \t]*(?:\([ \t]*\))?[ \t\n]*", re.ASCII)
        found = head.fullmatch(self.text, node.start_byte, body.start_byte)
        if found is None:
            raise NotUnderstood("a function is not read as bash reads it")
        # A redirection that the grammar hangs on the definition belongs to the body.
        inner = Script((self.statement(body, end, timed=False),))
        return Compound("function", decode(self.text[node.start_byte : end]), (inner,), name=found[1])

    def token(self, start: int, end: int) -> None:
        """A reserved word must stand by itself."""
        before, after = self.text[start - 1 : start], self.text[end : end + 1]
        if (before and before not in _BOUNDARY) or (after and after not in _BOUNDARY):
            raise NotUnderstood("a reserved word is part of another")


class _BodyOpener:
    """Opens the substitutions of an expanding heredoc's body, each as a text of its own."""

    def __init__(self, body: str, reader: _Reader) -> None:
        self.body, self.reader = body, reader

    def open(self, start: int, inside: int) -> tuple[Script, str | None, int]:
        if self.body[start] != "$":
            raise NotUnderstood("a here-document is not read as bash reads it")
        close = closing(self.body, inside)
        # That the rough end is the true one is proved by the inside being read whole: bash stops at the same bracket.
        script, constant = self.reader.open_text(self.body[inside:close])
        return script, constant, close + 1

    def open_text(self, text: str) -> tuple[Script, str | None]:
        return self.reader.open_text(text)

    def cut_at(self, operator: int) -> Cut | None:
        return None

    def heredoc_word(self, body: str) -> Word:
        raise NotUnderstood("a here-document stands inside another")


def constant_output(script: Script) -> str | None:
    """What ``cat`` with a heredoc that holds no expansion prints, without the newlines at its end."""
    if len(script.statements) != 1 or script.background:
        return None
    command = script.statements[0]
    if not isinstance(command, Simple) or command.kind != "command" or command.assignments:
        return None
    if len(command.words) != 1 or command.words[0].value != "cat" or len(command.redirects) != 1:
        return None
    heredoc = command.redirects[0].heredoc
    if heredoc is None or heredoc.word.value is None:
        return None
    return encode(heredoc.word.value.rstrip("\n"))


def _parse(text: str) -> Tree:
    data = text.encode("latin-1")
    deadline = time.monotonic() + PARSE_SECONDS

    def give(offset: int, _point: object) -> bytes:
        return data[offset : offset + 65536]

    def late(_offset: int, _error: bool) -> bool:
        return time.monotonic() > deadline

    parser = getattr(_THREAD, "parser", None)
    if parser is None:  # a parser keeps state while it reads, so each thread has its own
        parser = _THREAD.parser = tree_sitter.Parser(_LANGUAGE)
    try:
        tree = parser.parse(give, progress_callback=late)
    except ValueError:
        parser.reset()
        raise NotUnderstood("the text takes too long to parse") from None
    return tree.root_node


def _substitutions(root: Tree) -> dict[int, Tree]:
    """The substitutions of a tree by where they start."""
    found: dict[int, Tree] = {}
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.type in {"command_substitution", "process_substitution"}:
            found.setdefault(node.start_byte, node)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found


def _flat(node: Tree) -> Iterable[Tree]:
    """A compound command's children, with the clauses that only group them dissolved."""
    for child in node.children:
        if child.type in {"elif_clause", "else_clause", "do_group"}:
            yield from _flat(child)
        else:
            yield child


def _named(node: Tree) -> list[Tree]:
    return [child for child in node.children if child.is_named and child.type != "comment"]
