"""What a rule matches, in words; and that foreign text in those words stays text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from countersign.gate.rules.rule import compile_rule
from countersign.lsp.language.rule_descriptions import AGENT_KEYS, MODES, code, escaped, rule_in_words
from countersign.settings.policy import RuleText

EXTENSION = Path(__file__).parents[2] / "client-ts" / "package.json"


def in_words(text: str) -> str:
    listed, rule = text.split(" ", 1)
    compiled, problem = compile_rule(RuleText(listed, rule))  # type: ignore[arg-type]
    assert compiled is not None, problem
    return rule_in_words(compiled)


THEN = ", alone or followed by anything"
ANY = "`*` being any text"
NARROW = "all but shells, interpreters with code on the command line, and programs that run others"
WORDS = [
    ("allow Bash(npm run test:*)", f"any command that begins with the words `npm run test`{THEN}"),
    ("allow Bash(npm run test *)", f"any command that begins with the words `npm run test`{THEN}"),
    ("allow Bash(npm run test)", "the command `npm run test`, word for word"),
    ("allow Bash(git commit -m 'a b')", "the command `git commit -m 'a b'`, word for word"),
    ("allow Bash(git * main)", f"any command of the form `git * main`, {ANY}"),
    ("allow Bash(git * main:*)", f"any command of the form `git * main`, {ANY}{THEN}"),
    ("allow Bash(* --version)", f"any command of the form `* --version`, {ANY}: {NARROW}"),
    ("allow Bash(*)", f"nearly any command: {NARROW}"),
    ("deny Bash(*)", "any command"),
    ("deny Bash", "any command"),
    ("allow Bash(echo '*')", r"the command `echo \*`, word for word"),
    ("deny Bash(echo '*')", f"any command of the form `echo *`, {ANY}"),
    ("allow Edit(src/**)", "writing any file below `src/` in the workspace"),
    ("allow Edit(./src)", "writing `src` in the workspace, and anything below it if it is a folder"),
    ("allow Write(./src/a.py)", "writing `src/a.py` in the workspace, and anything below it if it is a folder"),
    ("allow Edit(src/)", "writing any file below a folder named `src`, at any depth in the workspace"),
    ("allow Edit", "writing any file in the workspace"),
    ("deny Edit", "writing any file anywhere"),
    (
        "allow Read(*.md)",
        "reading any file whose name has the form `*.md`, at any depth in the workspace (`*` any part of one name)",
    ),
    (
        "deny Read(*.pem)",
        "reading or writing any file whose name has the form `*.pem`, and anything below a folder of such a name,"
        " at any depth (`*` any part of one name)",
    ),
    ("ask Read(.env)", "reading any file named `.env`, and anything below a folder of that name, at any depth"),
    ("allow Read(~/notes/**)", "reading any file below `~/notes/`"),
    ("allow Read(//etc/hosts)", "reading `/etc/hosts`, and anything below it if it is a folder"),
    ("allow Read(/src/*.py)", "reading any file of the form `src/*.py` in the workspace (`*` any part of one name)"),
    (
        "ask Read(/src/*.py)",
        "reading any file of the form `src/*.py` in the workspace (`*` any part of one name), or anything below such a"
        " folder",
    ),
    (
        "allow Read(docs/**/*.md)",
        "reading any file of the form `docs/**/*.md` in the workspace"
        " (`**` being any folders, `*` any part of one name)",
    ),
    ("allow Read(./**)", "reading any file in the workspace"),
    ("allow Read(**)", "reading any file, at any depth in the workspace"),
    ("allow Read(~)", "reading any file in your home folder"),
    ("deny Read(//)", "reading or writing any file on this machine"),
    ("allow Read(./my\\ notes/**)", "reading any file below `my notes/` in the workspace"),
    (
        "deny Read(*.{key,crt})",
        "reading or writing any file whose name has the form `*.{key,crt}`, and anything below a folder of such a name,"
        " at any depth (`*` any part of one name), with whatever its braces spell",
    ),
    ("allow WebFetch(domain:example.com)", "fetching from `example.com` and no other host"),
    ("allow WebFetch(domain:*.a.com)", "fetching from any host below `a.com`, but not from `a.com` itself"),
    (
        "allow WebFetch(domain:b*.a.com)",
        "fetching from any host of the form `b*.a.com`, `*` being any text without a dot",
    ),
    (
        "allow WebFetch(domain:*.b*.com)",
        "fetching from any host of the form `*.b*.com`, `*` being any text without a dot,"
        " the first any number of names",
    ),
    ("deny WebFetch(domain:*)", "fetching from any address"),
    ("ask WebFetch", "fetching from any address"),
    ("allow Agent(Reviewer)", "starting the agent `Reviewer`"),
    ("deny Agent(R*)", f"starting any agent whose name has the form `R*`, {ANY}"),
    ("allow mcp__github", "any tool of the MCP server `github`"),
    ("allow mcp__github__*", "any tool of the MCP server `github`"),
    ("allow mcp__github__get_issue", "the tool `get_issue` of the MCP server `github`"),
    ("allow mcp__github__get_*", f"any tool of the MCP server `github` whose name has the form `get_*`, {ANY}"),
    ("deny mcp__*", f"any call of any tool whose name has the form `mcp__*`, {ANY}"),
    ("deny *", "any call of any tool"),
    ("deny run_node(node_type:shell)", "any call of the tool `run_node` whose argument `node_type` is `shell`"),
    ("allow browser", "any call of the tool `browser`"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "words"), WORDS)
def test_a_rule_is_said_in_words(rule: str, words: str) -> None:
    assert in_words(rule) == words


FOREIGN = [
    ("ls", "`ls`"),
    ("", "`  `"),
    ("`", "`` ` ``"),
    ("a``b`c", "``` a``b`c ```"),
    (" x", "`  x `"),
    ("a\u202eb\nc", "`a\\u{202e}b\\u{a}c`"),
    ("![x](https://evil.example/x.png)", "`![x](https://evil.example/x.png)`"),
]


@pytest.mark.parametrize(("text", "markdown"), FOREIGN)
def test_foreign_text_is_code_and_hides_nothing(text: str, markdown: str) -> None:
    assert code(text) == markdown


def test_a_message_that_quotes_foreign_text_draws_nothing() -> None:
    said = escaped("`![x](https://evil.example)` <img src=x> **b** www.evil.example [a]: http://e")
    assert said == (r"\`\!\[x\](https\://evil.example)\` \<img src=x\> \*\*b\*\* www\.evil.example \[a\]: http\://e")


def test_the_words_are_those_of_the_settings_editor() -> None:
    properties = json.loads(EXTENSION.read_text())["contributes"]["configuration"]["properties"]
    texts = json.loads(EXTENSION.with_name("package.nls.json").read_text())
    mode = properties["countersign.mode"]
    words = [texts[description.strip("%")] for description in mode["enumDescriptions"]]
    assert dict(zip(mode["enum"], words, strict=True)) == dict(MODES)
    assert properties["countersign.agents"]["additionalProperties"]["properties"].keys() <= AGENT_KEYS.keys()
