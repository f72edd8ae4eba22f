"""What is assigned to names, and what bash evaluates as arithmetic or prompt text (docs/gate.md S6 and S12).

Bash runs the substitutions that a variable's value holds when the value is used as a subscript, so arithmetic over a
variable that the text does not itself set to numbers is not covered by anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from countersign.gate.shell.programs.argv import NUMERIC_PARAMETERS, numeric
from countersign.gate.shell.programs.tables import FACETS, names_with
from countersign.gate.shell.syntax.reserved import DECLARING
from countersign.gate.shell.syntax.tree import Arithmetic, Assignment, Formula, Piece, Simple, Text, Variable, Word
from countersign.gate.shell.syntax.words import with_names
from countersign.gate.shell.variables.bindings import Facts, is_own_name

SAFE = frozenset({
    "CI", "NODE_ENV", "FORCE_COLOR", "NO_COLOR", "TZ", "LANG", "TERM", "RUST_BACKTRACE", "RUST_LOG", "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE", "GOOS", "GOARCH", "DEBUG",
})  # fmt: skip
"""Names that an allow rule looks through when a plain value stands in front of a command."""

_SAFE_VALUES = {
    **dict.fromkeys(("GIT_PAGER", "PAGER", "MANPAGER", "GH_PAGER"), re.compile(r"(?:cat)?")),
    **dict.fromkeys(("GIT_EDITOR", "EDITOR", "VISUAL"), re.compile(r"true|:")),
    **dict.fromkeys(
        ("FLASK_ENV", "RAILS_ENV", "RACK_ENV", "APP_ENV", "MIX_ENV", "BABEL_ENV"), re.compile(r"[a-z]{1,20}")
    ),
    **dict.fromkeys(("CGO_ENABLED", "HEADLESS", "PYTHONUTF8"), re.compile(r"[01]")),
    **dict.fromkeys(("PORT", "RUST_TEST_THREADS", "PYTHONHASHSEED"), re.compile(r"\d{1,6}")),
    "LOG_LEVEL": re.compile(r"[A-Za-z]{1,10}"),
    "CARGO_TERM_COLOR": re.compile(r"always|never|auto"),
    "NODE_OPTIONS": re.compile(r"--max[-_]old[-_]space[-_]size=\d{1,7}"),
}
"""Names that are looked through where they hold just this."""

_SETTINGS = {"DJANGO_SETTINGS_MODULE": re.compile(r"(?:[A-Za-z_]\w*\.)+settings(?:\.[A-Za-z_]\w*|_[a-z]+)?")}
"""Names that are looked through where they hold a module that lies in the workspace."""

_PLAIN_VALUE = re.compile(r"[\w.,:@%+=*/ -]*")
_PATH_LIKE = frozenset({"TERM", "LANG"})


def is_safe_prefix(assignment: Assignment) -> bool:
    """Whether ``NAME=value`` in front of a command may be looked through for allow."""
    value = assignment.plain
    if value is not None and assignment.name in _SAFE_VALUES:
        return _SAFE_VALUES[assignment.name].fullmatch(value) is not None
    if value is None or not (assignment.name in SAFE or assignment.name.startswith("LC_")):
        return False
    if not _PLAIN_VALUE.fullmatch(value) or ".." in value or value.startswith(("/", ":")):
        return False
    return not ("/" in value and (assignment.name in _PATH_LIKE or assignment.name.startswith("LC_")))


def settings_module(assignment: Assignment) -> str | None:
    """The path, without its ending, of the module that an assignment makes a program load its settings from."""
    pattern, value = _SETTINGS.get(assignment.name), assignment.plain
    if pattern is None or value is None or assignment.appends or not pattern.fullmatch(value):
        return None
    return value.replace(".", "/")


def unsafe_assignment(assignment: Assignment) -> str | None:
    """Why an assignment that stands alone is no neutral part, or None."""
    if is_own_name(assignment.name):
        return None
    if is_safe_prefix(assignment):
        return None
    return may_be_obeyed(assignment.name)


def may_be_obeyed(name: str) -> str:
    """Why a variable that programs look at is not set without a rule."""
    return f"`{name}` may change what the commands after it run"


def evaluated(command: Simple, facts: Facts) -> Iterator[str]:
    """Reasons why evaluating this command's words may run what a variable holds, and names that they set unseen."""
    if command.formula is not None:
        yield from _formula(command.formula, facts)
    for assignment in (*command.assignments, *command.declared):
        if assignment.formula is not None:
            yield from _formula(assignment.formula, facts)
        for word in (assignment.value, *(assignment.items or ())):
            if word is not None:
                yield from _pieces(word.pieces, facts)
    for word in command.words:
        if word.value is None:  # a constant has nothing to evaluate
            yield from _pieces(word.pieces, facts)
    for redirect in command.redirects:
        if redirect.target.value is None:
            yield from _pieces(redirect.target.pieces, facts)
        if redirect.heredoc is not None and redirect.heredoc.word is not None:
            yield from _pieces(redirect.heredoc.word.pieces, facts)
        if redirect.variable is not None and not is_own_name(redirect.variable):
            yield f"a redirection sets `{redirect.variable}`"


def _pieces(pieces: Iterable[Piece], facts: Facts) -> Iterator[str]:
    for piece in pieces:
        match piece:
            case Arithmetic(formula=formula):
                yield from _formula(formula, facts)
            case Variable(formula=formula, evaluates=evaluates, assigns=assigns, name=name, words=words):
                if formula is not None:
                    yield from _formula(formula, facts)
                if evaluates:
                    yield f"what `{name}` holds is evaluated"
                if assigns and not is_own_name(name):
                    yield f"an expansion sets `{name}`"
                for word in words:
                    yield from _pieces(word.pieces, facts)


def _formula(formula: Formula, facts: Facts) -> Iterator[str]:
    if formula.unknown:
        yield "arithmetic is evaluated over a text that is only known at run time"
    for name in sorted(formula.names):
        if name not in NUMERIC_PARAMETERS and not facts.numeric(name):
            yield f"arithmetic is evaluated over `{name}`, which may hold more than a number"
    for name in sorted(formula.assigned):
        if not is_own_name(name):
            yield f"arithmetic sets `{name}`"


# --- texts in subscripts ---------------------------------------------------------------------------------------------

_PROMPTS = frozenset({"PS0", "PS1", "PS2", "PS4"})
"""Variables whose value bash expands as if it stood in double quotes, when it shows it."""

_NAMES_PROGRAM = re.compile(
    r"(?:\w+_)?(?:EDITOR|VISUAL|PAGER|BROWSER|ASKPASS|RSH|SSH_COMMAND|EXTERNAL_DIFF|PROXY_COMMAND|FCEDIT)|HGEDITOR|MANPAGER|"
    r"GIT_SSH|SVN_SSH|LESSOPEN|LESSCLOSE|GIT_CONFIG_VALUE_\d+|GIT_SEQUENCE_EDITOR|FZF_DEFAULT_COMMAND|RUSTC_(?:WORKSPACE_)?WRAPPER|"
    r"CARGO_TARGET_\w+_(?:RUNNER|LINKER)|C\w*_COMPILER_LAUNCHER|(?i:npm_config_(?:script_shell|editor|shell|git|viewer))"
)
"""Variables whose value other programs run as a command."""
_SETTINGS_OF_GIT = "GIT_CONFIG_PARAMETERS"
_NAMES_GIVEN = frozenset(word for words in FACETS["gives_names"].values() for word in words.split())
"""Of them those to whose command a program gives names of files."""
_ORDINARY = re.compile(
    r"(?:[\w./-]*/)?(?:|:|true|false|none|echo|cat|less|more|most|vim?|nvim|nano|emacs|code|subl|ssh|delta|bat|sccache|"
    r"ccache|firefox|open)(?: --?[\w-]+)*"
)
"""Values of theirs that are what the variable is for: a rule that names the assignment covers them as it did."""

_SUBSCRIPT = re.compile(r"(?:\w|(?<=[@=]))\[")
_RUNNING = re.compile(r"\$\(|`|\$\{[ \t\n|]")

_EVERY = frozenset({"let", "unset", "read", "wait", "getopts", "mapfile", "readarray", "compgen", "complete"})
"""Builtins that evaluate the subscript of any name in their words, or all of them as arithmetic."""

_EXPANDING_WORDS = names_with("expands_words")
EVALUATING = _EVERY | DECLARING | {"printf", "test", "["} | _EXPANDING_WORDS


def evaluated_texts(name: str, words: Sequence[Word]) -> Iterator[str]:
    """Texts in which bash runs the substitutions although they are quoted: names with a subscript, and arithmetic."""
    if name in _EVERY:
        yield from (_expanding(text) for text in map(_shown, words[1:]) if _RUNNING.search(text))
        return
    if name in DECLARING:
        # A number is worked out, and a reference looked up, with the subscripts in it.
        evaluates = any(re.match(r"-\w*[in]", word.prefix) for word in words[1:])
        for text in map(_shown, words[1:]):
            declared, _, value = text.partition("=")
            if _RUNNING.search(text if evaluates else declared):
                yield _expanding(text)
            else:
                yield from assigned_texts(declared.rstrip("+"), value)
        return
    if name in _EXPANDING_WORDS:
        yield from _recipes(words)
        return
    named = "-v" if name == "printf" else "-R"
    for index, word in enumerate(words[1:], 1):
        before = words[index - 1].value if index > 1 else None
        text = _shown(word)
        if (before in {"-v", named} or (named == "-v" and text.startswith("-v"))) and _RUNNING.search(text):
            yield _expanding(text)


def _recipes(words: Sequence[Word]) -> Iterator[str]:
    """What `make` hands to a shell of its words: ``$(shell …)``, and the rules of ``--eval``."""
    for before, word in pairwise(words):
        text = _shown(word)
        for part in re.split(r"\$[({]shell[ \t]", text)[1:]:
            yield re.split("[)}]", part, maxsplit=1)[0]
        if text.startswith(("-E", "--ev")) or (before.value in {"-E", "--eval"}):
            lines = (line.strip(" \t@+-") for line in re.split(r"[;\n]", text.removeprefix("-E")))
            yield from (line for line in lines if line)


def tested_texts(words: Sequence[Word]) -> Iterator[str]:
    """The same of ``[[ … ]]``."""
    if any(word.value in _ARITHMETIC or word.value in {"-v", "-R"} for word in words):
        yield from (_expanding(text) for text in map(_shown, words) if _RUNNING.search(text))


def assigned_texts(name: str, text: str) -> Iterator[str]:
    """The same of a value: of a prompt always, of others where it holds a subscript that arithmetic would evaluate."""
    if name == "PROMPT_COMMAND":
        yield text
    elif name == _SETTINGS_OF_GIT:
        # `'key=value' 'key'='value'`: which of its pieces is run, git says by the keys.
        pieces = (piece.partition("=")[2] or piece for piece in text.split("'"))
        yield from (with_names(piece.lstrip("!")) for piece in dict.fromkeys(pieces) if piece.strip("! ="))
    elif _NAMES_PROGRAM.fullmatch(name):
        if not (_ORDINARY.fullmatch(text) or text.startswith("$_")):
            run = text.lstrip("|!- ") if name.startswith(("LESS", "GIT_CONFIG")) else text
            yield with_names(run) if any(fnmatchcase(name, each) for each in _NAMES_GIVEN) else run
    elif _RUNNING.search(text) and (name in _PROMPTS or _runs_in_subscript(text)):
        yield _expanding(text)


def _runs_in_subscript(text: str) -> bool:
    """Whether a substitution stands in a subscript that is not closed before it. Linear in the text."""
    for part in text.split("]"):
        opened = _SUBSCRIPT.search(part)
        if opened is not None and ("$(" in part[opened.end() :] or "`" in part[opened.end() :]):
            return True
    return False


STARTED = "a shell runs the file that `BASH_ENV` or `ENV` names before anything else"


def starts_shells(name: str, value: str | None) -> bool:
    """Whether a variable of this value makes shells run a file of its own choice first."""
    if value == "" or name not in {"BASH_ENV", "ENV"}:
        return False
    # Many programs have an `ENV` of theirs, which is a plain word (`ENV=production`).
    return name == "BASH_ENV" or value is None or re.fullmatch(r"[\w-]+", value) is None


def spelled_texts(words: Sequence[Word]) -> Iterator[str]:
    """The same of words like ``env PS4=…``."""
    for word in words[1:]:
        name, equals, _ = word.prefix.partition("=")
        if equals and (name in _PROMPTS or name == "PROMPT_COMMAND" or _NAMES_PROGRAM.fullmatch(name)):
            yield from assigned_texts(name, _shown(word).partition("=")[2])


def shown_value(assignment: Assignment) -> Iterator[str]:
    """What an assignment assigns, as far as it was quoted."""
    for word in (assignment.value, *(assignment.items or ())):
        if word is not None:
            yield _shown(word)


def _shown(word: Word) -> str:
    """A word's text, with a variable in the place of what is not known. What is written to be expanded right here is
    seen elsewhere."""
    if word.value is not None:
        return word.value
    return "".join(piece.text if isinstance(piece, Text) else "$_" for piece in word.pieces)


def _expanding(text: str) -> str:
    """A command that expands this text, and does nothing else."""
    end = "END_OF_TEXT"
    while end in text:
        end += "_"
    return f": <<{end}\n{text}\n{end}\n"


# --- tests -----------------------------------------------------------------------------------------------------------

_ARITHMETIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_UNARY = re.compile(r"-[a-zA-Z]")
_BINARY = _ARITHMETIC | {"=", "==", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"}


def bad_double_test(words: Sequence[Word], facts: Facts) -> str | None:
    """Why ``[[ … ]]`` with these words may run something, or None. Its words never split, so operators are literal."""
    for index, word in enumerate(words):
        if not word.bare or word.value is None:
            continue
        if word.value in _ARITHMETIC:
            for side in (*words[max(0, index - 1) : index], *words[index + 1 : index + 2]):
                if not is_number(side, facts):
                    return f"`{word.value}` evaluates `{side.source}` as arithmetic"
        if word.value in {"-v", "-R"} and index + 1 < len(words):
            named = words[index + 1].value
            if named is None or not named.isidentifier():
                return f"`{word.value}` evaluates the subscript of `{words[index + 1].source}`"
    return None


def bad_test(words: Sequence[Word], facts: Facts) -> str | None:
    """Why ``test`` or ``[`` with these arguments may run something, or None.

    Only ``-v`` evaluates; but an unquoted expansion can become an operator, and so can a quoted one that stands where
    an operator may stand.
    """
    for index, word in enumerate(words):
        if word.value in {"-v", "-R"}:
            operand = words[index + 1] if index + 1 < len(words) else None
            if operand is not None and (operand.value is None or not operand.value.isidentifier()):
                return f"`{word.value}` evaluates the subscript of `{operand.source}`"
        if word.value is not None or is_number(word, facts):
            continue
        if word.form == "split":
            return f"`{word.source}` is not quoted, so it may become an operator"
        if not _is_operand(words, index):
            return f"`{word.source}` may be an operator"
    return None


def _is_operand(words: Sequence[Word], index: int) -> bool:
    """Whether a word that is one argument surely is no operator: a literal operator stands beside it."""
    before = words[index - 1].value if index else None
    after = words[index + 1].value if index + 1 < len(words) else None
    if before is not None and (_UNARY.fullmatch(before) or before in _BINARY) and before not in {"-a", "-o"}:
        return True
    if after is not None and after in _BINARY:
        return True
    return len(words) == 1 or (len(words) == 2 and before == "!")


def is_number(word: Word, facts: Facts) -> bool:
    """Whether a word can only hold a number."""
    if word.value is not None:
        return re.fullmatch(r"-?\d*", word.value) is not None
    if numeric(word):
        return True
    return bool(word.pieces) and all(
        isinstance(piece, Variable)
        and (facts.numeric(piece.held or "") or (piece.plain and piece.name in NUMERIC_PARAMETERS))
        for piece in word.pieces
    )
