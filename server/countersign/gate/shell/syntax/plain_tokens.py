"""The tokens of Plain Bash as regular expressions, each of which matches in linear time.

INVARIANT (one way): no text can be divided among the pieces of an expression in two ways, so that a match that fails
tries nothing twice. What may stand where is decided in ``plain_bash.py``.
"""

from __future__ import annotations

import re

_ASCII_END = r"[ \t\n;&|)]|\Z"

_NAME = r"(?!_(?![A-Za-z0-9_]))[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_])"
"""A name, but not ``_``, which bash sets itself."""

_BEHIND = r"(?![^\x00-\x7f]|[\[{])"
"""Behind ``$name``: no letter that another locale counts to the name, no subscript, no brace."""

_DEFAULT = r"[A-Za-z0-9_./,:+@%=-]*"
_SIMPLE_PARAMETER = rf"\$(?:{_NAME}{_BEHIND}|[?#@*]|[1-9](?![0-9]))"
_PARAMETER = rf"(?:{_SIMPLE_PARAMETER}|\$\{{{_NAME}(?::-{_DEFAULT})?\}})"

_CHARACTERS = r"A-Za-z0-9_./,:+@%^=!\u0080-\U0010ffff-"
_LITERAL = rf"(?:[{_CHARACTERS}]|(?<![ \t\n;&|()<>])#|(?<=[A-Za-z0-9^])~|(?<=@)\{{[A-Za-z0-9-]+\}})"
_ESCAPED = r"""\\[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
_QUOTED = rf"""(?:[^"\\$`\n]|\\[^\n]|\$(?=["\x20\t|)])|{_PARAMETER})*"""
_BRACKET = r"\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9_.,])+\]"

_PIECE = rf"""(?:{_LITERAL}|[*?]|'[^'\n]*'|"{_QUOTED}"|{_ESCAPED}|{_PARAMETER}|{_BRACKET})"""
_ARGUMENTS = rf"(?:[ \t]+{_PIECE}+(?={_ASCII_END}))*"

_RESERVED = r"if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|coproc|time|\{|\}|!|\[\["
_BUILTINS = (
    r"\.|\[|alias|bg|bind|break|builtin|caller|cd|command|compgen|complete|compopt|continue|declare|dirs|disown|"
    r"enable|eval|exec|exit|export|fc|fg|getopts|hash|help|history|jobs|let|local|logout|mapfile|popd|printf|pushd|"
    r"pwd|read|readarray|readonly|return|set|shift|shopt|source|suspend|test|times|trap|type|typeset|ulimit|umask|"
    r"unalias|unset|wait"
)
_FIRST = rf"[A-Za-z0-9_./@:\u0080-\U0010ffff][A-Za-z0-9_./@:,+\u0080-\U0010ffff-]*(?={_ASCII_END}|[<>])"
_ORDINARY = rf"(?!(?:{_RESERVED}|{_BUILTINS})(?:[<>]|{_ASCII_END})){_FIRST}(?![<>])"

NAME = re.compile(_NAME)
_EMOJI = r"\u2600-\u27bf\U0001f000-\U0001faff"
JOINED_EMOJI = re.compile(rf"(?<=[\ufe0f{_EMOJI}])\u200d(?=[{_EMOJI}])")
"""A joiner between two emoji, the one invisible character that is ordinary text."""

BLANKS = re.compile(r"[ \t]*")
GAP = re.compile(r"(?:[ \t]|(?<=[ \t])\\\n)*")
LITERAL = re.compile(rf"{_LITERAL}*")
BACKSLASH = re.compile(_ESCAPED)
PARAMETER = re.compile(_PARAMETER)
DOUBLE_QUOTED = re.compile(r"""(?:[^"\\$`]+|\\[^\n]|\$(?=["\x20\t|)]))*""")
BRACKET = re.compile(_BRACKET)
BRACE_GROUP = re.compile(
    r"\{(?:[A-Za-z0-9_./+@%:-]*(?:,[A-Za-z0-9_./+@%:-]*)+|(?:0|[1-9][0-9]{0,2})\.\.(?:0|[1-9][0-9]{0,2})|)\}"
)
ARITHMETIC = re.compile(r"\$\(\([ \t]*(?:0|[1-9][0-9]{0,17})(?:[ \t]*[-+*/%][ \t]*(?:0|[1-9][0-9]{0,17}))*[ \t]*\)\)")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
FIRST_WORD = re.compile(_FIRST)
RESERVED = re.compile(rf"(?:{_RESERVED})(?=[ \t\n;&|()<>]|\Z)")
WORD_END = re.compile(r"[ \t\n;&|)<>]|\Z")
ARGUMENTS = re.compile(_ARGUMENTS)
DUPLICATION = re.compile(rf"(?:[0-9]?>&[0-9])(?={_ASCII_END})")
OPERATOR = re.compile(r"<<<|<<(?![<-])|<(?![<>&(])|2?>>(?![<>&|(])|2?>(?![<>&|(])|&>>(?![<>&|(])|&>(?![<>&|(])")
DELIMITER = re.compile(
    r"""(?:'([A-Za-z_][A-Za-z0-9_.-]*)'|"([A-Za-z_][A-Za-z0-9_.-]*)"|([A-Za-z_][A-Za-z0-9_.-]*))(?=[ \t\n;&|)<>])"""
)
QUOTED_FIRST_WORD = re.compile(r"""'[A-Za-z0-9_./@][^'\n]*'|"[A-Za-z0-9_./@][^"\\$`\n]*\"""")
QUOTING = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)

COMMANDS = re.compile(rf"(?:{_ORDINARY}{_ARGUMENTS}[ \t]*(?:;(?!;)|&&|\|\|?(?![|&])|\n)[ \t]*(?={_ORDINARY}))*")
"""Simple commands without redirections, assignments and builtins, each with what separates it from the next one."""

OWN_NAMES = re.compile(
    r"_|BASH\w*|COMP\w*|COPROC\w*|CHILD_MAX|DIRSTACK|ENV|EPOCH\w*|EUID|EXECIGNORE|FCEDIT|FIGNORE|FUNC\w*|GLOB\w*|GROUPS|"
    r"HIST\w*|histchars|HOSTFILE|HOSTTYPE|IGNOREEOF|INPUTRC|INSIDE_EMACS|LINENO|MACHTYPE|MAILCHECK|MAILPATH|MAPFILE|"
    r"OPT(?:ARG|ERR|IND)|OSTYPE|PIPESTATUS|POSIXLY_CORRECT|PPID|PROMPT_\w*|PS[0-4]|RANDOM|READLINE_\w*|SECONDS|"
    r"SHELLOPTS|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|UID|auto_resume|CDPATH|OLDPWD|PWD"
)
"""Variables that bash obeys or computes; some evaluate as arithmetic what is assigned to them."""

HELD_NAMES = frozenset({"IFS", "HOME"})
"""Variables that change how the rest of the text expands. They are set for one command only, if at all."""

LOCALE_NAMES = re.compile(r"LANG|LC_[A-Z]+")
UTF8_LOCALE = re.compile(r"(?:C|POSIX|[A-Za-z_]*\.(?:UTF-8|utf-?8))?")
"""In another locale a byte of a character may be a backslash or a backquote, so that quotes end elsewhere."""
