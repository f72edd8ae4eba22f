"""Prints the syntax tree of a command line as bash text: what was judged is what runs.

The text is made of the tree's normal form alone. Every literal stands in single quotes, every parameter in braces;
braces are expanded, here-documents are here-strings, and nothing else is quoted or added. The printed text is parsed
again and must have the same normal form.
"""

from __future__ import annotations

from typing import assert_never

from countersign.gate.shell.printing import normal_values as values
from countersign.gate.shell.printing.judged_values import JudgedValues, with_values
from countersign.gate.shell.printing.normal_form import normal_form
from countersign.gate.shell.printing.normal_values import NotPrintable
from countersign.gate.shell.syntax.parser import read
from countersign.gate.shell.syntax.tree import NotUnderstood, Script


def print_tree(script: Script, judged: JudgedValues | None = None) -> str:
    """Print a tree as text that means the same to bash, and to our parser. ``judged``: values of its variables that
    are printed in their places.

    Raises:
        NotPrintable: the tree holds something outside the known set, or the printed text is read otherwise.
    """
    form = normal_form(script)
    if judged is not None:
        form = with_values(form, judged)
    text = _script(form, top=True)
    if "\0" in text:
        raise NotPrintable("NUL")
    doubtful = _without_literal_commands(form)
    if not doubtful.statements:
        return text
    try:
        again = normal_form(read(_script(doubtful, top=True)).script)
    except NotUnderstood as error:
        raise NotPrintable(f"a construct that cannot be parsed again once printed ({error})") from error
    if again != doubtful:
        raise NotPrintable("a construct that is parsed otherwise once printed")
    return text


def reprint(text: str) -> str | NotPrintable:
    """The printed form of a command line, or why it has none."""
    try:
        script = read(text).script
    except (NotUnderstood, UnicodeError) as error:
        return NotPrintable(str(error))
    except RecursionError:
        return _TOO_DEEP
    return printed_form(script)


def printed_form(script: Script, judged: JudgedValues | None = None) -> str | NotPrintable:
    """The printed form of a tree, or why it has none."""
    try:
        return print_tree(script, judged)
    except NotPrintable as error:
        return error
    except (NotUnderstood, UnicodeError) as error:
        return NotPrintable(str(error))
    except RecursionError:
        return _TOO_DEEP


_TOO_DEEP = NotPrintable("shells nested too deeply")


def _without_literal_commands(form: values.List) -> values.List:
    """The top-level statements whose printed text must be parsed again: all but those of single-quoted words."""
    kept = [index for index, statement in enumerate(form.statements) if not _is_literal(statement)]
    places = {old: new for new, old in enumerate(kept)}
    return values.List(
        tuple([form.statements[index] for index in kept]),
        frozenset(places[index] for index in form.background if index in places),
        frozenset(places[index] for index in form.line_ends if index in places and index != kept[-1]),
    )


def _is_literal(statement: values.Statement) -> bool:
    """Whether a statement is made of commands of literal words, which single quotes keep apart from its operators."""
    match statement:
        case values.Command(assignments=(), redirects=redirects, words=words):
            for word in words:
                if not isinstance(word, str) or "'" in word:
                    return False
            return not redirects or all(_is_quoted_whole(redirect.target) for redirect in redirects)
        case values.Piped(stages=stages):
            return all(map(_is_literal, stages))
        case values.Chained(first=first, links=links):
            return _is_literal(first) and all(_is_literal(link) for _, link in links)
    return False


def _is_quoted_whole(word: values.Parts) -> bool:
    return isinstance(word, str) and "'" not in word


# --- statements ------------------------------------------------------------------------------------------------------


def _script(script: values.List, *, top: bool = False) -> str:
    out: list[str] = []
    last = len(script.statements) - 1
    for index, statement in enumerate(script.statements):
        out.append(_statement(statement))
        background = index in script.background
        if background:
            out.append(" &")
        if index < last:
            out.append("\n" if top and index in script.line_ends else " " if background else "; ")
    return "".join(out)


def _closed(script: values.List) -> str:
    """A list with the separator that a reserved word needs in front of it."""
    text = _script(script)
    return f"{text} " if len(script.statements) - 1 in script.background else f"{text}; "


def _statement(statement: values.Statement) -> str:
    match statement:
        case values.Command():
            return _command(statement)
        case values.Test(items=items, redirects=redirects):
            inside = (item.text if isinstance(item, values.Operator) else _word(item) for item in items)
            return _joined("[[", *inside, "]]", *map(_redirect, redirects))
        case values.Prefixed(keyword=keyword, body=body):
            return f"{keyword} {_statement(body)}"
        case values.Piped(stages=stages):
            return " | ".join(_statement(stage) for stage in stages)
        case values.Chained(first=first, links=links):
            return _joined(_statement(first), *(f"{operator} {_statement(link)}" for operator, link in links))
        case values.Block():
            return _joined(_block(statement), *map(_redirect, statement.redirects))
        case _:
            assert_never(statement)


def _command(command: values.Command) -> str:
    words = command.words
    # Bash takes arguments for assignments behind the bare name of the builtin only.
    declares = values.Assigned in map(type, words)
    if declares and words[0] != "export":
        raise NotPrintable("an assignment as an argument of something other than `export`")
    printed = [_assigned(each) for each in command.assignments]
    if declares:
        printed.append("export")
        words = words[1:]
    for word in words:
        if isinstance(word, str):
            printed.append(quoted(word))
        else:
            printed.append(_assigned(word) if isinstance(word, values.Assigned) else _word(word))
    printed += map(_redirect, command.redirects)
    return " ".join(printed)


def _block(block: values.Block) -> str:
    bodies = block.bodies
    match block.keyword:
        case "group":
            return f"{{ {_closed(bodies[0])}}}"
        case "subshell":
            return f"( {_script(bodies[0])} )"
        case "if":
            return _if(bodies)
        case "while" | "until":
            return f"{block.keyword} {_closed(bodies[0])}do {_closed(bodies[1])}done"
        case "for":
            words = "".join(f" {_word(word)}" for word in block.words)
            return f"for {block.name} in{words}; do {_closed(bodies[0])}done"
        case "case":
            branches = (
                f"({' | '.join(_word(pattern) for pattern in patterns)}) {_script(body)} ;;"
                for patterns, body in zip(block.patterns, bodies, strict=True)
            )
            return _joined("case", _word(block.words[0]), "in", *branches, "esac")
    raise NotPrintable(f"`{block.keyword}`")


def _if(bodies: tuple[values.List, ...]) -> str:
    out: list[str] = []
    for index in range(0, len(bodies) - 1, 2):
        keyword = "elif" if index else "if"
        out.append(f"{keyword} {_closed(bodies[index])}then {_closed(bodies[index + 1])}")
    if len(bodies) % 2:
        out.append(f"else {_closed(bodies[-1])}")
    return "".join(out) + "fi"


def _assigned(assigned: values.Assigned) -> str:
    return f"{assigned.name}={_word(assigned.value)}"


def _redirect(redirect: values.Redirected) -> str:
    match redirect:
        case values.Redirected(operator=">&", target=str(number)):
            return f"{redirect.descriptor}>&{number}"
    return f"{redirect.descriptor}{redirect.operator} {_word(redirect.target)}"


def _joined(*parts: str) -> str:
    return " ".join(parts)


# --- words -----------------------------------------------------------------------------------------------------------


def _word(parts: values.Parts) -> str:
    return quoted(parts) if isinstance(parts, str) else "".join(map(_part, parts))


def _part(part: values.Part) -> str:
    match part:
        case values.Literal(text=text):
            return quoted(text)
        case values.Pattern(text=text):
            return text
        case values.Home(slash=slash):
            return "~/" if slash else "~"
        case values.Value(name=name, quoted=in_quotes, default=default):
            return _in_quotes(f"${{{name}}}" if default is None else f"${{{name}:-{default}}}", in_quotes)
        case values.Output(script=script, quoted=in_quotes):
            return _in_quotes(f"$( {_script(script)} )", in_quotes)
        case values.Sum(text=text, quoted=in_quotes):
            return _in_quotes(f"$(({text}))", in_quotes)
        case values.Inner(script=script):
            return quoted(_script(script, top=True))
        case values.Channel(script=script):
            return f"<( {_script(script)} )"
        case _:
            assert_never(part)


def quoted(text: str) -> str:
    """A literal in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def _in_quotes(text: str, in_quotes: bool) -> str:
    return f'"{text}"' if in_quotes else text
