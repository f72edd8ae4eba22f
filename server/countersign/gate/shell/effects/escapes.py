"""Which words of a command run another program, load code, write or change files beside what it is for.

These are the option escapes of docs/gate.md S9.
An allow rule for a program covers none of these uses unless its literal part names them. The tables say which options
do what; git has a reading of its own, and programs that hide code in operands are read in ``operand_code.py``.
More than 500 lines, because it holds the readings of all kinds of programs, which build on the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise

from countersign.gate.shell.effects.escape_use import (
    COPYING,
    NAMED_NOWHERE,
    OPTIONS_END,
    EscapeUse,
    ProgramReading,
    named,
)
from countersign.gate.shell.effects.handed_words import handed_words
from countersign.gate.shell.effects.open_words import LONG_OPTION, TAKE_ANY_WORD, open_values, open_words
from countersign.gate.shell.effects.operand_code import SPECIAL
from countersign.gate.shell.effects.options_by_name import STRANGE, by_name_alone, is_format
from countersign.gate.shell.effects.queries import more_than_queries
from countersign.gate.shell.effects.script_commands import code_for_prompt, code_for_script, has_record
from countersign.gate.shell.effects.unlisted_options import unlisted_uses
from countersign.gate.shell.languages.git import (
    READ_HERE,
    begins,
    global_escapes,
    handed_on,
    names_other_file,
    read_git,
    replaces_objects,
)
from countersign.gate.shell.languages.git_options import ADDRESSED, RUNNING, TRANSPORTS, WALKING
from countersign.gate.shell.programs.argv import Arguments, Option, arguments, is_listed, one_spelling
from countersign.gate.shell.programs.registry import find_program
from countersign.gate.shell.programs.row import EscapeKind, Program
from countersign.gate.shell.programs.subcommand_depth import HOLD_THEIR_VALUE, VALUED
from countersign.gate.shell.programs.tables import FACETS, INTERPRETERS, WRAPPERS, names_with
from countersign.gate.shell.programs.word_patterns import SAID_BY, SPELLED, SPELLED_PROGRAMS, keys_of
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant, with_names

_NOTHING = Arguments()


def look_up(name: str, words: Sequence[Word]) -> ProgramReading:
    """Everything that the tables know of a command; ``name`` is the program's (``unwrap.program``)."""
    if name in READ_HERE:
        return _git(name, words)
    if name in INTERPRETERS:
        return _interpreter(name, words)
    row, start = find_program(name, words)
    if row is None:
        return _stranger(name, words)
    found = arguments(words, row.grammar, start)
    if row.closed:
        written = _options(name, row, words, found.options) if row.escapes and found.options else ()
        return ProgramReading(row, found, (*more_than_queries(name, row, words), *written), ())
    options = (*found.options, *_behind_letters(name, row, words, found.options))
    uses = list(_options(name, row, words, options)) if options else []
    doings = None
    special = SPECIAL.get(name)
    in_order = _in_order(words, row, found, start) if name in OPTIONS_END and found.options else None
    if special is not None:
        more, doings = special(words, found)
        uses += more
        if in_order is not None:
            uses += special(words, in_order)[0]
    uses += unlisted_uses(row, words, found)
    if row.one_dash:
        uses += _one_dash(name, row, words)
    if name in SPELLED_PROGRAMS:
        uses += _spelled(name, words)
    holes = tuple([word for _, word in found.holes]) if special is not None else _could_become(row, found)
    unsettled = (*open_words(name, words, found, row, by_name=row.one_dash), *open_values(name, found, row))
    for handed in handed_words(name, words):
        inner = look_up(handed[0].value or "", handed)
        uses += inner.uses
        holes += inner.holes
        unsettled += inner.open_words
    doubtful = [words[option.index] for option in _in_doubt(name, row, words, found.options)]
    unsettled += tuple([word for word in doubtful if word.value is None])
    return ProgramReading(row, found, tuple(uses), holes, doings, in_order=in_order, open_words=unsettled)


def _in_order(words: Sequence[Word], row: Program, found: Arguments, start: int) -> Arguments | None:
    """The words as macOS's own program of that name reads them, whose options end at the first operand: what stands
    behind it names files there (``head a.txt -n .env``)."""
    if not found.operands or found.options[-1].index < found.operands[0][0]:
        return None
    return arguments(words, replace(row.grammar, ordered=True), start)


def _could_become(row: Program, found: Arguments) -> tuple[Word, ...]:
    """Words that could turn into options that matter. What turns into `-t` says where a copy goes."""
    watched = bool(row.escapes) or row.operands in COPYING
    return tuple([word for _, word in found.holes]) if watched else ()


def _one_dash(name: str, row: Program, words: Sequence[Word]) -> Iterator[EscapeUse]:
    """Long options that are written with one dash, letters with two, and either with more."""
    ended = False
    for index, word in enumerate(words):
        text = word.prefix
        ended = ended or text == "--"
        spelled = _ANY_DASHES.match(text)
        if spelled is not None and not (ended and text[1] == "-"):
            dashes = "-" if len(spelled[1]) == 1 else "--"
            option = Option(dashes + spelled[1], index, attached=True)
            kind = escape_kind(row, option.name)
            if kind is not None and not _is_exempt(name, option, kind):
                yield _use(option, kind, word)


_ANY_DASHES = re.compile(r"(?:-(?=[^-=:]{2})|--(?=[^-=:](?:[=:]|\Z))|-{3,})([^-=:][^=:]*)")


def _spelled(name: str, words: Sequence[Word]) -> list[EscapeUse]:
    """Words that do more by how they are spelled."""
    keys = keys_of(name, words, SPELLED)
    patterns = [SPELLED[key] for key in keys]
    return [
        EscapeUse("code", ((word.value or NAMED_NOWHERE, *SAID_BY[key]),), f"`{word.prefix}`: {why}")
        for key in keys
        for pattern, why in (SPELLED[key],)
        for word in words[1:]
        if len(word.prefix) > _LONGEST_SPELLED or any(map(pattern.match, _without_detours(word.prefix)))
    ] + [
        named("code", (option.value or NAMED_NOWHERE,), f"`{option.prefix} {value.prefix}`: {why}")
        for option, value in (pairwise(words[1:]) if patterns else ())
        if LONG_OPTION.fullmatch(option.prefix)
        for pattern, why in patterns
        if any(map(pattern.match, _without_detours(f"{option.prefix}={value.prefix[:_LONGEST_SPELLED]}")))
        and not pattern.match(option.prefix)
    ]


def _without_detours(text: str) -> tuple[str, ...]:
    """The text, and with each path in it that takes a detour (``./../x``, ``src/../../x``) as it is without."""
    if "/.." not in text:
        return (text,)
    short, before = text, ""
    while short != before:
        before, short = short, _DETOUR.sub("", short)
    return text, short


_DETOUR = re.compile(r"(?:\A|(?<=[^\w./-])|(?<=/))(?:\./+|(?!\.\.?/)[\w.-]+/+\.\./+)(?=\.\./|[^/]|\Z)")


_LONGEST_SPELLED = 5_000
"""Characters of a word that is searched for what it does; a longer one may do anything."""


def _stranger(name: str, words: Sequence[Word]) -> ProgramReading:
    """A program that no table knows: what it does with its words is its own affair, but options say what they do by
    name. Words that could become such options are left alone, as a rule for the program covers any of its words."""
    if name in WRAPPERS:
        return ProgramReading(None, _NOTHING, (), ())
    found = arguments(words, STRANGE.grammar)
    options = [option for option in found.options if not is_format(option)]
    spelled = _spelled(name, words) if name in SPELLED_PROGRAMS else ()
    uses = (*_options(name, STRANGE, words, options), *spelled, *code_for_prompt(words))
    unsettled = open_words(name, words, found, STRANGE, by_name=True)
    return ProgramReading(None, found, uses, (), open_words=tuple(unsettled))


def _options(name: str, row: Program, words: Sequence[Word], options: Iterable[Option]) -> Iterator[EscapeUse]:
    for given in options:
        option, kind = given, row.escapes.get(given.name)
        if kind is None and (row.grammar.single or option.name[:2] == "--"):
            kind = escape_kind(row, option.name)
            if kind is None and row.grammar.single:
                kind = row.escapes.get("-" + option.name.lstrip("-"))
            if kind is None and row.grammar.single:
                option, kind = _with_letter(row, option)
        if kind is None and (by_name := by_name_alone(name, row, option, words)) is not None:
            kind, value = by_name
            option = Option(option.name, option.index, value, option.attached)
        if kind is not None and not _is_exempt(name, option, kind):
            use = _use(option, kind, words[option.index])
            if use.text is not None and _gets_names(name, option.name):
                use = replace(use, text=with_names(use.text))
            yield replace(use, place=option.value) if _takes_a_place(name, option, kind) else use


_NAMES_GIVEN = {key[0]: frozenset(words.split()) for key, words in FACETS["gives_names"].items()}
"""By program what holds a command to which it gives names of files: options, and settings whose middle is free."""


def _gets_names(name: str, holder: str) -> bool:
    """Whether the command in this option, abbreviated or not, or in this setting gets names of files."""
    short = len(holder) > len("--x") and holder.startswith("--")
    return any(fnmatchcase(holder, each) or (short and each.startswith(holder)) for each in _NAMES_GIVEN.get(name, ()))


def _with_letter(row: Program, option: Option) -> tuple[Option, EscapeKind | None]:
    """The letter that a word of one dash may begin with, and what that does: ``gfortran -o/opt/x``."""
    name = option.name
    kind = row.escapes.get(name[:2])
    if len(name) < len("-ox") or name[1] == "-" or kind in {None, "changes"}:
        return option, None
    if is_listed(name, row.grammar) or name in row.grammar.texts or name in row.safe:
        return option, None
    following = option.value.value if option.attached and option.value is not None else None
    value = name[2:] if following is None else f"{name[2:]}={following}"
    return Option(name[:2], option.index, constant(value), attached=True), kind


def _behind_letters(name: str, row: Program, words: Sequence[Word], options: Iterable[Option]) -> Iterator[Option]:
    """Escapes behind a letter of the same word that our record says takes a value: where the program takes none there,
    they count (``jest -ic FILE``). Not in a record that is whole or that was compared with the program."""
    for option in _in_doubt(name, row, words, options):
        letters, equals, rest = ((option.value and option.value.value) or "").partition("=")
        for at, letter in enumerate(letters if letters.isalpha() and letters.isascii() else ""):
            if f"-{letter}" in row.escapes:
                behind = letters[at + 1 :] + equals + rest
                following = words[option.index + 1] if option.index + 1 < len(words) else None
                value = constant(behind) if behind else following
                yield Option(f"-{letter}", option.index, value, attached=bool(behind))


def _in_doubt(name: str, row: Program, words: Sequence[Word], options: Iterable[Option]) -> Iterator[Option]:
    """The letters with something behind them in their word, of which it is not certain that they take it."""
    if not row.escapes or row.grammar.whole or row.grammar.single or name in TAKE_ANY_WORD:
        return
    for option in options:
        valued = words[option.index].prefix[2:3] == "="  # no letter is an equals sign
        if not option.attached or valued or len(option.name) > 2 or option.name[1] not in row.grammar.short:
            continue
        held = name in HOLD_THEIR_VALUE and option.name in {"-D", "-P", "-X"}
        if not held and option.name not in row.grammar.texts and words[option.index].value not in VALUED.get(name, ()):
            yield option


def _by_option(facet: str) -> Mapping[tuple[str, str], re.Pattern[str]]:
    return {
        (key[0], option): re.compile(pattern)
        for key, patterns in FACETS[facet].items()
        for option, pattern in patterns.items()
    }


_PLACES = {key[0]: frozenset(options.split()) for key, options in FACETS["places"].items()}
"""Options that say where settings lie or which folder to work in: a project's own programs and files
(docs/gate.md S9)."""

_NAMED_PLACES = _by_option("named_places")
"""Settings that a project has under names like these, where any other file may be code of somebody else's."""

_PLACE = re.compile(r"(?:\./)?[\w][\w.-]*(?:/[\w.][\w.-]*)*/?")


def _takes_a_place(name: str, option: Option, kind: EscapeKind) -> bool:
    """Whether the option takes settings or a folder from a place that the text names below where it runs."""
    value = option.value.value if option.value is not None else None
    if kind != "code" or value is None or ".." in value.split("/"):
        return False
    place = _PLACE if option.name in _PLACES.get(name, ()) else _NAMED_PLACES.get((name, option.name))
    return place is not None and place.fullmatch(value) is not None


def escape_kind(row: Program, name: str) -> EscapeKind | None:
    """What an option does, abbreviated or not."""
    return _kept_kind(row, name) if len(name) <= _LONGEST_KEPT else _escape_kind(row, name)


def _escape_kind(row: Program, name: str) -> EscapeKind | None:
    name = _TWICE_NEGATED.sub("--", name)
    kind = row.escapes.get(name)
    if kind is not None or name in row.safe or not name.startswith("--") or len(name) < 3:
        return kind
    spelled = one_spelling(name)
    for option, each in row.escapes.items():
        if option.endswith("*") and spelled.startswith(_recorded_spelling(option[:-1])):
            return each
        if option.startswith("--") and _recorded_spelling(option) == spelled:
            return each
    if not row.abbreviates or name[2:] in row.grammar.long:
        return None
    # Ruby's parser of options takes a beginning in any case.
    folded = name.lower()
    return next((kind for option, kind in row.escapes.items() if option.lower().startswith(folded)), None)


_LONGEST_KEPT = 64
_kept_kind = lru_cache(maxsize=4096)(_escape_kind)
"""A text names the same options again and again, and so do the readings of one command."""


_TWICE_NEGATED = re.compile(r"\A-{2,}(?:no-){2,}", re.IGNORECASE)
"""To npm ``--no-no-git`` is ``--git``."""


_recorded_spelling = lru_cache(maxsize=8192)(one_spelling)


_HARMLESS = _by_option("harmless")
"""Values that make an escape of a program harmless."""


def _is_exempt(name: str, option: Option, kind: EscapeKind) -> bool:
    harmless = _HARMLESS.get((name, option.name))
    value = option.value.value if option.value is not None else ""
    if kind == "writes" and value == "/dev/null":
        return True
    return harmless is not None and value is not None and harmless.fullmatch(value) is not None


def _use(option: Option, kind: EscapeKind, word: Word) -> EscapeUse:
    value = option.value
    known = value.value if value is not None else None
    spelled = word.value if word.value is not None else NAMED_NOWHERE
    if kind in ("runs", "code") and value is not None:
        # What is run must be named as well, not only the option that runs it.
        names = ((spelled,),) if option.attached else ((option.name, spelled), (known or NAMED_NOWHERE,))
    else:
        names = ((option.name, spelled),)
    return EscapeUse(
        kind,
        names,
        f"`{option.name}` {_SAYS[kind]}",
        text=_command_in(option.name, known) if kind == "runs" else None,
        path=value if kind == "writes" else None,
    )


def _command_in(option: str, value: str | None) -> str | None:
    """The command in an option's value: ``--checkpoint-action=exec=command``, ``--bind=key:execute:command``."""
    if value is not None and option.startswith("--checkpoint-a"):
        return value.removeprefix("exec=")
    if value is not None and option == "--bind":
        return value.replace(":", ";")
    return value


_SAYS: dict[EscapeKind, str] = {
    "runs": "runs another program",
    "code": "takes code or settings from elsewhere",
    "writes": "writes a file",
    "changes": "changes more than it shows",
}


# --- git -------------------------------------------------------------------------------------------------------------


def _git(name: str, words: Sequence[Word]) -> ProgramReading:
    git = read_git(words)
    uses = [
        named("runs", (option, *_values(git.before, option)), why) for option, why in dict.fromkeys(global_escapes(git))
    ]
    uses += _aliases(name, git.before)
    if git.subcommand == "clone":
        uses += _aliases(name, git.arguments)
    holes = [word for _, word in (*git.before.holes, *git.arguments.holes)]
    if git.subcommand is None and len(words) >= git.start:
        holes.append(words[git.start - 1])
    # These read their words twice, the first time without knowing which options take one.
    unsettled = tuple(git.arguments.open_values) if git.subcommand in WALKING else ()
    if git.program.closed:
        if git.subcommand is not None:
            # Of those that run what their options name every word counts.
            rest = [word.value or NAMED_NOWHERE for word in words[git.start :]] if git.subcommand in RUNNING else []
            uses.append(named("code", (git.subcommand, *rest), git.program.why))
        return ProgramReading(git.program, git.arguments, tuple(uses), tuple(holes), git=git, open_words=unsettled)
    uses += _options(name, git.program, words, git.arguments.options)
    operands = [word for _, word in git.arguments.operands]
    for word in (*operands, *git.arguments.valued("--repo", "--refmap", "--remote")):
        begun = git.subcommand in ADDRESSED and any(begins(word, each) for each in TRANSPORTS)
        if begun or word.prefix.startswith(TRANSPORTS) or re.match(r"[\w.-]*::", word.prefix):
            text = (word.value or "").partition("::")[2]
            uses.append(
                named("runs", (word.value or NAMED_NOWHERE,), "an address of this kind runs a program", text or None)
            )
        if replaces_objects(git, word):
            why = "it makes one object stand for another"
            uses.append(named("changes", (word.value or NAMED_NOWHERE,), why))
    for word in handed_on(words, git):
        why = "git hands it to another of its commands, for which it is an option"
        uses.append(named("runs", (word.value or NAMED_NOWHERE,), why))
    if names_other_file(git):
        why = "a name of this kind is that of a file below `.git`, or elsewhere"
        uses.append(named("changes", (operands[0].value or NAMED_NOWHERE,), why))
    if git.subcommand == "update-ref" and git.arguments.may_have("--stdin"):
        uses.append(named("changes", ("--stdin",), "which references it changes comes in on its input"))
    first = operands[0] if operands else None
    if git.subcommand == "config" and (git.arguments.may_have("--edit", "-e") or (first and begins(first, "edit"))):
        uses.append(named("runs", ("--edit",), "it runs an editor"))
    if git.subcommand == "pull":
        for option in git.arguments.spelled("--rebase", "-r"):
            if option.value is not None and option.value.prefix.startswith("i"):
                uses.append(named("runs", (f"--rebase={option.value.source}",), "it runs an editor"))
            elif option.value is not None and option.value.value is None and option.value.prefix == "":
                unsettled += (words[option.index],)
    return ProgramReading(git.program, git.arguments, tuple(uses), tuple(holes), git=git, open_words=unsettled)


def _values(found: Arguments, name: str) -> tuple[str, ...]:
    return tuple(
        (option.value.value if option.value is not None and option.value.value is not None else NAMED_NOWHERE)
        for option in found.options
        if option.name == name and name in {"-c", "--config-env", "--exec-path"}
    )


def _aliases(name: str, found: Arguments) -> Iterator[EscapeUse]:
    """The command in ``-c alias.x=!command`` and in settings that name a program."""
    for value in found.valued("-c", "--config"):
        key, _, text = (value.value or "").partition("=")
        if text and not _SAYS_WHO.fullmatch(key):
            # An alias without a mark is a command of git's.
            run = f"{name} {text}" if key.startswith("alias.") and text[:1] != "!" else text.removeprefix("!")
            run = next((found for found in map(_run_by_address, (text, key)) if found is not None), run)
            if _gets_names(name, key.lower()):
                run = with_names(run)
            yield named("runs", ("-c", value.value or ""), f"`{key}` may name a program to run", run)


_SAYS_WHO = re.compile(r"(?i)(?:user|author|committer)\.(?:name|email)|init\.defaultbranch|http\.(?:.*\.)?extraheader")
"""Settings whose value is surely no program."""


def _run_by_address(text: str) -> str | None:
    """The program that an address runs, which also stands in the name of a setting (``url.ADDRESS.insteadOf``)."""
    if not any(each in text for each in TRANSPORTS):
        return None
    return re.sub(r"(?i)\.(?:push)?insteadof\Z", "", text.partition("::")[2])


# --- interpreters ----------------------------------------------------------------------------------------------------


_UNDERSCORES = names_with("underscores_for_dashes")
"""Interpreters that take an underscore in an option for a dash."""


_NAMED_IN_VALUES: Mapping[tuple[str, str], re.Pattern[str]] = {
    (key[0], option): re.compile(pattern, re.DOTALL)
    for key, patterns in FACETS["named_in_values"].items()
    for option, pattern in patterns.items()
}
"""Of interpreters the values of options that hold a command (``run``) or name a file which is ``written``."""
_NOTHING_NAMED = re.compile(r"(?!)")


def _loads(called: str, code: frozenset[str], others: frozenset[str]) -> bool:
    """Whether an interpreter's option, abbreviated or not, is one of these. ``others`` are no abbreviations."""
    if called in code or (len(called) > len("-x") and _begins_like(called, code)):
        return True
    return len(called) > 4 and called[2:] not in others and any(option.startswith(called) for option in code)


def _begins_like(called: str, code: frozenset[str]) -> bool:
    return any(option.endswith("*") and called.startswith(option[:-1]) for option in code)


_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:")
"""How a script begins that some interpreters fetch (``groovy https://…``, ``jbang group:name:1.0``)."""


def _interpreter(name: str, words: Sequence[Word], *, behind: bool = True) -> ProgramReading:
    """``behind``: the words behind a first one that is no script are read as well."""
    row = INTERPRETERS[name]
    found = arguments(words, row.grammar)
    uses = []
    for option in found.options:
        called = option.name.replace("_", "-") if name in _UNDERSCORES else option.name
        if _loads(called, row.code, row.grammar.names):
            if _is_exempt(name, option, "code"):
                continue
            value = option.value.value if option.value is not None else None
            names = (option.name,) if option.value is None else (option.name, value or NAMED_NOWHERE)
            if option.attached:
                names = (words[option.index].value or NAMED_NOWHERE,)
            inside = _NAMED_IN_VALUES.get((name, called), _NOTHING_NAMED).fullmatch(value or "")
            held: Mapping[str, str | None] = inside.groupdict() if inside is not None else {}
            uses.append(named("code", names, f"`{option.name}` runs or loads code", held.get("run")))
            if written := held.get("written"):
                uses.append(named("writes", names, f"`{option.name}` writes a file", path=constant(written)))
    uses += [_use(option, "writes", words[option.index]) for option in found.options if option.name in row.writes]
    strange = [option for option in found.options if row.is_strange(option.name) and not is_format(option)]
    uses += _options(name, STRANGE, words, strange)
    first = found.operands[0] if found.operands else None
    module = next((option.index + 2 - option.attached for option in found.options if option.name == row.module), None)
    end = first[0] if first is not None else len(words)
    for word in words[1 : end if module is None else min(end, module)]:
        # V8 takes its long options with one dash as well.
        called = word.prefix.partition("=")[0].replace("_", "-" if name in _UNDERSCORES else "_")
        if called[:1] == "-" != called[1:2] and len(called) > 2 and _begins_like("-" + called, row.code):
            uses.append(named("code", (word.value or NAMED_NOWHERE,), f"`{called}` runs or loads code"))
        elif row.is_unknown(called):
            uses.append(named("code", (word.value or NAMED_NOWHERE,), f"what `{called}` does is not known"))
    if first is not None and (first[1].prefix[:1] == "+" or first[1].value in row.subcommands):
        said = f"`{first[1].prefix}` is not a script, and the words behind it are options"
        uses.append(named("code", (first[1].value or NAMED_NOWHERE,), said))
        if behind:
            uses += _interpreter(name, (*words[: first[0]], *words[first[0] + 1 :]), behind=False).uses
    if first is not None and any(word.value in row.prompts for word in (words[first[0] - 1], first[1])):
        uses.append(named("code", (NAMED_NOWHERE,), "it reads code from its input"))
    if row.module is not None and found.has(row.module):
        return ProgramReading(None, found, tuple(uses), ())
    if first is not None:
        uses += code_for_script(words[first[0] :])
    for option in found.options:
        if option.value is not None and (first is None or option.index < first[0]) and has_record(option.value):
            # The script may be the value of an option (`-f FILE`).
            uses += code_for_script((option.value, *words[option.index + 2 - option.attached :]), by_record=True)
    uses += _spelled(name, words[: end + 1])
    if first is not None and _ADDRESS.match(first[1].prefix):
        uses.append(named("code", (first[1].value or NAMED_NOWHERE,), "it may fetch its script from this address"))
    script = first[1] if first is not None else next(iter(found.valued(*row.script)), None)
    untold = script is None and not uses and not row.only_tells(words)
    if untold or (script is not None and script.value in {"", "-"}):
        uses.append(named("code", (NAMED_NOWHERE,), "it reads code from its input"))
    # Behind the script's name the words are the script's own.
    holes = tuple(word for index, word in found.holes if first is None or index <= first[0])
    return ProgramReading(None, found, tuple(uses), holes)
