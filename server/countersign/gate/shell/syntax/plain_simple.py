"""Simple commands of Plain Bash: assignments, the literal first word, and the forms of each builtin that is known.

bash evaluates some operands of its builtins as arithmetic, as a pattern or as the name of a variable, whatever their
quoting (``[ -v x ]``, ``printf -v``, ``wait -p``, ``read``): a builtin is accepted only in a form that does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from countersign.gate.shell.syntax.plain_shortcuts import ARGUMENTS, FLAT_ARGUMENTS, LEVELS
from countersign.gate.shell.syntax.plain_tokens import (  # fmt: skip
    ASSIGNMENT,
    FIRST_WORD,
    HELD_NAMES,
    LANGUAGES,
    LOCALE_NAMES,
    NAME,
    OWN_NAMES,
    QUOTED_FIRST_WORD,
    RESERVED,
    UTF8_LOCALE,
)
from countersign.gate.shell.syntax.plain_words import MAX_NESTING, NotPlain, Word, WordReader


class SimpleReader(WordReader):
    """Reads simple commands."""

    __slots__ = ()

    # --- simple commands -----------------------------------------------------------------------------------------

    def _simple(self) -> None:
        assigned: list[str] = []
        while (found := ASSIGNMENT.match(self._text, self._at)) is not None:
            assigned.append(found[1])
            self._assignment(found)
            self._gap()
        if assigned and (self._peek() == "" or self._peek() in "\n;&|)") and not self._starts("&>"):
            self._refuse_held(assigned)
            return
        name = self._first_word()
        if "IFS" in assigned and name != "read":
            self._refuse_held(assigned)
        if "HOME" in assigned and name in BUILTINS:
            self._refuse_held(assigned)
        self._operands(name)

    def _refuse_held(self, names: Sequence[str]) -> None:
        for name in names:
            if name in HELD_NAMES:
                raise self._fail(f"an assignment to bash's own variable `{name}`")

    def _assignment(self, found: re.Match[str]) -> None:
        name, offset = found[1], self._at
        if OWN_NAMES.fullmatch(name):
            raise self._fail(f"an assignment to bash's own variable `{name}`")
        self._note_set(name)
        self._at = found.end()
        if self._peek() == "" or self._peek() in " \t\n;&|)":
            return
        if self._peek() == "(":
            raise self._fail("an array", offset)
        value = self._word()
        if name == "LANGUAGE":
            if value.value is None or not LANGUAGES.fullmatch(value.value):
                raise self._fail("a `LANGUAGE` that is no list of languages", value.offset)
        elif LOCALE_NAMES.fullmatch(name) and (value.value is None or not UTF8_LOCALE.fullmatch(value.value)):
            raise self._fail(f"a locale in `{name}` that is not UTF-8", value.offset)
        if value.brace or value.tilde or value.many or (value.glob and "[" in value.source):
            raise self._fail("a bracket, brace, tilde or `$@` in an assignment", value.offset)

    def _first_word(self) -> str:
        """The name of a command, which is literal. Quotes are accepted only around a path."""
        found = FIRST_WORD.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
            return found[0]
        if self._starts("[ ", "[\t"):
            self._at += 1
            return "["
        if self._peek() not in {"'", '"'}:
            raise self._odd_first_word()
        word = self._word()
        if QUOTED_FIRST_WORD.fullmatch(word.source) is None or word.value is None:
            raise self._fail("a command whose first word is not literal", word.offset)
        if word.value in BUILTINS or RESERVED.fullmatch(word.value):
            raise self._fail("a quoted builtin or reserved word", word.offset)
        return word.value

    def _odd_first_word(self) -> NotPlain:
        for pattern, construct in _ODD_COMMANDS:
            if pattern.match(self._text, self._at):
                return self._fail(construct)
        return self._unexpected()

    def _operands(self, name: str) -> None:
        """What follows the name of a command: its words, in a form that is known where bash itself runs it."""
        if "/" in name or name not in BUILTINS:
            self._arguments()
            return
        form = _FORMS.get(name)
        if form is None:
            raise self._fail(f"the builtin `{name}`", self._at - len(name))
        form(self, name)

    def _arguments(self) -> None:
        """Words and redirections up to the end of the command; nothing is kept of them."""
        while True:
            self._skip(FLAT_ARGUMENTS if self._waiting or self._nesting > MAX_NESTING - LEVELS else ARGUMENTS)
            if self._next_word() is None:
                return

    def _words(self, *, redirected: bool = True) -> list[Word]:
        """The same, with the words, among which redirections may stand."""
        words: list[Word] = []
        while (word := self._next_word(redirected=redirected)) is not None:
            words.append(word)
        return words

    def _next_word(self, *, redirected: bool = True) -> Word | None:
        while True:
            apart = self._gap()
            char = self._peek()
            if not char or (char in "\n;|)" or (char == "&" and not self._starts("&>"))):
                return None
            before = self._at
            if self._redirection():
                if not redirected:
                    self._at = before
                    raise self._unexpected()
                continue
            if not apart:
                raise self._unexpected()
            return self._word()

    # --- builtins ------------------------------------------------------------------------------------------------

    def _any_words(self, name: str) -> None:
        """Builtins that neither evaluate a word nor take one for the name of a variable."""
        self._arguments()

    def _constants(self, name: str) -> None:
        self._matching(name, _ANYTHING)

    def _matching(self, name: str, allowed: re.Pattern[str], most: int | None = None) -> list[Word]:
        """Constant words of which each matches."""
        words = self._words()
        for word in words:
            if word.value is None or not allowed.fullmatch(word.value):
                raise self._fail(f"`{name}` with `{word.source[:40]}`", word.offset)
        if most is not None and len(words) > most:
            raise self._fail(f"`{name}` with more than {most} words", words[most].offset)
        return words

    def _numbered(self, name: str) -> None:
        self._matching(name, _NUMBER, 1)

    def _exit(self, name: str) -> None:
        words = self._words()
        if len(words) > 1 or (words and not (_NUMBER.fullmatch(words[0].source) or _STATUS.fullmatch(words[0].source))):
            raise self._fail(f"`{name}` with `{words[-1].source[:40]}`", words[-1].offset)

    def _flags(self, name: str) -> None:
        self._matching(name, _FLAGS[name])

    def _set(self, name: str) -> None:
        words = self._words()
        given = " ".join(word.bare or "?" for word in words)
        if not _SET.fullmatch(given):
            raise self._fail(f"`set {given[:40]}`", words[0].offset if words else None)

    def _cd(self, name: str) -> None:
        words = self._words()
        if words and words[0].bare in {"-P", "-L", "--"}:
            words = words[1:]
        if len(words) > 1 or any(not word.single or word.split or word.source[0] == "+" for word in words):
            raise self._fail(f"`{name}` with a word that may be several", words[-1].offset)

    def _source(self, name: str) -> None:
        words = self._words()
        if len(words) != 1 or not words[0].value or words[0].value[0] in "-+":
            raise self._fail(f"`{name}` of anything but one literal file", words[0].offset if words else None)
        if "/" not in words[0].value:
            self._searches_path = words[0].offset
            self._check_path()

    def _printf(self, name: str) -> None:
        """The format is constant: ``-v NAME`` evaluates a subscript, ``%n`` sets a variable."""
        offset = self._at
        words = self._words()
        ended = bool(words) and words[0].bare == "--"
        words = words[1:] if ended else words
        shape = words[0].value if words else None
        if shape is None or (shape[:1] == "-" and not ended):
            raise self._fail("`printf` without a literal format", words[0].offset if words else offset)
        if _SETS.search(shape):
            raise self._fail("`printf` with `%n`", words[0].offset)

    def _read(self, name: str) -> None:
        words = self._words()
        index = 0
        while index < len(words):
            word = words[index]
            option = _READ_OPTION.fullmatch(word.bare or "")
            if option is None:
                break
            index += 1
            if option[1] == "a":
                if index == len(words):
                    raise self._fail("`read -a` without a name", word.offset)
                break
            if option[1]:
                if index == len(words) or words[index].value is None:
                    raise self._fail(f"`read {word.source}` with a value that is not literal", word.offset)
                index += 1
        for word in words[index:]:
            found = NAME.fullmatch(word.bare or "")
            if found is None or not may_set(found[0]):
                raise self._fail(f"`read` with `{word.source[:40]}`", word.offset)

    def _export(self, name: str) -> None:
        count = 0
        while True:
            apart = self._gap()
            found = ASSIGNMENT.match(self._text, self._at) if apart else None
            if found is not None:
                self._refuse_held((found[1],))
                self._assignment(found)
                count += 1
            elif not self._redirection():
                break
        if not count or (self._peek() and (self._peek() not in "\n;&|)")):
            raise self._fail("`export` of anything but `NAME=word`")

    def _prefixed(self, name: str) -> None:
        """``command NAME …``: the name is literal again, and a builtin again in a known form."""
        start = self._at
        self._gap()
        if self._starts("-"):
            self._at = start
            words = self._words()
            if words[0].bare not in {"-v", "-V"} or len(words) < 2 or any(word.value is None for word in words):
                raise self._fail("an option of `command`", words[0].offset)
            return
        if RESERVED.match(self._text, self._at) or ASSIGNMENT.match(self._text, self._at):
            raise self._unexpected()
        inner = self._first_word()
        if inner == "export":
            raise self._fail("`export` behind `command`")
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise self._fail(f"nesting deeper than {MAX_NESTING}")
        self._operands(inner)
        self._nesting -= 1

    def _test(self, name: str) -> None:
        start = self._at
        words = self._words()
        if name == "[":
            if not words or words[-1].source != "]":
                raise self._fail("`[` without `]`", start)
            words = words[:-1]
        rest: Sequence[Word] = words[1:] if len(words) > 1 and words[0].bare == "!" else words
        match rest:
            case [operand]:
                operands = [operand]
            case [operator, operand] if operator.bare in UNARY:
                operands = [operand]
            case [left, operator, right] if operator.bare in _BINARY:
                operands = [left, right]
            case _:
                raise self._fail(f"a form of `{name}` that is not a single plain test", start)
        for operand in operands:
            if not operand.single or operand.source in {"!", "(", ")", "]"}:
                raise self._fail(f"an operand of `{name}` that may be several words or none", operand.offset)


def may_set(name: str) -> bool:
    """Whether `for` and `read` may set this variable to whatever they are given."""
    return not (OWN_NAMES.fullmatch(name) or LOCALE_NAMES.fullmatch(name) or name in HELD_NAMES or name == "PATH")


_ODD_COMMANDS = (
    (re.compile(r"[A-Za-z_]\w*\["), "a subscript"),
    (re.compile(r"[A-Za-z_]\w*\+="), "an assignment with `+=`"),
    (re.compile("%"), "a job as a command"),
    (re.compile("[-+]"), "a command that begins with `-` or `+`"),
    (re.compile(r"[0-9]?[<>]|&>"), "a redirection before its command"),
    (re.compile(r"[$*?~]|[^\s;&|()<>]+[$*?\\'\"{]"), "a command whose first word is not literal"),
)

BUILTINS = frozenset(
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo "
    "enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd "
    "printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type "
    "typeset ulimit umask unalias unset wait".split()
)
"""All builtins of bash 5.2. One that has no form below is outside."""

_FORMS: Mapping[str, Callable[[SimpleReader, str], None]] = {
    **dict.fromkeys((":", "true", "false", "echo", "kill"), SimpleReader._any_words),
    **dict.fromkeys(("pwd", "popd", "umask", "wait"), SimpleReader._flags),
    **dict.fromkeys(("break", "continue", "shift"), SimpleReader._numbered),
    **dict.fromkeys(("exit", "return"), SimpleReader._exit),
    **dict.fromkeys(("cd", "pushd"), SimpleReader._cd),
    **dict.fromkeys(("source", "."), SimpleReader._source),
    **dict.fromkeys(("[", "test"), SimpleReader._test),
    "type": SimpleReader._constants,
    "set": SimpleReader._set,
    "printf": SimpleReader._printf,
    "read": SimpleReader._read,
    "export": SimpleReader._export,
    "command": SimpleReader._prefixed,
}

_ANYTHING = re.compile(r".*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]{1,9}")
_STATUS = re.compile(r'"?\$(?:[A-Za-z_][A-Za-z0-9_]*|\?)"?')
_FLAGS = {
    "pwd": re.compile("-[PL]"),
    "popd": re.compile("(?!)"),
    "umask": re.compile("[0-7]{3,4}"),
    "wait": _NUMBER,
}
_SET = re.compile(r"(?:[-+][eux]+|[-+][eux]*o pipefail)(?: (?:[-+][eux]+|[-+][eux]*o pipefail))*")
_SETS = re.compile(r"%[^A-Za-z%]*[hlLjzt]*n")
_READ_OPTION = re.compile(r"-(?:[rs]+|[rs]*[nNtu][0-9.]+|[rs]*([dnNtpua]))")
UNARY = frozenset("-b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -n -z".split())
NUMERIC = frozenset("-eq -ne -lt -le -gt -ge".split())
_BINARY = NUMERIC | frozenset("= == != -nt -ot -ef".split())
