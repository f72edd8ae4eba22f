"""Names under which agents send the same thing: each meaning is a set of keys of a tool's input."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PATH = _names(
    "path file_path filePath filepath abs_path absolute_path absolutePath target_file targetFile file filename fileName"
)
PARENT = "parentDir"
FOLDER = _names("directory dir dir_path dirPath folder")
COMMAND = _names("command cmd")
CWD = _names("cwd workdir working_directory workingDirectory directory dir_path")
CONTENT = _names("content contents text file_text fileText")
OLD = _names("old_string oldString old_str oldStr old_text oldText")
NEW = _names("new_string newString new_str newStr new_text newText")
FROM = _names("path source src from old_path oldPath")
TO = _names("destination dest dst to new_path newPath")
PATTERN = _names("pattern query regex")
URL = _names("url uri")
MANY = _names("paths files file_paths filePaths")
COMMANDS = _names("commands cmds")
PATCH = _names("input patch patch_text patchText diff unified_diff unifiedDiff")

WORDS = _names("description explanation instruction")
COMMAND_EXTRAS = WORDS | _names("timeout timeout_ms timeoutMs run_in_background is_background background")
EDIT_EXTRAS = WORDS | _names("replace_all replaceAll")
READ_EXTRAS = WORDS | _names("offset limit line start_line end_line startLine endLine pages")
FETCH_EXTRAS = WORDS | _names("prompt format timeout max_length")
SEARCH_EXTRAS = READ_EXTRAS | _names("output_mode head_limit multiline type context case_sensitive -i -n -A -B -C")
SEARCH_NAMES = _names("glob include exclude")
BOOKKEEPING = _names(
    "call_id turn_id started_at_ms process_id source auto_approved available_decisions parsed_cmd"
    " proposed_execpolicy_amendment"
)
"""Keys of an agent's own event, beside those of its tool, where it sends the event whole."""
