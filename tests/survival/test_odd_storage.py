"""What is no file or no folder in the place of a store: the server says which one it is, and waits for nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stdio.desk import open_desk
from tests.stdio.peer import RpcError

ODD: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a pipe for the chats": ("chats.db", os.mkfifo),
    "a folder for the chats": ("chats.db", Path.mkdir),
    "a link to itself for the chats": ("chats.db", lambda path: path.symlink_to(path)),
    "a pipe for the log of the chats": ("chats.db-wal", os.mkfifo),
    "a folder for the ledger": ("ledger.db", Path.mkdir),
    "a file for the texts before edits": ("before", lambda path: path.write_text("")),
    "a link to nothing for the texts before edits": ("before", lambda path: path.symlink_to("/nowhere/at/all")),
}


@pytest.mark.parametrize("name", ODD)
async def test_the_server_names_what_it_cannot_use(name: str, tmp_path: Path) -> None:
    workspace, storage = tmp_path / "work", tmp_path / "storage"
    storage.mkdir()
    file, make = ODD[name]
    make(storage / file)
    async with open_desk(workspace, storage) as desk:
        with pytest.raises(RpcError) as told:
            await desk.peer.request("thread/create", {})
        assert told.value.kind == "ledgerUnavailable"
        assert f"`{file}`" in told.value.message
        assert str(tmp_path) not in told.value.message
