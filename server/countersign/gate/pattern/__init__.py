"""The patterns that stand between a rule's parentheses. A pattern knows nothing of lists, scopes or the disk."""

from .bad import BadPattern
from .command import WILD, CommandPattern, command_specifier, parse_command
from .glob import (
    GlobSegment,
    escape_glob,
    glob_segment,
    is_exact,
    is_glob,
    may_begin_with_dash,
    tokens_match,
    unescape_glob,
)
from .name import HostPattern, NamePattern, ParamPattern, parse_host, parse_param
from .path import PathPattern, Root, escape_path, fold, parse_path

__all__ = [
    "WILD",
    "BadPattern",
    "CommandPattern",
    "GlobSegment",
    "HostPattern",
    "NamePattern",
    "ParamPattern",
    "PathPattern",
    "Root",
    "command_specifier",
    "escape_glob",
    "escape_path",
    "fold",
    "glob_segment",
    "is_exact",
    "is_glob",
    "may_begin_with_dash",
    "parse_command",
    "parse_host",
    "parse_param",
    "parse_path",
    "tokens_match",
    "unescape_glob",
]
