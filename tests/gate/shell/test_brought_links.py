"""A path asks that an earlier command of the same text may have made a link, by a copy, a move or an archive."""

from __future__ import annotations

import pytest

from .asked import decide

KNOWN = """
cp -P link y; echo x > y
cp -a d y; echo x > y/l/f
cp -a d y; cat y/l/f
cp -r d y; echo x > y/d/l/f
cp -R d plain; sed -i s/a/b/ plain/d/l/f
cp -r d/. y; echo x > y/l/f
cp -r d/* y; echo x > y/l/f
gcp -a d y; echo x > y/l/f
cp -a d y; echo x > y/g/config
mv d y; echo x > y/l/f
mv d y; tee y/l/f
mv d y; cd y/l; echo x > f
mv d y; cd y/l && rm -rf *
mv d y; cd y/l && make
rsync -a d/ y; echo x > y/l/f
cp -a d y; echo x > Y/L/f
env -C plain cp -a ../d z; echo x > plain/z/l/f
D=y; cp -a d "$D"; echo x > "$D/l/f"
bash -c 'cp -a d y'; echo x > y/l/f
bash -c 'cp -a d y; echo x > y/l/f'
for i in 1 2; do echo x > y/l/f; cp -a d y; done
f() { cp -a d y; }; f; echo x > y/l/f
cp -a d y & echo x > y/l/f
mv d y; rm -rf y/*/f
mv d y; rm -rf y/*/*
mv d y; rm -rf y/l*/f
mv d y; rm -rf y/[l]/f
mv d y; rm -rf y/*/
mv d y; rm -rf */l/f
mv d y; rm -rf */*/f
mv d y; rm -rf Y/L*/f
mv d y; rm -rf y/{l,m}*/f
mv d y; rm -rf y/?/../l/f
mv d y; sed -i s/a/b/ y/*
mv d y; cp a.py y/*/
mv d y; cd y; rm -rf */f
cp -a d y; cat y/[l]/f
cp -a d y; cat y/*
mv d2 y; cp a.py y
mv d2 y; cp a.py y/
mv d2 y; mv a.py b.py; cp -p a.py y
mv d2 y; cp *.py y
mv d2 y; cp -r plain/. y
mv d2 y; cp -rT plain y
mv d2 y; scp a.py y
mv d2 y; install -m 644 a.py y
cp -a d2 y; cp a.py y
cp -a d2 y; cp -t y a.py
cp -a d2 y; cp --target-directory=y a.py
cp -a d2 y; cd y; cp ../a.py .
mkdir y; cp -a d2 y/plain; cp -r plain y
cp -a d y; for f in y/*; do cat "$f/f"; done
"""
"""The links are those that lie in ``d`` now."""

UNKNOWN = """
cp -a d y; cp -a y z; echo x > z/l/f
tar cf - d | tar xf - -C y; echo x > y/d/l/f
tar xf app.tgz; echo x > d2/f
gtar xf app.tgz; echo x > d2/f
tar xf app.tgz -C y; sed -i s/a/b/ y/f
tar xf app.tgz && rm -rf app/l/x
unzip a.zip -d y; echo x > y/f
cp -r "$x" y; echo x > y/f
rsync -a host:d/ y; echo x > y/l/f
git clone https://a.example/r y; echo x > y/f
git clone https://a.example/r y && cp -r y z && echo x > z/f
git clone https://a.example/r y && rm -rf y/*/f
tar xf app.tgz -C y; cp a.py y
tar xf app.tgz -C y; cp a.py y/sub
tar xf app.tgz -C y; cp -t y a.py
tar xf app.tgz -C y; cp -r plain y
tar xf app.tgz -C y; cp -r plain/. y
git clone https://a.example/r y; cp a.py y
git clone https://a.example/r y; cp *.py y
git clone https://a.example/r y && rm -rf */l/f
git clone https://a.example/r y && sed -i s/a/b/ */f
git clone https://a.example/r y && sed -i s/a/b/ y/*
"""
"""What lies in an archive or elsewhere is not known."""

QUIET = """
cp -a d y && echo x > y/x
cp -a d y && cat y/x
cp -r plain y && echo x > y/x
cp -r plain y && sed -i s/a/b/ y/sub/y
mv plain y && cd y && make
mv d y; rm -rf y
mv d y; rm -rf y/*
mv d y; cp a.py y
mv d2 y; cp plain/x y
cp -a plain y; cp a.py y
cp -a plain y; cp -r plain/. y
tar xf app.tgz -C y; mv y z
mv d y; rm -rf y/m*/f
mv d y; cat y/x*
mv d y; sed -i s/a/b/ *.py
mv d y; cat */x
cp -a plain y; rm -rf y/*/y
git clone https://a.example/r y && cat y/*.md
git clone https://a.example/r y && rm -rf y/*
git clone https://a.example/r y && sed -i s/a/b/ *.py
rsync -a plain/ y; echo x > y/l/f
cp a.py b.py && echo x >> b.py
tar xf app.tgz -C y && cd y && make
for f in a.tgz b.tgz; do tar xf "$f" -C y; done
mkdir -p y && tar xf app.tgz -C y --strip-components=1
unzip a.zip -d y && mv y/a b && rm -rf y a.zip
git clone https://a.example/r y && cd y && make
git clone https://a.example/r y && cat y/README.md
"""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("brought").resolve()
    workspace = top / "ws"
    for name in ("ws/d/x", "ws/plain/x", "ws/plain/sub/y", "ws/app.tgz", "ws/a.py", "out/f", "home/x"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (workspace / "d" / "l").symlink_to(top / "out")
    (workspace / "d" / "g").symlink_to("../.git")
    (workspace / "d2").mkdir()
    (workspace / "d2" / "a.py").symlink_to(top / "out" / "f")
    (workspace / "link").symlink_to(top / "out" / "f")
    return {"workspace": str(workspace), "home": str(top / "home")}


@pytest.mark.parametrize("command", KNOWN.strip().splitlines())
@pytest.mark.parametrize("more", [{"mode": "auto"}, {"bypass": True}], ids=["auto", "bypass"])
def test_a_path_by_a_link_that_was_copied_asks(places: dict[str, str], command: str, more: dict[str, object]) -> None:
    assert decide(command, **more, **places) == "ask"


@pytest.mark.parametrize("command", UNKNOWN.strip().splitlines())
def test_a_path_below_unpacked_files_asks(places: dict[str, str], command: str) -> None:
    assert decide(command, mode="auto", **places) == "ask"
    assert decide(command, deny=["Edit(//etc/**)"], bypass=True, **places) == "ask"
    rules = ["Edit", "Bash(tar:*)", "Bash(gtar:*)", "Bash(cp:*)", "Bash(git clone:*)", "Bash(rsync:*)", "Bash(sed:*)"]
    assert decide(command, allow=rules, mode="acceptEdits", **places) == "ask"


@pytest.mark.parametrize("command", QUIET.strip().splitlines())
def test_what_meets_no_such_link_asks_nothing(places: dict[str, str], command: str) -> None:
    assert decide(command, mode="auto", **places) == "allow"
