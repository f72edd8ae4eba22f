"""``judge_command``: a command line in, findings out (RULES.md 3).

Puts together what the other files of this folder know: the text is read (``parse``), walked (``flow``), each simple
command is looked through (``wrappers``), compared with the tables (``escapes``, ``known``, ``touches``) and with the
rules (``cover``), and what it names is judged as paths (``places``). Nothing is weighed here: that is ``policy.py``'s.

INVARIANT (strictest): a part that no branch here speaks for has neither ``allow`` nor ``neutral`` nor ``known_read``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from countersign.settings.policy import RuleText
from countersign.wire.verdicts import Evidence

from ..call import RunCommand
from ..finding import Finding, Floor
from ..grammar import compile_rule
from ..paths import PathJudge
from ..pattern import CommandPattern
from ..rule import RuleSet, evidence
from .cover import Case, Coverage, any_rule, covering, may_touch, touching
from .display import unshowable
from .facts import Facts
from .flow import Course, Step, course
from .git import read_git
from .known import only_in_workspace, only_reads_by_words
from .loose import pieces
from .names import unsafe_assignment
from .neutral import neutral_reason
from .parse import read, read_kept
from .places import Lookout, folders, literal
from .proposals import propose
from .repository import strange_repository
from .risks import risks_of
from .script import NotUnderstood, Redirect, Simple, Word
from .syntax import is_plain
from .touches import Touch, touches
from .wrappers import unwrap

SyntaxChecker = Callable[[str], str | None]
"""Whether bash accepts a text: None if it does, else why not."""

MAX_BYTES = 100 * 1024
"""Longer texts are never allowed (S5)."""

MAX_READ = 1_000_000
"""Bytes up to which a text is read properly, so that deny rules see all of it; past this it is looked at roughly."""

KEEP_BYTES = 8192
"""Texts up to this size are kept with what they were read as."""

MAX_NESTED = 6
"""How deep texts inside of texts (``sh -c "sh -c …"``) are followed."""


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command as it is shown, and which findings are about it."""

    text: str
    findings: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CommandJudgement:
    """All that is to be said of a command.

    ``exact_rule`` says this very text and no other, None where a rule cannot say it or would not cover it.
    ``proposals`` are rules for "always", narrowest first; each covers at least one part that nothing covers yet.
    ``scripts`` are absolute paths of workspace files that the text runs or reads as programs.
    """

    findings: tuple[Finding, ...]
    parts: tuple[Part, ...]
    risks: tuple[str, ...] = ()
    exact_rule: str | None = None
    proposals: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


def judge_command(
    effect: RunCommand,
    rules: RuleSet,
    paths: PathJudge,
    agent: str,
    *,
    check_syntax: SyntaxChecker | None,
    builtin_reads: bool,
) -> CommandJudgement:
    """Find out about a command line. Reads the disk (links, kinds, what patterns match), changes and starts nothing;
    ``check_syntax`` may start bash to read the text. Without it, only texts of plain words count as checked."""
    return _Judging(effect, rules, paths, agent, check_syntax, builtin_reads=builtin_reads).run()


@dataclass(slots=True)
class _Judging:
    """The findings as they come in."""

    effect: RunCommand
    rules: RuleSet
    paths: PathJudge
    agent: str
    check_syntax: SyntaxChecker | None
    builtin_reads: bool
    findings: list[Finding] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    cases: list[tuple[int, Case]] = field(default_factory=list)
    scripts: dict[str, None] = field(default_factory=dict)
    risks: dict[str, None] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    seen: set[object] = field(default_factory=set)

    def run(self) -> CommandJudgement:
        text = self.effect.command
        floors = list(self.text_floors(text))
        found = self.read(text)
        if floors and isinstance(found, Course):
            self.roughly(text)
        if isinstance(found, Course):
            if not floors:
                floors += self.syntax_floors(text)
            self.course(found, self.start_folder(), depth=0, covered=None)
        else:
            floors.append(_floor(found))
            self.roughly(text)
        if not self.findings:
            # A text of blanks and comments runs nothing.
            self.findings.append(Finding(kind="command", resource=text, category="execute", neutral=not floors))
            self.parts.append(Part(text, (0,)))
        if not self.effect.understood:
            self.only_hinted()
        self.add_floors(floors)
        grant = self.whole_grant()
        if grant is not None:
            self.findings = [self.granted(index, finding, grant) for index, finding in enumerate(self.findings)]
        sayable = not floors and self.effect.understood
        return CommandJudgement(
            tuple(self.findings),
            tuple(self.parts),
            tuple(self.risks),
            self.exact_rule() if sayable else None,
            tuple(self.propose()) if sayable else (),
            tuple(self.scripts),
        )

    # --- the text as a whole -----------------------------------------------------------------------------------------------

    def text_floors(self, text: str) -> Iterator[Floor]:
        reason = unshowable(text)
        if reason is not None:
            yield _floor(reason)
        if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
            yield _floor("the text is longer than 100 KiB")

    def read(self, text: str) -> Course | str:
        """What the text was read as, or why it was not."""
        if "\0" in text or len(text) > MAX_READ:
            return "the text holds NUL" if "\0" in text else "the text is too long to be read"
        try:
            text.encode()
        except UnicodeEncodeError:
            return "the text holds characters that cannot be shown"
        if len(text) > KEEP_BYTES:
            try:
                return course(read(text))
            except NotUnderstood as error:
                return str(error)
        return _kept_course(text)

    def syntax_floors(self, text: str) -> Iterator[Floor]:
        """Bash itself must accept the text, and each text inside it that bash looks at only when it runs it."""
        reading = read_kept(text) if len(text) <= KEEP_BYTES else read(text)
        fragments = () if isinstance(reading, NotUnderstood) else reading.fragments
        for each in (text, *fragments):
            if is_plain(each):
                continue
            if self.check_syntax is None:
                yield _floor("the text was not checked with bash")
                return
            reason = self.check_syntax(each)
            if reason is not None:
                yield _floor(reason)
                return

    def start_folder(self) -> str:
        cwd = self.effect.cwd
        return cwd if cwd.startswith("/") else f"{self.paths.workspace}/{cwd}"

    def only_hinted(self) -> None:
        reason = Evidence(source="default", reason="what the agent would run is only hinted at")
        self.findings = [
            replace(finding, must_ask=reason, known_read=False, neutral=False, allow=None, grant=None, auto_lifts=False)
            for finding in self.findings
        ]

    def add_floors(self, floors: Sequence[Floor]) -> None:
        if floors:
            self.findings = [
                replace(finding, floors=(*finding.floors, *floors)) if finding.kind == "command" else finding
                for finding in self.findings
            ]

    # --- commands ----------------------------------------------------------------------------------------------------------

    def course(self, found: Course, start: str, *, depth: int, covered: Coverage | None) -> None:
        for step in found.steps:
            key = (step.command.source, step.places, step.fed, step.piped, start, depth, covered is None)
            if key in self.seen and not _holds_scripts(step.command):
                continue
            self.seen.add(key)
            self.step(Case(step, found.facts), start, depth=depth, covered=covered)

    def step(self, case: Case, start: str, *, depth: int, covered: Coverage | None) -> None:
        """The findings of one simple command: about itself, then about the files that it names."""
        index = len(self.findings)
        command = case.step.command
        places = folders(case.step.places, start, self.paths)
        finding, coverage = self.command(case, places, covered)
        touched = [self.touched(case, touch, places) for touch in self.named_files(case)]
        touched += [self.redirected(redirect, case, places) for redirect in command.redirects]
        self.findings.append(finding)
        for some, by_command, named in touched:
            for each in some:
                if named:
                    self.named.add(len(self.findings))
                self.findings.append(self.with_command(each, coverage) if by_command else each)
        self.parts.append(Part(command.source, tuple(range(index, len(self.findings)))))
        self.cases.append((index, case))
        self.run_files(case, places)
        for risk in risks_of(case):
            self.risks.setdefault(risk)
        self.inside(case, start, depth=depth, covered=covered, coverage=coverage)

    def inside(
        self, case: Case, start: str, *, depth: int, covered: Coverage | None, coverage: Coverage
    ) -> None:
        """The texts that a shell reads in turn, and commands that escapes run."""
        unwrapped = case.step.unwrapped
        whole = covered or (coverage if coverage.whole else None)
        texts = dict.fromkeys((*unwrapped.texts, *(case.step.fed if unwrapped.fed else ())), whole)
        for use in case.uses:
            if use.text:
                # Where a rule covers the command, it names this use of it.
                texts.setdefault(use.text, covered or (coverage if coverage.evidence is not None else None))
        for text, covered in texts.items():  # noqa: PLR1704 - what covers differs from text to text
            if depth >= MAX_NESTED:
                self.findings.append(_unread(text, "texts are nested deeper than we follow"))
                continue
            found = self.read(text)
            if isinstance(found, Course):
                folder = folders(case.step.places, start, self.paths)
                for each in folder if folder is not None else [start]:
                    self.course(found, each, depth=depth + 1, covered=covered)
            else:
                self.roughly(text)
                if covered is None:
                    self.findings.append(_unread(text, found))

    def command(
        self, case: Case, places: Sequence[str] | None, covered: Coverage | None
    ) -> tuple[Finding, Coverage]:
        command = case.step.command
        deny = touching(case, "deny", self.rules, self.agent)
        ask = touching(case, "ask", self.rules, self.agent)
        finding = Finding(
            kind="command",
            resource=command.source,
            category="execute",
            deny=deny,
            ask=ask,
            text=command.source,
        )
        if case.step.unwrapped.deep:
            finding = replace(finding, floors=(_floor("wrappers stand in front of each other deeper than we follow"),))
        finding = self.not_known(finding, case)
        if not case.layers and not command.assignments and command.kind == "command":
            # Redirections alone: what they touch is judged by itself.
            reason = case.evaluates
            return replace(finding, neutral=reason is None, uncovered=reason), Coverage()
        neutral, why_not = self.neutral(case, places)
        if neutral and finding.must_ask is None:
            return replace(finding, neutral=True, category="read"), Coverage(
                Evidence(source="default", reason="it needs no rule")
            )
        if covered is not None:
            return self.by(finding, covered, places, case), covered
        allow = covering(case, "allow", self.rules, self.agent)
        grant = covering(case, "grant", self.rules, self.agent)
        coverage = allow if allow.evidence is not None else grant
        finding = replace(finding, uncovered=why_not or allow.near or grant.near)
        if coverage.evidence is not None:
            finding = self.by(finding, coverage, places, case)
        if finding.must_ask is None and self.only_reads(case, places):
            finding = replace(finding, known_read=True, category="read", uncovered=None)
        return finding, Coverage() if finding.allow is None and finding.grant is None else coverage

    def by(self, finding: Finding, coverage: Coverage, places: Sequence[str] | None, case: Case) -> Finding:
        """The finding with what covers it, unless its repository is not what it seems."""
        strange = self.strange_place(case, places)
        if strange is not None or coverage.evidence is None or finding.must_ask is not None:
            return replace(finding, uncovered=strange or finding.uncovered)
        if coverage.evidence.source == "grant":
            return replace(finding, grant=coverage.evidence, uncovered=None)
        return replace(finding, allow=coverage.evidence, uncovered=None)

    def not_known(self, finding: Finding, case: Case) -> Finding:
        """What is not known before it runs asks, and under deny or ask rules even a bypass does not lift that."""
        step = case.step
        unnamed = case.unnamed
        reason = None
        if unnamed is not None:
            reason = f"what `{unnamed.source}` runs is not known before it runs"
        elif step.unwrapped.unknown is not None:
            reason = step.unwrapped.unknown
        elif step.unwrapped.fed and step.piped and not step.fed and _shell_inside(case):
            reason = "what the shell reads is not known before it runs"
        if reason is not None:
            ruled = any_rule(self.rules, self.agent)
            return replace(
                finding, must_ask=ruled or Evidence(source="default", reason=reason), bypass_lifts=ruled is None
            )
        maybe = may_touch(case, self.rules, self.agent)
        return finding if maybe is None else replace(finding, must_ask=maybe, bypass_lifts=False)

    def neutral(self, case: Case, places: Sequence[str] | None) -> tuple[bool, str | None]:
        """Whether no rule is needed, or why a command of the neutral kind is not neutral here."""
        command, facts = case.step.command, case.facts
        for assignment in command.assignments:
            reason = unsafe_assignment(assignment)
            if reason is not None:
                return False, reason
        if case.evaluates is not None:
            return False, case.evaluates
        if case.redefined is not None:
            return False, None
        if command.words and command.words[0].value == "cd":
            return self.changing_folder(case, places)
        kind, why_not = neutral_reason(command, facts)
        return kind and why_not is None, why_not

    def changing_folder(self, case: Case, places: Sequence[str] | None) -> tuple[bool, str | None]:
        target = _cd_target(case.step.command)
        if target is None:
            return False, "`cd` leads to a place that is not known before it runs"
        inside = target.value is not None and all(
            self.paths.inside_workspace(literal(target), cwd=place) for place in places or ()
        )
        if places is None or not inside:
            return False, "`cd` leads out of the workspace" if places is not None else "`cd` may start from anywhere"
        return True, None

    def only_reads(self, case: Case, places: Sequence[str] | None) -> bool:
        """Whether the fixed read-only set holds this command."""
        if not self.builtin_reads or places is None or case.layers == () or case.step.command.kind != "command":
            return False
        if case.evaluates or case.redefined or case.facts.aliases or case.step.command.assignments:
            return False
        if any(layer.way not in ("self", "clear") for layer in case.layers) or case.step.unwrapped.texts:
            return False
        name, words, known = case.names[-1], case.layers[-1].words, case.known[-1]
        if not only_reads_by_words(name, words, known):
            return False
        if any(only_in_workspace(layer.words[0].value or "", self.paths.workspace) for layer in case.layers):
            return False
        if name == "git" and not all(strange_repository(place, self.paths, known=True) is None for place in places):
            return False
        return self.reads_inside(case, places)

    def reads_inside(self, case: Case, places: Sequence[str]) -> bool:
        """Whether all that it names is known and lies in the workspace."""
        for touch in touches(case.names[-1], case.layers[-1].words, case.known[-1]):
            if touch.deed not in ("read", "list"):
                return False
            for place in places:
                lookout = Lookout(self.paths, case.facts, place)
                if not all(finding.known_read for finding in lookout.look(touch)):
                    return False
        return True

    def strange_place(self, case: Case, places: Sequence[str] | None) -> str | None:
        """Why git would not run as it does elsewhere: a folder that looks like a repository of its own."""
        if "git" not in case.names:
            return None
        for name, layer in zip(case.names, case.layers, strict=True):
            if name != "git":
                continue
            inner = read_git(layer.words).folders
            if places is None:
                return "git works in a folder that is not known before it runs"
            for place in places or ():
                where = place
                for word in inner:
                    if word.value is None:
                        return "git works in a folder that is not known before it runs"
                    where = word.value if word.value.startswith("/") else f"{where}/{word.value}"
                    if not self.paths.inside_workspace(where, cwd=place):
                        return "git works in a folder outside the workspace"
                reason = strange_repository(where, self.paths, known=False)
                if reason is not None:
                    return reason
        return None

    # --- files -------------------------------------------------------------------------------------------------------------

    def named_files(self, case: Case) -> Iterator[Touch]:
        for name, layer, known in zip(case.names, case.layers, case.known, strict=True):
            yield from touches(name, layer.words, known)
        yield from (Touch("read", word) for word in case.step.unwrapped.programs)

    def touched(
        self, case: Case, touch: Touch, places: Sequence[str] | None
    ) -> tuple[list[Finding], bool, bool]:
        """The findings of one file, whether a rule for the command covers it, and whether its name stands there."""
        found = [
            finding
            for place in (places if places is not None else [None])
            for finding in Lookout(self.paths, case.facts, place).look(touch)
        ]
        return list(dict.fromkeys(found)), True, touch.word.value is not None

    def redirected(
        self, redirect: Redirect, case: Case, places: Sequence[str] | None
    ) -> tuple[list[Finding], bool, bool]:
        """A redirection: an output is a write that only an Edit rule covers, an input a read (S8)."""
        target = redirect.target
        if redirect.operator in {"<<", "<<<"} or _is_descriptor(redirect):
            return [], False, True
        reading = redirect.operator == "<"
        touch = Touch("read" if reading else "write", target)
        found, _, named = self.touched(case, touch, places)
        if redirect.operator == "<>":
            found += self.touched(case, Touch("read", target), places)[0]
        if target.form != "constant" and not reading:
            reason = Evidence(source="default", reason=f"`{target.source}` is not known before it runs")
            found = [replace(finding, must_ask=finding.must_ask or reason) for finding in found]
        return found, reading, named

    def with_command(self, finding: Finding, coverage: Coverage) -> Finding:
        """What a rule for the command covers of the files that it names: reads that are no secrets, also outside;
        writes inside. Never what must be asked for otherwise (CONTRACT.md 8 and 9)."""
        if coverage.evidence is None or finding.allow is not None or finding.grant is not None:
            return finding
        if finding.must_ask is not None and not (finding.kind == "read" and finding.auto_lifts):
            return finding
        if coverage.evidence.source == "grant":
            return replace(finding, grant=coverage.evidence)
        if coverage.evidence.source == "rule":
            return replace(finding, allow=coverage.evidence)
        return finding

    def run_files(self, case: Case, places: Sequence[str] | None) -> None:
        """Files of the workspace that are run or read as programs."""
        words = [layer.words[0] for layer in case.layers if "/" in (layer.words[0].value or "")]
        words += case.step.unwrapped.programs
        for known, name in zip(case.known, case.names, strict=True):
            if name in {"make", "sed", "awk", "jq"}:
                words += known.arguments.values("-f", "--file", "--makefile", "--from-file")
        for word in words:
            if word.value is None:
                continue
            for place in places or ():
                if self.paths.inside_workspace(literal(word), cwd=place):
                    resolved = self.paths.resolve(literal(word), cwd=place)
                    self.scripts.setdefault(resolved.resolved or resolved.lexical)

    # --- texts that are not understood ---------------------------------------------------------------------------------------

    def roughly(self, text: str) -> None:
        """Deny and ask rules for whatever could be a command in a text that was not read."""
        deny = ask = None
        for words in pieces(text):
            case = Case(Step(Simple(text[:200], words), unwrap(words), None), Facts())
            deny = deny or touching(case, "deny", self.rules, self.agent)
            ask = ask or touching(case, "ask", self.rules, self.agent)
            if deny is not None:
                break
        self.parts.append(Part(text, (len(self.findings),)))
        self.findings.append(Finding(kind="command", resource=text, category="execute", deny=deny, ask=ask))

    # --- rules for the whole -----------------------------------------------------------------------------------------------

    def whole_grant(self) -> Evidence | None:
        """A grant of exactly this text."""
        wanted = f"Bash({self.effect.command})"
        for rule in self.rules.rules():
            if rule.list == "grant" and rule.text == wanted and rule.serves(self.agent):
                if isinstance(rule.specifier, CommandPattern) and rule.specifier.exact:
                    return evidence(rule)
        return None

    def granted(self, index: int, finding: Finding, grant: Evidence) -> Finding:
        """A grant of this text covers what only lacks a rule, and what must be asked for only where it names it."""
        if finding.grant is not None or not self.grantable(index, finding):
            return finding
        return replace(finding, grant=grant)

    def grantable(self, index: int, finding: Finding) -> bool:
        if finding.must_ask is None:
            return finding.kind != "command" or self.lacks_only_a_rule(index)
        return finding.kind != "command" and index in self.named

    def lacks_only_a_rule(self, index: int) -> bool:
        """Whether a rule could cover this command at all."""
        case = next((case for at, case in self.cases if at == index), None)
        if case is None:
            return True
        return case.evaluates is None and case.unnamed is None

    def exact_rule(self) -> str | None:
        """The rule that says this text, if as a grant it would cover all that asks."""
        text = f"Bash({self.effect.command})"
        rule, problem = compile_rule(RuleText("allow", text, scope="grant", agent=self.agent))
        if rule is None or problem is not None or rule.text != text:
            return None
        if not isinstance(rule.specifier, CommandPattern) or not rule.specifier.exact:
            return None
        covered = all(
            self.grantable(index, finding) or finding.allow or finding.grant or finding.neutral
            for index, finding in enumerate(self.findings)
        )
        blocked = any(finding.floors or finding.deny or finding.ask for finding in self.findings)
        return text if covered and not blocked else None

    def propose(self) -> Iterator[str]:
        offered: dict[str, None] = {}
        for index, case in self.cases:
            finding = self.findings[index]
            done = finding.allow or finding.grant or finding.neutral or finding.deny or finding.floors or finding.ask
            if done or finding.must_ask is not None or (finding.known_read and self.builtin_reads):
                continue
            for text in propose(case, self.agent):
                offered.setdefault(text)
        yield from offered


@lru_cache(maxsize=512)
def _kept_course(text: str) -> Course | str:
    found = read_kept(text)
    return str(found) if isinstance(found, NotUnderstood) else course(found)


def _floor(reason: str) -> Floor:
    return Floor("ask", Evidence(source="floor", reason=reason))


def _unread(text: str, reason: str) -> Finding:
    return Finding(kind="command", resource=text, category="execute", floors=(_floor(reason),))


def _holds_scripts(command: Simple) -> bool:
    return any(redirect.heredoc is not None for redirect in command.redirects)


def _shell_inside(case: Case) -> bool:
    return case.step.unwrapped.fed


def _cd_target(command: Simple) -> Word | None:
    from .flow import cd_target  # noqa: PLC0415

    return cd_target(command.words)


def _is_descriptor(redirect: Redirect) -> bool:
    value = redirect.target.value
    if redirect.operator not in {">&", "<&"} or value is None:
        return False
    return value.rstrip("-").isdigit() or value == "-"


