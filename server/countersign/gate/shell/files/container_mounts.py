"""Host paths that a container sees: mounts, devices and rights that reach the host.

Their rules are docs/gate.md S10 and "Outside the workspace".

What runs in a container is not judged, so a mount counts as whatever it may do there: a write of unknown names, or a
read of all that lies below if it is mounted read-only, unless a socket may lie there, since who can connect to an
engine's can do anything. An option by which a container can leave its namespaces counts
as a write of the host's root. What may be done to a path is left to ``paths/path_judge.py``.
"""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Iterator, Sequence

from countersign.gate.paths.sensitive_paths import protected_reason, secret_name
from countersign.gate.shell.effects.unwrap import wrapper_row
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.programs.argv import Grammar, Option, arguments
from countersign.gate.shell.programs.tables import field_of
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Text, Word
from countersign.gate.shell.syntax.words import constant

_BINDS = frozenset({"-v", "--volume", "-B", "--bind"})
_MOUNTS = frozenset({"--mount", "--mount-add"})

_HOST = frozenset({
    "--privileged", "--cap-add", "--add-caps", "--keep-privs", "--allow-setuid", "--device", "--device-cgroup-rule",
    "--volumes-from", "--volume-driver", "--use-api-socket", "--rootfs", "--fusemount", "--security",
})  # fmt: skip
"""Options that give a container rights on the host, or the mounts of another, whatever their value is."""

_NAMESPACES = frozenset({"--pid", "--ipc", "--userns", "--uts", "--cgroupns", "--with-ns"})
_OF_ITS_OWN = ("private", "none", "shareable", "keep-id", "auto", "nomap")
"""How the value of such an option begins if the container keeps a namespace of its own."""

_HARDENING = ("no-new-privileges", "mask=")

_FLAGS = frozenset(
    "--rm --init --interactive --tty --detach --read-only --publish-all --no-healthcheck --oom-kill-disable --sig- "
    "proxy --disable-content-trust --quiet --replace --http-proxy --tls-verify --no-hosts --no-hostname --rmi --no- "
    "deps --build --service-ports --use-aliases --remove-orphans --quiet-pull --quiet-build --no-TTY --no-tty "
    "--dry-run --help --debug --passwd --read-only-tmpfs --stdin --latest --all --no-cache --pull --push --load "
    "--squash --nv --cleanenv --contain --containall --writable-tmpfs --no-home --compat --force --privileged ".split()
)
"""Long options that take no value."""

_PLAIN = Grammar(
    frozenset("vBo"),
    frozenset("volume bind mount mount-add cap-add device security-opt output cache-to build-context".split()),
)

_OUTPUTS = frozenset({"-o", "--output", "--cache-to"})
_HOMES = frozenset({"-H", "--home", "-S", "--scratch", "-W", "--workdir", "-o", "--overlay"})
"""Options of apptainer's that name folders which a container writes."""


def container_touches(name: str, words: Sequence[Word]) -> Iterator[FileUse]:
    """Yield what the words of a container engine open of the host."""
    named = [word.value for word in words[1:] if word.value is not None]
    if "volume" in named and "create" in named:
        yield from _volume_devices(words)
    if not _BUILDS.isdisjoint(named[:4]):
        yield from _build_context(named)
    row, skip = wrapper_row(name, words)
    yield from _archives(named)
    if row is None:
        yield from _sensitive_names(named)
    grammar = row.grammar if row is not None else _PLAIN
    options = arguments(words, grammar, skip).options
    unknown_options = {option.name[2:] for option in options if option.name not in _FLAGS and _may_take_more(option)}
    if unknown_options:
        # An option that no list has may take the word behind it: both readings count.
        grammar = dataclasses.replace(grammar, long=grammar.long | unknown_options)
        options = [*options, *arguments(words, grammar, skip).options]
    opened = _opened_by_apptainer if _MOUNTED_BY[name] == "image-runner" else _opened_by
    yield from dict.fromkeys(file_use for option in options for file_use in opened(option))


_BUILDS = frozenset({"build", "bud", "b"})


def _build_context(named: Sequence[str]) -> Iterator[FileUse]:
    """``build FOLDER`` sends all that lies there to the engine. A value of an option counts as a folder, too."""
    first = next(index for index, value in enumerate(named) if value in _BUILDS)
    for value in named[first + 1 :]:
        if value[:1] != "-" and "://" not in value and "=" not in value:
            yield FileUse("read", constant(value), below=True, shown=True)


_ARCHIVE = re.compile(r"(?:dir|oci|oci-archive|docker-archive|ostree|sif|tarball):(.+)")


def _archives(named: Sequence[str]) -> Iterator[FileUse]:
    """What ``push IMAGE dir:FOLDER`` writes and ``pull docker-archive:FILE`` reads; which of the two is not asked."""
    for value in named:
        found = _ARCHIVE.match(value)
        if found is not None:
            # A tag may stand behind the path.
            for path in dict.fromkeys((found[1], found[1].partition(":")[0])):
                if path:
                    yield from (
                        FileUse("write", constant(path), unknown_names=True),
                        FileUse("read", constant(path), below=True),
                    )


def _sensitive_names(named: Sequence[str]) -> Iterator[FileUse]:
    """Protected places and secrets that a command which starts no container names: it may write or read any of its
    words (``container checkpoint -e FILE``, ``context export NAME FILE``)."""
    for value in named:
        for part in dict.fromkeys((value, *re.split("[=,:@]", value)[:_MOST_PARTS])):
            names = [name for name in part.split("/") if name not in {"", "."}]
            if names and protected_reason(names) is not None:
                yield FileUse("write", constant(part))
            if names and secret_name(names[-1]):
                yield FileUse("read", constant(part))


_MOST_PARTS = 20

_MOUNTED_BY = {key[0]: kind for key, kind in field_of("readers", "mounts").items()}
CONTAINER_TOUCHES = dict.fromkeys(_MOUNTED_BY, container_touches)


def _opened_by_apptainer(option: Option) -> Iterator[FileUse]:
    if option.name in _HOMES:
        yield from _bind(Option("--bind", option.index, option.value, option.attached))
    else:
        yield from _opened_by(option)


def _may_take_more(option: Option) -> bool:
    return option.name.startswith("--") and option.value is None and not option.attached


def _opened_by(option: Option) -> Iterator[FileUse]:
    value = option.value.value if option.value is not None else None
    if option.name in _BINDS:
        yield from _bind(option)
    elif option.name in _MOUNTS:
        yield from _mount(value)
    elif option.name == "--security-opt":
        if value is None or not value.startswith(_HARDENING):
            yield _HOST_ROOT
    elif option.name in _NAMESPACES:
        if value is None or not value.startswith(_OF_ITS_OWN):
            yield _HOST_ROOT
    elif option.name == "--log-opt":
        yield from _written_log(value)
    elif option.name in _OUTPUTS and value is not None and "=" in value:
        # `type=local,dest=FOLDER`; a mere path is what the tables call a written file.
        yield from (_mounted(dest, tilde=False, read_only=False) for dest in [_fields(value).get("dest", "")] if dest)
    elif option.name == "--build-context" and value is not None and "/" in value and "://" not in value:
        yield FileUse("read", constant(value.partition("=")[2]), below=True)
    elif option.name in _HOST and value != "false":
        yield _HOST_ROOT


_HOST_ROOT = FileUse("write", constant("/"))


def _bind(option: Option) -> Iterator[FileUse]:
    """``source:target:options``, where a source that holds no slash and no dot in front is the name of a volume."""
    word = option.value
    if word is None:
        return
    if word.value is None:
        source = None if option.attached else _before_colon(word)
        yield FileUse("write", source or unknown(), unknown_names=source is not None)
        return
    for bind in word.value.split(",") if option.name in {"-B", "--bind"} else (word.value,):
        source, colon, rest = bind.partition(":")
        alone = not colon and option.name in {"-B", "--bind"}
        if (colon or alone) and ("/" in source or source[:1] in {".", "~"}):
            options = set(rest.partition(":")[2].split(","))
            read_only = "ro" in options and _MAKE_WRITABLE.isdisjoint(options)
            yield _mounted(source, tilde=word.tilde, read_only=read_only)
            if source[:1] == "~" and not word.tilde:
                # Some engines expand what the shell did not.
                yield _mounted(source, tilde=True, read_only=read_only)


_MAKE_WRITABLE = frozenset({"rw", "U", "O"})
"""Options of a bind beside which ``ro`` is not the last word: ``U`` changes the owner of what is mounted."""


def _before_colon(word: Word) -> Word | None:
    """The part in front of the first colon of a word that is only known at run time, None if that is not known."""
    pieces = []
    for piece in word.pieces:
        if isinstance(piece, Text) and ":" in piece.text:
            text = piece.text.partition(":")[0]
            prefix = word.prefix.partition(":")[0]
            return Word(
                word.source,
                (*pieces, Text(text, piece.quoted)),
                word.form,
                None,
                prefix,
                UNKNOWN_TEXT + prefix,
                bare=False,
            )
        pieces.append(piece)
    return None


def _mount(value: str | None) -> Iterator[FileUse]:
    """``type=bind,source=/x,target=/y,readonly``, read as a line of comma-separated values like the engines do."""
    if value is None:
        yield FileUse("write", unknown())
        return
    fields = _fields(value)
    # Engines differ in which of several such fields counts.
    said = {_access(part) for part in next(csv.reader([value]), [])}
    read_only = "ro" in said and "rw" not in said
    for source in (fields.get("source", ""), fields.get("src", "")):
        if "/" in source or source[:1] in {".", "~"} or (source and fields.get("type") in {"bind", "glob"}):
            yield _mounted(source, tilde=False, read_only=read_only)
    yield from _device(fields.get("volume-opt=device", "").partition("=")[2])
    if "volume-driver" in fields and fields["volume-driver"] != "local":
        yield _HOST_ROOT


def _access(part: str) -> str | None:
    """Whether a field makes a mount read-only, writable, or neither."""
    name, equals, content = part.partition("=")
    key, on = name.strip().lower(), not equals or content in {"1", "true"}
    if key in {"readonly", "ro"}:
        return "ro" if on else "rw"
    if key in {"rw", "u", "chown"}:
        return None if content == "false" else "rw"
    return "rw" if key == "bind-recursive" and content == "writable" else None


def _fields(value: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for part in next(csv.reader([value]), []):
        name, _, content = part.partition("=")
        key = name.strip().lower()
        fields[f"{key}={content.partition('=')[0]}" if key == "volume-opt" else key] = content
    return fields


def _mounted(source: str, *, tilde: bool, read_only: bool) -> FileUse:
    word = Word(source, (), "constant", source, source, source, tilde=tilde and source[:1] == "~")
    if read_only and not source.endswith(".sock"):
        return FileUse("read", word, below=True, sockets=True)
    return FileUse("write", word, unknown_names=True)


def _volume_devices(words: Sequence[Word]) -> Iterator[FileUse]:
    """A volume of the local driver that is a folder of the host: ``volume create -o o=bind -o device=/x``."""
    for word in words[1:]:
        if word.value is None:
            yield FileUse("write", unknown())
        elif "device=" in word.value:
            yield from _device(word.value.partition("device=")[2])


def _device(path: str) -> Iterator[FileUse]:
    if path and path != "tmpfs":
        yield _mounted(path, tilde=False, read_only=False)


def _written_log(value: str | None) -> Iterator[FileUse]:
    """``--log-opt path=FILE`` names the file that podman writes a container's output to."""
    if value is None:
        yield FileUse("write", unknown())
    elif value.startswith("path="):
        yield FileUse("write", constant(value.removeprefix("path=")))
