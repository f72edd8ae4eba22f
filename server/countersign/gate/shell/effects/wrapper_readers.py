"""Where the inner command stands for wrappers that no row of the table describes (docs/gate.md S7).

Each function gets a wrapper's words and gives what is run: command lines with the index at which they begin, and texts
that a shell reads. All of it is for deny and ask; a rule for such a wrapper covers nothing it runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from countersign.gate.shell.languages.embedded_commands import SOMETIMES, behind
from countersign.gate.shell.languages.inner_command import Inner
from countersign.gate.shell.languages.tmux import tmux_commands
from countersign.gate.shell.programs.argv import Grammar, arguments
from countersign.gate.shell.programs.tables import field_of, names_with_field
from countersign.gate.shell.programs.wrapper_row import is_unclear
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Word
from countersign.gate.shell.syntax.words import UNKNOWN, constant

__all__ = ["Inner", "is_peculiar", "peculiar", "template"]


def peculiar(name: str, words: Sequence[Word]) -> Iterator[Inner] | None:
    """What this wrapper runs, or None if it is none of those here, or does not run anything with these words."""
    own = _OWN.get(name)
    if own is None:
        return None
    if name not in _SOMETIMES:
        return own(words)
    found = list(own(words))
    return iter(found) if found else None


def is_peculiar(name: str) -> bool:
    """Whether this wrapper is one of those here."""
    return name in _OWN


GIVEN = '"$_"'
"""What stands for the words from elsewhere."""


def template(word: Word, mark: str) -> Word:
    """A word in which ``mark`` is replaced by something from elsewhere."""
    if word.value is None or mark not in word.value:
        return word
    shown = word.value.replace(mark, GIVEN)
    return Word(shown, (), "split", None, word.value.partition(mark)[0], UNKNOWN_TEXT + word.value, bare=False)


_BWRAP = {
    "bind": 2, "bind-try": 2, "dev-bind": 2, "dev-bind-try": 2, "ro-bind": 2, "ro-bind-try": 2, "symlink": 2,
    "setenv": 2, "file": 2, "bind-data": 2, "ro-bind-data": 2, "chmod": 2, "bind-fd": 2, "ro-bind-fd": 2,
    "overlay": 3, "args": 1, "chdir": 1, "unsetenv": 1, "lock-file": 1, "sync-fd": 1, "remount-ro": 1, "proc": 1,
    "dev": 1, "tmpfs": 1, "mqueue": 1, "dir": 1, "seccomp": 1, "add-seccomp-fd": 1, "block-fd": 1, "userns": 1,
    "userns2": 1, "pidns": 1, "uid": 1, "gid": 1, "hostname": 1, "info-fd": 1, "json-status-fd": 1,
    "userns-block-fd": 1, "exec-label": 1, "file-label": 1, "cap-add": 1, "cap-drop": 1, "perms": 1, "size": 1,
    "argv0": 1, "overlay-src": 1, "tmp-overlay": 1, "ro-overlay": 1,
    **dict.fromkeys(
        "help version unshare-all share-net unshare-user unshare-user-try unshare-ipc unshare-pid unshare-net "
        "unshare-uts unshare-cgroup unshare-cgroup-try disable-userns assert-userns-disabled clearenv new-session "
        "die-with-parent as-pid-1 level-prefix".split(),
        0,
    ),
}  # fmt: skip
"""How many words each of its options takes."""


def _bwrap(words: Sequence[Word]) -> Iterator[Inner]:
    index = 1
    while index < len(words):
        value = words[index].value or ""
        if value == "--" or not value.startswith("--"):
            index += value == "--"
            break
        taken = _BWRAP.get(value[2:])
        if taken is None:
            yield Inner((), unclear=True)
        index += 1 + (taken or 0)
    yield Inner(tuple(words[index:]), index)


def _parallel(words: Sequence[Word]) -> Iterator[Inner]:
    """``parallel command ::: words``; without a command the words, and the lines of its files and its input, are
    commands."""
    found = arguments(words, _PARALLEL)
    marks = [mark for value in found.valued("--arg-sep", "--argsep") if (mark := value.value)]
    file_marks = [mark for value in found.valued("--arg-file-sep", "--argfilesep") if (mark := value.value)]
    at = _first(words, 1)
    unclear = [index for index in range(1, at) if is_unclear(words[index].value or words[index].prefix, _PARALLEL)]
    if unclear:
        yield Inner((), unclear=True)
    for value in found.valued(*_PARALLEL_TEXTS):
        yield Inner((value,), None, text=True)
    for value in found.valued("--sshlogin", "-S"):
        # `4/ssh -p 22 host,:`: each may begin with how many jobs run there, and name the program.
        for part in (value.value or "").split(",")[:_MOST_UNCLEAR]:
            for program in dict.fromkeys((part, part.rpartition("/")[2])) if " " in part else ():
                yield Inner((constant(program),), None, text=True)
    separators = {f"{mark}{plus}" for mark in (":::", "::::", *marks, *file_marks) for plus in ("", "+")}
    cut = next((index for index, word in enumerate(words) if word.value in separators), len(words))
    # What an option takes that is not known: both readings count.
    starts = [at, *(_first(words, index + 2) for index in unclear[:_MOST_UNCLEAR])]
    for start in dict.fromkeys(min(start, cut) for start in starts):
        given = [template(word, "{}") for word in words[start:cut]]
        if given:
            yield Inner((*given, Word("…", (), "split", None, "", UNKNOWN_TEXT + "…")), None, text=True)
            yield Inner(tuple(given), start)
        elif cut == len(words) or any((word.value or "").startswith(("::::", *file_marks)) for word in words[cut:]):
            yield Inner((constant("sh"),), None)
    for word in words[cut + 1 :]:
        yield Inner((word,), None, text=True)


def _first(words: Sequence[Word], start: int) -> int:
    """Where the first operand of ``parallel`` stands, from there on."""
    return next((index for index, _ in arguments(words, _PARALLEL, start).operands), len(words))


_MOST_UNCLEAR = 8
_PARALLEL = Grammar(
    short=frozenset("aBCdDEHIJjLnNPSsUW"),
    long=frozenset(
        "arg-file arg-file-sep arg-sep argfile argfilesep argsep basefile basenameextensionreplace basenamereplace bf "
        "bin block block-size block-timeout blocksize blocktimeout bner bnr bt col-sep colsep compress-program "
        "compressprogram ctag ctag-string ctagstring debug decompress-program decompressprogram delay delimiter "
        "dirnamereplace dnr env er extensionreplace filter group-by groupby halt halt-on-error haltonerror header id "
        "jl jobs joblog limit linkinputsource load max-args max-chars max-procs max-replace-args maxargs maxchars "
        "maxprocs maxreplaceargs memfree memsuspend min-version minversion nice parens process-slot-var "
        "processslotvar profile recend recstart res result results retries return rpl rsync-opts rsyncopts "
        "semaphore-name semaphore-timeout semaphorename semaphoretimeout seqreplace shard shell-completion "
        "shellcompletion slf slotreplace sql sql-and-worker sql-master sql-worker sqlandworker sqlmaster sqlworker "
        "ssh ssh-delay sshdelay sshlogin sshloginfile st tag-string tagstring tempdir template term-seq termseq tf "
        "timeout tmpdir tmpl total total-jobs totaljobs transfer-file transfer-files transferfile transferfiles trc "
        "trim use-compress-program use-decompress-program usecompressprogram usedecompressprogram wd work-dir "
        "workdir xapplyinputsource".split()
    ),
    flags=frozenset("0gkMmopqrTtuvVXx"),
    names=frozenset(
        "bar bg bug cat cf cleanup color color-fail color-failed colorfail colorfailed colour colour-fail "
        "colour-failed colourfail colourfailed compress controlmaster csv dr dry-run dryrun embed eta exit fg fifo "
        "files files0 filter-host filter-hosts filterhosts fs gnu group help hgrp hostgroup hostgroups hostgrp "
        "interactive keep-order keeporder latest-line latestline lb line-buffer line-buffered linebuffer "
        "linebuffered link ll max-line-length-allowed maxlinelengthallowed nn no-k no-keep-order no-notice "
        "no-run-if-empty nok nokeeporder nonall nonotice norunifempty noswap null number-of-cores number-of-cpus "
        "number-of-sockets number-of-threads onall open-tty pipe pipe-part pipepart plain plus progress quote "
        "record-env recordenv regex regexp remove-rec-sep removerecsep resume resume-failed resumefailed "
        "retry-failed retryfailed round round-robin roundrobin rrs semaphore session shebang shell-quote shellquote "
        "show-limits showlimits shuf silent skip-first-line skipfirstline spreadstdin tag tee tmux tmux-pane tmuxpane "
        "tollef transfer tty ungroup use-cores-instead-of-threads use-cpus-instead-of-cores "
        "use-sockets-instead-of-threads verbose version wait will-cite willcite xapply xargs".split()
    ),
    ordered=True,
)
"""By GNU parallel 20221122 (``options_completion_hash``). ``-i``, ``-e`` and ``-l`` are not in it: they take the next
word unless it looks like an option."""
_PARALLEL_TEXTS = (
    "--ssh", "--filter", "--limit", "--use-compress-program", "--compress-program", "--usecompressprogram",
    "--compressprogram", "--use-decompress-program", "--decompress-program", "--usedecompressprogram",
    "--decompressprogram",
)  # fmt: skip


def _nix(words: Sequence[Word]) -> Iterator[Inner]:
    for index, word in enumerate(words):
        if word.value in {"-c", "--command", "--run"}:
            yield Inner(tuple(words[index + 1 :]), index + 1, text=word.value == "--run")
            return


def _capsh(words: Sequence[Word]) -> Iterator[Inner]:
    """Behind ``--`` stand arguments for bash."""
    for index, word in enumerate(words):
        if word.value in {"--", "=="}:
            yield Inner((constant("bash"), *words[index + 1 :]))
            return


def _fd(words: Sequence[Word]) -> Iterator[Inner]:
    """Each command ends at ``;``. What stands behind another ``-x`` before that may be its words or a command of its
    own, so the first is read to the end as well, and each only to the next."""
    starts = [(index, found) for index, word in enumerate(words) if (found := _FD_EXEC.fullmatch(word.value or ""))]
    ends = [index for index, word in enumerate(words) if word.value == ";"]
    read_to = 0
    for at, (index, found) in enumerate(starts):
        attached = found[1] or found[2]
        front = (constant(attached),) if attached else ()
        start = None if attached else index + 1
        following = starts[at + 1][0] if at + 1 < len(starts) else len(words)
        if index >= read_to:
            read_to = next((end for end in ends if end > index), len(words))
            if following < read_to:
                yield Inner(_given_found((*front, *words[index + 1 : read_to])), start)
        yield Inner(_given_found((*front, *words[index + 1 : min(read_to, following)])), start)


def _given_found(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A command with what fd finds in the place of the braces, or behind it where no word of it has any."""
    filled = tuple(map(_filled, words))
    return (*filled, UNKNOWN) if filled == words and words else filled


def _filled(word: Word) -> Word:
    """A word of fd's command with what it finds in the place of the braces."""
    mark = _FD_GIVEN.search(word.value or "")
    if mark is None:
        return word
    return UNKNOWN if mark[0] == word.value else template(word, mark[0])


_FD_GIVEN = re.compile(r"\{(?:|/|//|\.|/\.|\.\.)\}")
_FD_EXEC = re.compile(r"--exec(?:-batch)?(?:=(.*))?|-[A-DF-RT-Zabf-ik-np-su-z]*?[xX]=?(.*)", re.DOTALL)
"""The option with what it runs; it may stand behind letters that take no value."""


def _setarch(words: Sequence[Word]) -> Iterator[Inner]:
    """The architecture may be left out, so the command begins at the first or the second operand."""
    operands = [index for index, word in enumerate(words) if index and not (word.value or "x").startswith("-")]
    for index in operands[:2]:
        yield Inner(tuple(words[index:]), index)


def _mapfile(words: Sequence[Word]) -> Iterator[Inner]:
    """``mapfile -C``: text that bash evaluates later."""
    for text in arguments(words, Grammar(frozenset("dnOsuCc"))).values("-C"):
        yield Inner((text,), None, text=True)


def _complete(words: Sequence[Word]) -> Iterator[Inner]:
    """``complete``, ``compgen``: a command (``-C``) and a function (``-F``) that make up the words."""
    found = arguments(words, Grammar(frozenset("oAGWFCXPS")))
    for text in (*found.values("-C"), *found.values("-F")):
        yield Inner((text,), None, text=True)


def _jobs(words: Sequence[Word]) -> Iterator[Inner]:
    """``jobs -x command``."""
    index = next((index for index, word in enumerate(words) if re.match(r"-[lnprs]*x", word.prefix)), len(words))
    yield Inner(tuple(words[index + 1 :]), index + 1)


def _hashed(words: Sequence[Word]) -> Iterator[Inner]:
    """``hash -p program name``: the name means this program from then on."""
    for program in arguments(words, Grammar(frozenset("p"))).values("-p"):
        yield Inner((program,))


def _alias(words: Sequence[Word]) -> Iterator[Inner]:
    for word in words[1:]:
        name, equals, text = (word.value or "").partition("=")
        if name and equals and text.strip():
            yield Inner((constant(text),), None, text=True)


def _loader(words: Sequence[Word]) -> Iterator[Inner]:
    """The dynamic loader runs the program in its arguments."""
    index = 1
    while index < len(words) and (option := words[index].value or "").startswith("-"):
        if option not in _LOADER_VALUES and option not in _LOADER_FLAGS:
            yield Inner((), unclear=True)
        index += 2 if option in _LOADER_VALUES else 1
    yield Inner(tuple(words[index:]), index)


_LOADER_VALUES = frozenset(
    "--library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-prepend --glibc-hwcaps-mask".split()
)
_LOADER_FLAGS = frozenset("--list --verify --inhibit-cache --list-tunables --list-diagnostics --help --version".split())


def _arch(words: Sequence[Word]) -> Iterator[Inner]:
    """``arch -x86_64 command`` of macOS; alone it only names the machine."""
    found = arguments(words, Grammar(frozenset("ed"), frozenset({"arch"}), single=True, ordered=True))
    for index, _ in found.operands[:1]:
        yield Inner(tuple(words[index:]), index)


_BOUND = re.compile(r"""\s*(?:"(?:[^"\\]|\\.)*"|[^":]+)\s*:?\s*(.*)""", re.DOTALL)


def _bind(words: Sequence[Word]) -> Iterator[Inner]:
    """``bind -x '"keys": command'``: text that bash evaluates later."""
    for word in words[1:]:
        bound = _BOUND.fullmatch((word.value or "").removeprefix("-x"))
        if bound is not None and ":" in (word.value or ""):
            yield Inner((constant(bound[1].strip("\"'")),), None, text=True)


_SCREEN = Grammar(frozenset("cehpsStTX"), frozenset(), ordered=True)


def _launched(words: Sequence[Word]) -> Iterator[Inner]:
    """The command behind ``--launch``, perhaps behind two dashes."""
    for inner in behind("--launch")(words):
        rest = inner.words[1:] if inner.words and inner.words[0].value == "--" else inner.words
        if rest:
            yield Inner(rest, len(words) - len(rest))


def _screen(words: Sequence[Word]) -> Iterator[Inner]:
    """A command for a new window, or behind ``-X`` a command of its own, of which some run another in turn."""
    found = arguments(words, _SCREEN)
    for shell in found.values("-s"):
        yield Inner((shell,), None, text=True)
    if found.has("-X", "-Q"):
        index = next(option.index for option in found.options if option.name in {"-X", "-Q"})
        for at in range(index + 1, min(index + 4, len(words))):
            yield Inner(tuple(words[at:]), at, text=at > index + 1)
        return
    # The name of a session may stand behind `-r` and its like.
    named = found.has("-r", "-R", "-x", "-d", "-D")
    for index, _ in found.operands[:1]:
        yield from (Inner(tuple(words[at:]), at) for at in range(index, min(index + 1 + named, len(words))))


_SOMETIMES = names_with_field("readers", "inner_maybe") | SOMETIMES.keys()
"""Those that often only do something of their own."""

_READERS: Mapping[str, Callable[[Sequence[Word]], Iterator[Inner]]] = {
    "bind-options": _bwrap,
    "argument-groups": _parallel,
    "run-option": _nix,
    "bash-arguments": _capsh,
    "exec-option": _fd,
    "optional-architecture": _setarch,
    "callback": _mapfile,
    "completion": _complete,
    "exec-flag": _jobs,
    "hashed-path": _hashed,
    "alias-text": _alias,
    "loader": _loader,
    "architecture-options": _arch,
    "key-bindings": _bind,
    "behind-dashes": behind("--"),
    "behind-do": behind("do", "exec"),
    "behind-launch": _launched,
    "window-commands": _screen,
    "session-commands": tmux_commands,
}
"""By the name under which records name them."""

_OWN: Mapping[str, Callable[[Sequence[Word]], Iterator[Inner]]] = {
    **{key[0]: _READERS[reader] for key, reader in field_of("readers", "inner").items()},
    **SOMETIMES,
}
