"""The inputs that an agent has sent of one call, joined: each counts until another one says the same and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from countersign.wire.base import Json

Leaves = Mapping[tuple[str | int, ...], Json]


def join_inputs(earlier: tuple[Json, ...], latest: Json) -> tuple[Json, ...]:
    """The inputs that count after ``latest`` has come.

    An earlier one is replaced where the latest one holds all of it, each text at least as far as it went: some agents
    send an input while it grows. The latest one adds nothing where an earlier one holds all of it as it is.
    """
    new = leaves(latest)
    kept = [each for each in earlier if not _grew(leaves(each), new)]
    if any(_holds(leaves(each), new) for each in kept):
        return tuple(kept)
    return (*kept, latest)


def leaves(raw: Json) -> Leaves:
    """Every value in the input that holds no other one, by the keys and indexes that lead to it."""
    return dict(_leaves(raw))


def _leaves(raw: Json) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    ahead: list[tuple[tuple[str | int, ...], Json]] = [((), raw)]
    while ahead:
        path, value = ahead.pop()
        if isinstance(value, dict) and value:
            ahead += [((*path, key), entry) for key, entry in value.items()]
        elif isinstance(value, list) and value:
            ahead += [((*path, index), entry) for index, entry in enumerate(value)]
        else:
            yield path, value


def _grew(before: Leaves, after: Leaves) -> bool:
    return all(path in after and _continues(value, after[path]) for path, value in before.items())


def _continues(value: Json, later: Json) -> bool:
    if isinstance(value, str) and isinstance(later, str):
        return later.startswith(value)
    return _same(value, later)


def _holds(whole: Leaves, part: Leaves) -> bool:
    return all(path in whole and _same(value, whole[path]) for path, value in part.items())


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other
