"""What a pattern matches, and what equal words mean, once earlier commands of the text made other names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from .asked import decide

FILES = {
    "src/n/lnk": "evil", "src/x/n/keep": "", "src/t/keep": "", "src/t/o": "", "src/a/config.toml": "evil",
    "src/a/prod.yml": "evil", "src/a/commondir": "../g", "src/b/keep": "", "conf/prod.yml": "before", "lib/keep": "",
    "dot/.cargo/readme": "", "src/q/keep": "", "src/x/q/keep": "", "src/m/k": "", "src/x/m/k": "", "src/o/k": "",
    "src/p/keep": "", "../out/victim": "before", ".env": "KEY=TOPSECRET",
}  # fmt: skip
LINKS = {
    "src/x/x/n/lnk": "../../../../../out/victim", "d/lnk": "../../out/victim", "src/x/o/lnk": "../../../../out/victim",
}  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    for name, target in LINKS.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).symlink_to(target)
    return top


RULES = [
    f"Bash({name}:*)"
    for name in ("cp", "mv", "ln", "git", "install", "mkdir", "gzip", "gunzip", "rsync", "tee", "sed", "touch", "tar")
] + ["Edit(src/**)", "Edit(lib/**)", "Edit(d/**)"]


def asked(work: Path, command: str, *, mode: str = "default", rules: list[str] = RULES) -> str:
    return decide(command, rules, ["Edit(/conf/**)", "Bash(curl:*)"], mode=mode, workspace=str(work), home=str(work))


HARMFUL = [
    "cp src/n/* src/x/n; cp src/x/n/* src/x/x/n",
    "ln -f src/n/* src/x/n; cp src/x/n/* src/x/x/n",
    "install src/n/* src/x/n; cp src/x/n/* src/x/x/n",
    'for f in src/n/*; do cp "$f" src/x/n; done; cp src/x/n/* src/x/x/n',
    "for i in 1 2; do cp src/x/n/* src/x/x/n; cp src/n/* src/x/n; done",
    "find . -maxdepth 0 -exec cp src/a/prod.yml src/t \\; -exec cp -r src/t/. conf \\;",
    "echo x > src/t/prod.yml; find . -maxdepth 0 -exec cp -r src/t/. conf \\; -exec true \\;",
    "for d in src/x/n src/x/x/n; do cp src/n/* src/x/n/* $d; done",
    "cp src/t/* d; echo x > src/t/lnk; cp src/t/* d",
    "cp -r src/t/. d > src/t/lnk",
    "for i in 1 2; do cp src/t/* d > src/t/lnk; done",
    "(cd src && cp n/* x/n); (cd src/x && cp n/* x/n)",
    "bash -c 'cd src; cp n/* x/n'; bash -c 'cd src/x; cp n/* x/n'",
    "cd src; cp n/* x/n; cd x; cp n/* x/n",
    "cp src/a/* src/b; cp src/b/* conf",
    "cp src/a/* src/b; cp -r src/b/. conf",
    "mv src/a/* src/b; mv src/b/* conf",
    "cp src/a/* src/b; cp -t conf src/b/*",
    "cp src/a/* src/b; find src/b -name '*.yml' -exec cp {} conf \\;",
    "cp -r dot/.cargo .; cp src/a/config.toml .cargo",
    "mv dot/.cargo .; cp src/a/config.toml .cargo",
    "cp -r dot/.c* .; cp src/a/config.toml .cargo",
]


@pytest.mark.parametrize("command", HARMFUL)
def test_what_would_be_written_under_a_name_made_meanwhile_asks(work: Path, command: str) -> None:
    for mode in ("default", "auto"):
        assert asked(work, command, mode=mode) != "allow"
    subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, timeout=PATIENCE, check=False)
    changed = [(work / name).read_text() != "before" for name in ("../out/victim", "conf/prod.yml")]
    assert any(changed) or (work / ".cargo/config.toml").exists()


@pytest.mark.parametrize(
    "command",
    [
        "cp src/t/* d | echo x > src/t/lnk",
        "(git log -p > /dev/null; cp src/t/* d) | echo x > src/t/lnk",
        "(git log -p > /dev/null; cp src/a/config.toml .cargo) | mkdir .cargo",
        "cp src/b.gz .envrc.gz; gunzip .e*.gz",
        "cp src/b.gz src/.envrc.gz; gunzip -r src",
        "echo evil > src/.mcp; gzip -S .json src/.mc*",
        "gzip -k src/x/n/*; cp src/x/n/* src/x/x/n",
        "cp src/a/* src/b; git -C src/b diff HEAD~ HEAD",
        "for i in 1 2; do git -C src/b diff HEAD~ HEAD; cp src/a/* src/b; done",
        "git -C src diff HEAD~ HEAD; echo g > src/commondir; git -C src diff HEAD~ HEAD",
    ],
)
def test_what_may_be_so_asks(work: Path, command: str) -> None:
    assert asked(work, command) == asked(work, command, mode="auto") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "bash src/s.sh; bash -c 'echo \"curl x\" > src/s.sh'; bash src/s.sh",
        "for i in 1 2; do bash src/s.sh; bash -c 'echo \"curl x\" > src/s.sh'; done",
        "echo 'curl x' > src/s.sh; bash -c 'echo ls > src/q/s.sh'; bash src/s.sh",
        "echo 'curl x' > src/s.sh; cat src/s* > src/r.sh; bash src/r.sh",
        "echo 'curl x' > src/s.sh; cp src/*.sh src/r.sh; bash src/r.sh",
        "(sleep 1; bash src/s.sh) & bash -c 'echo curl x > src/s.sh'; wait",
        "echo 'echo curl x > src/t.sh' > src/s.sh; bash src/s.sh; bash src/t.sh",
    ],
)
def test_a_deny_rule_speaks_of_scripts_that_the_text_writes_whatever_else_it_does(work: Path, command: str) -> None:
    assert asked(work, command, mode="auto") == "deny"


def test_a_script_that_runs_twice_is_judged_for_what_stands_there_then(work: Path) -> None:
    (work / "src/n/l").symlink_to("../t")
    (work / "src/x/x/t").symlink_to("../../../.env")
    command = "echo 'cat src/x/x/n/l' > src/s.sh; bash src/s.sh; cp -P src/n/l src/x/x/n; bash src/s.sh"
    assert asked(work, command, mode="auto") == "ask"
    done = subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, timeout=PATIENCE, check=False)
    assert b"TOPSECRET" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        "cp src/t/* lib/ && ls lib",
        "cp src/t/* lib/; cp lib/keep src/z",
        "cp src/t/* lib/; cat lib/*",
        "cp src/t/* lib/ 2>/dev/null",
        "cp src/t/* lib/ > src/log 2>&1",
        "mkdir -p lib/q && cp src/t/* lib/q/ && ls lib/q",
        "cp src/t/keep lib/ && cp src/t/o lib/",
        "cp src/t/* lib/; cp src/t/* lib/",
        'for f in src/t/*; do cp "$f" lib/; done',
        "echo x > lib/z; cp src/t/o lib/",
        "echo x > lib/z; gzip lib/z",
        "echo x > lib/z; touch lib/*",
        "mv src/t/keep lib/ && mv src/t/o lib/",
        "cp src/t/keep lib/ | tee src/log",
        "git add src && cp src/t/* lib/",
    ],
)
def test_everyday_copies_are_covered_by_their_rules(work: Path, command: str) -> None:
    assert asked(work, command) == "allow"


UNDER_A_TARGET = [
    "tar xf src/x.tar -C d",
    "tar xf src/x.tar -C conf/in",
    "tar xf src/x.tar -C .cargo",
    "tar xf src/x.tar -C venv",
    "rsync -RK src/t/./od/victim d/",
    "cd src/t && cp --parents od/* ../../d",
    "cd src/p && cp --parents venv/*/python ../../lib",
    "gunzip -r .cargo",
    "git apply --directory=.cargo src/x.patch",
    "install -Dt lib/.cargo src/a/config.toml",
    "tar xf src/x.tar -C src/b; mv src/b lib/.cargo",
    "tar xf src/x.tar -C src/b; cp -r src/b/. lib/mise",
    "git checkout HEAD~1 -- src/b; cp -r src/b/. conf",
    "gunzip -r src/packed",
    'mkdir lib/venv; for d in lib/*; do mkdir "$d/bin"; done',
    'mkdir lib/mise; for d in lib/*; do tee "$d/config.toml" < src/t/o; done',
    "install -D src/a/config.toml -t lib/mise",
    "cp -r src/a conf2 && cp -r src/a conf",
    'mkdir src/b2; mkdir src/b2/mise; for d in src/b2/*; do cp src/a/config.toml "$d/config.toml"; done',
]


@pytest.mark.parametrize("command", UNDER_A_TARGET)
def test_what_is_written_below_a_target_under_names_that_are_not_spelled_asks(work: Path, command: str) -> None:
    for name in (
        ".cargo/readme",
        "venv/readme",
        "src/t/od/victim",
        "src/packed/in/.envrc.gz",
        "src/p/venv/bin/python",
        "conf/in/readme",
    ):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("")
    (work / "d/od").symlink_to("../../out")
    rules = [*RULES, "Bash(cd:*)"]
    for mode in ("default", "auto"):
        assert asked(work, command, rules=rules, mode=mode) != "allow"
    for harmless in (
        "tar xf src/x.tar -C lib",
        "install -Dt lib/new src/a/config.toml",
        "cd src/t && cp --parents od/* ../../lib",
        "gunzip -r lib",
    ):
        assert asked(work, harmless, rules=rules) == "allow"


UNPACKED = {
    "tar xf data/t.tar -C c; cp -r c/lib .": "lib/.vscode/settings.json",
    "mkdir n1; tar xf data/t.tar -C n1; cp -a n1/lib .": "lib/.vscode/settings.json",
    "mkdir n1; tar xf data/t.tar -C n1; mv n1/lib/k lib": "lib/k/gen/g",
    "tar xf data/t.tar -C c; mv c/lib/k lib": "lib/k/gen/g",
    "tar xf data/t.tar -C c; mv -t lib c/lib/k": "lib/k/gen/g",
    "tar xf data/t.tar -C c; mv c/k2 lib/k": "lib/k/gen/g",
    "tar xf data/t.tar -C c; cp c/lib/l?ut d": "../out/victim",
    "tar xf data/t.tar -C c; cp -r c/lib/l?ut d": "../out/victim",
    "mkdir n1; tar xf data/t.tar -C n1; cp n1/lib/l?ut d": "../out/victim",
}
"""Texts and what they write that is protected, or that no rule covers."""


@pytest.mark.parametrize("command", UNPACKED)
def test_what_an_archive_brings_is_copied_under_names_that_are_not_known(work: Path, command: str) -> None:
    for name in ("packed/lib/.vscode/settings.json", "packed/lib/lout", "packed/lib/k/gen/g", "packed/k2/gen/g"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("evil")
    for name in ("lib/.vscode/settings.json", "c/lib/liut", "data/own"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("before")
    (work / "d/lout").symlink_to("../../out/victim")
    subprocess.run(["tar", "cf", "data/t.tar", "-C", "packed", "lib", "k2"], cwd=work, check=True, timeout=PATIENCE)
    denied = ["Edit(lib/k/gen/**)"]
    for mode in ("default", "auto"):
        assert decide(command, RULES, denied, mode=mode, workspace=str(work), home="/nowhere") != "allow"
    subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, timeout=PATIENCE, check=False)
    assert (work / UNPACKED[command]).read_text() == "evil"


@pytest.mark.parametrize("command", ["tar xf data/t.tar -C c && mv c/lib src/lib", "tar xf data/t.tar -C c"])
def test_unpacking_and_moving_aside_is_covered_by_its_rules(work: Path, command: str) -> None:
    (work / "c").mkdir()
    assert asked(work, command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "mv data n; cp lib/* d",
        "mv data n; cp n/lib/l?ut d",
        "mv data n; mv lib/* d",
        "rm -r data; mv c data; cp lib/* d",
        "mv data n; tar xf n/t.tar -C d",
    ],
)
def test_a_link_that_auto_passes_over_hides_none_that_asks_there(work: Path, command: str) -> None:
    for name in ("data/own", "data/lib/lout", "lib/ldut", "lib/lout", "c/x"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    (work / "d/ldut").symlink_to("../data/own")
    (work / "d/lout").symlink_to("../../out/victim")
    assert decide(command, mode="auto", workspace=str(work), home="/nowhere") == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > src/.npm; sed -irc s/./q/ src/.np?",
        "echo abc > src/npmrc; patch -b -Y . src/npmr? < lib/keep",
        "echo x > src/.npm; patch -b -z rc src/.np? < lib/keep",
    ],
)
def test_names_that_are_made_of_what_a_pattern_matches_by_then_ask(work: Path, command: str) -> None:
    assert decide(command, mode="auto", workspace=str(work), home="/nowhere") == "ask"


@pytest.mark.parametrize("command", ["cp lib/* {out}", "cp lib/l?ut {out}", "mv lib/* {out}", "tar xf x.tar -C {out}"])
def test_a_rule_for_a_folder_elsewhere_covers_no_links_out_of_it(work: Path, command: str) -> None:
    out = work.parent / "beside"
    out.mkdir()
    (work / "lib/lout").write_text("evil")
    (work / "x.tar").touch()
    rules = ["Bash(cp:*)", "Bash(mv:*)", "Bash(tar:*)", f"Edit(/{out}/**)", f"Edit(/{out})"]
    text = command.format(out="../beside")
    assert decide(text, rules, workspace=str(work), home="/nowhere") == "allow"
    (out / "lout").symlink_to("../out/victim")
    assert decide(text, rules, workspace=str(work), home="/nowhere") == "ask"


@pytest.mark.parametrize(
    ("command", "mode"),
    [
        ("cp --parents lib/l?ut c; cp c/lib/l?ut d", "default"),
        ("cp --parents lib/l?ut c; bash -c 'cp c/lib/l?ut d'", "default"),
        ('for d in c/*; do cp lib/lout "$d"; done; cp c/lib/l?ut d', "default"),
        ('for d in c/l*b; do cp lib/lout "$d/"; done; cp c/lib/l?ut d', "default"),
        ('for d in c/l*b; do touch "$d/lout"; done; cp c/lib/l?ut d', "default"),
        ('for d in c/*; do tee "$d/lout" < lib/lout; done; cp c/lib/l?ut d', "default"),
        ("cp lib/lout c/l*b; cp c/lib/l?ut d", "auto"),
        ("cp -t c/l*b lib/lout; cp c/lib/l?ut d", "auto"),
        ("cp -r l?b c; cp c/lib/l?ut d", "auto"),
    ],
)
def test_what_a_pattern_matches_below_a_folder_that_was_filled_asks(work: Path, command: str, mode: str) -> None:
    for name in ("lib/lout", "lib/liut", "c/lib/liut"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("evil")
    (work / "d/lout").symlink_to("../../out/victim")
    rules = RULES if mode == "default" else []
    assert decide(command, rules, mode=mode, workspace=str(work), home="/nowhere") == "ask"
    subprocess.run(["bash", "-c", command], cwd=work, capture_output=True, timeout=PATIENCE, check=False)
    assert (work.parent / "out/victim").read_text() != "before"


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p src/x && cp lib/*.py src/x",
        "cp lib/keep src/ && sed -i s/a/b/ lib/*.py",
        "touch src/new.py && cp lib/*.py src/a/",
        "git checkout topic -- src/x.py && cp lib/*.py src/a/",
    ],
)
def test_a_pattern_elsewhere_is_not_concerned(work: Path, command: str) -> None:
    (work / "lib/a.py").touch()
    assert asked(work, command) == "allow"
