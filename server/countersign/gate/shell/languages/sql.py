"""SQL that only asks: one constant statement of a form that changes nothing in SQLite, PostgreSQL and MySQL.

Not a parser but a positive list, read left to right in linear time: the statement begins with a word that asks, a
parenthesis calls only functions that are named here, and no word stands in it by which a query writes. What the three
read differently is left out: a backslash, a comment, ``$``, ``@`` and brackets, and all but names in backticks. What a
database keeps under a name (a view, a function in place of a known one) is its own affair; a rule for the program
covers that.
"""

from __future__ import annotations

import re

_MOST = 10_000
"""Characters of a statement."""

_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\n]+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*(?!['"]))
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_]))
    | (?P<quoted>'(?:[^'\\\0]|'')*'(?!') | "(?:[^"\\\0]|"")*"(?!") | `[\w. $-]*`(?!`))
    | (?P<open>\()
    | (?P<sign>::|-(?!-)|/(?!\*)|[+*%=<>!|.,)~&])
    """,
    re.VERBOSE,
)

_BEGINS = frozenset({"select", "with", "values"})

_WRITES = frozenset("""
    alter analyze attach binlog call change clone copy create delete delimiter detach do drop dumpfile execute
    explain flush for grant handler import insert install into kill load lock merge optimize outfile pragma prepare
    procedure purge refresh reindex rename repair replace reset restart returning revoke set shutdown start stop
    truncate uninstall update upsert use vacuum xa
""".split())  # fmt: skip
"""Words by which a statement that begins with a query does more than ask, or another one begins behind it: in any line
MySQL's client takes `delimiter x` for a command of its own."""

_FILES = re.compile(
    r"fsdir|lsdir|zipfile|sqlite_dbpage|dbdata|dbptr|generate_series|pg_\w*(?:file|ident)", re.IGNORECASE
)
"""In the names of tables by which SQLite's shell and PostgreSQL read files, or go on without end."""

_CALLED = frozenset("""
    abs array_agg avg bigint bit_length cast ceil ceiling char char_length character character_length coalesce
    concat concat_ws count cume_dist current_date current_setting current_time current_timestamp database date
    date_format date_part date_trunc datediff datetime day dayname decimal dense_rank exp extract first_value float
    floor format from_unixtime greatest group_concat grouping hex hour ifnull iif instr int integer json_agg
    json_array_length json_build_object json_each json_extract json_object json_type jsonb_agg jsonb_array_length
    jsonb_build_object julianday lag last_value lead least left length ln log lower lpad ltrim max md5 median min
    minute mod month monthname now nth_value ntile nullif numeric octet_length percent_rank pg_column_size
    pg_database_size pg_get_indexdef pg_get_viewdef pg_relation_size pg_size_pretty pg_table_size
    pg_total_relation_size position pow power printf quarter quote radians random rank real regexp_replace repeat
    right round row_number rpad rtrim second sign smallint split_part sqlite_version sqrt stddev strftime string_agg
    strpos substr substring sum text time timestampdiff to_char to_date to_json to_timestamp total trim trunc typeof
    unicode unixepoch upper varchar variance version week weekday year
""".split())  # fmt: skip
"""Functions that compute something from what they are given, and types that are written like them."""

_GROUPED = frozenset("""
    all and any as between by case distinct else except exists filter from group having in intersect is join like
    materialized not on or over select some then union using values when where limit offset
""".split())  # fmt: skip
"""Words behind which a parenthesis groups."""

_SHOWN = re.compile(
    r"(?i)(?:describe|desc) +(?!analyze\b|format\b)[a-z0-9_.`]+|show(?: +[a-z0-9_.`]+)+(?: +like +'[a-z0-9_%]*')?"
)
_TOLD = re.compile(
    r"(?i)pragma +(?:(?:table_x?info|index_x?info|index_list|foreign_key_list|table_list|quick_check|integrity_check)"
    r"(?: *\( *['\"]?[a-z0-9_]+['\"]? *\))?|database_list|collation_list|function_list|user_version|schema_version"
    r"|encoding|page_count|page_size|journal_mode|foreign_keys)"
)
"""What SQLite tells of itself; with a value behind it, the second half would be set."""

_EXPLAINED = re.compile(
    r"(?i)explain(?:[ \t]+query[ \t]+plan|[ \t]+analyze|[ \t]+verbose)*[ \t\n]+"
    r"(?:\((?:(?:analyze|buffers|verbose|costs|timing|summary|settings|wal|format|json|text|yaml|on|off|true|false)"
    r"[ ,]*)+\)[ \t\n]*)?"
)
_AT_A_LINE = re.compile(
    r"(?i)\n[ \t]*(?:system|source|tee|notee|pager|nopager|edit|delimiter|prompt|connect|charset|use|rehash|warnings"
    r"|nowarning|resetconnection|query_attributes|ssl_session_data_print)\b"
)
"""Words of MySQL's client at the beginning of a line."""


def only_asks(text: str) -> bool:
    """Whether this is one statement that asks a database, and does nothing else in any of the three. The ``\\G`` by
    which MySQL's client shows each column on its own line may stand at the end."""
    statement = text.strip(" \t\n").removesuffix(";").removesuffix("\\G").rstrip(" \t\n")
    if len(statement) > _MOST or not statement.isascii() or _AT_A_LINE.search(statement):
        return False
    if _SHOWN.fullmatch(statement) or _TOLD.fullmatch(statement):
        return True
    explained = _EXPLAINED.match(statement)
    return _is_query(statement[explained.end() :] if explained is not None else statement)


def _is_query(statement: str) -> bool:
    at, last, before, begun = 0, "", "", False
    while at < len(statement):
        token = _TOKEN.match(statement, at)
        if token is None:
            return False
        at = token.end()
        kind, said = token.lastgroup, token[0].lower()
        if kind == "blank":
            continue
        if not begun and said not in _BEGINS:
            return False
        if kind in {"word", "quoted"} and _FILES.search(said) is not None:
            return False
        if kind == "word" and said in _WRITES and not (said == "replace" and statement[at : at + 1] == "("):
            return False
        # Behind `with` stands the name of a query, with the names of its columns.
        if kind == "open" and not _may_open(last) and before not in {"with", "recursive"}:
            return False
        # A name behind a dot is a column or a table, and no function that is known.
        before = last
        last = f".{said}" if last.endswith(".") else said if kind != "quoted" else "'"
        begun = True
    return begun


def _may_open(last: str) -> bool:
    """Whether a parenthesis behind this calls nothing, or a function that is known."""
    return last in _CALLED or last in _GROUPED or last == "replace" or last[-1:] in set("(+-*/%=<>!|,~&")
