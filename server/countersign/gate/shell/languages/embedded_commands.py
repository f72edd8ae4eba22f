"""Commands in the languages of debuggers, databases, network and document tools: their escapes to a shell.

A deny or ask rule must see ``gdb -ex 'shell rm x'``, ``psql -c '\\! rm x'``, ``socat - EXEC:'rm x'``. Only what the
program hands to a shell, or runs by itself, is found here; code of a language (Python, Lisp, SQL) is not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from countersign.gate.shell.languages.inner_command import Inner
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.syntax.tree import Word
from countersign.gate.shell.syntax.words import constant, with_names

_Own = Callable[[Sequence[Word]], Iterator[Inner]]


def matched(pattern: str) -> _Own:
    """The text in the first group that is not empty, wherever in a word the pattern is found. One that begins with a
    line leaves out no empty lines behind that, or it would look at them again from each."""
    found_in = re.compile(pattern, re.DOTALL)

    def own(words: Sequence[Word]) -> Iterator[Inner]:
        for word in words[1:]:
            for found in found_in.finditer(word.value or ""):
                text = next((group for group in found.groups() if group), "")
                if text.strip():
                    yield Inner((constant(text.strip()),), None, text=True)

    return own


def valued(short: str, long: str, texts: str, *, single: bool = False, gives_names: bool = False) -> _Own:
    """The values of these options. ``short`` and ``long`` are all that take one. ``gives_names``: what it runs gets
    names of files behind its words."""
    grammar = Grammar(frozenset(short), frozenset(long.split()), single=single)
    names = tuple(texts.split())

    def own(words: Sequence[Word]) -> Iterator[Inner]:
        for value in arguments(words, grammar).valued(*names):
            if value.value is not None:
                text = with_names(value.value) if gives_names else value.value
                yield Inner((constant(text),), None, text=True)

    return own


def behind(*marks: str) -> _Own:
    """The command begins behind one of these words, or of these letters in a word."""
    letters = "".join(mark[1] for mark in marks if len(mark) == len("-x") and mark != "--")
    spelled = re.compile(f"-[A-Za-z]*?[{letters}](.*)", re.DOTALL) if letters else None

    def own(words: Sequence[Word]) -> Iterator[Inner]:
        for index, word in enumerate(words):
            if index and word.value in marks:
                yield Inner(tuple(words[index + 1 :]), index + 1)
                return
            found = spelled.fullmatch(word.value or "") if index and spelled is not None else None
            if found is not None:
                yield Inner((*([constant(found[1])] if found[1] else []), *words[index + 1 :]), None)

    return own


def _text_behind(*marks: str) -> _Own:
    """What stands behind one of these words is read by a shell."""

    def own(words: Sequence[Word]) -> Iterator[Inner]:
        for inner in behind(*marks)(words):
            yield Inner(inner.words, None, text=True)

    return own


def each(*own: _Own) -> _Own:
    """What any of these finds."""

    def all_of(words: Sequence[Word]) -> Iterator[Inner]:
        for one in own:
            yield from one(words)

    return all_of


def _ssh(words: Sequence[Word]) -> Iterator[Inner]:
    """A program named by ``-o``, and then, as without it, what runs on the other machine."""
    found = list(_SSH_PROGRAMS(words))
    yield from found
    for host, _ in arguments(words, _SSH).operands[:1]:
        # Options may stand behind the host as well.
        for index, _ in arguments(words, _SSH, host + 1).operands[:1]:
            if found or index > host + 1:
                yield Inner(tuple(words[index:]), None, text=True)


_SSH = Grammar(frozenset("BbcDEeFIiJLlmOoPpQRSWw"), ordered=True)


_SSH_PROGRAMS = matched(
    r"(?i)^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand|XAuthLocation|PKCS11Provider)[\s=]+(.+)"
)


def _gdb(words: Sequence[Word]) -> Iterator[Inner]:
    """Behind ``--args`` stands the program, behind ``-ex`` a command of the debugger's."""
    yield from behind("--args", "-args", "--a", "--ar", "--arg")(words)
    yield from _DEBUGGER(words)


# gdb takes the beginning of a command for the whole.
_DEBUGGER = matched(
    r"^(?:--?[a-z][a-z-]*=)?\s*"
    r"(?:(?:platform\s+)?shel?l?\s+|set\s+exec-w\S*\s+|!\s*|target\s+exec\s+|exec-f\S*\s+|(?:pipe?\b|\|)[^|]*\|"
    r"|(?:w(?:ith?)?|eval|interpreter-e\S*)\b[^\n]*?(?:\bshel?l?\s+|!\s*))(.+)"
)


def _gdbserver(words: Sequence[Word]) -> Iterator[Inner]:
    """The program stands behind the place to listen at; what wraps it between ``--wrapper`` and ``--``."""
    values = [word.value for word in words]
    start = 1
    if "--wrapper" in values:
        first = values.index("--wrapper") + 1
        stop = values.index("--", first) if "--" in values[first:] else len(words)
        yield Inner(tuple(words[first:stop]), first)
        start = stop + 1
    operands = [index for index in range(start, len(words)) if not (values[index] or "x").startswith("-")]
    for index in operands[1:2]:
        yield Inner(tuple(words[index:]), index)


def _lldb(words: Sequence[Word]) -> Iterator[Inner]:
    """The program, with its words behind ``--``."""
    yield from _DEBUGGER(words)
    values = [word.value for word in words]
    if "--" in values:
        at = values.index("--")
        operands = arguments(words[:at], Grammar(frozenset("acfkKnoOpPQrsSlx"), frozenset(_LLDB.split()))).operands
        rest = words[at + 1 :]
        for _, program in operands[:1]:
            yield Inner((program, *rest), None)
        if not operands and rest:
            yield Inner(tuple(rest), at + 1)


_LLDB = (
    "arch core file attach-pid attach-name one-line one-line-before-file source source-before-file source-on-crash "
    "one-line-on-crash source-quietly script-language repl-language"
)


def _runcon(words: Sequence[Word]) -> Iterator[Inner]:
    """A whole context may stand in front of the command."""
    found = arguments(words, Grammar(frozenset("turl"), frozenset({"type", "user", "role", "range"}), ordered=True))
    for index, _ in found.operands[:1]:
        yield Inner(tuple(words[index:]), index)
        if not found.keeps("-t", "-u", "-r", "-l", "--type", "--user", "--role", "--range"):
            yield Inner(tuple(words[index + 1 :]), index + 1)


def _salt(words: Sequence[Word]) -> Iterator[Inner]:
    """``salt TARGET cmd.run TEXT``; ``salt-ssh -r TARGET TEXT``."""
    for index, word in enumerate(words):
        if re.fullmatch(r"cmd\.\w+", word.value or ""):
            yield Inner(tuple(words[index + 1 :]), None, text=True)
        elif word.value in {"-r", "--raw", "--raw-shell"}:
            for following in words[index + 1 :]:
                yield Inner((following,), None, text=True)


def _far(words: Sequence[Word]) -> Iterator[Inner]:
    """``vagrant ssh``, ``gcloud compute ssh``: behind ``--`` stand words for ssh, options and a command."""
    if not any(word.value == "ssh" for word in words[1:5]):
        return
    for index, word in enumerate(words):
        if word.value == "--":
            yield Inner((constant("ssh"), constant("host"), *words[index + 1 :]), None)
            yield Inner((constant("ssh"), *words[index + 1 :]), None)
    yield from valued("c", "command", "-c --command")(words)


def _at(words: Sequence[Word]) -> Iterator[Inner]:
    """``at`` and ``batch`` read what they run later from their input, or from the file of ``-f``."""
    found = arguments(words, Grammar(frozenset("fqt")))
    if not found.keeps("-l", "-r", "-d", "-c", "-V"):
        yield Inner((constant("sh"), *found.values("-f")), None)


def _su(words: Sequence[Word]) -> Iterator[Inner]:
    """Behind ``--`` stand words for the shell that it starts."""
    for index, word in enumerate(words):
        if index and word.value == "--" and index + 1 < len(words):
            rest = words[index + 1 :]
            yield Inner((constant("sh"), *rest), None)
            yield Inner((constant("sh"), *rest[1:]), None)
            yield from valued("cCgGsTw", "command session-command", "-c --command -C --session-command")(words[:index])
            return


def _yarn(words: Sequence[Word]) -> Iterator[Inner]:
    """``yarn workspaces foreach … exec X`` runs it in each package."""
    if any(word.value == "foreach" for word in words[1:6]):
        yield from behind("exec", "dlx")(words)


def _mix(words: Sequence[Word]) -> Iterator[Inner]:
    """``mix do`` runs tasks one after the other."""
    if len(words) < 3 or words[1].value != "do":
        return
    task: list[Word] = []
    for word in [*words[2:], constant("+")]:
        value = word.value or ""
        if value.rstrip(",") and value != "+":
            task.append(constant(value.rstrip(",")) if value.endswith(",") else word)
        if value.endswith(",") or value == "+":
            if task:
                yield Inner((constant("mix"), *task), None)
            task = []


def _jj(words: Sequence[Word]) -> Iterator[Inner]:
    """A setting may name a program, as a text or as a list of words; an alias runs one by `util exec`."""
    for value in arguments(words, Grammar(frozenset("Rrm"), frozenset(("config", "config-toml")))).valued(
        "--config", "--config-toml"
    ):
        for line in (value.value or "").split("\n"):
            key, _, setting = line.partition("=")
            text = " ".join(_TOML_MARKS.sub(" ", setting).split())
            if text and _NAMES_PROGRAM.search(key):
                yield Inner((constant(_OWN_EXEC.sub("", text)),), None, text=True)


_NAMES_PROGRAM = re.compile(r"(?i)alias|pager|edit|tool|program|command|formatter|path|ssh")
_TOML_MARKS = re.compile(r"[\[\],\"']")
_OWN_EXEC = re.compile(r"\Autil exec (?:-- )?")


_BANG = matched(r"(?:^|[;\n])[^\S\n]*!\s*([^!].*)")
_AWS = matched(r"(?:^|[,{\"'])(?:commands?)[\"']?\s*[=:]\s*[\[\"']*([^\]\"']+)")

SOMETIMES: Mapping[str, _Own] = {
    **dict.fromkeys(("ssh", "autossh"), _ssh),
    "scp": _SSH_PROGRAMS,
    "sftp": each(_SSH_PROGRAMS, valued("aBbcDFiJloPRSsX", "", "-S -D")),
    "rsync": matched(r"^(?:-\w*M|--remote-option=|)(?:--rsync-path|--rsh)[= ](.+)"),
    "wget": matched(r"(?:^|[\s=])use_askpass\s*=\s*(.+)"),
    "aria2c": valued("", "on-download-complete on-download-start on-download-error on-download-stop on-download-pause "
                     "on-bt-download-complete", "--on-download-complete --on-download-start --on-download-error "
                     "--on-download-stop --on-download-pause --on-bt-download-complete", gives_names=True),
    "socat": matched(r"(?i)(?:^|!!)(?:EXEC|SYSTEM|SHELL):\"?'?([^,\"']+)"),
    **dict.fromkeys(("nc", "netcat", "ncat"), valued(
        "cepswxXiIOPqTVGm", "exec sh-exec lua-exec source source-port wait idle-timeout proxy",
        "-c -e --exec --sh-exec")),
    "gdb": _gdb,
    "gdbserver": _gdbserver,
    "lldb": _lldb,
    "bpftrace": each(valued("cdefIpBo", "include info-level", "-c"), matched(r"\bsystem\s*\(\s*\"([^\"]*)")),
    "dtrace": each(valued("cCbDefIiLlmnoPpqsUxX", "", "-c"), matched(r"\bsystem\s*\(\s*\"([^\"]*)")),
    "tcpdump": valued("BcCDEFGijMmrstTVwWyzZ", "postrotate-command", "-z", gives_names=True),
    **dict.fromkeys(("psql", "pgcli", "usql", "cockroach"), each(
        matched(r"\\!\s*(.+)"), matched(r"(?i)\bPROGRAM\s+\$?'([^']+)'"),
        matched(r"\\(?:g|gx|o|out|w|write|watch)\s*\|\s*(.+)"), matched(r"`([^`]+)`"))),
    **dict.fromkeys(("mysql", "mariadb", "mycli"), each(
        matched(r"(?:^(?:-e)?|[;\n=])[^\S\n]*(?:system|\\!)\s*(.+)"),
        matched(r"(?:^(?:-e)?|[;\n=])[^\S\n]*(?:pager|\\P)\s+(.+)"),
        matched(r"^--pager=(.+)"))),
    **dict.fromkeys(("sqlite3", "sqlite", "litecli"), each(
        matched(r"(?:^|\n)[^\S\n]*\.(?:she\w*|sy\w*|sh)\s+(.+)"),
        matched(r"(?:^|\n)[^\S\n]*\.(?:once|on\w*|out\w*|im\w*|o|excel|read)\s[^|\n]*\|\s*([^'\"\n]+)"))),
    "duckdb": each(matched(r"(?:^|\n)[^\S\n]*\.(?:she\w*|sy\w*|sh)\s+(.+)"),
                   matched(r"(?:^|\n)[^\S\n]*\.(?:once|out\w*)\s+\|\s*(.+)")),
    **dict.fromkeys(("lftp", "ftp", "dc", "ed", "ex"), _BANG),
    "vim": matched(r"(?:^|[;\n]|:)[^\S\n]*!\s*([^!].*)"),
    "gnuplot": each(_BANG, matched(r"\bsystem\s*(?:\(\s*)?[\"']([^\"']*)"), matched(r"[\"']<\s*([^\"']*)")),
    "expect": matched(r"(?:^|[;\n{\[]|-c)[^\S\n]*(?:spawn|exec|system)\s+(?:-\w+\s+)*([^;\n}\]]+)"),
    **dict.fromkeys(("latex", "pdflatex", "xelatex", "lualatex", "tex", "pdftex", "latexmk"),
                    matched(r"\\write18\s*\{([^}]*)")),
    "pandoc": valued("fFtordVLmsbHABcT", "filter from to read write output data-dir pdf-engine metadata variable "
                     "template", "-F --filter --pdf-engine"),
    **dict.fromkeys(("xterm", "konsole", "xfce4-terminal", "lxterminal", "mate-terminal", "urxvt", "st", "termite",
                     "tilix", "terminator"), behind("-e", "-x", "--execute", "--command")),
    **dict.fromkeys(("gnome-terminal", "ptyxis", "kgx"), behind("--", "-e", "-x")),
    "xdotool": behind("exec"),
    "just": behind("-c", "--command"),
    "runcon": _runcon,
    **dict.fromkeys(("salt", "salt-ssh"), _salt),
    "fab": behind("--"),
    **dict.fromkeys(("vagrant", "gcloud", "az"), _far),
    "aws": _AWS,
    "java": matched(r"^-Xdump:.*\bexec=([^,]+)"),
    "mix": _mix,
    "jj": _jj,
    "ghc": each(matched(r"^-pgm(?:lm|lo|lc|las|cxx|JSP|CmmP|dll|windres|libtool|ar|otool|install_name_tool)=?(.+)"),
                matched(r"^-pgm[A-Za-z]=?(.+)")),
    "mpv": matched(r"^--?input-commands(?:-\w+)?=(?:.*[;,\s])?(?:run|subprocess)\s+(.+)"),
    **dict.fromkeys(("rename", "prename", "perl-rename", "file-rename"), each(
        matched(r"`([^`]+)`"), matched(r"\bqx\s*[^\w\s]([^/)}\]|!]+)"),
        matched(r"\b(?:system|exec)\b[\s(]*[\"']?([^\"')]+)"))),
    "yarn": _yarn,
    **dict.fromkeys(("at", "batch"), _at),
    "su": _su,
    "adb": _text_behind("shell"),
    **dict.fromkeys(("cmd", "cmd.exe"), _text_behind("/c", "/C", "/k", "/K")),
}  # fmt: skip
"""By program. Most calls of these run nothing by their words."""
