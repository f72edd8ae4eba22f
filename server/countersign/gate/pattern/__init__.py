"""The patterns that stand between a rule's parentheses. A pattern knows nothing of lists, scopes or the disk."""

from .bad import BadPattern
from .command import WILD, CommandPattern, command_specifier, parse_command
from .name import HostPattern, NamePattern, ParamPattern, parse_host, parse_param
from .path import PathPattern, Root, escape_path, fold, parse_path

__all__ = [
    "WILD",
    "BadPattern",
    "CommandPattern",
    "HostPattern",
    "NamePattern",
    "ParamPattern",
    "PathPattern",
    "Root",
    "command_specifier",
    "escape_path",
    "fold",
    "parse_command",
    "parse_host",
    "parse_param",
    "parse_path",
]
