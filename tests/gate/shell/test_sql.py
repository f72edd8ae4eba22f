"""What counts as a statement that only asks a database, against rows and against SQLite itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from countersign.gate.shell.languages.sql import only_asks

from .asked import decide

ASKING = [
    "SELECT count(*) FROM users", "select id, email from users limit 5;", "SHOW TABLES", "show create table `a.b`",
    "SELECT name FROM sqlite_master WHERE type='table'", "DESC users", "VALUES (1, 2)", "SELECT version()",
    "explain analyze select * from t where a = 'it''s'", "EXPLAIN (ANALYZE, BUFFERS, format json) SELECT 1",
    "EXPLAIN QUERY PLAN SELECT 1", "with a as (select 1) select * from a", "PRAGMA table_info(users)",
    "select a->>'x', b::text, coalesce(max(c), 0) from t join u on (t.a=u.b) where x in (1,2) group by 1 "
    "having count(*) > 1 order by 2 desc limit 10\\G",
    "SELECT\n  id,\n  name\nFROM t\nWHERE a IS NOT NULL", "select now() - interval '1 day'",
    "select date_trunc('day', x), row_number() over (partition by a order by b) from t",
    "SELECT pg_size_pretty(pg_total_relation_size('x'))", "select replace(a, 'b', 'c') from t",
    "select count(*) filter (where a), string_agg(b, ',') within group (order by c) from t",
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c",
    "SELECT \"select\", 'delete from t; -- x' FROM t",
]  # fmt: skip

OTHERS = [
    "", ";", "delete from t", "select 1; drop table t", "replace into t values (1)", "x", "SELECT 1\0", "sElEcT ä",
    # Functions and tables that reach files, by any spelling.
    "SELECT load_file('x')", "SELECT LOAD_FILE ('x')", "select readfile('.env')", "select * from fsdir('.')",
    "select data from fsdir where path='.env'", 'select * from "fsdir"', "select * from main.[fsdir]",
    "select pg_read_file('x')", "select pg_catalog.pg_read_file('x')", "select a.count('x')", "select a . count('x')",
    'select "load_file"(\'x\')', "select `load_file`('x')", "select lo_export(1,'x')", "select load_extension('x')",
    "select setval('a',1)", "select nextval('a')", "select pg_sleep(1)", "select dblink('a', 'b')",
    # Words by which a query writes.
    "select * into x from t", "with x as (delete from t returning *) select * from x", "select 1 into outfile 'x'",
    "select x from t for update", "explain analyze delete from t", "explain (delete from t) select 1",
    "desc analyze delete a from b", "describe format=tree delete from x", "desc delete from x",
    "copy t to program 'x'", "attach 'x' as y", "vacuum into 'x'", "analyze", "table t",
    "PRAGMA journal_mode=delete", "pragma user_version(3)", "pragma journal_mode(wal)", "pragma writable_schema",
    # Where one of the three reads another text.
    "select 'a\\'; drop table t; --'", "select 1 -- x", "select 1 /*! into outfile 'x' */", "select 1 # x",
    "select E'a'", "select N'a'", "select $$x$$", "select @a:=1", "select [x] from t", "select 1 \\gexec",
    "select 1 ` 2; delete from t; select 1 ` 2", "select * from pg_hba_file_rules", "select 1 delimiter a\nselect 1",
        "select * from generate_series where start=1",
    "\\! x", "select 1 \\g |x", "select 'a", 'select "a', "select 1\nsystem x", "select 1\n  \\! x", ".shell x",
    "select 1\nsource x", "select {fn now()}", "select :x", "select ?",
]  # fmt: skip


@pytest.mark.parametrize("statement", ASKING)
def test_a_statement_that_asks(statement: str) -> None:
    assert only_asks(statement)


@pytest.mark.parametrize("statement", OTHERS)
def test_any_other_statement(statement: str) -> None:
    assert not only_asks(statement)


def test_a_long_statement_is_read_in_linear_time_or_not_at_all() -> None:
    for piece in ("(", "'", "''", '"', "a.", "1.", "count(", "select ", "\n", "- ", "show ", "explain ", "((1)"):
        assert not only_asks("select " + piece * 3_000 + "$")
        assert not only_asks(piece * 3_000 + "$")


PIECES = [
    "select", "SELECT 1", "from", "t", "where", "a", "=", "'x'", "''", "'it''s'", '"a"', '"t"', "`a`", "(", ")", ",",
    "*", "count(", "max(a)", "replace(", "insert", "into", "values", "(1)", "delete", "delete from t", "update t set",
    "drop table t", "with x as (", "union", "all", "create table u(a)", ";", "\n", "--", "- -", "/*", "*/", "/", "+",
    "||", ".", "main.t", "limit 1", "explain", "query plan", "pragma", "table_info(t)", "user_version", "(3)", "=3",
    "attach", "'y' as z", "vacuum", "case when a then b end", "exists (select 1)", "order by", "group by a", "having",
    "load_extension('x')", "readfile('x')", "cast(a as text)", "t.count('x')", "over ()", "->", "'$.a'", "::", "~",
    "!=", "recursive", "not", "null", "in", "b",
]  # fmt: skip

READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def does(statement: str) -> set[int]:
    """What SQLite would do for a statement, as it asks for leave; nothing where it refuses the text."""
    database = sqlite3.connect(":memory:")
    database.execute("create table t (a, b)")
    asked: set[int] = set()

    def allowed(action: int, first: str | None, second: str | None, *rest: object) -> int:
        told = action == sqlite3.SQLITE_PRAGMA and (second is None or first in {"table_info", "index_list"})
        if not told:
            asked.add(action)
        return sqlite3.SQLITE_OK

    database.set_authorizer(allowed)
    try:
        database.execute(statement)
    except sqlite3.Error:
        return set()
    finally:
        database.set_authorizer(None)
        database.close()
    return asked


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map(" ".join))
@example("select 1 from t where a = 'it''s'")
@example("PRAGMA user_version (3)")
@example("select '' ''\n; delete from t --'")
def test_sqlite_does_nothing_else_for_a_statement_that_asks(statement: str) -> None:
    if only_asks(statement):
        assert does(statement) <= READING


@pytest.mark.parametrize("name", ["link.db", "./link.db", "folder/x.db", "-header link.db"])
def test_a_database_outside_is_opened_through_a_link_for_a_person_alone(name: str, tmp_path: Path) -> None:
    for folder in ("ws", "outside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.db").touch()
    (tmp_path / "ws/link.db").symlink_to("../outside/x.db")
    (tmp_path / "ws/folder").symlink_to("../outside")
    for file, expected in (("x.db", "allow"), (name, "ask")):
        command = f"sqlite3 {file} 'select 1'"
        assert decide(command, workspace=str(tmp_path / "ws"), allow=["Bash(sqlite3:*)"]) == expected
