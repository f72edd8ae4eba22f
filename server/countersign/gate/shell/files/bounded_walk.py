"""A walk through a folder as the disk is now, within a bound. No symlink is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Entries = tuple[tuple[str, bool | None], ...]


class TooMuchError(Exception):
    """More names lie below a folder than are looked at, or one of its folders cannot be listed."""


def walk(
    top: str, look: Callable[[str], Entries | None], most: int, *, leaves_out: Callable[[str], bool] = lambda _: False
) -> Iterator[tuple[str, bool | None]]:
    """Yield the paths below a folder, each with what ``look`` (``disk.entries_in``, ``disk.single_entries_in``) says of
    it. A path that is left out is not entered either.

    Raises:
        TooMuchError: there are more than ``most``, or a folder cannot be listed.
    """
    ahead, left = [""], most
    while ahead:
        front = ahead.pop()
        entries = look(f"{top}/{front}")
        left -= len(entries or ())
        if entries is None or left < 0:
            raise TooMuchError
        for name, is_folder in entries:
            path = f"{front}{name}"
            if leaves_out(path):
                continue
            if is_folder:
                ahead.append(f"{path}/")
            yield path, is_folder
