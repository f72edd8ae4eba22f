"""What a command line is judged under: the rules, the paths, whose call it is, and where it would run."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.paths.spent import Spent
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.effects.chosen_programs import ProgramPath, program_path
from countersign.gate.shell.effects.settings_inside import settings_inside
from countersign.gate.shell.files.git_changes import NO_CHANGES, GitChanges
from countersign.gate.shell.files.searched_secrets import Search
from countersign.gate.shell.syntax.tree import Word

if TYPE_CHECKING:
    from countersign.gate.shell.rules.brought_links import Earlier
    from countersign.gate.shell.rules.touched import FileFindings
    from countersign.gate.shell.variables.bindings import Facts


@dataclass(slots=True)
class GitState:
    """What may have changed before the command that is judged now."""

    changed: GitChanges = NO_CHANGES


@dataclass(frozen=True, slots=True)
class JudgingContext:
    """The same for every part of one text. ``start`` is the absolute folder where the text starts; ``ruled`` says that
    there are deny or ask rules about commands at all, ``rules_files`` that there are such about files, ``granting``
    that there are grants, ``prints`` that what runs is the text that was printed from the judged tree. ``lists``: names
    that a listing prints now are looked at, so that reading them needs no rule (``listed_reads.py``), where
    ``keeps_names`` also those that a variable keeps. ``inside_path``
    and ``outside_path`` are the folders where programs are found, in the workspace and elsewhere. ``touched`` keeps
    what was found of names, for when they are touched again,
    ``patterns`` the words that were looked up as such,
    ``repositories`` the words by which git makes any in this text,
    ``searched`` the secrets below folders that are searched, and ``chosen`` whether a file may choose what runs under a
    name in some places. ``made`` are names of files that the text makes and that say what a command does
    (``made_names.py``), and ``earlier`` is what the commands did that may run before those in front of
    them. ``activated`` are folders
    of programs that the text puts in front of the path, and ``walked`` the listings that were looked
    through. ``asking_folders`` says of folders whether writing there asks, and ``asking_moves`` of a text whether its
    moves may lead to one of them (``where_it_runs.py``). ``git`` says what those that run before a command change of
    what git prints, and ``git_before`` what commands do that may run before others in front of them, each with its text
    and its pipeline."""

    rules: RuleSet
    paths: PathJudge
    agent: str
    builtin_reads: bool
    start: str
    ruled: bool
    rules_files: bool
    granting: bool
    prints: bool
    program_path: ProgramPath
    lists: bool = False
    keeps_names: bool = False
    touched: dict[Hashable, FileFindings] = field(default_factory=dict)
    patterns: list[Word] = field(default_factory=list[Word])
    repositories: set[str] = field(default_factory=set[str])
    searched: dict[Search, tuple[str, ...] | None] = field(default_factory=dict)
    chosen: dict[tuple[str, tuple[str, ...]], bool] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    earlier: Earlier | None = None
    activated: list[str] = field(default_factory=list)
    walked: set[Hashable] = field(default_factory=set[Hashable])
    asking_folders: dict[str, bool] = field(default_factory=dict[str, bool])
    asking_moves: dict[int, tuple[Facts, bool]] = field(default_factory=dict)
    git: GitState = field(default_factory=GitState)
    git_before: frozenset[tuple[str, int, GitChanges]] = frozenset()

    @property
    def settings_inside(self) -> bool:
        """Whether settings of programs may lie in the workspace; looked up once in a text."""
        if _SETTINGS not in self.chosen:
            self.chosen[_SETTINGS] = settings_inside(self.paths)
        return self.chosen[_SETTINGS]

    def forget_paths(self) -> None:
        """Drop what was found of paths, since these may mean something else from here on."""
        self.touched.clear()
        self.asking_folders.clear()
        self.asking_moves.clear()

    @property
    def spent(self) -> Spent:
        """Counts what all this took."""
        return self.paths.spent


_SETTINGS = "", ()
"""Stands for all programs in ``chosen``."""


def judging_context(
    rules: RuleSet,
    paths: PathJudge,
    agent: str,
    cwd: str,
    *,
    builtin_reads: bool,
    prints: bool,
) -> JudgingContext:
    """Put them together, and find out once what every part would ask again."""
    return JudgingContext(
        rules,
        paths,
        agent,
        builtin_reads,
        start=cwd if cwd.startswith("/") else f"{paths.workspace}/{cwd}",
        ruled=bool(rules.commands_of("deny", None, agent) or rules.commands_of("ask", None, agent)),
        rules_files=rules.limits("Read") or rules.limits("Edit"),
        granting=bool(rules.commands_of("grant", None, agent)),
        prints=prints,
        program_path=program_path(paths.workspace, paths.home),
    )
