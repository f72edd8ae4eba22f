"""Where a rule for editing could match below a folder, a command asks that writes there under unknown names."""

from __future__ import annotations

import pytest

from .asked import decide
from .listed_places import with_files

WRITES = """
tar xf a.tgz
tar xf a.tgz -C src
tar xf a.tgz --strip-components=1 -C src
bsdtar xf a.tgz -C src
unzip a.zip -d src
unzip a.zip held/k
7z x a.7z -osrc
patch < x
git apply x.patch
cpio -i < x
rsync -a host:x src
scp -r host:x src
cp -r open/. src
cp -rT open src
cp -r backup/src .
mkdir -p src && tar xf a.tgz -C src
"""
QUIET = """
tar xf a.tgz -C open
unzip a.zip -d open
cp -r open src
cp -r src/. open
rsync -a host:x open
cp a.py src
mv a.py src/b.py
tar cf x.tar src
tar tf a.tgz
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("unknown").resolve()
    return with_files(top, "ws/src/held/k ws/open/x ws/backup/src/x ws/a.py home/x")


@pytest.mark.parametrize("command", WRITES.strip().splitlines())
def test_a_rule_for_editing_below_the_folder_asks(places: dict[str, str], command: str) -> None:
    rules = ["Edit(./src/held/**)"]
    assert decide(command, deny=rules, mode="auto", **places) == "ask"
    assert decide(command, deny=rules, bypass=True, **places) == "ask"
    assert decide(command, ask=rules, bypass=True, **places) == "ask"
    assert decide(command, deny=rules, allow=["Bash", "Edit"], mode="acceptEdits", **places) == "ask"


@pytest.mark.parametrize("command", QUIET.strip().splitlines())
def test_other_folders_and_known_names_are_not_asked_about(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Edit(./src/held/**)"], bypass=True, **places) == "allow"
