"""Words that do more than they look like, told by how they are spelled (RULES.md S9). Data.

For programs whose options hold their value after a colon or in the name itself, and for operands that name code
elsewhere; and words of build and test tools whose place matters, because what lies there is run or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from countersign.gate.shell.syntax.tree import Word

_DOTNET = (
    r"(?i)(?:--?|/)(?:p|property|rp|restoreproperty|l|logger|dl|distributedlogger|diag|bl|binarylogger|flp\d?|fileloggerparameters\d?|gl)(?:[:=].*)?"
    r"|@.*|.*\.dll|RunConfiguration\.|DataCollectionRunSettings"
)
_JAVA = (
    r"-(?:javaagent|agentlib|agentpath|Xrun|Xbootclasspath|Xlog:.*file=|Xloggc|XX:\w*(?:OnError|OnOutOfMemoryError|File|"
    r"Path|Flags)=|XX:Flags|Djava\.(?:ext\.dirs|security|system|library|endorsed|util\.logging|naming|rmi)|Djdk\.|-patch-module|"
    r"-upgrade-module-path|Xlog:[^:]*:(?!stdout|stderr)|XX:(?:StartFlightRecording|ArchiveClassesAtExit|AOT\w+|CRaC\w+)=)"
)
_SCHEME = r"(?i)(?:https?|npm|jsr|data|file|node|blob):"

_COMPILER = (
    r"-fuse-ld=.*/|--?ld-path|-Xassembler|--for-(?:assembler|linker)|--(?:specs|prefix|output|script|dependency-file|ptxas-path|"
    r"gcc-toolchain|cuda-path)|-W[alp],(?:.*,)?-+(?:o|Map|M{1,2}[DF]|output|dependency-file)|-fmodule-mapper|-aux-info|"
    r"-iplugindir|--?serialize-diagnostics|-dependency-file|-index-store-path|-object-file|-a[a-z]*=|--MD|--out-implib|"
    r"-f(?![\w-]*prefix-map)[\w-]+=(?:.*=)?(?:/|~|\.\.(?:/|$))"
)
_SWIFT = (
    r"@|-load-|-plugin|-external-plugin|-X(?:cc|linker|clang|frontend|llvm)|-tools-directory|-ld-path|-use-ld=.*/|-emit-\S+-path|"
    r"-output-file-map|-save-temps|-serialize-diagnostics-path|-index-store-path|-module-cache-path|-driver-use-frontend-path|"
    r"-sdk$|-resource-dir"
)
_LEADING_OUT = r"--?[\w.-]+=(?:/|~|\.\.(?:/|$))"
_INSTALLED = r"(?:[^:/]+@)?(?:exec:|(?:file|link|portal):(?://)?(?:/|~|\.\.))"
_GIT_EXT = r"(?:git\+)?ext::|git\+ext"
_ENVIRONMENT = r"(?:PATH|SHELL|LD_\w+|DYLD_\w+|RUBY\w+|BUNDLE_\w+|GEM_\w+|BASH_ENV|ENV|EDITOR|VISUAL|PAGER|GIT_\w+)="

_RUSTC = (
    r"(?:-C|--codegen=)?(?:linker|link-args?|llvm-args|incremental|profile-generate)=|--codegen|--emit|--test-builder"
)

SPELLED: Mapping[tuple[str, ...], tuple[re.Pattern[str], str]] = {
    ("strings",): (re.compile(r"@"), "it takes its options, and what it reads, from a file"),
    ("java",): (re.compile(_JAVA), "it loads an agent or writes a file"),
    ("javac",): (re.compile(r"-J|-Xplugin|@|-Akotlin|--processor"), "it loads code or options from elsewhere"),
    ("rustc",): (
        re.compile(r"@|\+[^ ]*/|(?:--print=)?[a-z-]+=(?:/|~|\.\.)"),
        "it takes its options from a file, or names the tools to run",
    ),
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
    **{
        (name,): (
            re.compile(r"(?:.*@ ?)?(?:(?:\w+\+)?ext::|git\+ext|file:(?://)?(?:/|~|\.\.))"),
            "an address of this kind runs a program, or leads outside",
        )
        for name in ("pip", "pip3", "pipx", "uv", "poetry", "pdm")
    },
    ("sbt",): (re.compile(r"set |--?(?:java-home|sbt-jar|sbt-dir|sbt-boot|ivy)"), "it changes what the build runs"),
    ("man",): (re.compile(r"(?!-)[^ ]*/"), "a page from elsewhere is a program of its formatter's"),
    ("just",): (re.compile(r"[A-Za-z_][\w-]*="), "it changes what the recipes run"),
    ("scons",): (re.compile(r"[A-Za-z_]\w*="), "it changes what the build runs"),
    ("scalac",): (re.compile(r"-Xplugin|-Xmacro|-J|@"), "it loads code or options from elsewhere"),
    ("prove",): (re.compile(r"-[PeI]"), "it loads or runs code from elsewhere"),
    ("cover",): (re.compile(r"-report"), "it loads a module"),
    ("protoc",): (re.compile(r"--\w+_out=(?:[^/]*:)?(?:/|~|\.\.)|-o(?:/|~|\.\.)|@"), "it writes outside"),
    ("nim",): (re.compile(r"--?(?:nimcache|pass[CL]|cc|gcc|clang|out|outdir)\b"), "it writes, or names what it runs"),
    ("fpc",): (re.compile(r"-(?:e|F[EDU]|o)|@"), "it writes, or names what it runs"),
    ("yarn", "workspaces"): (re.compile(r"(?:exec|dlx|node)$"), "it runs a program in each package"),
    **{
        (name,): (re.compile(_COMPILER), "it names a program that is run, or writes a file")
        for name in ("gcc", "g++", "cc", "c++", "c89", "c99", "clang", "clang++", "tcc", "ld", "as")
    },
    **{(name,): (re.compile(_SWIFT), "it loads code, or writes a file") for name in ("swiftc", "swift-frontend")},
    **{
        (name,): (re.compile(rf"{_GIT_EXT}|{_INSTALLED}"), "an address of this kind runs a program, or leads outside")
        for name in ("npm", "pnpm", "yarn")
    },
    ("bundle",): (re.compile(_GIT_EXT), "an address of this kind runs a program"),
    **{(name,): (re.compile(_ENVIRONMENT), "it changes what the tasks run") for name in ("rake", "rails")},
    ("task",): (re.compile(r"[A-Za-z_]\w*=(?![\w.,/@:+-]*$)"), "it is put into the commands of the tasks"),
    **{
        (name,): (
            re.compile(
                r"--[\w-]+=(?:[\w.@-]+=)?(?:/(?!/)|~|\.\.)|--(?:host_jvm_args|server_javabase|credential_helper|repo_env|"
                r"test_env=(?:PATH|LD_)|coverage_output_generator)"
            ),
            "it writes outside, or changes what the build runs",
        )
        for name in ("bazel", "bazelisk")
    },
    **{
        (name,): (re.compile(rf"{_LEADING_OUT}"), "it writes or runs what lies outside")
        for name in (
            "vite",
            "rollup",
            "esbuild",
            "parcel",
            "webpack",
            "next",
            "nuxt",
            "astro",
            "turbo",
            "nx",
            "playwright",
            "cypress",
            "vitest",
            "tsup",
            "wrangler",
            "storybook",
            "remix",
            "ng",
            "expo",
        )
    },
    **{
        (name,): (
            re.compile(r"-(?:sfx|w|sdel)|-[aix]?[ir]?[012-]?@|@"),
            "it runs, deletes or reads what is named elsewhere",
        )
        for name in ("7z", "7za", "7zr")
    },
    ("ar",): (re.compile(r"@|--plugin"), "it takes its options from a file, or loads code"),
    ("clang-tidy",): (
        re.compile(r"--?(?:extra-arg(?:-before)?=-(?:fplugin|Xclang|load|B|fpass|specs)|load)|@"),
        "it loads code",
    ),
    ("cppcheck",): (re.compile(rf"--addon=.*[/.]|--clang(?:=|$)|{_LEADING_OUT}"), "it runs code from elsewhere"),
    **{
        (name,): (
            re.compile(
                rf"{_COMPILER}|-ccbin|--compiler-bindir|-optf|--options-file|-X(?:compiler|linker|ptxas|archive)|--em-config|@"
            ),
            "it names a program that is run, or writes a file",
        )
        for name in ("nvcc", "emcc", "em++", "hipcc", "icc", "icx", "icpx")
    },
    ("ghc",): (
        re.compile(
            r"-pgm|-F$|@|-package-(?:db|env)|-fplugin|-opt\w|-(?:o|odir|hidir|outputdir|dumpdir|tmpdir)(?:/|~|\.\.)"
        ),
        "it loads code, or runs what it names",
    ),
    ("xcodebuild",): (
        re.compile(r"(?:CC|CXX|LD|LDPLUSPLUS|LIBTOOL|SWIFT_EXEC|OTHER_\w+|SYMROOT|OBJROOT|DSTROOT|\w*COMPILER\w*)="),
        "it changes what the build runs, or where it writes",
    ),
    ("pylint",): (re.compile(r"--output-format=.*\.|-f.*\.|\w+(?:\.\w+)*\.[A-Z]\w+$"), "its reporter is code"),
    ("stylelint",): (re.compile(r"--(?:formatter=[^ ]*/|custom-)"), "it loads code"),
    ("golangci-lint",): (re.compile(r"(?:--out-format=)?[\w-]+:(?:[^,]*/|\.\.)"), "it writes a report"),
    ("podman",): (re.compile(r"(?:dir|oci|oci-archive|docker-archive):(?:/|~|\.\.)"), "it writes outside"),
    ("poetry", "env"): (re.compile(r"[^ ]*/"), "it runs the interpreter that is named"),
    ("pdm", "use"): (re.compile(r"[^ ]*/"), "it runs the interpreter that is named"),
    ("pdm", "python"): (re.compile(r"[^ ]*/"), "it runs the interpreter that is named"),
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
    **{
        (name,): ("operands", "-o --out -d --dir --outdir --outDir --dist-dir --cache-dir --project -P --output")
        for name in (
            "vite",
            "rollup",
            "parcel",
            "webpack",
            "next",
            "nuxt",
            "astro",
            "nx",
            "playwright",
            "cypress",
            "vitest",
        )
    },
    ("tsc",): ("operands", "-p --project --rootDir --baseUrl"),
    ("ctest",): ("", "--test-dir"),
    ("cmake",): ("operands", "-S -B --build --install --open"),
    ("dotnet",): ("operands", "--project"),
    ("tox", "devenv"): ("operands", ""),
    ("java",): ("operands", "-cp -classpath --class-path -p --module-path -jar"),
    ("javac",): ("operands", "-d -s -h -cp -classpath --class-path -p --module-path"),
    ("swift",): ("operands", "--scratch-path"),
    ("turbo",): ("operands", "--cache-dir"),
    ("npm", "install"): ("operands", "--cache --pack-destination"),
    ("npm", "i"): ("operands", "--cache"),
    ("npm", "link"): ("operands", ""),
    ("npm", "pack"): ("operands", "--pack-destination --cache"),
    ("npm",): ("", "--cache --pack-destination --logs-dir"),
    ("pnpm",): ("operands", ""),
    ("yarn",): ("operands", ""),
    ("bun",): ("operands", "--outfile --outdir"),
    ("cargo", "vendor"): ("operands", ""),
    **{
        (name,): ("operands", "-r --requirement -c --constraint -e --editable -w --wheel-dir")
        for name in ("pip", "pip3", "pipx")
    },
    ("pdm",): ("operands", "-d --dest -L --lockfile -c --config -o --output --venv"),
    ("hatch",): ("operands", "--config-path --dir"),
    ("mix",): ("operands", "--output --path --erl-config --export-coverage"),
    ("meson",): ("operands", "--prefix --sysconfdir"),
    ("just",): ("operands", ""),
    ("task",): ("operands", "--temp-dir"),
    ("composer",): ("operands", "--dir --output-dir"),
    ("bundle", "gem"): ("operands", ""),
    ("bundle",): ("", "--path --binstubs --cache-path --lockfile -f --file --target-rbconfig --gemspec"),
    ("clang-tidy",): ("operands", "-p --config-file"),
    ("pg_ctl",): ("operands", "-D --pgdata"),
    ("hugo",): ("operands", ""),
    **{
        (name,): ("operands", "")
        for name in (
            "zig",
            "dart",
            "flutter",
            "v",
            "forge",
            "sam",
            "newman",
            "mlflow",
            "netlify",
            "xcodebuild",
            "lessc",
            "forever",
            "redis-server",
            "artillery",
            "minikube",
            "microk8s",
            "k3s",
        )
    },
    ("terraform", "providers"): ("operands", ""),
    ("tofu", "providers"): ("operands", ""),
    ("helm", "create"): ("operands", ""),
    ("pre-commit",): ("operands", "--repo --hook-dir"),
    ("cabal",): ("operands", "-d --destdir"),
    ("stack",): ("operands", "--to --tar-dir --ddump-dir"),
    **{
        (name,): (
            "",
            "--output_user_root --output_base --install_base --script_path --symlink_prefix --test_tmpdir --profile --disk_cache "
            "--explain --sandbox_base --output_file --build_event_json_file",
        )
        for name in ("bazel", "bazelisk")
    },
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
