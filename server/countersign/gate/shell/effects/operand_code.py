"""Programs that hide code in operands, or in the values of ordinary options.

``escapes.py`` asks here beside its tables. A function gives the uses that it finds and, for sed and awk, what their
script does. More than 500 lines, because there are many such programs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from countersign.gate.shell.effects import compiler_options
from countersign.gate.shell.effects.escape_use import NAMED_NOWHERE, EscapeUse, named
from countersign.gate.shell.languages.awk import scan_awk
from countersign.gate.shell.languages.curl_globs import local_files, local_path, may_be_local
from countersign.gate.shell.languages.sed import Doings, scan_sed
from countersign.gate.shell.programs.argv import Arguments, is_operand, may_be_several
from countersign.gate.shell.programs.tables import INTERPRETERS, SHELLS, TABLES, WRAPPERS, field_of, names_with
from countersign.gate.shell.syntax.tree import Text, Word
from countersign.gate.shell.syntax.words import constant

Special = tuple[list[EscapeUse], Doings | None]


def _script_words(found: Arguments, given: tuple[str, ...]) -> list[Word]:
    """The program text of sed, awk or jq: from options, else the first operand."""
    values = [option.value for option in found.options if option.name in given and option.value is not None]
    if any(option.name in given for option in found.options):
        return values
    return [word for _, word in found.operands[:1]]


def _sed(words: Sequence[Word], found: Arguments) -> Special:
    scripts = _script_words(found, ("-e", "--expression", "--expr", "--exp"))
    if found.keeps("-f", "--file") and not found.has("-e", "--expression"):
        scripts = []
    return _language(scripts, "\n".join, scan_sed, "sed")


def _awk(words: Sequence[Word], found: Arguments) -> Special:
    if found.keeps("-f", "--file", "-E", "--exec"):
        return [], None
    uses = [] if not found.may_have("-e", "--source") else [named("code", ("-e",), "`-e` adds code")]
    scripts = _script_words(found, ())
    for option in found.options:
        if option.value is None or option.attached or words[option.index].value in {"-v", "-F"}:
            continue
        # The original awk knows no long options and no letters behind others: it leaves such a word out and takes the
        # next one for its program.
        uses.append(named("code", (option.name,), "to some awks the word behind this option is the program"))
        scripts.append(option.value)
    more, doings = _language(scripts, "\n".join, scan_awk, "awk")
    return uses + more, doings


def _language(
    scripts: Sequence[Word], join: Callable[[Iterable[str]], str], scan: Callable[[str], Doings], name: str
) -> Special:
    known = [word.value for word in scripts]
    if any(value is None for value in known):
        why = f"its {name} program is only known at run time"
        # Where a part of it is known, it is judged with something in the place of the rest (`filled_words.py`).
        anything = any(not any(isinstance(each, Text) and each.text for each in word.pieces) for word in scripts)
        return [named("code", (NAMED_NOWHERE,), why)], Doings(unreadable=why) if anything else None
    text = join(value for value in known if value is not None)
    doings = scan(text)
    names = tuple(value for value in known if value is not None)
    if doings.unreadable is not None:
        return [named("code", names, doings.unreadable)], doings
    uses = [named("runs", names, f"its {name} program runs a command", command) for command in doings.runs]
    for path in doings.writes:
        target = None if path is None else Word(path, (), "constant", path, path, path)
        if path not in {"/dev/stdout", "/dev/stderr"}:
            uses.append(named("writes", names, f"its {name} program writes a file", path=target))
    return uses, doings


_MAKE_VALUE = re.compile(r"(?:\d+|yes|no|y|n|true|false|on|off|debug|release|all|verbose|quiet)", re.IGNORECASE)
_MAKE_EMPTY = re.compile(r"Q|V|VERBOSE|DEBUG|\w*(?:FLAGS|ARGS|OPTS)")
"""Variables that may be empty: of another one, ``rm -rf $(OUT)/*`` in a recipe may leave the root."""
_MAKE_PROGRAMS = re.compile(
    r"(?:.*SHELL.*|MAKE.*|MFLAGS|GNUMAKEFLAGS|\.RECIPEPREFIX|VPATH|CC|CXX|CPP|LD|AR|AS|FC|RM|PAGER)"
)


def _make(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for _, word in found.operands:
        name, equals, value = word.prefix.partition("=")
        bare = name.rstrip(":+?!")
        names_program = "!" in name[len(bare) :] or _MAKE_PROGRAMS.fullmatch(bare.strip())
        plain = _MAKE_VALUE.fullmatch(value) if value else _MAKE_EMPTY.fullmatch(bare)
        harmless = word.value is not None and plain and not names_program
        if equals and not harmless:
            runs = value if word.value is not None and names_program else None
            why = f"`{bare}=` changes what its recipes run"
            uses.append(named("code", (word.value or NAMED_NOWHERE,), why, runs))
    return uses, None


_NAME_MODULES = frozenset({"-pl", "--projects", "-rf", "--resume-from"})
"""Options whose value may be ``group:artifact``."""

_GOAL_BEHIND_LETTER = re.compile(r"-[^-=DP][^=]*:")
"""Older releases of Maven take what stands behind an option of one letter for the next word."""


def _mvn(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for index, word in found.operands:
        if words[index - 1].value in _NAME_MODULES and word.value is not None:
            continue
        if ":" in word.prefix or word.value is None:
            uses.append(named("code", (word.value or NAMED_NOWHERE,), "a plug-in's goal can run programs"))
    for word in words:
        if _GOAL_BEHIND_LETTER.match(word.prefix):
            uses.append(named("code", (word.value or NAMED_NOWHERE,), "a plug-in's goal can run programs"))
        if word.prefix.startswith(("-gs", "-gt")):
            uses.append(named("code", (word.value or NAMED_NOWHERE,), f"`{word.prefix}` takes settings from elsewhere"))
    return uses, None


def _cmake(words: Sequence[Word], found: Arguments) -> Special:
    """Behind ``--`` stand words for make or ninja."""
    uses = []
    values = [word.value for word in words]
    if "--" in values:
        for word in words[values.index("--") + 1 :]:
            if word.value is None or not re.fullmatch(r"-?[jkv]?\d*|-k|-s|VERBOSE=\d", word.value):
                uses.append(named("code", (word.value or NAMED_NOWHERE,), "it is handed to the build tool"))
    return uses, None


def _tar(words: Sequence[Word], found: Arguments) -> Special:
    """``tar cf a.tar`` without a dash; unpacking into the workspace; archives on other machines."""
    uses = []
    letters = ""
    if len(words) > 1 and words[1].value is not None and not words[1].value.startswith("-"):
        letters = words[1].value
        taken = iter([word.value for word in words[2:]])
        row = TABLES.get(((words[0].value or "").rpartition("/")[2],))
        for letter in letters:
            value = next(taken, None) if row is not None and letter in row.grammar.short else None
            if letter in {"I", "F", "T", "g", "P"}:
                kind = "runs" if letter in "IF" else "code"
                why = f"`{letter}` runs a program or reads a list"
                uses.append(named(kind, (letters,), why, value if kind == "runs" else None))
    for word in (*found.valued("-f", "--file"), *(word for _, word in found.operands[:2] if "f" in letters)):
        if re.match(r"[^/]+:", word.prefix):
            uses.append(
                named("runs", (word.value or NAMED_NOWHERE,), "an archive on another machine is reached by a program")
            )
    return uses, None


def _plus(words: Sequence[Word], found: Arguments) -> Special:
    """``less +!cmd``, ``vim +cmd``."""
    uses = []
    for _, word in found.operands:
        if word.prefix.startswith("+") and not re.fullmatch(r"\+[\dGgFp%]*", word.value or "+x"):
            uses.append(
                named("runs", (word.value or NAMED_NOWHERE,), "`+` gives it a command", (word.value or "").lstrip("+!"))
            )
    return uses, None


_VIM_TAKES = re.compile(r"-[a-zA-Z]*[cS]|--cmd")
"""Options that take a command or a file of commands, also behind other letters."""
_VIM_SAFE = re.compile(r"--version|--help|-[Rbdon]|\+\d*|--clean|--noplugin|-N")


def _vim(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for index, word in enumerate(words[1:], 1):
        text = word.prefix
        if (text.startswith(("-", "+")) and not _VIM_SAFE.fullmatch(word.value or "?")) or (
            word.value is None and not is_operand(word)
        ):
            following = words[index + 1].value if index + 1 < len(words) else None
            taken = _VIM_TAKES.fullmatch(text) is not None and following is not None
            command = following if taken and not text.endswith("S") else text[1:]
            names = (word.value or NAMED_NOWHERE, *((following,) if taken and following is not None else ()))
            uses.append(named("runs", names, "it gives the editor a command", (command or "").lstrip("!:")))
    return uses, None


def _date(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for _, word in found.operands:
        if not word.prefix.startswith("+"):
            uses.append(named("changes", (word.value or NAMED_NOWHERE,), "an operand without `+` sets the clock"))
    return uses, None


def _curl(words: Sequence[Word], found: Arguments) -> Special:
    uses = []
    for value in found.valued("-w", "--write-out"):
        if value.value is None or "%output{" in value.value:
            uses.append(named("writes", (value.value or NAMED_NOWHERE,), "its format writes a file"))
    if found.may_have("-T", "--upload-file"):
        # What is sent to a file of this machine is written there.
        for address in (*[word for _, word in found.operands], *found.valued("--url")):
            if may_be_local(address.value, address.prefix):
                files = tuple(local_files(local_path(address.value or "")))
                path = constant(files[0]) if len(files) == 1 and files[0] and files[0][-1] != "/" else None
                uses.append(
                    named("writes", (address.value or NAMED_NOWHERE,), "it names a file that it writes", path=path)
                )
    return uses, None


def _hash(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        named("runs", (word.value or NAMED_NOWHERE,), "it changes which program a name means") for word in words[1:]
    ]
    return uses, None


def _exporting(words: Sequence[Word], found: Arguments) -> Special:
    """``export``, ``declare`` and their like: each word must be named."""
    uses = [
        named("changes", (word.value or NAMED_NOWHERE,), "it changes the environment of what runs after it")
        for word in words[1:]
    ]
    return uses, None


_SBT_RUNS = re.compile(
    r"(?:^|[;~+\s/-])(?:!|eval\b|set\b|console\w*|shell\b|alias\b|onFailure\b|apply\b|<)|^;|^session "
)


def _sbt(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        named(
            "runs", (word.value or NAMED_NOWHERE,), "`!` and `eval` run programs", (word.value or "").rpartition("!")[2]
        )
        for _, word in found.operands
        if word.value is None or _SBT_RUNS.search(word.value)
    ]
    return uses, None


def _zip(words: Sequence[Word], found: Arguments) -> Special:
    """``-TT COMMAND``, also attached and behind other letters (``-qTT``)."""
    uses = []
    for index, word in enumerate(words):
        said = _TESTS_WITH.fullmatch(word.value or "")
        if said is not None:
            command = said[1] or (words[index + 1].value if index + 1 < len(words) else None)
            uses.append(named("runs", (word.value or "", command or NAMED_NOWHERE), "`-TT` runs a command", command))
    return uses, None


_TESTS_WITH = re.compile(r"-(?!-)\w*?TT=?(.*)", re.DOTALL)


def _argument_file(words: Sequence[Word], found: Arguments) -> Special:
    """``@file`` stands for the options in a file."""
    uses = [
        named("code", (word.value or NAMED_NOWHERE,), "it takes its options from a file")
        for word in words[1:]
        if word.prefix.startswith("@")
    ]
    return uses, None


def _tsc(words: Sequence[Word], found: Arguments) -> Special:
    """``--noEmit false`` writes after all, and so may ``--build`` behind other options, which it does not obey."""
    uses, doings = _argument_file(words, found)
    for word in words[2:]:
        if word.value is not None and word.value.lower() in {"-b", "--b", "-build", "--build"}:
            uses.append(named("changes", (word.value,), f"`{word.value}` changes more than it shows"))
    for index, word in enumerate(words[:-1]):
        if word.value is not None and word.value.lower() == "--noemit" and words[index + 1].value == "false":
            uses.append(named("writes", (NAMED_NOWHERE,), "`--noEmit false` writes what it makes"))
    return uses, doings


def _pytest(words: Sequence[Word], found: Arguments) -> Special:
    """``--cov-report=html:folder`` writes there, ``annotate`` beside each module."""
    uses, doings = _argument_file(words, found)
    for value in found.values("--cov-report"):
        form, colon, path = value.prefix.partition(":")
        if colon or value.value is None or form == "annotate":
            target = Word(path, (), "constant", path, path, path) if colon and value.value is not None else None
            uses.append(
                named(
                    "writes", (value.value or NAMED_NOWHERE,), f"a report of the form `{form}` is written", path=target
                )
            )
    return uses, doings


def _second(words: Sequence[Word], found: Arguments) -> Special:
    """``uniq in out``: no writer by trade. Where the options are not known, any operand may be the second."""
    first = found.operands[:1]
    several = any(may_be_several(word) for _, word in first)
    written = found.operands if found.unrecognized_options else found.operands[0 if several else 1 : 2]
    uses = [
        named("writes", (word.value or NAMED_NOWHERE,), "its second operand is written", path=word)
        for _, word in written
        if word.value not in {"-", "/dev/stdout", "/dev/null"}
    ]
    return uses, None


def _glimpse(words: Sequence[Word], why: str) -> Special:
    """What a program may run of its words, where it could as well be a script of the project's. A rule for the program
    covers it only by its literal words. Only what we know for a program counts; of others, deny and ask rules
    (``package_program``)."""
    shown = [word.value for word in words]
    if not shown or shown[0] is None or shown[0] not in RUNNING_NAMES:
        return [], None
    text = " ".join("'" + value.replace("'", "'\\''") + "'" if value is not None else '"$_"' for value in shown)
    return [EscapeUse("runs", ((shown[0],),), why, text, words=tuple(words))], None


_RUNNING = frozenset({*WRAPPERS, *SHELLS, *INTERPRETERS}) | names_with("runs_by_name")

RUNNING_NAMES = _RUNNING | {key[0] for key in TABLES}
"""Programs of which we know what they run of their words, or that they run some."""

OWN_COMMANDS = {key[0]: frozenset(names.split()) for key, names in field_of("package_programs", "commands").items()}
_STAND_BEFORE = {key[0]: frozenset(names.split()) for key, names in field_of("package_programs", "behind").items()}
"""Of programs that run those of packages by name: their own commands, and words that such a name may follow."""


def package_program(name: str, words: Sequence[Word], found: Arguments) -> Sequence[Word]:
    """The words from the name on that may be a package's program (``pnpm git push``, ``yarn run rimraf x``), or a
    script of the project's; none if it surely is neither."""
    operands, behind = found.operands, _STAND_BEFORE.get(name, frozenset())
    if name not in OWN_COMMANDS:
        return ()
    skipped = list(itertools.takewhile(lambda each: each[1].value in behind, operands))
    rest = operands[len(skipped) :]
    # What stands behind `run` is no command of its own.
    own = frozenset[str]() if skipped and skipped[-1][1].value == "run" else OWN_COMMANDS[name]
    return words[rest[0][0] :] if rest and rest[0][1].value not in own else ()


def _package_program(words: Sequence[Word], found: Arguments) -> Special:
    name = (words[0].value or "").rpartition("/")[2]
    return _glimpse(package_program(name, words, found), "an operand that is not a script is run as a program")


def _hatch(words: Sequence[Word], found: Arguments) -> Special:
    """``hatch run dev:pytest``: an environment may stand in front of the program."""
    for index, word in found.operands:
        _, colon, program = (word.value or "").rpartition(":")
        if colon and program:
            return _glimpse((constant(program), *words[index + 1 :]), "it runs the program in an environment")
        if word.value not in {"run", "env"} and not (word.value or "").startswith("+"):
            break
    for index, word in enumerate(words[:-1]):
        if (word.value or "").startswith("+") and index > 1:
            return _glimpse(words[index + 1 :], "it runs the program in environments")
    return [], None


def _kubectl(words: Sequence[Word], found: Arguments) -> Special:
    """``minikube kubectl -- exec …`` is kubectl."""
    for index, word in enumerate(words[:6]):
        if index and word.value == "kubectl":
            rest = words[index + 1 :]
            inner = rest[1:] if rest and rest[0].value == "--" else rest
            return _glimpse((word, *inner), "it runs kubectl")
    return [], None


_MANAGER_COMMANDS = frozenset({"start", "restart", "reload", "exec"})


def _process_manager(words: Sequence[Word], found: Arguments) -> Special:
    """``pm2 start "curl x"``: what is no script is searched for on PATH, or read by a shell."""
    for index, word in enumerate(words):
        following = words[index + 1 : index + 2]
        if word.value in {"-x", "--exec", "--interpreter"} and following:
            text = following[0].value
            names = (word.value, text or NAMED_NOWHERE)
            return [named("runs", names, f"`{word.value}` runs a program", text)], None
    for index, word in enumerate(words):
        if index and word.value in _MANAGER_COMMANDS:
            operands = [other for at, other in found.operands if at > index and other.value not in _MANAGER_COMMANDS]
            text = " ".join(other.value for other in operands if other.value is not None)
            return [EscapeUse("runs", (), "it runs a program in the background", text)] if text else [], None
    return [], None


def _prompt_alone(words: Sequence[Word], found: Arguments) -> Special:
    """Without operands it is a prompt, which reads code from its input."""
    told = len(words) == 2 and words[1].value in {"--version", "-version", "-V", "--help", "-h"}
    if found.operands or found.holes or told:
        return [], None
    return [named("code", (NAMED_NOWHERE,), "it reads code from its input")], None


def _run_file(words: Sequence[Word], found: Arguments) -> Special:
    """``mix run x.exs``: only a rule that says ``run`` means a file of code."""
    operands = [word for _, word in found.operands[:2]]
    if len(operands) < 2 or operands[0].value != "run":
        return [], None
    return [named("code", ("run",), "code and files named in its arguments are run")], None


def _deno(words: Sequence[Word], found: Arguments) -> Special:
    """``deno task --eval TEXT`` hands it to a shell of its own; without operands it is a prompt."""
    if len(words) == 1 or (words[1].value or "").startswith("-"):
        return _prompt_alone(words, found)
    values = [word.value for word in words]
    if "task" in values[1:4] and "--eval" in values:
        rest = [value or NAMED_NOWHERE for value in values[values.index("--eval") + 1 :] if value != "--"]
        return [named("runs", ("--eval", *rest), "`--eval` runs a text", rest[0] if rest else None)], None
    return [], None


_LOADS = re.compile(
    r"(?<![\w$])(?<!(?<!\.)\.)(?:(?:import|include)(?=[\s\"#@\\])|(?:modulemeta|input_filename)(?!\w)|(\w+)\s*\()"
)
"""A word of jq's with which it loads a module, in front of its name (`import"a"`, `include@text"a"`), or one that is
called. One dot in front of a word makes it a field."""


def filter_loads(text: str) -> bool:
    """Whether a filter of jq or yq may read files by itself. Its strings count, since code may stand in them."""
    return any(not found[1] or "load" in found[1] or found[1] == "eval" for found in _LOADS.finditer(text))


def unknown_filter(found: Arguments) -> Word | None:
    """The filter of jq or yq, if it is not known: the first operand, or the one behind the subcommand that takes it."""
    operands = [word for _, word in found.operands[:2]]
    first = operands[1:] if operands and operands[0].value in _TAKES_A_FILTER else operands
    return first[0] if first and first[0].value is None else None


_TAKES_A_FILTER = frozenset({"eval", "e", "eval-all", "ea"})


def _filter(words: Sequence[Word], found: Arguments) -> Special:
    uses = [
        named("code", (word.value,), "its filter loads other files")
        for word in words[1:]
        if word.value is not None and filter_loads(word.value)
    ]
    unknown = unknown_filter(found)
    if unknown is not None:
        uses.append(named("code", (NAMED_NOWHERE,), f"its filter is only known at run time: `{unknown.source}`"))
    return uses, None


_READERS: Mapping[str, Callable[[Sequence[Word], Arguments], Special]] = {
    "package-program": _package_program,
    "in-environment": _hatch,
    "task-eval": _deno,
    "run-file": _run_file,
    "prompt-alone": _prompt_alone,
    "background": _process_manager,
    "inner-cluster": _kubectl,
    "filter-loads": _filter,
    "second-operand": _second,
    "test-command": _zip,
    "emitting": _tsc,
    "report-form": _pytest,
    "argument-file": _argument_file,
    "compiler": compiler_options.compiler_uses,
    "build-commands": _sbt,
    "stream-editing": _sed,
    "pattern-actions": _awk,
    "recipe-variables": _make,
    "goals": _mvn,
    "build-tool-words": _cmake,
    "key-letters": _tar,
    "plus-commands": _plus,
    "editor-commands": _vim,
    "clock": _date,
    "output-format": _curl,
    "name-meanings": _hash,
    "environment": _exporting,
}
"""By the name under which records name them."""

READER_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "compiler": compiler_options.BEGINNINGS,
    "recipe-variables": re.compile(r"[^-=][^=]*="),
    "plus-commands": re.compile(r"\+"),
    "test-command": _TESTS_WITH,
    "goals": re.compile("-g[st]"),
    "emitting": re.compile(r"(?i)false|--noemit"),
}
"""By the same name: how words begin of which a reader makes more, for those whose end is not known."""

SPECIAL: Mapping[str, Callable[[Sequence[Word], Arguments], Special]] = {
    key[0]: _READERS[reader] for key, reader in field_of("readers", "code").items()
}
"""By program: records name the function (facet ``readers``, field ``code``)."""
