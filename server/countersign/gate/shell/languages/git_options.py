"""Options in front of git's subcommands, and what its subcommands do beside what their rows say. Data."""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.argv import Grammar

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
    "--html-path --man-path --info-path -p --paginate -P --no-pager --no-replace-objects "
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

RUNNING = frozenset(
    "filter-branch difftool mergetool send-email instaweb daemon web--browse svn p4 cvsimport cvsserver shell "
    "fast-import upload-pack receive-pack http-backend imap-send quiltimport archimport for-each-repo remote-ext "
    "remote-fd credential hook maintenance bugreport diagnose replace".split()
)
"""Of the closed subcommands those whose options or operands name programs, or files to write."""

LISTING: Mapping[str, frozenset[str]] = {
    "remote": frozenset({"get-url"}),
    "stash": frozenset({"list", "show"}),
    "worktree": frozenset({"list"}),
    "reflog": frozenset({"show", "exists"}),
}
"""Subcommands whose known reading form has one of these words first (or, for ``remote`` and ``reflog``, none)."""

CHANGING: Mapping[str, frozenset[str]] = {
    "bisect": frozenset("run view visualize".split()),
    "bundle": frozenset("create unbundle".split()),
    "notes": frozenset("add append copy edit merge prune remove".split()),
    "reflog": frozenset("delete drop expire write".split()),
    "remote": frozenset("add prune remove rename rm set-branches set-head set-url update".split()),
    "stash": frozenset("apply branch clear create drop pop push save store".split()),
    "submodule": frozenset("absorbgitdirs add deinit foreach init set-branch set-url sync update".split()),
    "worktree": frozenset("add lock move prune remove repair unlock".split()),
}
"""By subcommand the words behind it with which it does more than looking."""

SHOWS_FILES = frozenset(
    "diff log show blame annotate grep cat-file archive whatchanged stash diff-tree diff-index diff-files format-patch "
    "range-diff reflog interpret-trailers unpack-file merge-file fast-export difftool".split()
)
"""Subcommands that print what is in files: their operands are looked at as paths (P8)."""

TRANSPORTS = ("ext::", "fd::")
"""How an address begins that makes git run a program."""

WALKING = frozenset({
    "log", "show", "diff", "diff-tree", "diff-index", "diff-files", "whatchanged", "reflog", "rev-list", "shortlog",
    "format-patch", "blame", "annotate", "stash", "rev-parse", "range-diff", "cherry", "fast-export", "bundle",
    "archive",
})  # fmt: skip
"""Subcommands that read their options by what they walk through, as `git log` does."""

ADDRESSED = frozenset({"fetch", "pull", "push", "ls-remote", "remote", "archive", "submodule", "clone"})
"""Subcommands that take addresses of other repositories, and bring or send their references."""
