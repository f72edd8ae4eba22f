"""The findings about the files that one simple command names, in its arguments and its redirections.

More than 500 lines, because each way to name a file is one more case of the same walk over a command's words.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from countersign.gate.finding import Finding
from countersign.gate.paths.roots import is_within
from countersign.gate.probes import disk
from countersign.gate.shell.effects.escape_use import COPYING, ProgramReading
from countersign.gate.shell.effects.no_rule_needed import neutral_reason
from countersign.gate.shell.files.address_operands import repository_paths
from countersign.gate.shell.files.chosen_files import CHOOSING, chosen_files
from countersign.gate.shell.files.derived_names import (
    changed_below,
    derived_names,
    packed_below,
    pieces,
    unpacked_here,
    unpacks_below,
)
from countersign.gate.shell.files.file_operands import OPENS_IN, opening_folders, placed_in
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.files.followed_links import led_to_below
from countersign.gate.shell.files.git_remotes import remote_addresses
from countersign.gate.shell.files.glob_overlap import could_be_denied
from countersign.gate.shell.files.name_lists import listed_in, read_lists
from countersign.gate.shell.files.option_folders import written_folders
from countersign.gate.shell.files.option_values import (
    SELECTS,
    behind_letters,
    has_open_options,
    leads_out,
    option_values,
)
from countersign.gate.shell.files.patched_files import patched_touches
from countersign.gate.shell.files.program_globs import has_groups
from countersign.gate.shell.files.rewritten_folders import FORMATTERS, fixed_folder, rewritten_folders
from countersign.gate.shell.files.sent_folders import sent_files
from countersign.gate.shell.files.unfinished_names import PARTS, folders_of
from countersign.gate.shell.files.unread_mounts import unread_mounts
from countersign.gate.shell.files.word_paths import MAX_MATCHES, PathFinder, folders_above, moved_places
from countersign.gate.shell.files.word_values import join, literal, matching_paths, meaning
from countersign.gate.shell.programs.tables import FACETS, INTERPRETERS, SHELLS, TABLES, WRAPPERS, names_with
from countersign.gate.shell.rules.analyzed_command import GIVE_INPUT, AnalyzedCommand
from countersign.gate.shell.rules.context import JudgingContext
from countersign.gate.shell.rules.expanded_words import expanded, searched_folders
from countersign.gate.shell.rules.match import Coverage
from countersign.gate.shell.rules.named_modules import named_in_variables
from countersign.gate.shell.rules.rewritten_files import rewritten_below
from countersign.gate.shell.rules.ruled_kinds import OWN_KINDS, only_secrets_are_ruled
from countersign.gate.shell.rules.touched import FileFindings
from countersign.gate.shell.rules.written_by_variables import written_by_variables
from countersign.gate.shell.syntax.tree import Redirect, Word
from countersign.gate.shell.syntax.words import constant, pattern_text
from countersign.wire.verdicts import Evidence


def file_findings(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """All files that a command touches, as far as its words tell."""
    started = places
    for index, (name, layer, known) in enumerate(zip(analyzed.names, analyzed.layers, analyzed.known, strict=True)):
        places = started if layer.carried.folders == () else moved_places(started, layer.carried.folders, context.paths)
        for file_use in analyzed.file_uses(index):
            yield _findings_of(context, analyzed, file_use, places)
        if places is None and known.program is not None and known.program.operands in COPYING:
            # What lies in a folder that is not known may be a link, or bring some, through which others write later.
            for _, word in known.arguments.operands:
                if not (word.value or word.source).startswith(("/", "~/")):
                    yield _findings_of(context, analyzed, FileUse("write", word), places)
        yield from _derived(context, analyzed, index, places)
        if name in CHOOSING:
            yield from _chosen(context, analyzed, index, places)
        for each in rewritten_folders(name, layer.words, known) if name in FORMATTERS else ():
            if each.widened:
                widened = FileUse("write", constant(each.folder), content=True, whole=True)
                yield _findings_of(context, analyzed, widened, places)
        if name in _WRITES_OUTPUT_TO and not _redirects_output(analyzed.step.command.redirects):
            output = FileUse("write", constant(_WRITES_OUTPUT_TO[name]), if_there=True)
            yield _findings_of(context, analyzed, output, places)
            yield _protected(context, analyzed, output.word, places)
            if any(disk.is_folder(place) and not disk.can_write(place) for place in places or ()):
                yield _findings_of(context, analyzed, FileUse("write", constant(f"~/{output.word.value}")), places)
        last = index == len(analyzed.layers) - 1
        if name in OPENS_IN or known.program is None or (known.git is not None and known.git.subcommand in _APPLYING):
            for file_use in patched_touches(
                name, layer.words, analyzed.step.input.texts if last else (), sure=analyzed.step.input.exact
            ):
                yield _findings_of(context, analyzed, placed_in(opening_folders(name, known), file_use), places)
        for use in known.uses:
            if use.place is not None and use.place.value is not None:
                # Its settings, or the folder that it works in: in the workspace, where nothing is protected.
                yield _findings_of(context, analyzed, FileUse("read", use.place, runs=True), places)
                yield _protected(context, analyzed, use.place, places)
        if known.program is not None and known.program.reads_input:
            for part in _named_in_commands(layer.words):
                yield _protected(context, analyzed, constant(part), places)
        if last and _may_obey_input(analyzed, name, known):
            yield from _named_on_input(context, analyzed, places)
        if _has_open_options(name, known):
            for option, value in option_values(layer.words, known):
                yield _protected(context, analyzed, value, places)
                yield from _may_write(context, analyzed, value, places)
                if leads_out(name, option, value.value or "", known) and _begins_somewhere(value):
                    yield _findings_of(context, analyzed, FileUse("read", value, runs=True), places)
        if context.rules_files:
            for folder in written_folders(layer.words, known):
                yield from _may_write_in(context, analyzed, folder, places)
            yield from rewritten_below(context, name, layer.words, known, places)
            if (mounting := unread_mounts(name, layer.words)) is not None:
                yield _unread(mounting)
            for sent in dict.fromkeys(sent_files(name, layer.words)):
                yield from _asked_about(context, analyzed, sent, places)
        lists = list(read_lists(name, layer.words, known.git.subcommand if known.git is not None else None))
        if lists:
            yield from _listed(context, analyzed, name, places, fed=last and all(lists))
        if known.git is not None and context.rules_files:
            for place in places or ():
                addresses = remote_addresses(known.git, place, context.paths)
                if addresses is None:
                    yield _UNKNOWN_REMOTES
                for address in addresses or ():
                    for path in repository_paths(constant(address)):
                        yield from _asked_about(context, analyzed, path, [place])
                        yield from _may_write(context, analyzed, constant(path), [place])
        if name in _ONLY_LOOKING:
            continue
        for folder in searched_folders(context, analyzed, layer.words[1:], places):
            yield _findings_of(context, analyzed, FileUse("list", folder), places)
        for word in analyzed.own_words(index) if name in WRAPPERS else ():
            for named in _named_by(word):
                if named.value is not None and _is_like_a_file(named.value):
                    yield _protected(context, analyzed, named, places)
                    if context.rules_files:
                        yield from _asked_about(context, analyzed, literal(named), places)
                        yield from _may_write(context, analyzed, named, places)
        if (known.program is None and known.git is None and name not in WRAPPERS) or name in _WITH_FILES:
            # What such a program does with a file that it names is not known; only a secret or a ruled one counts.
            # One that no table knows may as well write where its words lead.
            command, texts = analyzed.step.command, analyzed.step.unwrapped.texts
            yield from _ruled_below(context, analyzed, index, places)
            yield from _led_to(context, analyzed, index, places)
            strange = known.program is None and _is_strange(analyzed, name, layer.words[0])
            closed = known.program is not None and known.program.closed
            if closed and context.rules_files:
                yield from _ruled_names(context, analyzed, layer.words, places)
            if strange:
                for given in dict.fromkeys(map(constant, analyzed.given_names(index))):
                    yield _findings_of(context, analyzed, _free_read(given, runs=True), places)
                    yield _protected(context, analyzed, given, places)
                    yield from _may_write(context, analyzed, given, places)
            if known.program is not None and command.plain and not _is_like_a_file(command.source):
                for named in [named for word in layer.words[1:] for named in _named_by(word)]:
                    if _is_link(named.value, places):
                        yield _findings_of(context, analyzed, FileUse("read", named, shown=True, free=True), places)
                continue
            free = _FREE_TEXT if name in _WITH_FREE_TEXT and _is_about_text(layer.words) else frozenset[str]()
            seen: set[str] = set()
            for before, word in pairwise(layer.words):
                if word.value in texts:
                    continue  # it is read by a shell, and what it names is found there
                if word.value is None:
                    if word.source in seen:
                        continue
                    seen.add(word.source)
                if free and (before.value in free or word.prefix.partition("=")[0] in free):
                    continue
                if (strange or closed) and word.value is None:
                    yield from _may_make(context, analyzed, word, places)
                spelled = expanded(context, analyzed, word, places) or (word,)
                for named in [named for each in spelled for named in _named_by(each)]:
                    likely = named.value is None or _is_like_a_file(named.prefix) or _is_link(named.value, places)
                    if not (likely or known.program is None):
                        continue
                    own = named.value in {".", "./"} and name in OWN_KINDS and only_secrets_are_ruled(context)
                    if not own and not _is_quiet(context, named, places):
                        yield _findings_of(context, analyzed, _free_read(named, runs=strange), places)
                    if likely and (strange or (known.program is not None and not SELECTS.match(before.prefix))):
                        yield _protected(context, analyzed, named, places)
                    if (strange or closed) and (named.value is not None or named.form == "pattern"):
                        yield from _may_write(context, analyzed, named, places)
                    elif strange or closed:
                        yield from _may_write_in(context, analyzed, named, places)
                parts = _parts_of(word)
                if parts is None:
                    yield _findings_of(context, analyzed, FileUse("read", unknown()), places)
                for part in parts or ():
                    if not _is_quiet(context, part, places):
                        found = _findings_of(context, analyzed, FileUse("read", part, shown=True, free=True), places)
                        yield _asking(found)
                    if not (SELECTS.match(before.prefix) or SELECTS.match(word.prefix)):
                        yield _protected(context, analyzed, part, places)
                yield from _ruled_in(context, analyzed, word, places, writes=strange or closed)
    if not GIVE_INPUT.isdisjoint(analyzed.names):
        # Names that the text itself writes to its input.
        fed = dict.fromkeys(part for text in analyzed.step.input.texts for part in _PARTS.split(text) if part)
        for part in list(fed)[:_MOST_PARTS]:
            yield _findings_of(context, analyzed, FileUse("read", constant(part), shown=True), started)
    for path in written_by_variables(analyzed):
        yield _protected(context, analyzed, constant(path), started)
        yield from _may_write(context, analyzed, constant(path), started)
    if context.rules_files:
        for named in named_in_variables(analyzed):
            yield from _asked_about(context, analyzed, named, started)
    for word in analyzed.step.unwrapped.programs:
        inner = moved_places(started, analyzed.step.unwrapped.carried.folders, context.paths)
        yield _findings_of(context, analyzed, FileUse("read", word), inner)
    for redirect in analyzed.step.command.redirects:
        yield from _redirected(context, redirect, analyzed, started)


_WRITES_OUTPUT_TO = {key[0]: file for key, file in FACETS["writes_output_to"].items()}
"""By program the file to which it writes what is printed where that would go to a terminal: ours have none, but those
of hosted agents may. A new file does no harm where names are not protected; where the folder cannot be written, it is
made in the home."""


def _redirects_output(redirects: Sequence[Redirect]) -> bool:
    """Whether the output surely goes into a file: the last redirection counts, and `/dev/stderr` may be a terminal."""
    said = [each for each in redirects if (each.descriptor or _DESCRIPTORS.get(each.operator)) == "1"]
    if not said or said[-1].operator not in _INTO_A_FILE:
        return False
    target = said[-1].target.value
    return target is not None and (target == os.devnull or not target.startswith(("/dev/", "/proc/")))


_INTO_A_FILE = frozenset({">", ">>", ">|", "&>", "&>>"})
_DESCRIPTORS = dict.fromkeys((*_INTO_A_FILE, ">&"), "1")
"""What these redirect where no number stands in front."""


def _derived(
    context: JudgingContext, analyzed: AnalyzedCommand, index: int, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """What a command writes under names that it makes out of those which its words name."""
    name, words, known = analyzed.names[index], analyzed.layers[index].words, analyzed.known[index]
    for file_use in (*unpacked_here(name, words, known), *changed_below(name, known)):
        yield _findings_of(context, analyzed, file_use, places)
    around = places if places is not None else [context.start]

    def means(word: Word) -> Iterator[str]:
        for place in around:
            meant = meaning(word, analyzed.facts, context.paths.home, place)
            yield from meant.values
            for pattern in meant.patterns:
                yield from matching_paths(pattern, place, MAX_MATCHES, context.spent) or ()

    operands = [word for _, word in known.arguments.operands] if unpacks_below(name, known) else []
    values = [value for word in operands for value in (word.value, *means(word)) if value]
    for place, value in itertools.product(around, values):
        there = context.paths.resolve(value, cwd=place)
        below = packed_below(there.resolved or there.lexical) if there.kind == "folder" else ()
        if below is None:
            yield _findings_of(context, analyzed, FileUse("write", unknown()), [place])
        for path in below or ():
            yield _protected(context, analyzed, constant(f"{value.rstrip('/')}/{path}"), [place])
    for path in derived_names(name, words, known, means):
        yield _protected(context, analyzed, constant(path), places)
        yield from _may_write(context, analyzed, constant(path), places)
    made = pieces(name, known)
    if made is None:
        return
    if (protected := made.protected()) is not None:
        yield _protected(context, analyzed, constant(protected), places)
    yield _findings_of(context, analyzed, FileUse("write", constant(made.sample)), places)
    for place in around:
        there = context.paths.resolve(made.folder or ".", cwd=place)
        for link, is_folder in disk.single_entries_in(there.resolved or there.lexical) or ():
            if is_folder is None and made.may_be(link):
                yield _findings_of(context, analyzed, FileUse("write", constant(f"{made.folder}{link}")), [place])
    for place in around if context.rules.limits("Edit") else ():
        ruled = context.paths.may_hold_edited(made.folder or ".", [made.pattern], cwd=place)
        if ruled is not None:
            finding = Finding("write", f"{made.folder}{made.pattern}", "write", ask=ruled)
            yield FileFindings((finding,), by_command=True, named=False)


def _chosen(
    context: JudgingContext, analyzed: AnalyzedCommand, index: int, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """What a program reads that it chooses by patterns and endings of its own."""
    around = places if places is not None else [context.start]

    def is_folder(text: str) -> bool:
        return any(context.paths.resolve(text, cwd=place).kind == "folder" for place in around)

    name, words, known = analyzed.names[index], analyzed.layers[index].words, analyzed.known[index]
    for file_use in chosen_files(name, words, known, is_folder):
        yield _findings_of(context, analyzed, file_use, places)


def _may_write_in(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """A program that may write in the folder that a word names, as far as the text tells which it is."""
    if word.value == "":
        return
    for place in places or [context.start]:
        meant = meaning(word, analyzed.facts, context.paths.home, place)
        found = [*meant.values]
        for pattern in meant.patterns:
            found += matching_paths(pattern, place, MAX_MATCHES, context.spent) or ()
        if not meant.complete:
            found += folders_of(word, analyzed.facts, context.paths, place)
        for folder in dict.fromkeys(each.rstrip("/") for each in found):
            yield from _may_write(context, analyzed, constant(f"{folder}/x"), [place])


def _free_read(word: Word, *, runs: bool) -> FileUse:
    """A word that may be a file's name, or anything else."""
    return FileUse("read", word, shown=True, free=True, runs=runs)


def _begins_somewhere(word: Word) -> bool:
    """Whether an absolute path begins with a folder of this machine: `/api` and `/subscriptions` mostly mean none."""
    value = word.value or ""
    first = value[1:].partition("/")[0]
    return value[:1] != "/" or disk.is_there(f"/{first}")


def _has_open_options(name: str, known: ProgramReading) -> bool:
    """Whether a program may have options that write, beside those of its record. Git has a reading of its own."""
    if known.git is not None or known.program is None or name in WRAPPERS:
        return False
    return has_open_options(known.program)


_UNKNOWN_REMOTES = FileFindings(
    (
        Finding(
            "read",
            ".git/config",
            "read",
            requires_ask=Evidence(source="default", reason="the addresses of the repository's remotes are unknown"),
            bypassable=False,
        ),
    ),
    by_command=False,
    named=False,
)
"""Where git's settings lead elsewhere, a remote may lie in a place that a rule names."""


def _unread(command: str) -> FileFindings:
    """A file that is not read says what this command mounts (decisions/012)."""
    reason = f"what `{command}` mounts stands in a file that is not read, and a rule for files could speak of it"
    said = Evidence(source="default", reason=reason)
    found = Finding("read", command, "read", requires_ask=said, bypassable=False)
    return FileFindings((found,), by_command=False, named=False)


def _listed(
    context: JudgingContext, analyzed: AnalyzedCommand, name: str, places: Sequence[str] | None, *, fed: bool
) -> Iterator[FileFindings]:
    """What a command touches whose names stand in a list; ``fed``: it surely is the one that the text writes. What is
    not known of a list asks where there are rules for files."""
    names, whole = listed_in(analyzed.step.input.texts)
    for listed in names:
        yield _findings_of(context, analyzed, FileUse("read", constant(listed), below=True, shown=True), places)
    if fed and whole and names and analyzed.step.input.exact:
        return
    reason = f"the file `{unknown().source}` is only known at run time and could be a secret"
    if context.rules_files:
        reason = f"`{name}` reads the names of files from a list, and a rule for files could speak of one"
    said = Evidence(source="default", reason=reason)
    ruled = context.rules_files
    found = Finding("read", name, "read", requires_ask=said, bypassable=not ruled, auto_lifts=not ruled)
    yield FileFindings((found,), by_command=False, named=False)


_APPLYING = frozenset({"apply", "am"})
"""Commands of git that write what a patch names."""

_WITH_FREE_TEXT = names_with("text_for_people")
_FREE_TEXT = frozenset({"--body", "--title", "--notes", "--description", "--subject"})
"""Options of theirs whose value is text for people, whatever it looks like."""


def _is_about_text(words: Sequence[Word]) -> bool:
    """Whether a subcommand has no operands that are files, which an option in place of a value could hide."""
    return [word.value for word in words[1:2]] in (["pr"], ["issue"], ["mr"])


def _is_strange(analyzed: AnalyzedCommand, name: str, first: Word) -> bool:
    """Whether nothing is known of a program: it is no script of the project's, no interpreter and needs a rule."""
    neutral = name in {"cd", "pushd", "popd"} or neutral_reason(analyzed.step.command, analyzed.facts)[0]
    of_project = "/" in first.prefix and not first.prefix.startswith(_OF_SYSTEM)
    return not neutral and name not in INTERPRETERS and name not in {"source", "."} and not of_project


_OF_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/opt/", "/snap/", "/nix/")


def _protected(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None
) -> FileFindings:
    """What a word names, if writing there always asks."""
    known = places if places is not None else [context.start]
    context.spent.looks += len(known)
    if word.form == "pattern" and word.value is None:
        pattern = pattern_text(word)
        for place in known:
            for match in (matching_paths(pattern, place, MAX_MATCHES, context.spent) or ())[:MAX_MATCHES]:
                if context.paths.is_protected(match, cwd=place):
                    return _findings_of(context, analyzed, FileUse("write", constant(match)), [place])
    if word.value and any(context.paths.is_protected(literal(word), cwd=place) for place in known):
        return _findings_of(context, analyzed, FileUse("write", word), places)
    return _NO_FINDINGS


_NO_FINDINGS = FileFindings((), by_command=True, named=False)


def unnamed_writes(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> Iterator[Finding]:
    """What lies below a folder that a command writes by an option which its rule does not name: rules for what lies
    there count, and what is written has names of its own."""
    for index, layer in enumerate(analyzed.layers):
        there = moved_places(places, layer.carried.folders, context.paths)
        for file_use in analyzed.file_uses(index):
            word = file_use.word
            if file_use.operation in ("read", "list") or word.value is None:
                continue
            for place in there if there is not None else (context.start,):
                if context.paths.resolve(literal(word), cwd=place).kind == "folder":
                    below = constant(f"{word.value.rstrip('/')}/zzz")
                    yield from _look(context, analyzed, file_use._replace(unknown_names=True), [place]).findings
                    yield from _look(context, analyzed, FileUse("write", below), [place]).findings
                    moved = context.paths.judge_write(literal(word), cwd=place, operation="move")
                    if moved.deny or moved.ask:
                        yield moved


def with_command(finding: Finding, coverage: Coverage) -> Finding:
    """What a rule for the command covers of the files that it names: reads that are no secrets, also outside; writes
    inside. Never what must be asked for otherwise (docs/gate.md "Outside the workspace" and "Secrets")."""
    if coverage.evidence is None or finding.allow is not None or finding.grant is not None:
        return finding
    if coverage.writes and finding.kind == "write":
        return finding  # the rule does not name the option that writes it
    if finding.requires_ask is not None and (finding.replaced or not (finding.kind == "read" and finding.auto_lifts)):
        return finding
    if coverage.evidence.source == "grant":
        return finding._replace(grant=coverage.evidence)
    if coverage.evidence.source == "rule":
        return finding.allowed_by(coverage.evidence)
    return finding


def run_files(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> Iterator[str]:
    """Files of the workspace that are run, or read as programs, as absolute paths: as they are spelled, and where links
    lead, so that a link which is turned to another file is seen."""
    words = [layer.words[0] for layer in analyzed.layers if "/" in (layer.words[0].value or "")]
    words += analyzed.step.unwrapped.programs
    if not words and _READING_PROGRAMS.isdisjoint(analyzed.names):
        return
    # Where the place is not known, files of that name where the text starts are bound: too many do no harm.
    folders = list(places if places is not None else (context.start,))
    folders += moved_places(folders, analyzed.step.unwrapped.carried.folders, context.paths) or ()
    for known, name in zip(analyzed.known, analyzed.names, strict=True):
        if name in _READING_PROGRAMS:
            words += known.arguments.values("-f", "--file", "--makefile", "--from-file")
        if name in _SCRIPT_FOLDERS:
            moved = [word.value for word in known.arguments.values(*_SCRIPT_FOLDERS[name]) if word.value]
            folders += [os.path.normpath(os.path.join(folder, *moved)) for folder in folders if moved]
    for word in words:
        for folder in folders:
            if word.value is None:
                continue
            found = context.paths.resolve(literal(word), cwd=folder)
            # A link in the workspace counts wherever it leads.
            if is_within(found.lexical, context.paths.workspace) or context.paths.inside_workspace(
                literal(word), cwd=folder
            ):
                yield from found.spellings()


def linked_words(context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> Iterator[str]:
    """Where the words of a command lead that name something in the workspace behind a symlink, as absolute paths: what
    a program does with a name that is not known to be a file's depends on that, too."""
    folders = places if places is not None else [context.start]
    words = dict.fromkeys(word for layer in analyzed.layers for word in layer.words[:_MOST_WORDS] if word.value)
    for word in itertools.islice(words, _MOST_WORDS):
        for named in (*_named_by(word), *(_parts_of(word) or ())):
            for folder in folders if named.value else ():
                found = context.paths.resolve(literal(named), cwd=folder)
                if found.resolved not in {None, found.lexical} and is_within(found.lexical, context.paths.workspace):
                    yield from found.spellings()


_MOST_WORDS = 1_000
"""Words of a command that are looked at so: a text of more is no rule (``MAX_RULE``)."""

_READING_PROGRAMS = names_with("script_in_file")
"""What these do is said in a file that their words may name."""

_SCRIPT_FOLDERS = {key[0]: tuple(options.split()) for key, options in FACETS["script_folder"].items()}
"""Options of theirs that say the folder of that file."""


def _is_like_a_file(text: str) -> bool:
    """Whether a word could name a file, where a table knows its program: looking costs time."""
    return "." in text or "/" in text or "id_" in text.lower() or "file:" in text


def _is_link(name: str | None, places: Sequence[str] | None) -> bool:
    """Whether a symlink has this bare name where the command may run, which may lead to what no name tells of."""
    if not name or places is None or name[0] == "-" or len(name) > 255:
        return False
    return any(disk.is_link(f"{place}/{name}") for place in places)


_ONLY_LOOKING = frozenset({"test", "["})
"""These learn whether a file exists, its kind and its date; they read none of its contents (S12)."""

_WITH_FILES = frozenset(key[0] for key in TABLES) - names_with("file_words_known")
"""Programs whose rows do not say which of their words are files."""


def _is_quiet(context: JudgingContext, word: Word, places: Sequence[str] | None) -> bool:
    """Whether nothing speaks of what this constant names, wherever the command may run."""
    value = word.value
    if not places or not value or has_groups(value):
        return False
    return all(context.paths.is_unremarkable(value, cwd=place) for place in places)


def _named_by(word: Word) -> Sequence[Word]:
    """The files in ``file``, ``--option=file``, ``-ofile``, ``@file`` and ``field=@file``."""
    value = word.value
    if value is None:
        return (word,)
    if not (word.tilde or value[:1] == "-" or not _APART.isdisjoint(value)):
        return (word,)
    whole = value.partition("=")[2] if value.startswith("-") else value.removeprefix("@")
    attached = value[2:].removeprefix("@") if value[:1] == "-" and value[1:2] not in {"-", ""} else ""
    found = [word] if word.tilde else []
    texts = (whole, _LAST.split(whole)[-1], attached)
    for text in dict.fromkeys((*texts, *[_FILE_URL.sub("", text) for text in texts])):
        if text:
            found.append(word if text == value and not word.tilde else constant(text))
    return found


def _parts_of(word: Word) -> Sequence[Word] | None:
    """What may be a file's name in a word by itself, beside those that ``_named_by`` gives: ``FILE:file``,
    ``file#label``, ``source=file,target=x``, ``-vofile``. None if there are too many."""
    value = word.value or ""
    split = PARTS.split(value)
    if _JQ_PATH.search(value) is not None:
        split = [part for part in split if part != "."]
    named = (
        *split,
        *behind_letters(value),
        *(each for part in split if part != value for each in behind_letters(part)),
    )
    parts = [part for part in dict.fromkeys(named) if part != value and _is_like_a_file(part)]
    return [constant(part) for part in parts] if len(parts) <= _MOST_NAMED else None


_JQ_PATH = re.compile(r"(?<![^\s(|])\.\[-?\d*\]")
"""A path in jq's language, which begins with a dot (`.[].number`)."""


def _named_in_commands(words: Sequence[Word]) -> list[str]:
    """What commands in a program's own language may name in its words (``ex -sc 'w FILE'``)."""
    said = [word.value for word in words[1:] if word.value and _PARTS.search(word.value)]
    parts = dict.fromkeys(part for text in said for part in _PARTS.split(text) if _is_like_a_file(part))
    return list(parts)


_OBEYS_NO_INPUT = frozenset().union(names_with("text_for_people"), INTERPRETERS, SHELLS, OPENS_IN)
"""Programs whose input is text for people, or is read elsewhere: by a shell, or as a patch. Code in other languages is
not searched for files (docs/known-limitations.md)."""


def _may_obey_input(analyzed: AnalyzedCommand, name: str, known: ProgramReading) -> bool:
    """Whether what the text writes to a program's input may be more to it than data: a makefile, C, or whatever a
    program takes of which no record says that it only reads."""
    if not analyzed.step.input.texts or known.git is not None or name in _OBEYS_NO_INPUT:
        return False
    if known.program is not None and known.program.reads_input:
        return True
    return (known.program is None or not known.program.known) and GIVE_INPUT.isdisjoint(analyzed.names)


def _named_on_input(
    context: JudgingContext, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """What a text may name that a program obeys, wherever it does: protected places, secrets, and files of which a
    rule speaks. It asks, as it is not known what the text means."""
    for text in analyzed.step.input.texts:
        for part in _like_files(text):
            yield _protected(context, analyzed, constant(part), places)
            if any(context.paths.is_secret(part, cwd=place) for place in places or [context.start]):
                yield _asking(_findings_of(context, analyzed, FileUse("read", constant(part), shown=True), places))
        yield from _ruled_in(context, analyzed, constant(text), places, writes=True)


@lru_cache(maxsize=8)
def _like_files(text: str) -> tuple[str, ...]:
    """What in the input of a command is like the name of a file. Many commands may get the same input."""
    return tuple(dict.fromkeys(part for part in _PARTS.split(text) if _is_like_a_file(part)))


def _asking(found: FileFindings) -> FileFindings:
    """The same findings, which ask where they would deny: that the part of a word is a file is a guess."""
    asked = [each._replace(deny=None, ask=each.ask or each.deny) for each in found.findings]
    return found._replace(findings=tuple(asked))


_LAST = re.compile(r"[=@,]")
_APART = frozenset("=@,:")
_MOST_NAMED = 200
"""Parts of one word that are taken for names by themselves; a word with more may name any file."""
_FILE_URL = re.compile(r"(?i)file[a-z]?://(?:localhost(?=/))?")
"""In front of an absolute path, or, as the AWS CLI reads it, of any."""


_NAMED_KIND = re.compile(r"[a-z][a-z-]*:(?!//)")
_FILE_SCHEME = re.compile(r"(?i)\bfile:(?!/)([\w-]+)")
"""A bare name behind `file:`, by which package managers take a folder for a package."""


def _ruled_in(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None, *, writes: bool
) -> Iterator[FileFindings]:
    """Paths inside a word (``FILE:secrets/key``, ``.read secrets/key``) that a rule for reading speaks of, or one for
    editing where the program may write any file: it asks."""
    value = word.value or ""
    if not context.rules_files or (_PARTS.search(value) is None and value[:1] not in {"+", "-", "%"}):
        return
    reads = context.rules.limits("Read")
    parts = [part.lstrip("+-%") for part in _PARTS.split(value) if "/" in part or "." in part]
    parts += _FILE_SCHEME.findall(value)
    if places is not None and _NAMED_KIND.match(value):
        # `root:x` and `path:x` count from the top of a repository, which is one of the folders above.
        above = (folder for place in places for folder in folders_above(place, context.paths.workspace))
        places = list(dict.fromkeys(above))
    for part in dict.fromkeys(parts):
        yield _NO_FINDINGS  # so that each is counted
        if reads:
            yield from _asked_about(context, analyzed, part, places)
        if writes:
            yield from _may_write(context, analyzed, constant(part), places)


_FOR_A_FOLDER = 20
"""Looks that a search below a folder counts for."""


def _ruled_below(
    context: JudgingContext, analyzed: AnalyzedCommand, index: int, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Ask where a rule for reading could match below a folder in which a linter or formatter looks for files: one that
    a bare name among its words names, or without operands the one where it runs. A path counts like any other word."""
    name, known = analyzed.names[index], analyzed.known[index]
    if not context.rules_files:
        return
    plain = name in OWN_KINDS or not known.arguments.options
    here = _reads_here(known) or (name in _READS_HERE and not _names_a_path(known, places or [context.start]))
    if here and not (plain and only_secrets_are_ruled(context)):
        yield from _asked_about(context, analyzed, ".", places)
    row, found = known.program, known.arguments
    if name in CHOOSING or name in FORMATTERS or name in _RUNS_HERE or (row is not None and row.here):
        for word in (*[word for _, word in found.operands], *(found.valued(*row.given) if row is not None else ())):
            if word.value and word.value[0] != "-" and not _is_like_a_file(word.value):
                yield from _asked_about(context, analyzed, word.value, places)


def _led_to(
    context: JudgingContext, analyzed: AnalyzedCommand, index: int, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Ask where a word names a folder below which a link leads to a secret, or to what a rule for reading speaks of:
    many programs that read files or send folders follow it. Without such a word, one that reads the folder where it
    runs counts as if it named that."""
    name, words, known = analyzed.names[index], analyzed.layers[index].words, analyzed.known[index]
    if name in _LEAVES_LINKS or neutral_reason(analyzed.step.command, analyzed.facts)[0]:
        return
    folders = dict[str, None]()
    for word in words[1:]:
        for each in expanded(context, analyzed, word, places) or (word,):
            for named in _named_by(each):
                folders |= dict.fromkeys(_folders_named(context, named, places))
    bare = _reads_here(known) or (name in _RUNS_HERE and _names_nothing(known))
    folders |= dict.fromkeys(["."] if bare else [])
    for place in places or [context.start]:
        for folder in folders:
            if not disk.is_folder(join(place, folder, context.paths.home)):
                continue
            context.spent.looks += _FOR_A_FOLDER
            yield _NO_FINDINGS
            for finding in led_to_below(context.paths, folder, place, named=not bare):
                said = finding.deny or finding.ask
                if said is not None:
                    asked = finding._replace(deny=None, ask=said, ask_below=False, requires_ask=None, floors=())
                    yield FileFindings((asked,), by_command=True, named=False)
                else:
                    yield FileFindings((finding,), by_command=True, named=False)


def _folders_named(context: JudgingContext, word: Word, places: Sequence[str] | None) -> Iterator[str]:
    """What a word may name that is a folder: itself, or what stands in front of a program's own pattern."""
    if word.value:
        yield word.value
        yield fixed_folder(word.value)
    elif word.form == "pattern":
        for place in places or [context.start]:
            yield from matching_paths(pattern_text(word), place, MAX_MATCHES, context.spent) or ()


def _reads_here(known: ProgramReading) -> bool:
    """Whether a command reads the folder that it runs in since its words name no file."""
    row = known.program
    if row is None or not row.here or row.operands not in {"none", "read", "change"}:
        return False
    return _names_nothing(known) and not known.arguments.has(*row.given)


def _names_a_path(known: ProgramReading, places: Sequence[str | None]) -> bool:
    """Whether an operand is surely a file or folder: it may be the value of an option that no record knows."""
    values = [word.value for _, word in known.arguments.operands if word.value]
    return any(place is not None and disk.is_there(f"{place}/{value}") for place in places for value in values)


def _names_nothing(known: ProgramReading) -> bool:
    return not known.arguments.operands and not any(option.name in _TELLS for option in known.arguments.options)


_TELLS = frozenset({"--version", "--help", "-V", "-h"})
"""Options with which such a program only tells its version or its usage."""

_LEAVES_LINKS = names_with("leaves_links")
"""Programs that go through no symlink below a folder."""

_READS_HERE = names_with("reads_here")
"""Programs that look through the folder where they run unless a word names another, whose options no record knows."""

_RUNS_HERE = names_with("runs_here")
"""Programs that run what lies in the folder where they run, unless their words name something else."""


def _ruled_names(
    context: JudgingContext, analyzed: AnalyzedCommand, words: Sequence[Word], places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Bare names (``pax -w secrets``) that a rule for reading speaks of, where any word may name a file or folder."""
    for word in words[1:]:
        value = word.value or ""
        behind = (_LAST.split(value)[-1], value.rpartition(":")[2])
        for name in dict.fromkeys((value, value[2:] if value[:1] == "-" else "", *behind)):
            if name and name[0] != "-" and not _is_like_a_file(name):
                yield from _asked_about(context, analyzed, name, places)


def _asked_about(
    context: JudgingContext, analyzed: AnalyzedCommand, name: str | Word, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Ask where a rule for reading speaks of a name that may be a file's. A word that is not constant may be any."""
    word = constant(name) if isinstance(name, str) else name
    known = word.value is not None
    file_use = FileUse("read", word, shown=known, free=known, below=word.value in {None, "."})
    for finding in _look(context, analyzed, file_use, places).findings:
        said = finding.deny or finding.ask
        if said is not None:
            asked = finding._replace(deny=None, ask=said, requires_ask=None, floors=())
            yield FileFindings((asked,), by_command=True, named=False)


def _may_write(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Ask where a rule for editing speaks of a word of a program that may write any file which its words name."""
    if context.rules.limits("Edit"):
        for finding in _look(context, analyzed, FileUse("write", word), places).findings:
            said = finding.deny or finding.ask
            if said is not None and said.source == "rule":
                asked = finding._replace(deny=None, ask=said, requires_ask=None, floors=())
                yield FileFindings((asked,), by_command=True, named=False)


def _may_make(
    context: JudgingContext, analyzed: AnalyzedCommand, word: Word, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """Ask where a file that is made anew behind a name that a pattern matches (``"$d/new"``) could be a protected one,
    or one of which a rule for editing speaks."""
    meant = meaning(word, analyzed.facts, context.paths.home, None)
    if meant.complete and meant.patterns:
        for finding in _look(context, analyzed, FileUse("write", word), places).findings:
            if finding.floors:
                yield FileFindings((finding,), by_command=True, named=False)
        yield from _may_write(context, analyzed, word, places)


_PARTS = re.compile(r"[\s:;'\"()=,@|<>!^&`{}\[\]#]+")
_MOST_PARTS = 50
"""How many parts of one word are looked at."""


def _findings_of(
    context: JudgingContext, analyzed: AnalyzedCommand, file_use: FileUse, places: Sequence[str] | None
) -> FileFindings:
    """What is found of one touch. The same for each constant word that is touched so from the same places."""
    word = file_use.word
    if word.value is None:
        if word.form not in ("pattern", "split"):
            return _look(context, analyzed, file_use, places)
        if len(context.patterns) == MOST_PATTERNS:
            return _too_many_patterns(context, file_use)
        context.patterns.append(word)
        return _look(context, analyzed, file_use, places)
    if any(
        each.value is None
        for each in (
            *file_use.start,
            *file_use.unless,
            *file_use.commits,
            file_use.sources or word,
            file_use.brought or word,
        )
    ):
        return _look(context, analyzed, file_use, places)  # which is another file where its variables have other values
    key = (word.value, word.tilde, file_use.operation, file_use[2:], None if places is None else tuple(places))
    known = context.touched.get(key)
    if known is None:
        known = context.touched[key] = _look(context, analyzed, file_use, places)
    return known


MOST_PATTERNS = 200
"""Words of one text that are looked up as patterns of files, which takes long."""


def _too_many_patterns(context: JudgingContext, file_use: FileUse) -> FileFindings:
    reason = f"more than {MOST_PATTERNS} patterns name files, too many to check"
    said = Evidence(source="default", reason=reason)
    kind = "read" if file_use.operation in ("read", "list") else "write"
    lifted = not context.rules_files
    found = Finding(kind, "…", kind, requires_ask=said, bypassable=lifted)
    return FileFindings((found,), by_command=True, named=False)


def _look(
    context: JudgingContext, analyzed: AnalyzedCommand, file_use: FileUse, places: Sequence[str] | None
) -> FileFindings:
    found: list[Finding] = []
    context.spent.looks += (1 if places is None else len(places)) * (
        _LOOKS_BELOW if file_use.brought is not None else 1
    )
    for place in places if places is not None else (None,):
        found += PathFinder(context.paths, analyzed.facts, place).look(file_use)
    distinct = found if len(found) == 1 else dict.fromkeys(found)
    return FileFindings(
        tuple(distinct),
        by_command=not file_use.runs,
        named=file_use.word.value is not None,
        written=file_use.operation == "write",
    )


_LOOKS_BELOW = 20
"""As many looks does it take about to see what a copied or moved file or folder brings along."""


def _redirected(
    context: JudgingContext, redirect: Redirect, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> Iterator[FileFindings]:
    """A redirection: an output is a write that only an Edit rule covers, an input a read (S8)."""
    target = redirect.target
    if redirect.operator in {"<<", "<<<"} or _is_descriptor(redirect):
        return
    if target.value == "-":
        target = constant("./-")  # a file of this name
    if redirect.operator in {"<", "<>"}:
        for file_use in (
            analyzed.named_by_listing(FileUse("read", target), 0) if analyzed.layers else (FileUse("read", target),)
        ):
            yield _surely_read(_findings_of(context, analyzed, file_use, places))
    if redirect.operator == "<":
        return
    found = _findings_of(context, analyzed, FileUse("write", target), places)
    findings = found.findings
    if target.form != "constant":
        reason = Evidence(source="default", reason=f"`{target.source}` is not known before it runs")
        # An Edit rule names files, and this is not known to be one of them; where files are denied or asked about, it
        # could be one of those, so that not even a bypass lifts it.
        findings = tuple(
            finding._replace(
                requires_ask=finding.requires_ask or reason,
                bypassable=finding.bypassable and not context.rules_files,
                allow=None,
                grant=None,
            )
            for finding in findings
        )
        findings += tuple(_denied_matches(context, target, analyzed, places))
    yield FileFindings(findings, by_command=False, named=found.named)


def _denied_matches(
    context: JudgingContext, target: Word, analyzed: AnalyzedCommand, places: Sequence[str] | None
) -> Iterator[Finding]:
    """What a deny rule forbids of the names that a pattern could turn out to be."""
    for pattern in meaning(target, analyzed.facts, context.paths.home, None).patterns:
        for place in places if places is not None else (context.start,):
            found = could_be_denied(context.paths, context.rules, pattern, place)
            if found is not None:
                yield found


def _surely_read(touched: FileFindings) -> FileFindings:
    """An input whose name is not known asks like an operand does: nothing else answers for it, since the command may
    need no rule at all (``while read``), or be one of the read-only set that names no file itself."""
    return touched._replace(
        findings=tuple(
            finding
            if finding.known_read or finding.requires_ask is not None
            else finding._replace(
                requires_ask=Evidence(source="default", reason=f"`{finding.resource}` may name any file"),
                auto_lifts=True,
            )
            for finding in touched.findings
        ),
    )


def _is_descriptor(redirect: Redirect) -> bool:
    value = redirect.target.value
    if redirect.operator not in {">&", "<&"} or value is None:
        return False
    return value.rstrip("-").isdigit() or value == "-"
