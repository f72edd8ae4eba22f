"""The fixed list of the built-in agent's tools, and their descriptions for models."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from countersign.gate import BadArguments
from countersign.tools.editor.find_references import FindReferences
from countersign.tools.editor.find_symbols import FindSymbols
from countersign.tools.editor.get_diagnostics import GetDiagnostics
from countersign.tools.editor.get_selection import GetSelection
from countersign.tools.editor.list_open_files import ListOpenFiles
from countersign.tools.editor.rename_symbol import RenameSymbol
from countersign.tools.files.delete_file import DeleteFile
from countersign.tools.files.edit_file import EditFile
from countersign.tools.files.list_dir import ListDir
from countersign.tools.files.move_file import MoveFile
from countersign.tools.files.read_file import ReadFile
from countersign.tools.files.write_file import WriteFile
from countersign.tools.sandbox.host_tool import SandboxHost
from countersign.tools.search.glob import Glob
from countersign.tools.search.search import Search
from countersign.tools.shell.shell import RunShell
from countersign.tools.shell.shell_input import ShellInput
from countersign.tools.shell.shell_kill import ShellKill
from countersign.tools.shell.shell_output import ShellOutput
from countersign.tools.todo_write import TodoWrite
from countersign.tools.tool import Tool
from countersign.tools.web.web_fetch import WebFetch

AnyTool = Tool[Any, Any]
"""A tool of the list; its arguments are read by its own model before it gets them."""

TOOLS: tuple[AnyTool, ...] = (
    ReadFile(),
    WriteFile(),
    EditFile(),
    DeleteFile(),
    MoveFile(),
    ListDir(),
    Glob(),
    Search(),
    RunShell(),
    ShellOutput(),
    ShellInput(),
    ShellKill(),
    TodoWrite(),
    WebFetch(),
)
EDITOR_TOOLS: tuple[AnyTool, ...] = (
    ListOpenFiles(),
    GetSelection(),
    GetDiagnostics(),
    FindSymbols(),
    FindReferences(),
    RenameSymbol(),
)
"""Tools that a model sees only where the client answers for its editor."""
ALWAYS: Mapping[str, AnyTool] = {tool.name: tool for tool in TOOLS}
BY_NAME: Mapping[str, AnyTool] = {**ALWAYS, **{tool.name: tool for tool in EDITOR_TOOLS}}
OFFERED: Mapping[str, AnyTool] = {tool.name: tool for tool in (SandboxHost(),)}
"""Tools that no model sees: another tool's result offers them on a card (``Outcome.offers``)."""


def parse_arguments(tool: AnyTool, given: Mapping[str, Any]) -> BaseModel:
    """The tool's arguments from what a model said.

    Raises:
        BadArguments: something is missing, of the wrong type, or not known; the message says what.
    """
    try:
        json.dumps(dict(given), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # JSON can say half of a character. It can be neither shown nor written to disk, so nothing that holds one runs.
        raise BadArguments(
            f"`{tool.name}` cannot be called so: its text holds half of a character; say it whole"
        ) from None
    try:
        return tool.arguments.model_validate(dict(given))
    except ValidationError as error:
        faults = [f"{_where(fault['loc'])}: {fault['msg'].lower()}" for fault in error.errors(include_url=False)]
        raise BadArguments(f"`{tool.name}` cannot be called so: {'; '.join(faults[:5])}") from None


def json_schema(tool: AnyTool) -> dict[str, Any]:
    """The JSON schema of the tool's arguments, as model providers take it: inlined, without titles."""
    return copy.deepcopy(_schema_of(tool.arguments))


@cache
def _schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """Made once: pydantic takes milliseconds, and every request to a model carries the schemas of all tools."""
    schema = arguments.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    return _plain(schema, definitions)


def _plain(value: Any, definitions: Mapping[str, Any]) -> Any:
    match value:
        case {"$ref": str(reference)}:
            return _plain(definitions[reference.rsplit("/", 1)[-1]], definitions)
        case dict():
            # "title" is pydantic's, except where it is a property of that name.
            return {
                key: _plain(inner, definitions)
                for key, inner in value.items()
                if not (key == "title" and isinstance(inner, str))
            }
        case list():
            return [_plain(inner, definitions) for inner in value]
        case _:
            return value


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "arguments"
