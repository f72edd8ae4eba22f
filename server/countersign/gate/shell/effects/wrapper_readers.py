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
}  # fmt: skip


def _bwrap(words: Sequence[Word]) -> Iterator[Inner]:
    index = 1
    while index < len(words):
        value = words[index].value or ""
        if value == "--" or not value.startswith("--"):
            index += value == "--"
            break
        index += 1 + _BWRAP.get(value[2:], 0)
    yield Inner(tuple(words[index:]), index)


def _parallel(words: Sequence[Word]) -> Iterator[Inner]:
    """``parallel command ::: words``; without a command the words are commands."""
    values = [word.value for word in words]
    cut = next((index for index, value in enumerate(values) if value in {":::", ":::+", "::::", "::::+"}), len(words))
    starts, at = [], 1
    while at < cut and (values[at] or "").startswith("-"):
        option = values[at] or ""
        if option.partition("=")[0] in {"--ssh", "--filter", "--limit"}:
            named = (constant(option.partition("=")[2]),) if "=" in option else tuple(words[at + 1 : at + 2])
            yield Inner(named, None, text=True)
        if option in _PARALLEL_VALUES:
            at += 1
        elif option.startswith("--") and "=" not in option and option not in _PARALLEL_FLAGS:
            starts.append(at + 1)  # what it takes is not known, so both readings count
            at += 1
        at += 1
    for start in dict.fromkeys((*starts, at)):
        given = [template(word, "{}") for word in words[start:cut]]
        if given:
            yield Inner((*given, Word("…", (), "split", None, "", UNKNOWN_TEXT + "…")), None, text=True)
            yield Inner(tuple(given), start)
    if at >= len(words):
        yield Inner((constant("sh"),), None)  # each line of its input is a command
    for word in words[cut + 1 :]:
        yield Inner((word,), None, text=True)


_PARALLEL_VALUES = frozenset(
    "-j -a -I -S -N -n -L -P -s -d -E -D -C -U --jobs --arg-file --max-args --max-replace-args "
    "--max-chars --delimiter --colsep --joblog --results --workdir --wd --sshlogin --sshloginfile --slf --timeout "
    "--delay --retries --halt --halt-on-error --env --tmpdir --block --block-size --memfree --memsuspend --load "
    "--nice --rpl --tagstring --semaphorename --id --header --trc --transfer-file --transferfile --tf --return "
    "--basefile --bf --termseq --limit --ssh --filter --arg-sep --arg-file-sep --recstart --recend "
    "--seqreplace --profile --compress-program --decompress-program --tempdir --tempfile --max-procs "
    "--sshdelay --template --process-slot-var --sqlmaster --sqlworker "
    "--sqlandworker --sql --group-by --bin --shard".split()
)
_PARALLEL_FLAGS = frozenset(
    "--keep-order --bar --eta --progress --tag --line-buffer --lb --dry-run --dryrun --pipe --pipepart --pipe- "
    "part --quote --null --no-run-if-empty --ungroup --group --verbose --xargs --xapply --link --plus --shuf "
    "--onall --nonall --transfer --cleanup --compress --csv --files --files0 --fg --bg --wait --will-cite "
    "--silent --no-notice --resume --resume-failed --retry-failed --round-robin --roundrobin --cat --fifo --tmux "
    "--tmuxpane --trim --use-cpus-instead-of-cores --use-cores-instead-of-threads --use-sockets-instead-of- "
    "threads --shellquote --tty --interactive --exit --fail --skip-first-line --sshlogin-progress --color-failed "
    "--progress-bar --latest-line --ll --unsafe --rsync-opts --colour --embed".split()
)


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
    while index < len(words) and (words[index].value or "").startswith("-"):
        index += (
            2 if words[index].value in {"--library-path", "--preload", "--audit", "--argv0", "--inhibit-rpath"} else 1
        )
    yield Inner(tuple(words[index:]), index)


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
