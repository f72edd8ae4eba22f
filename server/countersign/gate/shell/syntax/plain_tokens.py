"""The tokens of Plain Bash as regular expressions, each of which matches in linear time.

INVARIANT (one way): no text can be divided among the pieces of an expression in two ways, so that a match that fails
tries nothing twice. What may stand where is decided in ``plain_bash.py``.
"""

from __future__ import annotations

import re

END = r"(?=[ \t\n;&|)]|\Z)"
"""Behind a word."""

_NAME = r"(?!_(?![A-Za-z0-9_]))[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_])"
"""A name, but not ``_``, which bash sets itself."""

_BEHIND = r"(?![^\x00-\x7f]|[\[{])"
"""Behind ``$name``: no letter that another locale counts to the name, no subscript, no brace."""

_DEFAULT = r"[A-Za-z0-9_./,:+@%=-]*"
_SIMPLE_PARAMETER = rf"\$(?:{_NAME}{_BEHIND}|[?#@*]|[1-9](?![0-9]))"
PARAMETER_TEXT = rf"(?:{_SIMPLE_PARAMETER}|\$\{{{_NAME}(?::-{_DEFAULT})?\}})"

# Negated, because a range up to the last character costs most of the time that an expression takes to compile.
ORDINARY_CHARACTER = r"""[^\x00-\x20"#$&'()*;<>?\[\\\]`{|}~\x7f]"""
"""Letters, digits, ``_./,:+@%^=!-`` and whatever is not ASCII."""
_SPECIAL_LITERAL = r"(?<![ \t\n;&|()<>])#|(?<=[A-Za-z0-9^])~|(?<=[@^])\{[A-Za-z0-9-]+\}"
LITERAL_CHARACTER = rf"(?:{ORDINARY_CHARACTER}|{_SPECIAL_LITERAL})"
ESCAPED = r"""\\[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
SIMPLE_BRACKET = r"\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[A-Za-z0-9_.,])+\]"

RESERVED_WORDS = r"if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|coproc|time|\{|\}|!|\[\["
BUILTIN_NAMES = (
    r"\.|\[|alias|bg|bind|break|builtin|caller|cd|command|compgen|complete|compopt|continue|declare|dirs|disown|"
    r"enable|eval|exec|exit|export|fc|fg|getopts|hash|help|history|jobs|let|local|logout|mapfile|popd|printf|pushd|"
    r"pwd|read|readarray|readonly|return|set|shift|shopt|source|suspend|test|times|trap|type|typeset|ulimit|umask|"
    r"unalias|unset|wait"
)
FIRST_WORD_TEXT = (
    r"""[^\x00-\x20!"#$%&'()*+,;<=>?\[\\\]^`{|}~\x7f-][^\x00-\x20!"#$%&'()*;<=>?\[\\\]^`{|}~\x7f]*"""
    r"(?=[ \t\n;&|)<>]|\Z)"
)
BRACE_GROUP_TEXT = (
    r"\{(?:[A-Za-z0-9_./+@%:-]*(?:,[A-Za-z0-9_./+@%:-]*)+|(?:0|[1-9][0-9]{0,2})\.\.(?:0|[1-9][0-9]{0,2})|)\}"
)
_NUMBER = r"(?:0|[1-9][0-9]{0,17})"
ARITHMETIC_TEXT = rf"\$\(\([ \t]*{_NUMBER}(?:[ \t]*(?:[-+*]|[/%](?![ \t]*0))[ \t]*{_NUMBER})*[ \t]*\)\)"
"""Without a division by 0, behind which bash leaves out the rest of the line and goes on with the next one."""

NAME = re.compile(_NAME)
_EMOJI = r"\u2600-\u27bf\U0001f000-\U0001faff"
JOINED_EMOJI = re.compile(rf"(?<=[\ufe0f{_EMOJI}])\u200d(?=[{_EMOJI}])")
"""A joiner between two emoji, the one invisible character that is ordinary text."""

BLANKS = re.compile(r"[ \t]*")
LINES = re.compile(r"[ \t\n]*")
GAP = re.compile(r"(?:[ \t]|(?<=[ \t])\\\n)*")
LITERAL = re.compile(rf"(?:{ORDINARY_CHARACTER}+|{_SPECIAL_LITERAL})*")
BACKSLASH = re.compile(ESCAPED)
PARAMETER = re.compile(PARAMETER_TEXT)
DOUBLE_QUOTED = re.compile(r"""(?:[^"\\$`]+|\\[^\n]|\$(?=["\x20\t|)]))*""")
BRACKET = re.compile(SIMPLE_BRACKET)
BRACE_GROUP = re.compile(BRACE_GROUP_TEXT)
ARITHMETIC = re.compile(ARITHMETIC_TEXT)
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
FIRST_WORD = re.compile(FIRST_WORD_TEXT)
RESERVED = re.compile(rf"(?:{RESERVED_WORDS})(?=[ \t\n;&|()<>]|\Z)")
WORD_END = re.compile(r"[ \t\n;&|)<>]|\Z")
DUPLICATION = re.compile(rf"[1-9]?>&[1-9]{END}")
"""Of outputs alone: `0>&3` gives a command another input."""
OPERATOR = re.compile(r"<<<|<<(?![<-])|<(?![<>&(])|2?>>(?![<>&|(])|2?>(?![<>&|(])|&>>(?![<>&|(])|&>(?![<>&|(])")
DELIMITER = re.compile(
    r"""(?:'([A-Za-z_][A-Za-z0-9_.-]*)'|"([A-Za-z_][A-Za-z0-9_.-]*)"|([A-Za-z_][A-Za-z0-9_.-]*))(?=[ \t\n;&|)<>])"""
)
QUOTED_FIRST_WORD = re.compile(r"""'[A-Za-z0-9_./@][^'\n]*'|"[A-Za-z0-9_./@][^"\\$`\n]*\"""")
QUOTING = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)

OWN_NAMES = re.compile(
    r"_|BASH\w*|COMP\w*|COPROC\w*|CHILD_MAX|DIRSTACK|ENV|EPOCH\w*|EUID|EXECIGNORE|FCEDIT|FIGNORE|FUNC\w*|GLOB\w*|GROUPS|"
    r"HIST\w*|histchars|HOSTFILE|HOSTTYPE|IGNOREEOF|INPUTRC|INSIDE_EMACS|LINENO|MACHTYPE|MAILCHECK|MAILPATH|MAPFILE|"
    r"OPT(?:ARG|ERR|IND)|OSTYPE|PIPESTATUS|POSIX_PEDANTIC|POSIXLY_CORRECT|PPID|PROMPT_\w*|PS[0-4]|RANDOM|READLINE_\w*|SECONDS|"
    r"SHELLOPTS|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|UID|auto_resume|CDPATH|OLDPWD|PWD|"
    r"LOCPATH|MUSL_LOCPATH|PATH_LOCALE|GCONV_PATH|NLSPATH|TEXTDOMAIN(?:DIR)?"
)
"""Variables that bash obeys or computes; some evaluate as arithmetic what is assigned to them. The last ones say where
the C library finds locales and the formats of messages: in those of a repository's own, a quote may be a blank to bash,
and a message writes to its memory."""

HELD_NAMES = frozenset({"IFS", "HOME", "REPLY", "LINES", "COLUMNS"})
"""Variables that change how the rest of the text expands, or that bash itself gives another value: `read` without a
name, and after a command the size of the terminal. They are set for one command only, if at all."""

LOCALE_NAMES = re.compile(r"LANG|LANGUAGE|LC_[A-Z]+")
UTF8_LOCALE = re.compile(r"(?:C|POSIX|[A-Za-z_]*\.(?:UTF-8|utf-?8))?")
"""In another locale a byte of a character may be a backslash or a backquote, so that quotes end elsewhere."""
LANGUAGES = re.compile(r"[A-Za-z0-9_.@:-]*")
"""Values of ``LANGUAGE``. With a slash it names a folder, from which bash takes the formats of its messages."""
