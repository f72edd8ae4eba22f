"""Which words of a command run another program, load code, write or change files beside what it is for (RULES.md S9).

An allow rule for a program covers none of these uses unless its literal part names them. The tables say which options
do what; sed and awk have scanners of their own, git its own reading; a few programs that hide code in operands are read
here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .arguments import Arguments, Option, arguments, is_operand
from .awk import scan_awk
from .git import Git, global_escapes, read_git
from .script import Word
from .sed import Doings, scan_sed
from .table_git import TRANSPORTS
from .table_row import EscapeKind, Program, row
from .table_wrappers import INTERPRETERS, WRAPPERS
from .tables import find_program

NAMED_NOWHERE = "\x02"
"""In a use's names: nothing that a rule could say literally."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an escape. Of each of ``names`` one spelling must stand among a rule's literal words for the rule to
    cover the use; ``text`` is the command that is run, ``path`` the file that is written, as far as they are known."""

    kind: EscapeKind
    names: tuple[tuple[str, ...], ...]
    why: str
    text: str | None = None
    path: Word | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the tables make of a command: its row, its sorted words, the uses of escapes in it, and words that could
    turn out to be such."""

    program: Program | None
    arguments: Arguments
    uses: tuple[Use, ...]
    holes: tuple[Word, ...]
    doings: Doings | None = None
    git: Git | None = None


_NOTHING = Arguments()


def look_up(name: str, words: Sequence[Word]) -> Known:
    """Everything that the tables know of a command; ``name`` is the program's (``wrappers.program``)."""
    if name == "git":
        return _git(words)
    if name in INTERPRETERS:
        return _interpreter(name, words)
    row, start = find_program(name, words)
    if row is None:
        return _stranger(name, words)
    found = arguments(words, row.grammar, start)
    if row.closed:
        return Known(row, found, tuple(_closed(row, words)), ())
    uses = list(_options(name, row, words, found.options))
    doings = None
    special = _SPECIAL.get(name)
    if special is not None:
        more, doings = special(words, found)
        uses += more
    watched = bool(row.escapes) or special is not None
    return Known(row, found, tuple(uses), tuple(word for _, word in found.holes) if watched else (), doings)


_STRANGE = row(
    "options of these names run, load or write something, whatever the program",
    runs="--exec --execute --eval --command --shell --shell-command --pre-hook --post-hook --hook --init-hook "
    "--wrapper --pager --editor --browser --askpass --use-askpass --rsh --preprocessor --on-error --on-success "
    "--run-command --to-command",
    code="--plugin --plugins --load-plugins --load-plugin --preload --init-file --init-script --startup-file "
    "--agent-lib",
    writes="--output --output-file --outfile --out-file --output-dir --out-dir --outdir --log-file --report-file "
    "--save",
    long="exec execute eval command shell plugin plugins load-plugins output output-file outfile out-file output-dir "
    "log-file",
    abbreviates=False,
)


def _stranger(name: str, words: Sequence[Word]) -> Known:
    """A program that no table knows: what it does with its words is its own affair, but options say what they do by
    name. Words that could become such options are left alone, as a rule for the program covers any of its words."""
    if name in WRAPPERS:
        return Known(None, _NOTHING, (), ())
    found = arguments(words, _STRANGE.grammar)
    options = [option for option in found.options if not _is_format(option)]
    return Known(None, found, tuple(_options(name, _STRANGE, words, options)), ())


def _is_format(option: Option) -> bool:
    """``--output json`` names a form, not a file."""
    value = option.value.value if option.value is not None else None
    return option.name == "--output" and value is not None and value.lower() in _FORMATS


_FORMATS = frozenset(
    "json yaml text table wide name csv tsv xml plain pretty concise full github grouped html markdown toml jsonl "
    "short long tap junit sarif".split()
)


def _options(name: str, row: Program, words: Sequence[Word], options: Iterable[Option]) -> Iterator[Use]:
    for option in options:
        kind = escape_kind(row, option.name)
        if kind is None and row.grammar.single and option.name.startswith("-"):
            kind = row.escapes.get("-" + option.name.lstrip("-"))
        if kind is not None and not _is_exempt(name, option, kind):
            yield _use(option, kind, words[option.index])


def escape_kind(row: Program, name: str) -> EscapeKind | None:
    """What an option does, abbreviated or not."""
    kind = row.escapes.get(name)
    if kind is not None or name in row.safe or not name.startswith("--") or not row.abbreviates or len(name) < 4:
        return kind
    if name[2:] in row.grammar.long:
        return None
    return next((kind for option, kind in row.escapes.items() if option.startswith(name)), None)


_HARMLESS: dict[tuple[str, str], re.Pattern[str]] = {
    ("pytest", "-p"): re.compile(r"no:.*"),
    ("curl", "-o"): re.compile(r"-|/dev/null"),
    ("curl", "--output"): re.compile(r"-|/dev/null"),
    ("curl", "-D"): re.compile(r"-|/dev/null"),
    ("wget", "-O"): re.compile(r"-|/dev/null"),
    ("eslint", "-f"): re.compile(r"stylish|json|compact|unix|html"),
    ("eslint", "--format"): re.compile(r"stylish|json|compact|unix|html"),
    ("mvn", "-D"): re.compile(
        r"(?:skipTests|skipITs|maven\.test\.skip|test|it\.test|tests|groups|failIfNoTests|revision|maven\.javadoc\.skip|"
        r"checkstyle\.skip|enforcer\.skip|jacoco\.skip|style\.color)(?:=[\w.*#,!-]*)?"
    ),
    ("go", "-ldflags"): re.compile(r"(?:\s*(?:-s|-w|-X\s*[\w./]+=[\w.+-]*))*\s*"),
    ("jest", "--reporters"): re.compile(r"default|summary|github-actions"),
    ("vitest", "--reporter"): re.compile(r"default|verbose|dot|json|tap|basic|github-actions"),
    ("jest", "--env"): re.compile(r"node|jsdom"),
    ("mocha", "-R"): re.compile(r"\w+"),
    ("mocha", "--reporter"): re.compile(r"\w+"),
    ("rspec", "-f"): re.compile(r"[a-z]+"),
    ("rspec", "--format"): re.compile(r"[a-z]+"),
    ("ruff", "--config"): re.compile(r"[\w.-]+=[\w\[\]\", -]*"),
}
"""Values that make an escape of a program harmless."""


def _is_exempt(name: str, option: Option, kind: EscapeKind) -> bool:
    harmless = _HARMLESS.get((name, option.name))
    value = option.value.value if option.value is not None else None
    if kind == "writes" and value == "/dev/null":
        return True
    return harmless is not None and value is not None and harmless.fullmatch(value) is not None


def _use(option: Option, kind: EscapeKind, word: Word) -> Use:
    value = option.value
    known = value.value if value is not None else None
    spelled = word.value if word.value is not None else NAMED_NOWHERE
    if kind in ("runs", "code") and value is not None:
        # What is run must be named as well, not only the option that runs it.
        names = ((spelled,),) if option.attached else ((option.name, spelled), (known or NAMED_NOWHERE,))
    else:
        names = ((option.name, spelled),)
    return Use(
        kind,
        names,
        f"`{option.name}` {_SAYS[kind]}",
        text=known if kind == "runs" else None,
        path=value if kind == "writes" else None,
    )


def _named(kind: EscapeKind, names: Iterable[str], why: str, text: str | None = None, path: Word | None = None) -> Use:
    """A use whose names have one spelling each."""
    return Use(kind, tuple((name,) for name in names), why, text, path)


_SAYS: dict[EscapeKind, str] = {
    "runs": "runs another program",
    "code": "takes code or settings from elsewhere",
    "writes": "writes a file",
    "changes": "changes more than it shows",
}


def _closed(row: Program, words: Sequence[Word]) -> Iterator[Use]:
    """A language of its own: a rule must name every word."""
    rest = [word.value if word.value is not None else NAMED_NOWHERE for word in words[1:]]
    if rest and not (len(rest) == 1 and rest[0] in {"--version", "--help"}):
        yield _named("code", rest, row.why)


# --- git -------------------------------------------------------------------------------------------------------------


def _git(words: Sequence[Word]) -> Known:
    git = read_git(words)
    uses = [_named("runs", (name, *_values(git.before, name)), why) for name, why in global_escapes(git)]
    uses += _aliases(git.before)
    holes = [word for _, word in (*git.before.holes, *git.arguments.holes)]
    if git.subcommand is None and len(words) >= git.start:
        holes.append(words[git.start - 1])
    if git.program.closed:
        if git.subcommand is not None:
            uses.append(_named("code", (git.subcommand,), git.program.why))
        return Known(git.program, git.arguments, tuple(uses), tuple(holes), git=git)
    uses += _options("git", git.program, words, git.arguments.options)
    for _, word in git.arguments.operands:
        if word.prefix.startswith(TRANSPORTS) or re.match(r"[\w.-]*::", word.prefix):
            text = (word.value or "").partition("::")[2]
            uses.append(
                _named("runs", (word.value or NAMED_NOWHERE,), "an address of this kind runs a program", text or None)
            )
    if git.subcommand == "config" and git.arguments.has("--edit", "-e"):
        uses.append(_named("runs", ("--edit",), "it runs an editor"))
    return Known(git.program, git.arguments, tuple(uses), tuple(holes), git=git)


def _values(found: Arguments, name: str) -> tuple[str, ...]:
    return tuple(
        (option.value.value if option.value is not None and option.value.value is not None else NAMED_NOWHERE)
        for option in found.options
        if option.name == name and name in {"-c", "--config-env", "--exec-path"}
    )


def _aliases(found: Arguments) -> Iterator[Use]:
    """The command in ``-c alias.x=!command`` and in settings that name a program."""
    for value in found.values("-c"):
        key, _, text = (value.value or "").partition("=")
        if text:
            yield _named(
                "runs", ("-c", value.value or ""), f"`{key}` may name a program to run", text.removeprefix("!")
            )


# --- interpreters ----------------------------------------------------------------------------------------------------


def _interpreter(name: str, words: Sequence[Word]) -> Known:
    row = INTERPRETERS[name]
    found = arguments(words, row.grammar)
    uses = []
    for option in found.options:
        if option.name in row.code or any(code.startswith(option.name) and len(option.name) > 4 for code in row.code):
            value = option.value.value if option.value is not None else None
            names = (option.name,) if option.value is None else (option.name, value or NAMED_NOWHERE)
            if option.attached:
                names = (words[option.index].value or NAMED_NOWHERE,)
            uses.append(_named("code", names, f"`{option.name}` runs or loads code"))
    first = found.operands[0] if found.operands else None
    if row.module is not None and found.has(row.module):
        return Known(None, found, tuple(uses), ())
    if (
        first is None
        and not uses
        and not (len(words) == 2 and words[1].value in {"--version", "-V", "-v", "--help", "-h"})
    ) or (first is not None and first[1].value == "-"):
        uses.append(_named("code", (NAMED_NOWHERE,), "it reads code from its input"))
    # Behind the script's name the words are the script's own.
    holes = tuple(word for index, word in found.holes if first is None or index <= first[0])
    return Known(None, found, tuple(uses), holes)


# --- programs that hide code in operands -----------------------------------------------------------------------------

Special = tuple[list[Use], Doings | None]


def _script_words(found: Arguments, given: tuple[str, ...]) -> list[Word]:
    """The program text of sed, awk or jq: from options, else the first operand."""
    values = [option.value for option in found.options if option.name in given and option.value is not None]
    if any(option.name in given for option in found.options):
        return values
    return [word for _, word in found.operands[:1]]


def _sed(words: Sequence[Word], found: Arguments) -> Special:
    scripts = _script_words(found, ("-e", "--expression", "--expr", "--exp"))
    if found.has("-f", "--file") and not found.has("-e", "--expression"):
        scripts = []
    return _language(scripts, "\n".join, scan_sed, "sed")


def _awk(words: Sequence[Word], found: Arguments) -> Special:
    if found.has("-f", "--file", "-E", "--exec"):
        return [], None
    uses = [] if not found.has("-e", "--source") else [_named("code", ("-e",), "`-e` adds code")]
    more, doings = _language(_script_words(found, ()), "\n".join, scan_awk, "awk")
    return uses + more, doings


def _language(
    scripts: Sequence[Word], join: Callable[[Iterable[str]], str], scan: Callable[[str], Doings], name: str
) -> Special:
    known = [word.value for word in scripts]
    if any(value is None for value in known):
        return [_named("code", (NAMED_NOWHERE,), f"its {name} program is not known before it runs")], None
    text = join(value for value in known if value is not None)
    doings = scan(text)
    names = tuple(value for value in known if value is not None)
    if doings.unreadable is not None:
        return [_named("code", names, doings.unreadable)], doings
    uses = [_named("runs", names, f"its {name} program runs a command", command) for command in doings.runs]
    for path in doings.writes:
        target = None if path is None else Word(path, (), "constant", path, path, path)
        if path not in {"/dev/stdout", "/dev/stderr"}:
            uses.append(_named("writes", names, f"its {name} program writes a file", path=target))
    return uses, doings


_MAKE_VALUE = re.compile(r"(?:\d+|yes|no|y|n|true|false|on|off|debug|release|all|verbose|quiet)?", re.IGNORECASE)
_MAKE_PROGRAMS = re.compile(
    r"(?:.*SHELL.*|MAKE.*|MFLAGS|GNUMAKEFLAGS|\.RECIPEPREFIX|VPATH|CC|CXX|CPP|LD|AR|AS|FC|RM|PAGER)"
)


def _make(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for _, word in found.operands:
        name, equals, value = word.prefix.partition("=")
        name = name.rstrip(":+?!")
        harmless = word.value is not None and _MAKE_VALUE.fullmatch(value) and not _MAKE_PROGRAMS.fullmatch(name)
        if equals and not harmless:
            uses.append(_named("code", (word.value or NAMED_NOWHERE,), f"`{name}=` changes what its recipes run"))
    return uses, None


def _mvn(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for _, word in found.operands:
        if ":" in word.prefix or word.value is None:
            uses.append(_named("code", (word.value or NAMED_NOWHERE,), "a plug-in's goal can run programs"))
    return uses, None


def _cmake(words: Sequence[Word], found: Arguments) -> Special:
    """Behind ``--`` stand words for make or ninja."""
    uses = []
    values = [word.value for word in words]
    if "--" in values:
        for word in words[values.index("--") + 1 :]:
            if word.value is None or not re.fullmatch(r"-?[jkv]?\d*|-k|-s|VERBOSE=\d", word.value):
                uses.append(_named("code", (word.value or NAMED_NOWHERE,), "it is handed to the build tool"))
    return uses, None


def _tar(words: Sequence[Word], found: Arguments) -> Special:
    """``tar cf a.tar`` without a dash; unpacking into the workspace; archives on other machines."""
    uses = []
    letters = ""
    if len(words) > 1 and words[1].value is not None and not words[1].value.startswith("-"):
        letters = words[1].value
        for letter in letters:
            if letter in {"I", "F", "T", "g", "P"}:
                uses.append(
                    _named(
                        "runs" if letter in "IF" else "code", (letters,), f"`{letter}` runs a program or reads a list"
                    )
                )
    for word in (*found.values("-f", "--file"), *(word for _, word in found.operands[:2] if "f" in letters)):
        if re.match(r"[^/]+:", word.prefix):
            uses.append(
                _named("runs", (word.value or NAMED_NOWHERE,), "an archive on another machine is reached by a program")
            )
    return uses, None


def _plus(words: Sequence[Word], found: Arguments) -> Special:
    """``less +!cmd``, ``vim +cmd``."""
    uses = []
    for _, word in found.operands:
        if word.prefix.startswith("+") and not re.fullmatch(r"\+[\dGgFp%]*", word.value or "+x"):
            uses.append(
                _named(
                    "runs", (word.value or NAMED_NOWHERE,), "`+` gives it a command", (word.value or "").lstrip("+!")
                )
            )
    return uses, None


_VIM_SAFE = re.compile(r"--version|--help|-[Rbdon]|\+\d*|--clean|--noplugin|-N")


def _vim(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for index, word in enumerate(words[1:], 1):
        text = word.prefix
        if (text.startswith(("-", "+")) and not _VIM_SAFE.fullmatch(word.value or "?")) or (
            word.value is None and not is_operand(word)
        ):
            following = words[index + 1].value if index + 1 < len(words) else None
            command = following if text in {"-c", "--cmd"} else text[1:]
            taken = text in {"-c", "--cmd", "-S"} and following is not None
            names = (word.value or NAMED_NOWHERE, *((following,) if taken and following is not None else ()))
            uses.append(_named("runs", names, "it gives the editor a command", (command or "").lstrip("!:")))
    return uses, None


def _date(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for _, word in found.operands:
        if not word.prefix.startswith("+"):
            uses.append(_named("changes", (word.value or NAMED_NOWHERE,), "an operand without `+` sets the clock"))
    return uses, None


def _curl(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for value in found.values("-w", "--write-out"):
        if value.value is None or "%output{" in value.value:
            uses.append(_named("writes", (value.value or NAMED_NOWHERE,), "its format writes a file"))
    return uses, None


def _hash(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        _named("runs", (word.value or NAMED_NOWHERE,), "it changes which program a name means") for word in words[1:]
    ]
    return uses, None


def _exporting(words: Sequence[Word], found: Arguments) -> Special:
    """``export``, ``declare`` and their like: each word must be named."""
    uses = [
        _named("changes", (word.value or NAMED_NOWHERE,), "it changes the environment of what runs after it")
        for word in words[1:]
    ]
    return uses, None


def _sbt(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        _named("runs", (word.value or NAMED_NOWHERE,), "`!` and `eval` run programs", (word.value or "").lstrip("!"))
        for _, word in found.operands
        if word.value is None or word.value.startswith(("!", "eval ", ";", "<"))
    ]
    return uses, None


_COMPILER_CODE = re.compile(r"-wrapper|-fplugin|-specs|-Xclang|-load|-Wl,-+plugin|@|-plugin|-fpass-plugin|--config|-T")


def _compiler(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        _named("code", (word.value or NAMED_NOWHERE,), f"`{word.prefix}` loads code or settings")
        for word in words[1:]
        if _COMPILER_CODE.match(word.prefix)
    ]
    uses += [
        _named("writes", (word.value or NAMED_NOWHERE,), "it writes a file beside its output")
        for word in words[1:]
        if word.prefix.startswith(("-MF", "-dumpdir", "-save-temps", "-MJ"))
    ]
    return uses, None


def _zip(words: Sequence[Word], found: Arguments) -> Special:
    uses = [_named("runs", (word.value or "",), "`-TT` runs a command") for word in words if word.value == "-TT"]
    return uses, None


def _second(words: Sequence[Word], found: Arguments) -> Special:
    """``uniq in out``: no writer by trade. Where the options are not known, any operand may be the second."""
    written = found.operands if found.strangers else found.operands[1:2]
    uses = [
        _named("writes", (word.value or NAMED_NOWHERE,), "its second operand is written", path=word)
        for _, word in written
        if word.value not in {"-", "/dev/stdout", "/dev/null"}
    ]
    return uses, None


FILTER_LOADS = re.compile(r"(?<![.\w$])(?:(?:import|include)(?=[\s\"#])|load(?:_\w+)?\s*\(|input_filename)")
"""Where a filter of jq or yq reads files by itself."""


def _filter(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        _named("code", (word.value or NAMED_NOWHERE,), "its filter loads other files")
        for word in words[1:]
        if FILTER_LOADS.search(word.value or "")
    ]
    return uses, None


_SPECIAL = {
    "jq": _filter,
    "yq": _filter,
    "uniq": _second,
    "xxd": _second,
    "zip": _zip,
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "c89", "c99", "clang", "clang++", "tcc", "ld", "as"), _compiler),
    "sbt": _sbt,
    "sed": _sed,
    "awk": _awk,
    "make": _make,
    "mvn": _mvn,
    "mvnw": _mvn,
    "cmake": _cmake,
    "tar": _tar,
    "less": _plus,
    "more": _plus,
    "most": _plus,
    "man": _plus,
    "vim": _vim,
    "date": _date,
    "curl": _curl,
    "hash": _hash,
    "alias": _hash,
    "enable": _hash,
    "complete": _hash,
    "bind": _hash,
    "mapfile": _hash,
    "readarray": _hash,
    "shopt": _hash,
    "set": _hash,
    "let": _hash,
    "unset": _hash,
    "export": _exporting,
    "declare": _exporting,
    "typeset": _exporting,
    "readonly": _exporting,
}
