"""From a read text to its simple commands in order, each with where it may run and what it may be fed.

What is worked out here depends on the text alone, so it is kept with it. Nothing is decided: rules, paths and tables of
programs come in ``judge.py``. Where the order of things is not certain (loops, functions, ``eval``), the place counts
as not known, which can only make the judgement stricter. More than 500 lines, because the walk is one recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from countersign.gate.patterns import is_glob
from countersign.gate.shell.effects.unwrap import Unwrapped, program, unwrap
from countersign.gate.shell.flow.command_input import ANY_INPUT, NO_INPUT, CommandInput
from countersign.gate.shell.flow.descriptors import moves_descriptors
from countersign.gate.shell.flow.moves import HERE, LEAVE_FOLDERS, MOVERS, Places, activated, followed, moves, union
from countersign.gate.shell.flow.shared_input import shared_by
from countersign.gate.shell.flow.stage_output import only_filters, open_output, shown, stage_output
from countersign.gate.shell.programs.argv import numeric
from countersign.gate.shell.syntax.tree import (
    UNKNOWN_TEXT,
    Arithmetic,
    Assignment,
    Chain,
    Compound,
    Formula,
    Node,
    Not,
    Pipeline,
    Process,
    Reading,
    Redirect,
    Script,
    Simple,
    Text,
    Timed,
    Variable,
    Word,
)
from countersign.gate.shell.syntax.words import choice_patterns, pattern_text
from countersign.gate.shell.variables.assignments import (
    STARTED,
    assigned_texts,
    shown_value,
    starts_shells,
    tested_texts,
)
from countersign.gate.shell.variables.bindings import Facts, is_own_name
from countersign.gate.shell.variables.definite_assignment import surely_set
from countersign.gate.shell.variables.derived_values import Derived, derive
from countersign.gate.shell.variables.inherited import changed_names
from countersign.gate.shell.variables.listings import (
    MOST_STAGES,
    Listing,
    ends_with_nul,
    listing_of,
    script_listing,
    substituted_listing,
)

MOST_LOOKED_THROUGH = 1_000_000  # characters, counted once for each variable; past that none counts as known


ANY = -1
"""In the place of a pipeline's number: a process (`<(a)`) may outlive the command that it stands in."""


class Step(NamedTuple):
    """A simple command as it would be run.

    ``redirects`` of the compound commands around it stand in steps of their own, without words. ``leads`` is where it
    moves the shell to, where it does. ``guessed``: it is a reading with something in it that may well be another, so
    what a rule denies there asks. ``beside`` is the number of the pipeline that it is a part of, 0 if it is
    in none, and ``ANY`` where it may run beside all others.
    """

    command: Simple
    unwrapped: Unwrapped
    places: Places
    input: CommandInput = NO_INPUT
    leads: Places = None
    guessed: bool = False
    beside: int = 0

    def with_words(self, words: tuple[Word, ...]) -> Step:
        """Another reading of the command, with these words. Its redirections are left out: they are judged already."""
        command = self.command._replace(words=words, redirects=(), plain=False)
        return self._replace(command=command, unwrapped=_with_texts(unwrap(words), command))

    def with_assigned(self, assigned: Sequence[Assignment]) -> Step:
        """Another reading of what it assigns in front of its words, and behind ``export`` and its like."""
        front = len(self.command.assignments)
        command = self.command._replace(assignments=tuple(assigned[:front]), declared=tuple(assigned[front:]))
        return self._replace(command=command, unwrapped=_with_texts(unwrap(command.words), command))


class Loop(NamedTuple):
    """A loop over the names that a pathname pattern matches, and where it stands."""

    name: str
    pattern: str
    places: Places


@dataclass(frozen=True, slots=True)
class CommandFlow:
    """A text's simple commands and what it says of names. ``changed`` are variables that it sets so that a text
    which it runs in turn may mean something else (``variables/inherited.py``). ``repeats``: the steps may run in
    another order than they stand in, because of a loop, a function or a background command. ``beside``: some may run
    at the same time, as the parts of a pipeline do. ``loops`` are those over patterns."""

    steps: tuple[Step, ...]
    facts: Facts
    changed: frozenset[str] = frozenset()
    repeats: bool = False
    loops: tuple[Loop, ...] = ()
    beside: bool = False


def course(reading: Reading) -> CommandFlow:
    """Walk a reading. Linear in its size."""
    walk = _Walk(reading.script)
    walk.script(reading.script, _Context())
    # Each is looked for in the whole text.
    too_many = len(walk.facts.values) * len(reading.text) > MOST_LOOKED_THROUGH
    for name in walk.facts.values:
        if too_many or not surely_set(name, reading):
            walk.facts.bind(name, None, number=walk.facts.numeric(name))
    derive(walk.facts, walk.derived)
    for each in walk.derived:
        walk.facts.words.setdefault(each.name, []).append(each.word)
    for variable in reading.defaults:
        walk.facts.bind_default(variable)
    walk.facts.in_one_place = _is_one_place(walk.steps)
    changed = changed_names((step.command for step in walk.steps), walk.facts)
    return CommandFlow(tuple(walk.steps), walk.facts, changed, walk.repeats, tuple(walk.loops), walk.beside)


def _is_one_place(steps: Sequence[Step]) -> bool:
    """Whether all commands run in the same places, and nothing moves the shell between them. The same set of places
    may be another folder once it has moved."""
    moving = [any(_moves_shell(layer.words) for layer in step.unwrapped.layers) for step in steps]
    if False not in moving:
        return True
    first, last = moving.index(False), len(moving) - moving[::-1].index(False)
    return not any(moving[first:last]) and all(step.places == steps[first].places for step in steps[first:last])


def _moves_shell(words: Sequence[Word]) -> bool:
    return bool(words) and words[0].value in MOVERS


class _Context(NamedTuple):
    """``once``: what stands here runs at most once, and nothing that stands after it runs before it ends."""

    places: Places = HERE
    input: CommandInput = NO_INPUT
    once: bool = True
    beside: int = 0


Outcome = tuple[Places, Places]
"""Where the shell may be after success and after failure."""


class _Walk:
    def __init__(self, script: Script) -> None:
        self.steps: list[Step] = []
        self.facts = Facts()
        self.derived: list[Derived] = []
        self.loops: list[Loop] = []
        self.whole = script
        self.met: dict[int, Unwrapped] = {}
        self.folders_stay = True
        self.repeats = False
        self.beside = False
        self.pipelines = 0

    @cached_property
    def moving(self) -> bool:
        """Whether anything in the text may change the shell's own place. Asked for only where there are functions."""
        return moves(self.whole, everywhere=True)

    # --- nodes -------------------------------------------------------------------------------------------------------

    def script(self, script: Script, context: _Context) -> Outcome:
        outcome: Outcome = (context.places, context.places)
        for index, node in enumerate(script.statements):
            places = outcome[0] if outcome[0] is outcome[1] else union(*outcome)
            if places is not context.places:
                context = context._replace(places=places)
            if index in script.background:
                self.repeats = True
                self.node(node, context._replace(once=False))
                outcome = (context.places, context.places)
            else:
                outcome = self.node(node, context)
        return outcome

    def apart(self, scripts: Iterable[Script], context: _Context) -> None:
        """Substitutions and the like: what they do to the shell stays inside."""
        for script in scripts:
            self.script(script, context._replace(once=False))

    def node(self, node: Node, context: _Context) -> Outcome:
        match node:
            case Simple():
                return self.simple(node, context)
            case Timed(body=body):
                return self.node(body, context)
            case Not(body=body):
                success, failure = self.node(body, context)
                return failure, success
            case Pipeline(stages=stages):
                return self.pipeline(stages, context)
            case Chain(first=first, links=links):
                return self.chain(first, links, context)
            case Compound():
                return self.compound(node, context)

    def pipeline(self, stages: Sequence[Node], context: _Context) -> Outcome:
        inner = context._replace(once=False)
        if len(stages) > 1:
            self.beside = True
            self.pipelines += 1
            inner = inner._replace(beside=context.beside or self.pipelines)
        for index, stage in enumerate(stages, 1):
            self.node(stage, inner)
            if index < len(stages):
                inner = inner._replace(input=_printed(stages, index, inner.input))
        return context.places, context.places

    def chain(self, first: Node, links: Sequence[tuple[str, Node]], context: _Context) -> Outcome:
        success, failure = self.node(first, context)
        for operator, node in links:
            places = success if operator == "&&" else failure
            then = self.node(node, context if places is context.places else context._replace(places=places))
            if operator == "&&":
                success, failure = then[0], union(failure, then[1])
            else:
                success, failure = union(success, then[0]), then[1]
        return success, failure

    def compound(self, node: Compound, context: _Context) -> Outcome:
        self.apart(node.scripts, context)
        for formula in node.formulas:
            self.assigned(formula)
        if node.redirects or node.formulas:
            context = self.redirected(node, context)
        context = _shared(node, context)
        places = context.places
        match node.kind:
            case "subshell" | "coproc":
                if node.kind == "coproc":
                    self.emit(Simple(node.source, (_COPROC,)), context)
                self.script(node.bodies[0], context._replace(once=context.once and node.kind == "subshell"))
                return places, places
            case "group":
                return _maybe_skipped(node, places, self.script(node.bodies[0], context))
            case "if":
                return _maybe_skipped(node, places, self.branches(node.bodies, context))
            case "loop":
                self.repeats = True
                self.loop_values(node, places)
                if node.name is not None and not is_own_name(node.name):
                    shown = Assignment(node.name, f"for {node.name}", items=())
                    self.steps.append(Step(Simple(shown.source, (), (shown,)), _NOTHING, places))
                texts = [text for word in node.words for text in assigned_texts(node.name or "", word.value or "")]
                if texts:
                    self.steps.append(Step(Simple(f"for {node.name}"), _NOTHING._replace(texts=tuple(texts)), places))
                moved = any(moves(body) for body in node.bodies)
                inside = context._replace(places=None if moved else context.places, once=False)
                for body in node.bodies:
                    self.script(body, inside)
                return inside.places, inside.places
            case "case":
                ends = [places]
                for body in node.bodies:
                    ends += self.script(body, context)
                return _maybe_skipped(node, places, (union(*ends), union(*ends)))
            case "function":
                self.repeats = True
                self.facts.functions.add(node.name or "")
                self.script(node.bodies[0], _Context(None if self.moving else HERE, ANY_INPUT, once=False))
                return places, places

    def branches(self, bodies: Sequence[Script], context: _Context) -> Outcome:
        ends: list[Places] = []
        for condition, body in zip(bodies[::2], bodies[1::2], strict=False):
            success, failure = self.script(condition, context)
            ends += self.script(body, context._replace(places=success))
            context = context._replace(places=failure)
        if len(bodies) % 2:
            ends += self.script(bodies[-1], context)
        else:
            ends.append(context.places)
        end = union(*ends)
        return end, end

    def loop_values(self, node: Compound, places: Places) -> None:
        if node.name is None:
            return
        if not node.listed:
            self.facts.bind(node.name, None)
        for word in node.words:
            patterns = choice_patterns(word) or (pattern_text(word),)
            if word.form != "pattern" or any(UNKNOWN_TEXT in pattern or pattern[:1] == "~" for pattern in patterns):
                self.bind_word(node.name, word, expanded=True)
                patterns = ()
            for pattern in patterns:
                self.facts.bind_spelled(node.name, pattern)
                if is_glob(pattern):
                    self.loops.append(Loop(node.name, pattern, places))

    # --- simple commands ---------------------------------------------------------------------------------------------

    def simple(self, command: Simple, context: _Context) -> Outcome:
        context = _shared(command, context)
        if id(command) in self.met and not command.redirects and not _names_by_input(command):
            # The very same words were met before: what they bind and hold is known.
            return self.after(self.emit(command, context), context)
        if command.plain:
            step = self.emit(command, self.targets(command.redirects, context) if command.redirects else context)
            name = program(command.words[0].value or "")
            if name in _NAMING:
                self.bindings(command, step.input.listing)
            elif name not in MOVERS and not self.facts.functions and len(step.unwrapped.layers) == 1:
                return context.places, context.places
            return self.after(step, context)
        for word in command.words:
            written = any(isinstance(piece, Process) for piece in word.pieces)
            self.beside = self.beside or written
            self.apart(
                word.scripts,
                context._replace(input=context.input.opened(None), beside=ANY) if written else context,
            )
        for assignment in command.assignments:
            self.apart(assignment.scripts, context)
        self.apart(command.scripts, context)
        inner = _shared(command, self.targets(command.redirects, context))
        self.bindings(command, inner.input.listing)
        return self.after(self.emit(command, inner), context)

    def emit(self, command: Simple, context: _Context) -> Step:
        unwrapped = self.met.get(id(command))
        if unwrapped is None:
            unwrapped = unwrap(command.words if command.kind == "command" else ())
            if command.assignments or command.declared or command.kind == "test":
                unwrapped = _with_texts(unwrapped, command)
            self.met[id(command)] = unwrapped
        step = Step(
            command,
            unwrapped,
            context.places,
            context.input,
            beside=context.beside,
        )
        self.steps.append(step)
        if self.folders_stay:
            names = [layer.words[0].value for layer in unwrapped.layers]
            self.folders_stay = not unwrapped.texts and LEAVE_FOLDERS.issuperset(names)
        return step

    def redirected(self, node: Compound, context: _Context) -> _Context:
        """The redirections of a compound command, as a step of their own, and what its inside is fed."""
        inner = self.targets(node.redirects, context)
        shown = " ".join(redirect.source for redirect in node.redirects)
        formula = _all(node.formulas)
        kind = "arithmetic" if formula else "command"
        command = Simple(shown, (), (), node.redirects, kind, formula)
        self.steps.append(Step(command, _NOTHING, context.places, ANY_INPUT, beside=context.beside))
        return inner

    def targets(self, redirects: Sequence[Redirect], context: _Context) -> _Context:
        """Follow what stands in redirections; what is fed by them."""
        for redirect in redirects:
            self.facts.descriptors_moved |= moves_descriptors(redirect)
            # What is written to `>(…)` is its input.
            inputs = redirect.operator in {"<", "<>", "<&", "<<<"}
            process = any(isinstance(piece, Process) for piece in redirect.target.pieces)
            self.beside = self.beside or process
            inner = context._replace(beside=ANY) if process else context
            self.apart(
                redirect.target.scripts,
                inner if inputs else inner._replace(input=ANY_INPUT),
            )
            if redirect.variable is not None:
                self.facts.bind(redirect.variable, None, number=True)
            if redirect.heredoc is not None:
                self.apart(redirect.heredoc.scripts, context)
                known = redirect.heredoc.word is not None and redirect.heredoc.word.value is not None
                read = context.input.replaced_by(redirect.heredoc.body or "", exact=known)
            elif redirect.operator == "<<<":
                known = redirect.target.value is not None
                word = None if known else redirect.target
                read = context.input.replaced_by(shown(redirect.target), exact=known, word=word)
            elif redirect.operator in {"<", "<>", "<&"} or redirect.descriptor == "0":
                # `done < <(find …)`
                pieces = redirect.target.pieces
                only = pieces[0] if len(pieces) == 1 else None
                read = context.input.opened(script_listing(only.script) if isinstance(only, Process) else None)
            else:
                continue
            context = context._replace(input=read)
        return context

    def after(self, step: Step, context: _Context) -> Outcome:
        """Where the shell is after a command."""
        places = context.places
        layers = step.unwrapped.layers
        if not layers:
            return places, places
        names = [program(layer.words[0].value or "") for layer in layers]
        if len(names) == 1 and names[0] not in MOVERS and not self.facts.functions:
            return places, places
        if names[-1] in {"cd", "chdir", "pushd", "popd"} and (len(names) == 1 or names[:-1] == ["command"]):
            self.facts.entered += layers[-1].words[1:]
            opened = all(redirect.target.value == "/dev/null" for redirect in step.command.redirects)
            steady = context.once and self.folders_stay and opened
            outcome = followed(places, layers[-1].words, steady=steady, variables=self.facts.values)
            self.steps[-1] = step._replace(leads=outcome[0])
            return outcome
        if any(name in MOVERS for name in names):
            stays = len(names) == 1 and activated(layers[0].words) is not None
            return (places, places) if stays else (None, None)
        if names[0] in self.facts.functions and self.moving:
            return None, None
        return places, places

    # --- what is assigned --------------------------------------------------------------------------------------------

    def bindings(self, command: Simple, listing: Listing | None) -> None:
        """What a command binds; ``listing`` is what it reads."""
        for assignment in (*command.assignments, *command.declared):
            self.bind_assignment(assignment)
        for word in _all_words(command):
            self.expansions(word)
        if command.formula is not None:
            self.assigned(command.formula)
        words = _run_by_bash(command.words)
        if words and words[0].value is not None:
            name = program(words[0].value)
            if name == "alias" and len(words) > 1:
                self.facts.aliases = True
                for word in words[1:]:
                    self.facts.functions.add(word.prefix.partition("=")[0])
            elif name in _FILLING:
                values = [word.value for word in words[1:] if word.value is not None]
                filled = [value for value in values if value.isidentifier()]
                alone = [value for value in values if value not in _READING] == filled[:1]
                if any(each.name == "IFS" and not _is_empty(each) for each in command.assignments):
                    listing = None  # the last character of a name may be cut off
                lines = listing is not None and ("-d" in values) == ends_with_nul(listing)
                if name == "read" and listing is not None and lines and alone and filled:
                    self.facts.bind_listing(filled[0], listing)
                    self.facts.read.add(filled[0])
                    return
                for variable in filled or (["REPLY"] if name == "read" else ()):
                    self.facts.bind(variable, None)

    def bind_assignment(self, assignment: Assignment) -> None:
        if assignment.formula is not None:
            self.assigned(assignment.formula)
        if assignment.items is not None:
            for item in assignment.items:
                self.bind_word(assignment.name, item)
        elif assignment.value is None:
            self.facts.bind(assignment.name, "")
        elif assignment.appends:
            self.facts.bind(assignment.name, None)
        else:
            self.bind_word(assignment.name, assignment.value)

    def bind_word(self, name: str, word: Word, *, expanded: bool = False) -> None:
        listing = substituted_listing(word)
        if listing is not None:
            self.facts.bind_listing(name, listing, whole=not expanded or word.form == "quoted")
        elif word.choices:
            for choice in word.choices:
                # What holds pattern characters or a hole may become something else.
                self.facts.bind(name, None if any(char in choice for char in "*?[~" + UNKNOWN_TEXT) else choice)
        else:
            self.facts.bind(name, word.value, number=numeric(word) and word.value is None)
            if word.value is None and word.pieces:
                self.derived.append(Derived(name, word, expanded))

    def assigned(self, formula: Formula) -> None:
        for name in formula.assigned:
            self.facts.bind(name, None, number=True)

    def expansions(self, word: Word) -> None:
        """Assignments that hide in expansions: ``${x:=word}``, ``$((x = 1))``."""
        for piece in word.pieces:
            if isinstance(piece, Variable):
                if piece.assigns:
                    for inner in piece.words:
                        self.bind_word(piece.name, inner)
                if piece.formula is not None:
                    self.assigned(piece.formula)
                for inner in piece.words:
                    self.expansions(inner)
            elif isinstance(piece, Arithmetic):
                self.assigned(piece.formula)


def _is_empty(assignment: Assignment) -> bool:
    return assignment.value is None or assignment.value.value == ""


_READING = frozenset({"-r", "-d", ""})
"""Words of ``read`` by which it still reads its input whole."""

_FILLING = frozenset(
    {"read", "mapfile", "readarray", "getopts", "wait", "printf", "unset", "local", "declare", "typeset"}
)
_SAME_SHELL = frozenset({"command", "builtin"})
_NAMING = _FILLING | _SAME_SHELL | {"alias"}

_COPROC = Word("coproc", (Text("coproc"),), "constant", "coproc", "coproc", "coproc")
_NOTHING = Unwrapped(())


def _names_by_input(command: Simple) -> bool:
    """Whether what a command binds may depend on its input, which differs from place to place."""
    return any(word.value is not None and program(word.value) in _NAMING for word in command.words)


def _run_by_bash(words: Sequence[Word]) -> Sequence[Word]:
    """The words of a command without ``command`` and ``builtin`` in front, behind which a builtin sets the same."""
    index = 0
    while index < len(words) and program(words[index].value or "") in _SAME_SHELL:
        index += 1
        while index < len(words) and words[index].prefix.startswith("-"):
            index += 1
    return words[index:]


def _maybe_skipped(node: Compound, places: Places, outcome: Outcome) -> Outcome:
    """A compound command is not run where one of its redirections cannot be opened."""
    return (outcome[0], union(outcome[1], places)) if node.redirects else outcome


def _with_texts(unwrapped: Unwrapped, command: Simple) -> Unwrapped:
    """With the texts in quoted values and tests that bash expands in turn."""
    texts = [
        text
        for assignment in (*command.assignments, *command.declared)
        for value in shown_value(assignment)
        for text in assigned_texts(assignment.name, value)
    ]
    if command.kind == "test":
        texts += tested_texts(command.words)
    if any(starts_shells(each.name, each.plain) for each in (*command.assignments, *command.declared)):
        unwrapped = unwrapped._replace(unknown=STARTED)
    return unwrapped._replace(texts=(*unwrapped.texts, *texts)) if texts else unwrapped


def _all_words(command: Simple) -> Iterator[Word]:
    yield from command.words
    for redirect in command.redirects:
        yield redirect.target
        if redirect.heredoc is not None and redirect.heredoc.word is not None:
            yield redirect.heredoc.word
    for assignment in command.assignments:
        if assignment.value is not None:
            yield assignment.value
        yield from assignment.items or ()


def _all(formulas: Sequence[Formula]) -> Formula | None:
    if not formulas:
        return None
    names = frozenset[str]().union(*(formula.names for formula in formulas))
    assigned = frozenset[str]().union(*(formula.assigned for formula in formulas))
    return Formula(names, assigned, any(formula.unknown for formula in formulas))


def _printed(stages: Sequence[Node], index: int, read: CommandInput) -> CommandInput:
    """What the first ``index`` stages of a pipeline, the last of which reads ``read``, hand to the next."""
    listing = listing_of(stages[:index]) if index <= MOST_STAGES else None
    if only_filters(stages[index - 1]):
        return CommandInput(True, read.texts, False, listing, read.words)
    texts, exact = stage_output(stages[index - 1])
    words = () if exact else open_output(stages[index - 1]) or read.words
    return CommandInput(True, texts or read.texts, exact, listing, words)  # a filter hands on what it reads


def _shared(node: Simple | Compound, context: _Context) -> _Context:
    read = shared_by(node, context.input)
    return context if read is context.input else context._replace(input=read)
