"""Words that git is given by git itself: ``git diff $(git merge-base main HEAD)..HEAD``, ``git show "$sha"``.

Some commands print nothing but names of objects, or the name of the branch that is checked out. A git command with such
words is judged with names in their place, and with all else that they may turn out to be: nothing where the inner
command fails, the word that ``git rev-parse`` could not make out and prints back, more names than one. What rules for
commands say of the words as they are written counts as well.

Only commands of constant words count, in forms of which it is certain what they print: ``git rev-list --objects``
prints paths, ``--boundary`` puts a dash in front of a name, and tags may be named like options.
"""

from __future__ import annotations

import itertools
import math
import re
import stat
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.shell.effects.unwrap import program, unwrap
from countersign.gate.shell.files.git_contents import COMMIT, KNOWN_LATER, OBJECT, holds_number
from countersign.gate.shell.files.git_folders import repository_above
from countersign.gate.shell.flow.control_flow import CommandFlow, Step
from countersign.gate.shell.flow.moves import HERE, MOVERS
from countersign.gate.shell.languages.git import READ_HERE, global_escapes, only_reads, read_git
from countersign.gate.shell.programs.tables import TABLES
from countersign.gate.shell.rules.analyzed_command import AnalyzedCommand
from countersign.gate.shell.rules.git_folders_entered import entered_folder
from countersign.gate.shell.syntax.tree import Piece, Substitution, Text, Variable, Word
from countersign.gate.shell.syntax.words import constant
from countersign.gate.shell.variables.listings import Listing, script_listing

_MOST = 64
"""Readings of one command."""


class _Printed(NamedTuple):
    """What a command prints: one of these texts, or lines of them. ``branch``: also the name of the branch that is
    checked out, in the folder of these ``folders`` of its ``-C``."""

    texts: tuple[str, ...] = ()
    several: bool = False
    branch: tuple[str, ...] = ()
    folders: tuple[Word, ...] = ()

    @property
    def named(self) -> bool:
        """Whether a command prints it, and it is no constant."""
        return not KNOWN_LATER.isdisjoint(self.texts) or bool(self.branch)


def with_printed_names(
    analyzed: AnalyzedCommand, flow: CommandFlow, places: Sequence[str] | None, paths: PathJudge
) -> Sequence[Step]:
    """Return the git command in each reading of such words, the first with names in their place; nothing where it has
    none, or one of them may be anything."""
    step = analyzed.step
    if analyzed.plain or not analyzed.layers or analyzed.names[-1] not in READ_HERE:
        return ()
    layer, git = analyzed.layers[-1], analyzed.known[-1].git
    if git is None or layer.start is None or step.command.assignments or _means_otherwise(flow):
        return ()
    look = _Look(flow, places, paths, step.places is HERE, bool(git.folders))
    front = len(step.command.words) - len(layer.words) + git.start
    if step.command.words[layer.start :] != layer.words:
        return ()
    if any(word.prefix.startswith("--no-i") for word in layer.words):
        return ()  # its operands are files, which may be called like an object
    words = step.command.words
    end = next((at for at, word in enumerate(words) if at >= front and word.value == "--"), len(words))
    choices = [
        look.readings(word) or [(word,)] if front <= at < end and word.value is None else [(word,)]
        for at, word in enumerate(words)
    ]
    written = [[(word,)] for word in step.command.words]
    if choices == written or math.prod(map(len, choices)) > _MOST:
        return ()
    readings = [tuple(itertools.chain.from_iterable(found)) for found in itertools.product(*choices)]
    # Rules that deny or ask also see the words as they come, the name of the branch among them.
    readings += [tuple(constant(word.value) if word.value is not None else word for word in each) for each in readings]
    return [
        step._replace(command=step.command._replace(words=words), unwrapped=unwrap(words))
        for words in dict.fromkeys(readings)
    ]


def _means_otherwise(flow: CommandFlow) -> bool:
    """Whether the text changes what its names mean, how bash splits words or what git does."""
    facts = flow.facts
    for step in flow.steps:
        started = step.unwrapped.layers[:1]
        if any(program(layer.words[0].value or "") in MOVERS - _MOVING for layer in started):
            return True  # a text that the same shell reads may set any variable
    told = (name in _TELLING or name.startswith(("GIT_", "BASH_")) for name in facts.values)
    return bool(facts.functions or facts.aliases) or any(told)


_MOVING = frozenset({"cd", "pushd", "popd"})
_TELLING = frozenset({"IFS", "PATH", "HOME", "XDG_CONFIG_HOME"})


class _Look(NamedTuple):
    """What is known where such a word stands. ``here``: nothing moved the shell before. ``elsewhere``: the command
    itself works in another folder."""

    flow: CommandFlow
    places: Sequence[str] | None
    paths: PathJudge
    here: bool
    elsewhere: bool

    def readings(self, word: Word) -> list[tuple[Word, ...]]:
        """The words that one may become, a name first; none where it may be anything."""
        pieces = [piece for piece in word.pieces if not isinstance(piece, Text) or piece.text]
        if word.choices or word.prefix[:1] == "-" or word.form not in ("quoted", "split") or word.tilde:
            return []
        found = [self.piece(piece) for piece in pieces]
        if None in found or not any(isinstance(piece, Substitution | Variable) for piece in pieces):
            return []
        known = [each for each in found if each is not None]
        split = word.form == "split"
        if split and any(each.several for each in known) and len(known) > 1:
            return []
        texts = list(dict.fromkeys(map("".join, itertools.product(*(each.texts for each in known)))))
        if len(texts) > _MOST or not any(each.named for each in known):
            return []
        if any(holds_number(text) and not _NUMBERED.fullmatch(text) for text in texts):
            return []  # a path, in a folder or with an ending
        empty = split and not any(
            isinstance(piece, Substitution | Variable | Text) and piece.quoted for piece in pieces
        )
        readings = [() if empty and not text else (_named(word, text),) for text in texts]
        if split and any(each.several for each in known):
            readings += [(_named(word, texts[0]),) * count for count in (2, 3)]
        return readings

    def piece(self, piece: Piece) -> _Printed | None:
        """What stands in one piece, None if that is not known."""
        match piece:
            case Text(text=text):
                return _Printed((text,))
            case Substitution(script=script):
                listing = script_listing(script)
                return None if listing is None else self.printed(listing, here=True)
            case Variable(held=str(name)):
                return self.held(name)
            case _:
                return None

    def held(self, name: str) -> _Printed | None:
        """What a variable of the text's own holds: such a name, or a constant."""
        facts = self.flow.facts
        if name in facts.loose or name in facts.too_many or facts.patterns.get(name) or name in facts.words:
            return None
        values = sorted(value for value in facts.values.get(name, ()) if value is not None)
        if any(not _PLAIN.fullmatch(value) for value in values):
            return None
        here = self.here and facts.in_one_place
        found = [self.printed(listing, here=here) for listing in sorted(facts.listings.get(name, ()))]
        if not found or None in found:
            return None
        known = [each for each in found if each is not None]
        texts = dict.fromkeys(itertools.chain.from_iterable((*(each.texts for each in known), values)))
        return _Printed(tuple(texts), any(each.several for each in known), tuple(n for e in known for n in e.branch))

    def printed(self, listing: Listing, *, here: bool) -> _Printed | None:
        """What such commands print, the branch of now in its place."""
        found = _printed(listing)
        if found is None or not found.branch:
            return found if found is None or (here and not found.folders and not self.elsewhere) else _unsettled(found)
        names = self.branches(found.folders) if here else None
        if names is None:
            return None
        texts = tuple(dict.fromkeys(each.replace("*", name) for name in names for each in found.branch))
        return found._replace(texts=(*texts, *found.texts))

    def branches(self, folders: Sequence[Word]) -> list[str] | None:
        """The branch that is checked out, wherever this may run; None if that is not certain, or changes."""
        if not self.places or not all(map(_keeps_branch, self.flow.steps)):
            return None
        found = [_checked_out(entered_folder(place, folders, self.paths), self.paths) for place in self.places]
        names = [name for name in found if name is not None]
        return names if len(names) == len(found) else None


def _unsettled(printed: _Printed) -> _Printed:
    """The same where the names in it may mean something else than where it was printed."""
    return printed._replace(texts=tuple(OBJECT if text == COMMIT else text for text in printed.texts))


def _named(word: Word, text: str) -> Word:
    """A word with this text for its unknown part. Rules see it as it is written."""
    return constant(text)._replace(source=word.source, shape=word.shape, scripts=word.scripts, bare=False)


_NUMBERED = re.compile(rf"(?:\^|[\w@][\w./@{{}}~^-]*\.\.\.?)?(?:{OBJECT}|{COMMIT})(?:[~^@:.].*)?", re.ASCII | re.DOTALL)
"""An object, or a range that begins or ends with one."""

_PLAIN = re.compile(r"[\w@][\w./@{}~^-]*|", re.ASCII)
"""A constant that bash does not split, nor take for a pattern."""

_REVISION = re.compile(r"(?!.*\.\.)[\w@][\w./@-]*(?:@\{(?:u|upstream|push|\d+)\}|\^\{commit\}|[~^]\d*)*", re.ASCII)
_COMMITS = re.compile(r"\^?[\w@][\w./@{}~^-]*", re.ASCII)
_COMMON = re.compile(r"-a|--all|--octopus|--independent|--fork-point")
_PARSING = re.compile(r"-q|--quiet|--verify|--short(?:=\d+)?")
_LISTING = re.compile(
    r"-\d+|-n\d+|--(?:max-count|skip|min-parents|max-parents)=\d+|--reverse|--no-merges|--merges|--first-parent|--all|"
    r"--branches|--tags|--remotes|--topo-order|--date-order|--author-date-order|--abbrev-commit|--ancestry-path|"
    r"--full-history|--(?:since|until|after|before|author|committer|grep)=.*",
    re.DOTALL,
)
_VALUED = frozenset("-n --max-count --skip --since --until --after --before --author --committer --grep".split())
_ONE = re.compile(r"-1|-n1|--max-count=1")
_LINES = re.compile(r"(?:head|tail) -(?:n ?)?(\d+)")
_BRANCH = {
    ("branch", "--show-current"): ("*", ""),
    ("rev-parse", "--abbrev-ref", "HEAD"): ("*", "heads/*", "HEAD", ""),
    ("symbolic-ref", "--short", "HEAD"): ("*", "heads/*", ""),
    ("symbolic-ref", "-q", "--short", "HEAD"): ("*", "heads/*", ""),
}
"""Commands that print the branch which is checked out, and what they print, a star for its name."""


def _printed(listing: Listing) -> _Printed | None:
    """What these commands print, as far as it is certain."""
    words = tuple(map(constant, listing[0]))
    if listing[0][0] not in READ_HERE or not words[1:]:
        return None
    git = read_git(words)
    if git.subcommand is None or global_escapes(git) or git.start > len(words):
        return None
    found = _of_git(git.subcommand, listing[0][git.start :])
    for stage in listing[1:]:
        lines = _LINES.fullmatch(" ".join(stage))
        if found is None or lines is None or found.branch:
            return None
        found = found._replace(
            several=found.several and int(lines[1]) != 1, texts=tuple(dict.fromkeys((*found.texts, "")))
        )
    return found if found is None else found._replace(folders=git.folders)


def _of_git(subcommand: str, words: Sequence[str]) -> _Printed | None:
    if (branch := _BRANCH.get((subcommand, *words))) is not None:
        return _Printed((), branch=branch)
    options, operands = _sorted(words)
    match subcommand:
        case "merge-base":
            several = not {"-a", "--all", "--independent"}.isdisjoint(options)
            return _Printed((COMMIT, ""), several) if all(map(_COMMON.fullmatch, options)) and operands else None
        case "rev-parse":
            if len(operands) != 1 or "--" in words or not all(map(_PARSING.fullmatch, options)):
                return None
            if not _REVISION.fullmatch(operands[0]):
                return None
            # The number is a commit's if the name is, which is a reading of its own; a short one may be a ref's name.
            # A name that git does not know is printed as it is.
            short = any(option.startswith("--sh") for option in options)
            return _Printed((OBJECT if short else COMMIT, "", operands[0], f"{operands[0]}^{{commit}}"))
        case "rev-list":
            options, operands = _sorted(words, _VALUED)
            known = all(each in _VALUED or _LISTING.fullmatch(each) for each in options)
            one = any(map(_ONE.fullmatch, options)) or any(
                pair in {("-n", "1"), ("--max-count", "1")} for pair in itertools.pairwise(words)
            )
            number = OBJECT if "--abbrev-commit" in options else COMMIT
            return _Printed((number, ""), not one) if known and all(map(_COMMITS.fullmatch, operands)) else None
        case _:
            return None


def _sorted(words: Sequence[str], valued: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """Options, and operands in front of ``--``; the values of ``valued`` options are neither."""
    options: list[str] = []
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            break
        if word[:1] != "-" or word == "-":
            operands.append(word)
            continue
        options.append(word)
        if word in valued and next(rest, None) is None:
            options.append("-")  # its value is missing
    return options, operands


_CHANGES_NO_BRANCH = frozenset({"add", "stage", "commit", "push", "fetch", "pull", "tag"})
"""Subcommands that leave checked out what is, beside those that only read."""


def _keeps_branch(step: Step) -> bool:
    """Whether a command of the text surely leaves the same branch checked out: others than git might check out one."""
    if step.unwrapped.texts or step.unwrapped.unknown:
        return False
    for layer in step.unwrapped.layers:
        name = layer.words[0].value
        if name in READ_HERE:
            git = read_git(layer.words)
            if git.subcommand not in _CHANGES_NO_BRANCH and not only_reads(git):
                return False
        elif name is None or not (name in _NAMED_NEUTRAL or ((row := TABLES.get((name,))) is not None and row.known)):
            return False
    return True


_NAMED_NEUTRAL = frozenset("true false : [ test cd read exit break continue echo printf set".split())
"""Programs of bash that run nothing."""


_BRANCH_HEAD = re.compile(rb"ref: refs/heads/([A-Za-z0-9_][\w./+#-]*)\n?", re.ASCII)
_NUMBER = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\n?")
_MOST_HEAD = 300


def _checked_out(folder: str | None, paths: PathJudge) -> str | None:
    """The branch that is checked out here, nothing where none is; None if that is not certain."""
    repository = None if folder is None else repository_above(folder, paths)
    text = None if repository is None else _ordinary_text(f"{repository.own}/HEAD")
    if repository is None or text is None:
        return None
    found = _BRANCH_HEAD.fullmatch(text)
    if found is None:
        return "" if _NUMBER.fullmatch(text) else None
    name = found[1].decode()
    # A branch may itself stand for another one, whose name git prints.
    branch = f"{repository.shared}/refs/heads/{name}"
    number = _ordinary_text(branch)
    known = disk.path_stat(branch) in disk.MISSING if number is None else _NUMBER.fullmatch(number) is not None
    return name if known else None


def _ordinary_text(path: str) -> bytes | None:
    """What a file of a few lines holds that is no link, which git would read in another way."""
    found = disk.path_stat(path)
    return None if isinstance(found, int) or found.kind != stat.S_IFREG else disk.beginning(path, _MOST_HEAD)
