"""A text as bash would read it: statements, pipelines, compound commands, down to the simple ones.

One recursive descent over bash's own grammar, by hand. It was tree-sitter's at first; but that grammar takes memory by
the square of a pipeline's length when it fails (a hostile text of 40 kB killed the process) and swallows arguments
behind redirections, so it is now the second opinion in the tests, as are shfmt and bash itself. Every byte is
accounted for: what is not met exactly is not understood. Whether bash accepts the text is asked of bash itself, in
``bash_check.py``.
"""

from __future__ import annotations

import re

from countersign.gate.shell.syntax.constant_words import constant_command, constant_words, redirections
from countersign.gate.shell.syntax.expansions import read_formula
from countersign.gate.shell.syntax.lexer import BREAKS, MAX_DEPTH, Lexer, declaring_word, joined
from countersign.gate.shell.syntax.reserved import CLOSING, DECLARING, MISPLACED, NOT_PLAIN, OPENING
from countersign.gate.shell.syntax.substitution_output import constant_output, is_put_together_again
from countersign.gate.shell.syntax.tree import (
    Assignment,
    Chain,
    Compound,
    CompoundKind,
    Formula,
    Node,
    Not,
    NotUnderstood,
    Piece,
    Pipeline,
    Reading,
    Redirect,
    Script,
    Simple,
    Timed,
    Variable,
    Word,
)
from countersign.gate.shell.syntax.words import decode, encode, expand_words, plain_word

_TOKEN = re.compile(r"[a-z]+|[!{}]|\[\[|\]\]")
_TEST_OPERATOR = re.compile(r"&&|\|\||[()<>]")
_SEPARATORS = re.compile(r";;&|;;|;&|;|&&|&>>|&>|&|\|\||\|&|\||\)|\n|\(")
_PLAIN_COMMAND = re.compile(r"""(?:[^'"\\$`&|;()<>#\n]|'[^'\n]*'|"[^"\\$`\n]*")+(?=[;|\n)]|&(?!>)|\Z)""")
"""A command without expansions, redirections or anything else that reaches beyond it."""
_TO_COMMAND = re.compile(r"[ \t]*(?=[^ \t\\#\n])")
"""Blanks before what is neither a comment nor the end of a line."""
_FUNCTION = re.compile(r"([A-Za-z0-9_.:+@,/\-]+)(?:[ \t]|\\\n)*\((?:[ \t]|\\\n)*\)")


def read(text: str) -> Reading:
    """Read a command line.

    Raises:
        NotUnderstood: it cannot be read with certainty.
    """
    fragments: list[str] = []
    defaults: dict[str, Variable] = {}
    script = _Reader(encode(joined(text)), 0, fragments, defaults).whole()
    return Reading(text, script, tuple(fragments), tuple(defaults.values()))


class _Reader:
    """Reads one text from front to back. ``fragments`` collects the texts that bash does not check with the whole,
    ``defaults`` the expansions that have a constant default."""

    def __init__(self, text: str, depth: int, fragments: list[str], defaults: dict[str, Variable]) -> None:
        if depth > MAX_DEPTH:
            raise NotUnderstood("the command is nested too deeply to analyze")
        self.text, self.end = text, len(text)
        self.fragments, self.defaults = fragments, defaults
        self.lexer = Lexer(text, depth, self)
        self.in_body = False
        self.known: dict[str, Simple] = {}

    def whole(self) -> Script:
        script, position = self.script(0)
        if position < self.end:
            raise NotUnderstood(f"`{decode(self.text[position : position + 1])}` stands where a command should")
        if self.lexer.pending:
            raise NotUnderstood("a here-document is never ended")
        return script

    # --- what the lexer asks -----------------------------------------------------------------------------------------

    def substitution(self, position: int) -> tuple[Script, str | None, int]:
        waiting, self.lexer.pending = self.lexer.pending, []
        outside, self.lexer.heredocs = self.lexer.heredocs, 0
        script, behind = self.script(position)
        if self.lexer.heredocs and not is_put_together_again(script):
            raise NotUnderstood("a here-document stands in a substitution with more than one command")
        self.lexer.heredocs = outside
        if not self.text.startswith(")", behind):
            raise NotUnderstood("a substitution is never closed")
        if self.lexer.pending:
            raise NotUnderstood("a here-document is never ended")
        if waiting and "\n" in self.text[position:behind]:
            raise NotUnderstood("a here-document waits while a substitution goes over lines")
        self.lexer.pending = waiting
        if self.in_body:
            self.fragments.append(decode(self.text[position:behind]))
        return script, constant_output(script), behind + 1

    def separate(self, text: str, depth: int) -> tuple[Script, str | None]:
        self.fragments.append(decode(text))
        script = _Reader(text, depth, self.fragments, self.defaults).whole()
        return script, constant_output(script)

    def body(self, text: str, depth: int) -> list[Piece]:
        reader = _Reader(text, depth, self.fragments, self.defaults)
        reader.in_body = True
        pieces: list[Piece] = []
        reader.lexer.quoted(0, pieces, "")
        return pieces

    def default(self, variable: Variable) -> None:
        if variable.held is not None:
            self.defaults[variable.held] = variable

    # --- lists -------------------------------------------------------------------------------------------------------

    def script(self, position: int) -> tuple[Script, int]:
        """Statements up to something that ends a list; the place where that stands."""
        found: list[Node] = []
        background, line_ends = set[int](), set[int]()
        position = self.lines(position)
        while position < self.end and not self.ends_list(position):
            node, position = self.chain(position)
            found.append(node)
            position = self.lexer.blanks(position)
            separator = _SEPARATORS.match(self.text, position)
            if separator is None or separator[0] not in {";", "&", "\n"}:
                position = self.comment(position)
                if position < self.end and self.text[position] == "\n":
                    line_ends.add(len(found) - 1)
                    position = self.lines(position)
                    continue
                break
            if separator[0] == "&":
                background.add(len(found) - 1)
            start = separator.end() if separator[0] != "\n" else position
            position = self.lines(start)
            if self.comment(self.lexer.blanks(start)) < position:
                line_ends.add(len(found) - 1)
        return Script(tuple(found), frozenset(background), frozenset(line_ends)), position

    def ends_list(self, position: int) -> bool:
        char = self.text[position]
        if char == ")" or self.text.startswith((";;", ";&"), position):
            return True
        return char in "tefd}" and self.keyword(position) in CLOSING

    def lines(self, position: int) -> int:
        """Go over blanks, comments and newlines. Behind a newline stand the bodies of the heredocs before it."""
        while True:
            found = _TO_COMMAND.match(self.text, position)
            if found is not None:
                return found.end()
            position = self.comment(self.lexer.blanks(position))
            if not self.text.startswith("\n", position):
                return position
            position += 1
            if self.lexer.pending:
                position = self.lexer.bodies(position)

    def comment(self, position: int) -> int:
        if not self.text.startswith("#", position) or (position > 0 and self.text[position - 1] not in BREAKS):
            return position
        stop = self.text.find("\n", position)
        return self.end if stop < 0 else stop

    def keyword(self, position: int) -> str | None:
        """The bare token here that could be a reserved word."""
        found = _TOKEN.match(self.text, position)
        if found is None or (found.end() < self.end and self.text[found.end()] not in BREAKS):
            return None
        return found[0]

    def chain(self, position: int) -> tuple[Node, int]:
        first, position = self.pipeline(position)
        links: list[tuple] = []
        while True:
            at = self.lexer.blanks(position)
            operator = self.text[at : at + 2]
            if operator not in {"&&", "||"}:
                return (Chain(first, tuple(links)) if links else first), at
            node, position = self.pipeline(self.lines(at + 2))
            links.append((operator, node))

    def pipeline(self, position: int) -> tuple[Node, int]:
        keyword = self.keyword(position) if self.text[position : position + 1] in {"!", "t"} else None
        if keyword == "!":
            after = self.lexer.blanks(position + 1)
            self.lexer.deeper()
            node, position = self.pipeline(after)
            self.lexer.depth -= 1
            return Not(node), position
        if keyword == "time":
            # A keyword like `!`: what it times is a pipeline of its own. Behind a `|` it is a program of that name.
            start = inner = self.lexer.blanks(position + 4)
            for option in ("-p", "--"):
                if re.compile(option + r"(?=[ \t\n])").match(self.text, inner):
                    inner = self.lexer.blanks(inner + 2)
            self.lexer.deeper()
            node, position = self.pipeline(inner)
            self.lexer.depth -= 1
            return Timed(node, options=inner != start), position
        stages, errors = list[Node](), False
        while True:
            self.lexer.count()
            node, position = self.constants(position) or self.again(position) or self.command(position)
            stages.append(node)
            at = self.lexer.blanks(position)
            if not self.text.startswith("|", at) or self.text.startswith("||", at):
                return (Pipeline(tuple(stages), errors) if len(stages) > 1 else stages[0]), at
            both = self.text.startswith("&", at + 1)
            errors = errors or both
            position = self.lines(at + 1 + both)

    # --- commands ----------------------------------------------------------------------------------------------------

    def command(self, position: int) -> tuple[Node, int]:
        starts = position < self.end and (self.text[position] not in "&|;)\n" or self.text.startswith("&>", position))
        if not starts:
            raise NotUnderstood("a command is missing")
        self.lexer.deeper()
        keyword = self.keyword(position)
        if self.text[position] == "(":
            found = self.bracketed(position)
        elif keyword in OPENING:
            found = self.compound_command(keyword, position)
        elif keyword in CLOSING or keyword in MISPLACED or keyword == "!":
            raise NotUnderstood(f"`{keyword}` stands where a command should")
        elif keyword == "coproc":
            found = self.coprocess(position)
        elif head := _FUNCTION.match(self.text, position):
            found = self.function(position, head[1], head.end())
        else:
            found = self.simple(position)
        self.lexer.depth -= 1
        return found

    def simple(self, position: int) -> tuple[Simple, int]:
        """A simple command. One that is written again just the same is not read again."""
        plain = _PLAIN_COMMAND.match(self.text, position)
        command, stop = self.read_simple(position)
        if plain is not None:
            source = plain[0].rstrip(" \t")
            if stop == position + len(source):
                self.known[source] = command
        return command, stop

    def constants(self, position: int) -> tuple[Simple, int] | None:
        """The simple command at this place where it is constant words and, behind them, plain redirections."""
        found = constant_command(self.text, position)
        if found is None:
            return None
        words, first, redirected = found
        if first in NOT_PLAIN or self.lexer.depth >= MAX_DEPTH:
            return None
        if redirected:
            source = words + redirected
            command = Simple(decode(source), constant_words(words), (), redirections(redirected), plain=True)
            return command, position + len(source)
        command = self.known.get(words)
        if command is None:
            command = self.known[words] = Simple(decode(words), constant_words(words), plain=True)
        return command, position + len(words)

    def again(self, position: int) -> tuple[Simple, int] | None:
        """The simple command at this place, if the very same text was read before in the place of a command."""
        plain = _PLAIN_COMMAND.match(self.text, position)
        if plain is None:
            return None
        source = plain[0].rstrip(" \t")
        known = self.known.get(source)
        return None if known is None else (known, position + len(source))

    def read_simple(self, position: int) -> tuple[Simple, int]:
        lexer, start = self.lexer, position
        words: list[Word] = []
        assignments: list[Assignment] = []
        declared: list[Assignment] = []
        redirects: list[Redirect] = []
        stop = position
        while position < self.end:
            char = self.text[position]
            if char in "\n;)" or (char == "#" and self.text[position - 1 : position] in BREAKS) or char == "|":
                break
            if char == "&" and not self.text.startswith("&>", position):
                break
            redirect = lexer.redirect(position)
            if redirect is not None:
                redirects.append(redirect[0])
                stop = redirect[1]
            elif char == "(":
                raise NotUnderstood("a bracket stands inside a command")
            elif not words and (assignment := lexer.assignment(position)):
                assignments.append(assignment[0])
                stop = assignment[1]
            elif words and words[0].value in DECLARING and (assignment := lexer.assignment(position)):
                words.append(declaring_word(assignment[0]))
                declared.append(assignment[0])
                stop = assignment[1]
            else:
                word, stop = lexer.word(position)
                words.append(word)
            position = lexer.blanks(stop)
        if not (words or assignments or redirects):
            raise NotUnderstood("a command is empty")
        source = decode(self.text[start:stop])
        words[1:] = expand_words(words[1:])
        return Simple(source, tuple(words), tuple(assignments), tuple(redirects), declared=tuple(declared)), stop

    def bracketed(self, position: int) -> tuple[Node, int]:
        if self.text.startswith("((", position):
            found = read_formula(self.lexer, position + 2, "(", ")")
            if found is None or not self.text.startswith("))", found[2]):
                raise NotUnderstood("`((` is not closed by `))`")
            redirects, stop = self.redirects(found[2] + 2)
            source = decode(self.text[position:stop])
            return Simple(source, (), (), redirects, "arithmetic", found[0], scripts=found[1]), stop
        body, behind = self.filled(position + 1)
        if not self.text.startswith(")", behind):
            raise NotUnderstood("a `(` is never closed")
        return self.compound("subshell", position, behind + 1, (body,))

    def compound_command(self, keyword: str, position: int) -> tuple[Node, int]:
        inside = position + len(keyword)
        match keyword:
            case "{":
                body, behind = self.filled(inside)
                return self.compound("group", position, self.expect("}", behind), (body,))
            case "[[":
                return self.test(position)
            case "if":
                return self.branches(position)
            case "while" | "until":
                condition, behind = self.filled(inside)
                body, behind = self.loop_body(behind)
                return self.compound("loop", position, behind, (condition, body), keyword=keyword)
            case "for" | "select":
                return self.for_loop(position, inside, keyword)
            case "case":
                return self.case(position, inside)
        head = re.compile(r"([A-Za-z0-9_.:+@,/\-]+)[ \t]*(?:\([ \t]*\))?").match(self.text, self.lexer.blanks(inside))
        if head is None:
            raise NotUnderstood("a function has no name")
        return self.function(position, head[1], head.end())

    def compound(
        self,
        kind: CompoundKind,
        start: int,
        behind: int,
        bodies: tuple[Script, ...],
        words: tuple[Word, ...] = (),
        name: str | None = None,
        formulas: tuple[Formula, ...] = (),
        scripts: tuple[Script, ...] = (),
        *,
        listed: bool = False,
        keyword: str = "",
        endings: tuple[tuple[str, int], ...] = (),
    ) -> tuple[Compound, int]:
        redirects, stop = self.redirects(behind)
        inner = (*scripts, *(script for word in words for script in word.scripts))
        source = decode(self.text[start:stop])
        return Compound(kind, source, bodies, redirects, words, name, listed, formulas, inner, keyword, endings), stop

    def redirects(self, position: int) -> tuple[tuple[Redirect, ...], int]:
        found: list[Redirect] = []
        while True:
            redirect = self.lexer.redirect(self.lexer.blanks(position))
            if redirect is None:
                return tuple(found), position
            found.append(redirect[0])
            position = redirect[1]

    def filled(self, position: int) -> tuple[Script, int]:
        script, position = self.script(position)
        if not script.statements:
            raise NotUnderstood("a compound command has an empty body")
        return script, position

    def expect(self, keyword: str, position: int) -> int:
        if self.keyword(position) != keyword:
            raise NotUnderstood(f"a `{keyword}` is missing")
        return position + len(keyword)

    def branches(self, position: int) -> tuple[Node, int]:
        bodies: list[Script] = []
        at = position + 2
        while True:
            condition, at = self.filled(at)
            body, at = self.filled(self.expect("then", at))
            bodies += [condition, body]
            keyword = self.keyword(at)
            if keyword == "elif":
                at += 4
                continue
            if keyword == "else":
                body, at = self.filled(at + 4)
                bodies.append(body)
            return self.compound("if", position, self.expect("fi", at), tuple(bodies))

    def loop_body(self, position: int) -> tuple[Script, int]:
        body, behind = self.filled(self.expect("do", position))
        return body, self.expect("done", behind)

    def for_loop(self, start: int, position: int, keyword: str) -> tuple[Node, int]:
        position = self.lexer.blanks(position)
        if self.text.startswith("((", position):
            found = read_formula(self.lexer, position + 2, "(", ")")
            if found is None or not self.text.startswith("))", found[2]):
                raise NotUnderstood("`((` is not closed by `))`")
            body, behind = self.loop_body(self.to_body(found[2] + 2))
            return self.compound("loop", start, behind, (body,), formulas=(found[0],), scripts=found[1])
        name = re.compile(r"[A-Za-z_]\w*", re.ASCII).match(self.text, position)
        if name is None or self.text[name.end() : name.end() + 1] not in {" ", "\t", "\n", ";"}:
            raise NotUnderstood("a loop has no variable")
        position = self.lines(name.end())
        words: list[Word] = []
        listed = self.keyword(position) == "in"
        if listed:
            position = self.lexer.blanks(position + 2)
            while position < self.end and self.text[position] not in ";\n#":
                word, position = self.lexer.word(position)
                words.append(word)
                position = self.lexer.blanks(position)
            if self.keyword(position) == "do":
                raise NotUnderstood("a loop is not read as bash reads it")
        body, behind = self.loop_body(self.to_body(position))
        return self.compound("loop", start, behind, (body,), tuple(words), name[0], listed=listed, keyword=keyword)

    def to_body(self, position: int) -> int:
        position = self.lexer.blanks(position)
        return self.lines(position + self.text.startswith(";", position))

    def case(self, start: int, position: int) -> tuple[Node, int]:
        subject, position = self.lexer.word(self.lexer.blanks(position))
        position = self.lines(self.expect("in", self.lines(position)))
        words, bodies = [subject], []
        endings: list[tuple[str, int]] = []
        while self.keyword(position) != "esac":
            if self.text.startswith("(", position):
                position += 1
            before = len(words)
            while True:
                word, position = self.lexer.word(self.lexer.blanks(position))
                words.append(word)
                position = self.lexer.blanks(position)
                separator = self.text[position : position + 1]
                position += 1
                if separator == ")":
                    break
                if separator != "|":
                    raise NotUnderstood("a `case` is not read as bash reads it")
            body, position = self.script(position)
            bodies.append(body)
            ending = re.compile(r";;&|;;|;&").match(self.text, position)
            endings.append((";;" if ending is None else ending[0], len(words) - before))
            if ending is None:
                break
            position = self.lines(ending.end())
        stop = self.expect("esac", position)
        return self.compound("case", start, stop, tuple(bodies), tuple(words), endings=tuple(endings))

    def function(self, start: int, name: str, position: int) -> tuple[Node, int]:
        position = self.lines(position)
        if not (self.text.startswith("(", position) or self.keyword(position) in OPENING):
            raise NotUnderstood("a function's body is not a compound command")
        body, stop = self.command(position)
        return Compound("function", decode(self.text[start:stop]), (Script((body,)),), name=name), stop

    def coprocess(self, start: int) -> tuple[Node, int]:
        position = self.lexer.blanks(start + 6)
        name = re.compile(r"([A-Za-z_]\w*)[ \t]+", re.ASCII).match(self.text, position)
        named = name is not None and (self.text.startswith("(", name.end()) or self.keyword(name.end()) in OPENING)
        inside = name.end() if name is not None and named and self.keyword(position) not in OPENING else position
        body, stop = self.command(inside)
        called = name[1] if name is not None and inside != position else None
        return Compound("coproc", decode(self.text[start:stop]), (Script((body,)),), name=called), stop

    def test(self, start: int) -> tuple[Node, int]:
        """``[[ … ]]``: its words, with the operators among them as words of their own."""
        position, words, regex = start + 2, [], False
        while True:
            position = self.test_blanks(position)
            if position >= self.end:
                raise NotUnderstood("a `[[` is never closed")
            if not regex and self.keyword(position) == "]]":
                break
            # `<(…)` starts a process inside `[[ ]]` too; only a `<` that stands apart compares.
            started = self.text.startswith(("<(", ">("), position)
            operator = None if regex or started else _TEST_OPERATOR.match(self.text, position)
            if operator is not None:
                words.append(plain_word(operator[0]))
                position = operator.end()
                continue
            word, position = self.lexer.word(position, "regex" if regex else "test")
            regex = word.bare and word.value == "=~"
            words.append(word)
        redirects, stop = self.redirects(position + 2)
        scripts = tuple(script for word in words for script in word.scripts)
        source = decode(self.text[start:stop])
        return Simple(source, tuple(words), (), redirects, "test", scripts=scripts), stop

    def test_blanks(self, position: int) -> int:
        while True:
            position = self.lexer.blanks(position)
            if not self.text.startswith("\n", position) or self.lexer.pending:
                return position
            position += 1
