"""What git prints of the commits that words name: nothing that a rule is about, nor a secret, goes unasked."""

from __future__ import annotations

import hashlib
import math
import random
import shlex
import subprocess
from pathlib import Path

import pytest

from countersign.gate.probes import disk
from countersign.gate.shell.files import git_asked

from .asked import HOME, decide
from .repositories import TOKEN, commit_all, git, stored, unmerged, with_branch

COMMITS, BRANCHES = 40, 8
SAME = "\n".join(f"line {number}" for number in range(20))
"""Most of a file, by which git finds that it was moved."""
DENY = ["Read(./conf/live.txt)"]
STEPS = ("", "~1", "~3", "^", "^2", "^0", "~1^2", "^^", "^{commit}")


def _random_history(folder: Path, seed: int) -> random.Random:
    """A repository with branches, annotated tags and merges, whose dates lie in any order, and a file that comes and
    goes."""
    chance = random.Random(seed)
    holding = chance.sample(range(2, COMMITS), 4)
    lines: list[str] = []
    for number in range(1, COMMITS + 1):
        parents = chance.sample(range(max(1, number - 8), number), min(number - 1, chance.choice((1, 1, 1, 2, 2, 3))))
        when = chance.randrange(1_000_000, 1_100_000)
        lines += [f"commit refs/heads/x{number}", f"mark :{number}", f"committer a <a@b> {when} +0000", "data 1", "x"]
        lines += [f"{'merge' if at else 'from'} :{parent}" for at, parent in enumerate(parents)]
        lines += ["M 644 inline src/a.txt", "data <<END", f"{number}", "END"]
        if number in holding:
            lines += ["M 644 inline conf/live.txt", "data <<END", SAME, f"{TOKEN} {number}", "END"]
        elif chance.random() < 0.5 and parents:
            lines += ["D conf/live.txt", "M 644 inline src/moved.txt", "data <<END", SAME, f"{number}", "END"]
    for branch in range(BRANCHES):
        lines += [f"reset refs/heads/b{branch}", f"from :{chance.randrange(1, COMMITS + 1)}"]
        lines += [
            f"tag t{branch}",
            f"from :{chance.randrange(1, COMMITS + 1)}",
            "tagger a <a@b> 1 +0000",
            "data 1",
            "x",
        ]
    git(folder, "init", "-q", "-b", "main")
    git(folder, "fast-import", "--quiet", "--force", given="\n".join([*lines, ""]))
    git(folder, "checkout", "-q", "-B", "main", f"b{chance.randrange(BRANCHES)}")
    if chance.random() < 0.5:
        git(folder, "gc", "-q")
    return chance


def _revision(chance: random.Random, folder: Path) -> str:
    name = chance.choice(("HEAD", "main", "@", f"b{chance.randrange(BRANCHES)}", f"t{chance.randrange(BRANCHES)}"))
    if chance.random() < 0.2:
        number = git(folder, "rev-parse", f"{name}^{{commit}}").strip()
        name = chance.choice((number, number[:9]))
    return name + chance.choice(STEPS)


COMMANDS = ("git diff {one}", "git diff {one} {other}", "git diff {one}..{other}", "git diff {one}...{other}",
            "git diff {one}...", "git diff ..{other}", "git show {one}", "git show {one} {other}",
            "git grep -h '' {one}", "git log -p -{count} {one}", "git log -p -{count} {one}..{other}",
            "git log -p -{count}", "git log -p {one}", "git show {one}..{other}",
            "git diff {one} -- src", "git log -p -{count} {one} {other}",
            "git log --graph -p -n {count} {one}", "git diff --merge-base {one}", "git log --reverse -p -{count} {one}",
            "git diff --cached {one}", "git diff -R {one}", "git show --first-parent {one}")  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_a_rule_is_about_is_printed(seed: int, tmp_path: Path) -> None:
    allowed = printing = 0
    for each in range(5):
        folder = tmp_path / str(each)
        folder.mkdir()
        chance = _random_history(folder, 100 * seed + each)
        for _ in range(50):
            command = chance.choice(COMMANDS).format(
                one=_revision(chance, folder), other=_revision(chance, folder), count=chance.randrange(1, 5)
            )
            output = git(folder, *shlex.split(command)[1:])
            answer = decide(command, deny=DENY, workspace=str(folder), home=HOME)
            assert answer == "ask" or TOKEN not in output, command
            allowed += answer == "allow"
            printing += TOKEN in output
    assert allowed > 10, "hardly anything was compared"
    assert printing > 10, "hardly anything was printed"


OPTIONS = (
    "-p -U1 --cached -R -M -M10% --no-renames -D -m -c --cc --dd --first-parent --stat --raw --name-only -s -w "
    "--relative --relative=src --no-relative --exit-code --quiet --word-diff --color --diff-filter=D --diff-filter=R "
    "-z -r -t --root --line-prefix=x --merge-base --combined-all-paths -O/dev/null -1 -2 -q --diff-merges=combined "
    "--remerge-diff -B -C --find-copies-harder -Sline --rotate-to=src/a.txt --full-diff --all --branches --branches=b* "
    "--skip=1 --reverse --graph --topo-order --oneline --format=%s --pretty=raw --no-merges --merges "
    "--since=2001-01-01 --until=2001-01-01 --boundary --cherry-pick --full-history --simplify-merges --follow -g --not "
    "--no-walk --do-walk --ignore-missing --show-pulls --min-parents=2 --abbrev-commit --notes -i --invert-grep "
    "--grep=x"
).split()
PATHS = ("src", "conf", ".", "*.txt", ":!src", "conf/../src", "-- src", "-- :/", "-- :(exclude)conf", "--")
SUBCOMMANDS = (
    "diff",
    "show",
    "log -p",
    "whatchanged -p",
    "diff-tree -p",
    "diff-index -p",
    "diff-files -p",
    "stash show",
)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_a_rule_is_about_is_printed_with_options_of_all_kinds(seed: int, tmp_path: Path) -> None:
    allowed = 0
    for each in range(4):
        folder = tmp_path / str(each)
        folder.mkdir()
        chance = _random_history(folder, 1_000 + 100 * seed + each)
        for _ in range(60):
            words: list[str] = chance.sample(OPTIONS, chance.choice((0, 1, 1, 2, 3)))
            for _ in range(chance.choice((0, 1, 1, 2))):
                one, other = _revision(chance, folder), _revision(chance, folder)
                words.append(chance.choice((one, f"{one}..{other}", f"{one}...{other}", f"^{one}", f"{one}^!")))
            if chance.random() < 0.5:
                chance.shuffle(words)
            if chance.random() < 0.4:
                words.append(chance.choice(PATHS))
            command = " ".join(("git", chance.choice(SUBCOMMANDS), *words))
            for deny in (DENY, ["Read(conf/**)", "Read(./.env)"]):
                if decide(command, deny=deny, workspace=str(folder), home=HOME) == "allow":
                    allowed += 1
                    assert TOKEN not in git(folder, *command.split()[1:]), command
    assert allowed > 20, "hardly anything was compared"


def test_branches_without_the_file_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit_all(tmp_path)
    git(tmp_path, "switch", "-q", "-c", "topic")
    for number in range(15):
        (tmp_path / "a.txt").write_text(f"{number}\n")
        git(tmp_path, "commit", "-q", "-a", "-m", "x")
    commands = ("git diff main...HEAD", "git diff main...", "git diff main", "git diff main..topic", "git show main",
                "git log -p -3", "git log -p -1 main", "git show HEAD~12", "git diff HEAD~14 HEAD~12",
                "git grep x main", "git diff main...HEAD -- a.txt", "git log -p -2 main..HEAD", "git log -p",
                "git log -p main", "git show main..topic", "git log -p -1 --skip=3", "git log -p --author=x -1",
                "git diff --merge-base main", "git show HEAD@{1}", "git diff '@{-1}'")  # fmt: skip
    commands += ("git log -p --graph", "git log -p -1 --until=yesterday", "git log -p -S x topic", "git show -C",
                 "git log -p --since=2001-01-01 -1", "git log -p -i --grep 'X$'")  # fmt: skip
    commands += ("git diff -C topic", "git reflog -p")
    asked = ("git diff @{u}", "git show 'HEAD@{1 hour ago}'")
    for deny in (["Read(./conf/live.txt)"], ["Read(./.env)"]):
        answers = {command: decide(command, deny=deny, workspace=str(tmp_path), home=HOME) for command in commands}
        assert set(answers.values()) == {"allow"}, answers
        answers = {command: decide(command, deny=deny, workspace=str(tmp_path), home=HOME) for command in asked}
        assert set(answers.values()) == {"ask"}, answers


@pytest.mark.parametrize(
    "command",
    ["git diff b", "git diff main..b", "git show b", "git log -p b", "git diff b main", "git grep -h x b", "git diff t",
     "git log -p -1 b", "git show b~0", "git diff main...b", "git diff $(git rev-parse b)"],
)  # fmt: skip
def test_a_secret_of_another_branch_asks_without_a_rule(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit_all(tmp_path)
    git(tmp_path, "switch", "-q", "-c", "b")
    (tmp_path / ".env").write_text(f"{TOKEN}\n")
    commit_all(tmp_path)
    git(tmp_path, "tag", "-a", "-m", "x", "t")
    git(tmp_path, "switch", "-q", "main")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"
    if "$" in command:  # which commit that prints is not known, so all count
        git(tmp_path, "branch", "-q", "-D", "b")
        git(tmp_path, "tag", "-d", "t")
        git(tmp_path, "reflog", "expire", "--expire=now", "--all")
    assert decide(command.replace("b", "main").replace(" t", " main"), workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git show $(git rev-list -1 topic)", "x=$(git rev-parse topic); git diff $x..HEAD",
     "git grep -h THE $(git rev-list --all)", "git log -p -1 $(git merge-base topic b)"],
)  # fmt: skip
@pytest.mark.parametrize("deny", [[], ["Read(./.env)"]], ids=["no rule", "a deny rule"])
def test_a_commit_that_another_command_names_may_be_any(command: str, deny: list[str], tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    assert decide(command, deny=deny, workspace=str(tmp_path), home=HOME) == "ask"
    git(tmp_path, "branch", "-q", "-D", "topic")
    git(tmp_path, "reflog", "expire", "--expire=now", "--all")
    assert decide(command, deny=deny, workspace=str(tmp_path), home=HOME) == "allow"


PRINTING = ("git diff topic", "git diff main..topic", "git show topic", "git log -p -1 topic", "git grep -h THE topic",
            "git diff topic -- conf", "git diff topic~1..topic")  # fmt: skip


def _raw_tree(folder: Path, *entries: tuple[str, str, str]) -> str:
    return stored(folder, "tree", b"".join(b"%b %b\0%b" % (mode.encode(), name.encode(), bytes.fromhex(number))
                                            for mode, name, number in entries))  # fmt: skip


def _raw_commit(folder: Path, tree: str, parent: str) -> str:
    person = "a <a@b> 1 +0000"
    return stored(
        folder, "commit", f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nx\n".encode()
    )


@pytest.mark.parametrize("modes", [["40755"], ["40001"], ["20040000"], ["040000"], ["40000", "40000"]])
def test_a_folder_is_entered_whatever_its_mode_and_whether_it_stands_there_twice(
    modes: list[str], tmp_path: Path
) -> None:
    with_branch(tmp_path)
    conf, src = (git(tmp_path, "rev-parse", f"topic:{name}").strip() for name in ("conf", "src"))
    named = zip(modes, (conf, src), strict=False)
    tree = _raw_tree(tmp_path, *((mode, "conf", number) for mode, number in named), ("40000", "src", src))
    commit = _raw_commit(tmp_path, tree, git(tmp_path, "rev-parse", "main").strip())
    git(tmp_path, "update-ref", "refs/heads/topic", commit)
    for command in PRINTING:
        assert decide(command, deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask", command


def test_a_parent_in_capitals_is_one(tmp_path: Path) -> None:
    with_branch(tmp_path)
    tree = git(tmp_path, "rev-parse", "main^{tree}").strip()
    commit = _raw_commit(tmp_path, tree, git(tmp_path, "rev-parse", "topic").strip().upper())
    git(tmp_path, "update-ref", "refs/heads/topic", commit)
    assert TOKEN in git(tmp_path, "show", "topic")
    for command in ("git show topic", "git log -p -1 topic", "git log -p -2 topic", "git diff topic~1"):
        assert decide(command, deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask", command
    git(tmp_path, "checkout", "-q", "topic")
    for command in ("git show", "git show HEAD", "git diff HEAD~1", "git log -p -1"):
        assert decide(command, deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask", command


@pytest.mark.parametrize(("secret", "deny"), [("src/k/live.txt", ["Read(./src/k/**)"]), ("src/.env", [])])
@pytest.mark.parametrize("command", ["git show .", "git show src", "git show :/ src", "git -C src show .",
                                     "cd src && git show .", "git show -p .",
                                     "git show", "git show -- src"])  # fmt: skip
def test_a_merge_is_shown_where_only_paths_are_named(
    command: str, secret: str, deny: list[str], tmp_path: Path
) -> None:
    with_branch(tmp_path, secret=secret)
    git(tmp_path, "merge", "-q", "--no-commit", "--no-ff", "topic")
    git(tmp_path, "mv", secret, "src/b.txt")
    (tmp_path / "src/b.txt").write_text((tmp_path / "src/b.txt").read_text().replace(f"{TOKEN} 20\n", ""))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "merged")
    assert decide(command, deny=deny, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git grep x -- c*", "git grep x -- *", "git grep x HEAD -- c*", "git grep -e x -- c*", "git grep x -- [c]onf",
     'for d in *; do git grep x -- "$d"; done', "git grep --cached x -- c*", "cd src && git grep x -- ../c*"],
)  # fmt: skip
def test_a_pattern_that_expands_to_a_folder_names_what_lies_below(command: str, tmp_path: Path) -> None:
    for name in ("src/a.txt", "conf/prod.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("x\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit_all(tmp_path)
    assert decide(command, deny=["Read(conf/prod.json)"], workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git grep x -- src", deny=["Read(conf/prod.json)"], workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git diff FETCH_HEAD", "git show FETCH_HEAD", "git diff HEAD...FETCH_HEAD", "git show topic^{}", "git diff @{u}",
     "git diff main@{upstream}", "git show topic@{0}", "git diff holding", "git log -p topic...main",
     "git show topic...main", "git diff topic^{commit}^{tree}"],
)  # fmt: skip
def test_other_names_of_a_commit_with_a_secret_ask(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    (tmp_path / ".git/FETCH_HEAD").write_text(f"{git(tmp_path, 'rev-parse', 'topic').strip()}\t\tbranch 'topic' of x\n")
    git(tmp_path, "tag", "holding", "topic^{tree}")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


def test_a_ref_of_a_name_that_git_refuses_is_not_followed(tmp_path: Path) -> None:
    with_branch(tmp_path)
    (tmp_path / ".git/refs/tags/v1").write_text("ref: refs/heads/../heads/main\n")
    git(tmp_path, "branch", "v1", "topic")
    assert decide("git show v1", deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "form", ["x-g{0}", "v1.0-3-g{0}", "'*-g{0}'", "nothing..x-g{0}", "main..x-g{0}", "x-g{0}~0", "x-g{1}", "dangling"]
)
def test_what_git_may_find_by_other_ways_is_not_known(form: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    number = git(tmp_path, "rev-parse", "topic").strip()
    git(tmp_path, "symbolic-ref", "refs/tags/dangling", "refs/heads/nothing")
    git(tmp_path, "branch", "dangling", "topic")
    word = form.format(number[:9], number)
    for command in ("git diff", "git show", "git log -p -1", "git grep -h THE"):
        assert decide(f"{command} {word}", workspace=str(tmp_path), home=HOME) == "ask", command


@pytest.mark.parametrize(
    "text",
    ["rm tt && git diff tt", "rm tt; git show tt", "mv tt uu; git diff tt", "rm tt; git diff main tt",
     "unlink tt; git log -p -1 tt", "rm docs/tt && git -C docs diff tt", "rm tt; git grep -h THE tt"],
)  # fmt: skip
def test_a_file_that_the_text_deletes_is_no_path(text: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "branch", "tt", "topic")
    (tmp_path / "docs").mkdir()
    for name in ("tt", "docs/tt"):
        (tmp_path / name).write_text("x\n")
    allow = ["Bash(rm:*)", "Bash(mv:*)", "Bash(unlink:*)", "Edit(./**)"]
    for deny in (["Read(./.env)"], []):
        assert decide(text, allow=allow, deny=deny, workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git diff src/a.txt", deny=["Read(./.env)"], workspace=str(tmp_path), home=HOME) == "allow"


def test_a_meeting_point_and_long_histories_ask(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "switch", "-q", "topic")
    git(tmp_path, "branch", "one")
    git(tmp_path, "rm", "-q", ".env")
    for number in range(45):
        (tmp_path / "src/a.txt").write_text(f"{number}\n")
        git(tmp_path, "commit", "-q", "-a", "-m", "x")
    git(tmp_path, "switch", "-q", "one")
    git(tmp_path, "rm", "-q", ".env")
    git(tmp_path, "commit", "-q", "-m", "x")
    git(tmp_path, "switch", "-q", "main")
    assert decide("git diff --merge-base one topic", workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git log -p --max-count=99 one", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git show clHEAD@{1}", "git diff origin/HEAD@{1}", "git show HEAD@{0}", "git diff HEAD@{1}", "git log -p -1 @{1}",
     "git log -p --branches=to", "git log -p --branches=ma", "git log -p --tags=t", "git diff @{-1}",
     "git log -p --remotes=origin", "git log -p --glob=refs/heads/to*", "git stash show -p 0", "git log -p --all",
     "git stash show -p stash@{0}", "git log -p --exclude=refs/heads/to* --all", "git show clHEAD@{0}"],
)  # fmt: skip
def test_earlier_states_and_names_in_options_are_looked_up_by_git(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    git(tmp_path, "branch", "clHEAD")
    ran = git(tmp_path, *command.split()[1:])
    if TOKEN in ran:
        assert decide(command, deny=["Read(conf/**)"], workspace=str(tmp_path), home=HOME) == "ask"


def test_what_git_said_is_asked_again_before_a_decision_is_recalled(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "branch", "b", "main")
    with disk.record_probes() as looks:
        assert decide("git diff main b", workspace=str(tmp_path), home=HOME) == "allow"
    assert disk.unchanged(looks)
    git(tmp_path, "branch", "-f", "b", "topic")
    assert not disk.unchanged(looks)
    assert decide("git diff main b", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git reflog -p", "git reflog show -p -3", "git stash list -p", "git stash list -G a",
     "git diff -C topic", "git diff -S x topic", "git diff --diff-filter=M topic"],
)  # fmt: skip
def test_where_git_does_not_name_them_all_files_of_the_repository_count(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    assert decide(command, workspace=str(tmp_path), home=HOME) == "allow"
    assert decide(command, deny=["Read(conf/**)"], workspace=str(tmp_path), home=HOME) == "ask"
    assert decide(command, deny=["Read(others/**)"], workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git log -p -1 topic --graph", "git log -p -1 --until=yesterday topic", "git log -S x --oneline topic",
     "git show -C topic", "git log -p --since=2001-01-01 -n 1 topic", "git log -p -G x main..topic",
     "git log -p --since=2001-01-01 --cherry-pick main...topic", "git log -p --grep='secr.t$' topic",
     "git log -S x --all", "git log -p -i --grep=SECRET topic", "git log -p --author=. topic"],
)  # fmt: skip
def test_where_options_leave_it_open_all_files_of_a_history_count(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    git(tmp_path, "switch", "-q", "topic")
    git(tmp_path, "rm", "-q", "-r", "conf")
    git(tmp_path, "commit", "-q", "-m", "x")
    git(tmp_path, "switch", "-q", "main")
    workspace = str(tmp_path)
    assert decide(command, deny=["Read(conf/**)"], workspace=workspace, home=HOME) == "ask"
    assert decide(command, deny=["Read(others/**)"], workspace=workspace, home=HOME) == "allow"
    assert decide(f"{command} -- src", deny=["Read(conf/**)"], workspace=workspace, home=HOME) == "allow"


@pytest.mark.parametrize("command", ["git show topic", "git show topic ^main", "git show topic main..main",
                                     "git show topic main..", "git show ^HEAD topic", "git show -7 topic"])  # fmt: skip
def test_where_one_commit_is_left_out_the_histories_of_all_others_are_shown(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "switch", "-q", "topic")
    git(tmp_path, "rm", "-q", ".env")
    for number in range(4):
        (tmp_path / "src/a.txt").write_text(f"{number}\n")
        commit_all(tmp_path)
    git(tmp_path, "switch", "-q", "main")
    ran = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert decide(command, workspace=str(tmp_path), home=HOME) == ("ask" if TOKEN in ran else "allow")
    assert (TOKEN in ran) == (command != "git show topic")


def test_a_name_of_git_describe_is_a_revision_also_where_no_ref_may_be_called_so(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    name = "rel-g" + git(tmp_path, "rev-parse", "--short", "topic").strip()
    (tmp_path / name).write_text("x\n")
    for command in (f"rm ./{name}; git show ./{name}", f"cd src && rm ../{name} && git show ../{name}"):
        assert decide(command, allow=["Bash(rm:*)"], workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("ref", ["refs/HEAD", "refs/heads/HEAD", "refs/tags/HEAD", "refs/remotes/HEAD"])
@pytest.mark.parametrize("command", ["git show", "git log -p", "git diff HEAD", "git show HEAD", "git diff @"])
def test_where_no_commit_is_checked_out_another_ref_may_be_called_so(ref: str, command: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "update-ref", ref, "topic")
    for branch in ("topic", "main"):
        git(tmp_path, "update-ref", "-d", f"refs/heads/{branch}")
    git(tmp_path, "rm", "-q", "-r", "--cached", ".")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


def test_a_ref_is_a_line_of_its_own(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    main, topic = (git(tmp_path, "rev-parse", each).strip() for each in ("main", "topic"))
    for branch in ("main", "topic"):
        (tmp_path / ".git/refs/heads" / branch).unlink()
    for text in (
        f"# pack-refs with: peeled {main} refs/heads/topic\n{main} refs/heads/main\n{topic} refs/heads/topic\n",
        f"{main} refs/heads/main\n{main} refs/heads/topic\n{topic} refs/heads/topic\n",
        f"# pack-refs with: peeled sorted \n{topic} refs/heads/topic\n{main} refs/heads/main\n{main} refs/tags/topic\n",
        f"{main} MERGE_HEAD\n{main} refs/heads/main\n{main} refs/heads/topic\n",
        f"{main} refs/heads/main\n{main} refs/heads/topic\n{topic}\trefs/tags/topic\n",
    ):
        (tmp_path / ".git/packed-refs").write_text(text)
        assert decide("git show topic", workspace=str(tmp_path), home=HOME) == "ask"


def test_a_packed_ref_below_a_loose_one_asks(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    main = git(tmp_path, "rev-parse", "main").strip()
    git(tmp_path, "branch", "f/x", "topic")
    (tmp_path / ".git/packed-refs").write_text(f"{main} refs/tags/f/x\n")
    (tmp_path / ".git/refs/tags/f").write_text(f"{main}\n")
    assert TOKEN in git(tmp_path, "show", "f/x")
    assert decide("git show f/x", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git diff {}..topic", "git diff topic..{}", "git diff {}^{{tree}}..topic", "git show {}..topic",
     "git log -p -1 {}..topic", "git diff {} topic", "git diff {}...topic"],
)  # fmt: skip
def test_the_empty_tree_is_one_end_of_a_range(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    command = command.format("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("command", ["git show", "git show '*'", "git show '*.txt' '*'", "git show '*' src"])
def test_where_all_words_are_paths_what_is_checked_out_is_shown(command: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text("x\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit_all(tmp_path)
    git(tmp_path, "switch", "-q", "-c", "topic")
    (tmp_path / ".env").write_text("".join(f"{number}\n" for number in range(9)) + f"{TOKEN}\n")
    commit_all(tmp_path)
    git(tmp_path, "switch", "-q", "main")
    (tmp_path / "src/a.txt").write_text("y\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "x")
    git(tmp_path, "merge", "-q", "--no-commit", "topic")
    git(tmp_path, "mv", ".env", "conf.txt")
    (tmp_path / "conf.txt").write_text("".join(f"{number}\n" for number in range(9)))
    commit_all(tmp_path)
    shown = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert TOKEN in shown
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("stashed", [True, False])
def test_a_stash_is_a_commit_that_is_shown(stashed: bool, tmp_path: Path) -> None:
    with_branch(tmp_path)
    (tmp_path / ("." * stashed + "env")).write_text(f"{TOKEN}\n")
    git(tmp_path, "add", "-f", ".")
    git(tmp_path, "stash", "-q")
    assert TOKEN in git(tmp_path, "stash", "show", "-p")
    assert decide("git stash show -p", workspace=str(tmp_path), home=HOME) == ("ask" if stashed else "allow")


@pytest.mark.parametrize("command", ["git log -1 -p ':!others'", "git log -1 -p HEAD ':(exclude)others'",
                                     "git log -p -n 1 ':^others'"])  # fmt: skip
def test_a_path_behind_a_colon_has_git_pass_over_commits(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path)
    git(tmp_path, "switch", "-q", "topic")
    git(tmp_path, "rm", "-q", "-r", "conf")
    git(tmp_path, "commit", "-q", "-m", "x")
    for _ in range(12):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    (tmp_path / "others").write_text("x\n")
    commit_all(tmp_path)
    assert decide(command, deny=["Read(conf/**)"], workspace=str(tmp_path), home=HOME) == "ask"


def test_the_latest_stash_is_that_of_its_log(tmp_path: Path) -> None:
    with_branch(tmp_path)
    for name in (".env", "src/b.txt"):
        (tmp_path / name).write_text(f"{TOKEN}\n")
        git(tmp_path, "add", "-f", ".")
        git(tmp_path, "stash", "-q")
    assert decide("git stash show -p", workspace=str(tmp_path), home=HOME) == "allow"
    git(tmp_path, "reflog", "delete", "refs/stash@{0}")
    assert ".env" in git(tmp_path, "stash", "show", "-p")
    assert decide("git stash show -p", workspace=str(tmp_path), home=HOME) == "ask"


def test_a_part_of_a_branch_may_end_in_a_dot(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "branch", "foo./bar", "topic")
    (tmp_path / "foo.").mkdir()
    (tmp_path / "foo./bar").write_text("x\n")
    for command in ("rm foo./bar && git show foo./bar", "git show foo./bar"):
        assert decide(command, allow=["Bash(rm:*)"], workspace=str(tmp_path), home=HOME) == "ask"


def test_a_file_that_a_setting_names_may_be_ruled(tmp_path: Path) -> None:
    with_branch(tmp_path)
    (tmp_path / "held").write_text(f"KEY {TOKEN}\n")
    commands = {"blame.ignoreRevsFile": "git blame src/a.txt", "core.excludesFile": "git check-ignore -v KEY"}
    for setting, command in commands.items():
        git(tmp_path, "config", setting, "held")
        assert decide(command, deny=["Read(held)"], workspace=str(tmp_path), home=HOME) == "ask"
        git(tmp_path, "config", "--unset", setting)
        assert decide(command, deny=["Read(held)"], workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize("option", ["-s", "--stat", "--name-only", "-q", "-s --format=%s", "--raw main"])
def test_a_file_that_is_named_by_its_number_or_by_a_tag_asks(option: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    number = git(tmp_path, "rev-parse", "topic:.env").strip()
    git(tmp_path, "tag", "blob", number)
    git(tmp_path, "tag", "-a", "-m", "x", "nested", "blob")
    for word in (number, number[:9], f"x-g{number[:9]}", "blob", "refs/tags/blob", "nested"):
        assert TOKEN in git(tmp_path, *f"show {option} {word}".split())
        for command in (f"git show {option} {word}", f"git cat-file -p {word}", f"git cat-file blob {word}"):
            assert decide(command, workspace=str(tmp_path), home=HOME) == "ask", command
    for command in (f"git show {option} main", "git cat-file -p topic", f"git cat-file -t {number}"):
        assert decide(command, workspace=str(tmp_path), home=HOME) == "allow", command


@pytest.mark.parametrize("value", [":", "::", "': x'", ":./x", ":!x", "--", "--end-of-options", "src", "topic"])
@pytest.mark.parametrize("option", ["--grep", "--author", "--skip", "-n", "--format", "-O", "--notes"])
def test_the_value_of_an_option_is_no_path(option: str, value: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    (tmp_path / "src/x").write_text("x\n")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", ": x -- src topic")
    for command in (f"git log -p {option} {value} topic", f"git log -p {option} {value} --all"):
        printed = git(tmp_path, *shlex.split(command)[1:])
        assert decide(command, workspace=str(tmp_path), home=HOME) == "ask" or TOKEN not in printed, command


def test_the_program_that_is_asked_is_the_one_that_would_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_branch(tmp_path)
    for folder in (tmp_path, tmp_path / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for first in (f"{tmp_path}/bin", "bin", ".", ""):
        monkeypatch.setenv("PATH", f"{first}:/usr/local/bin:/usr/bin:/bin")
        decide("git diff main", workspace=str(tmp_path), home=HOME)
        assert not (tmp_path / "ran").exists(), first


def test_git_is_not_asked_for_ever_by_one_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_branch(tmp_path)
    text = "; ".join(f"git show -U{number}" for number in range(40))
    monkeypatch.setattr(git_asked, "MOST_WAITED", math.inf)
    assert decide(text, workspace=str(tmp_path), home=HOME) == "allow"
    monkeypatch.setattr(git_asked, "MOST_WAITED", 0.0)
    assert decide(text, workspace=str(tmp_path), home=HOME) == "ask"


def test_what_was_fetched_from_an_address_is_named_without_a_ref(tmp_path: Path) -> None:
    other, folder = tmp_path / "other", tmp_path / "project"
    for each in (other, folder):
        each.mkdir()
    with_branch(other, secret=".env")
    (folder / "a.txt").write_text("x\n")
    git(folder, "init", "-q", "-b", "main")
    commit_all(folder)
    command = "git show $(git rev-list -1 FETCH_HEAD)"
    assert decide(command, workspace=str(folder), home=HOME) == "allow"
    git(folder, "fetch", "-q", str(other), "topic")
    assert decide(command, workspace=str(folder), home=HOME) == "ask"


def test_the_empty_tree_holds_no_file(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    for command in ("git grep x {}", "git grep x main {}", "git diff {} main", "git show --stat {}"):
        words = command.format("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        assert decide(words, workspace=str(tmp_path), home=HOME) in {"allow", "ask"}
        assert TOKEN not in git(tmp_path, *words.split()[1:])
    assert decide("git grep x " + words.split()[-1], workspace=str(tmp_path), home=HOME) == "allow"


def test_a_pattern_is_also_looked_for_in_notes(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    git(tmp_path, "notes", "add", "-m", "fixme", "topic")
    commands = (
        "git log -p --grep=fixme topic",
        "git log -p --grep=fixme --all",
        "git whatchanged -p --grep=fixme topic",
    )
    for command in commands:
        assert TOKEN in git(tmp_path, *command.split()[1:])
        for deny in ([], ["Read(./.env)"]):
            assert decide(command, deny=deny, workspace=str(tmp_path), home=HOME) == "ask", command


@pytest.mark.parametrize(
    "command",
    ["git log -p --diff-filter=A -n 1 topic", "git whatchanged -p -n 1 topic", "git whatchanged -p -1 main..topic",
     "git diff --diff-filter=D topic", "git diff --diff-filter=D topic main"],
)  # fmt: skip
def test_commits_and_files_that_git_passes_over_do_not_hide_others(command: str, tmp_path: Path) -> None:
    with_branch(tmp_path, secret="src/.env")
    git(tmp_path, "switch", "-q", "topic")
    for name in ("docs/a", "docs/b"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
        commit_all(tmp_path)
    git(tmp_path, "switch", "-q", "main")
    git(tmp_path, "config", "diff.relative", "true")
    for deny in ([], ["Read(./src/.env)"]):
        assert decide(f"cd src && {command}", deny=deny, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("allow", [[], ["Bash(git diff:*)", "Bash(git show:*)"]], ids=["no rule", "rules"])
@pytest.mark.parametrize("deny", [[], ["Read(./.env)"]], ids=["all", "a deny rule"])
def test_what_the_index_keeps_of_a_merge_may_come_from_another_file(
    allow: list[str], deny: list[str], tmp_path: Path
) -> None:
    unmerged(tmp_path)
    commands = (
        "git diff",
        "git diff conf/x",
        "git show :3:conf/x",
        "git diff -3 -- conf/x",
        "git cat-file -p :3:conf/x",
        "git diff -S KEY",
        "git diff -S KEY -- conf/x",
        "git diff --diff-filter=M -- conf/x",
        "git diff -C",
        "git diff-files -p -S KEY",
    )
    for command in commands:
        assert TOKEN in git(tmp_path, *command.split()[1:]), command
        if deny or not allow:
            assert decide(command, allow, deny=deny, workspace=str(tmp_path), home=HOME) == "ask", command


def test_a_merge_that_is_made_anew_or_compared_with_its_parents_shows_other_files(tmp_path: Path) -> None:
    unmerged(tmp_path)
    (tmp_path / "conf/x").write_text("KEY=new\n" + "".join(f"{number}\n" for number in range(20)))
    commit_all(tmp_path)
    rules = {"deny": ["Read(./.env)"], "allow": ["Bash(git:*)"]}
    remade = ("git show --remerge-diff HEAD -- conf/x", "git log -p --remerge-diff -- conf/x",
              "git log --diff-merges=remerge -1 HEAD -- conf", "git diff HEAD HEAD^1 HEAD^2 -- conf/x")  # fmt: skip
    for command in remade:
        assert TOKEN in git(tmp_path, *command.split()[1:]), command
        assert decide(command, workspace=str(tmp_path), home=HOME, **rules) == "ask", command
    git(tmp_path, "config", "log.diffMerges", "remerge")
    for command in ("git log -m -p -- conf/x", "git show -m HEAD -- conf/x"):
        assert TOKEN in git(tmp_path, *command.split()[1:]), command
        assert decide(command, workspace=str(tmp_path), home=HOME, **rules) == "ask", command


def test_a_short_number_means_what_the_settings_make_of_it(tmp_path: Path) -> None:
    with_branch(tmp_path, secret=".env")
    blob = git(tmp_path, "rev-parse", "topic:.env").strip()
    tree = git(tmp_path, "rev-parse", "main^{tree}").strip()
    text, number = b"", 0
    while hashlib.sha1(b"commit %d\0%s" % (len(text), text)).hexdigest()[:4] != blob[:4]:
        number += 1
        text = f"tree {tree}\nauthor a <a@b> {number} +0000\ncommitter a <a@b> 1 +0000\n\nx\n".encode()
    git(tmp_path, "branch", "same", stored(tmp_path, "commit", text))
    git(tmp_path, "config", "core.disambiguate", "blob")
    assert TOKEN in git(tmp_path, "cat-file", "-p", blob[:4])
    for command in ("git diff {} src/a.txt", "git grep THE {}", "git cat-file -p {}", "git show {} --stat"):
        assert decide(command.format(blob[:4]), workspace=str(tmp_path), home=HOME) == "ask", command
