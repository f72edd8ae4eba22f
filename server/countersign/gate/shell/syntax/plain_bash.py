"""Plain Bash: the subset of bash in which alone a command may be allowed without a person (docs/gate.md S0).

``outside`` reads a text once, from left to right, in linear time. It builds no tree and knows no rules: it answers
whether all of the text lies in the grammar of ``docs/rules.md``, and if not, names the first construct that does not.
This file holds the structure of a text; words are in ``plain_words.py``, simple commands in ``plain_simple.py``.

INVARIANT (independence): shares no code with ``lexer``, ``parse`` and ``words``, so that no mistake there is repeated.

INVARIANT (positive list): each character is accepted by a rule that names it. What no rule names is outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from countersign.gate.shell.syntax.plain_shortcuts import COMMANDS, LEVELS
from countersign.gate.shell.syntax.plain_simple import NUMERIC, UNARY, SimpleReader, may_set
from countersign.gate.shell.syntax.plain_tokens import BLANKS, JOINED_EMOJI, NAME, QUOTING, RESERVED, WORD_END
from countersign.gate.shell.syntax.plain_words import MAX_NESTING, NotPlain, Outside, Word

__all__ = ["Outside", "outside"]


def outside(text: str) -> Outside | None:
    """Return the first construct of the text that is not Plain Bash, or None if all of it is. Never raises."""
    odd = _odd_character(text)
    if odd is not None:
        return odd
    try:
        _Reader(text).whole()
    except NotPlain as found:
        return found.outside
    return None


def _odd_character(text: str) -> Outside | None:
    shown = JOINED_EMOJI.sub("\t", text) if "\u200d" in text else text
    if shown.replace("\t", "").replace("\n", "").isprintable():
        return None
    text = shown
    offset = next(index for index, char in enumerate(text) if char not in "\t\n" and not char.isprintable())
    return Outside("a control or invisible character", offset)


class _Reader(SimpleReader):
    """Reads the structure of one text."""

    def whole(self) -> None:
        self._newlines()
        if self._peek():
            self._list({""})
        if self._waiting:
            raise NotPlain("a here-document without a body", self._waiting[0][2])

    # --- structure -----------------------------------------------------------------------------------------------

    def _list(self, ends: Collection[str]) -> str:
        """A list of at least one command up to one of ``ends``, which is consumed and returned."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise self._fail(f"nesting deeper than {MAX_NESTING}")
        while True:
            if not self._waiting and self._nesting <= MAX_NESTING - LEVELS:
                self._skip(COMMANDS)
            self._and_or()
            self._blanks()
            end = self._end(ends, words=False)
            if end is None:
                if self._peek() == "\n":
                    self._newlines()
                elif (self._peek() == ";" and not self._starts(";;", ";&")) or self._peek() == "&":
                    self._at += 1
                    self._newlines()
                else:
                    raise self._unexpected()
                end = self._end(ends, words=True)
            if end is not None:
                self._nesting -= 1
                return end

    def _end(self, ends: Collection[str], *, words: bool) -> str | None:
        """Consume one of the ends; reserved words only where a command could stand."""
        if not self._peek():
            if "" in ends:
                return ""
            raise self._unexpected()
        for end in ends:
            if end and self._starts(end) and (words or end in {")", ";;"}):
                if end.isalpha() or end == "}":
                    found = RESERVED.match(self._text, self._at)
                    if found is None or found[0] != end:
                        continue
                self._at += len(end)
                return end
        return None

    def _and_or(self) -> None:
        self._pipeline()
        while True:
            self._blanks()
            if not self._starts("&&", "||"):
                return
            self._at += 2
            self._newlines()
            self._pipeline()

    def _pipeline(self) -> None:
        found = RESERVED.match(self._text, self._at)
        if found is not None and found[0] in {"!", "time"}:
            self._at = found.end()
            if not self._skip(BLANKS):
                raise self._unexpected()
            if found[0] == "time" and self._peek() == "-":
                raise self._fail("an option of `time`")
        self._command()
        while True:
            self._blanks()
            if self._peek() != "|" or self._starts("||", "|&"):
                return
            self._at += 1
            self._newlines()
            self._command()

    def _command(self) -> None:
        if self._peek() == "(":
            if self._starts("(("):
                raise self._fail("an arithmetic command")
            self._at += 1
            self._newlines()
            self._list({")"})
            self._redirections()
            return
        found = RESERVED.match(self._text, self._at)
        if found is None:
            self._simple()
            return
        compound = _COMPOUND.get(found[0])
        if compound is None:
            raise self._fail(f"the reserved word `{found[0]}` here")
        self._at = found.end()
        compound(self)
        self._redirections()

    def _redirections(self) -> None:
        while True:
            self._blanks()
            if not self._redirection():
                return

    def _inner(self, *ends: str) -> str:
        if self._peek() not in {" ", "\t", "\n"}:
            raise self._unexpected()
        self._newlines()
        return self._list(ends)

    def _group(self) -> None:
        self._inner("}")

    def _if(self) -> None:
        self._inner("then")
        end = self._inner("elif", "else", "fi")
        while end == "elif":
            self._inner("then")
            end = self._inner("elif", "else", "fi")
        if end == "else":
            self._inner("fi")

    def _while(self) -> None:
        self._inner("do")
        self._inner("done")

    def _for(self) -> None:
        self._skip(BLANKS)
        self._variable(NAME.match(self._text, self._at), self._at)
        if not self._skip(BLANKS) or not self._starts("in ", "in\t"):
            raise self._fail("a `for` without a list of words")
        self._at += 2
        words = self._words(redirected=False)
        if not words or self._peek() not in {";", "\n"}:
            raise self._unexpected()
        self._at += self._peek() == ";"
        self._newlines()
        if self._end({"do"}, words=True) is None:
            raise self._unexpected()
        self._inner("done")

    def _variable(self, found: re.Match[str] | None, offset: int) -> None:
        """Consume the name of a variable that the text may set."""
        if found is None:
            raise self._fail("a name that is not literal", offset)
        if not may_set(found[0]):
            raise self._fail(f"an assignment to bash's own variable `{found[0]}`", offset)
        self._at = found.end()

    def _case(self) -> None:
        self._skip(BLANKS)
        word = self._word()
        if word.glob or word.brace or word.tilde or word.many:
            raise self._fail("an expansion in the word of `case`", word.offset)
        if not self._skip(BLANKS) or not self._starts("in ", "in\t", "in\n"):
            raise self._unexpected()
        self._at += 2
        self._newlines()
        while self._end({"esac"}, words=True) is None:
            self._pattern()
            while self._peek() == "|":
                self._at += 1
                self._skip(BLANKS)
                self._pattern()
            if self._peek() != ")":
                raise self._unexpected()
            self._at += 1
            self._newlines()
            if self._end({";;"}, words=True) is None:
                self._list({";;"})
            self._newlines()

    def _pattern(self) -> None:
        if self._peek() in {"#", "("}:
            raise self._unexpected()
        word = self._word()
        if word.expands or word.brace or word.tilde:
            raise self._fail("an expansion in a pattern of `case`", word.offset)
        self._skip(BLANKS)

    def _double_bracket(self) -> None:
        while True:
            self._condition_blank()
            while self._starts("! "):
                self._at += 1
                self._condition_blank()
            self._condition()
            if self._starts("&&", "||"):
                self._at += 2
                continue
            if not self._starts("]]") or not WORD_END.match(self._text, self._at + 2):
                raise self._unexpected()
            self._at += 2
            return

    def _condition_blank(self) -> None:
        if not self._skip(BLANKS):
            raise self._unexpected()

    def _condition(self) -> None:
        """One test of ``[[ ]]`` and the blanks behind it."""
        first = self._condition_word(pattern=False, operator=True)
        if first.bare is not None and first.bare[:1] == "-":
            if first.bare not in UNARY:
                raise self._fail(f"`{first.bare}` in `[[ ]]`", first.offset)
            self._condition_word(pattern=False)
            return
        if self._starts("]]", "&&", "||"):
            return
        operator = self._condition_word(pattern=False, operator=True)
        if operator.bare in NUMERIC:
            for number in (first, self._condition_word(pattern=False)):
                if not _COUNT.fullmatch(number.source):
                    raise self._fail("arithmetic on a value in `[[ ]]`", number.offset)
        elif operator.bare in {"==", "!=", "=", "-nt", "-ot", "-ef"}:
            self._condition_word(pattern=operator.bare[0] != "-")
        else:
            regex = operator.source == "=~"
            raise self._fail(
                "a regular expression in `[[ ]]`" if regex else f"`{operator.source[:40]}` in `[[ ]]`", operator.offset
            )

    def _condition_word(self, *, pattern: bool, operator: bool = False) -> Word:
        found = _CONDITION_OPERATOR.match(self._text, self._at) if operator else None
        if found is not None:
            self._at = found.end()
            word = Word(found[0], found.start())
        else:
            if self._peek() in {"#", "!", "=", "-", "]"}:
                raise self._unexpected()
            word = self._word()
            if word.brace or word.tilde or word.many or "{" in QUOTING.sub("", word.source.replace("${", "")):
                raise self._fail("a brace, tilde or `$@` in `[[ ]]`", word.offset)
            if (word.glob and not pattern) or (word.split and pattern):
                raise self._fail("a pattern in `[[ ]]` that is not literal", word.offset)
        self._condition_blank()
        return word


_COMPOUND: Mapping[str, Callable[[_Reader], None]] = {
    "{": _Reader._group,
    "if": _Reader._if,
    "for": _Reader._for,
    "while": _Reader._while,
    "until": _Reader._while,
    "case": _Reader._case,
    "[[": _Reader._double_bracket,
}

_COUNT = re.compile(r"[0-9]{1,18}|\$[?#]")
_CONDITION_OPERATOR = re.compile(r"(?:-[A-Za-z]+|==|!=|=~|=)(?=[ \t])")
