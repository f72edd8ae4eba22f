"""The normal form of a syntax tree: what bash would do, without how it was written.

``normal_form`` keeps everything that has an effect (order, quoting around expansions, empty words, globs, line ends
between top-level statements) and drops everything that has none (source text, how a literal was quoted, comments,
position of redirections among words). Two texts whose trees have equal normal forms start the same programs with the
same arguments and touch the same files. Anything outside a small, known set of constructs raises ``NotPrintable``;
``print_tree`` prints the values of ``normal_values`` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from countersign.gate.shell.effects.unwrap import could_run, may_run, program, unwrap
from countersign.gate.shell.printing.inner_texts import shell_texts, unprintable
from countersign.gate.shell.printing.normal_values import (
    Assigned,
    Block,
    Chained,
    Channel,
    Command,
    Home,
    Inner,
    List,
    Literal,
    NotPrintable,
    Operator,
    Output,
    Part,
    Parts,
    Pattern,
    Piped,
    Prefixed,
    Redirected,
    Statement,
    Sum,
    Test,
    Value,
)
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.reserved import DECLARING
from countersign.gate.shell.syntax.tree import (
    Arithmetic,
    Assignment,
    Chain,
    Compound,
    Glob,
    Node,
    Not,
    Piece,
    Pipeline,
    Process,
    Redirect,
    Script,
    Simple,
    Substitution,
    Text,
    Timed,
    Variable,
    Word,
)
from countersign.gate.shell.syntax.words import expand_braces
from countersign.gate.shell.variables.assignments import EVALUATING, spelled_texts


def normal_form(script: Script) -> List:
    """The normal form of a whole text.

    Raises:
        NotPrintable: the tree holds something outside the known set.
    """
    found = _list(script)
    return List(found.statements, found.background, script.line_ends - {len(script.statements) - 1})


# --- statements ------------------------------------------------------------------------------------------------------

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _list(script: Script) -> List:
    return List(tuple(_statement(node) for node in script.statements), script.background, frozenset())


def _filled(script: Script) -> List:
    if not script.statements:
        raise NotPrintable("an empty list of commands")
    return _list(script)


def _statement(node: Node) -> Statement:
    match node:
        case Simple(kind="command"):
            return _command(node)
        case Simple(kind="test"):
            return _test(node)
        case Not(body=body):
            return Prefixed("!", _statement(body))
        case Timed(body=body, options=False):
            return Prefixed("time", _statement(body))
        case Pipeline(stages=stages, errors=False):
            return Piped(tuple(_statement(stage) for stage in stages))
        case Chain(first=first, links=links):
            return Chained(_statement(first), tuple((operator, _statement(link)) for operator, link in links))
        case Compound():
            return _compound(node)
        case Simple():
            raise NotPrintable("`((…))`")
        case Timed():
            raise NotPrintable("`time` with options")
        case Pipeline():
            raise NotPrintable("`|&`")


def _command(command: Simple) -> Command:
    if command.plain and not _may_hold_texts(command):
        words = tuple([word.value or "" for word in command.words])
        return Command((), words, _redirects(command.redirects) if command.redirects else ())
    if command.formula is not None:
        raise NotPrintable("arithmetic")
    return Command(
        tuple(_assignment(each) for each in command.assignments),
        tuple(_arguments(command)) if command.words else (),
        _redirects(command.redirects),
    )


def _arguments(command: Simple) -> Iterator[Parts | Assigned]:
    first, *others = command.words
    if first.value is None or first.choices or first.scripts:
        raise NotPrintable("a command name that is no literal")
    yield _parts(first)
    declared = list(command.declared)
    if first.value in DECLARING and first.value != "export":
        raise NotPrintable(f"`{first.value}`")
    inner = _inner(command)
    for index, word in enumerate(others, 1):
        if index in inner:
            yield (inner[index],)
        elif declared and word.source == declared[0].source and not word.bare:
            yield _declared(declared.pop(0))
        elif first.value == "export" and word.value is None:
            raise NotPrintable("an argument of `export` that is not `NAME=word`")
        else:
            yield from _expanded(word)
    if declared:
        raise NotPrintable("an assignment among the arguments that is not an argument")


def _may_hold_texts(command: Simple) -> bool:
    """Whether a shell could read one of the words of a plain command in turn."""
    name = program(command.words[0].value or "")
    if name in EVALUATING:
        return True
    return may_run(name) and (could_run(name, command.words) or next(spelled_texts(command.words), None) is not None)


def _inner(command: Simple) -> dict[int, Inner]:
    """The normal forms of texts that a shell reads in turn, by the index of the word that holds each."""
    unwrapped = unwrap(command.words)
    reason = unprintable(unwrapped)
    if reason is not None:
        raise NotPrintable(reason)
    return {
        index: Inner(normal_form(read(found.text).script), found.text)
        for index, found in shell_texts(unwrapped).items()
    }


_RUN_BY_BASH = frozenset(
    "PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND BASH_ENV ENV SHELLOPTS BASHOPTS POSIXLY_CORRECT "
    "LOCPATH MUSL_LOCPATH PATH_LOCALE GCONV_PATH NLSPATH TEXTDOMAIN TEXTDOMAINDIR".split()
)


def _declared(assignment: Assignment) -> Assigned:
    """An argument of ``export``, in which bash expands braces although it is an assignment."""
    if assignment.value is not None and any(_holds_braces(piece) for piece in assignment.value.pieces):
        raise NotPrintable("braces in an argument of `export`")
    return _assignment(assignment)


def _assignment(assignment: Assignment) -> Assigned:
    if assignment.items is not None or assignment.formula is not None or assignment.appends:
        raise NotPrintable(f"an assignment to an array, or with `+=`: `{assignment.name}`")
    if assignment.name in _RUN_BY_BASH:
        raise NotPrintable(f"an assignment to `{assignment.name}`, whose value bash runs or obeys")
    value = () if assignment.value is None else _whole(_parts(assignment.value, tilde=False))
    return Assigned(assignment.name, () if value == "" else value)


def _whole(value: Parts) -> Parts:
    """A value with all of it in quotes, which changes nothing where bash knows an assignment. Bash 3.2 knows none in
    `B=1 export A=$x`, and splits it."""
    return value if isinstance(value, str) else merged(map(_in_one_word, value))


def _in_one_word(part: Part) -> Part:
    match part:
        case Pattern(text=text):
            return Literal(text)
        case Value(name=name) if name not in {"@", "*"}:
            return replace(part, quoted=True)
        case Output() | Sum():
            return replace(part, quoted=True)
    return part


_OWN_DESCRIPTOR = {"<": "0", "<<<": "0", ">": "1", ">>": "1", ">&": "1", "&>": "", "&>>": ""}


def _redirects(redirects: Sequence[Redirect]) -> tuple[Redirected, ...]:
    return tuple(_redirect(each) for each in redirects)


def _redirect(redirect: Redirect) -> Redirected:
    operator, own = redirect.operator, redirect.descriptor
    if redirect.variable is not None:
        raise NotPrintable("`{name}` before a redirection")
    if redirect.heredoc is not None:
        word = redirect.heredoc.word
        if word is None or word.value is None or word.scripts or own not in {"", "0"}:
            raise NotPrintable("a here-document with expansions")
        if not word.value:
            return Redirected("<", "", "/dev/null")
        if not word.value.endswith("\n"):
            raise NotPrintable("a here-document without a last newline")
        return Redirected("<<<", "", word.value[:-1])
    if operator not in _OWN_DESCRIPTOR or (own and (len(own) > 1 or not own.isascii() or operator[0] == "&")):
        raise NotPrintable(f"the redirection `{own}{operator}`")
    target = redirect.target
    if target.choices or (target.form not in {"constant", "quoted"} and operator != "<<<"):
        raise NotPrintable("a redirection to something that is not one word")
    parts = _parts(target, tilde=operator != "<<<", channel=operator == "<")
    if _has_pattern(parts):
        raise NotPrintable("a pattern in a redirection")
    if operator == ">&" and not (target.bare and re.fullmatch("[0-9]", target.value or "")):
        raise NotPrintable("`>&` before something that is not a descriptor")
    return Redirected(operator, "" if own == _OWN_DESCRIPTOR[operator] else own, parts)


_UNARY = frozenset("-f -d -e -r -w -x -s -L -h -z -n -b -c -p -S -t -u -g -k -O -G -N".split())
_BINARY = frozenset("== != = -nt -ot -ef".split())
_NUMERIC = frozenset("-eq -ne -lt -le -gt -ge".split())
_LOGICAL = frozenset({"&&", "||", "!"})
TEST_OPERATORS = _UNARY | _BINARY | _NUMERIC | _LOGICAL
_NUMBERS = frozenset({Value("?", quoted, None) for quoted in (True, False)} | {
    Value("#", quoted, None) for quoted in (True, False)
})  # fmt: skip


def _test(test: Simple) -> Test:
    items: list[Parts | Operator] = []
    for word in test.words:
        if word.bare and word.value in TEST_OPERATORS:
            items.append(Operator(word.value))
        elif (
            word.choices
            or word.source.startswith("#")
            or (word.bare and word.value and not re.fullmatch(r"[^-=!<>()&|][^<>()&|]*|-?\d+", word.value))
        ):
            raise NotPrintable(f"`{word.source}` in `[[ ]]`")
        else:
            items.append(_parts(word))
    if any(item.text in _NUMERIC for item in items if isinstance(item, Operator)):
        for item in items:
            if not isinstance(item, Operator) and not _is_number(item):
                raise NotPrintable("a comparison of numbers in `[[ ]]` whose operands are not literal digits")
    return Test(tuple(items), _redirects(test.redirects))


def _is_number(parts: Parts) -> bool:
    match parts:
        case str():
            return re.fullmatch(r"-?[0-9]+", parts) is not None
        case (Value() as value,):
            return value in _NUMBERS
    return False


def _compound(node: Compound) -> Statement:
    if node.formulas:
        raise NotPrintable("arithmetic")
    redirects = _redirects(node.redirects)
    bodies = node.bodies
    match node.kind:
        case "group" | "subshell" | "if":
            return Block(node.kind, tuple(_filled(body) for body in bodies), redirects)
        case "loop" if node.keyword in {"while", "until"}:
            return Block(node.keyword, tuple(_filled(body) for body in bodies), redirects)
        case "loop" if node.keyword == "for" and node.listed and _NAME.fullmatch(node.name or ""):
            words = tuple(parts for word in node.words for parts in _expanded(word))
            return Block("for", (_filled(bodies[0]),), redirects, node.name or "", words)
        case "case":
            return _case(node, redirects)
    raise NotPrintable(f"`{node.keyword or node.kind}`")


def _case(node: Compound, redirects: tuple[Redirected, ...]) -> Block:
    if any(ending != ";;" for ending, _ in node.endings):
        raise NotPrintable("a `case` branch that goes on into another")
    subject, *rest = node.words
    words = _parts(subject)
    if subject.choices or _has_pattern(words):
        raise NotPrintable("a pattern as the subject of `case`")
    patterns: list[tuple[Parts, ...]] = []
    for _, count in node.endings:
        here, rest = rest[:count], rest[count:]
        if any(word.choices or word.form not in {"constant", "pattern"} or word.scripts for word in here):
            raise NotPrintable("a `case` pattern with expansions")
        patterns.append(tuple(_parts(word, tilde=False) for word in here))
    if rest or len(patterns) != len(node.bodies):
        raise NotPrintable("a `case` whose branches are not known")
    return Block("case", tuple(_list(body) for body in node.bodies), redirects, "", (words,), tuple(patterns))


# --- words -----------------------------------------------------------------------------------------------------------

_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)", re.DOTALL)
_CHOICE = re.compile(r"[A-Za-z0-9_./+@%,-]*")
_BRACKET = re.compile(r"([A-Za-z0-9_.,+@%-]+)\](.*)", re.DOTALL)
_SUM = re.compile(r"[0-9+*/%() \t-]+")
_DEFAULT = re.compile(r"[A-Za-z0-9_./:@%+,= -]*")
_SPECIAL = frozenset("?#@*$!")
_NUMBERED = re.compile(r"[0-9]+")
_OF_THE_TEXT = re.compile(r"LINENO|BASH.*|FUNCNAME|EPOCH.*")
"""Variables that tell of the text itself or of where in it bash is."""


def _expanded(word: Word) -> Iterator[Parts]:
    """The words that brace expansion makes of one; the word itself if it makes nothing."""
    if not word.choices:
        yield _parts(word, channel=True)
        return
    pieces = word.pieces
    braced = [index for index, piece in enumerate(pieces) if _holds_braces(piece)]
    found = _BRACES.fullmatch(_text(pieces[braced[0]])) if len(braced) == 1 else None
    if found is None or not _CHOICE.fullmatch(found[2]):
        raise NotPrintable(f"braces other than `{{a,b}}` and `{{1..9}}`: `{word.source}`")
    if not all(isinstance(piece, Text | Glob) for piece in pieces):
        raise NotPrintable(f"braces beside an expansion: `{word.source}`")
    try:
        inner = found[2].split(",") if "," in found[2] else expand_braces(f"{{{found[2]}}}")
    except OverflowError:
        inner = []  # too many words
    made = [(*pieces[: braced[0]], Text(found[1] + each + found[3]), *pieces[braced[0] + 1 :]) for each in inner]
    if tuple("".join(_text(piece) for piece in each) for each in made) != word.choices or "" in word.choices:
        raise NotPrintable(f"braces that are not expanded as they were read: `{word.source}`")
    for each in made:
        yield merged(_each_part(each, tilde=True))


def _holds_braces(piece: Piece) -> bool:
    return isinstance(piece, Text) and not piece.quoted and ("{" in piece.text or "}" in piece.text)


def _text(piece: Piece) -> str:
    return piece.text if isinstance(piece, Text | Glob) else ""


def _parts(word: Word, *, tilde: bool = True, channel: bool = False) -> Parts:
    if word.choices:
        raise NotPrintable(f"braces where bash does not expand them: `{word.source}`")
    if channel and len(word.pieces) == 1 and isinstance(process := word.pieces[0], Process) and not process.writes:
        return (Channel(_filled(process.script)),)
    _check_all_arguments(word)
    if word.value is None and any(
        isinstance(each, Text) and not each.quoted and "$" in each.text for each in word.pieces
    ):
        raise NotPrintable(f"a `$` beside an expansion, which bash then does not split: `{word.source}`")
    parts = merged(_each_part(word.pieces, tilde=tilde))
    if word.value is not None:
        known = [parts] if isinstance(parts, str) else [_constant(part) for part in parts]
        if None not in known and "".join(text or "" for text in known) != word.value:
            raise NotPrintable(f"a word that is not what it was read as: `{word.source}`")
    return parts


def _has_pattern(parts: Parts) -> bool:
    return not isinstance(parts, str) and any(isinstance(part, Pattern) for part in parts)


def _constant(part: Part) -> str | None:
    match part:
        case Literal(text=text) | Pattern(text=text):
            return text
        case Home(slash=slash):
            return "~/" if slash else "~"
    return None


def _check_all_arguments(word: Word) -> None:
    """``"$@"`` makes no word where there are no arguments, unless anything stands beside it."""
    found = any(isinstance(piece, Variable) and piece.quoted and piece.name == "@" for piece in word.pieces)
    if found and word.source not in {'"$@"', '"${@}"'}:
        raise NotPrintable('`"$@"` beside something else')


def _each_part(pieces: Sequence[Piece], *, tilde: bool) -> Iterator[Part]:
    opened = False
    for index, piece in enumerate(pieces):
        match piece:
            case Text(text=text, quoted=quoted):
                if opened:
                    found = None if quoted else _BRACKET.fullmatch(text)
                    if found is None or found[1][0] == "-" or found[1][-1] == "-":
                        raise NotPrintable("a bracket expression other than literal characters and simple ranges")
                    yield Pattern(f"[{found[1]}]")
                    text, opened = found[2], False
                    if not text:
                        continue
                if not quoted:
                    home = _home(text, first=index == 0, alone=len(pieces) == 1, tilde=tilde)
                    if home is not None:
                        yield home
                        text = text[2:]
                        if not text:
                            continue
                yield Literal(text)
            case _ if opened:
                raise NotPrintable("a bracket expression other than literal characters and simple ranges")
            case Glob(text="["):
                opened = True
            case Glob(text="*" | "?"):
                yield Pattern(piece.text)
            case Glob(text=text):
                raise NotPrintable(f"the pattern character `{text}`")
            case Variable():
                yield _variable(piece)
            case Substitution(script=script, quoted=quoted):
                yield Output(_filled(script), quoted)
            case Arithmetic(text=text, quoted=quoted, scripts=()) if _SUM.fullmatch(text) and _balanced(text):
                yield Sum(text, quoted)
            case Arithmetic():
                raise NotPrintable("arithmetic over something other than numbers")
            case Process():
                raise NotPrintable("a process substitution that is not `<(…)` as a whole argument")
    if opened:
        raise NotPrintable("a bracket that is never closed")


def _home(text: str, *, first: bool, alone: bool, tilde: bool) -> Home | None:
    """A leading tilde. Wherever else bash could take one for a home folder, the word cannot be printed."""
    if not text.startswith("~"):
        if "=~" in text or ":~" in text:
            raise NotPrintable("a tilde behind `=` or `:`")
        return None
    if first and tilde and (text.startswith("~/") or (alone and text == "~")) and ":~" not in text and "=~" not in text:
        return Home(text != "~")
    raise NotPrintable("a tilde other than a leading `~/`")


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def _variable(piece: Variable) -> Value:
    name = piece.name
    if not (_NAME.fullmatch(name) or name in _SPECIAL or _NUMBERED.fullmatch(name)) or _OF_THE_TEXT.fullmatch(name):
        raise NotPrintable(f"the parameter `{name}`")
    if piece.plain:
        return Value(name, piece.quoted)
    if piece.operator == ":-" and not (piece.formula or piece.assigns or piece.length or piece.evaluates):
        word, *more = piece.words
        constant = not more and word.value is not None and not word.scripts and _DEFAULT.fullmatch(word.value)
        bare = not any(isinstance(each, Text) and each.quoted for each in word.pieces)
        if constant and (piece.quoted or bare):
            return Value(name, piece.quoted, word.value)
    raise NotPrintable(f"an operator in `${{{name}…}}`")


def merged(parts: Iterator[Part]) -> Parts:
    """Join adjacent literals, and leave out an empty one beside a quoted expansion, to which it adds nothing."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Literal) and found and isinstance(last := found[-1], Literal):
            found[-1] = Literal(last.text + part.text)
        else:
            found.append(part)
    if len(found) == 1 and isinstance(only := found[0], Literal):
        return only.text
    return tuple(part for index, part in enumerate(found) if not _adds_nothing(part, found, index))


def _adds_nothing(part: Part, parts: Sequence[Part], index: int) -> bool:
    beside = (*parts[max(index - 1, 0) : index], *parts[index + 1 : index + 2])
    return part == Literal("") and any(isinstance(each, Value | Output | Sum) and each.quoted for each in beside)
