"""Runs of everyday commands of Plain Bash as one regular expression, so that long texts are read in little time.

``COMMANDS`` accepts less than the rules of ``plain_bash.py`` and ``plain_simple.py`` and nothing else; with it switched
off every text is read alike (``tests/gate/shell/test_shortcuts.py``). Compounds and substitutions match to one level.

INVARIANT (one way): as in ``plain_tokens.py``; an attempt that fails costs time in proportion to what it looked at.
"""

from __future__ import annotations

import re

from countersign.gate.shell.syntax.plain_tokens import (
    ARITHMETIC_TEXT,
    BRACE_GROUP_TEXT,
    BUILTIN_NAMES,
    END,
    ESCAPED,
    FIRST_WORD_TEXT,
    HELD_NAMES,
    LITERAL_CHARACTER,
    ORDINARY_CHARACTER,
    OWN_NAMES,
    PARAMETER_TEXT,
    RESERVED_WORDS,
    SIMPLE_BRACKET,
)

LEVELS = 3
"""How deeply the expression nests at most; nearer to the limit of nesting it is not used."""

_SINGLE_QUOTED = r"'[^'\n]*'"
_NOT_ALL = rf"(?!\$@){PARAMETER_TEXT}"
_IN_QUOTES = r"""[^"\\$`\n]|\\[^\n]|\$(?=["\x20\t|)])"""
_QUOTED = rf'"(?:{_IN_QUOTES}|{PARAMETER_TEXT})*"'
_QUOTED_ONE = rf'"(?:{_IN_QUOTES}|{_NOT_ALL})*"'
_SINGLE = rf"(?:{LITERAL_CHARACTER}|{_SINGLE_QUOTED}|{_QUOTED_ONE}|{ESCAPED})+{END}"
"""One word, whatever it expands to."""

_FLAT_PIECE = rf"(?:{LITERAL_CHARACTER}|[*?]|{_SINGLE_QUOTED}|{_QUOTED}|{ESCAPED}|{PARAMETER_TEXT}|{SIMPLE_BRACKET})"
_FLAT_ARGUMENTS = rf"(?:[ \t]+{_FLAT_PIECE}+{END})*"
_ORDINARY = rf"(?!(?:{RESERVED_WORDS}|{BUILTIN_NAMES})(?:[<>]|{END})){FIRST_WORD_TEXT}"
_FLAT = rf"{_ORDINARY}(?![<>]){_FLAT_ARGUMENTS}"
_SUBSTITUTED = rf"\((?!\()[ \t]*{_FLAT}[ \t]*\)"

_PIECE = (
    rf"(?:{LITERAL_CHARACTER}|[*?]|{_SINGLE_QUOTED}|{ESCAPED}|{SIMPLE_BRACKET}"
    rf'|"(?:{_IN_QUOTES}|{PARAMETER_TEXT}|\${_SUBSTITUTED})*"|{PARAMETER_TEXT}|{ARITHMETIC_TEXT}|\${_SUBSTITUTED})'
)
_BRACED_PIECE = rf"(?:{LITERAL_CHARACTER}|[*?]|{SIMPLE_BRACKET})"
_BEHIND = r"(?=[ \t\n;&|)<>]|\Z)"
_ARGUMENT = (
    rf"(?:(?=[^ \t])(?:~/)?{_PIECE}*{_BEHIND}|<{_SUBSTITUTED}{END}"
    rf"|(?![A-Za-z_][A-Za-z0-9_]*=){_BRACED_PIECE}*{BRACE_GROUP_TEXT}{_BRACED_PIECE}*{END})"
)
_REDIRECTION = (
    rf"(?:[1-9]?>&[1-9]{END}|(?:<(?![<>&(])|2?>>?(?![<>&|(])|&>>?(?![<>&|(]))(?:[ \t]+|(?!\d+{END})){_SINGLE})"
)
_ARGUMENTS = rf"(?:[ \t]+{_ARGUMENT}|(?:[ \t]+|(?<=[A-Za-z_./'\")])(?=[<>])){_REDIRECTION})*{END}"
_REDIRECTIONS = rf"(?:[ \t]+{_REDIRECTION})*"

_KEPT_NAMES = rf"(?:{OWN_NAMES.pattern}|LANG|LANGUAGE|LC_[A-Z]+|PATH|{'|'.join(sorted(HELD_NAMES))})"
_NAME = rf"(?!{_KEPT_NAMES}(?![A-Za-z0-9_]))[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_])"
_FLAT_VALUE_PIECE = rf"{LITERAL_CHARACTER}|{_SINGLE_QUOTED}|{ESCAPED}|{_NOT_ALL}"
_VALUE = rf'(?:{_FLAT_VALUE_PIECE}|\${_SUBSTITUTED}|"(?:{_IN_QUOTES}|{_NOT_ALL}|\${_SUBSTITUTED})*")*{END}'
_ASSIGNED = rf"{_NAME}={_VALUE}"
_EXPORTED = rf"{_NAME}=(?:{_FLAT_VALUE_PIECE}|{_QUOTED_ONE})*{END}"

_OPERAND = rf"(?:(?![!\]]{END}){_SINGLE}|\$[?#]{END})"
_TEST = (
    rf"(?:{_OPERAND}(?:[ \t]+(?:==?|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))[ \t]+{_OPERAND})?"
    rf"|-[bcdefghkprstuwxGLNOSnz][ \t]+{_OPERAND})"
)
_FORMAT = r"""(?:[A-Za-z0-9_./:@+]+|'(?!-)(?:[^'\n%]|%[sdq])*'|"(?!-)(?:[^"\\$`\n%]|\\[^\n]|%[sdq])*")"""
_COMPARED = rf"(?:(?![#!=\]-])(?:{ORDINARY_CHARACTER}|{_SINGLE_QUOTED}|{_QUOTED_ONE}|{_NOT_ALL}|{ESCAPED})+{END})"
_PATTERN = rf"(?:(?![#!=\]-])(?:{ORDINARY_CHARACTER}|{_SINGLE_QUOTED}|{_QUOTED_ONE}|{ESCAPED})+{END})"
"""What stands behind an operator, where a parameter without quotes is a pattern."""
_BUILTIN = (
    rf"(?:\[\[[ \t]+(?:(?:-[fdernzswxbcgkpuLhNSOGt][ \t]+)?{_COMPARED}|{_COMPARED}[ \t]+(?:==?|!=)[ \t]+{_PATTERN})"
    rf"[ \t]+\]\]{END}"
    rf"|(?:cd|pushd)[ \t]+(?![-+]){_SINGLE}|\[[ \t]+(?:![ \t]+)?{_TEST}[ \t]+\]{END}|test[ \t]+(?:![ \t]+)?{_TEST}"
    rf"|(?:exit|return|break|continue|shift)(?:[ \t]+[0-9]{{1,9}})?{END}|set[ \t]+-[eux]+(?:o[ \t]+pipefail)?{END}"
    rf"|export(?:[ \t]+{_EXPORTED})+|read(?:[ \t]+-r)?(?:[ \t]+{_NAME}{END})*|(?:pwd|wait|popd){END}"
    rf"|(?:source|\.)[ \t]+[A-Za-z0-9_.]*/[A-Za-z0-9_./]*{END}){_REDIRECTIONS}"
)
_RUN_BY_BASH = rf"(?:{RESERVED_WORDS}|{BUILTIN_NAMES}|:|true|false|echo|kill)"
_QUOTED_FIRST = (
    rf"""(?:'(?!{_RUN_BY_BASH}')[A-Za-z0-9_./@][^'\n]*'|"(?!{_RUN_BY_BASH}")[A-Za-z0-9_./@][^"\\$`\n]*"){END}"""
)
_CORE = rf"(?:(?:(?:command[ \t]+)?{_ORDINARY}|{_QUOTED_FIRST}|printf[ \t]+{_FORMAT}{END}){_ARGUMENTS}|{_BUILTIN})"
_COMMAND = rf"(?=[^ \t\n;&|)])(?:(?=[A-Za-z_][A-Za-z0-9_]*=){_ASSIGNED}[ \t]*(?!\[\[))*{_CORE}?"

_ENDS = r"[ \t]*(?:;(?![;&])|&(?![&>])|\n)[ \t\n]*"
_JOINS = rf"[ \t]*(?:&&|\|\||\|(?![|&]))[ \t\n]*(?!(?:then|else|fi|do|done){END}|[)}}])"
_LIST = rf"(?:{_FLAT}(?:{_ENDS}|{_JOINS}))+"
"""Flat commands; the last one is ended by a separator."""

_COMPOUND = (
    rf"(?:\((?!\()[ \t\n]*(?:{_FLAT}(?:{_ENDS}|{_JOINS}|[ \t]*(?=\))))+\)|\{{[ \t\n]+{_LIST}\}}{END}"
    rf"|if[ \t\n]+{_LIST}then[ \t\n]+{_LIST}(?:else[ \t\n]+{_LIST})?fi{END}"
    rf"|(?:for[ \t]+{_NAME}[ \t]+in(?=[ \t]+[^ \t;\n]){_FLAT_ARGUMENTS}[ \t]*[;\n][ \t\n]*"
    rf"|(?:while|until)[ \t\n]+{_LIST})do[ \t\n]+{_LIST}done{END}"
    rf"){_REDIRECTIONS}"
)
_NEXT = rf"(?!\Z|[ \t\n)#;&|<>]|\\\n|(?:then|elif|else|fi|do|done|esac|\}})(?:[<>(]|{END}))"
_PREFIX = rf"(?:!|time){END}"

FLAT_ARGUMENTS = re.compile(_FLAT_ARGUMENTS)
"""Words without substitutions and newlines, which may stand behind the operator of a here-document too."""

ARGUMENTS = re.compile(_ARGUMENTS)

_ENDS_PIPELINE = rf"(?:;(?![;&])|&&|\|\||&(?![&>])|\n)[ \t\n]*(?:{_PREFIX}[ \t]+(?!-|{_PREFIX}))?"
_SEPARATOR = rf"[ \t]*(?:\|(?![|&])[ \t\n]*(?!(?:!|time)(?:[<>(]|{END}))|{_ENDS_PIPELINE}){_NEXT}"

COMMANDS = re.compile(
    rf"(?:(?:{_PREFIX}[ \t]+(?!-|{_PREFIX}))?(?:{_ORDINARY}{_SEPARATOR}|(?:{_COMMAND}|{_COMPOUND}){_SEPARATOR})+)?"
)
"""Commands, each with what separates it from the next one. No here-document may wait for its body."""
