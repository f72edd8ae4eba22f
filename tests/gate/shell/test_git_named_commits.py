"""Which commits words name, as git resolves them, and that nothing which a rule is about is printed from them."""

from __future__ import annotations

import random
import shlex
import subprocess
from pathlib import Path

import pytest

from countersign.gate.shell.files.git_folders import Repository
from countersign.gate.shell.files.git_named_commits import commits_named, latest_commits

from .asked import HOME, decide

COMMITS, BRANCHES = 40, 8
TOKEN = "THE-TOKEN"
DENY = ["Read(./conf/live.txt)"]
STEPS = ("", "~1", "~3", "^", "^2", "^0", "~1^2", "^^", "^{commit}")


def _git(folder: Path, *words: str, given: str | None = None) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *person, *words], cwd=folder, input=given, capture_output=True, text=True, check=False
    )
    return done.stdout if done.returncode == 0 else ""


def _commit_all(folder: Path) -> None:
    _git(folder, "add", ".")
    _git(folder, "commit", "-q", "-m", "x")


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
            lines += ["M 644 inline conf/live.txt", "data <<END", f"{TOKEN} {number}", "END"]
        elif chance.random() < 0.5 and parents:
            lines += ["D conf/live.txt"]
    for branch in range(BRANCHES):
        lines += [f"reset refs/heads/b{branch}", f"from :{chance.randrange(1, COMMITS + 1)}"]
        lines += [
            f"tag t{branch}",
            f"from :{chance.randrange(1, COMMITS + 1)}",
            "tagger a <a@b> 1 +0000",
            "data 1",
            "x",
        ]
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "fast-import", "--quiet", "--force", given="\n".join([*lines, ""]))
    _git(folder, "checkout", "-q", "-B", "main", f"b{chance.randrange(BRANCHES)}")
    if chance.random() < 0.5:
        _git(folder, "gc", "-q")
    return chance


def _revision(chance: random.Random, folder: Path) -> str:
    name = chance.choice(("HEAD", "main", "@", f"b{chance.randrange(BRANCHES)}", f"t{chance.randrange(BRANCHES)}"))
    if chance.random() < 0.2:
        number = _git(folder, "rev-parse", f"{name}^{{commit}}").strip()
        name = chance.choice((number, number[:9]))
    return name + chance.choice(STEPS)


@pytest.mark.parametrize("seed", range(12))
def test_words_name_the_commits_that_git_resolves_them_to(seed: int, tmp_path: Path) -> None:
    chance = _random_history(tmp_path, seed)
    repository = Repository(str(tmp_path), f"{tmp_path}/.git", f"{tmp_path}/.git")
    for _ in range(40):
        one, other = _revision(chance, tmp_path), _revision(chance, tmp_path)
        numbers = [_git(tmp_path, "rev-parse", "--verify", "-q", f"{each}^{{commit}}").strip() for each in (one, other)]
        for word, number in zip((one, other), numbers, strict=True):
            assert commits_named(word, repository) == ((number,) if number else ()), word
        if not all(numbers):
            continue
        assert commits_named(f"{one}..{other}", repository) == tuple(dict.fromkeys(numbers))
        met = commits_named(f"{one}...{other}", repository)
        bases = _git(tmp_path, "merge-base", "--all", *numbers).split()
        assert met is not None
        assert {*bases, *numbers} <= set(met)


@pytest.mark.parametrize("seed", range(12))
def test_a_log_shows_none_but_the_latest_commits(seed: int, tmp_path: Path) -> None:
    chance = _random_history(tmp_path, seed)
    repository = Repository(str(tmp_path), f"{tmp_path}/.git", f"{tmp_path}/.git")
    for _ in range(20):
        word, count = _revision(chance, tmp_path), chance.randrange(1, 5)
        named = commits_named(word, repository)
        order = chance.choice(("--date-order", "--topo-order", "--graph", "--reverse", "--author-date-order"))
        shown = _git(tmp_path, "log", "--format=%H", f"-{count}", order, word, "--").replace("*", " ").split()
        if named is not None:
            latest = latest_commits(named, count, repository)
            assert latest is not None
            assert {each for each in shown if len(each) == 40} <= set(latest)


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
            output = _git(folder, *shlex.split(command)[1:])
            answer = decide(command, deny=DENY, workspace=str(folder), home=HOME)
            assert answer == "ask" or TOKEN not in output, command
            allowed += answer == "allow"
            printing += TOKEN in output
    assert allowed > 10, "hardly anything was compared"
    assert printing > 10, "hardly anything was printed"


def test_branches_without_the_file_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit_all(tmp_path)
    _git(tmp_path, "switch", "-q", "-c", "topic")
    for number in range(15):
        (tmp_path / "a.txt").write_text(f"{number}\n")
        _git(tmp_path, "commit", "-q", "-a", "-m", "x")
    commands = ("git diff main...HEAD", "git diff main...", "git diff main", "git diff main..topic", "git show main",
                "git log -p -3", "git log -p -1 main", "git show HEAD~12", "git diff HEAD~14 HEAD~12",
                "git grep x main", "git diff main...HEAD -- a.txt", "git log -p -2 main..HEAD")  # fmt: skip
    asked = ("git log -p", "git log -p main", "git show main..topic", "git log -p -1 --skip=3",
             "git log -p --author=x -1", "git diff @{u}", "git diff --merge-base main")  # fmt: skip
    for deny in (["Read(./conf/live.txt)"], ["Read(./.env)"]):
        answers = {command: decide(command, deny=deny, workspace=str(tmp_path), home=HOME) for command in commands}
        assert set(answers.values()) == {"allow"}, answers
        answers = {command: decide(command, deny=deny, workspace=str(tmp_path), home=HOME) for command in asked}
        assert set(answers.values()) == {"ask"}, answers


@pytest.mark.parametrize("hiding", ["grafts", "replacement"])
def test_where_git_takes_commits_for_others_they_are_not_known(hiding: str, tmp_path: Path) -> None:
    _random_history(tmp_path, 1)
    repository = Repository(str(tmp_path), f"{tmp_path}/.git", f"{tmp_path}/.git")
    assert commits_named("main", repository) is not None
    if hiding == "grafts":
        (tmp_path / ".git/info/grafts").write_text(_git(tmp_path, "rev-parse", "HEAD"))
    else:
        _git(tmp_path, "replace", "HEAD", "HEAD~1")
    assert commits_named("main", repository) is None


def test_the_end_of_a_shallow_clone_has_no_parents(tmp_path: Path) -> None:
    whole, clone = tmp_path / "whole", tmp_path / "clone"
    whole.mkdir()
    _git(whole, "init", "-q", "-b", "main")
    for number in range(4):
        (whole / "a.txt").write_text(f"{number}\n")
        _commit_all(whole)
    _git(tmp_path, "clone", "-q", "--depth=2", f"file://{whole}", "clone")
    repository = Repository(str(clone), f"{clone}/.git", f"{clone}/.git")
    assert commits_named("HEAD~1", repository) is not None
    assert commits_named("HEAD~2", repository) == ()
    latest = latest_commits(commits_named("HEAD", repository) or (), 4, repository)
    assert latest is not None
    assert len(latest) == 2


@pytest.mark.parametrize(
    "command",
    ["git diff b", "git diff main..b", "git show b", "git log -p b", "git diff b main", "git grep -h x b", "git diff t",
     "git log -p -1 b", "git show b~0", "git diff main...b", "git diff $(git rev-parse b)"],
)  # fmt: skip
def test_a_secret_of_another_branch_asks_without_a_rule(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit_all(tmp_path)
    _git(tmp_path, "switch", "-q", "-c", "b")
    (tmp_path / ".env").write_text(f"{TOKEN}\n")
    _commit_all(tmp_path)
    _git(tmp_path, "tag", "-a", "-m", "x", "t")
    _git(tmp_path, "switch", "-q", "main")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"
    assert decide(command.replace("b", "main").replace(" t", " main"), workspace=str(tmp_path), home=HOME) == "allow"


def _with_branch(folder: Path, *, secret: str = "conf/live.txt") -> None:
    """A repository whose branch `topic` has a ruled file that `main` never had."""
    (folder / "src").mkdir()
    (folder / "src/a.txt").write_text("x\n")
    _git(folder, "init", "-q", "-b", "main")
    _commit_all(folder)
    _git(folder, "switch", "-q", "-c", "topic")
    (folder / secret).parent.mkdir(exist_ok=True)
    (folder / secret).write_text("".join(f"{TOKEN} {number}\n" for number in range(40)))
    _commit_all(folder)
    _git(folder, "switch", "-q", "main")


PRINTING = ("git diff topic", "git diff main..topic", "git show topic", "git log -p -1 topic", "git grep -h THE topic",
            "git diff topic -- conf", "git diff topic~1..topic")  # fmt: skip


def _object(folder: Path, kind: str, text: bytes) -> str:
    words = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    return subprocess.run(words, cwd=folder, input=text, capture_output=True, check=True).stdout.decode().strip()


def _raw_tree(folder: Path, *entries: tuple[str, str, str]) -> str:
    return _object(folder, "tree", b"".join(b"%b %b\0%b" % (mode.encode(), name.encode(), bytes.fromhex(number))
                                            for mode, name, number in entries))  # fmt: skip


def _raw_commit(folder: Path, tree: str, parent: str) -> str:
    person = "a <a@b> 1 +0000"
    return _object(
        folder, "commit", f"tree {tree}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nx\n".encode()
    )


@pytest.mark.parametrize("modes", [["40755"], ["40001"], ["20040000"], ["040000"], ["40000", "40000"]])
def test_a_folder_is_entered_whatever_its_mode_and_whether_it_stands_there_twice(
    modes: list[str], tmp_path: Path
) -> None:
    _with_branch(tmp_path)
    conf, src = (_git(tmp_path, "rev-parse", f"topic:{name}").strip() for name in ("conf", "src"))
    named = zip(modes, (conf, src), strict=False)
    tree = _raw_tree(tmp_path, *((mode, "conf", number) for mode, number in named), ("40000", "src", src))
    commit = _raw_commit(tmp_path, tree, _git(tmp_path, "rev-parse", "main").strip())
    _git(tmp_path, "update-ref", "refs/heads/topic", commit)
    for command in PRINTING:
        assert decide(command, deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask", command


def test_a_parent_in_capitals_is_one(tmp_path: Path) -> None:
    _with_branch(tmp_path)
    tree = _git(tmp_path, "rev-parse", "main^{tree}").strip()
    commit = _raw_commit(tmp_path, tree, _git(tmp_path, "rev-parse", "topic").strip().upper())
    _git(tmp_path, "update-ref", "refs/heads/topic", commit)
    assert TOKEN in _git(tmp_path, "show", "topic")
    for command in ("git show topic", "git log -p -1 topic", "git log -p -2 topic", "git diff topic~1"):
        assert decide(command, deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask", command
    _git(tmp_path, "checkout", "-q", "topic")
    for command in ("git show", "git show HEAD", "git diff HEAD~1", "git log -p -1"):
        assert decide(command, deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask", command


@pytest.mark.parametrize(("secret", "deny"), [("src/k/live.txt", ["Read(./src/k/**)"]), ("src/.env", [])])
@pytest.mark.parametrize("command", ["git show .", "git show src", "git show :/ src", "git -C src show .",
                                     "cd src && git show .", "git show -p .",
                                     "git show", "git show -- src"])  # fmt: skip
def test_a_merge_is_shown_where_only_paths_are_named(
    command: str, secret: str, deny: list[str], tmp_path: Path
) -> None:
    _with_branch(tmp_path, secret=secret)
    _git(tmp_path, "merge", "-q", "--no-commit", "--no-ff", "topic")
    _git(tmp_path, "mv", secret, "src/b.txt")
    (tmp_path / "src/b.txt").write_text((tmp_path / "src/b.txt").read_text().replace(f"{TOKEN} 20\n", ""))
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "merged")
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
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit_all(tmp_path)
    assert decide(command, deny=["Read(conf/prod.json)"], workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git grep x -- src", deny=["Read(conf/prod.json)"], workspace=str(tmp_path), home=HOME) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git diff FETCH_HEAD", "git show FETCH_HEAD", "git diff HEAD...FETCH_HEAD", "git show topic^{}", "git diff @{u}",
     "git diff main@{upstream}", "git show topic@{0}", "git diff holding", "git log -p topic...main",
     "git show topic...main", "git diff topic^{commit}^{tree}"],
)  # fmt: skip
def test_other_names_of_a_commit_with_a_secret_ask(command: str, tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    (tmp_path / ".git/FETCH_HEAD").write_text(
        f"{_git(tmp_path, 'rev-parse', 'topic').strip()}\t\tbranch 'topic' of x\n"
    )
    _git(tmp_path, "tag", "holding", "topic^{tree}")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


def test_a_ref_of_a_name_that_git_refuses_is_not_followed(tmp_path: Path) -> None:
    _with_branch(tmp_path)
    (tmp_path / ".git/refs/tags/v1").write_text("ref: refs/heads/../heads/main\n")
    _git(tmp_path, "branch", "v1", "topic")
    assert decide("git show v1", deny=["Read(./conf/live.txt)"], workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "form", ["x-g{0}", "v1.0-3-g{0}", "'*-g{0}'", "nothing..x-g{0}", "main..x-g{0}", "x-g{0}~0", "x-g{1}", "dangling"]
)
def test_what_git_may_find_by_other_ways_is_not_known(form: str, tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    number = _git(tmp_path, "rev-parse", "topic").strip()
    _git(tmp_path, "symbolic-ref", "refs/tags/dangling", "refs/heads/nothing")
    _git(tmp_path, "branch", "dangling", "topic")
    word = form.format(number[:9], number)
    for command in ("git diff", "git show", "git log -p -1", "git grep -h THE"):
        assert decide(f"{command} {word}", workspace=str(tmp_path), home=HOME) == "ask", command


@pytest.mark.parametrize(
    "text",
    ["rm tt && git diff tt", "rm tt; git show tt", "mv tt uu; git diff tt", "rm tt; git diff main tt",
     "unlink tt; git log -p -1 tt", "rm docs/tt && git -C docs diff tt", "rm tt; git grep -h THE tt"],
)  # fmt: skip
def test_a_file_that_the_text_deletes_is_no_path(text: str, tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    _git(tmp_path, "branch", "tt", "topic")
    (tmp_path / "docs").mkdir()
    for name in ("tt", "docs/tt"):
        (tmp_path / name).write_text("x\n")
    allow = ["Bash(rm:*)", "Bash(mv:*)", "Bash(unlink:*)", "Edit(./**)"]
    for deny in (["Read(./.env)"], []):
        assert decide(text, allow=allow, deny=deny, workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git diff src/a.txt", deny=["Read(./.env)"], workspace=str(tmp_path), home=HOME) == "allow"


def test_a_meeting_point_and_long_histories_ask(tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    _git(tmp_path, "switch", "-q", "topic")
    _git(tmp_path, "branch", "one")
    _git(tmp_path, "rm", "-q", ".env")
    for number in range(45):
        (tmp_path / "src/a.txt").write_text(f"{number}\n")
        _git(tmp_path, "commit", "-q", "-a", "-m", "x")
    _git(tmp_path, "switch", "-q", "one")
    _git(tmp_path, "rm", "-q", ".env")
    _git(tmp_path, "commit", "-q", "-m", "x")
    _git(tmp_path, "switch", "-q", "main")
    assert decide("git diff --merge-base one topic", workspace=str(tmp_path), home=HOME) == "ask"
    assert decide("git log -p --max-count=99 one", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git show clHEAD@{1}", "git diff origin/HEAD@{1}", "git show HEAD@{0}", "git diff HEAD@{1}", "git log -p -1 @{1}",
     "git reflog -p", "git reflog show -p -3", "git log -p -g", "git log -p --branches=to", "git log -p --tags=t",
     "git log -p --remotes=origin", "git log -p --glob=refs/heads/to*", "git stash list -p", "git stash list -G a",
     "git stash show -p 0", "git stash show -p stash@{0}", "git stash show stash@{0} --"],
)  # fmt: skip
def test_an_earlier_state_and_names_in_options_ask(command: str, tmp_path: Path) -> None:
    # Versions of git differ in how they count the lines of a log, and take some of them for broken.
    _with_branch(tmp_path)
    _git(tmp_path, "branch", "clHEAD")
    for deny in ([], ["Read(conf/**)"]):
        assert decide(command, deny=deny, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("command", ["git show topic", "git show topic ^main", "git show topic main..main",
                                     "git show topic main..", "git show ^HEAD topic", "git show -7 topic"])  # fmt: skip
def test_where_one_commit_is_left_out_the_histories_of_all_others_are_shown(command: str, tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    _git(tmp_path, "switch", "-q", "topic")
    _git(tmp_path, "rm", "-q", ".env")
    for number in range(4):
        (tmp_path / "src/a.txt").write_text(f"{number}\n")
        _commit_all(tmp_path)
    _git(tmp_path, "switch", "-q", "main")
    ran = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert decide(command, workspace=str(tmp_path), home=HOME) == ("ask" if TOKEN in ran else "allow")
    assert (TOKEN in ran) == (command != "git show topic")


def test_a_name_of_git_describe_is_a_revision_also_where_no_ref_may_be_called_so(tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    name = "rel-g" + _git(tmp_path, "rev-parse", "--short", "topic").strip()
    (tmp_path / name).write_text("x\n")
    for command in (f"rm ./{name}; git show ./{name}", f"cd src && rm ../{name} && git show ../{name}"):
        assert decide(command, allow=["Bash(rm:*)"], workspace=str(tmp_path), home=HOME) == "ask"
    (tmp_path / "main-worktree").mkdir()
    (tmp_path / "main-worktree/topic").write_text("x\n")
    command = "rm main-worktree/topic; git show main-worktree/topic"
    assert decide(command, allow=["Bash(rm:*)"], workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("ref", ["refs/HEAD", "refs/heads/HEAD", "refs/tags/HEAD", "refs/remotes/HEAD"])
@pytest.mark.parametrize("command", ["git show", "git log -p", "git diff HEAD", "git show HEAD", "git diff @"])
def test_where_no_commit_is_checked_out_another_ref_may_be_called_so(ref: str, command: str, tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    _git(tmp_path, "update-ref", ref, "topic")
    for branch in ("topic", "main"):
        _git(tmp_path, "update-ref", "-d", f"refs/heads/{branch}")
    _git(tmp_path, "rm", "-q", "-r", "--cached", ".")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


def test_a_ref_is_a_line_of_its_own(tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    main, topic = (_git(tmp_path, "rev-parse", each).strip() for each in ("main", "topic"))
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
    _with_branch(tmp_path, secret=".env")
    main = _git(tmp_path, "rev-parse", "main").strip()
    _git(tmp_path, "branch", "f/x", "topic")
    (tmp_path / ".git/packed-refs").write_text(f"{main} refs/tags/f/x\n")
    (tmp_path / ".git/refs/tags/f").write_text(f"{main}\n")
    assert TOKEN in _git(tmp_path, "show", "f/x")
    assert decide("git show f/x", workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize(
    "command",
    ["git diff {}..topic", "git diff topic..{}", "git diff {}^{{tree}}..topic", "git show {}..topic",
     "git log -p -1 {}..topic", "git diff {} topic", "git diff {}...topic"],
)  # fmt: skip
def test_the_empty_tree_is_one_end_of_a_range(command: str, tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    command = command.format("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("command", ["git show", "git show '*'", "git show '*.txt' '*'", "git show '*' src"])
def test_where_all_words_are_paths_what_is_checked_out_is_shown(command: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text("x\n")
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit_all(tmp_path)
    _git(tmp_path, "switch", "-q", "-c", "topic")
    (tmp_path / ".env").write_text("".join(f"{number}\n" for number in range(9)) + f"{TOKEN}\n")
    _commit_all(tmp_path)
    _git(tmp_path, "switch", "-q", "main")
    (tmp_path / "src/a.txt").write_text("y\n")
    _git(tmp_path, "commit", "-q", "-a", "-m", "x")
    _git(tmp_path, "merge", "-q", "--no-commit", "topic")
    _git(tmp_path, "mv", ".env", "conf.txt")
    (tmp_path / "conf.txt").write_text("".join(f"{number}\n" for number in range(9)))
    _commit_all(tmp_path)
    shown = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert TOKEN in shown
    assert decide(command, workspace=str(tmp_path), home=HOME) == "ask"


@pytest.mark.parametrize("stashed", [True, False])
def test_a_stash_is_a_commit_that_is_shown(stashed: bool, tmp_path: Path) -> None:
    _with_branch(tmp_path)
    (tmp_path / ("." * stashed + "env")).write_text(f"{TOKEN}\n")
    _git(tmp_path, "add", "-f", ".")
    _git(tmp_path, "stash", "-q")
    assert TOKEN in _git(tmp_path, "stash", "show", "-p")
    assert decide("git stash show -p", workspace=str(tmp_path), home=HOME) == ("ask" if stashed else "allow")


def test_a_shallow_file_of_another_form_asks(tmp_path: Path) -> None:
    _with_branch(tmp_path)
    main, topic = (_git(tmp_path, "rev-parse", each).strip() for each in ("main", "topic"))
    repository = Repository(str(tmp_path), f"{tmp_path}/.git", f"{tmp_path}/.git")
    (tmp_path / ".git/shallow").write_text(f"{main} {topic}\n")
    assert commits_named("topic~1", repository) is None


@pytest.mark.parametrize("command", ["git log -1 -p ':!others'", "git log -1 -p HEAD ':(exclude)others'",
                                     "git log -p -n 1 ':^others'", "git log -1 -p :/"])  # fmt: skip
def test_a_path_behind_a_colon_has_git_pass_over_commits(command: str, tmp_path: Path) -> None:
    _with_branch(tmp_path)
    _git(tmp_path, "switch", "-q", "topic")
    _git(tmp_path, "rm", "-q", "-r", "conf")
    _git(tmp_path, "commit", "-q", "-m", "x")
    for _ in range(12):
        _git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    (tmp_path / "others").write_text("x\n")
    _commit_all(tmp_path)
    assert decide(command, deny=["Read(conf/**)"], workspace=str(tmp_path), home=HOME) == "ask"


def test_the_latest_stash_is_that_of_its_log(tmp_path: Path) -> None:
    _with_branch(tmp_path)
    for name in (".env", "src/b.txt"):
        (tmp_path / name).write_text(f"{TOKEN}\n")
        _git(tmp_path, "add", "-f", ".")
        _git(tmp_path, "stash", "-q")
    assert decide("git stash show -p", workspace=str(tmp_path), home=HOME) == "allow"
    _git(tmp_path, "reflog", "delete", "refs/stash@{0}")
    assert ".env" in _git(tmp_path, "stash", "show", "-p")
    assert decide("git stash show -p", workspace=str(tmp_path), home=HOME) == "ask"


def test_a_part_of_a_branch_may_end_in_a_dot(tmp_path: Path) -> None:
    _with_branch(tmp_path, secret=".env")
    _git(tmp_path, "branch", "foo./bar", "topic")
    (tmp_path / "foo.").mkdir()
    (tmp_path / "foo./bar").write_text("x\n")
    for command in ("rm foo./bar && git show foo./bar", "git show foo./bar"):
        assert decide(command, allow=["Bash(rm:*)"], workspace=str(tmp_path), home=HOME) == "ask"


def test_a_file_that_a_setting_names_may_be_ruled(tmp_path: Path) -> None:
    _with_branch(tmp_path)
    (tmp_path / "held").write_text(f"KEY {TOKEN}\n")
    commands = {"blame.ignoreRevsFile": "git blame src/a.txt", "core.excludesFile": "git check-ignore -v KEY"}
    for setting, command in commands.items():
        _git(tmp_path, "config", setting, "held")
        assert decide(command, deny=["Read(held)"], workspace=str(tmp_path), home=HOME) == "ask"
        _git(tmp_path, "config", "--unset", setting)
        assert decide(command, deny=["Read(held)"], workspace=str(tmp_path), home=HOME) == "allow"
