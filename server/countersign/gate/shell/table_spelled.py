"""Words that do more than they look like, told by how they are spelled (RULES.md S9). Data.

For programs whose options hold their value after a colon or in the name itself, and for operands that name code
elsewhere; and words of build and test tools whose place matters, because what lies there is run or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .script import Word

_DOTNET = (
    r"(?i)(?:--?|/)(?:p|property|rp|restoreproperty|l|logger|dl|distributedlogger|bl|binarylogger|flp\d?|fileloggerparameters\d?|gl)(?:[:=].*)?"
    r"|@.*|.*\.dll"
)
_JAVA = (
    r"-(?:javaagent|agentlib|agentpath|Xrun|Xbootclasspath|Xlog:.*file=|Xloggc|XX:\w*(?:OnError|OnOutOfMemoryError|File|"
    r"Path|Flags)=|XX:Flags|Djava\.(?:ext\.dirs|security|system|library|endorsed|util\.logging|naming|rmi)|Djdk\.|-patch-module|"
    r"-upgrade-module-path)"
)
_SCHEME = r"(?i)(?:https?|npm|jsr|data|file|node|blob):"

_RUSTC = (
    r"(?:-C|--codegen=)?(?:linker|link-args?|llvm-args|incremental|profile-generate)=|--codegen|--emit|--test-builder"
)

SPELLED: Mapping[tuple[str, ...], tuple[re.Pattern[str], str]] = {
    ("java",): (re.compile(_JAVA), "it loads an agent or writes a file"),
    ("javac",): (re.compile(r"-J|-Xplugin|@|-Akotlin|--processor"), "it loads code or options from elsewhere"),
    ("rustc",): (re.compile(r"@|\+[^ ]*/"), "it takes its options from a file, or names the tools to run"),
    ("rustdoc",): (re.compile(r"@|\+[^ ]*/"), "it takes its options from a file, or names the tools to run"),
    ("rustfmt",): (re.compile(r"\+[^ ]*/"), "it names the tools to run"),
    ("cargo",): (re.compile(rf"\+[^ ]*/|--logfile|{_RUSTC}"), "the compiler runs or writes what it names"),
    **{
        ("cargo", each): (
            re.compile(rf"-[CLloZ]|@|\+[^ ]*/|--out-dir|--sysroot|{_RUSTC}"),
            "the compiler runs or writes what it names",
        )
        for each in ("rustc", "rustdoc", "clippy")
    },
    ("dotnet",): (re.compile(_DOTNET), "it loads code, or sets what the build runs"),
    ("msbuild",): (re.compile(_DOTNET), "it loads code, or sets what the build runs"),
    ("deno",): (re.compile(_SCHEME), "it runs code from elsewhere"),
    ("bun",): (re.compile(_SCHEME), "it runs code from elsewhere"),
    ("go", "run"): (re.compile(r"[\w./~-]+@"), "it fetches and runs a program"),
    ("go", "install"): (re.compile(r"[\w./~-]+@"), "it fetches a program and puts it on the path"),
    ("curl",): (
        re.compile(r"[^:/?#-][^:/?#]*[{\[][^/]*://|[{\[][^/]*:/|--expand-"),
        "the kind of its address, or what the option says, is not known",
    ),
    ("gh", "repo"): (
        re.compile(r"-u|--upl|--templ|--conf|(?:-c)?\w+\.[\w.]*="),
        "what stands behind `--` are git's options, which run programs",
    ),
    ("pip",): (re.compile(r"(?:\w+\+)?ext::|git\+ext"), "an address of this kind runs a program"),
    ("sbt",): (re.compile(r"set |-(?:java-home|sbt-jar|sbt-dir|sbt-boot|ivy)"), "it changes what the build runs"),
    ("man",): (re.compile(r"(?!-)[^ ]*/"), "a page from elsewhere is a program of its formatter's"),
    ("just",): (re.compile(r"[A-Za-z_][\w-]*="), "it changes what the recipes run"),
    ("scons",): (re.compile(r"[A-Za-z_]\w*="), "it changes what the build runs"),
    ("scalac",): (re.compile(r"-Xplugin|-Xmacro|-J|@"), "it loads code or options from elsewhere"),
    ("prove",): (re.compile(r"-[PeI]"), "it loads or runs code from elsewhere"),
    ("cover",): (re.compile(r"-report"), "it loads a module"),
    ("protoc",): (re.compile(r"--\w+_out=(?:[^/]*:)?(?:/|~|\.\.)"), "it writes outside"),
    ("nim",): (re.compile(r"--?(?:nimcache|pass[CL]|cc|gcc|clang|out|outdir)\b"), "it writes, or names what it runs"),
    ("fpc",): (re.compile(r"-(?:e|F[EDU]|o)|@"), "it writes, or names what it runs"),
    ("yarn", "workspaces"): (re.compile(r"(?:exec|dlx|node)$"), "it runs a program in each package"),
    ("gcc",): (re.compile(r"-fuse-ld=.*/|--?ld-path"), "it names a linker"),
    ("clang",): (re.compile(r"-fuse-ld=.*/|--?ld-path"), "it names a linker"),
    ("npm",): (re.compile(r"(?:git\+)?ext::|git\+ext"), "an address of this kind runs a program"),
}
"""By the program's name, or with its subcommand: a pattern for the beginning of a word, and what such a word does."""

OUTSIDE: Mapping[tuple[str, ...], tuple[str, str]] = {
    ("pytest",): ("operands", ""),
    ("py.test",): ("operands", ""),
    ("mocha",): ("operands", "--spec"),
    ("rspec",): ("operands", ""),
    ("phpunit",): ("operands", ""),
    ("go",): ("operands", ""),
    ("deno",): ("operands", ""),
    ("tsc",): ("", "-p --project --rootDir --baseUrl"),
    ("cmake",): ("operands", "-S -B --build --install --open"),
    ("dotnet",): ("operands", "--project"),
    ("tox", "devenv"): ("operands", ""),
    ("java",): ("operands", "-cp -classpath --class-path -p --module-path -jar"),
    ("javac",): ("operands", "-d -s -h -cp -classpath --class-path -p --module-path"),
    ("swift",): ("operands", "--scratch-path"),
    ("turbo",): ("", "--cache-dir"),
    ("npm", "install"): ("operands", "--cache --pack-destination"),
    ("npm", "i"): ("operands", "--cache"),
    ("npm", "link"): ("operands", ""),
    ("npm", "pack"): ("operands", "--pack-destination --cache"),
    ("npm",): ("", "--cache --pack-destination --logs-dir"),
    ("pnpm",): ("operands", ""),
    ("yarn",): ("operands", ""),
    ("bun",): ("operands", "--outfile --outdir"),
    ("cargo", "vendor"): ("operands", ""),
    ("pip",): ("operands", "-r --requirement -c --constraint -e --editable -w"),
    ("uv",): ("operands", "-r --requirement -e --editable"),
    ("poetry",): ("operands", ""),
    ("sass",): ("operands", ""),
    **{
        (name,): ("operands", "")
        for name in ("papermill", "gn", "dvc", "snakemake", "nextflow", "k6", "doxygen", "pm2")
    },
    ("svn",): ("operands", ""),
    ("hg",): ("operands", ""),
    ("patch",): ("", "-d --directory"),
    ("git", "submodule"): ("operands", ""),
}
"""Programs that run or write what lies where these words say: ``operands``, and the values of options. A rule for the
program means the project, so what is spelled as a path and lies outside of it asks (CONTRACT.md 8)."""


SPELLED_PROGRAMS, OUTSIDE_PROGRAMS = (frozenset(key[0] for key in table) for table in (SPELLED, OUTSIDE))
"""The programs that these tables have rows of."""

_WITH_SECOND = frozenset(key[0] for table in (SPELLED, OUTSIDE) for key in table if len(key) > 1)


def key_of(name: str, words: Sequence[Word], table: Mapping[tuple[str, ...], object]) -> tuple[str, ...] | None:
    """The key that these words have in a table, the longer one first. Options may stand before a subcommand."""
    if name not in _WITH_SECOND:
        return (name,) if (name,) in table else None
    for word in words[1:4]:
        if (word.value or "-")[:1] not in {"-", "+"}:
            if (name, word.value) in table:
                return (name, word.value or "")
            break
    return (name,) if (name,) in table else None
