"""Ignore files that bring hidden secrets back take ``rg`` out of the read-only set (tried with ripgrep 13.0)."""

from __future__ import annotations

from pathlib import Path

import pytest

from countersign.gate.shell.files import searched_secrets

from .asked import HOME, decide, judge


@pytest.mark.parametrize(
    ("file", "text", "command", "expected"),
    [
        (".ignore", "!.env\n", "rg KEY", "ask"),
        (".rgignore", "node_modules\n!.env*\n", "rg KEY", "ask"),
        (".gitignore", "!.*\n", "rg KEY src", "ask"),
        (".git/info/exclude", "!/.env\n", "rg KEY", "ask"),
        ("src/.ignore", "!*\n", "rg KEY src", "ask"),
        ("src/.ignore", "!?env\n", "rg KEY src", "ask"),
        ("src/.ignore", "!{.env,notes/{a,b}}\n", "rg KEY src", "ask"),
        ("src/.ignore", "!.npmrc", "cd src && rg KEY", "ask"),
        (".ignore", "!.env\n", "rg --files", "ask"),
        (".ignore", "#" * 200_000, "rg KEY", "ask"),
        (".gitignore", ".env\n!.env.example\n!*.md\n!build/\n", "rg KEY", "allow"),
        (".ignore", "!.env\n", "rg KEY src/app.py", "allow"),
        (".ignore", "!.env\n", "rg -t py KEY", "allow"),
        (".gitignore", "!*.production\n", "rg KEY", "ask"),
        (".gitignore", "!*prod*\n", "rg KEY", "ask"),
        (".gitignore", "!*?v.*\n", "rg KEY", "ask"),
        (".gitignore", "!.*.pro[a-z]uction\n", "rg KEY", "ask"),
        (".gitignore", "*\n!*/\n!*.py\n", "rg KEY", "allow"),
        (".ignore", "\ufeff!.env\n", "rg KEY", "ask"),
        (".ignore", "!.E*\n", "rg --ignore-file-case-insensitive KEY", "ask"),
        ("src/deep/.ignore", "!.env\n", "rg KEY src", "ask"),
        ("../.ignore", "!.env\n", "rg KEY", "ask"),
        ("../home/.config/git/ignore", "!.env\n", "rg KEY", "ask"),
        ("../home/.gitconfig", "[core]\n\texcludesFile = ~/ours\n", "rg KEY", "ask"),
        ("tests/.ignore", "!.env\n", "rg KEY src", "allow"),
        (".ignore", "!.[e/]nv\n", "rg KEY", "ask"),
        (".ignore", "!.[!/]nv\n", "rg KEY", "ask"),
        (".ignore", "![a-z.]\n", "rg KEY", "ask"),
    ],
)
def test_an_ignore_file_may_bring_a_secret_back(
    tmp_path: Path, file: str, text: str, command: str, expected: str
) -> None:
    for folder in ("home/.config/git", "ws/src/deep", "ws/tests", "ws/.git/info"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (".env", ".env.production", "src/app.py", "src/.env", "src/.npmrc", "src/deep/.env", "src/notes.md"):
        (tmp_path / "ws" / name).write_text("x")
    (tmp_path / "home/ours").write_text("!.env")
    (tmp_path / "ws" / file).write_text(text)
    assert decide(command, workspace=str(tmp_path / "ws"), home=str(tmp_path / "home")) == expected


@pytest.mark.parametrize(
    ("secret", "command", "expected"),
    [
        ("id_rsa", "rg word", "ask"),
        ("conf/server.PEM", "rg word .", "ask"),
        ("conf/server.pem~", "rg word .", "ask"),
        ("conf/#id_rsa#", "rg word", "ask"),
        ("conf/server.pem.txt", "rg word", "allow"),
        ("conf/id_rsa_keys/of.txt", "rg word", "ask"),
        ("certs.pem/deep/of", "rg word .", "ask"),
        ("certs.pem/deep/of", "cd certs.pem && rg word", "ask"),
        ("certs.pem/deep/of", "rg word src", "allow"),
        ("conf/server.pem", "rg -n word conf", "ask"),
        ("conf/server.pem", "cd conf && rg word", "ask"),
        ("conf/server.pem", "rg word src", "allow"),
        ("conf/server.pem", "rg -t py word", "allow"),
        ("conf/server.pem", "rg -g '*.md' word", "allow"),
        ("conf/server.pem", "rg -g '!*.md' word", "ask"),
        ("conf/server.pem", "rg --files", "ask"),
        ("conf/id_rsa.md", "rg -t md word", "ask"),
        ("conf/.env.py", "rg -t py word", "ask"),
        ("conf/.env.py", "rg word", "allow"),
        ("conf/server.pem", "rg -g 'package.json' word", "allow"),
        ("conf/.env.htm", "rg -t html word", "ask"),
        ("conf/id_rsa.kts", "rg -t kotlin word", "ask"),
        (".hid.py/id_rsa.py", "rg -g '*.py' word", "ask"),  # a folder that a glob matches is entered
        (".hid.py/id_rsa.py", "rg -g '*.md' word", "allow"),
        (".hid.py/id_rsa.py", "rg -t py word", "allow"),
        ("node_modules/id_rsa.py", "rg -g '*.py' word", "allow"),
        ("node_modules/id_rsa.py", "rg -g 'node_modules' -g '*.py' word", "ask"),
        ("conf/ID_RSA.PY", "rg --iglob '*.py' word", "ask"),
        ("kept/..env.swp", "rg word", "ask"),
        ("node_modules/x/test/key.pem", "rg word", "allow"),
        ("node_modules/x/test/key.pem", "rg word node_modules", "ask"),
        ("certs/dev.pem", "rg word", "allow"),
        ("notes/key.der.pem", "rg word", "allow"),
        ("kept/key.pem", "rg word", "ask"),
        ("vendor/.git/x.pem", "rg word vendor", "allow"),
        ("vendor/certs/x.pem", "rg word vendor", "ask"),  # what stands above a repository does not count in it
    ],
)
def test_a_secret_that_is_not_hidden_asks(secret: str, command: str, expected: str, tmp_path: Path) -> None:
    for folder in (".git", "vendor/.git", "src", "kept"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("node_modules/\n/certs/*\n/certs\n*.der.pem\n")
    (tmp_path / "vendor/.gitignore").write_text("")
    (tmp_path / "kept/.gitignore").write_text("key.pem\n!*.pem\n!*.swp\n")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "allow" or "cd" in command or "node" in command
    (tmp_path / secret).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / secret).write_text("x")
    assert decide(command, workspace=str(tmp_path), home=HOME) == expected
    named = secret.partition("/deep")[0].partition("/of")[0]
    covered = decide(command, workspace=str(tmp_path), home=HOME, allow=[f"Read({named})"])
    assert covered == "allow"


@pytest.mark.parametrize(
    "options",
    [
        *("-g 'serv*'", "-g 'server.*'", "-g 's*'", "--iglob 'S*'", "-g 'a?p*'", "-g 'a*' -g '*.py'", "-g '/sub/s*'"),
        *("-t make", "-t docker", "-t sh"),
    ],
)
def test_a_glob_or_type_that_does_not_say_which_endings_it_means_asks(options: str) -> None:
    assert decide(f"rg word {options}") == "ask"


@pytest.mark.parametrize("named", ["/proc/self/cwd/other", "/dev/fd/3/other", "{}/link", "{}/other/../link"])
def test_excludes_that_another_process_finds_elsewhere_may_bring_back_anything(named: str, tmp_path: Path) -> None:
    (tmp_path / "other/info").mkdir(parents=True)
    (tmp_path / "link").symlink_to("/proc/self/cwd/other")
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor/.env").write_text("KEY")
    (tmp_path / "vendor/.git").write_text(f"gitdir: {tmp_path}/other\n")
    assert decide("rg KEY vendor", workspace=str(tmp_path), home=HOME) == "allow"
    (tmp_path / "vendor/.git").write_text(f"gitdir: {named.format(tmp_path)}\n")
    assert decide("rg KEY vendor", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("file", [".gitignore", ".ignore", ".git/info/exclude"])
@pytest.mark.parametrize("line", ["src/sub/key.pem", "/src/sub/key.pem", "src/sub/", "/src/sub"])
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rg word", "allow"),
        ("rg word .", "allow"),
        ("cd src && rg word ..", "allow"),
        ("rg word docs", "allow"),
        ("rg word src", "ask"),
        ("rg word docs ./src/", "ask"),
        ("cd src && rg word ../src", "ask"),
        ("cd src/sub && rg word ..", "ask"),
        ("rg word src/sub", "ask"),
    ],
)
def test_paths_in_an_ignore_file_above_leave_out_nothing(
    command: str, expected: str, line: str, file: str, tmp_path: Path
) -> None:
    for folder in (".git/info", "src/sub", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / file).write_text(f"{line}\n")
    (tmp_path / "src/sub/key.pem").write_text("word")
    assert decide(command, workspace=str(tmp_path), home=HOME) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"key.pem", "allow"),
        (b"x\r\nkey.pem \t\r\n", "allow"),
        (b"x\rkey.pem\n", "ask"),
        (b"x\x0bkey.pem\n", "ask"),
        (b"x\x0ckey.pem\n", "ask"),
        (b"x\x1ckey.pem\n", "ask"),
        (b"key.pem\x1c\n", "ask"),
        ("x\x85key.pem\n".encode(), "ask"),
        ("x\u2028key.pem\n".encode(), "ask"),
        ("\ufeffkey.pem\n".encode(), "ask"),  # rg 13 takes the mark for a letter
        (b"key.pem\n\xff\n", "allow"),
        (b"\xff\nkey.pem\n", "ask"),
        (b"# \xe9\nkey.pem\n", "ask"),
    ],
)
def test_lines_of_an_ignore_file_are_those_that_rg_reads(text: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_bytes(text)
    (tmp_path / "key.pem").write_text("word")
    assert decide("rg word", workspace=str(tmp_path), home=HOME) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rg word docs", "allow"),
        ("rg word a*", "allow"),
        ("rg word d*", "allow"),
        ("rg word s*", "allow"),
        ("rg word src/a*", "allow"),
        ("rg word src/*", "ask"),  # what is named is searched although an ignore file names it
        ("rg word */*", "ask"),
        ("rg word docs src/s*", "ask"),
        ("rg word {docs,src/sub}", "ask"),
        ("rg word {docs,src/a.py}", "allow"),
        ("x=src/sub; rg word docs $x", "ask"),
        ("for d in src/*; do rg word $d; done", "ask"),
        ("cd src && rg word *", "ask"),
        ("rg -t md word src/*", "ask"),
        ("rg word <(cat a.md)", "allow"),
    ],
)
def test_operands_that_bash_expands_are_searched(command: str, expected: str, tmp_path: Path) -> None:
    for folder in (".git", "src/sub", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("sub\n")
    for name in ("src/sub/key.pem", "src/sub/.env.md", "src/a.py", "docs/b.md", "a.md"):
        (tmp_path / name).write_text("word")
    assert decide(command, workspace=str(tmp_path), home=HOME) == expected


def test_of_several_global_ignore_files_rg_reads_one(tmp_path: Path) -> None:
    for folder in ("home/.config/git", "ws/.git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "home/.config/git/ignore").write_text("key.pem\n")
    (tmp_path / "home/.gitconfig").write_text("[core]\n\texcludesFile = ~/ours\n")
    (tmp_path / "ws/key.pem").write_text("word")
    assert decide("rg word", workspace=str(tmp_path / "ws"), home=str(tmp_path / "home")) == "ask"


@pytest.mark.parametrize("secret", [".env", "src/.npmrc", "src/key.pem~"])
@pytest.mark.parametrize("command", ["rg word", "rg word src", "cd src && rg word"])
def test_a_secret_that_has_another_name_may_be_searched_by_it(command: str, secret: str, tmp_path: Path) -> None:
    for folder in (".git", "src"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".gitignore").write_text("*~\n")
    (tmp_path / secret).write_text("word")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "allow" or secret.endswith("~")
    (tmp_path / "src/notes.txt").hardlink_to(tmp_path / secret)
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


def test_a_card_names_the_secret_that_a_search_reads(tmp_path: Path) -> None:
    (tmp_path / "server.pem").write_text("x")
    findings = judge("rg word", workspace=str(tmp_path)).findings
    assert f"it may print the secret `{tmp_path}/server.pem`" in [found.near_miss_reason for found in findings]


def test_a_search_of_too_many_files_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in range(30):
        (tmp_path / str(name)).touch()
    assert decide("rg word", workspace=str(tmp_path), home=HOME) == "allow"
    monkeypatch.setattr(searched_secrets, "MOST_SEARCHED", 20)
    assert decide("rg word", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "file", [".ignore", ".rgignore", ".gitignore", "src/.ignore", "src/deep/.rgignore", ".git/info/exclude"]
)
@pytest.mark.parametrize(
    ("target", "expected"), [("../outside", "ask"), (".env", "ask"), ("shared", "allow"), ("/etc/hosts", "ask")]
)
@pytest.mark.parametrize("command", ["rg word", "rg --files", "rg word src/deep"])
def test_an_ignore_file_is_no_link_to_a_file_of_which_rg_prints_lines(
    command: str, target: str, expected: str, file: str, tmp_path: Path
) -> None:
    top = tmp_path / "work"
    for folder in ("src/deep", ".git/info"):
        (top / folder).mkdir(parents=True)
    for each in (tmp_path / "outside", top / ".env", top / "shared"):
        each.write_text("KEY=[x")
    assert decide(command, workspace=str(top), home=HOME) == "allow"
    (top / file).symlink_to(target if target.startswith("/") else top / target)
    assert decide(command, workspace=str(top), home=HOME) == expected


def test_a_folder_on_the_way_to_an_ignore_file_may_be_the_link(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "info").mkdir()
    (tmp_path / "info/exclude").write_text("KEY=[x")
    (tmp_path / "work/.git").mkdir()
    (tmp_path / "work/.git/info").symlink_to(tmp_path / "info")
    assert decide("rg word", workspace=str(tmp_path / "work"), home=HOME) == "ask"


def test_a_linked_ignore_file_of_a_folder_brings_back_what_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "shared").write_text("!.env\n")
    (tmp_path / "src/.env").write_text("KEY")
    assert decide("rg word", workspace=str(tmp_path), home=HOME) == "allow"
    (tmp_path / "src/.ignore").symlink_to(tmp_path / "shared")
    assert decide("rg word", workspace=str(tmp_path), home=HOME) == "ask"


def test_a_persons_ignore_file_above_the_workspace_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "home/work/src").mkdir(parents=True)
    (tmp_path / "home/dotfiles").write_text("x")
    (tmp_path / "home/.ignore").symlink_to(tmp_path / "home/dotfiles")
    places = {"workspace": str(tmp_path / "home/work"), "home": str(tmp_path / "home")}
    assert decide("rg word src", **places) == "allow"


def test_many_secrets_that_rules_cover_hide_no_other(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    for number in range(40):
        (tmp_path / f"keys/{number}.pem").write_text("x")
    allow = ["Read(keys/*.pem)"]
    assert decide("rg word", workspace=str(tmp_path), home=HOME, allow=allow) == "allow"
    (tmp_path / "a").mkdir()
    (tmp_path / "a/id_rsa").write_text("x")
    (tmp_path / "z").mkdir()
    (tmp_path / "z/id_rsa").write_text("x")
    assert decide("rg word", workspace=str(tmp_path), home=HOME, allow=allow) == "ask"


@pytest.mark.parametrize(("value", "expected"), [(".ripgreprc", "ask"), ("{ws}/rc", "ask"), ("/etc/rgrc", "allow")])
def test_settings_of_rg_in_the_workspace_may_name_a_program(
    value: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", value.replace("{ws}", str(tmp_path)))
    assert decide("rg word", workspace=str(tmp_path), home=HOME) == expected


@pytest.mark.parametrize(
    ("named", "files", "command"),
    [
        ("gitdir: ./g\n", {"g/commondir": "../c\nx\n"}, "rg KEY"),
        ("gitdir: ./g\n", {"g/commondir": "c\n"}, "rg KEY"),
        ("gitdir: ./g\n", {"g/commondir": "../c \n"}, "rg KEY"),
        (f"gitdir: {'./' * 3_000}g\n", {"g/commondir": "../c\n"}, "rg KEY"),
        ("gitdir: ./g\n", {"g/commondir": ""}, "rg KEY"),
        ("gitdir: {top}/g\n", {"g/commondir": "../c\n"}, "rg KEY"),
        ("gitdir: {top}/g/h/i\n", {"g/h/i/commondir": "../..\n", "g/info/exclude": ""}, "rg KEY"),
    ],
)
@pytest.mark.parametrize("secret", [True, False])
def test_a_git_file_that_git_did_not_write_may_name_any_ignore_file(
    named: str, files: dict[str, str], command: str, *, secret: bool, tmp_path: Path
) -> None:
    top = tmp_path / "ws"
    for file, text in {**files, "a.txt": "x", **({".env": "x"} if secret else {})}.items():
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        (top / file).write_text(text)
    (top / ".git").write_text(named.format(top=top))
    written = "{top}" in named and files.get("g/h/i/commondir") is not None
    assert decide(command, workspace=str(top)) == ("allow" if written else "ask")


def test_a_relative_git_file_is_taken_from_where_rg_runs(tmp_path: Path) -> None:
    for folder in ("n/g", "g"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "n/.git").write_text("gitdir: g\n")
    (tmp_path / "n/.env").write_text("x")
    for command in ("rg KEY", "rg KEY n", "cd n && rg KEY"):
        assert decide(command, workspace=str(tmp_path)) == "allow"
    (tmp_path / "g/commondir").write_text("../c")
    for command in ("rg KEY", "rg KEY n"):
        assert decide(command, workspace=str(tmp_path)) == "ask"


@pytest.mark.parametrize(
    "options", ["", "--no-ignore-global", "--no-ignore-parent", "--no-ignore-exclude", "--no-ignore-messages --debug"]
)
def test_no_option_hides_that_an_ignore_file_is_a_link(options: str, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "secret").write_text("x")
    (tmp_path / "ws/.ignore").symlink_to("../secret")
    assert decide(f"rg {options} hi", workspace=str(tmp_path / "ws")) == "ask"


def test_a_search_leaves_out_other_files_once_repositories_and_ignore_files_changed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.pem\n")
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/z.pem").write_text("one\n")
    (tmp_path / "plain").mkdir()
    rules = ["Bash(git:*)", "Bash(mkdir:*)", "Bash(rm:*)", "Bash(tar:*)"]
    for command in (
        "git init -q conf; rg one", "cd conf; git init -q; rg one", "mkdir conf/.jj; rg one",
        "git checkout -q b2; rg one",
        "git reset --hard x; rg one", "git switch -f b2 && rg one", "rm .gitignor?; rg one",
        "tar xf t.tar; rg one conf", "git pull && rg one",
    ):  # fmt: skip
        assert decide(command, rules, workspace=str(tmp_path), home="/nowhere/home") == "ask", command
    (tmp_path / "ig").mkdir()
    (tmp_path / "ig/.ignore").write_text("!*.pem\n")
    for command in (
        "cp -r ig/. conf; rg one conf", "cp -rT ig conf; rg one", "git rm -q '.gitign*'; rg one",
        "mv ig/.ignore .; rg one",
    ):  # fmt: skip
        given = [*rules, "Bash(cp:*)", "Bash(mv:*)"]
        assert decide(command, given, workspace=str(tmp_path), home="/nowhere/home") == "ask", command
    for command in ("rg one", "git checkout -q b2; rg one plain", "git checkout -q b2 && ls", "rm -r plain; rg one"):
        assert decide(command, rules, workspace=str(tmp_path), home="/nowhere/home") == "allow", command
    (tmp_path / "conf/.jj").mkdir()
    assert decide("rg one", workspace=str(tmp_path), home="/nowhere/home") == "ask"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rg -0ve lib", "ask"), ("rg -0vA 1 lib", "ask"), ("rg -0vie README.md", "ask"), ("rg -0vm 5 lib", "ask"),
        ("rg -r -e lib", "ask"), ("rg -0 -ve x lib", "allow"), ("rg -ve x lib", "allow"),
        ("rg -0 -v -A 1 x lib", "allow"),
        ("rg -e x lib", "allow"), ("rg -e -tpy -e x certs", "ask"), ("rg -r -tpy x certs", "ask"),
        ("rg x certs -g '#*.py'", "ask"), ("rg -g '#?*.md' -g '!a' x", "ask"), ("rg --iglob '#/x/*.py' x", "ask"),
        ("rg -r '-g*.py' x certs", "ask"), ("rg --replace --type=py x certs", "ask"), ("rg -tpy x certs", "allow"),
        ("grep -rv --label -e lib", "ask"), ("grep -r --label --include='*.py' x .", "ask"),
        ("grep -r -e x -e --include='*.py'", "ask"), ("grep -r --label --exclude-dir=certs x .", "ask"),
        ("grep -rn -e --exclude-dir=certs -e x", "ask"), ("egrep -rh -e '' -e --include=k .", "ask"),
        ("grep -r --group-sep --include='*.py' x", "ask"), ("grep -r --include='*.py' x .", "allow"),
        ("grep -r --exclude-dir=certs x .", "allow"), ("grep -rv -e x lib", "allow"),
    ],
)  # fmt: skip
def test_a_word_that_may_be_a_value_limits_no_search(command: str, expected: str, tmp_path: Path) -> None:
    for name in ("certs/server.pem", "lib/a.py", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    assert decide(command, workspace=str(tmp_path), home=HOME) == expected
