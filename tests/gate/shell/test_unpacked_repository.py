"""Repositories that came as they are, in an archive: what their own files make git run or print while it only reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .asked import decide
from .indexes import entry, index_of


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "work"
    for folder in (".git/objects/info", ".git/refs"):
        (top / folder).mkdir(parents=True)
    (top / ".git/HEAD").write_text("ref: refs/heads/main")
    for name in ("a.txt", ".env"):
        (top / name).write_text("x")
    return top


def settings(repository: Path, text: str, command: str = "git diff") -> str:
    (repository / ".git/config").write_text(text)
    return decide(command, workspace=str(repository))


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git log -p --submodule=diff", "ask"),
        ("git diff --submodule=diff", "ask"),
        ("git diff --submod=diff HEAD~1 HEAD", "ask"),
        ("git show --submodule=diff HEAD~1", "ask"),
        ("git diff-tree -p --submodule=diff HEAD~1 HEAD", "ask"),
        ("git diff --submodule", "ask"),
        ("git diff --submodule=log", "ask"),
    ],
)
def test_differences_of_submodules_are_made_by_git_in_a_folder_that_only_a_commit_may_name(
    command: str, decision: str, repository: Path
) -> None:
    assert decide(command, workspace=str(repository)) == decision


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("[diff]\n\tsubmodule = diff\n", "ask"),
        ("[diff]\n\tsubmodule = log\n", "ask"),
        ("[diff]\n\tsubmodule\n", "ask"),
        ("[diff]\n\tsubmodule = short\n", "allow"),
        ("[diff]\n\texternal = cat\n", "ask"),
        ('[diff "x"]\n\tcommand = cat\n', "ask"),
        ("[status]\n\tsubmoduleSummary = true\n", "ask"),
        ("[status]\n\tsubmoduleSummary\n", "ask"),
        ("[status]\n\tsubmoduleSummary = 5\n", "ask"),
        ("[status]\n\tsubmoduleSummary = false\n", "allow"),
        ("[status]\n\tsubmoduleSummary = 0\n", "allow"),
        ("[alias]\n\twhatchanged = !touch x\n", "ask"),
        ('[alias "whatchanged"]\n\tcommand = !touch x\n', "ask"),
        ("[alias]\n\tlg = log --graph\n\tst = !git status\n", "allow"),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_settings_by_which_reading_works_in_other_folders_or_is_another_command(
    text: str, decision: str, own: bool, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (repository / ".git/config" if own else tmp_path / "home/.gitconfig").write_text(text)
    for command in ("git status", "git log -p"):
        assert decide(command, workspace=str(repository), home=str(tmp_path / "home")) == decision


PROMISED = '[remote "origin"]\n\turl = https://h/x\n\tpromisor = true\n'


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        (PROMISED, "allow"),
        (PROMISED + '[url "https://mirror/"]\n\tpushInsteadOf = https://h/\n', "allow"),
        (PROMISED + '[url "ext::touch x #"]\n\tinsteadOf = https://h/\n', "ask"),
        (PROMISED + '[url "https://mirror/"]\n\tinsteadOf = https://h/\n', "ask"),
        (PROMISED + "[url.ext]\n\tinsteadOf = https://h/\n", "ask"),
        ('[remote "ext::touch x"]\n\tpromisor = true\n', "ask"),
        ('[remote "ext::touch x"]\n\tpromisor = true\n\turl = https://h/x\n', "ask"),
        ('[remote "origin"]\n\tpromisor = true\n', "ask"),
        ('[remote "origin"]\n\tpromisor = true\n\turl = stub://h/x\n', "ask"),
        ('[remote "origin"]\n\tpromisor = true\n\turl = git@h:x/y.git\n', "allow"),
        ("[extensions]\n\tpartialClone = ext::touch x\n", "ask"),
        (PROMISED + "[extensions]\n\tpartialClone = ext::touch x\n", "ask"),
        (PROMISED + "[extensions]\n\tpartialClone = origin\n", "allow"),
        ("[remote.origin]\n\tpromisor = true\n\turl = /tmp/x\n", "ask"),
        ("[remote.origin]\n\tpromisor = true\n\turl = https://h/x\n", "allow"),
    ],
)
def test_where_a_partial_clone_fetches_from_is_known(text: str, decision: str, repository: Path) -> None:
    assert settings(repository, text) == decision
    assert decide("git status", workspace=str(repository)) == decision


FILTERED = '[remote "origin"]\n\turl = ssh://x/y\n\tpartialclonefilter = blob:none\n'


def test_a_filter_alone_makes_a_remote_one_to_fetch_from(repository: Path) -> None:
    assert settings(repository, FILTERED) == "allow"
    for text in ("[core]\n\tsshCommand = ./evil.sh\n", '[remote "origin"]\n\tvcs = evil\n'):
        assert settings(repository, text) == "allow"
        assert settings(repository, FILTERED + text) == "ask"
    assert settings(repository, FILTERED.replace("ssh://x/y", "ext::sh -c x")) == "ask"
    assert settings(repository, FILTERED.replace("\turl = ssh://x/y\n", "")) == "ask"


LFS = '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n'


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("[lfs]\n\trepositoryformatversion = 0\n", "allow"),
        ('[lfs "https://h/x.git/info/lfs"]\n\taccess = basic\n\tlocksverify = true\n', "allow"),
        ("[lfs]\n\tstorage = /srv/outside\n", "ask"),
        ("[lfs]\n\turl = https://h/y\n", "ask"),
        ("[lfs]\n\tstandalonetransferagent = evil\n", "ask"),
        ('[lfs "customtransfer.evil"]\n\tpath = ./evil.sh\n', "ask"),
        ("[lfs.customtransfer.evil]\n\tpath = ./evil.sh\n", "ask"),
        ('[diff "x"]\n\ttextconv = cat\n', "ask"),
        ("[delta]\n\tpager = ./evil.sh\n", "ask"),
        ("[zzz]\n\tx = y\n", "ask"),
        ('[branch "main"]\n\tvscode-merge-base = origin/main\n', "allow"),
        ('[gitflow "branch"]\n\tmaster = main\n', "allow"),
    ],
)
def test_settings_of_other_programs_that_git_starts(text: str, decision: str, repository: Path) -> None:
    assert settings(repository, LFS) == "allow"
    assert settings(repository, LFS + text) == decision
    assert settings(repository, LFS + text, "git log -1") == decision


def test_a_persons_filter_beside_a_program_that_makes_texts_may_fetch(repository: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(LFS)
    assert decide("git diff HEAD~1 HEAD", workspace=str(repository), home=str(home)) == "allow"
    (home / ".gitconfig").write_text(LFS + '[diff "pdf"]\n\ttextconv = pdfinfo\n')
    assert decide("git diff HEAD~1 HEAD", workspace=str(repository), home=str(home)) == "ask"


def test_an_include_that_leads_out_of_the_repository_shows_what_stands_there(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("[user]\n\tname = x\n")
    for path in (str(tmp_path / "other"), "../../other", "~/.gitconfig-work"):
        assert settings(repository, f"[include]\n\tpath = {path}\n", "git remote -v") == "ask"
    assert settings(repository, "[include]\n\tpath = more\n", "git remote -v") == "allow"
    (repository / ".git/own").mkdir()
    (repository / ".git/own/more").symlink_to(tmp_path / "other")
    assert settings(repository, "[include]\n\tpath = own/more\n", "git remote -v") == "ask"


@pytest.mark.parametrize("folder", ["remotes", "branches"])
def test_remotes_in_files_of_their_own_may_name_any_address(folder: str, repository: Path) -> None:
    (repository / ".git" / folder).mkdir()
    assert settings(repository, PROMISED) == "allow"
    (repository / ".git" / folder / "other").write_text("URL: ext::touch x\n")
    assert settings(repository, PROMISED) == "ask"
    assert settings(repository, "") == "allow"


def test_the_persons_own_other_names_for_addresses_count_where_one_runs_a_program(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (repository / ".git/config").write_text(PROMISED)
    for address, decision in (("git@h:", "allow"), ("ext::sh -c x", "ask")):
        (tmp_path / "home/.gitconfig").write_text(f'[url "{address}"]\n\tinsteadOf = https://h/\n')
        assert decide("git diff", workspace=str(repository), home=str(tmp_path / "home")) == decision


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("objects/info/commit-graphs/commit-graph-chain", "../../../../.env"),
        ("objects/info/commit-graphs/commit-graph-chain", "/srv/token"),
        ("objects/info/commit-graphs", "../../../graphs"),
        ("objects/pack/multi-pack-index.d/multi-pack-index-chain", "../../../../.env"),
        ("reftable/tables.list", "../../.env"),
        ("logs", "../../other/.git/logs"),
        ("logs/refs/heads/main", "../../../../../other/.git/logs/refs/heads/main"),
        ("refs/remotes/origin", "/srv/.git/refs/remotes/origin"),
        ("packed-refs", "/srv/.git/packed-refs"),
        ("info/sparse-checkout", "../../.env"),
        ("shallow", "shallow.true"),
        ("worktrees/x/gitdir", "../../HEAD"),
        ("modules/x", "/srv/other/.git"),
        ("HEAD", "refs/heads/../../../.env"),
        ("hooks", "/proc/self/cwd/hooks"),
    ],
)
def test_a_repository_with_a_link_that_git_does_not_make_is_not_read_without_a_rule(
    link: str, target: str, repository: Path
) -> None:
    assert decide("git log -1", workspace=str(repository)) == "allow"
    path = repository / ".git" / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    for command in ("git log -1", "git status"):
        assert decide(command, workspace=str(repository)) == "ask"


@pytest.mark.parametrize("text", ["../../../D\n", "/srv/x/.git\n", "../.."])
def test_a_worktree_that_shares_another_folder_makes_git_print_what_lies_there(text: str, repository: Path) -> None:
    folder = repository / ".git/worktrees/x"
    folder.mkdir(parents=True)
    (folder / "commondir").write_text("../..\n")
    assert decide("git branch -a", workspace=str(repository)) == "allow"
    (folder / "commondir").write_text(text)
    for command in ("git branch -a", "git worktree list", "git log --all --oneline"):
        assert decide(command, workspace=str(repository)) == "ask"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list any folder")
@pytest.mark.parametrize("folder", ["info", "logs/refs", "objects/pack", ""])
def test_a_folder_that_cannot_be_listed_may_hold_a_link(folder: str, repository: Path) -> None:
    path = repository / ".git" / folder
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o311)
    try:
        assert decide("git status", workspace=str(repository)) == "ask"
    finally:
        path.chmod(0o755)


@pytest.mark.parametrize(
    ("alternates", "decision"),
    [
        ("", "allow"),
        ("# none\n", "allow"),
        ("../../lib/.git/objects\n", "allow"),
        ("../../../other/.git/objects\n", "ask"),
        ("/srv/other/.git/objects\n", "ask"),
        ('"/srv/other"\n', "ask"),
        ("../../lib/.git/objects\n/srv/other/.git/objects\n", "ask"),
        ("../../chained/.git/objects\n", "ask"),
        ("../../linked/objects\n", "ask"),
    ],
)
def test_objects_of_repositories_outside_the_workspace_are_no_part_of_it(
    alternates: str, decision: str, repository: Path
) -> None:
    for name in ("lib", "chained"):
        (repository / name / ".git/objects/info").mkdir(parents=True)
    (repository / "chained/.git/objects/info/alternates").write_text("/srv/other/.git/objects\n")
    (repository / "linked/objects").mkdir(parents=True)
    (repository / "linked/objects/info").symlink_to("/srv/info")
    (repository / ".git/objects/info/alternates").write_text(alternates)
    for command in ("git log -p", "git show HEAD:a.txt"):
        assert decide(command, workspace=str(repository)) == decision


@pytest.mark.parametrize("link", ["objects", "objects/ab", "objects/pack", "objects/pack/x.pack"])
def test_objects_behind_a_link_that_leads_outside(link: str, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    path = repository / ".git" / link
    if link == "objects":
        path.rename(tmp_path / "moved")
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path / "other" / path.name)
    assert decide("git show abcd1234", workspace=str(repository)) == "ask"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git config core.editor '--default=;touch x'", "ask"),
        ("git config core.hooksPath --type=x", "ask"),
        ("git config remote.origin.url --comment=ext::x", "ask"),
        ("git config user.name -z", "ask"),
        ("git config user.name --", "ask"),
        ("git config --type=path core.editor", "allow"),
        ("git config --get user.name", "allow"),
        ("git tag --format --merged topic", "ask"),
        ("git tag --forma --merged topic", "ask"),
        ("git tag --sort --contains topic", "ask"),
        ("git branch --sort --list topic", "ask"),
        ("git branch --form --list topic", "ask"),
        ("git branch --points-at --list topic", "ask"),
        ("git branch --sort=-committerdate --list 'a*'", "allow"),
        ("git tag --list 'v*' --sort=-version:refname", "allow"),
    ],
)
def test_what_follows_a_name_or_an_option_is_its_value(command: str, decision: str, repository: Path) -> None:
    assert decide(command, workspace=str(repository)) == decision
    assert decide(command, workspace=str(repository), mode="plan") == ("allow" if decision == "allow" else "deny")


def test_git_stash_show_prints_differences_where_a_setting_says_so(repository: Path) -> None:
    rows = (("git stash show", "ask"), ("git stash show --stat", "allow"), ("git stash list", "allow"))
    for command, decision in rows:
        rules = {"allow": ["Bash(git:*)"], "deny": ["Read(held/**)"]}
        assert decide(command, workspace=str(repository), **rules) == decision
    (repository / ".git/index").write_bytes(index_of(entry(".env", 0o100644)))
    assert settings(repository, "[stash]\n\tshowPatch = false\n", "git stash show") == "allow"
    assert settings(repository, "[stash]\n\tshowPatch\n", "git stash show") == "ask"
    assert settings(repository, "[stash]\n\tshowPatch = true\n", "git stash list") == "allow"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git stash show --stat", "allow"),
        ("git stash show --abbrev --name-only stash", "allow"),
        ("git stash show --abbrev stash", "ask"),
        ("git stash show --exit-code", "ask"),
        ("git stash show -B --inter-hunk-context=9", "ask"),
        ("git stash list --abbrev", "allow"),
        ("git status -v", "ask"),
        ("git status -v -- docs", "ask"),
        ("git status -vv docs", "ask"),
        ("git status docs", "allow"),
        ("git diff HEAD -- docs", "allow"),
        ("git diff HEAD --quiet", "allow"),
        ("git diff -q HEAD", "ask"),
        ("git show -q HEAD", "allow"),
        ("git show HEAD:docs/a", "allow"),
        ("git show --no-textconv HEAD:docs/a", "allow"),
        ("git show --all HEAD:docs/a", "ask"),
        ("git show --branches=x :docs/a", "ask"),
        ("git show --merge :docs/a", "ask"),
        ("git show --reflog :docs/a", "ask"),
    ],
)
def test_what_prints_more_than_it_names_may_print_a_secret(repository: Path, command: str, decision: str) -> None:
    (repository / "docs").mkdir()
    (repository / "docs/a").write_text("x")
    (repository / ".git/index").write_bytes(index_of(entry(".env", 0o100644)))
    assert decide(command, workspace=str(repository)) == decision
    # Rules about reading count likewise: paths limit `git diff`, but not these.
    rules = {"allow": ["Bash(git:*)"], "deny": ["Read(held/**)"]}
    assert decide(command, workspace=str(repository), **rules) == decision


@pytest.mark.parametrize(
    ("lines", "command", "decision"),
    [
        ("", "git stash show -p", "allow"),
        ("", "git stash show -p -u", "ask"),
        ("", "git stash show -pu stash@{1}", "ask"),
        ("", "git stash show -p --include-unt", "ask"),
        ("", "git stash show --only-untracked --patch", "ask"),
        ("showIncludeUntracked", "git stash show -p", "ask"),
        ("showIncludeUntracked = false", "git stash show -p", "allow"),
        ("showIncludeUntracked = true", "git stash show", "allow"),
        ("showIncludeUntracked = true\n\tshowPatch = true", "git stash show", "ask"),
    ],
)
def test_a_stash_may_hold_secrets_that_git_did_not_track(
    repository: Path, lines: str, command: str, decision: str
) -> None:
    assert settings(repository, f"[stash]\n\t{lines}\n" if lines else "", command) == decision


@pytest.mark.parametrize(
    ("hook", "decision"),
    [("pre-auto-gc", "ask"), ("reference-transaction", "ask"), ("post-index-change", "ask"), ("pre-commit", "allow")],
)
@pytest.mark.parametrize("folder", [".git/hooks", "team"])
def test_fetching_what_is_missing_runs_hooks_of_its_own(
    hook: str, decision: str, folder: str, repository: Path
) -> None:
    (repository / folder).mkdir()
    (repository / folder / hook).write_text("#!/bin/sh\n")
    (repository / folder / hook).chmod(0o755)
    path = "[core]\n\thooksPath = team\n" if folder == "team" else ""
    assert settings(repository, path + PROMISED) == decision
    assert settings(repository, path) == ("ask" if hook == "post-index-change" else "allow")


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("[http]\n\tsaveCookies = true\n\tcookieFile = ../x\n", "ask"),
        ('[http "https://h/"]\n\tcookieFile = ../x\n', "ask"),
        ("[http]\n\tsslKey = ../x\n", "ask"),
        ("[gc]\n\trecentObjectsHook = ./x\n", "ask"),
        ("[gc]\n\trepackFilterTo = ../x\n", "ask"),
        ("[fetch]\n\tbundleURI = /srv/x\n", "ask"),
        ("[promisor]\n\tacceptFromServer = all\n", "ask"),
        ("[promisor]\n\tacceptFromServerUrl = https://*\n", "ask"),
        ("[http]\n\tpostBuffer = 1\n[gc]\n\tauto = 0\n", "allow"),
    ],
)
def test_fetching_what_is_missing_reads_and_writes_what_settings_name(
    text: str, decision: str, repository: Path
) -> None:
    assert settings(repository, PROMISED + text) == decision
    assert settings(repository, text) == "allow"


@pytest.mark.parametrize("own", [True, False])
def test_git_keeps_what_a_program_made_of_a_file_in_a_ref_that_may_stand_for_a_branch(
    own: bool, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    file = repository / ".git/config" if own else tmp_path / "home/.gitconfig"
    text = '[diff "x"]\n\ttextconv = git-crypt diff\n' if own else '[diff "x"]\n\ttextconv = pdfinfo\n'
    for more, decision in (("true", "ask"), ("", "ask"), ("false", "allow")):
        file.write_text(f"{text}\tcacheTextConv = {more}\n" if more else f"{text}\tcacheTextConv\n")
        assert decide("git log -p", workspace=str(repository), home=str(tmp_path / "home")) == decision


def test_what_fsmonitor_says_is_believed_so_no_program_does_no_harm_there(repository: Path) -> None:
    for value, decision in (("cat", "ask"), ("true", "allow"), ("git-lfs filter-process", "ask"), ("", "allow")):
        assert settings(repository, f"[core]\n\tfsmonitor = {value}\n") == decision


def test_an_encrypting_filter_beside_what_shows_its_files_fetches_nothing(repository: Path) -> None:
    text = '[filter "git-crypt"]\n\tsmudge = \\"git-crypt\\" smudge\n\tclean = \\"git-crypt\\" clean\n'
    assert settings(repository, text + '[diff "git-crypt"]\n\ttextconv = \\"git-crypt\\" diff\n') == "allow"


@pytest.mark.parametrize("sign", ["", "+", "-", " "])
@pytest.mark.parametrize(
    "command",
    [
        "git log --format='%{}G?'",
        "git log --pretty='format:%h %{}GG'",
        "git show --format='%H%{}GS'",
        "git shortlog --group='format:%{}G?' HEAD",
        "git stash list --format='%{}G?'",
        "git reflog --format '%{}G?'",
    ],
)
def test_a_format_that_verifies_signatures_whatever_sign_stands_in_front(
    command: str, sign: str, repository: Path
) -> None:
    assert decide(command.format(sign), workspace=str(repository)) == "ask"
    assert decide(command.format(sign).replace("G", "a"), workspace=str(repository)) == "allow"


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("[format]\n\tpretty = %h %+GG\n", "ask"),
        ('[pretty]\n\tmine = "format:% G?"\n', "ask"),
        ("[pretty]\n\tmine = format:%+an\n", "allow"),
        ("[core]\n\texcludesFile = /etc/hosts\n", "ask"),
        ("[core]\n\texcludesFile = ~/.netrc\n", "ask"),
        ("[core]\n\texcludesFile = .env\n", "ask"),
        ("[core]\n\texcludesFile = ignored\n", "allow"),
        ("[core]\n\texcludesFile =\n", "allow"),
        ("[diff]\n\torderFile = /etc/hosts\n", "ask"),
        ("[diff]\n\torderFile = .env\n", "ask"),
        ("[diff]\n\torderFile = order\n", "allow"),
        ("[extensions]\n\trefStorage = files:///srv/x\n", "ask"),
        ("[extensions]\n\trefStorage = reftable\n", "allow"),
    ],
)
def test_settings_that_read_more_than_the_repository(text: str, decision: str, repository: Path) -> None:
    for command in ("git log", "git status", "git check-ignore a.txt"):
        assert settings(repository, text, command) == decision


def test_a_persons_own_ignore_file_lies_where_they_like(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text("[core]\n\texcludesFile = ~/.ignored\n")
    assert decide("git status", workspace=str(repository), home=str(tmp_path / "home")) == "allow"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core", "fsmonitor = .git/hooks/query-watchman"),
        ("core", "fsmonitor = ./.git/hooks/fsmonitor-watchman"),
        ('diff "x"', "textconv = .git/x/cat"),
        ('filter "x"', "clean = ./.git/git-lfs clean -- %f"),
    ],
)
def test_a_persons_setting_may_run_a_file_that_each_repository_brings(
    key: str, value: str, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text(f"[{key}]\n\t{value}\n")
    assert decide("git status", workspace=str(repository), home=str(tmp_path / "home")) == "ask"


@pytest.mark.parametrize("place", ["lfs", "lfs/objects", "lfs/objects/ab", "lfs/tmp/x/y"])
def test_git_lfs_writes_behind_a_link_at_any_depth(repository: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text(LFS)
    where = {"workspace": str(repository), "home": str(tmp_path / "home")}
    folder = repository / ".git" / place
    folder.mkdir(parents=True)
    (folder / "file").touch()
    assert decide("git status", **where) == "allow"
    (folder / "cd").symlink_to(tmp_path)
    assert decide("git status", **where) == "ask"
