"""What speaks for and against one simple command: rules, grants, the read-only set, or that it needs no rule at all.

More than 500 lines, because the ways to be allowed are one ladder.
INVARIANT (strictest): a command that nothing here speaks for has neither ``allow`` nor ``neutral`` nor ``known_read``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from countersign.gate.finding import Finding, Floor
from countersign.gate.probes import disk
from countersign.gate.shell.effects.chosen_programs import (
    STARTS,
    chosen_by_others,
    only_in_workspace,
    starts_by_name,
    why_strange,
)
from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.effects.read_only_set import only_reads_by_words, starts_no_other, takes_settings
from countersign.gate.shell.files.address_operands import (
    local_repositories,
    pushes_to_a_repository,
    repository_paths,
)
from countersign.gate.shell.files.file_use import FileUse
from countersign.gate.shell.files.git_contents import may_name_objects, prints_lines, reads_objects
from countersign.gate.shell.files.git_folders import is_whole
from countersign.gate.shell.files.git_refs import holds_replacements
from countersign.gate.shell.files.git_remotes import may_be_remote, remote_addresses
from countersign.gate.shell.files.git_repository import is_partial, may_compare_files, strange_repository
from countersign.gate.shell.files.name_lists import takes_list_by_mark
from countersign.gate.shell.files.word_paths import PathFinder
from countersign.gate.shell.files.word_values import join, literal, meaning
from countersign.gate.shell.flow.moves import cd_target
from countersign.gate.shell.flow.parse_cache import MAX_BYTES
from countersign.gate.shell.languages.git_plain_words import odd_word
from countersign.gate.shell.programs.tables import names_with
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand, is_known
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.found_commands import found_commands
from countersign.gate.shell.rules.git_folders_entered import entered
from countersign.gate.shell.rules.listed_reads import goes_deep, listed_read
from countersign.gate.shell.rules.made_names import makes_marked
from countersign.gate.shell.rules.match import Coverage, any_rule, by_letters, covering, may_touch, touching
from countersign.gate.shell.rules.named_like_options import named_like_option, names_marked
from countersign.gate.shell.rules.passed_on import passed_on
from countersign.gate.shell.rules.printed_secrets import printed_secret
from countersign.gate.shell.rules.renamed_programs import renamed_program
from countersign.gate.shell.rules.stand_ins import decides_program
from countersign.gate.shell.rules.texts_inside import feeds_an_interpreter
from countersign.gate.shell.rules.where_it_runs import writes_where_it_runs
from countersign.gate.shell.syntax.displayable import unshowable
from countersign.gate.shell.syntax.tree import Assignment, Process, Simple, Text, Variable, Word
from countersign.gate.shell.variables.assignments import is_safe_prefix, settings_module, unsafe_assignment
from countersign.wire.verdicts import Evidence


def floor(reason: str) -> Floor:
    """A floor that asks."""
    return Floor("ask", Evidence(source="floor", reason=reason))


def text_floors(text: str) -> Iterator[Floor]:
    """Why a text can never be allowed, whatever it says."""
    reason = unshowable(text)
    if reason is not None:
        yield floor(reason)
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        yield floor("the text is longer than 100 KiB")


def judge_simple_command(
    context: JudgingContext,
    analyzed: AnalyzedCommand,
    places: Sequence[str] | None,
    covered: Coverage | None,
    leads: Sequence[str] | None = None,
) -> tuple[Finding, Coverage]:
    """What is to be said of the command itself, and what covers the files that it names. ``leads`` is where it moves
    the shell to, if that is known."""
    builder = FindingBuilder(analyzed.step.command.source)
    if context.ruled:
        _find_rules_against(context, builder, analyzed)
    if analyzed.step.unwrapped.deep:
        builder.floors = (floor("wrappers are nested too deeply to analyze"),)
    _not_known(context, builder, analyzed)
    coverage = _find_coverage(context, builder, analyzed, places, covered, leads)
    copies = any(">" in redirect.operator for redirect in analyzed.step.command.redirects)
    harmless = (builder.neutral or builder.known_read) and not copies
    by_name = builder.grant or _names_a_program(builder.allow)
    if context.ruled and not (builder.requires_ask or builder.floors):
        if not (by_name or harmless):
            builder.requires_ask = passed_on(analyzed, context.rules, context.agent)
            if builder.requires_ask is None and _has_helper_remote(context, analyzed, places):
                builder.requires_ask = any_rule(context.rules, context.agent)
        if builder.requires_ask is None:
            builder.requires_ask = renamed_program(analyzed, places, context.rules, context.agent)
        if builder.requires_ask is not None:
            builder.bypassable, builder.allow, coverage = False, None, Coverage()
    if not (builder.grant or harmless or builder.requires_ask or builder.floors):
        reason = writes_where_it_runs(context, analyzed, places)
        if reason is not None:
            builder.requires_ask = Evidence(source="default", reason=reason)
            builder.bypassable = not (context.ruled or context.rules_files)
            builder.allow, coverage = None, Coverage()
    if not (builder.allow or builder.grant or harmless or builder.requires_ask):
        option = named_like_option(context, analyzed, places)
        if option is not None:
            reason = f"`{option.source}` could become an option that runs or writes something"
            builder.requires_ask = Evidence(source="default", reason=reason)
            builder.bypassable = not (context.ruled or context.rules_files)
    return builder.finding(), coverage


def _find_rules_against(context: JudgingContext, builder: FindingBuilder, analyzed: AnalyzedCommand) -> None:
    """The deny and ask rules that match, in this reading and as it is written."""
    for each in filter(None, (analyzed, analyzed.written)):
        deny, ask = touching(each, context.rules, context.agent)
        builder.deny, builder.ask = builder.deny or deny, builder.ask or ask
    for each in filter(None, (analyzed, analyzed.written)):
        if builder.deny is None and builder.ask is None:
            builder.ask = by_letters(each, context.rules, context.agent)


def _has_helper_remote(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> bool:
    """Whether git may run a program that the address of a remote names (``ext::program``)."""
    for known in analyzed.known:
        if known.git is not None:
            for place in places or ():
                addresses = remote_addresses(known.git, place, context.paths)
                if addresses is None or any("::" in address for address in addresses):
                    return True
    return False


def _find_coverage(
    context: JudgingContext,
    builder: FindingBuilder,
    analyzed: AnalyzedCommand,
    places: Sequence[str] | None,
    covered: Coverage | None,
    leads: Sequence[str] | None,
) -> Coverage:
    """Find what allows the command: that it needs no rule, a rule, a grant, or that it only reads."""
    command = analyzed.step.command
    if not analyzed.layers and not command.assignments and command.kind == "command":
        # Redirections alone: what they touch is judged by itself.
        builder.near_miss_reason = analyzed.evaluates
        builder.neutral = builder.near_miss_reason is None
        return Coverage()
    neutral, why_not = _neutral(context, analyzed, places, leads)
    if (neutral or (covered is None and context.prints and only_runs_text(analyzed))) and builder.requires_ask is None:
        builder.neutral = True
        return _NEEDS_NO_RULE
    coverage = covered
    if coverage is None:
        harmless = _harmless_settings(context, analyzed, places)
        coverage = covering(analyzed, "allow", context.rules, context.agent, harmless=harmless)
        if coverage.evidence is None:
            coverage = _covering_found(context, analyzed, places) or coverage
        if coverage.evidence is None and context.granting:
            granted = covering(analyzed, "grant", context.rules, context.agent, harmless=harmless)
            coverage = granted._replace(near=coverage.near)
    strange = _strange_place(context, analyzed, places) or _strange_wrapper(context, analyzed, coverage)
    builder.near_miss_reason = strange or why_not or coverage.near
    if strange is None and builder.requires_ask is None and coverage.evidence is not None:
        builder.near_miss_reason = None
        if coverage.evidence.source == "grant":
            builder.grant = coverage.evidence
        else:
            builder.allow = coverage.evidence
    if builder.requires_ask is None:
        builder.known_read, kept_out = _only_reads(context, analyzed, places)
        if builder.known_read:
            builder.near_miss_reason = None
        elif builder.allow is None and builder.grant is None:
            builder.near_miss_reason = kept_out or builder.near_miss_reason
    return coverage if builder.allow is not None or builder.grant is not None else Coverage()


def _strange_wrapper(context: JudgingContext, analyzed: AnalyzedCommand, coverage: Coverage) -> str | None:
    """Why a rule for what a wrapper runs does not count: the wrapper is a program of the project's own, which may do
    anything. A rule for all commands means that one, too."""
    found = coverage.evidence
    if found is None or not _names_a_program(found) or len(analyzed.layers) < 2:
        return None
    named = (found.rule or "").partition("(")[2].partition(" ")[0]
    wrappers = ((index, word) for index, word in enumerate(_programs(analyzed)[:-1]) if word != named)
    strange = next((word for index, word in wrappers if _only_in_workspace(context, analyzed, index)), None)
    return None if strange is None else f"`{strange}` is found only in the workspace"


def _covering_found(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> Coverage | None:
    """The rule for a command that `find -exec` runs, if a rule or the read-only set covers find itself, and a rule each
    such command."""
    found = found_commands(analyzed)
    if found is None or not context.prints:
        return None
    alone, commands = found
    own = covering(alone, "allow", context.rules, context.agent)
    if own.evidence is None and not _only_reads(context, alone, places)[0]:
        return None
    covered = [covering(each, "allow", context.rules, context.agent) for each in commands]
    if own.writes or any(each.writes or not _names_a_program(each.evidence) for each in covered):
        return None
    return Coverage(covered[0].evidence)


def _names_a_program(covering: Evidence | None) -> bool:
    """Whether a rule says which program it covers: a wildcard in its place covers nothing through a wrapper (S2)."""
    rule = covering.rule or "" if covering is not None else ""
    return rule.startswith("Bash(") and not rule.startswith("Bash(*")


def _harmless_settings(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> frozenset[str]:
    """Names assigned in front of a command that hold a module of the workspace, as the disk is now: it is looked for
    beside the script that runs, else in the folder where the command does."""
    if not analyzed.step.command.assignments:
        return _NO_NAMES
    found: set[str] = set()
    for assignment in analyzed.step.command.assignments:
        module = settings_module(assignment)
        if module is None or not places:
            continue
        started = [layer.words[0] for layer in analyzed.layers if (layer.words[0].value or "").endswith(".py")]
        scripts = [os.path.dirname(word.value or "") for word in (*analyzed.step.unwrapped.programs, *started)]
        files = [f"{folder or '.'}/{module}{end}" for folder in scripts or [""] for end in (".py", "/__init__.py")]
        if all(any(_is_workspace_file(context, file, place) for file in files) for place in places):
            found.add(assignment.name)
    names = [assignment.name for assignment in analyzed.step.command.assignments]
    return frozenset(name for name in found if names.count(name) == 1)


_NO_NAMES = frozenset[str]()


def _is_workspace_file(context: JudgingContext, file: str, place: str) -> bool:
    paths = context.paths
    return paths.resolve(file, cwd=place).kind == "file" and paths.inside_workspace(file, cwd=place)


_NEEDS_NO_RULE = Coverage(Evidence(source="default", reason="it needs no rule"))


def _not_known(context: JudgingContext, builder: FindingBuilder, analyzed: AnalyzedCommand) -> None:
    """What is not known before it runs asks, and under deny or ask rules, for commands or files, even a bypass does not
    lift that."""
    step = analyzed.step
    reason = None
    if analyzed.unnamed is not None:
        reason = f"the program is only known at run time: `{analyzed.unnamed.source}`"
    elif step.unwrapped.unknown is not None:
        reason = step.unwrapped.unknown
    elif step.unwrapped.reads_stdin and step.input.comes and not (step.input.texts and step.input.exact):
        reason = "the commands come from elsewhere and are only known at run time"
    elif step.unwrapped.reads_stdin and step.input.comes and context.ruled and feeds_an_interpreter(analyzed):
        reason = f"`{analyzed.names[-1]}` runs code in a language of its own"
    elif (context.ruled or context.rules_files) and decides_program(analyzed):
        reason = f"the program is only known at run time: `{analyzed.step.command.source}`"
    elif context.ruled or context.rules_files:
        unread = next((known.doings for known in analyzed.known if known.doings and known.doings.unreadable), None)
        reason = unread.unreadable if unread is not None else None
    if reason is not None:
        ruled = any_rule(context.rules, context.agent) if context.ruled else None
        builder.requires_ask = ruled or Evidence(source="default", reason=reason)
        builder.bypassable = ruled is None and not context.rules_files
    elif context.ruled:
        builder.requires_ask = may_touch(analyzed.written or analyzed, context.rules, context.agent)
        builder.bypassable = builder.requires_ask is None


_LIKE_BASH = names_with("like_bash")
_TEXT_OPTIONS = re.compile(r"-[eu]*c")


def only_runs_text(analyzed: AnalyzedCommand) -> bool:
    """Whether a command is ``bash -c 'constant text'`` and nothing else: then the text is judged in its place."""
    step, command = analyzed.step, analyzed.step.command
    unwrapped = step.unwrapped
    if len(unwrapped.texts) != 1 or unwrapped.unknown is not None or unwrapped.reads_stdin or unwrapped.programs:
        return False
    if (
        analyzed.redefined
        or analyzed.facts.aliases
        or analyzed.evaluates
        or not all(map(is_safe_prefix, command.assignments))
    ):
        return False
    if any(layer.way not in ("self", "clear") for layer in analyzed.layers):
        return False
    words = [word.value for word in analyzed.layers[-1].words]
    if len(words) != 3 or words[0] not in _LIKE_BASH or words[2] != unwrapped.texts[0]:
        return False
    # Other shells than bash expand no braces.
    return _TEXT_OPTIONS.fullmatch(words[1] or "") is not None and (words[0] == "bash" or "{" not in unwrapped.texts[0])


def _neutral(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None, leads: Sequence[str] | None
) -> tuple[bool, str | None]:
    """Whether no rule is needed, or why a command of the neutral kind is not neutral here."""
    command = analyzed.step.command
    for assignment in command.assignments:
        if _only_splits(command, assignment):
            continue
        reason = unsafe_assignment(assignment)
        if reason is not None and (command.words or not _is_script_variable(assignment)):
            return False, reason
    if analyzed.evaluates is not None:
        return False, analyzed.evaluates
    if analyzed.redefined is not None:
        return False, None
    if command.words and command.words[0].value in {"cd", "pushd", "popd"}:
        return _changing_folder(context, analyzed, places, leads)
    kind, why_not = analyzed.neutral
    return kind and why_not is None, why_not


_SCRIPT_NAMES = frozenset(
    "FILE FILES DIR DIRS SRC DST NAME NAMES VERSION BASE BRANCH OUT OUTPUT RESULT RESULTS COUNT SHA COMMIT TAG MSG "
    "MESSAGE STATUS TOTAL START END LINE FAILED PATTERN TARGET INPUT DATE TODAY NOW N I J K ID URL ROOT TMPFILE "
    "OUTFILE INFILE LOGFILE FILENAME "
    " VALUE EXIT_CODE RC RET PASSED ERRORS SIZE LEN LIMIT MAX MIN WORDS ITEM ITEMS".split()
)
"""Names in upper case that scripts give their own variables, and that neither bash nor a program obeys."""


def _is_script_variable(assignment: Assignment) -> bool:
    """Whether an assignment sets a variable that no other program sees: it is not in the environment either."""
    return assignment.name in _SCRIPT_NAMES and disk.variable(assignment.name) == "" and assignment.formula is None


def _only_splits(command: Simple, assignment: Assignment) -> bool:
    """``IFS= read -r line``: in front of ``read`` it says how that one line is split, and nothing after it."""
    name = command.words[0].value if command.words else None
    return assignment.name == "IFS" and name == "read" and assignment.plain is not None


def _changing_folder(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None, leads: Sequence[str] | None
) -> tuple[bool, str | None]:
    words = analyzed.step.command.words
    target = cd_target(words) if words[0].value != "popd" else None
    if target is None and places is not None and _leads_to_listed_places(context, analyzed, places):
        return True, None
    if target is None and leads is not None:
        inside = all(context.paths.inside_workspace(folder, cwd="/") for folder in leads)
        return inside, None if inside else f"`{words[0].value}` leaves the workspace"
    if target is None:
        return False, f"the target of `{words[0].value}` is only known at run time"
    inside = target.value is not None and all(
        context.paths.inside_workspace(literal(target), cwd=place) for place in places or ()
    )
    if places is None or not inside:
        return False, f"`{words[0].value}` " + ("may start from anywhere" if places is None else "leaves the workspace")
    return True, None


def _leads_to_listed_places(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> bool:
    """Whether it is ``cd "$d"`` where the text itself lists what ``d`` may hold, all of it inside the workspace."""
    words = analyzed.step.command.words
    if words[0].value != "cd" or len(words) != 2 or words[1].form != "quoted":
        return False
    pieces = [piece for piece in words[1].pieces if not isinstance(piece, Text) or piece.text]
    piece = pieces[0]
    held = piece.held if isinstance(piece, Variable) else None
    if len(pieces) > 1 or held is None or analyzed.facts.patterns.get(held):
        return False
    values = analyzed.facts.values.get(held, ())
    return bool(values) and all(
        value is not None
        and re.fullmatch(r"[\w.][\w./-]*", value) is not None
        and context.paths.inside_workspace(value, cwd=place)
        for value in values
        for place in places
    )


def _only_reads(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> tuple[bool, str | None]:
    """Whether the fixed read-only set holds this command, or what on the disk keeps one of its forms out."""
    if places is None:
        return False, None
    if context.lists and (not analyzed.plain or goes_deep(analyzed)) and _only_reads_listed(context, analyzed, places):
        return True, None
    if not _only_reads_by_words(context, analyzed, places):
        return False, None
    for index, (program, known) in enumerate(zip(_programs(analyzed), analyzed.known, strict=True)):
        if _may_be_activated(context, program, known) or _chosen_by_others(context, program, tuple(places)):
            return False, f"others may choose which program runs as `{program}`"
        if _has_settings_inside(context, program, known):
            return False, f"the workspace may hold settings that `{program}` uses"
        strange = _why_strange(context, analyzed, index)
        if strange is not None:
            return False, strange
    known = analyzed.known[-1]
    if known.git is not None and known.git.folders:
        there = entered(analyzed, places, context.paths)
        if there is None or not _reads_inside(context, analyzed, places):
            return False, None
        return _only_reads(context, there.command, there.places)
    for place in places if known.git is not None else ():
        reason = strange_repository(place, context.paths, known=True, activated=bool(context.activated))
        if reason is None and known.git is not None and reads_objects(known.git) and is_partial(place, context.paths):
            reason = "git may fetch objects that the repository lacks"
        if reason is not None:
            return False, reason
    if not _reads_inside(context, analyzed, places):
        return False, None
    if known.git is not None and prints_lines(known.git):
        odd = odd_word(known.git)
        if odd is not None:
            return False, f"git may read `{odd.source[:40]}` in another way than it looks"
        if may_name_objects(known.git):
            return False, "an option of git's may name an object, which is printed whatever paths stand behind"
        if any(holds_replacements(place, context.paths) for place in places):
            return False, "git may take objects of this repository for others (`git replace`)"
    secret = printed_secret(context, analyzed, places)
    return secret is None, secret


def _only_reads_listed(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> bool:
    """Whether it only reads files that a listing of the text's own gives to it, none of which asks."""
    if analyzed.evaluates or not all(map(is_safe_prefix, analyzed.step.command.assignments)):
        return False
    found = listed_read(context, analyzed)
    if found is None or any(
        _may_be_activated(context, program, known)
        or _chosen_by_others(context, program, tuple(places))
        or _has_settings_inside(context, program, known)
        or _only_in_workspace(context, analyzed, index)
        or _why_strange(context, analyzed, index) is not None
        for index, (program, known) in enumerate(zip(_programs(analyzed), analyzed.known, strict=True))
    ):
        return False
    return all(_only_reads(context, each, places)[0] for each in found.commands) and all(
        each.only_reads(context, place) for each in found.reads for place in places
    )


def _only_in_workspace(context: JudgingContext, analyzed: AnalyzedCommand, index: int) -> bool:
    """Whether the program of this layer is found in the workspace alone. Behind a wrapper there are no builtins."""
    name = analyzed.layers[index].words[0].value or ""
    return only_in_workspace(name, context.program_path, by_shell=_by_shell(analyzed, index))


def _why_strange(context: JudgingContext, analyzed: AnalyzedCommand, index: int) -> str | None:
    """``why_strange`` of the program of this layer."""
    name = analyzed.layers[index].words[0].value or ""
    return why_strange(name, context.program_path, by_shell=_by_shell(analyzed, index))


def _by_shell(analyzed: AnalyzedCommand, index: int) -> bool:
    """Whether the shell itself runs the command of this layer."""
    return all(above in _RUN_BUILTINS for above in analyzed.names[:index])


_RUN_BUILTINS = frozenset({"command", "builtin"})


def _may_be_activated(context: JudgingContext, program: str, known: ProgramReading) -> bool:
    """Whether an activated environment may have the program, or one that it starts by its name, which any folder of
    programs in the workspace may have."""
    if starts_no_other(program):
        return any(disk.is_there(f"{each}/{program}") for each in context.activated)
    inside = bool(context.program_path.inside)
    return bool(context.activated) or (
        inside and (known.git is not None or starts_by_name(program, context.program_path))
    )


def _has_settings_inside(context: JudgingContext, program: str, known: ProgramReading) -> bool:
    """Whether what a person set for a program may lie in the workspace."""
    return takes_settings(program, known) and context.settings_inside


def _chosen_by_others(context: JudgingContext, program: str, places: tuple[str, ...]) -> bool:
    """``chosen_by_others``, asked once in a text."""
    found = context.chosen.get((program, places))
    if found is None:
        found = context.chosen[program, places] = chosen_by_others(
            program, places, context.program_path, context.paths, context.made
        )
    return found


def _programs(analyzed: AnalyzedCommand) -> list[str]:
    return [layer.words[0].value or "" for layer in analyzed.layers]


def _only_reads_by_words(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> bool:
    if not context.builtin_reads or not _could_only_read(analyzed):
        return False
    name, words, known = analyzed.names[-1], analyzed.layers[-1].words, analyzed.known[-1]
    # What the text says of a word is looked at below.
    if not only_reads_by_words(name, words, known if analyzed.holes else known._replace(holes=())):
        return False
    if any(_only_in_workspace(context, analyzed, index) for index in range(len(analyzed.layers))):
        return False
    if any(
        only_in_workspace(each, context.program_path)
        or why_strange(each, context.program_path) is not None
        or _chosen_by_others(context, each, tuple(places))
        for each in (*STARTS.get(name, ()), *STARTS.get(words[0].value or "", ()))
    ):
        return False
    if known.open_words and not all(is_known(word, analyzed.facts) for word in known.open_words):
        return False
    if known.arguments.holes and any(_may_be_option(context, analyzed, place) for place in places):
        return False
    return not (takes_list_by_mark(name) and any(_may_name_list(context, analyzed, place) for place in places))


def _could_only_read(analyzed: AnalyzedCommand) -> bool:
    """Whether nothing around its words keeps a command out of the set."""
    if not analyzed.layers or analyzed.step.command.kind != "command":
        return False
    if analyzed.evaluates or analyzed.redefined or analyzed.facts.aliases:
        return False
    if not all(is_safe_prefix(assignment) for assignment in analyzed.step.command.assignments):
        return False
    if not analyzed.clear and any(layer.way not in ("self", "clear") for layer in analyzed.layers):
        return False
    return not analyzed.step.unwrapped.texts


def _may_be_option(context: JudgingContext, analyzed: AnalyzedCommand, place: str) -> bool:
    """Whether a word that is not constant could turn out to be an option that takes the command out of the set: by
    what its variable may hold, or beside a file that is named like one."""
    row, found = analyzed.known[-1].program, analyzed.known[-1].arguments
    if row is None or not (row.not_known or row.reads):
        return False
    return any(_may_begin_with("-", word, context, analyzed, place) for _, word in found.holes)


def _may_name_list(context: JudgingContext, analyzed: AnalyzedCommand, place: str) -> bool:
    """Whether a word that is not constant could name a list of further words (``strings *`` beside ``@.env``)."""
    words = [word for word in analyzed.layers[-1].words[1:] if word.value is None and not _is_process(word)]
    return any(_may_begin_with("@", word, context, analyzed, place) for word in words)


def _is_process(word: Word) -> bool:
    """Whether a word is ``<(command)``."""
    return len(word.pieces) == 1 and isinstance(word.pieces[0], Process)


def _may_begin_with(mark: str, word: Word, context: JudgingContext, analyzed: AnalyzedCommand, place: str) -> bool:
    may_be = meaning(word, analyzed.facts, context.paths.home, place)
    named = any(value.startswith(mark) for value in may_be.values)
    made = makes_marked(context.made, mark)
    return (
        not may_be.complete
        or named
        or any(names_marked(mark, pattern, place, made=made) for pattern in may_be.patterns)
    )


def _reads_inside(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> bool:
    """Whether all that it names is known, and lies in the workspace or is named by a rule for reading."""
    for file_use in analyzed.file_uses(-1):
        if file_use.found or file_use.listed:
            return False
        if file_use.operation not in ("read", "list") or (
            _compares_files(context, analyzed, places) and _is_folder(context, file_use, places)
        ):
            return False
        for place in places:
            lookout = PathFinder(context.paths, analyzed.facts, place)
            # What a Read rule or a grant names is judged by itself: here it is only known what is read.
            if not all(found.known_read or found.allow or found.grant for found in lookout.look(file_use)):
                return False
    return True


def _compares_files(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str]) -> bool:
    git = analyzed.known[-1].git
    if git is None:
        return analyzed.names[-1] == "diff"
    return any(may_compare_files(git, place, context.paths) for place in places)


def _is_folder(context: JudgingContext, file_use: FileUse, places: Sequence[str]) -> bool:
    """Whether a folder is named: ``diff`` compares all files in two of them, hidden ones too."""
    if file_use.word.value is None:
        return not any(isinstance(piece, Process) for piece in file_use.word.pieces)
    return any(context.paths.resolve(literal(file_use.word), cwd=place).kind == "folder" for place in places)


def _strange_place(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> str | None:
    """Why git would not run as it does elsewhere: a folder that looks like a repository of its own."""
    for known in analyzed.known:
        if known.git is None:
            continue
        inner = known.git.folders
        if known.git.subcommand in {"init", "clone"}:
            context.repositories.update(word.value or "" for _, word in known.git.arguments.operands)
            context.repositories.add("")
        if places is None:
            return "git runs in a folder that is only known at run time"
        for place in places or ():
            where = place
            for word in inner:
                if word.value is None:
                    return "git runs in a folder that is only known at run time"
                path = literal(word)
                path = f"{context.paths.home}{path[1:]}" if path.startswith("~/") else path
                where = path if path.startswith("/") else f"{where}/{path}"
                if not context.paths.inside_workspace(where, cwd=place):
                    return "git runs in a folder outside the workspace"
            reason = strange_repository(where, context.paths, known=False)
            for word in local_repositories(known.git):
                for path in repository_paths(word):
                    other = join(where, path, context.paths.home)
                    reason = reason or strange_repository(other, context.paths, known=False)
                    if pushes_to_a_repository(known.git) and _is_folder_to_push_to(context, path, other, where):
                        reason = reason or "the hooks of the repository that it pushes to may be anything"
            if reason is not None:
                return reason
    return None


def _is_folder_to_push_to(context: JudgingContext, address: str, folder: str, where: str) -> bool:
    """Whether an address means a folder, and none in which git surely finds the repository in its ``.git``, whose hooks
    are protected. A word without a slash is the name of a remote first."""
    if "/" not in address and address not in context.repositories:
        remote = not disk.is_folder(folder) or may_be_remote(address, where, context.paths)
        return not remote
    return not is_whole(f"{folder}/.git")


@dataclass(slots=True)
class FindingBuilder:
    """A command's finding while it is put together."""

    source: str
    floors: tuple[Floor, ...] = ()
    deny: Evidence | None = None
    ask: Evidence | None = None
    requires_ask: Evidence | None = None
    bypassable: bool = True
    allow: Evidence | None = None
    grant: Evidence | None = None
    known_read: bool = False
    neutral: bool = False
    near_miss_reason: str | None = None

    def finding(self) -> Finding:
        # By place, which takes half the time of by name.
        return Finding(
            "command",
            self.source,
            "read" if self.neutral or self.known_read else "execute",
            self.floors,
            self.deny,
            self.ask,
            self.requires_ask,
            self.bypassable,
            False,  # auto_lifts
            False,  # in_workspace
            self.allow,
            self.grant,
            self.known_read,
            self.neutral,
            False,  # unanswered
            self.near_miss_reason,
            (),  # risks
            self.source,
        )
