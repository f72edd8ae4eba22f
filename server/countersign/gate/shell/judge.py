"""``judge_command``: a command line in, findings out (docs/gate.md "Commands").

Puts together what the packages beside it know: the text is read and followed (``syntax``, ``flow``), each simple
command is looked through and compared with the records (``effects``, ``programs``), its files are judged (``files``),
and rules are matched (``rules``). Nothing is weighed here: that is ``decisions/decide.py``'s.
More than 500 lines, because all steps add to one state.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial, reduce
from typing import NamedTuple

from countersign.gate.call import RunCommand
from countersign.gate.finding import FILE_KINDS, Finding, Floor
from countersign.gate.paths.path_judge import PathJudge
from countersign.gate.probes import disk
from countersign.gate.rules.rule_set import RuleSet
from countersign.gate.shell.card_risks import risks_of
from countersign.gate.shell.effects.carried import Carried
from countersign.gate.shell.effects.unwrap import unwrap
from countersign.gate.shell.files.git_changes import NO_CHANGES, GitChanges, are_told, changes_of
from countersign.gate.shell.files.rewritten_folders import changes_index
from countersign.gate.shell.files.visited_folders import folders
from countersign.gate.shell.files.word_paths import moved_places
from countersign.gate.shell.files.word_values import join
from countersign.gate.shell.flow.control_flow import ANY, CommandFlow, Step
from countersign.gate.shell.flow.moves import HERE, activated
from countersign.gate.shell.flow.parse_cache import KEEP, Followed, follow
from countersign.gate.shell.flow.shared_input import shared_by
from countersign.gate.shell.printing.guarded_moves import with_guards
from countersign.gate.shell.printing.inner_texts import doubt
from countersign.gate.shell.printing.normal_values import NotPrintable
from countersign.gate.shell.printing.second_opinion import disagreement
from countersign.gate.shell.rules.analyzed_command import Analyses, AnalyzedCommand
from countersign.gate.shell.rules.brought_links import NO_LINKS, BroughtLinks, Earlier, brought_links, moved_into
from countersign.gate.shell.rules.context import JudgingContext, judging_context
from countersign.gate.shell.rules.file_findings import (
    file_findings,
    linked_words,
    run_files,
    unnamed_writes,
    with_command,
)
from countersign.gate.shell.rules.judge_one import floor, judge_simple_command, text_floors
from countersign.gate.shell.rules.letters import letters
from countersign.gate.shell.rules.listed_reads import keeps_names, may_read_listed
from countersign.gate.shell.rules.made_names import ANOTHER_INDEX, ANY_FILES, made_names
from countersign.gate.shell.rules.match import Coverage, touching
from countersign.gate.shell.rules.moved_paths import EVERYWHERE, given_names
from countersign.gate.shell.rules.opened_below import opens_none_below
from countersign.gate.shell.rules.other_readings import other_readings
from countersign.gate.shell.rules.printed_names import with_printed_names
from countersign.gate.shell.rules.rough_rules import rough_rules
from countersign.gate.shell.rules.single_names import with_quoted_names
from countersign.gate.shell.rules.spelled_out import MOST_IN_ALL, exact_spellings, spelled_out
from countersign.gate.shell.rules.texts_inside import may_run_again, runs_in_turn, texts_inside, texts_with_coverage
from countersign.gate.shell.rules.touched import FileFindings
from countersign.gate.shell.rules.unsettled_paths import State, Unsettled
from countersign.gate.shell.rules.whole_text import (
    OTHER_FILES,
    Whole,
    exact_rule,
    exact_rules,
    forbidding,
    means_what_it_meant,
    print_anew,
    proposals,
    with_exact,
    with_forbidding,
)
from countersign.gate.shell.rules.written_scripts import scripts_run, written_scripts
from countersign.gate.shell.syntax.bash_check import SyntaxChecker, is_plain
from countersign.gate.shell.syntax.plain_bash import outside
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.variables.assignments import may_be_obeyed
from countersign.gate.shell.variables.bindings import Facts, is_own_name
from countersign.wire.verdicts import Evidence

MAX_NESTED = 6
"""How deep texts inside of texts (``sh -c "sh -c …"``) are followed."""

MOST_COMMANDS = 320
"""How many simple commands of one text are judged, those of texts inside it with them. With more it asks."""

MOST_WORDS = 1_000
"""The same for their words, the expansions in these, assignments and redirections together."""

MOST_INNER_WORDS = 2_000
"""The same for the words of commands that these run by their words: each may hold nearly all of the one above it."""

MOST_LETTERS = 250_000
"""The same for the characters in the words and the input of all of them, each as often as it is used."""

MOST_LOOKS = 3_300
"""How many words and names of files are looked at for one decision, the same again in each reading of a command: one
of a thousand words may be read in dozens of ways, or name a file for each pair of them (``bzip2 -S a -S b …``)."""

_LOOKS_A_WRITER = 2
"""A command of a text that writes into files counts as this many looks: what it may print is followed into copies."""

_LINKS_A_LOOK = 8
"""As many links and folders that commands bring and move count as one look, each time that one more does so."""

MOST_FOLLOWED = 1_600
"""How many texts, and texts inside them, are looked at for links before the first of their commands is judged."""


class Part(NamedTuple):
    """One simple command as it is shown, which findings are about it, and what its words are warned of."""

    text: str
    findings: tuple[int, ...]
    risks: tuple[str, ...] = ()


_LONG = 400
"""A word with fewer characters than this counts as one, whatever it holds."""
_LETTERS = 4
"""How many characters of a longer one count as a word, where each may be an option that takes what follows it."""


def _options_inside(word: Word) -> int:
    """For how many words a long one counts, since each of its letters may be an option (``-vvv…``), and each part
    between commas as well (``-Wl,-x,-x,…``)."""
    if len(word.prefix) < _LONG or word.prefix[0] != "-" or word.prefix[1] == "-":
        return 0
    return len(word.prefix) // _LETTERS + word.prefix.count(",")


@dataclass(frozen=True, slots=True)
class CommandJudgement:
    """What the gate found out about a command.

    ``offers`` returns the rules that a card can offer for it: first the one for exactly this text, None where no rule
    can say it or would cover it; then rules for "always", narrowest first, each of which covers at least one part that
    nothing covers yet. ``scripts`` are absolute paths of workspace files that the text runs or reads as
    programs. ``exact_text`` says that a rule or grant holds exactly this text. ``printed`` is the text that runs if it
    is allowed without a person: the tree, printed anew; None where it has no such form or the agent runs its own text.
    """

    findings: tuple[Finding, ...]
    parts: tuple[Part, ...]
    offers: Callable[[], tuple[str | None, tuple[str, ...]]]
    risks: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    exact_text: bool = False
    printed: str | None = None


def judge_command(
    effect: RunCommand,
    rules: RuleSet,
    paths: PathJudge,
    agent: str,
    *,
    check_syntax: SyntaxChecker | None,
    builtin_reads: bool,
) -> CommandJudgement:
    """Find out about a command line. Reads the disk (links, kinds, what patterns match) and changes nothing; git may
    be started to name files (``files/git_asked.py``), and ``check_syntax`` may start bash to read the text. Without
    it, only texts of plain words count as checked."""
    prints = effect.understood and not effect.own_text
    context = judging_context(rules, paths, agent, effect.cwd, builtin_reads=builtin_reads, prints=prints)
    found = follow(effect.command)
    judged, after = _judged(effect, context, check_syntax, found)
    for _ in range(_MOST_ROUNDS):
        if after == _TextItself(context.made, context.earlier, context.git_before):
            break
        # The disk shows these files only once the text has run, or a part of it.
        context = replace(context, **after._asdict(), touched={}, chosen={}, searched={})
        judged, after = _judged(effect, context, check_syntax, found)
    if after != _TextItself(context.made, context.earlier, context.git_before):
        judged = replace(judged, findings=tuple(each._replace(not_plain=_TOO_MANY_STEPS) for each in judged.findings))
    if isinstance(found, Followed) and found.course.facts.values and not _forbidden(judged) and _lacks_a_rule(judged):
        by_values = _Judging(effect, context, check_syntax, by_values=True).run(found)
        if not _forbidden(by_values) and not _lacks_a_rule(by_values):
            return by_values
    if isinstance(found, Followed) and found.course.loops and not _forbidden(judged) and not _only_reads(judged):
        quoted = with_quoted_names(effect.command, found, context.start, paths)
        if quoted is not None:
            # A text that writes nothing makes no other names before it uses them.
            as_quoted = _Judging(effect, context, check_syntax).run(quoted)
            return as_quoted if _only_reads(as_quoted) else judged
    asks = _needs_a_rule(judged) or _asks_of_what_lies_below(judged)
    if builtin_reads and isinstance(found, Followed) and asks and may_read_listed(found.course):
        keeps = keeps_names(found.course)
        listing = replace(context, lists=True, keeps_names=keeps, touched={}, chosen={}, searched={})
        as_listed = _Judging(effect, listing, check_syntax).run(found)
        return as_listed if _only_reads(as_listed) else judged
    return judged


class _TextItself(NamedTuple):
    """What a text does that counts for its own commands, in fields of ``JudgingContext``."""

    made: frozenset[str]
    earlier: Earlier | None
    git_before: frozenset[tuple[str, int, GitChanges]]


def _judged(
    effect: RunCommand, context: JudgingContext, check_syntax: SyntaxChecker | None, found: Followed | str
) -> tuple[CommandJudgement, _TextItself]:
    """The judgement, and what the text does that counts for its own commands."""
    judging = _Judging(effect, context, check_syntax)
    judged = judging.run(found)
    if judging.too_long:
        return judged, _TextItself(context.made, context.earlier, context.git_before)  # it asks in any case
    made = made_names(judged.findings, context.paths.workspace, (*judging.given_names, *judging.taken_names()))
    made |= {ANY_FILES} if judging.brings_ignore_files() else set()
    made |= {ANOTHER_INDEX} if len(judging.index_changes) > 1 else set()
    return judged, _TextItself(made, judging.earlier(), judging.git_changes_ahead())


_MOST_ROUNDS = 3
"""How often a text is judged again with what it does itself: more than one further round is seldom needed."""

_TOO_MANY_STEPS = Evidence(
    source="plainBash", reason="its commands change each other's files in too many steps to follow"
)


def _needs_a_rule(judged: CommandJudgement) -> bool:
    """Whether nothing but a rule is missing for one of its commands."""
    return not _forbidden(judged) and any(
        each.kind == "command" and not (each.allow or each.grant or each.known_read or each.neutral)
        for each in judged.findings
    )


def _asks_of_what_lies_below(judged: CommandJudgement) -> bool:
    """Whether nothing asks but rules that are about something below a folder."""
    below = [each for each in judged.findings if each.ask_below]
    return bool(below) and not any(
        each.floors or each.deny or each.not_plain or (each.ask and not each.ask_below) for each in judged.findings
    )


def _forbidden(judged: CommandJudgement) -> bool:
    """Whether rules or floors speak against anything that was found."""
    return any(each.floors or each.deny or each.ask or each.not_plain for each in judged.findings)


def _lacks_a_rule(judged: CommandJudgement) -> bool:
    """Whether something asks since nothing speaks for it."""
    return any(
        each.requires_ask
        or (each.kind == "command" and not (each.allow or each.grant or each.known_read or each.neutral))
        for each in judged.findings
    )


def _only_reads(judged: CommandJudgement) -> bool:
    """Whether nothing was found that could write, or that asks where there is no rule."""
    return not _forbidden(judged) and all(
        each.known_read or each.neutral if each.kind == "command" else _is_read(each) for each in judged.findings
    )


def _without_ask(finding: Finding) -> Finding:
    return finding._replace(ask=None, ask_below=False, ask_idle=False, ask_lifts=False)


def _is_read(finding: Finding) -> bool:
    """Whether a file is read, and nothing asks."""
    return finding.kind == "read" and not (finding.floors or finding.deny or finding.ask or finding.requires_ask)


@dataclass(slots=True)
class _Judging:
    """The findings as they come in."""

    effect: RunCommand
    context: JudgingContext
    check_syntax: SyntaxChecker | None
    by_values: bool = False
    findings: list[Finding] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    cases: dict[int, AnalyzedCommand] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    redirected: set[int] = field(default_factory=set)
    escaped: set[int] = field(default_factory=set)
    scripts: dict[str, None] = field(default_factory=dict)
    risks: dict[str, None] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)
    not_plain: Evidence | None = None
    plain_texts: dict[str, None] = field(default_factory=dict)
    entered: set[Word] = field(default_factory=set)
    written: dict[str, Sequence[str]] = field(default_factory=dict)
    read_scripts: set[tuple[str, tuple[str, ...] | None, State]] = field(default_factory=set)
    rough_scripts: set[str] = field(default_factory=set)
    brought: BroughtLinks = NO_LINKS
    brought_by: dict[tuple[str, int], BroughtLinks] = field(default_factory=dict)
    given_names: set[str] = field(default_factory=set)
    index_changes: set[str] = field(default_factory=set)
    git_changes: dict[tuple[str, int], GitChanges] = field(default_factory=dict)
    told: set[int] = field(default_factory=set)
    unsettled: Unsettled = field(init=False)
    repeats: bool = False
    looped: bool = False
    beside: bool = False
    expected: BroughtLinks | None = None
    spellings: int = 0
    at_end: bool = False
    judged: int = 0
    words: int = 0
    inner_words: int = 0
    letters: int = 0
    followed: int = 0
    left_out: tuple[Evidence | None, Evidence | None] = None, None

    def __post_init__(self) -> None:
        earlier = self.context.earlier
        looped = earlier is not None and earlier.looped
        self.unsettled = Unsettled(self.context.program_path.inside, self.given_names, ran=looped)
        if earlier is not None:
            self.given_names |= earlier.given
            for kept in earlier.made:
                self.unsettled.keep(kept)

    def git_changes_ahead(self) -> frozenset[tuple[str, int, GitChanges]]:
        """What commands change for git ones that stand in front of them and may run later: each with its text and its
        pipeline."""
        if not (self.repeats or self.beside):
            return frozenset()
        changes = self.git_changes.items()
        return frozenset((text, ANY if self.repeats else beside, each) for (text, beside), each in changes)

    def git_changes_before(self, step: Step) -> GitChanges:
        """What other commands may change for git before this one runs."""
        ahead = (
            each
            for _, beside, each in self.context.git_before
            if ANY in (beside, step.beside) or (beside == step.beside and beside != 0)
        )
        return reduce(GitChanges.with_those, (*self.git_changes.values(), *ahead), NO_CHANGES)

    def earlier(self) -> Earlier | None:
        """What the commands did of which some may run before others that stand in front of them; None if nothing."""
        if not (self.repeats or self.beside):
            return None
        # What is only written matters to what moves or copies files of such names, and to git.
        counts = self.repeats or self.unsettled.arranged
        counts = counts or any(found.leads or found.gone for found in self.brought_by.values())
        brought = frozenset((*by, found) for by, found in self.brought_by.items() if counts)
        counts = counts or self.unsettled.completes
        made = frozenset(self.unsettled.kept if counts else ())
        found = Earlier(brought, made, frozenset(self.given_names), again=self.repeats, looped=self.looped)
        return found if brought or made else None

    def taken_names(self) -> Iterator[str]:
        """Names that the commands take away, and that of the repositories which they make: without an ignore file, and
        in another repository, a search leaves out other files."""
        yield from (path.rpartition("/")[2] for path in self.brought.gone)
        if self.context.repositories:
            yield ".git"

    def brings_ignore_files(self) -> bool:
        """Whether the commands may put ignore files somewhere, or take some away, without naming them."""
        found = self.brought
        unnamed = found.filled or found.replaced or found.moved or found.carried
        return bool(unnamed) or EVERYWHERE in found.gone

    def run(self, found: Followed | str) -> CommandJudgement:
        text = self.effect.command
        floors = list(text_floors(text))
        self.expect_links(NO_LINKS)
        if isinstance(found, Followed) or len(text) <= KEEP:
            self.must_be_plain(text)
        if isinstance(found, Followed):
            if floors:
                self.rough_judgment(text, only_ruled=True)
            else:
                floors += self.syntax_floors((text, *found.fragments))
            self.course(text, found.course, self.context.start, depth=0, covered=None)
            if self.too_long:
                floors.append(floor(self.why_too_long()))
                self.show_whole(text, *self.left_out)
        else:
            floors.append(floor(found))
            self.rough_judgment(text)
        if not self.findings:
            # A text of blanks and comments runs nothing.
            self.findings.append(Finding(kind="command", resource=text, category="execute", neutral=not floors))
            self.parts.append(Part(text, (0,)))
        if any(each.ask_lifts for each in self.findings) and self.only_reads_or_told():
            self.findings = [_without_ask(each) if each.ask_lifts else each for each in self.findings]
        started = self.started_elsewhere()
        if not self.effect.understood:
            self.only_hinted()
        self.add_floors(floors)
        sayable = not floors and self.effect.understood
        printed = self.certain_text(found) if sayable and isinstance(found, Followed) else None
        context = self.context
        deny, ask = forbidding(self.printed_texts(text, found), (part.text for part in self.parts), context)
        if deny is not None or ask is not None:
            self.findings = with_forbidding(self.findings, deny, ask)
        allow, grant = exact_rules(text, context)
        if grant is not None and not means_what_it_meant(grant, (), self.scripts, [context.start]):
            grant = None
        exact = allow is not None or grant is not None
        if not exact:
            self.ask_outside_plain_bash()
        whole = Whole(
            text,
            tuple(self.findings),
            self.cases,
            frozenset(self.named),
            frozenset(self.redirected),
            frozenset(self.escaped),
            started,
        )
        return CommandJudgement(
            with_exact(whole, allow, grant) if sayable else whole.findings,
            tuple(self.parts),
            (lambda: (exact_rule(whole, context), proposals(whole, context))) if sayable else (lambda: (None, ())),
            tuple(self.risks),
            tuple(self.scripts),
            exact and sayable,
            printed,
        )

    # --- the text as a whole -----------------------------------------------------------------------------------------

    def syntax_floors(self, texts: Sequence[str]) -> Iterator[Floor]:
        """Bash itself must accept the text, and each text inside it that bash looks at only when it runs it."""
        for text in texts:
            if is_plain(text):
                continue
            reason = "the text was not checked with bash" if self.check_syntax is None else self.check_syntax(text)
            if reason is not None:
                yield floor(reason)
                return

    def must_be_plain(self, text: str, *, inner: bool = False) -> None:
        """Keep the first construct outside Plain Bash, of this text or of one that it runs in turn."""
        if self.not_plain is None:
            found = outside(text) if len(text) > KEEP else _outside(text)
            if found is not None:
                reason = f"outside Plain Bash: {found}"
                if inner:
                    reason = f"outside Plain Bash in a text that it runs: {found}"
                self.not_plain = Evidence(source="plainBash", reason=reason)
            else:
                self.plain_texts[text] = None

    def certain_text(self, found: Followed) -> str | None:
        """Return the printed text of a command in Plain Bash. Where it has none, or the agent runs its own text and the
        second parser reads that otherwise, keep why it cannot be allowed."""
        if self.not_plain is not None:
            return None
        printed = found.printed_as(with_guards(found.script, self.entered)) if self.entered else found.printed
        if isinstance(printed, NotPrintable):
            reason = f"the command cannot be printed from its parse tree: {printed}"
        elif not self.effect.own_text:
            return printed
        else:
            reason = next(filter(None, (disagreement(each, self.check_syntax) for each in self.plain_texts)), None)
        self.not_plain = None if reason is None else Evidence(source="plainBash", reason=reason)
        return None

    def printed_texts(self, text: str, found: Followed | str) -> dict[str, Callable[[], str]]:
        """The text and those in Plain Bash that it runs in turn, each with how to print it anew."""
        if self.too_long:
            return {text: lambda: text}
        texts = {each: partial(print_anew, each) for each in (text, *self.plain_texts)}
        whole = found.printed if isinstance(found, Followed) and self.context.prints else None
        if isinstance(whole, str):
            return {**texts, text: lambda: whole}
        return dict(texts)

    def ask_outside_plain_bash(self) -> None:
        said = self.not_plain
        if said is not None:
            commands = any(finding.kind == "command" for finding in self.findings)
            self.findings = [
                finding._replace(not_plain=said) if finding.kind == "command" or not commands else finding
                for finding in self.findings
            ]

    def only_reads_or_told(self) -> bool:
        """Whether all commands of the text surely change nothing but what ``git_changes`` tells of them."""
        return all(
            index in self.told or (each.known_read or each.neutral if each.kind == "command" else each.kind == "read")
            for index, each in enumerate(self.findings)
        )

    def started_elsewhere(self) -> int | None:
        """Judge the folder that the command starts in as if the text went there by `cd`: return the index of what is
        found where that asks or is forbidden. No rule for a command covers it, since rules say nothing of folders."""
        paths, start = self.context.paths, self.effect.cwd
        if start == paths.workspace:
            return None
        found = paths.judge_read(start, cwd=paths.workspace, below=True)
        if not (found.floors or found.deny or found.ask or found.requires_ask):
            return None
        self.findings.append(found._replace(not_covered_by_command=True))
        return len(self.findings) - 1

    def only_hinted(self) -> None:
        """Nothing covers a command that is only guessed from an agent's words."""
        reason = Evidence(source="default", reason="the agent did not state the exact command")
        self.findings = [
            finding._replace(
                requires_ask=reason, known_read=False, neutral=False, allow=None, grant=None, auto_lifts=False
            )
            for finding in self.findings
        ]

    def add_floors(self, floors: Sequence[Floor]) -> None:
        if floors:
            self.findings = [
                finding._replace(floors=(*finding.floors, *floors)) if finding.kind == "command" else finding
                for finding in self.findings
            ]

    # --- commands ----------------------------------------------------------------------------------------------------

    def course(
        self,
        text: str,
        found: CommandFlow,
        start: str | None,
        *,
        depth: int,
        covered: Coverage | None,
        outer: Step | None = None,
        inherited: frozenset[str] = frozenset(),
    ) -> None:
        """Each simple command of a text, once for each place and input that it has. What is fed to the command that
        runs this text (``outer``) is fed to whatever in it reads its input. ``inherited`` are variables that have
        another value than the gate supposes. ``start`` is the folder, None if it is not known. Once the text is too
        long, only deny and ask rules for commands are looked for."""
        inherited |= found.changed
        self.letters += letters(found.steps, found.facts)
        analyses = Analyses(found.steps, found.facts)
        self.must_not_be_exported(found.facts)
        self.activate(found, start)
        if found.facts.descriptors_moved and not self.context.paths.descriptors_moved:
            self.context.paths.descriptors_moved = True  # also for what runs inside of this text
            self.context.forget_paths()
            if _STREAM.search(text) and self.not_plain is None:
                reason = "a name like `/dev/stdin` may stand for a file that the text opened for something else"
                self.not_plain = Evidence(source="plainBash", reason=reason)
        if not self.too_long and len(found.steps) <= MOST_COMMANDS:
            self.will_write(analyses)
        repeats = found.repeats or (outer is not None and may_run_again(outer))
        self.repeats, self.looped = self.repeats or repeats, self.looped or found.repeats
        self.beside = self.beside or found.beside
        if repeats and self.judged + len(found.steps) <= MOST_COMMANDS:
            # What stands behind a command may have run before it. Where that put something else, another round shows.
            before = self.brought
            self.bring_all(found, start, analyses, depth=depth)
            self.brought = self.brought._replace(moved=before.moved, carried=before.carried, gone=before.gone)
        # The same words mean the same in the same text, by its variables, until something is written or brought.
        for index, each in enumerate(found.steps):
            step = each
            if outer is not None:
                alone = len(found.steps) == 1 and len(outer.unwrapped.texts) < 2
                read = each.input.inside(outer.input, alone=alone)
                step = each._replace(input=shared_by(each.command, read))
                self.letters += sum(map(len, step.input.texts)) if step.input is not each.input else 0
            if outer is not None and outer.beside:
                step = step._replace(beside=ANY if step.beside else outer.beside)
            if self.too_long:
                self.only_ruled(step, partial(analyses.of, index, step))
                continue
            step = self.counted(step, found.facts)
            key = (text, start, depth, covered, inherited, self.unsettled.state, step.command.source, *step[2:])
            if key not in self.seen:
                self.seen.add(key)
                at, brought = len(self.parts), self.brought
                # Nothing runs behind the last command that could meet a link which it brings.
                self.at_end = depth == 0 and not (repeats or found.beside) and each is found.steps[-1]
                analyzed, *also = self.readings(analyses.of(index, step), found, start, depth=depth)
                spellings = [*also, *(each for one in (analyzed, *also) for each in self.spelled(one, start))]
                if self.by_values and (exact := self.exactly(analyzed, start)):
                    analyzed = exact[0]
                    spellings += [*exact[1:], *(each for one in exact for each in self.spelled(one, start))]
                for spelling in (analyzed, *spellings):
                    # A variable that is split may be very many words.
                    more = len(spelling.step.command.words) - len(step.command.words)
                    self.words += max(0, more)
                    if self.too_long and (more > 0 or spelling is not analyzed):
                        self.only_ruled(spelling.step, lambda spelling=spelling: spelling)
                        continue
                    if spelling is analyzed:
                        self.step(analyzed, start, depth=depth, covered=covered, inherited=inherited)
                        continue
                    # It runs in one of its spellings, and brings nothing before that.
                    own, others, self.brought = len(self.parts), self.brought, brought
                    first = len(self.findings)
                    self.step(spelling, start, depth=depth, covered=covered, inherited=inherited)
                    if spelling.step.guessed:
                        self.findings[first:] = map(_only_asking, self.findings[first:])
                    self.join_parts(at, own)
                    if (together := others.with_those(self.brought)) != self.brought:
                        self.forget()
                    self.brought = together
                self.unsettled.ran = True

    def will_write(self, analyses: Analyses) -> None:
        """Keep the scripts that these commands write, and those that texts inside them do: any of them may run before a
        command that stands in front of it."""
        met: set[str] = set()
        ahead = [(analyses, 0)]
        while ahead and len(met) <= MOST_FOLLOWED:
            outer, depth = ahead.pop()
            written = written_scripts(outer)
            self.context.spent.looks += _LOOKS_A_WRITER * len(outer.steps) if written else 0
            for name, texts in written.items():
                self.written[name] = list(dict.fromkeys((*self.written.get(name, ()), *texts)))
            for index in range(min(len(outer.steps), MOST_COMMANDS)) if depth < MAX_NESTED else ():
                for text in texts_inside(outer[index]) if not outer.steps[index].unwrapped.deep else ():
                    if text not in met and isinstance(inner := follow(text), Followed):
                        met.add(text)
                        ahead.append((Analyses(inner.course.steps, inner.course.facts), depth + 1))

    def activate(self, found: CommandFlow, start: str | None) -> None:
        """Keep the folders of programs that this text puts in front of the path, wherever in it: a loop comes back."""
        for step in found.steps:
            front = activated(step.command.words)
            places = self.places_of(step, start) if front is not None else None
            self.context.activated.extend(join(each, front or "", self.context.paths.home) for each in places or ())

    @property
    def too_long(self) -> bool:
        """Whether the text holds more than is judged."""
        return (
            self.judged > MOST_COMMANDS
            or self.words > MOST_WORDS
            or self.inner_words > MOST_INNER_WORDS
            or self.letters > MOST_LETTERS
            or self.context.spent.total > MOST_LOOKS
        )

    def why_too_long(self) -> str:
        if self.judged > MOST_COMMANDS:
            return f"it holds more than {MOST_COMMANDS} commands, too many to judge each"
        if self.words > MOST_WORDS or self.inner_words > MOST_INNER_WORDS:
            return f"it holds more than {MOST_WORDS} words, too many to judge each"
        if self.letters > MOST_LETTERS:
            return f"its commands hold and read more than {MOST_LETTERS} characters, too many to check"
        return f"more than {MOST_LOOKS} words and names of files are too many to check"

    def counted(self, step: Step, facts: Facts) -> Step:
        """The step, or as much of it as is judged."""
        command, left = step.command, MOST_WORDS - self.words
        self.judged += 1
        self.inner_words += sum([len(layer.words) for layer in step.unwrapped.layers[1:]])
        sizes = [1 + len(word.pieces) + _options_inside(word) for word in command.words]
        self.words += sum(sizes) + len(command.assignments) + len(command.redirects)
        if self.words <= MOST_WORDS:
            return step
        self.only_ruled(step, partial(AnalyzedCommand, step, facts))
        words = command.words[: sum(size <= left for size in itertools.accumulate(sizes))]
        rest = {"assignments": command.assignments[:left], "redirects": command.redirects[:left]}
        return step._replace(command=command._replace(words=words, **rest), unwrapped=unwrap(words))

    def only_ruled(self, step: Step, analyze: Callable[[], AnalyzedCommand]) -> None:
        """Keep the first deny and ask rule for a command that is not judged, since there are too many."""
        rules, agent = self.context.rules, self.context.agent
        if not self.context.ruled or self.left_out[0] is not None:
            return
        if step.command.plain and len(step.unwrapped.layers) == 1 and not step.unwrapped.texts:
            named = rules.commands_by_list(tuple([word.shape for word in step.command.words]), agent)
            if "deny" not in named and (self.left_out[1] is not None or "ask" not in named):
                return
        analyzed = analyze()
        said = [touching(analyzed, rules, agent)]
        texts = (*step.unwrapped.texts, *(use.text for use in analyzed.uses if use.text is not None))
        said += [rough_rules(text, rules, agent) for text in (() if step.unwrapped.deep else texts)]
        for deny, ask in said:
            self.left_out = self.left_out[0] or deny, self.left_out[1] or ask

    def must_not_be_exported(self, facts: Facts) -> None:
        """A variable of the text's own that the environment has, too, reaches each program that the text runs."""
        if self.not_plain is None:
            name = next((name for name in facts.values if is_own_name(name) and disk.variable(name) != ""), None)
            if name is not None:
                self.not_plain = Evidence(source="plainBash", reason=may_be_obeyed(name))

    def readings(
        self, analyzed: AnalyzedCommand, found: CommandFlow, start: str | None, *, depth: int
    ) -> list[AnalyzedCommand]:
        """The command, or each reading of it where git itself says what its words are."""
        if analyzed.plain or depth:
            return [analyzed]
        steps = with_printed_names(analyzed, found, self.places_of(analyzed.step, start), self.context.paths)
        self.spellings += len(steps)
        return [AnalyzedCommand(each, analyzed.facts, analyzed) for each in steps] or [analyzed]

    def spelled(self, analyzed: AnalyzedCommand, start: str | None) -> list[AnalyzedCommand]:
        """The same command as it may run as well. One that is not understood asks, whichever it is."""
        if analyzed.step.unwrapped.deep:
            return []
        here = start if analyzed.step.places is HERE else None
        steps = other_readings(analyzed, self.context.paths.home, here)
        self.spellings += MOST_IN_ALL + 1 if steps is None else len(steps)
        if self.spellings <= MOST_IN_ALL:
            return [AnalyzedCommand(step, analyzed.facts) for step in steps or ()]
        reason = f"`{analyzed.step.command.source}` can be spelled in too many ways to judge each"
        self.not_plain = self.not_plain or Evidence(source="plainBash", reason=reason)
        return []

    def exactly(self, analyzed: AnalyzedCommand, start: str | None) -> list[AnalyzedCommand]:
        """The command with each of the values that its variables have, if these are all that it may hold."""
        here = start if analyzed.step.places is HERE else None
        steps = exact_spellings(analyzed, self.context.paths.home, here)
        return [AnalyzedCommand(step, analyzed.facts) for step in steps]

    def join_parts(self, at: int, own: int) -> None:
        """Show a command once, as it is written, with all that was found of it."""
        spelled, shown = self.parts.pop(own), self.parts[at]
        risks = tuple(dict.fromkeys((*shown.risks, *spelled.risks)))
        self.parts[at] = Part(shown.text, (*shown.findings, *spelled.findings), risks)
        self.cases.pop(spelled.findings[0], None)

    def places_of(self, step: Step, start: str | None) -> list[str] | None:
        """Where a command may run, wherever its moves lead."""
        return None if start is None else folders(step.places, start, self.context.paths)

    def bring(self, analyzed: AnalyzedCommand, places: Sequence[str] | None) -> None:
        """Keep which links a command brings."""
        self.given_names.update(given_names(self.context, analyzed, places))
        found = brought_links(self.context, analyzed, places, self.brought)
        if found is NO_LINKS:
            return
        self.context.spent.looks += sum(map(len, found)) // _LINKS_A_LOOK
        by = analyzed.step.command.source, analyzed.step.beside
        self.brought_by[by] = self.brought_by.get(by, NO_LINKS).with_those(found)
        if (brought := self.brought.with_those(found)) != self.brought:
            self.brought = brought
            self.context.spent.looks += sum(map(len, brought)) // _LINKS_A_LOOK
            self.forget()

    def forget(self) -> None:
        """Judge equal commands and scripts again, since paths may mean something else."""
        self.seen.clear()
        self.read_scripts.clear()

    def bring_all(
        self,
        found: CommandFlow,
        start: str | None,
        analyses: Analyses,
        *,
        depth: int,
        met: set[tuple[str, str | None]] | None = None,
    ) -> None:
        """Keep which links the commands of a text bring, however they are spelled, and those of texts inside it."""
        met = set() if met is None else met
        self.followed += 1
        if self.followed > MOST_FOLLOWED:
            self.judged = max(self.judged, MOST_COMMANDS + 1)
            return
        left = MOST_IN_ALL  # with more the text asks
        for index, each in enumerate(found.steps):
            if self.too_long:
                return
            analyzed, places = analyses[index], self.places_of(each, start)
            spellings = (
                spelled_out(analyzed, self.context.paths.home, start if each.places is HERE else None) if left else ()
            )
            left = max(0, left - len(spellings or ()))
            for one in (analyzed, *[AnalyzedCommand(step, found.facts) for step in spellings or ()]):
                self.bring(one, places)
                deep = one.step.unwrapped.deep  # then the text asks
                for text in texts_inside(one) if depth < MAX_NESTED and not deep else ():
                    for place in moved_places(places, one.step.unwrapped.carried.folders, self.context.paths) or [None]:
                        if (text, place) not in met and isinstance(inner := follow(text), Followed):
                            met.add((text, place))
                            self.bring_all(
                                inner.course,
                                place,
                                Analyses(inner.course.steps, inner.course.facts),
                                depth=depth + 1,
                                met=met,
                            )

    def expect_links(self, brought: BroughtLinks) -> None:
        """Judge paths as they are once these links were brought."""
        if brought is self.expected:
            return
        self.expected = brought
        if self.context.paths.expect_links(
            brought.links, brought.filled, brought.replaced, brought.made, brought.moved, brought.carried
        ):
            self.context.forget_paths()

    def step(
        self,
        analyzed: AnalyzedCommand,
        start: str | None,
        *,
        depth: int,
        covered: Coverage | None,
        inherited: frozenset[str],
    ) -> None:
        """The findings of one simple command: about itself, then about the files that it names."""
        index = len(self.findings)
        self.context.spent.looks += sum([len(layer.words) for layer in analyzed.layers])
        if runs_in_turn(analyzed.step):
            self.bring(analyzed, self.places_of(analyzed.step, start))
        if self.context.earlier is not None:
            self.brought = self.context.earlier.before(analyzed.step.command.source, analyzed.step.beside, self.brought)
        self.expect_links(self.brought)
        places = leads = None
        if start is not None:
            # What ran before a text inside this one may have removed folders, and only a printed text is guarded.
            entered = self.entered if depth == 0 and self.context.prints else None
            here = analyzed.step.places is HERE
            places = [start] if here else folders(analyzed.step.places, start, self.context.paths, entered)
            if analyzed.step.leads is not None:
                leads = folders(analyzed.step.leads, start, self.context.paths, entered)
        self.context.git.changed = self.git_changes_before(analyzed.step)
        finding, coverage = judge_simple_command(self.context, analyzed, places, covered, leads)
        touched_files = self.looked_up(file_findings(self.context, analyzed, places))
        scripts = list(run_files(self.context, analyzed, places))
        if not (finding.allow or finding.neutral or finding.known_read):
            scripts += linked_words(self.context, analyzed, places)
        if finding.grant is not None and coverage.rule is not None:
            resources = [
                each.resource for touched in touched_files for each in touched.findings if each.kind in FILE_KINDS
            ]
            if not means_what_it_meant(coverage.rule, resources, scripts, places):
                finding, coverage = finding._replace(grant=None, near_miss_reason=OTHER_FILES), Coverage()
        self.findings.append(finding)
        targets: set[int] = set()
        for touched in touched_files:
            if touched.written:
                at = len(self.findings) - index
                targets.update(range(at, at + len(touched.findings)))
            for each in touched.findings:
                if touched.named:
                    self.named.add(len(self.findings))
                if not touched.by_command:
                    self.redirected.add(len(self.findings))
                seen = each._replace(not_covered_by_command=True) if finding.neutral and each.kind == "read" else each
                if (
                    seen.ask_below
                    and touched.by_command
                    and opens_none_below(self.context, analyzed, finding, places, idle=seen.ask_idle)
                ):
                    # What git tracks, and what is checked out, any other command may change.
                    of_git = any(known.git is not None for known in analyzed.known)
                    seen = seen._replace(ask_lifts=True) if of_git else _without_ask(seen)
                if self.context.lists and finding.known_read and touched.by_command and _is_read(seen):
                    seen = seen._replace(known_read=True)  # what a listing names was looked at
                self.findings.append(with_command(seen, coverage) if touched.by_command else seen)
        if coverage.writes:
            self.findings += unnamed_writes(self.context, analyzed, places)
        if self.brought.leads:
            for place in dict.fromkeys((*moved_into(self.context, places), *moved_into(self.context, leads))):
                self.findings.append(
                    self.context.paths.judge_read(place, cwd="/")._replace(not_covered_by_command=True)
                )
        risks = risks_of(analyzed, places, self.context.paths)
        redirected = self.redirected.intersection(range(index, len(self.findings)))
        self.findings[index:] = self.unsettled.judged(
            analyzed, self.findings[index:], {each - index for each in redirected}, targets, places, self.context.paths
        )
        about = tuple(range(index, len(self.findings)))
        self.parts.append(Part(analyzed.step.command.source, about, risks))
        if any(known.git is not None and changes_index(known.git) for known in analyzed.known):
            self.index_changes.add(analyzed.step.command.source)
        for known in analyzed.known:
            if known.git is not None:
                self.change_git(analyzed.step, changes_of(known.git, places, self.context.paths))
                if len(analyzed.known) == 1 and are_told(known.git):
                    self.told.update(set(about) - redirected)
        if not (finding.allow or finding.grant or finding.neutral or finding.known_read):
            # The others are let go at once: a long text would keep thousands.
            self.cases[index] = analyzed.written or analyzed
        for file in scripts:
            self.scripts[file] = None
        for risk in risks:
            self.risks[risk] = None
        inner_texts = analyzed.uses or analyzed.step.unwrapped.texts or analyzed.step.input.texts
        if inner_texts or not self.at_end:
            self.bring(analyzed, places)
        if self.written:
            cover = covered or (coverage if coverage.evidence is not None else None)
            self.run_scripts(analyzed, places, depth + 1, covered=cover, inherited=inherited)
        carried = analyzed.step.unwrapped.carried
        if carried.other_root and self.not_plain is None:
            reason = f"`{analyzed.step.command.source}` may run under another root, where paths name other files"
            self.not_plain = Evidence(source="plainBash", reason=reason)
        if inner_texts:
            inner = len(self.findings)
            for text, cover in texts_with_coverage(analyzed, covered, coverage):
                self.must_mean_the_same(text, inherited, carried)
                there = moved_places(places, carried.folders, self.context.paths)
                self.inside(text, there, analyzed.step, depth=depth + 1, covered=cover, inherited=inherited)
            if not analyzed.step.unwrapped.texts and not analyzed.step.input.texts:
                self.escaped.update(range(inner, len(self.findings)))

    def change_git(self, step: Step, changes: GitChanges) -> None:
        """Keep what a command changes, and judge equal ones again, as git may print something else."""
        by = step.command.source, step.beside
        before = self.git_changes.get(by, NO_CHANGES)
        if (together := before.with_those(changes)) != before:
            self.git_changes[by] = together
            self.forget()

    def looked_up(self, found: Iterator[FileFindings]) -> list[FileFindings]:
        """What is found of the files of a command, up to what one decision may look up."""
        touched: list[FileFindings] = []
        for each in found:
            touched.append(each)
            self.context.spent.looks += 1
            if self.context.spent.total > MOST_LOOKS:
                break
        return touched

    def must_mean_the_same(self, text: str, inherited: frozenset[str], carried: Carried) -> None:
        """A text that runs in turn is judged by the values that variables have here, so none that it obeys may have
        another there."""
        changed = inherited | carried.variables
        if carried.other_home and _USES_HOME.search(text):
            changed |= {"HOME"}
        if changed and self.not_plain is None:
            named = " and ".join(f"`{name}`" if name.isidentifier() else name for name in sorted(changed))
            self.not_plain = Evidence(
                source="plainBash", reason=f"{named} may have another value in a text that it runs"
            )

    def inside(
        self,
        text: str,
        places: Sequence[str] | None,
        outer: Step,
        *,
        depth: int,
        covered: Coverage | None,
        inherited: frozenset[str],
    ) -> None:
        """A text that a shell reads in turn, or a command that an escape runs."""
        self.must_be_plain(text, inner=True)
        if self.not_plain is None and (reason := doubt(text, outer.unwrapped)) is not None:
            self.not_plain = Evidence(source="plainBash", reason=reason)
        found = "shells are nested too deeply to analyze" if depth > MAX_NESTED else follow(text)
        if isinstance(found, Followed):
            self.run_inside(text, found, places, outer, depth, covered=covered, inherited=inherited)
            return
        self.rough_judgment(text)
        self.findings[-1] = self.findings[-1]._replace(floors=(floor(found),))

    def run_scripts(
        self,
        analyzed: AnalyzedCommand,
        places: Sequence[str] | None,
        depth: int,
        *,
        covered: Coverage | None,
        inherited: frozenset[str],
    ) -> None:
        """Scripts that the text itself writes and this command runs. One that is not understood asks no more than one
        that was there before."""
        plain = self.not_plain
        for text in scripts_run(analyzed, self.written):
            at = text, None if places is None else tuple(places), self.unsettled.state
            if at in self.read_scripts:
                continue
            self.read_scripts.add(at)
            if text not in self.rough_scripts:
                self.rough_scripts.add(text)
                self.rough_judgment(text, only_ruled=True)
            self.letters += len(text)
            found = follow(text) if depth <= MAX_NESTED and not self.too_long else None
            if isinstance(found, Followed):
                self.run_inside(text, found, places, analyzed.step, depth, covered=covered, inherited=inherited)
        self.not_plain = plain

    def run_inside(
        self,
        text: str,
        found: Followed,
        places: Sequence[str] | None,
        outer: Step,
        depth: int,
        *,
        covered: Coverage | None,
        inherited: frozenset[str],
    ) -> None:
        """What such a text does, or a script that the text writes and runs, wherever it may start."""
        for place in places if places is not None else [None]:
            # An inner shell may start at the folder that a link names.
            linked = place is not None and self.context.paths.resolve(place, cwd="/").resolved != place
            start = None if linked else place
            self.course(text, found.course, start, depth=depth, covered=covered, outer=outer, inherited=inherited)

    # --- texts that are not understood -------------------------------------------------------------------------------

    def rough_judgment(self, text: str, *, only_ruled: bool = False) -> None:
        """Deny and ask rules for whatever could be a command in a text that was not read."""
        deny, ask = rough_rules(text, self.context.rules, self.context.agent) if self.context.ruled else (None, None)
        if only_ruled and deny is None and ask is None:
            return
        self.show_whole(text, deny, ask)

    def show_whole(self, text: str, deny: Evidence | None = None, ask: Evidence | None = None) -> None:
        """Show a text in one piece, with what rules say of it."""
        self.parts.append(Part(text, (len(self.findings),)))
        self.findings.append(Finding(kind="command", resource=text, category="execute", deny=deny, ask=ask))


def _only_asking(finding: Finding) -> Finding:
    return finding if finding.deny is None else finding._replace(deny=None, ask=finding.ask or finding.deny)


_STREAM = re.compile(r"/dev/(?:std|fd\b)")
"""Some programs open streams of these names by themselves (``awk '{print > "/dev/stderr"}'``)."""

_USES_HOME = re.compile(r"~|\bHOME\b|\bcd[ \t]*(?:[\n;&|)]|\Z)")
"""What leads to the home of whoever runs the text."""


_outside = lru_cache(maxsize=1024)(outside)
