"""The patterns that stand between a rule's parentheses, and the one matcher of pathname patterns (``glob.py``).

A pattern knows nothing of lists, scopes or the disk."""

from countersign.gate.patterns.command import WILD, CommandPattern, command_specifier, parse_command
from countersign.gate.patterns.errors import BadPattern
from countersign.gate.patterns.glob import (
    GlobSegment,
    escape_glob,
    glob_segment,
    is_exact,
    is_glob,
    may_begin_with,
    tokens_match,
    unescape_glob,
)
from countersign.gate.patterns.host import ascii_names, spelled_address
from countersign.gate.patterns.name import HostPattern, NamePattern, ParamPattern, parse_host, parse_param
from countersign.gate.patterns.path import PathPattern, Root, escape_path, fold, folded_segments, parse_path
from countersign.gate.patterns.wildcard import wildcards_meet

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
    "ascii_names",
    "command_specifier",
    "escape_glob",
    "escape_path",
    "fold",
    "folded_segments",
    "glob_segment",
    "is_exact",
    "is_glob",
    "may_begin_with",
    "parse_command",
    "parse_host",
    "parse_param",
    "parse_path",
    "spelled_address",
    "tokens_match",
    "unescape_glob",
    "wildcards_meet",
]
