"""What a copy or a move keeps of its target gets another name."""

from __future__ import annotations

import pytest

from .asked import decide
from .listed_places import with_files

RULES = ["Bash(rsync:*)", "Bash(cp:*)", "Bash(mv:*)", "Bash(cat:*)", "Edit(./**)"]

SECRETS = """
rsync -b --suffix=x a.txt sub/server.pem && cat sub/server.pemx
rsync -b --suffix=x a.txt sub/server.pem
rsync --backup a.txt sub/server.pem
rsync --backup-dir=kept a.txt sub/server.pem
rsync -a --backup-dir kept src/ sub
rsync -ab --suffix=x src/ sub
rsync -ab --suffix=x h:server.pem sub
rsync -ab --suffix=x h:x/ sub
cp -b -S x a.txt sub/server.pem
cp -Rb -S x src/. sub
"""

FOLDERS = """
mv -Tb deep tpl
mv -T --backup=numbered deep tpl
mv -Tb -S x deep tpl
d=tpl; mv -Tb deep "$d"
mv -b new/tpl .
mv -bt . new/tpl
"""

ORDINARY = """
rsync -ab src/ docs
rsync -aS src/ build/out
rsync -a src/ build/out
rsync -ab src/ h:x
rsync -b a.txt docs/b.txt
cp -b a.txt docs
cp -Rb src docs
mv -Tb deep docs
mv -b deep tpl
mv -b a.txt .
mv -b a.txt b.txt
mv -T deep docs
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("kept").resolve()
    files = "ws/sub/server.pem ws/src/a.py ws/tpl/.vscode/t.json ws/new/tpl/x ws/deep/x ws/docs/x ws/a.txt home/x"
    return with_files(top, files)


@pytest.mark.parametrize("command", SECRETS.strip().splitlines())
def test_a_kept_copy_of_a_secret_asks(places: dict[str, str], command: str) -> None:
    assert decide(command, allow=RULES, **places) == "ask"


@pytest.mark.parametrize("command", FOLDERS.strip().splitlines())
def test_a_kept_folder_with_protected_places_asks(places: dict[str, str], command: str) -> None:
    assert decide(command, allow=RULES, **places) == "ask"


@pytest.mark.parametrize("command", ORDINARY.strip().splitlines())
def test_other_copies_are_kept_without_a_question(places: dict[str, str], command: str) -> None:
    assert decide(command, allow=RULES, **places) == "allow"
