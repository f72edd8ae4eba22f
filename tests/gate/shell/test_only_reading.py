"""What looks like a form that only reads, and is not: no rule is needed for the one, and the other asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide, make_git_folder
from .indexes import entry, index_of

READING = """
git status
git --no-pager log -3
git -P diff --stat
git --literal-pathspecs log -- a
git --no-optional-locks status
git --version
git stash list
git worktree list
grep -n x a.txt
"""
OTHERS = """
git --shallow-file rev-parse -c alias.z='!stub x' z
git --shallow-file rev-parse grep -Ostub hello
git --shallow-file log push origin
git --unheard-of log
git --unheard-of=1 log
git -Cx log
git stash -- list
git stash -p list
git stash -q -- show
git worktree -- list
git shortlog --group 'format:%G?' HEAD
zgrep --group-separator = .env a.txt
xzgrep --group-separator = .env a.txt
bzgrep -A '1 -e .' .env a.txt
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for folder in (".git/objects", ".git/refs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main")
    for name in ("a.txt", ".env"):
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize("command", READING.strip().splitlines())
def test_a_form_that_only_reads_needs_no_rule(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository)) == "allow"


@pytest.mark.parametrize("command", OTHERS.strip().splitlines())
def test_one_that_looks_like_it_asks(command: str, repository: Path) -> None:
    for mode in ("default", "acceptEdits"):
        assert decide(command, workspace=str(repository), mode=mode) == "ask"
    denied = decide(
        command, workspace=str(repository), mode="auto", deny=["Bash(stub:*)", "Bash(git push:*)", "Read(.env)"]
    )
    assert denied != "allow" or not ("push" in command or "stub" in command or ".env" in command)


@pytest.mark.parametrize(
    "parts",
    [
        {"HEAD": "", "commondir": "x/y"},
        {"HEAD": "", "objects": "#!", "refs": "#!"},
        {"HEAD": "", "objects/a": "", "refs": "#!"},
        {"HEAD": "", "objects/a": ""},
    ],
)
def test_a_folder_that_git_may_take_for_a_repository_asks(parts: dict[str, str], repository: Path) -> None:
    for name, text in parts.items():
        path = repository / "evil" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (repository / "evil/x").mkdir()
    assert decide("cd evil && git status", workspace=str(repository)) == "ask"
    assert decide("cd evil/x && git log", workspace=str(repository)) == "ask"
    assert decide("cd evil && git commit -m x", workspace=str(repository), allow=["Bash(git:*)"]) == "ask"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("strings *", "ask"),
        ("strings -- *", "ask"),
        ("strings ?.env", "ask"),
        ("strings {@.env,a.txt}", "ask"),
        ('for name in *; do strings "$name"; done', "ask"),
        ("strings ./*", "allow"),
        ("strings a*", "allow"),
        ("strings <(cat a.txt)", "allow"),
    ],
)
def test_a_name_that_brings_a_list_of_words_is_found_behind_a_pattern(
    command: str, decision: str, repository: Path
) -> None:
    (repository / "words").mkdir()
    (repository / "words/@.env").touch()
    (repository / "words/a.txt").touch()
    assert decide(f"cd words && {command}", workspace=str(repository)) == decision
    (repository / "words/@.env").unlink()
    if "@" not in command and "?" not in command:
        assert decide(f"cd words && {command}", workspace=str(repository)) == "allow"


@pytest.mark.parametrize(
    ("settings", "decision"),
    [
        ("[core]\n\thooksPath = .githooks\n", "ask"),
        ('[core] HOOKSPATH=".githooks/" ; ours\n', "ask"),
        ("[core]\nhooksPath = .git\\x68ooks\n", "ask"),
        ("[core]\n\thooksPath = .husky/_\n", "allow"),
        ("[core]\n\thooksPath = .git/hooks\n", "ask"),  # what the hook runs is not known
        ("[core]\n\thooksPath = /usr/share/hooks\n", "allow"),
        ("[core]\n\tbare = false\n", "allow"),
        ("[core] # mine \\\nhooksPath = .githooks\n", "ask"),
        ("[core]\neditor = vim # mine \\\nhooksPath = .githooks\n", "ask"),
        ("[core]\n\thooksPath = .git\\\nhooks\r\n", "ask"),
        ('[core]\n\thooksPath = .git"hooks" \t ; ours\n', "ask"),
        ("[core]\n\thooksPath = .git\thooks\n", "ask"),
        ("[core]\n\thooksPath = :(optional).githooks\n", "ask"),
        ("[core]\n\tworktree = ../sub\n\thooksPath = hooks\n", "ask"),
        ("[core]\n\thooksPath = .githooks\u00a0\n", "allow"),
        ('[core]\n\teditor = "vim # mine \\\nhooksPath = .githooks"\n', "allow"),
    ],
)
def test_a_hook_of_the_work_tree_that_reading_runs_asks(settings: str, decision: str, repository: Path) -> None:
    (repository / ".git/config").write_text(settings)
    for folder in [".githooks", *([".git/hooks"] if ".git/hooks" in settings else [])]:
        (repository / folder).mkdir()
        (repository / folder / "post-index-change").write_text("#!/bin/sh\n")
        (repository / folder / "post-index-change").chmod(0o755)
    assert decide("git status", workspace=str(repository)) == decision
    assert decide("git diff --stat", workspace=str(repository)) == decision
    for hook in repository.glob("*/**/post-index-change"):
        hook.unlink()
    if all(uncertain not in settings for uncertain in ("\\x", "t\th", ":(", "worktree")):
        assert decide("git status", workspace=str(repository)) == "allow"


@pytest.mark.parametrize(
    ("settings", "decision"),
    [
        ("[include]\n\tpath = ../team.ini\n", "ask"),
        ('[INCLUDE] PATH="../team.ini" # ours\n', "ask"),
        ('[includeIf "gitdir:/x]y/"]\n\tpath = ../not-there-yet\n', "ask"),
        ("[include]\n\tpath = ..\\\\team.ini\n", "ask"),
        ("[include]\n\tpath = ..\\\n/team.ini\n", "ask"),
        ("[include]\n\tpath = outer.ini\n", "ask"),  # which includes one of the workspace
        ("[include]\n\tpath = /usr/share/none.ini\n", "ask"),
        ("[core]\n\tfsmonitor = tools/monitor\n", "ask"),
        ('[core] fsmonitor = "sh monitor.sh"\n', "ask"),
        ("[core]\n\tfsmonitor = true\n", "allow"),
        ("[core]\n\tfsmonitor = .git/hooks/fsmonitor-watchman\n", "ask"),
        ('[diff "x"]\n\ttextconv = ./tools/text\n', "ask"),
        ('[diff "x"]\n\tcommand = python3 --x=tools/text.py\n', "ask"),
        ('[filter "x"]\n\tclean = tools/clean %f\n', "ask"),
        (
            '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n',
            "allow",
        ),
        ('[alias]\n\tx = "!f() { \\\n  echo \\"./x\\"; }; f"\n[user]\n\tname = A \\"B\\"\n', "allow"),
        ("# a comment that ends in \\\n[include]\n\tpath = ../team.ini\n", "ask"),
        ('[filter "nb"]\n\tclean = \\"/usr/bin/python3\\" -m nbstripout\n', "ask"),
        ('[diff "nb"]\n\ttextconv = npx nbconvert\n', "ask"),
        ('[diff "nb"]\n\ttextconv = cat | make -s\n', "ask"),
        ('[diff "pdf"]\n\ttextconv = LC_ALL=C pdfinfo | sort\n\tcachetextconv = true\n', "ask"),
        ('[diff "pdf"]\n\ttextconv = pdfinfo\n', "ask"),
        ('[filter "c"]\n\tclean = "git-lfs clean -- \\"%f\\""\n', "ask"),  # a file may be named `$(program)`
        ("[include]\n\tpath = \\\n  ../team.ini\n", "ask"),  # git leaves the blanks out
        ("[core]\n\thooksPath = \\\n\t/nowhere/hooks\n", "allow"),
        ("[blame]\n\tignoreRevsFile = \\\n /etc/hostname\n", "ask"),
        ('[filter "c"]\n\tclean = \\"git-crypt\\" clean\n\tsmudge = \\"git-crypt\\" smudge\n', "allow"),
        ("[diff]\n\texternal = echo >> mark; true\n", "ask"),
        ("[diff]\n\texternal = difft\n", "ask"),  # a name in a commit may be `--dump-syntax=.env`
        ('[diff "x"]\n\ttextconv = sed\n', "ask"),  # a file may be named `e program`
        ("[gpg]\n\tprogram = /opt/other/gpg\n", "ask"),
        ("[log]\n\tshowSignature = true\n", "ask"),
        ('[diff "x"]\n\ttextconv = "$(git rev-parse --show-toplevel)"/tools/text\n', "ask"),
        ('[diff "x"]\n\ttextconv = `pwd`/tools/text\n', "ask"),
        ('[diff "x"]\n\ttextconv = ${PWD}/tools/text\n', "ask"),
        ("[core]\n\tpager = less -R\n[pager]\n\tbranch = false\n", "allow"),
        ("[diff]\n\texternal = less\n", "ask"),  # a file may be named `--lesskey-src=x`
        ('[diff "x"]\n\ttextconv = less -R\n', "ask"),
        ('[diff "x"]\n\ttextconv = gpg\n', "ask"),  # `gpg .envrc.gpg` writes `.envrc`
        ("[gpg]\n\tprogram = gpg2\n", "allow"),
        ('[gpg "ssh"]\n\tprogram = ssh-keygen\n', "allow"),
        ("[format]\n\tpretty = %h %s\n", "allow"),
        ("[format]\n\tpretty = %G?\n", "ask"),
        ("[pretty]\n\tmedium = %h %GK\n", "ask"),
        ("[branch]\n\tsort = -signature\n", "ask"),
        ("[branch]\n\tsort = -committerdate\n", "allow"),
        ("[core]\n\tattributesFile = ~/.netrc\n", "ask"),  # git prints what is no attribute
        ("[mailmap]\n\tfile = .env\n", "ask"),
        ("[pager]\n\tlog = tools/pager\n", "ask"),
        ("[core]\n\talternateRefsCommand = tools/refs\n", "ask"),
        ('[merge "npm"]\n\tdriver = npx npm-merge-driver merge %A\n', "allow"),
        ("[log]\n\tdiffMerges = remerge\n", "ask"),
        ("[log]\n\tdiffMerges = first-parent\n", "allow"),
        ('[credential]\n\thelper = "!f() { echo $TOKEN; }; f"\n', "allow"),
        ('[remote "origin"]\n\tpromisor = true\n\tuploadpack = sh tools/up\n', "ask"),
        ("[core\n\tbare = false\n", "ask"),
        ("[core]\n\tbare = false\n\u0000", "ask"),
        ('[core]\n\tbare\n[branch "a]b"] remote = origin\n', "allow"),
    ],
)
def test_settings_that_lead_into_the_work_tree_ask(settings: str, decision: str, repository: Path) -> None:
    (repository / ".git/config").write_text(settings)
    (repository / ".git/outer.ini").write_text("[include]\n\tpath = ../team.ini\n")
    (repository / "monitor.sh").touch()
    for command in ("git status", "git diff --stat", "git log -1"):
        assert decide(command, workspace=str(repository)) == decision


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git status", "allow"),
        ("git log --oneline -5", "allow"),
        ("git diff", "allow"),
        ("git log -p", "ask"),
        ("git log -- a.txt", "ask"),
        ("git show HEAD~2:a.txt", "ask"),
        ("git blame a.txt", "ask"),
        ("git diff HEAD~3", "ask"),
    ],
)
def test_a_partial_clone_asks_where_git_may_fetch(command: str, decision: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository)) == "allow"
    (repository / ".git/config").write_text('[remote "origin"]\n\turl = https://h/x\n\tpromisor = true\n')
    assert decide(command, workspace=str(repository)) == decision


REMAKING = """
git show --remerge-diff
git log -p --remerge-diff
git log -p --diff-merges=remerge
git show --diff-merges=r
git show --diff-merges r
git log --alternate-refs
git rev-list --alternate-refs --all
"""


@pytest.mark.parametrize("command", REMAKING.strip().splitlines())
def test_options_that_run_programs_of_the_settings_ask(command: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository)) == "ask"
    assert decide("git log -p --first-parent", workspace=str(repository)) == "allow"


def test_settings_that_stand_in_another_folder_ask(repository: Path) -> None:
    assert decide("git status", workspace=str(repository)) == "allow"
    (repository / ".git/commondir").write_text("../elsewhere")
    assert decide("git status", workspace=str(repository)) == "ask"


@pytest.mark.parametrize("separate", [True, False])
@pytest.mark.parametrize("nested", [True, False])
def test_settings_of_submodules_count(separate: bool, nested: bool, repository: Path) -> None:
    def make(folder: Path, git_dir: Path, names: list[str]) -> None:
        git_dir.mkdir(parents=True, exist_ok=True)
        (git_dir / "index").write_bytes(index_of(*[entry(name, 0o160000) for name in names]))
        make_git_folder(git_dir)
        (git_dir / "config").write_text(head.format(folder))
        if git_dir != folder / ".git":
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".git").write_text(f"gitdir: {git_dir}\n")

    head = "[core]\n\tbare = false\n" + ("\tworktree = {}\n" if separate else "")
    outer, inner = repository / "lib/sub", repository / "lib/sub/deep"
    outer_git = repository / ".git/modules/sub" if separate else outer / ".git"
    inner_git = outer_git / "modules/deep" if separate else inner / ".git"
    make(repository, repository / ".git", ["lib/gone", "lib/sub"])
    make(outer, outer_git, ["deep"])
    make(inner, inner_git, [])
    assert decide("git status", workspace=str(repository)) == "allow"
    folder, git_dir = (inner, inner_git) if nested else (outer, outer_git)
    (git_dir / "config").write_text(head.format(folder) + "\thooksPath = .husky/_\n")
    assert decide("git diff", workspace=str(repository)) == "allow"
    (folder / ".husky/_").mkdir(parents=True)
    (folder / ".husky/_/post-index-change").write_text("#!/bin/sh\n")
    (folder / ".husky/_/post-index-change").chmod(0o755)
    assert decide("git diff", workspace=str(repository)) == "ask"
    (git_dir / "config").write_text(head.format(folder) + "\tfsmonitor = sh tools/fs.sh\n")
    assert decide("git status", workspace=str(repository)) == "ask"
    (folder / ".git").unlink() if separate else (folder / ".git/config").unlink()
    assert decide("git status", workspace=str(repository)) == "allow"


@pytest.mark.parametrize(
    ("settings", "decision"),
    [
        ('[diff "pdf"]\n\ttextconv = LC_ALL=C pdfinfo | sort\n', "allow"),
        ("[core]\n\tfsmonitor = /usr/share/git/query-watchman\n\tpager = delta --dark\n", "allow"),
        ('[gpg "ssh"]\n\tprogram = /opt/1Password/op-ssh-sign\n[log]\n\tshowSignature = true\n', "allow"),
        ('[diff "nb"]\n\ttextconv = python3 -m nbstripout -t\n', "ask"),
        ('[diff "x"]\n\ttextconv = of-my-own\n', "ask"),
        ('[diff "x"]\n\ttextconv = cat > out\n', "ask"),
        ("[diff]\n\texternal = difft --color always\n", "ask"),
        ('[diff "cert"]\n\ttextconv = openssl x509 -noout -text -in\n', "ask"),  # `org.openssl.engine:x.so:y`
        ("[filter \"x\"]\n\tclean = tac '%f'\n", "ask"),  # git puts quotes of its own around the name
        ('[filter "x"]\n\tclean = tac \\"%f\\"\n', "ask"),
        ('[filter "x"]\n\tclean = tac %f | cat\n', "allow"),
        ('[filter "x"]\n\tclean = tac x%f\n', "ask"),
        ('[diff "zip"]\n\ttextconv = unzip -c -a\n', "ask"),  # it tries `x.zip`, which may be a link
        ("[pager]\n\tlog = tools/pager\n", "ask"),
    ],
)
def test_settings_of_the_person_may_name_more_programs(
    settings: str, decision: str, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(settings)
    for command in ("git status", "git diff --stat", "git log -1"):
        assert decide(command, workspace=str(repository), home=str(home)) == decision


def test_names_of_files_are_no_options_of_what_shows_differences(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text('[diff "x"]\n\ttextconv = sed p\n')
    assert decide("git diff", workspace=str(repository), home=str(home)) == "allow"
    (repository / "-e1e program").touch()
    assert decide("git diff", workspace=str(repository), home=str(home)) == "ask"


@pytest.mark.parametrize(
    ("link", "target", "decision"),
    [
        ("objects/info/alternates", ".env", "ask"),
        ("objects/info", "elsewhere", "ask"),
        ("shallow", "../.env", "ask"),
        ("packed-refs", "/etc/hosts", "ask"),
        ("info/grafts", "../../a.txt", "ask"),
        ("rebase-merge/done", "../../.env", "ask"),
        ("BISECT_START", "../.env", "ask"),
        ("worktrees/x/locked", "../../../.env", "ask"),
        ("worktrees/x/gitdir", "/etc/hosts", "ask"),
        ("worktrees/x", "/srv/y", "ask"),
        ("branches/token", "/srv/token", "ask"),
        ("remotes/token", "/srv/token", "ask"),
        ("config", "../.env", "ask"),
        ("HEAD", "refs/heads/main", "allow"),
        ("hooks", "../hooks", "allow"),
        ("packed-refs", "/srv/repo/x.git/packed-refs", "ask"),
        ("info", "/srv/repo/x.git/info", "ask"),
    ],
)
def test_a_link_in_the_repository_may_lead_git_to_what_others_hold(
    link: str, target: str, decision: str, repository: Path
) -> None:
    path = repository / ".git" / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    for command in ("git status", "git log -1"):
        assert decide(command, workspace=str(repository)) == decision


@pytest.mark.parametrize(
    ("value", "target", "decision"),
    [
        (".git-blame-ignore-revs", None, "allow"),
        (".git-blame-ignore-revs", ".env", "ask"),
        (".git-blame-ignore-revs", "/etc/hosts", "ask"),
        (".env", None, "ask"),
        ("/etc/hosts", None, "ask"),
        ("", None, "allow"),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_a_list_of_revisions_that_git_prints_parts_of_is_no_secret(
    value: str, target: str | None, decision: str, own: bool, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    settings = repository / ".git/config" if own else home / ".gitconfig"
    settings.write_text(f"[blame]\n\tignoreRevsFile = {value}\n")
    if target is not None:
        (repository / value).symlink_to(target)
    if value.startswith("/") and not own:
        decision = "allow"
    assert decide("git blame a.txt", workspace=str(repository), home=str(home)) == decision
