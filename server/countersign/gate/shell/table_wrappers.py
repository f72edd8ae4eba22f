"""Programs that run another program named in their words (RULES.md S7). Data: one row each, with its reason.

``clear`` rows are looked through for allow as well; ``runner`` rows (package runners) are covered by a rule whose
literal words reach into the inner command; all others are looked through for deny and ask only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .arguments import Grammar

Kind = Literal["clear", "runner", "closed"]
Tail = Literal["command", "text", "operands"]
"""How the words behind the options are run: as a command, joined and read by a shell, or not at all."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """``skip`` operands stand in front of the command, ``assigns`` says that ``NAME=value`` may too. ``texts`` are
    options whose value a shell reads, ``commands`` those whose value is a command. ``bare``: looked through for allow
    only without any option. ``words`` are subcommands in front; ``dashes``: the command begins behind ``--``.
    ``writes`` are options whose value is a file that the wrapper itself writes; ``into``: its first operand is one."""

    kind: Kind
    grammar: Grammar
    why: str
    skip: int = 0
    assigns: bool = False
    texts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    tail: Tail = "command"
    bare: bool = False
    dashes: bool = False
    unknown_tail: bool = False
    writes: tuple[str, ...] = ()
    into: bool = False


def _row(
    kind: Kind,
    why: str,
    short: str = "",
    long: str = "",
    *,
    skip: int = 0,
    assigns: bool = False,
    texts: str = "",
    commands: str = "",
    tail: Tail = "command",
    bare: bool = False,
    dashes: bool = False,
    unknown_tail: bool = False,
    single: bool = False,
    permutes: bool = False,
    writes: str = "",
    into: bool = False,
) -> Wrapper:
    grammar = Grammar(frozenset(short), frozenset(long.split()), single=single, ordered=not permutes)
    return Wrapper(
        kind,
        grammar,
        why,
        skip,
        assigns,
        tuple(texts.split()),
        tuple(commands.split()),
        tail,
        bare,
        dashes,
        unknown_tail,
        tuple(writes.split()),
        into,
    )


_RUNS = "it runs the command in its words"
_RIGHTS = "it runs the command with other rights"
_SHELL = "it hands its words to a shell"
_TRACE = "it runs the command and watches it"
_PLACE = "it runs the command in other surroundings"
_FAR = "it runs the command on another machine or in a container"
_PACKAGE = "it runs a program of a package, and may fetch it first"

WRAPPERS: Mapping[str, Wrapper] = {
    # looked through for allow as well
    "timeout": _row("clear", _RUNS, "ks", "kill-after signal", skip=1),
    "nice": _row("clear", _RUNS, "n", "adjustment"),
    "nohup": _row("clear", _RUNS, bare=True),
    "stdbuf": _row("clear", _RUNS, "ioe", "input output error"),
    "command": _row("clear", _RUNS, bare=True),
    "xargs": _row(
        "clear",
        "it runs the command with words from its input",
        "adEILlnPs",
        "arg-file delimiter max-lines max-args max-procs max-chars process-slot-var",
        bare=True,
        unknown_tail=True,
    ),
    # builtins and keywords
    "builtin": _row("closed", _RUNS),
    "exec": _row("closed", "it replaces the shell by the command", "a"),
    "eval": _row("closed", "it reads its words as commands", tail="text"),
    "trap": _row("closed", "it reads its first word as commands, later", tail="text"),
    "coproc": _row("closed", "it runs the command beside the shell"),
    "time": _row("closed", _RUNS, "fo", "format output", writes="-o --output"),
    # other rights
    "sudo": _row("closed", _RIGHTS, "CDghpRrTtUu", "close-from chdir group host prompt chroot role command-timeout "
                 "type other-user user", assigns=True),
    "doas": _row("closed", _RIGHTS, "aCu"),
    "pkexec": _row("closed", _RIGHTS, "", "user"),
    "su": _row("closed", _RIGHTS, "cCgGsTw", "command session-command group supp-group shell whitelist-environment",
               texts="-c --command -C --session-command", tail="operands", permutes=True),
    "runuser": _row("closed", _RIGHTS, "cCgGsTuw", "command session-command group supp-group shell user "
                    "whitelist-environment", texts="-c --command -C --session-command", permutes=True),
    "sg": _row("closed", _RIGHTS, "c", texts="-c", skip=1, tail="text"),
    "gosu": _row("closed", _RIGHTS, skip=1),
    "su-exec": _row("closed", _RIGHTS, skip=1),
    "setpriv": _row("closed", _RIGHTS, "", "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups "
                    "securebits pdeathsig selinux-label apparmor-profile"),
    # environment, priority, session
    "env": _row("closed", "it runs the command with another environment", "uCSa", "unset chdir split-string argv0", assigns=True, texts="-S --split-string"),
    "setsid": _row("closed", _RUNS),
    "ionice": _row("closed", _RUNS, "cnpPu", "class classdata pid pgid uid"),
    "chrt": _row("closed", _RUNS, "TPDp", "sched-runtime sched-period sched-deadline pid", skip=1),
    "taskset": _row("closed", _RUNS, "p", "pid", skip=1),
    "numactl": _row("closed", _RUNS, "iNmCpl", "interleave cpunodebind membind physcpubind preferred"),
    "cpulimit": _row("closed", _RUNS, "lpe", "limit pid exe"),
    "prlimit": _row("closed", _RUNS, "po", "pid output"),
    "choom": _row("closed", _RUNS, "np", "adjust pid"),
    "flock": _row("closed", _RUNS, "wEc", "wait timeout conflict-exit-code command", skip=1, texts="-c --command"),
    "unbuffer": _row("closed", _RUNS),
    "chronic": _row("closed", _RUNS),
    "torsocks": _row("closed", _PLACE),
    "torify": _row("closed", _PLACE),
    "proxychains": _row("closed", _PLACE, "f"),
    "proxychains4": _row("closed", _PLACE, "f"),
    "rlwrap": _row("closed", _RUNS, "bcCDefHlmMopPqsStz"),
    "grc": _row("closed", _RUNS, "cs"),
    "multitime": _row("closed", _RUNS, "bfilnoqrsv"),
    "script": _row("closed", "it runs a shell or a command and records it", "cEIOBTmo", "command echo log-in log-out "
                   "log-io log-timing logging-format output-limit", skip=1, texts="-c --command", permutes=True, into=True,
                   writes="-I --log-in -O --log-out -B --log-io -T --log-timing --timing"),
    "watch": _row("closed", _SHELL, "nd", "interval", tail="text"),
    "entr": _row("closed", "it runs the command whenever a file changes", unknown_tail=True),
    "watchexec": _row("closed", "it runs the command whenever a file changes", "ewifdsN", "exts watch ignore filter "
                      "debounce signal shell", tail="text"),
    "nodemon": _row("closed", "it runs the command whenever a file changes", "xeiw", "exec ext ignore watch delay "
                    "config signal", texts="-x --exec"),
    "concurrently": _row("closed", _SHELL, "ncplmst", "names name-separator prefix-colors prefix prefix-length max-processes "
                         "success timestamp-format restart-tries restart-after kill-signal default-input-target hide",
                         tail="text", permutes=True),
    "hyperfine": _row("closed", _SHELL, "wmMrpcSnisPDLu", "warmup min-runs max-runs runs prepare cleanup shell "
                      "command-name setup conclude parameter-scan parameter-list export-json export-csv "
                      "export-markdown", texts="-p --prepare -c --cleanup -s --setup --conclude", tail="text",
                      writes="--export-json --export-csv --export-markdown --export-asciidoc --export-orgmode --output"),
    "start-stop-daemon": _row("closed", _RUNS, "xanupsRgckrNPIOd", "exec startas name user pidfile signal retry chuid "
                              "output chdir",
                              commands="-x --exec -a --startas", tail="operands", writes="-O --output"),
    "daemonize": _row("closed", _RUNS, "cEeolpu", writes="-o -e -p"),
    "logsave": _row("closed", _RUNS, skip=1, into=True),
    "dbus-run-session": _row("closed", _RUNS, "", "config-file dbus-daemon", dashes=False),
    "dbus-launch": _row("closed", _RUNS),
    "ssh-agent": _row("closed", _RUNS, "aEPt"),
    "xvfb-run": _row("closed", _RUNS, "efnpsw", "error-file auth-file server-num xauth-protocol server-args wait",
                     writes="-e --error-file"),
    "systemd-run": _row("closed", _RUNS, "HMEp", "host machine setenv property unit description slice uid gid nice "
                        "working-directory on-active on-boot on-calendar timer-property service-type"),
    "systemd-inhibit": _row("closed", _RUNS, "", "what who why mode"),
    "caffeinate": _row("closed", _RUNS, "tw"),
    "cgexec": _row("closed", _RUNS, "g"),
    "tini": _row("closed", _RUNS, "pe"),
    "dumb-init": _row("closed", _RUNS, "r", "rewrite"),
    "catatonit": _row("closed", _RUNS),
    "chpst": _row("closed", _RIGHTS, "uUbe/nlmdopfcrt"),
    "runcon": _row("closed", _RIGHTS, "turlc", "type user role range"),
    "setuidgid": _row("closed", _RIGHTS, skip=1),
    "s6-setuidgid": _row("closed", _RIGHTS, skip=1),
    "envdir": _row("closed", _PLACE, skip=1),
    "envuidgid": _row("closed", _RIGHTS, skip=1),
    "with-contenv": _row("closed", _PLACE),
    "execlineb": _row("closed", _SHELL, "c", texts="-c"),
    "newgrp": _row("closed", _RIGHTS, tail="operands"),
    "pexec": _row("closed", _RUNS, "npe"),
    "softlimit": _row("closed", _RUNS, "amdslfotrcp"),
    "socksify": _row("closed", _PLACE),
    "setlock": _row("closed", _RUNS, skip=1),
    "openvt": _row("closed", _RUNS, "c"),
    "nyc": _row("runner", _RUNS, "r", "reporter require exclude include report-dir temp-dir cwd"),
    "c8": _row("runner", _RUNS, "r", "reporter exclude include reports-dir temp-directory"),
    "busybox": _row("closed", "it is many programs, a shell among them"),
    "toybox": _row("closed", "it is many programs, a shell among them"),
    **{name: _row("closed", _RUNS) for name in (
        "aa-exec", "aoss", "padsp", "distcc", "ccache", "sccache", "icecc", "ksu", "nocache", "annotate-output", "retry",
        "lckdo", "steam-run", "primusrun", "optirun", "vglrun", "gamemoderun", "mangohud", "wine", "tsocks", "schroot",
        "envchain", "uxterm", "alacritty", "kitty", "foot", "reptyr", "run-one", "ifne", "nq")},
    "bear": _row("closed", _RUNS, "o", "output config", dashes=True, writes="-o --output"),
    "scan-build": _row("closed", _RUNS, "o", "use-cc use-c++ use-analyzer html-title status-bugs-file", writes="-o"),
    "tsp": _row("closed", "it runs the command when its turn comes", "SLDWNO"),
    "pee": _row("closed", _SHELL, tail="text"),
    "mispipe": _row("closed", _SHELL, tail="text"),
    "uclampset": _row("closed", _RUNS, "mMp", "pid"),
    "trickle": _row("closed", _PLACE, "udwtlLnP"),
    "run0": _row("closed", _RIGHTS, "ugDM", "unit property description slice user group nice chdir setenv background machine"),
    "cargo-watch": _row("closed", "it runs a command whenever a file changes", "xsCdwiBE", "exec shell workdir delay watch ignore "
                        "features use-shell env", texts="-s --shell", dashes=True),
    "onchange": _row("closed", "it runs the command whenever a file changes", "iedjfo", "exclude delay jobs filter outpipe",
                     dashes=True),
    "chokidar": _row("closed", "it runs a command whenever a file changes", "cdtip", "command debounce throttle ignore "
                     "polling-interval", texts="-c --command", tail="operands", permutes=True),
    "reflex": _row("closed", "it runs the command whenever a file changes", "rRgGcdt", "regex inverse-regex glob inverse-glob "
                   "config decoration shutdown-timeout"),
    "sem": _row("closed", _SHELL, "j", "id", tail="text"),
    # other surroundings
    "chroot": _row("closed", _PLACE, "", "groups userspec", skip=1),
    "unshare": _row("closed", _PLACE, "RwSGl", "root wd setuid setgid propagation map-user map-group"),
    "nsenter": _row("closed", _PLACE, "tSG", "target setuid setgid"),
    "firejail": _row("closed", _PLACE, writes="--output --output-stderr"),
    "fakeroot": _row("closed", _PLACE, "libsf", "lib faked"),
    "fakechroot": _row("closed", _PLACE),
    "proot": _row("closed", _PLACE, "rbqwvlkiS0", "rootfs bind qemu cwd"),
    "eatmydata": _row("closed", _PLACE),
    "faketime": _row("closed", _PLACE, "p", "date-prog", skip=1, commands="--date-prog"),
    "flatpak-spawn": _row("closed", _PLACE, "", "forward-fd sandbox-expose sandbox-expose-ro"),
    "systemd-nspawn": _row("closed", _PLACE, "DiMSupELZ", "directory image machine slice user uuid property port setenv "
                           "bind bind-ro tmpfs overlay overlay-ro chdir hostname capability drop-capability"),
    # watching
    "strace": _row("closed", _TRACE, "abeoOpPsSuEIXU", "output trace attach user env string-limit columns summary-sort-by "
                   "summary-columns trace-path status signal const-print-style", writes="-o --output"),
    "ltrace": _row("closed", _TRACE, "aADeFlnopsuwxX", "align config debug indent library output", writes="-o --output"),
    "valgrind": _row("closed", _TRACE, "", "", writes="--log-file --xml-file --callgrind-out-file --cachegrind-out-file "
                     "--massif-out-file --dhat-out-file"),
    "gtime": _row("closed", _TRACE, "fo", "format output", writes="-o --output"),
    "heaptrack": _row("closed", _TRACE, "o", "output", writes="-o --output"),
    "rr": _row("closed", _TRACE),
    "uftrace": _row("closed", _TRACE, "FNDARTCLdPtSUZWbr", "data logfile", writes="-d --data --logfile"),
    "kcov": _row("closed", _TRACE, skip=1, into=True),
    "catchsegv": _row("closed", _TRACE),
    # package runners
    "npx": _row("runner", _PACKAGE, "pcw", "package call workspace", texts="-c --call"),
    "pnpx": _row("runner", _PACKAGE, "p", "package"),
    "bunx": _row("runner", _PACKAGE, "p", "package"),
    "uvx": _row("runner", _PACKAGE, "pfciwn", "python from with with-editable with-requirements index default-index "
                "index-url extra-index-url find-links directory project config-file refresh-package"),
    "cross-env": _row("runner", "it runs the command with another environment", assigns=True),
    "cross-env-shell": _row("closed", _SHELL, assigns=True, tail="text"),
    "env-cmd": _row("closed", "it runs the command with another environment", "fer", "file environments rc-file"),
    "dotenv": _row("closed", "it runs the command with another environment", "efvpq", "file"),
    "npm-run-all": _row("runner", "it runs scripts of the package", tail="operands"),
    "run-s": _row("runner", "it runs scripts of the package", tail="operands"),
    "run-p": _row("runner", "it runs scripts of the package", tail="operands"),
    # elsewhere
    "ssh": _row("closed", _FAR, "BbcDEeFIiJLlmOoPpQRSWw", skip=1, tail="text", writes="-E"),
    "mosh": _row("closed", _FAR, "p", "client server ssh predict port", skip=1),
    "rsh": _row("closed", _FAR, "lk", skip=1, tail="text"),
    "sshpass": _row("closed", _RUNS, "pfdP"),
    "pdsh": _row("closed", _FAR, "wxglRfutXMFP", tail="text"),
    "clush": _row("closed", _FAR, "wxgGfltuoO", "hostfile group fanout user options command_timeout connect_timeout outdir "
                  "errdir", tail="text"),
    **{name: _row("closed", _FAR, "hHlpoetOxX", "hosts host user par outdir errdir timeout option extra-args extra-arg",
                  tail="text", writes="-o -e --outdir --errdir") for name in ("pssh", "parallel-ssh")},
    "ansible": _row("closed", _FAR, "aBCeEfiIKMPtTuRc", "args background extra-vars forks inventory limit module-name "
                    "module-path poll tree user", texts="-a --args", tail="operands", permutes=True, writes="-t --tree"),
    "autossh": _row("closed", _FAR, "MBbcDEeFIiJLlmOoPpQRSWw", skip=1, tail="text", writes="-E"),
}  # fmt: skip
"""By the program's base name."""

_ENGINES = ("docker", "podman", "nerdctl", "finch")
_FILTERS = ("--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter "
            "--commit-filter --tag-name-filter")  # fmt: skip

SUBCOMMANDS: Mapping[tuple[str, ...], Wrapper] = {
    # npm takes the beginning of a command for the whole.
    **{("npm", each): _row("runner", _PACKAGE, "pcwC", "package call workspace prefix", texts="-c --call")
       for each in ("exec", "exe", "ex", "x")},
    **{("npm", each): _row("closed", _RUNS, skip=1, tail="text", dashes=True)
       for each in ("explore", "explor", "explo", "expl")},
    **{("npm", each): _row("runner", _PACKAGE)
       for each in ("init", "ini", "innit", "inni", "inn", "create", "creat", "crea", "cre", "cr")},
    ("pnpm", "exec"): _row("runner", _PACKAGE, "C", "dir filter"),
    ("pnpm", "dlx"): _row("runner", _PACKAGE, "pC", "package dir"),
    **{("pnpm", each, "exec"): _row("runner", _PACKAGE) for each in ("recursive", "multi", "m")},
    ("pnpm", "create"): _row("runner", _PACKAGE),
    ("yarn", "exec"): _row("runner", _PACKAGE),
    ("yarn", "dlx"): _row("runner", _PACKAGE, "p", "package"),
    ("yarn", "create"): _row("runner", _PACKAGE),
    ("yarn", "workspace"): _row("runner", "it runs yarn in a package", skip=1),
    ("tox", "exec"): _row("runner", _PACKAGE, "e", "conf", dashes=True),
    ("tox", "e"): _row("runner", _PACKAGE, "e", "conf", dashes=True),
    ("cargo", "watch"): _row("closed", "it runs a command whenever a file changes", "xsCdwiBE", "exec shell workdir delay watch "
                             "ignore features use-shell env", texts="-s --shell", dashes=True),
    ("cargo-watch", "watch"): _row("closed", "it runs a command whenever a file changes", "xsCdwiBE", "exec shell workdir delay "
                                   "watch ignore features use-shell env", texts="-s --shell", dashes=True),
    ("bun", "x"): _row("runner", _PACKAGE, "p", "package"),
    ("bun", "create"): _row("runner", _PACKAGE),
    ("bun", "exec"): _row("closed", _SHELL, tail="text"),
    ("uv", "run"): _row("runner", _PACKAGE, "pmwCP", "python module with with-editable with-requirements extra group "
                        "only-group env-file package directory project index default-index index-url "
                        "extra-index-url find-links config-file refresh-package upgrade-package", texts=""),
    ("uv", "tool", "run"): _row("runner", _PACKAGE, "p", "python from with with-editable with-requirements"),
    ("poetry", "run"): _row("runner", _PACKAGE, "PC", "project directory"),
    ("pdm", "run"): _row("runner", _PACKAGE, "p", "project site-packages"),
    ("hatch", "run"): _row("runner", _PACKAGE),
    ("hatch", "env", "run"): _row("runner", _PACKAGE, "eifF", "env include exclude filter force-continue", dashes=True),
    ("rye", "run"): _row("runner", _PACKAGE, "", "pyproject"),
    ("pipenv", "run"): _row("runner", _PACKAGE),
    ("pipx", "run"): _row("runner", _PACKAGE, "", "spec python pip-args index-url with"),
    ("pixi", "run"): _row("runner", _PACKAGE, "e", "environment manifest-path"),
    ("conda", "run"): _row("runner", _PACKAGE, "np", "name prefix cwd"),
    ("mamba", "run"): _row("runner", _PACKAGE, "np", "name prefix cwd"),
    ("micromamba", "run"): _row("runner", _PACKAGE, "nprc", "name prefix root-prefix cwd"),
    ("bundle", "exec"): _row("runner", _PACKAGE, "", "gemfile"),
    **{(name, "exec"): _row("runner", _PACKAGE) for name in (
        "rbenv", "pyenv", "nodenv", "jenv", "goenv", "phpenv", "plenv", "luaenv", "swiftenv", "asdf")},
    ("mise", "exec"): _row("runner", _PACKAGE, "cCj", "command cd jobs", texts="-c --command", dashes=True),
    ("mise", "x"): _row("runner", _PACKAGE, "cCj", "command cd jobs", texts="-c --command", dashes=True),
    ("volta", "run"): _row("runner", _PACKAGE, "", "node npm yarn env"),
    ("fnm", "exec"): _row("runner", _PACKAGE, "", "using"),
    ("nvm", "exec"): _row("runner", _PACKAGE, skip=1),
    ("composer", "exec"): _row("runner", _PACKAGE),
    ("nx", "exec"): _row("runner", _PACKAGE, dashes=True),
    ("turbo", "exec"): _row("runner", _PACKAGE, dashes=True),
    ("rush", "exec"): _row("runner", _PACKAGE),
    ("heroku", "run"): _row("closed", _FAR, "a", "app"),
    ("fly", "ssh"): _row("closed", _FAR, "Ca", "command app", texts="-C --command", tail="operands"),
    ("infisical", "run"): _row("closed", _PLACE, "", "command env path", texts="--command", dashes=True),
    ("chamber", "exec"): _row("closed", _PLACE, skip=1, dashes=True),
    ("sops", "exec-env"): _row("closed", _SHELL, skip=1, tail="text"),
    ("sops", "exec-file"): _row("closed", _SHELL, skip=1, tail="text"),
    ("distrobox", "enter"): _row("closed", _FAR, "n", "name", dashes=True),
    ("toolbox", "run"): _row("closed", _FAR, "cd", "container distro"),
    ("devbox", "run"): _row("closed", _PLACE, "c", "config"),
    ("gh", "codespace", "ssh"): _row("closed", _FAR, "c", "codespace", dashes=True),
    ("ray", "job", "submit"): _row("closed", _FAR, "", "address working-dir runtime-env", dashes=True),
    ("opam", "exec"): _row("runner", _PACKAGE, "", "switch root"),
    ("stack", "exec"): _row("runner", _PACKAGE, "", "stack-yaml package resolver"),
    ("cabal", "exec"): _row("runner", _PACKAGE, "v", "project-file builddir"),
    ("dune", "exec"): _row("runner", _PACKAGE, "", "root profile"),
    ("lerna", "exec"): _row("runner", _PACKAGE, "", "scope ignore since"),
    ("rustup", "run"): _row("runner", _PACKAGE, skip=1),
    ("dotnet", "exec"): _row("runner", _PACKAGE, "", "depsfile runtimeconfig additionalprobingpath fx-version"),
    ("dotnet", "tool", "run"): _row("runner", _PACKAGE),
    ("direnv", "exec"): _row("closed", _PLACE, skip=1),
    ("doppler", "run"): _row("closed", _PLACE, "pct", "project config token command", texts="--command"),
    ("op", "run"): _row("closed", _PLACE, "", "env-file account"),
    **{(name, *row, "exec"): _row("closed", _FAR, "euw", "env env-file user workdir detach-keys index", skip=1)
       for name in _ENGINES for row in ((), ("container",), ("compose",))},
    **{(name, *row): _row("closed", _FAR, "aceghlmpuvw", "add-host attach cap-add cap-drop cpus cpuset-cpus device dns "
                          "entrypoint env env-file expose gpus group-add hostname ip label link log-driver log-opt "
                          "memory mount name network net pid platform publish pull restart runtime security-opt "
                          "shm-size sysctl tmpfs ulimit user userns volume volumes-from workdir cidfile", skip=1,
                          commands="--entrypoint", writes="--cidfile")
       for name in _ENGINES for row in (("run",), ("create",), ("container", "run"), ("container", "create"))},
    **{(*name, "run"): _row("closed", _FAR, "elpuvw", "entrypoint env env-from-file name user workdir volume publish label "
                            "cap-add cap-drop pull", skip=1, commands="--entrypoint")
       for name in (*((engine, "compose") for engine in _ENGINES), ("docker-compose",), ("podman-compose",))},
    **{(name, "exec"): _row("closed", _FAR, "euw", "env user workdir index", skip=1)
       for name in ("docker-compose", "podman-compose")},
    **{(name, each): _row("closed", _FAR, "BHSWceo", "app bind home scratch workdir overlay env env-file fusemount pwd cwd "
                          "network dns hostname security apply-cgroups add-caps drop-caps mount pem-path", skip=1)
       for name in ("apptainer", "singularity") for each in ("exec", "run")},
    ("kubectl", "exec"): _row("closed", _FAR, "cn", "container namespace context kubeconfig", skip=1, dashes=True),
    ("kubectl", "run"): _row("closed", _FAR, "n", "image namespace restart overrides", skip=1, dashes=True),
    ("kubectl", "debug"): _row("closed", _FAR, "cn", "container namespace image target copy-to", skip=1, dashes=True),
    ("oc", "exec"): _row("closed", _FAR, "cn", "container namespace", skip=1, dashes=True),
    ("oc", "rsh"): _row("closed", _FAR, "cn", "container namespace shell timeout", skip=1, dashes=True),
    ("lxc", "exec"): _row("closed", _FAR, "", "env cwd user group mode", skip=1, dashes=True),
    ("incus", "exec"): _row("closed", _FAR, "", "env cwd user group mode project", skip=1, dashes=True),
    ("multipass", "exec"): _row("closed", _FAR, "d", "working-directory", skip=1, dashes=True),
    ("machinectl", "shell"): _row("closed", _FAR, "HMEu", "host machine setenv uid", skip=1),
    ("flatpak", "run"): _row("closed", _PLACE, "", "arch branch cwd command", skip=1, commands="--command"),
    ("railway", "run"): _row("closed", _PLACE, "sep", "service environment project"),
    ("dotenvx", "run"): _row("closed", "it runs the command with another environment", "ef", "env env-file env-vault-file "
                             "convention env-keys-file", dashes=True),
    **{(name, "run"): _row("closed", _PLACE, "edf", "env root procfile app-root") for name in ("foreman", "honcho")},
    ("flox", "activate"): _row("closed", _PLACE, "drcm", "dir remote command mode", texts="-c --command", dashes=True),
    ("pueue", "add"): _row("closed", _SHELL, "wgdalop", "working-directory group delay after label priority", tail="text"),
    ("vagrant", "ssh"): _row("closed", _FAR, "c", "command", texts="-c --command", tail="operands"),
    ("gcloud", "compute", "ssh"): _row("closed", _FAR, "", "command zone project", texts="--command", tail="operands"),
    ("perf", "stat"): _row("closed", _TRACE, "eopICGrx", "event output pid", writes="-o --output"),
    ("perf", "record"): _row("closed", _TRACE, "eopFcCGm", "event output pid", writes="-o --output"),
    ("perf", "trace"): _row("closed", _TRACE, "eopu", "expr output pid", writes="-o --output"),
    ("rr", "record"): _row("closed", _TRACE, "covnFM", "output-trace-dir env syscall-buffer-size num-cores"),
    **{("uftrace", each): _row("closed", _TRACE, "FNDARTCLdPtSUZWbr", "data logfile", writes="-d --data --logfile") for each in ("record", "live")},
    ("ip", "netns", "exec"): _row("closed", _PLACE, skip=1),
    ("git", "bisect", "run"): _row("closed", _RUNS),
    ("git", "submodule", "foreach"): _row("closed", _SHELL, tail="text"),
    ("git", "filter-branch"): _row("closed", _SHELL, "d", f"original state-branch subdirectory-filter {_FILTERS.replace('--', '')}",
                                   texts=_FILTERS, tail="operands", permutes=True),
    ("git", "difftool"): _row("closed", _SHELL, "xt", "extcmd tool", texts="-x --extcmd", tail="operands", permutes=True),
    ("git", "send-email"): _row("closed", _SHELL, "", "sendmail-cmd smtp-server to-cmd cc-cmd header-cmd",
                                texts="--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd", tail="operands",
                                permutes=True),
    ("git", "instaweb"): _row("closed", _SHELL, "dbpm", "httpd browser port module-path", texts="-d --httpd -b --browser",
                              tail="operands", permutes=True),
    ("git", "daemon"): _row("closed", _SHELL, "", "access-hook", texts="--access-hook", tail="operands", permutes=True),
    ("cmake", "-E", "env"): _row("closed", "it runs the command with another environment", "", "unset modify",
                                 assigns=True),
    ("cmake", "-E", "time"): _row("closed", _RUNS),
    ("cmake", "-E", "chdir"): _row("closed", _PLACE, skip=1),
    ("aws-vault", "exec"): _row("closed", _PLACE, "d", "duration", skip=1, dashes=True),
}  # fmt: skip
"""By the program's base name and its first words."""

SHELLS: Mapping[str, str] = dict.fromkeys(
    ("sh", "bash", "rbash", "dash", "ash", "zsh", "rzsh", "ksh", "ksh93", "mksh", "pdksh", "lksh", "oksh", "yash", "posh",
     "fish", "csh", "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "sash", "osh", "rc", "es"),
    "it is a shell: it reads commands from an option, a file or its input",
)  # fmt: skip

SHELL_GRAMMAR = Grammar(frozenset("oO"), frozenset({"rcfile", "init-file"}), ordered=True)

SHELL_TEXTS: Mapping[str, tuple[Grammar, tuple[str, ...]]] = {
    "fish": (Grammar(frozenset("cCdfDo"), frozenset({"command", "init-command", "features", "debug"}), ordered=True),
             ("-c", "--command", "-C", "--init-command")),
    "nu": (Grammar(frozenset("ceIm"), frozenset({"commands", "execute", "include-path", "config", "env-config", "table-mode"}),
                   ordered=True), ("-c", "--commands", "-e", "--execute")),
}  # fmt: skip
"""Shells with options of their own that take a text, and which these are."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """``code`` are its options that take code, load code, or change or write files. ``module`` runs a module by name."""

    grammar: Grammar
    code: frozenset[str]
    module: str | None = None


def _language(short: str, long: str, code: str, module: str | None = None) -> Interpreter:
    return Interpreter(
        Grammar(frozenset(short), frozenset(long.split()), ordered=True), frozenset(code.split()), module
    )


_NODE_CODE = (
    "-e -p -r -i --eval --print --require --import --loader --experimental-loader --run --test --interactive "
    "--env-file --env-file-if-exists --openssl-config --build-snapshot --snapshot-blob --cpu-prof --heap-prof --prof "
    "--diagnostic-dir --report-directory --redirect-warnings --experimental-config-file --inspect --inspect-brk "
    "--inspect-wait --experimental-default-config-file --localstorage-file --icu-data-dir --test-reporter "
    "--test-reporter-destination --test-global-setup --tls-keylog --cpu-prof-dir --heap-prof-dir "
    "--trace-event-file-pattern"
)

INTERPRETERS: Mapping[str, Interpreter] = {
    "python": _language("WXcm", "check-hash-based-pycs", "-c -i", module="-m"),
    "pypy": _language("WXcm", "jit", "-c -i", module="-m"),
    "node": _language("eprC", "eval print require import loader experimental-loader env-file conditions title "
                      "env-file-if-exists snapshot-blob diagnostic-dir report-directory redirect-warnings", _NODE_CODE),
    "ts-node": _language("epPrO", "eval print project require compiler-options", "-e -p -r -O --eval --print --require "
                         "--compiler --compiler-options --project -P"),
    "tsx": _language("epr", "eval print require import tsconfig", "-e -p -r --eval --print --require --import --tsconfig"),
    "wish": _language("", "", ""),
    "perl": _language("eEIMmx", "", "-e -E -i -I -M -m -x -d -D -S"),
    "ruby": _language("erICEFW", "encoding", "-e -r -I -i -C -x -S --require"),
    "php": _language("rBREFfdzSct", "run file define server", "-r -B -R -E -F -d -z -S -c -a --run --define --server"),
    "lua": _language("el", "", "-e -l -i"),
    "luajit": _language("elbjO", "", "-e -l -i -b -j"),
    "Rscript": _language("eg", "", "-e"),
    "julia": _language("eEJLtpCHm", "eval print load project threads", "-e -E -J -L -m -i --eval --print --load --project"),
    "tclsh": _language("", "", ""),
    "elixir": _language("erS", "eval require erl", "-e -r -S --eval --require --erl"),
    "groovy": _language("ecDip", "classpath", "-e -D -i -p -c --classpath"),
    "osascript": _language("els", "", "-e -i"),
    "guile": _language("cleL", "", "-c -l -e -L"),
    "racket": _language("eftlpr", "", "-e -f -t -l -p -r -i"),
}  # fmt: skip
"""Programs that run a script named as their first operand, or code from an option or their input."""
