"""Which files a curl command sends, fetches and writes, as far as its words name them (docs/gate.md S10, "Secrets").

An address that begins with ``file:`` is a file of this machine: curl prints it, or writes it where something is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from countersign.gate.shell.effects.escape_use import ProgramReading
from countersign.gate.shell.files.address_operands import form_touches
from countersign.gate.shell.files.file_use import FileUse, unknown
from countersign.gate.shell.languages.curl_globs import has_globs, is_local, local_files, local_path, without_query
from countersign.gate.shell.programs.argv import Arguments
from countersign.gate.shell.syntax.tree import UNKNOWN_TEXT, Glob, Text, Word
from countersign.gate.shell.syntax.words import constant


def curl_touches(words: Sequence[Word], known: ProgramReading) -> Iterator[FileUse]:
    """The files of this machine that its options and addresses name."""
    found = known.arguments
    yield from _named_by_options(found)
    # Then an address without a scheme may be a file.
    bare = any(option.name.startswith("--proto-d") for option in found.options)
    for word in (*[word for _, word in found.operands], *found.valued("--url")):
        if bare and "://" not in word.prefix:
            yield from _files_at(word, found)
        if is_local(word.prefix):
            yield from _files_at(word, found)
        elif _MAKES_SCHEME.match(word.prefix):
            yield from (FileUse("read", unknown()), FileUse("write", unknown()))  # `fil{e:}///x`
        elif found.may_have("-O", "--remote-name", "--remote-name-all"):
            name = without_query(word.prefix).rstrip("/").rsplit("/", 1)[-1]
            plain = word.value is not None and not has_globs(word.value)
            yield FileUse("write", constant(name) if plain and name else unknown())


_MAKES_SCHEME = re.compile(r"[^/?#]*[{\[]")
"""An address in which a pattern of curl's own stands in front of any slash, and so may make its scheme."""


def _named_by_options(found: Arguments) -> Iterator[FileUse]:
    if found.may_have("-n", "--netrc", "--netrc-optional"):
        yield FileUse("read", Word("~/.netrc", (), "constant", "~/.netrc", "~/.netrc", "~/.netrc", tilde=True))
    for value in found.valued("-H", "--header", "--proxy-header", "-w", "--write-out"):
        if value.value is None and value.prefix[:1] in {"", "@"}:
            yield FileUse("read", unknown())
        elif value.prefix.startswith("@"):
            yield FileUse("read", constant(value.value[1:]) if value.value is not None else unknown())
    for value in found.valued("-T", "--upload-file"):
        # It has patterns of its own for what it sends.
        yield from (FileUse("read", word) for word in _meant_by(value.value or ""))
    for value in found.valued("-F", "--form"):
        yield from form_touches(value)
    for value in found.valued(*_SENDS):
        if value.value is None and "=" not in value.prefix:
            yield FileUse("read", unknown())
        at = value.prefix.find("@") if value.prefix[:1] != "@" else 0
        if at >= 0 or "=<" in value.prefix:
            name = re.split(r"[@<]", value.prefix, maxsplit=1)[1].split(";")[0]
            yield FileUse("read", constant(name) if value.value is not None else unknown())
    if any(option.name.startswith("--expand-") for option in found.options):
        # What a variable of its own holds is put in: the option may be any of the others.
        yield from (FileUse("read", unknown()), FileUse("write", unknown()))
    yield from (FileUse("write", value) for value in found.valued("--unix-socket"))
    for value in found.valued("-o", "--output"):
        if re.search(r"#\d", value.prefix):
            yield FileUse("write", unknown())  # it stands for what a pattern in the address makes
    if found.may_have("-J", "--remote-header-name"):
        yield FileUse("write", constant("."), unknown_names=True)


_SENDS = "-d --data --data-binary --data-ascii --data-urlencode --json --url-query --variable".split()
"""Options whose value may have the name of a file behind an `@`."""


def _files_at(address: Word, found: Arguments) -> Iterator[FileUse]:
    """The files at an address of this machine: they are read, and written where something is sent there."""
    sent = found.spelled("-T", "--upload-file")
    for word in _at(address):
        yield FileUse("read", word)
        if not sent:
            continue
        yield FileUse("write", word)
        if word.value is None or word.value.endswith("/"):
            # It puts the name of what it sends behind the folder.
            yield from (FileUse("write", _in_folder(word, option.value)) for option in sent)


def _in_folder(folder: Word, sent: Word | None) -> Word:
    if folder.value is None or sent is None or sent.value is None or has_globs(sent.value):
        return unknown()
    return constant(f"{folder.value}{sent.value.rsplit('/', 1)[-1]}")


def _at(address: Word) -> Iterator[Word]:
    """What an address of this machine may name: where it is a pattern of bash's that matches nothing, itself."""
    if address.value is not None:
        yield from _meant_by(local_path(address.value))
        return
    first = address.pieces[0] if address.pieces else None
    if not isinstance(first, Text) or not all(isinstance(piece, Text | Glob) for piece in address.pieces):
        yield unknown()
        return
    prefix = local_path(address.prefix)
    pieces = (Text(local_path(first.text), first.quoted), *address.pieces[1:])
    yield Word(address.source, pieces, address.form, None, prefix, UNKNOWN_TEXT + prefix, bare=False)
    yield from _meant_by(local_path("".join(getattr(piece, "text", "") for piece in address.pieces)))


def _meant_by(text: str) -> Iterator[Word]:
    """The files that curl's own patterns name."""
    yield from (constant(path) if path is not None else unknown() for path in local_files(text))
