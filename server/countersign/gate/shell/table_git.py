"""git's subcommands: which options run programs or write files, and which forms only read. Data.

git itself is judged with its repository as well (see ``git.py``): known reading counts only in one of the workspace's.
"""

from __future__ import annotations

from collections.abc import Mapping

from .arguments import Grammar
from .table_row import Program, row

GLOBAL = Grammar(
    frozenset("Cc"),
    frozenset("git-dir work-tree namespace exec-path config-env super-prefix attr-source list-cmds".split()),
    ordered=True,
)

GLOBAL_ESCAPES: Mapping[str, str] = {
    "-c": "a setting given with `-c` can name a program to run",
    "--config-env": "a setting from the environment can name a program to run",
    "--exec-path": "git runs its parts from there",
    "-p": "it runs a pager",
    "--paginate": "it runs a pager",
    "--git-dir": "another repository's settings name programs to run",
    "--work-tree": "it works on another folder",
    "--bare": "the folder itself is taken for a repository",
    "--namespace": "it works on other refs",
    "--super-prefix": "it works on another folder",
    "--attr-source": "attributes from elsewhere name programs to run",
    "--no-lazy-fetch": "",
}

_DIFF_SHORT = "OSGUMCBlX"
_DIFF_LONG = (
    "output unified stat-width find-renames find-copies diff-filter diff-algorithm word-diff-regex src-prefix dst-prefix "
    "line-prefix relative ignore-matching-lines inter-hunk-context color-moved submodule ws-error-highlight anchored rotate-to "
    "skip-to max-depth"
)
_DIFF_RUNS = "--ext-diff --textconv"
_LOG_LONG = (
    "max-count skip since after until before author committer grep grep-reflog format pretty date branches tags remotes glob "
    "exclude encoding decorate-refs decorate-refs-exclude min-parents max-parents notes show-notes"
)
_FETCH_RUNS = "--upload-pack --receive-pack --exec"
_SAFE_DIFF = "--output-indicator-new --output-indicator-old --output-indicator-context --ex --te -O"


def _diff(*, short: str = "", long: str = "", writes: str = "", known: bool = True, safe: str = "") -> Program:
    return row(
        short=_DIFF_SHORT + short,
        long=f"{_DIFF_LONG} {_LOG_LONG} {long}",
        runs=_DIFF_RUNS,
        writes=f"--output {writes}",
        reads="-O",
        known=known,
        not_known="--no-index --show-signature -O",
        safe=f"{_SAFE_DIFF} {safe}",
    )


_CLOSED = "it runs programs named in its words or settings"

GIT: Mapping[str, Program] = {
    "status": row(long="untracked-files ignore-submodules column find-renames porcelain", known=True),
    "diff": _diff(),
    "log": _diff(short="nL"),
    "show": _diff(short="n"),
    "whatchanged": _diff(short="n"),
    "diff-tree": _diff(known=True),
    "diff-index": _diff(known=True),
    "diff-files": _diff(known=True),
    "range-diff": _diff(long="creation-factor"),
    "reflog": _diff(short="n", known=True),
    "format-patch": _diff(short="onv", long="output-directory start-number subject-prefix reroll-count to cc in-reply-to "
                          "cover-from-description base signature signature-file suffix", writes="-o --output-directory",
                          known=False),
    "shortlog": row(short="w", long="author committer since until format group", known=True),
    "rev-list": row(short="n", long=_LOG_LONG, known=True),
    "rev-parse": row(long="short default prefix abbrev-ref since until glob branches tags remotes", known=True),
    "blame": row(short="LSMC", long="contents ignore-rev ignore-revs-file date abbrev since",
                 reads="-S --contents --ignore-revs-file", known=True, not_known="--contents -S --ignore-revs-file"),
    "annotate": row(short="LS", known=True),
    "ls-files": row(short="xX", long="exclude exclude-from exclude-per-directory format abbrev", reads="-X --exclude-from",
                    known=True, not_known="-X --exclude-from"),
    "ls-tree": row(long="format abbrev", known=True),
    "describe": row(long="abbrev candidates match exclude dirty broken", known=True),
    "name-rev": row(long="refs exclude", known=True, not_known="--stdin --annotate-stdin"),
    "merge-base": row(known=True),
    "cherry": row(known=True),
    "show-ref": row(known=True, long="hash abbrev"),
    "show-branch": row(known=True),
    "for-each-ref": row(long="format sort count points-at merged no-merged contains no-contains", known=True),
    "count-objects": row(known=True),
    "check-ignore": row(known=True, not_known="--stdin"),
    "cat-file": row(long="batch batch-check", known=True, runs="--textconv --filters", not_known="--batch --batch-check "
                    "--batch-all-objects --batch-command", safe="--t --f"),
    "version": row(known=True),
    "branch": row("`--edit-description` runs an editor", short="u", long="contains no-contains merged no-merged sort "
                  "points-at format set-upstream-to abbrev column", runs="--edit-description", known=True,
                  not_known="-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --unset-upstream "
                            "--track -t --create-reflog"),
    "tag": row("`-e` runs an editor", short="mFun", long="message file local-user sort contains no-contains merged "
               "no-merged points-at format cleanup", runs="-e --edit", reads="-F --file", known=True,
               not_known="-a -s -u -d -f -m -F -v --annotate --sign --delete --force --message --file --verify --local-user"),
    "remote": row(known=True, not_known="", long="track master"),
    "stash": _diff(short="m", long="message pathspec-from-file"),
    "worktree": row(short="bB", long="reason"),
    "grep": row("`-O` runs a pager", short="eABCfmO", long="open-files-in-pager after-context before-context context "
                "max-depth threads max-count", runs="-O --open-files-in-pager --textconv", reads="-f",
                given="-e -f", safe="--or --o --threads --text --t --te"),
    "add": row("`-e` runs an editor", long="chmod pathspec-from-file", runs="-e --edit", reads="--pathspec-from-file"),
    "commit": row("`-e` runs an editor", short="mFCctu", long="message file author date template reuse-message "
                  "reedit-message fixup squash cleanup trailer gpg-sign pathspec-from-file untracked-files",
                  runs="-e --edit -c --reedit-message", reads="-F --file -t --template --pathspec-from-file",
                  safe="--no-edit --ed"),
    "notes": row("`edit` runs an editor", short="mFCc", long="message file ref", runs="-e --edit", reads="-F --file"),
    "checkout": row(short="bB", long="orphan conflict pathspec-from-file"),
    "switch": row(short="cC", long="create force-create orphan conflict"),
    "restore": row(short="s", long="source conflict pathspec-from-file"),
    "reset": row(long="pathspec-from-file"),
    "rm": row(long="pathspec-from-file", operands="delete"),
    "mv": row(operands="move"),
    "clean": row(short="e", long="exclude"),
    "merge": row("`-s` runs a program of that name", short="mFsX", long="message file strategy strategy-option cleanup into-name",
                 runs="-s --strategy -e --edit", reads="-F --file", safe="--squash --strategy-option --ed"),
    "cherry-pick": row(short="mX", long="mainline strategy strategy-option", runs="-e --edit --strategy", safe="--strategy-option"),
    "revert": row(short="mX", long="mainline strategy strategy-option", runs="-e --edit --strategy", safe="--strategy-option"),
    "rebase": row("`--exec` runs a command", short="xXs", long="exec onto strategy strategy-option",
                  runs="-x --exec -s --strategy -i --interactive --edit-todo", safe="--strategy-option"),
    "fetch": row("`--upload-pack` runs a program", short="jo", long="upload-pack depth deepen shallow-since "
                 "shallow-exclude refmap server-option jobs negotiation-tip filter", runs=_FETCH_RUNS),
    "pull": row("`--upload-pack` runs a program", short="sX", long="upload-pack depth deepen shallow-since strategy "
                "strategy-option jobs server-option", runs=_FETCH_RUNS + " -s --strategy -e --edit", safe="--strategy-option"),
    "push": row("`--receive-pack` runs a program", short="o", long="receive-pack exec repo push-option", runs=_FETCH_RUNS),
    "ls-remote": row("`--upload-pack` runs a program", short="o", long="upload-pack exec sort server-option", runs=_FETCH_RUNS),
    "fetch-pack": row(runs=_FETCH_RUNS),
    "send-pack": row(runs=_FETCH_RUNS),
    "clone": row("`-c`, `-u` and `--template` name programs", short="bocuj", long="branch origin depth config upload-pack "
                 "template reference reference-if-able separate-git-dir jobs filter shallow-since shallow-exclude server-option "
                 "bundle-uri", runs="-u --upload-pack -c --config --template --bundle-uri", writes="--separate-git-dir"),
    "init": row("`--template` names hooks", short="b", long="template separate-git-dir initial-branch object-format "
                "ref-format", runs="--template", writes="--separate-git-dir"),
    "archive": row("`--exec` runs a program", short="o", long="format output remote exec prefix add-file", runs="--exec "
                   "--remote", writes="-o --output", reads="--add-file"),
    "apply": row(short="pC", long="directory exclude include"),
    "am": row(short="pC", long="directory exclude include patch-format", runs="-i --interactive"),
    "config": row("it changes git's settings", short="f", long="file blob type default", runs="-e --edit edit", reads="-f --file "
                  "--blob"),
    "bisect": row("`run` runs a command", code="run"),
    "submodule": row("submodules bring settings of their own", short="b", long="branch reference depth name jobs"),
    "gc": row(long="prune"),
    "prune": row(long="expire"),
    "fsck": row(),
    "repack": row(),
    "pack-refs": row(),
    "update-index": row(),
    "update-ref": row(),
    "symbolic-ref": row(short="m"),
    "hash-object": row(short="t"),
    "write-tree": row(),
    "read-tree": row(),
    "bundle": row(),
    "rerere": row(),
    "sparse-checkout": row(),
    "maintenance": row("it runs programs on a schedule", closed=True),
    "help": row("it runs a pager or a browser", closed=True),
    **{name: row(_CLOSED, closed=True) for name in (
        "filter-branch difftool mergetool send-email instaweb daemon credential hook web--browse gui citool gitk svn p4 "
        "cvsimport cvsserver fast-import fast-export shell upload-pack receive-pack http-backend imap-send request-pull "
        "quiltimport archimport difftool--helper mergetool--lib sh-setup for-each-repo bugreport diagnose replace "
        "remote-ext remote-fd remote-http remote-https index-pack unpack-objects mailinfo mailsplit interpret-trailers "
        "column stripspace").split()},
}  # fmt: skip
"""By subcommand. One that is not here may be an alias or a program of its own: only a rule that names it covers it."""

LISTING: Mapping[str, frozenset[str]] = {
    "remote": frozenset({"get-url"}),
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"show", "exists"}),
}
"""Subcommands whose known reading form has one of these words first (or, for ``remote`` and ``reflog``, none)."""

SHOWS_FILES = frozenset({"diff", "log", "show", "blame", "annotate", "grep", "cat-file", "archive", "whatchanged", "stash",
                         "diff-tree", "diff-index", "diff-files", "format-patch", "range-diff", "reflog"})  # fmt: skip
"""Subcommands that print what is in files: their operands are looked at as paths (P8)."""

TRANSPORTS = ("ext::", "fd::")
"""How an address begins that makes git run a program."""
