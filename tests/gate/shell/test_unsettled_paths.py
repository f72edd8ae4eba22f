"""What an earlier command of a text did to the files that a later one names: the disk does not show it yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell import judge
from tests.patience import PATIENCE

from .asked import decide


@pytest.fixture
def work(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    for name, text in {
        "p/q/r/x": "x", "out/a/x": "x", "src/s": "before", "src/config.toml": "[build]", "keys/key.pem": "TOPSECRET",
        "old (keys)/key.pem": "TOPSECRET",
        "sub/.env": "KEY=TOPSECRET", "fix/HEAD": "ref: refs/heads/x", "fix/config": "[core]", "../outside": "TOPSECRET",
        "kk/in/key.pem": "TOPSECRET", "pp/f": "harmless", "parts/objects/x": "x", "parts/refs/x": "x", "real/x": "x",
        "near/up/x": "x", "sub/keys/x": "x", "real/w": "x", "real/in/x": "x", "x": "x", "c/key": "x",
        "repo/.git/HEAD": "ref: refs/heads/x", "repo/.git/objects/x": "",
        "repo/.git/refs/x": "", "repo/.git/config": "[diff]\n\texternal = evil", "d/e/f/x": "x",
    }.items():  # fmt: skip
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(f"{text}\n")
    (top / "ee").mkdir()
    (top / "Bh").mkdir()
    (top / "Bh/f").hardlink_to(top / "sub/.env")
    for name, target in {
        "ll": "near/up", "later": "dd/../y", "y": "real/x", "near/y": "../../outside", "m": "real/in",
        "w": "../outside", "key": "c/key", "q/key": "../../outside", "kout": "out", "d/e/y": "../../../outside",
    }.items():  # fmt: skip
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).symlink_to(target)
    return top


EDIT = "Edit(./**)"
ASKING = [
    ("cd p/q/r && mv ../r ../../../zz && cat ../../outside", ["Bash(mv:*)", EDIT]),
    ("cd p/q/r && mv ../r ../../../zz && echo x > ../../outside", ["Bash(mv:*)", EDIT]),
    ("echo x > out/config.toml && mv out .cargo", ["Bash(mv:*)", EDIT]),
    ("cp src/config.toml out/a/ && mv out/a .cargo", ["Bash(mv:*)", "Bash(cp:*)", EDIT]),
    ("echo x > out/config.toml; mv out/* .cargo/", ["Bash(mv:*)", EDIT]),
    ("mv src/config.toml out && mv out .cargo", ["Bash(mv:*)", EDIT]),
    ("ln -s ../../../../outside p/q/r/l && mv p/q/r zz && cat zz/l", ["Bash(ln:*)", "Bash(mv:*)"]),
    ("ln -s . l; cat l/../outside", ["Bash(ln:*)"]),
    ("ln -s . l; echo z > l/../outside", ["Bash(ln:*)", EDIT]),
    ("ln src/s out/y; echo z > out/y", ["Bash(ln:*)", "Edit(./out/**)"]),
    ("cp -l src/s out/y; echo z > out/y", ["Bash(cp:*)", "Edit(./out/**)"]),
    ("mv keys zz; cat zz/*", ["Bash(mv:*)"]),
    ("cp -r keys zz; cat zz/*", ["Bash(cp:*)"]),
    ("mv 'old (keys)' zz; cat zz/*", ["Bash(mv:*)"]),
    ("mv out/* src/; cat src/a/x", ["Bash(mv:*)", EDIT]),
    ("cp -rT out src; sh src/a/x", ["Bash(cp:*)", "Bash(sh src/a/x)"]),
    ("for i in 1 2; do cat zz/*; mv keys zz; done", ["Bash(mv:*)"]),
    ("bash -c 'while true; do cat zz/*; cp -r keys zz; done'", ["Bash(cp:*)"]),
    ("cd p/q/r && mv ../r ../../../zz && cd ../.. && cat outside", ["Bash(mv:*)"]),
    ("cd out/a && mv ../a ../../.cargo && echo x > config.toml", ["Bash(mv:*)", EDIT]),
    ("ln -s .github g; echo x > g/hooks/h", ["Bash(ln:*)", EDIT]),
    ("ln -s keys k2; cat k2/*", ["Bash(ln:*)"]),
    ("cp -rs /nowhere/src out/l; echo x > out/l/s", ["Bash(cp:*)", EDIT]),
    ("mkdir zz && mv keys zz && cat zz/*/*", ["Bash(mv:*)", "Bash(mkdir:*)", EDIT]),
    ("cd src && mv ../src ../out/ && rustc --version", ["Bash(mv:*)"]),
    ("mkdir -p ./-r/x/y; grep x *", ["Bash(mkdir:*)"]),
    ("mkdir -p fix/objects fix/refs; cd fix; git status", ["Bash(mkdir:*)"]),
    # a folder that is there is put in another's place
    ("ln -sfn repo ll; git -C ll diff", ["Bash(ln:*)"]),
    ("ln -sfT repo ll; cd ll; git status", ["Bash(ln:*)"]),
    ("rm -r ee; ln -s repo ee; git -C ee status", ["Bash(ln:*)", "Bash(rm:*)"]),
    ("ln -sfn kk ll; cat ll/in/*", ["Bash(ln:*)"]),
    ("mv -T kk ee; cat ee/in/*", ["Bash(mv:*)"]),
    ("rm -r pp; mv kk pp; cat pp/in/*", ["Bash(mv:*)", "Bash(rm:*)"]),
    ("bash -c 'rm -r pp; mv kk pp; cat pp/in/*'", ["Bash(mv:*)", "Bash(rm:*)"]),
    ("mv -T Bh ee; cat ee/f", ["Bash(mv:*)"]),
    ("rm -r out; ln -s src out; echo z > out/s", ["Bash(rm:*)", "Bash(ln:*)", "Edit(./out/**)"]),
    ("touch zz; rm zz; cp -r kk zz; cat zz/in/*", ["Bash(touch:*)", "Bash(rm:*)", "Bash(cp:*)"]),
    ("mv zz zy; mv kk zz; cat zz/in/*", ["Bash(mv:*)"]),
    ("mv -b sub/keys .; cat keys~/*", ["Bash(mv:*)"]),
    # contents become those of another folder
    ("cp -r kk/. ee; cat ee/in/*", ["Bash(cp:*)"]),
    ("cp -rT Bh pp; cat pp/f", ["Bash(cp:*)"]),
    ("cp -r Bh/* pp; cat pp/f", ["Bash(cp:*)"]),
    ("cp -al src/. out; echo z > out/s", ["Bash(cp:*)", "Edit(./out/**)"]),
    ("cp -r parts/. fix; git -C fix status", ["Bash(cp:*)"]),
    ("cp -r parts/* fix; git -C fix status", ["Bash(cp:*)"]),
    ("mv -t fix parts/*; cd fix; git status", ["Bash(mv:*)"]),
    ('for i in parts/*; do mv "$i" fix; done; git -C fix status', ["Bash(mv:*)"]),
    # words and redirections that say less than they look
    ("cp -r kk zz < x; cat zz/in/*", ["Bash(cp:*)"]),
    ("ln -s keys zz < x; cat zz/*", ["Bash(ln:*)"]),
    ("ln -s keys zz > log; cat zz/*", ["Bash(ln:*)", EDIT]),
    ("mv keys 'zz (a)'; cat 'zz (a)'/*", ["Bash(mv:*)"]),
    ("ln src/s 'out/y (a)'; echo z > 'out/y (a)'", ["Bash(ln:*)", "Edit(./out/**)"]),
    ("mkdir 'o (a)'; echo x > 'o (a)/config.toml'; mv 'o (a)' .cargo", ["Bash(mkdir:*)", "Bash(mv:*)", EDIT]),
    ("cp -r k*k/in ee; cat ee/in/*", ["Bash(cp:*)"]),
    ("mv k?/in ee; cat ee/*/*", ["Bash(mv:*)"]),
    ("rsync -a kk/ zz; cat zz/in/*", ["Bash(rsync:*)"]),
    ("tar xf t.tar -C ee; mv ee/* src; echo x > src/v", ["Bash(tar:*)", "Bash(mv:*)", EDIT]),
    ("tar xf t.tar -C fix; git -C fix status", ["Bash(tar:*)"]),
    ("git checkout topic; cd sub; git status", ["Bash(git checkout:*)"]),
    # ways that lead up out of what was moved
    ("ln -s near/up dd; cat later", ["Bash(ln:*)"]),
    ("ln -s near/up dd; echo x > later", ["Bash(ln:*)", EDIT]),
    ("rm m; mkdir m; cat m/../w", ["Bash(rm:*)", "Bash(mkdir:*)"]),
    ("rm m; mkdir m; tee m/../w <<< x", ["Bash(rm:*)", "Bash(mkdir:*)", "Bash(tee:*)"]),
    ("unlink m; mkdir m; cat m/../w", ["Bash(unlink:*)", "Bash(mkdir:*)"]),
    ("git rm -q m; mkdir m; cat m/../w", ["Bash(git rm:*)", "Bash(mkdir:*)"]),
    ("rm -r near; mkdir -p near/y; cat near/y/../w", ["Bash(rm:*)", "Bash(mkdir:*)"]),
    ("ln -s d/e/f up2; cd -P up2/..; cat y", ["Bash(ln:*)"]),
    ("mkdir n && cd n && mv ../n ../d/e/n && cat ../y", ["Bash(mkdir:*)", "Bash(mv:*)"]),
    ("mkdir c/n && cd c/n && mv ../n ../../q/ && cd .. && cat key", ["Bash(mkdir:*)", "Bash(mv:*)"]),
    # what the text makes may not be there after all
    ("touch out/n; ln -sf Bh out/n; cat out/n/f", ["Bash(touch:*)", "Bash(ln:*)"]),
    ("false && mkdir n; mv Bh n; cat n/f", ["Bash(mkdir:*)", "Bash(mv:*)"]),
    ("mkdir --help n; mv Bh n; cat n/f", ["Bash(mkdir:*)", "Bash(mv:*)"]),
    ("mkdir N; mv Bh n; cat n/f", ["Bash(mkdir:*)", "Bash(mv:*)"]),
    ("mkdir n || mkdir o; mv Bh o; cat o/f", ["Bash(mkdir:*)", "Bash(mv:*)"]),
    ("rmdir -p d/e/f; ln -s Bh d; cat d/f", ["Bash(rmdir:*)", "Bash(ln:*)"]),
    # links under other names
    ("mv -b x q/key; mv q/key~ key2; cat key2", ["Bash(mv:*)"]),
    ("ln -sfb x q/key; cp -d q/key~ key2; cat key2", ["Bash(ln:*)", "Bash(cp:*)"]),
    ("mv q/key kout; cat out/key", ["Bash(mv:*)"]),
    ("(cd kout; mv ../q/key .); cat out/key", ["Bash(mv:*)"]),
    ('for i in ou*; do mv q/key "$i"; done; cat out/key', ["Bash(mv:*)"]),
    ("mv -t o?t q/key; cat out/*", ["Bash(mv:*)"]),
    ("rename.ul Bh n Bh; cat n/f", ["Bash(rename.ul:*)"]),
    ("rename.ul y/k k q/key; cat key", ["Bash(rename.ul:*)"]),
    ("mv Bh n; cat n/f", ["Bash(mv:*)", "Bash(cat:*)"]),
    ("install -d c/n && cd c/n && mv ../n ../../q/ && cd .. && cat key", ["Bash(install:*)", "Bash(mv:*)"]),
    ("install -d n && cd n && mv ../n ../d/e/n && cat ../y", ["Bash(install:*)", "Bash(mv:*)"]),
    (
        "find . -maxdepth 0 -exec git -C fix checkout t \\; -exec git -C fix status \\;",
        ["Bash(find:*)", "Bash(git checkout:*)", "Bash(git -C fix:*)"],
    ),
    # parts that run beside each other
    ("(sleep 1; cat zz/in/* >&2) | mv kk zz", ["Bash(mv:*)"]),
    ("(sleep 1; cat b/q/key >&2) | mv q b", ["Bash(mv:*)"]),
    ("cat <(sleep 1; cat zz/in/*) <(mv kk zz)", ["Bash(mv:*)"]),
    ("bash -c 'cat <(sleep 1; cat zz/in/*) <(mv kk zz)'", ["Bash(mv:*)"]),
    (": <(sleep 1; cat zz/q/key >&2); mv q zz; sleep 2", ["Bash(mv:*)"]),
]


@pytest.mark.parametrize(("command", "rules"), ASKING)
def test_what_an_earlier_command_moved_linked_or_completed_asks(work: Path, command: str, rules: list[str]) -> None:
    assert decide(command, allow=rules, workspace=str(work)) == "ask"


def test_a_text_that_changes_its_own_files_in_too_many_steps_asks(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "for f in src/s; do cp $f out/t; done"
    where = {"allow": ["Bash(cp:*)", EDIT], "workspace": str(work)}
    assert decide(text, **where) == "allow"
    monkeypatch.setattr(judge, "_MOST_ROUNDS", 0)
    assert decide(text, **where) == "ask"


LIFTED = [
    "mv Bh n; cat n/f",
    "mv Bh n; echo x > n/f",
    "ln -s $PWD/p/q out/n; echo x > out/n/../../../f",
    "ln -s p/q/r l2; echo x > l2/../../../../f",
    "ln -s src b; rm ../f",
    "mv src b; echo x > ../f",
    "cp -r src b; rm ../f",
    "ln -sf n.txt up & ls",
]


@pytest.mark.parametrize("command", LIFTED)
def test_what_asks_in_auto_asks_behind_a_move_too(work: Path, command: str) -> None:
    (work / "up").symlink_to("..")
    assert decide(command, workspace=str(work), mode="auto") == "ask"


READING = (
    "ln -sfn kk ll; cat ll/in/*",
    "mv -T kk ee; cat ee/in/*",
    "rm -r pp; mv kk pp; cat pp/in/*",
    "mv -T Bh ee; cat ee/f",
    "mv -b sub/keys .; cat keys~/*",
    "cp -r kk/. ee; cat ee/in/*",
    "cp -rT Bh pp; cat pp/f",
    "cp -r kk zz < x; cat zz/in/*",
    "mv keys 'zz (a)'; cat 'zz (a)'/*",
    "cp -r k*k/in ee; cat ee/in/*",
    "ln -s near/up dd; cat later",
    "rm m; mkdir m; cat m/../w",
    "ln -s d/e/f up2; cd -P up2/..; cat y",
    "mkdir n && cd n && mv ../n ../d/e/n && cat ../y",
    "cat <(sleep 1; cat zz/in/*) <(mv kk zz)",
    "cd p/q/r && mv ../r ../../../zz && cat ../../outside",
    "ln -s . l; cat l/../outside",
    "mv keys zz; cat zz/*",
    "cp -r keys zz; cat zz/*",
)


@pytest.mark.parametrize("command", [command for command, _ in ASKING if command in READING])
def test_bash_reads_what_the_disk_did_not_show(work: Path, command: str) -> None:
    line = ["bash", "--norc", "-c", command]
    done = subprocess.run(line, cwd=work, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert "TOPSECRET" in done.stdout


def test_a_program_that_the_text_makes_is_not_known(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "bin").mkdir()
    monkeypatch.setenv("PATH", f"/usr/bin:/bin:{work}/bin")
    assert decide("ls .", workspace=str(work)) == "allow"
    assert decide("cp src/s bin/ls; ls .", allow=["Bash(cp:*)", EDIT], workspace=str(work)) == "ask"


@pytest.mark.parametrize(
    "reader", ["cat zz/*", "cat zz/k*", "head zz/*", "grep -r . zz", "cp -r zz out", "base64 zz/*"]
)
def test_a_rule_for_the_reader_does_not_cover_what_was_moved(work: Path, reader: str) -> None:
    rules = [f"Bash({name}:*)" for name in ("mv", "cat", "head", "grep", "cp", "base64")]
    for mover in ("mv keys zz", "git mv keys zz"):
        assert decide(f"{mover}; {reader}", allow=[*rules, "Bash(git mv:*)", EDIT], workspace=str(work)) == "ask"
        if not reader.startswith(("grep -r", "cp -r")):  # these look for no names below a folder
            assert decide(f"{mover}; {reader}", workspace=str(work), mode="auto") == "ask"


def test_the_same_command_twice_may_complete_a_repository_for_itself(work: Path) -> None:
    rules = ["Bash(git:*)"]
    for text in ("git -C src checkout t; git -C src checkout t", "for i in 1 2; do git -C src checkout t; done"):
        assert decide(text, allow=rules, workspace=str(work)) == "ask"


EVERYDAY = [
    "ls src | head; mv src lib2",
    "cat src/s | head -5 && git mv src lib2",
    "find src -name '*.py' | wc -l; mv src/s out/",
    "make 2>&1 | tee build.log && mv build.log out/",
    "cat src/s | sort > g; cp g out/",
    "cp x g && mv g out/ && cat out/g",
    "cp x g && cp g h && cat h",
    "cp x g && cp g h && cp h i",
    "echo x > t && mv t final && cat final",
    "mv a.py b.py && git add b.py",
    "mkdir -p src/x && mv src/s src/x/ && ls src",
    "cp a b && cat b",
    "mkdir -p build && cd build && cmake ..",
    "mv src/s out/ && ls -la",
    "cp -r src dst && ls",
    'for f in src/*; do cp "$f" "$f.bak"; done',
    "mkdir d && cd d && cp -r ../src . && ls",
    "mv src/s out && ls out",
    "cp -r src out/ && ls out",
    'for f in src/*; do mv "$f" out/; done',
    "mv src/* out/ && cat out/a/x",
    "ln -s ../src/s out/y && cat src/s",
    'for f in src/*; do cat out/a/x; mv "$f" out/; done',
    "mv src lib && make",
    "cd sub && mv x y && cd .. && ls",
    "mkdir -p a/b && echo x > a/b/c && cat a/b/c",
    "rm -rf out && mkdir out && cp src/s out/s && cat out/s",
    "cp -r src dst | tail -3",
    "make 2>&1 | tee log | tail -5",
    "mv src/s out/ | cat; cat x",
    "cp -r src out && ls out",
    "cp -r src out && cat x && wc -l sub/keys/x",
    "rm -f log && make && cat log",
    "ln -s src/s y2 && ls -la",
]


@pytest.mark.parametrize("command", EVERYDAY)
def test_everyday_texts_are_covered_by_their_rules(work: Path, command: str) -> None:
    rules = [
        f"Bash({name}:*)" for name in ("mv", "cp", "ln", "mkdir", "git add", "cmake", "rm", "make", "tee", "git mv")
    ]
    assert decide(command, allow=[*rules, EDIT], workspace=str(work)) == "allow"


OUT_OF_BROUGHT_LINKS = [
    # `..` out of a link that git or an archive may bring, and names directly in it
    ("git checkout topic -- lk; cat lk/../x", ["Bash(git checkout:*)"], ["Read(keys/**)"]),
    ("git checkout topic -- lg; echo x > lg/../config", ["Bash(git checkout:*)", EDIT], []),
    ("git checkout topic -- to; mv to/../x zz; cat zz", ["Bash(git checkout:*)", "Bash(mv:*)"], []),
    ("git restore -s topic to; cd to; touch ../new", ["Bash(git restore:*)", "Bash(touch:*)"], []),
    ("tar xf t.tar -C d; echo x > d/o/../../x", ["Bash(tar:*)", EDIT], []),
    ("git checkout topic -- lh; rm lh/w", ["Bash(git checkout:*)", "Bash(rm:*)"], ["Edit(held/**)"]),
    ("git checkout topic -- lh; rm lh/w", ["Bash(git checkout:*)", "Bash(rm:*)"], []),
    ("git checkout topic -- lh; mv lh/w zz", ["Bash(git checkout:*)", "Bash(mv:*)"], []),
    ("git checkout topic -- src/lk; grep -R token src", ["Bash(git checkout:*)", "Bash(grep:*)"], ["Read(keys/**)"]),
    ("cp -d kx x2; mv L L2; cat x2/../outside", ["Bash(cp:*)", "Bash(mv:*)"], []),
    ("git checkout topic -- out2; cd out2; split x", ["Bash(git checkout:*)", "Bash(split:*)"], []),
    ("mv L M; split x M/n", ["Bash(mv:*)", "Bash(split:*)"], []),
    # a link that was taken away, and a folder that is made in its place by any command
    ("rm m; mkdir -p m/x; cat m/../w", ["Bash(rm:*)", "Bash(mkdir:*)"], []),
    ("rm m; mkdir -p m/x; cat u", ["Bash(rm:*)", "Bash(mkdir:*)"], []),
    ("rm m; mkdir -p m/x; echo x > m/../w", ["Bash(rm:*)", "Bash(mkdir:*)", EDIT], []),
    ("rm m; install -d m; echo x > m/../w", ["Bash(rm:*)", "Bash(install:*)", EDIT], []),
    ("rm m; install -D x m/x; cat m/../w", ["Bash(rm:*)", "Bash(install:*)"], []),
    ("rm m; git init -q m/x; cat m/../w", ["Bash(rm:*)", "Bash(git init:*)"], []),
    ("find m -type l -delete; mkdir m; cat m/../w", ["Bash(find:*)", "Bash(mkdir:*)"], []),
    ("find m -name m -delete; mkdir m; cat u", ["Bash(find:*)", "Bash(mkdir:*)"], []),
    ("find ee -name '*' -delete; mv Bh ee; cat ee/f", ["Bash(find:*)", "Bash(mv:*)"], []),
    ("find ee -empty -delete; ln -s Bh ee; cat ee/f", ["Bash(find:*)", "Bash(ln:*)"], []),
    ("git rm -q '?'; mkdir m; cat u", ["Bash(git rm:*)", "Bash(mkdir:*)"], []),
    ("git rm -q ':(glob)m'; mkdir m; cat u", ["Bash(git rm:*)", "Bash(mkdir:*)"], []),
    ("(sleep .3; mkdir m) | rm m; cat m/../w", ["Bash(rm:*)", "Bash(mkdir:*)"], []),
    ("(sleep .3; mkdir m; cat u >&2) | rm m", ["Bash(rm:*)", "Bash(mkdir:*)"], []),
    # a link to a folder stands for its files, also where these are protected
    ("ln -s src .cargo", ["Bash(ln:*)"], []),
    ("ln -s ../src sub/.cargo", ["Bash(ln:*)"], []),
]


@pytest.mark.parametrize(("command", "rules", "deny"), OUT_OF_BROUGHT_LINKS)
def test_ways_out_of_links_that_were_brought_or_taken_away_ask(
    work: Path, command: str, rules: list[str], deny: list[str]
) -> None:
    (work / "u").symlink_to("m/../w")
    (work / "kx").symlink_to("L2/n")
    (work / "L").mkdir()
    (work / "L/n").symlink_to("../../x")
    assert decide(command, allow=rules, deny=deny, workspace=str(work)) == "ask"


def test_a_copy_writes_through_links_that_stand_below_its_target(work: Path) -> None:
    (work / "D").mkdir()
    (work / "D/w").symlink_to("../../outside")
    (work / "D/xaa").symlink_to("../../outside")
    rules = ["Bash(cp:*)", "Bash(split:*)", "Bash(find:*)", "Bash(csplit:*)"]
    for command in ("cp -r real/. D", "cp -rT real D", "cp -a real/w D", "split x D/x", "csplit -f D/x x 1"):
        assert decide(command, rules, workspace=str(work)) == "ask", command
    assert decide("find real -type f -exec cp -t D {} +", rules, workspace=str(work)) == "ask"
    (work / "E").mkdir()
    (work / "E/w").hardlink_to(work / "sub/.env")
    (work / "E/xab").hardlink_to(work / "sub/.env")
    assert decide("find real -type f -exec cp -t E {} +", rules, workspace=str(work)) == "ask"
    assert decide("split x E/x", rules, workspace=str(work)) == "ask"
    assert decide("split x out/x", rules, workspace=str(work)) == "allow"
    more = [*rules, "Bash(ln:*)", "Bash(mv:*)", "Bash(mkdir:*)", "Bash(touch:*)"]
    for command in ("ln -s ../real D/r", "mv out D", "touch new; ln -s ../real D/r", "mkdir n; cp -r real n"):
        assert decide(command, more, workspace=str(work)) == "allow", command


def test_a_copy_of_what_the_text_brought_is_written_through_no_link(work: Path) -> None:
    for name, target in {"D/w": "../../outside", "D2/w": "../.vscode/settings.json"}.items():
        (work / name).parent.mkdir()
        (work / name).symlink_to(target)
    (work / ".vscode").mkdir()
    (work / ".vscode/settings.json").write_text("{}")
    (work / "E").mkdir()
    (work / "E/w").hardlink_to(work / ".vscode/settings.json")
    for name in (".cargo", "cc"):
        (work / name).mkdir()
    (work / "cc/config.toml").write_text("[build]")
    rules = [f"Bash({name}:*)" for name in ("cp", "mv", "mkdir", "git", "tar", "install")]
    for command in (
        "cp -r real Z; cp -rT Z D", "cp -r real Z; cp -r Z/. D", "cp -r real Z; cp Z/* D", "mv real Z; cp -r Z/* D2",
        "mkdir n; cp real/w n; cp -rT n D", "mkdir n; tar xf t.tar -C n; cp -rT n D",
        "git checkout -q t -- src; cp -r src/. D",
        "cp -rT real E", "mkdir n; cp real/w n; cp -rT n E", "cp -r cc Z; cp Z/* .cargo/",
        "cp -r cc Z; cp Z/conf* .cargo",
        "cp -r cc Z; install -t .cargo Z/*", "git clone -q . n; cp -rT n D",
    ):  # fmt: skip
        for given in ({"allow": rules}, {"mode": "auto"}):
            assert decide(command, workspace=str(work), **given) == "ask", (command, given)
