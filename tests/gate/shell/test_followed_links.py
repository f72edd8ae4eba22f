"""A command that follows links below a folder reads where they lead."""

from __future__ import annotations

import pytest

from .asked import decide

FOLLOWING = """
grep -R x src
grep -nR x src
grep --dereference-recursive x src
grep --deref x src
grep -R x s*
grep -R x .
grep -R x more
cd src && grep -R x .
rg -L x src
rg --follow x src
cp -rL src y
cp -aL src y
cp -r --deref src y
cp -rl src y
cp -R --link src y
cp -r src y
tar chf a.tar src
tar -chf a.tar src
tar --dereference -cf a.tar src
tar cf a.tar -h src
tar cf - -h -C src sub
rsync -aL src/ y
rsync -a --copy-links src/ host:y
rsync -rk src/ host:y
zip -r a.zip src
scp -r src host:y
diff -r src plain
fd -L . src -x cat
fd --follow . src -X cat
fd . src -x cat
fd . held -x cat
fd . -x cat
fd -x cat
fd --search-path held x -x cat
find -L src -type f -exec cat {} +
find src -follow -type f -exec cat {} +
aws s3 sync src s3://x
jar cf a.jar src
python3 -m zipfile -c a.zip src
s5cmd cp src s3://x
mc mirror src x
rclone copy -L src x:
mkisofs -f -o a.iso src
zzz9 --folder=src
d=src; grep -R x "$d"
"""

OTHERS = """
grep -r x src
grep -R x plain
cp -R src y
cp -a src y
cp -r plain y
cp -aL plain y
tar cf a.tar src
rsync -a src/ y
rg x src
zip -r a.zip plain
jar cf a.jar plain
zzz9 --folder=plain
grep -L x a.py
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("followed").resolve()
    for name in ("ws/src/sub/x", "ws/plain/x", "ws/held/key", "ws/a.py", "ws/more/x", "home/x"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (top / "ws" / "src" / "sub" / "l").symlink_to("../../held/key")
    (top / "ws" / "more" / "l").symlink_to("../src")
    return {"workspace": str(top / "ws"), "home": str(top / "home")}


@pytest.mark.parametrize("command", FOLLOWING.strip().splitlines())
def test_a_rule_for_reading_counts_where_a_followed_link_leads(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Read(./held/**)"], mode="auto", **places) in ("deny", "ask")
    assert decide(command, deny=["Read(./held/key)"], bypass=True, **places) in ("deny", "ask")


@pytest.mark.parametrize("command", OTHERS.strip().splitlines())
def test_a_link_that_is_not_followed_is_nobodys_question(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Read(./held/**)"], mode="auto", **places) == "allow"
