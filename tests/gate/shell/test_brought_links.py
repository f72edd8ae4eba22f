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
tar xf app.tgz -C y; cd y/sub && rm -rf *
git clone https://a.example/r y; rm -rf y/*/../l/*
for f in a.tgz b.tgz; do tar xf "$f" -C y; done
tar xf app.tgz -C y; tar xf b.tgz -C y
tar xf app.tgz -C y; unzip b.zip -d y
tar xf app.tgz -C y; bsdtar xf b.tgz -C y
tar xf app.tgz -C y; patch -p1 -d y < p.patch
tar xf app.tgz -C y; rsync --inplace plain/ y
tar xf app.tgz -C y; rsync -aK plain/ y/sub
git checkout topic -- y && echo x > y/f
git checkout topic -- y && echo x > y
git checkout topic -- plain/x a.py && tee a.py
git checkout topic && echo x > plain/x
git checkout -b z topic; echo x > plain/x
git checkout -f -b z; echo x > plain/x
git switch topic; sed -i s/a/b/ plain/x
git switch -c z topic; cp a.py plain
git restore --source topic y; echo x > y/f
git restore -S -W y; echo x > y/f
git restore .; echo x > y/f
git merge topic && echo x > y/f
git merge --no-edit topic && rm -rf y/f
git pull; echo x > y/f
git pull --rebase && rm -rf plain/*
cd plain && git pull && echo x > ../y/f
git -C plain pull && echo x > y/f
git reset --hard HEAD~1; echo x > y/f
git reset --har HEAD~1; echo x > y/f
git stash pop; echo x > y/f
git stash; echo x > y/f
git stash -- list; echo x > y/f
git cherry-pick topic; echo x > y/f
git revert --no-edit topic; echo x > y/f
git rebase main; echo x > y/f
git submodule update --init; echo x > y/f
git worktree add y topic; echo x > y/l/f
git am p.patch; echo x > y/f
git apply p.patch; echo x > y/f
git read-tree -mu topic; echo x > y/f
git checkout-index -fa; echo x > y/f
git bisect start HEAD HEAD~9; echo x > y/f
git sparse-checkout disable; echo x > y/f
git up; echo x > y/f
timeout 60 git pull; echo x > y/f
bash -c 'git pull'; echo x > y/f
if git pull; then echo x > y/f; fi
git --git-dir=../r/.git --work-tree=. checkout topic; echo x > y/f
git -C "$d" pull; echo x > y/f
git pull; tar xf b.tgz -C plain
git pull; git mv a.py y/c.py
git pull; find plain/ -delete
git pull; find -H plain -delete
git pull; find -L plain -delete
git pull; rm -rf plain/
git pull; find plain/sub -delete
git pull; patch -p1 < p.patch
git pull; cp a.py plain/
git pull; cp -r plain z
git pull; for f in plain/*; do echo x > "$f"; done
gh pr checkout 5; echo x > y/f
glab mr checkout 5; echo x > y/f
hg update topic; echo x > y/f
svn up; echo x > y/f
rename s/d/y/ d; echo x > y/l/f
prename s/d/y/ *; echo x > y/l/f
exch d plain; echo x > plain/l/f
ditto d y; echo x > y/l/f
ditto -xk a.zip y; echo x > y/l/f
pax -r -f a.tar; echo x > y/l/f
pax -rw d y; echo x > y/d/l/f
unrar x a.rar; echo x > y/f
7z x a.7z -oy; echo x > y/f
7zz x a.7z; echo x > y/f
cpio -id -F a.cpio; echo x > y/f
docker cp c:/x y; echo x > y/x/l
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
mkdir -p y && tar xf app.tgz -C y --strip-components=1
unzip a.zip -d y && mv y/a b && rm -rf y a.zip
git clone https://a.example/r y && cd y && make
git clone https://a.example/r y && cat y/README.md
git pull && npm test
git pull --rebase && npm ci && npm run build
git checkout -b z && git add -A && git commit -m y
git checkout -b z && echo x > a.py && git add a.py
git switch -c z; echo x > a.py
git stash list; echo x > a.py
git reset HEAD~1; echo x > a.py
git reset -- a.py; echo x > a.py
git restore --staged a.py; echo x > a.py
git checkout -- plain; echo x > a.py
git fetch --all && echo x > a.py
git add -A && git commit -m x && echo x > a.py
git apply --check p.patch; echo x > a.py
git pull && git checkout -- a.py
git pull && git rm a.py && git commit -m x
git stash && git pull && git stash pop
git pull && cat a.py
git pull && cd plain && make
git pull && grep -rn foo plain
git pull && rm -f a.py
git merge main && git push
git pull && git mv a.py c.py
git worktree add y topic && cd y && make
gh pr view 5; echo x > a.py
hg status; echo x > a.py
svn diff; echo x > a.py
7z l a.7z; echo x > a.py
"""

THROUGH = """
git checkout topic -- y && cat y/f
git checkout topic -- a.py && cat a.py
git checkout topic; cat plain/x
git pull && cat plain/*
git pull && cat *.py
git pull && grep -r foo plain
git pull && sed -n 1p a.py
git pull && cp a.py z
git pull && cp -r plain z
git pull && diff a.py plain/x
git pull && while read x; do echo "$x"; done < a.py
git pull && cd plain && cat x
git pull && head -c 9 < a.py
git stash pop; tar cf - plain
git pull; curl -T a.py https://a.example
git pull; curl -F f=@a.py https://a.example
git pull; for f in plain/*; do cat "$f"; done
git pull; git diff --no-index a.py plain/x
git pull; git hash-object -w a.py
git pull; git commit -F a.py
git pull; cat "$PWD/a.py"
tar xf app.tgz -C y; cat y/f
git clone https://a.example/r y && cat y/README.md
"""
"""What is read may be what a rule forbids to read."""

READS = """
git pull && git diff a.py
git pull && git add a.py && git commit -m x
git pull && git log --oneline a.py
git pull && git show HEAD:a.py
git pull && npm test
git pull && ls plain
git pull && test -f a.py && echo yes
git checkout -b z && cat a.py
git status && cat a.py
git checkout HEAD~1 -- plain && cat a.py
"""


REPOSITORY = ("ws/.git/HEAD", "ws/.git/config", "ws/.git/objects/x", "ws/.git/refs/x")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    top = tmp_path_factory.mktemp("brought").resolve()
    workspace = top / "ws"
    for name in ("ws/d/x", "ws/plain/x", "ws/plain/sub/y", "ws/app.tgz", "ws/a.py", "out/f", "home/x", *REPOSITORY):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("ref: refs/heads/main\n" if path.name == "HEAD" else "")
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
    rules = ["Edit", "Bash(tar:*)", "Bash(gtar:*)", "Bash(cp:*)", "Bash(git:*)", "Bash(rsync:*)", "Bash(sed:*)"]
    assert decide(command, allow=rules, mode="acceptEdits", **places) == "ask"


@pytest.mark.parametrize("command", QUIET.strip().splitlines())
def test_what_meets_no_such_link_asks_nothing(places: dict[str, str], command: str) -> None:
    assert decide(command, mode="auto", **places) == "allow"


@pytest.mark.parametrize("command", THROUGH.strip().splitlines())
def test_reading_below_such_files_asks_where_a_rule_forbids_to_read(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Read(./held)"], mode="auto", **places) == "ask"
    assert decide(command, ask=["Read(./held)"], bypass=True, **places) == "ask"


@pytest.mark.parametrize("command", READS.strip().splitlines())
def test_reading_otherwise_asks_nothing(places: dict[str, str], command: str) -> None:
    assert decide(command, deny=["Read(./held)"], mode="auto", **places) == "allow"
