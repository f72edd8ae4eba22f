"""git's subcommands: which options run programs or write files, and which forms only read. Data.

git itself is judged with its repository as well (see ``languages/git.py``): known reading counts only in one of the
workspace's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from countersign.gate.shell.programs.argv import Grammar
from countersign.gate.shell.programs.row import Program, row

GLOBAL = Grammar(
    frozenset("Cc"),
    frozenset(
        [
            "git-dir",
            "work-tree",
            "namespace",
            "exec-path",
            "config-env",
            "super-prefix",
            "attr-source",
            "list-cmds",
            "shallow-file",
        ]
    ),
    ordered=True,
)
GLOBAL_FLAGS = frozenset(
    "-v --version -h --help --html-path --man-path --info-path -p --paginate -P --no-pager --no-replace-objects "
    "--no-lazy-fetch --no-optional-locks --no-advice --bare --literal-pathspecs --glob-pathspecs --noglob-pathspecs "
    "--icase-pathspecs --exec-path".split()
)
"""All options before a subcommand that take no word. Behind any other one nobody knows which word is the subcommand."""

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
    "--shallow-file": "it takes history from another place",
    "--super-prefix": "it works on another folder",
    "--attr-source": "attributes from elsewhere name programs to run",
    "--no-lazy-fetch": "",
}

_LETTERS = "0123456789abcDEFghHikmpPqrRstuvwWz"
_DIFF_FLAGS = (
    "--patch --no-patch --unified --function-context --raw --patch-with-raw --patch-with-stat --numstat --shortstat --dirstat "
    "--cumulative --dirstat-by-file --check --summary --name-only --name-status --stat --compact-summary --binary --full-index "
    "--color --abbrev --no-prefix --default-prefix --break-rewrites --find-renames --irreversible-delete --find-copies "
    "--find-copies-harder --no-renames --rename-empty --follow --minimal --ignore-all-space --ignore-space-change "
    "--ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --indent-heuristic --patience --histogram --word-diff "
    "--color-words --color-moved --relative --text --exit-code --quiet --ignore-submodules --submodule "
    "--ita-invisible-in-index --ita-visible-in-index --pickaxe-all --pickaxe-regex --cached --staged --merge-base --no-index "
    "--base --ours --theirs --cc --combined-all-paths --no-commit-id"
)
_LOG_FLAGS = (
    "--all --branches --tags --remotes --reflog --alternate-refs --single-worktree --ignore-missing --bisect --stdin "
    "--cherry-mark --cherry-pick --left-only --right-only --cherry --walk-reflogs --merge --boundary "
    "--simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges --ancestry-path --topo-order "
    "--date-order --author-date-order --reverse --objects --objects-edge --objects-edge-aggressive --in-commit-order "
    "--unpacked --indexed-objects --object-names --no-walk --do-walk --parents --children --left-right --graph "
    "--show-linear-break --count --timestamp --header --oneline --abbrev-commit --pretty --format --relative-date "
    "--show-signature --encode-email-headers --notes --show-notes --standard-notes --expand-tabs --merges --no-merges "
    "--min-parents --max-parents --first-parent --exclude-first-parent-only --not --all-match --invert-grep "
    "--regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty --remerge-diff "
    "--root --log-size --decorate --clear-decorations --source --use-mailmap --mailmap --full-diff --disk-usage --filter "
    "--missing --maximal-only --bisect-vars --bisect-all --progress --use-bitmap-index --exclude-hidden"
)
_LOG_TEXTS = (
    "--max-count --skip --since --since-as-filter --after --until --before --max-age --min-age --author --committer --grep "
    "--grep-reflog --date --encoding --glob --exclude --decorate-refs --decorate-refs-exclude --diff-merges"
)
_TEXTS = (
    "-S -G -I -l --stat-width --stat-name-width --stat-graph-width --stat-count --ws-error-highlight --src-prefix "
    "--dst-prefix --line-prefix --inter-hunk-context --output-indicator-new --output-indicator-old "
    "--output-indicator-context --ignore-matching-lines --diff-algorithm --anchored --word-diff-regex --color-moved-ws "
    f"--find-object --diff-filter --max-depth {_LOG_TEXTS}"
)
_FETCH_RUNS = "--upload-pack --receive-pack --exec"
_SAFE_DIFF = "--output-indicator-new --output-indicator-old --output-indicator-context --ex --te -O"


def _diff(
    *,
    short: str = "",
    long: str = "",
    flags: str = "",
    texts: str = "-n",
    writes: str = "",
    known: bool = True,
    safe: str = "",
) -> Program:
    """A row for what shows differences. ``-M``, ``-C``, ``-B``, ``-U`` and ``-X`` never take the next word."""
    return row(
        short="OL" + short,
        long=f"output rotate-to skip-to default {long}",
        flags=f"{_LETTERS} {_DIFF_FLAGS} {_LOG_FLAGS} {flags}",
        maybe="MCBUX",
        texts=f"{_TEXTS} {texts}",
        negates=True,
        runs="--ext-diff --textconv",
        writes=f"--output {writes}",
        reads="-O",
        known=known,
        not_known="--no-index --show-signature -O --stdin",
        safe=f"{_SAFE_DIFF} {safe}",
    )


_CLOSED = "it runs programs named in its arguments or settings"

GIT: Mapping[str, Program] = {
    "status": row(
        flags="vsbz --verbose --short --branch --show-stash --ahead-behind --porcelain --long --null --untracked-files "
              "--ignored --ignore-submodules --column --no-renames --find-renames --renames",
        maybe="uM", negates=True, known=True),
    "diff": _diff(),
    "log": _diff(),
    "show": _diff(),
    "whatchanged": _diff(),
    "diff-tree": _diff(),
    "diff-index": _diff(),
    "diff-files": _diff(),
    "range-diff": _diff(long="creation-factor", flags="--no-dual-color --left-only --right-only"),
    "reflog": _diff(),
    "format-patch": _diff(short="ov", long="output-directory start-number subject-prefix reroll-count to cc in-reply-to "
                          "cover-from-description base signature signature-file suffix", texts="",
                          flags="n --numbered --no-numbered --signoff --stdout --cover-letter --thread --attach --inline "
                                "--keep-subject --zero-commit --always --from --rfc",
                          writes="-o --output-directory", known=False),
    "shortlog": row(
        flags=f"0123456789cneshiEFPpq --committer --numbered --summary --email --group {_LOG_FLAGS}", maybe="w",
        long="output", writes="--output", runs="--ext-diff --textconv",
        texts="--max-count --skip --since --after --until --before --author --grep --date --encoding --glob --exclude",
        negates=True, known=True, not_known="--stdin --show-signature"),
    "rev-list": row(
        flags=f"{_LETTERS} {_LOG_FLAGS} {_DIFF_FLAGS}", maybe="MCBUX", short="L", texts=f"-n {_TEXTS}",
        long="default output", writes="--output", runs="--ext-diff --textconv", safe=_SAFE_DIFF, negates=True, known=True,
        not_known="--stdin --show-signature"),
    "rev-parse": row(long="short default prefix abbrev-ref since until glob branches tags remotes", known=True),
    "blame": row(
        flags="0123456789bcefhklnpstwv --incremental --root --show-stats --progress --score-debug --show-name --show-number "
              "--porcelain --line-porcelain --show-email --color-lines --color-by-age --minimal --abbrev --first-parent "
              "--reverse --encoding --ignore-all-space --ignore-space-change",
        short="LS", maybe="MC", long="contents ignore-revs-file output", texts="--ignore-rev --date --since", negates=True,
        writes="--output", runs="--ext-diff --textconv",
        reads="-S --contents --ignore-revs-file", known=True, not_known="--contents -S --ignore-revs-file"),
    "annotate": row(flags="bcefhklnpstw --porcelain --show-name --show-number --show-email --abbrev", short="LS", maybe="MC",
                    long="output", writes="--output", runs="--ext-diff --textconv", reads="-S", negates=True, known=True, not_known="-S"),
    "ls-files": row(
        flags="ztvfcdmosiku --cached --deleted --modified --others --ignored --stage --killed --directory --eol "
              "--empty-directory --unmerged --resolve-undo --exclude-standard --full-name --recurse-submodules "
              "--error-unmatch --abbrev --debug --deduplicate --sparse",
        short="xX", long="exclude-from exclude-per-directory with-tree", texts="--exclude --format", negates=True,
        reads="-X --exclude-from", known=True, not_known="-X --exclude-from"),
    "ls-tree": row(flags="drtzl --long --name-only --name-status --object-only --full-name --full-tree --abbrev",
                   texts="--format", negates=True, known=True),
    "describe": row(flags="--contains --debug --all --tags --long --first-parent --abbrev --exact-match --always --dirty "
                          "--broken", texts="--candidates --match --exclude", negates=True, known=True),
    "name-rev": row(flags="--name-only --tags --all --stdin --annotate-stdin --undefined --always --peel-tag",
                    texts="--refs --exclude", negates=True, known=True, not_known="--stdin --annotate-stdin"),
    "merge-base": row(flags="a --all --octopus --independent --is-ancestor --fork-point", known=True),
    "cherry": row(known=True),
    "show-ref": row(flags="dsqh --dereference --hash --quiet --head --heads --tags --branches --verify --abbrev --exists "
                          "--exclude-existing", maybe="s", negates=True, known=True, not_known="--exclude-existing"),
    "show-branch": row(known=True),
    "for-each-ref": row(
        flags="sp --shell --perl --python --tcl --color --merged --no-merged --contains --no-contains --ignore-case "
              "--omit-empty --include-root-refs --stdin",
        texts="--count --format --sort --points-at --exclude", negates=True, known=True, not_known="--stdin"),
    "count-objects": row(known=True),
    "check-ignore": row(known=True, not_known="--stdin"),
    "cat-file": row(
        flags="eptsz --allow-unknown-type --use-mailmap --mailmap --batch --batch-check --batch-command --batch-all-objects "
              "--buffer --follow-symlinks --unordered --textconv --filters",
        long="path", negates=True, known=True, runs="--textconv --filters",
        not_known="--batch --batch-check --batch-all-objects --batch-command", safe="--t --f"),
    "version": row(known=True),
    "branch": row(
        "`--edit-description` runs an editor",
        alike="-D=-d+-f -M=-m+-f -C=-c+-f -d=--delete -f=--force -m=--move -c=--copy -u=--set-upstream-to -r=--remotes -a=--all -l=--list",
        flags="vqraditlfDmMcC --verbose --quiet --track --set-upstream --unset-upstream --color --remotes --contains "
              "--no-contains --with --without --abbrev --all --delete --move --copy --list --show-current --create-reflog "
              "--force --merged --no-merged --column --ignore-case --recurse-submodules --omit-empty",
        short="u", long="set-upstream-to", texts="--sort --points-at --format", negates=True, runs="--edit-description",
        known=True, not_known="-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to --unset-upstream "
        "--track -t --create-reflog --set-upstream --recurse-submodules --edit-description"),
    "tag": row(
        "`-e` runs an editor",
        alike="-d=--delete -f=--force -a=--annotate -s=--sign -m=--message -F=--file -l=--list -v=--verify",
        flags="ldvaesfi --list --delete --verify --annotate --sign --force --create-reflog --column --contains "
              "--no-contains --with --without --merged --no-merged --color --ignore-case --omit-empty --points-at",
        short="Fu", maybe="n", long="file local-user", texts="-m --message --cleanup --sort --format --trailer",
        negates=True, runs="-e --edit", reads="-F --file", known=True,
        not_known="-a -s -u -d -f -m -F -v --annotate --sign --delete --force --message --file --verify --local-user "
                  "--create-reflog --trailer --cleanup"),
    "remote": row(known=True, not_known="", long="track master", short="tm"),
    "stash": replace(_diff(short="m", long="message pathspec-from-file",
                           flags="--include-untracked --only-untracked --index --keep-index"),
                     brings="tree", stays=frozenset({"list", "show", "drop", "clear", "create", "store"})),
    "worktree": row(flags="dfqvz --detach --force --checkout --guess --guess-remote --lock --orphan --porcelain --quiet "
                          "--track --verbose", short="bB", texts="--reason --expire", negates=True, known=True,
                    brings="below"),
    "grep": row("`-O` runs a pager", short="f", maybe="O", texts="-e -A -B -C -m --after-context --before-context --context "
                "--max-depth --threads --max-count", flags="0123456789viwaIrEGFPnhHlLzocpWq --cached --no-index "
                "--untracked --exclude-standard --recurse-submodules --invert-match --ignore-case --word-regexp --text "
                "--recursive --extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column "
                "--full-name --files-with-matches --name-only --files-without-match --null --only-matching --count --color "
                "--break --heading --show-function --function-context --and --or --not --quiet --all-match --ext-grep",
                negates=True, runs="-O --open-files-in-pager --textconv", reads="-f",
                given="-e -f", safe="--or --o --threads --text --t --te"),
    "add": row("`-e` runs an editor", alike="-A=--all=--no-ignore-removal -f=--force -u=--update -p=--patch -e=--edit", long="chmod pathspec-from-file", runs="-e --edit", reads="--pathspec-from-file"),
    "commit": row("`-e` runs an editor", alike="-a=--all -n=--no-verify -m=--message -F=--file -s=--signoff -p=--patch "
                  "-S=--gpg-sign -e=--edit -C=--reuse-message -c=--reedit-message", short="mFCctu", long="message file author date template reuse-message "
                  "reedit-message fixup squash cleanup trailer gpg-sign pathspec-from-file untracked-files",
                  runs="-e --edit -c --reedit-message", reads="-F --file -t --template --pathspec-from-file",
                  safe="--no-edit --ed"),
    "notes": row("`edit` runs an editor", short="mFCc", long="message file ref", runs="-e --edit", reads="-F --file"),
    "checkout": row(alike="-f=--force -m=--merge -p=--patch -d=--detach -t=--track", short="bB", long="orphan conflict pathspec-from-file", reads="--pathspec-from-file",
                    brings="tree", stays_alone="-b -B -q --quiet --no-track"),
    "switch": row(alike="-f=--force=--discard-changes -c=--create -C=--force-create -m=--merge -d=--detach", short="cC", long="create force-create orphan conflict", brings="tree",
                  stays_alone="-c -C --create --force-create -q --quiet --no-track"),
    "restore": row(alike="-s=--source -S=--staged -W=--worktree -p=--patch", short="s", long="source conflict pathspec-from-file", reads="--pathspec-from-file",
                   brings="tree", stays="-S --staged", anyway="-W --worktree"),
    "reset": row(long="pathspec-from-file", reads="--pathspec-from-file", brings="tree", stays="*",
                 anyway="--hard --merge --keep --recurse-submodules"),
    "rm": row(alike="-f=--force -n=--dry-run", long="pathspec-from-file", operands="delete", reads="--pathspec-from-file"),
    "mv": row(operands="move", alike="-f=--force"),
    "clean": row(short="e", long="exclude", alike="-f=--force -q=--quiet -n=--dry-run -i=--interactive -e=--exclude"),
    "merge": row("`-s` runs a program of that name", short="mFsX", long="message file strategy strategy-option cleanup into-name",
                 runs="-s --strategy -e --edit", reads="-F --file", safe="--squash --strategy-option --ed", brings="tree"),
    "cherry-pick": row(short="mX", long="mainline strategy strategy-option", runs="-e --edit --strategy",
                       safe="--strategy-option", brings="tree"),
    "revert": row(short="mX", long="mainline strategy strategy-option", runs="-e --edit --strategy",
                  safe="--strategy-option", brings="tree"),
    "rebase": row("`--exec` runs a command", alike="-i=--interactive -x=--exec -f=--force-rebase=--no-ff", short="xXs", long="exec onto strategy strategy-option",
                  runs="-x --exec -s --strategy -i --interactive --edit-todo", safe="--strategy-option",
                  brings="tree"),
    "fetch": row("`--upload-pack` runs a program", alike="-f=--force -a=--append -p=--prune -t=--tags", short="jo", long="upload-pack depth deepen shallow-since "
                 "shallow-exclude refmap server-option jobs negotiation-tip filter", runs=_FETCH_RUNS),
    "pull": row("`--upload-pack` runs a program", short="sX", long="upload-pack depth deepen shallow-since strategy "
                "strategy-option jobs server-option", runs=_FETCH_RUNS + " -s --strategy -e --edit", safe="--strategy-option",
                brings="tree"),
    "push": row("`--receive-pack` runs a program", alike="-f=--force -d=--delete -u=--set-upstream -n=--dry-run -q=--quiet "
                "-o=--push-option", short="o", long="receive-pack exec repo push-option", runs=_FETCH_RUNS),
    "ls-remote": row("`--upload-pack` runs a program", short="o", long="upload-pack exec sort server-option", runs=_FETCH_RUNS),
    "fetch-pack": row(runs=_FETCH_RUNS),
    "send-pack": row(runs=_FETCH_RUNS),
    "clone": row("`-c`, `-u` and `--template` name programs", short="bocuj", long="branch origin depth config upload-pack "
                 "template reference reference-if-able separate-git-dir jobs filter shallow-since shallow-exclude server-option "
                 "bundle-uri", runs="-u --upload-pack -c --config --template --bundle-uri", writes="--separate-git-dir",
                 brings="below"),
    "init": row("`--template` names hooks", short="b", long="template separate-git-dir initial-branch object-format "
                "ref-format", runs="--template", writes="--separate-git-dir"),
    "archive": row("`--exec` runs a program", short="o", long="format output remote exec prefix add-file", runs="--exec "
                   "--remote", writes="-o --output", reads="--add-file"),
    "apply": row(alike="-R=--reverse -3=--3way", short="pC", long="directory exclude include build-fake-ancestor", writes="--build-fake-ancestor",
                 brings="tree", stays="--check --stat --numstat --summary --cached", anyway="--apply --index"),
    "am": row(short="pC", long="directory exclude include patch-format", runs="-i --interactive", brings="tree"),
    "config": row("it changes git's settings", short="f", long="file blob", runs="-e --edit edit", reads="-f --file --blob",
                  flags="lz --get --get-all --get-regexp --get-urlmatch --list --global --local --system --worktree --null "
                        "--name-only --show-origin --show-scope --includes --bool --int --path --add --unset --unset-all "
                        "--replace-all --rename-section --remove-section --get-color --get-colorbool --fixed-value --all "
                        "--bool-or-int --expiry-date --append --value --url",
                  texts="--type --default --comment", negates=True, known=True,
                  not_known="-f --file --blob --get-regexp --get-urlmatch --get-color --get-colorbool --add --unset "
                            "--unset-all --replace-all --rename-section --remove-section --list -l --system --append"),
    "bisect": row("`run` runs a command", code="run", brings="tree", stays="log view visualize terms help"),
    "submodule": row("submodules bring settings of their own", short="b", long="branch reference depth name jobs",
                     brings="tree", stays="status summary init sync set-url"),
    "gc": row(long="prune"),
    "prune": row(long="expire"),
    "fsck": row(),
    "repack": row(),
    "pack-refs": row(),
    "update-index": row(),
    "update-ref": row(),
    "symbolic-ref": row(flags="qd --delete --quiet --short --recurse", texts="-m", negates=True, known=True,
                        not_known="-d --delete -m"),
    "hash-object": row(short="t"),
    "write-tree": row(),
    "read-tree": row(long="index-output prefix", writes="--index-output", brings="tree", stays="*", anyway="-u"),
    "bundle": row(),
    "replace": row("it makes one object stand for another, whatever is shown or checked out later", closed=True),
    "unpack-file": row("it writes what an object holds into a file", closed=True),
    "merge-file": row("it shows or writes what is in files", texts="-L", closed=True),
    "interpret-trailers": row("`--in-place` rewrites its operands", long="trailer where if-exists if-missing", changes="--in-place "
                              "--if-"),
    "checkout-index": row("`--prefix` says where it writes", long="prefix stage", writes="--prefix",
                          brings="tree"),
    "rerere": row(),
    "sparse-checkout": row(brings="tree", stays="list"),
    "maintenance": row("it runs programs on a schedule", closed=True),
    "help": row("it runs a pager or a browser", closed=True),
    **{name: row(_CLOSED, closed=True, brings="tree") for name in ["filter-branch", "difftool", "mergetool", "send-email", "instaweb", "daemon", "credential", "hook", "web--browse", "gui", "citool", "gitk", "svn", "p4", "cvsimport", "cvsserver", "fast-import", "fast-export", "shell", "upload-pack", "receive-pack", "http-backend", "imap-send", "request-pull", "quiltimport", "archimport", "difftool--helper", "mergetool--lib", "sh-setup", "for-each-repo", "bugreport", "diagnose", "remote-ext", "remote-fd", "remote-http", "remote-https", "index-pack", "unpack-objects", "mailinfo", "mailsplit", "column", "stripspace"]},
}  # fmt: skip
"""By subcommand. One that is not here may be an alias or a program of its own: only a rule that names it covers it."""

RUNNING = frozenset(
    "filter-branch difftool mergetool send-email instaweb daemon web--browse svn p4 cvsimport cvsserver shell fast-import "
    "upload-pack receive-pack http-backend imap-send quiltimport archimport for-each-repo remote-ext remote-fd credential "
    "hook maintenance bugreport diagnose replace".split()
)
"""Of the closed subcommands those whose options or operands name programs, or files to write."""

LISTING: Mapping[str, frozenset[str]] = {
    "remote": frozenset({"get-url"}),
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"show", "exists"}),
}
"""Subcommands whose known reading form has one of these words first (or, for ``remote`` and ``reflog``, none)."""

SHOWS_FILES = frozenset({"diff", "log", "show", "blame", "annotate", "grep", "cat-file", "archive", "whatchanged", "stash",
                         "diff-tree", "diff-index", "diff-files", "format-patch", "range-diff", "reflog",
                         "interpret-trailers", "unpack-file", "merge-file", "fast-export", "difftool"})  # fmt: skip
"""Subcommands that print what is in files: their operands are looked at as paths (P8)."""

TRANSPORTS = ("ext::", "fd::")
"""How an address begins that makes git run a program."""
