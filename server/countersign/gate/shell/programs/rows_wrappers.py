"""Programs that run another program named in their words (RULES.md S7). Data: one row each, with its reason.

Those that do so under a subcommand of theirs stand in ``rows_runners.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from countersign.gate.shell.programs.argv import Grammar
from countersign.gate.shell.programs.rows_runners import SUBCOMMANDS
from countersign.gate.shell.programs.wrapper_row import (
    FAR,
    PACKAGE,
    PLACE,
    RIGHTS,
    RUNS,
    SHELL,
    TRACE,
    Wrapper,
    wrapper,
)

__all__ = ["INTERPRETERS", "SHELLS", "SHELL_GRAMMAR", "SHELL_TEXTS", "SUBCOMMANDS", "WRAPPERS", "Wrapper"]

WRAPPERS: Mapping[str, Wrapper] = {
    # looked through for allow as well
    "timeout": wrapper("clear", RUNS, "ks", "kill-after signal", skip=1),
    "nice": wrapper("clear", RUNS, "n", "adjustment"),
    "nohup": wrapper("clear", RUNS, bare=True),
    "stdbuf": wrapper("clear", RUNS, "ioe", "input output error"),
    "command": wrapper("clear", RUNS, bare=True),
    "xargs": wrapper(
        "clear",
        "it runs the command with words from its input",
        "adEIJLnPRSs",
        "arg-file delimiter max-args max-procs max-chars process-slot-var",
        bare=True,
        unknown_tail=True,
    ),
    # builtins and keywords
    "builtin": wrapper("closed", RUNS),
    "exec": wrapper("closed", "it replaces the shell by the command", "a"),
    "eval": wrapper("closed", "it runs its arguments as commands", tail="text"),
    "trap": wrapper("closed", "it runs its first argument as commands, later", tail="text"),
    "coproc": wrapper("closed", "it runs the command beside the shell"),
    "time": wrapper("closed", RUNS, "fo", "format output", writes="-o --output"),
    # other rights
    "sudo": wrapper("closed", RIGHTS, "CDghpRrTtUu", "close-from chdir group host prompt chroot role command-timeout "
                 "type other-user user", assigns=True),
    "doas": wrapper("closed", RIGHTS, "aCu"),
    "pkexec": wrapper("closed", RIGHTS, "", "user"),
    "su": wrapper("closed", RIGHTS, "cCgGsTw", "command session-command group supp-group shell whitelist-environment",
               texts="-c --command -C --session-command", tail="operands", permutes=True),
    "runuser": wrapper("closed", RIGHTS, "cCgGsTuw", "command session-command group supp-group shell user "
                    "whitelist-environment", texts="-c --command -C --session-command", permutes=True),
    "sg": wrapper("closed", RIGHTS, "c", texts="-c", skip=1, tail="text"),
    "gosu": wrapper("closed", RIGHTS, skip=1),
    "su-exec": wrapper("closed", RIGHTS, skip=1),
    "setpriv": wrapper("closed", RIGHTS, "", "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups "
                    "securebits pdeathsig selinux-label apparmor-profile"),
    # environment, priority, session
    "env": wrapper("closed", "it runs the command with another environment", "uCSaPL", "unset chdir split-string argv0", assigns=True, texts="-S --split-string"),
    "setsid": wrapper("closed", RUNS),
    "ionice": wrapper("closed", RUNS, "cnpPu", "class classdata pid pgid uid"),
    "chrt": wrapper("closed", RUNS, "TPDp", "sched-runtime sched-period sched-deadline pid", skip=1),
    "taskset": wrapper("closed", RUNS, "p", "pid", skip=1),
    "numactl": wrapper("closed", RUNS, "iNmCpPw", "interleave cpunodebind membind physcpubind preferred preferred-many "
                       "weighted-interleave"),
    "cpulimit": wrapper("closed", RUNS, "lpeP", "limit pid exe path"),
    "prlimit": wrapper("closed", RUNS, "po", "pid output"),
    "choom": wrapper("closed", RUNS, "np", "adjust pid"),
    "flock": wrapper("closed", RUNS, "wEc", "wait timeout conflict-exit-code command", skip=1, texts="-c --command"),
    "unbuffer": wrapper("closed", RUNS),
    "chronic": wrapper("closed", RUNS),
    "torsocks": wrapper("closed", PLACE),
    "torify": wrapper("closed", PLACE),
    "proxychains": wrapper("closed", PLACE, "f"),
    "proxychains4": wrapper("closed", PLACE, "f"),
    "rlwrap": wrapper("closed", RUNS, "bCDefgHlMOPqsStwz", "break-chars command-name history-no-dupes extra-char-after-completion "
                      "file forget-matching history-filename logfile multi-line-ext only-cook pre-given quote-characters histsize "
                      "substitute-prompt set-term-name wait-before-prompt filter", writes="-l --logfile -H --history-filename"),
    "grc": wrapper("closed", RUNS, "c", "config"),
    "multitime": wrapper("closed", RUNS, "bfIinors", texts="-i -o -r"),
    "script": wrapper("closed", "it runs a shell or a command and records it", "cEIOBTmo", "command echo log-in log-out "
                   "log-io log-timing logging-format output-limit", skip=1, texts="-c --command", permutes=True, into=True,
                   writes="-I --log-in -O --log-out -B --log-io -T --log-timing --timing"),
    "watch": wrapper("closed", SHELL, "nqs", "interval equexit shotsdir", tail="text"),
    "entr": wrapper("closed", "it runs the command whenever a file changes", unknown_tail=True),
    "watchexec": wrapper("closed", "it runs the command whenever a file changes", "ewWFifdsoEj", "exts watch watch-non-recursive "
                         "watch-file ignore filter debounce signal shell on-busy-update stop-signal stop-timeout map-signal "
                         "delay-run workdir env socket project-origin ignore-file filter-file filter-prog fs-events "
                         "emit-events-to color log-file wrap-process bell-on", tail="text", writes="--log-file"),
    **{name: wrapper("closed", "it runs commands after each build", texts="--onSuccess --onFirstSuccess --onFailure --onEmit "
                     "--onCompilationStarted --onCompilationComplete", long="onSuccess onFirstSuccess onFailure onEmit "
                     "onCompilationStarted onCompilationComplete", tail="operands", permutes=True)
       for name in ("tsc-watch", "tsup-node")},
    **{name: wrapper("closed", SHELL, tail="text") for name in ("start-server-and-test", "start-test", "server-test")},
    "nodemon": wrapper("closed", "it runs the command whenever a file changes", "xeiw", "exec ext ignore watch delay "
                    "config signal", texts="-x --exec"),
    **{name: wrapper("closed", SHELL, "ncplmst", "names name-separator prefix-colors prefix prefix-length max-processes "
                         "success timestamp-format restart-tries restart-after kill-signal default-input-target hide teardown", texts="--teardown",
                         tail="text", permutes=True) for name in ("concurrently", "conc")},
    "hyperfine": wrapper("closed", SHELL, "wmMrpcCSnsPDLu", "warmup min-runs max-runs runs prepare cleanup shell "
                      "command-name setup conclude parameter-scan parameter-list export-json export-csv "
                      "export-markdown", texts="-p --prepare -c --cleanup -s --setup -C --conclude", tail="text",
                      writes="--export-json --export-csv --export-markdown --export-asciidoc --export-orgmode --output"),
    "start-stop-daemon": wrapper("closed", RUNS, "xanupsRgckrNPIOd", "exec startas name user pidfile signal retry chuid "
                              "output chdir",
                              commands="-x --exec -a --startas", tail="operands", writes="-O --output"),
    "daemonize": wrapper("closed", RUNS, "cEeolpu", writes="-o -e -p"),
    "logsave": wrapper("closed", RUNS, skip=1, into=True),
    "dbus-run-session": wrapper("closed", RUNS, "", "config-file dbus-daemon", dashes=False),
    "dbus-launch": wrapper("closed", RUNS),
    "ssh-agent": wrapper("closed", RUNS, "aEPt"),
    "xvfb-run": wrapper("closed", RUNS, "efnpsw", "error-file auth-file server-num xauth-protocol server-args wait",
                     writes="-e --error-file"),
    "systemd-run": wrapper("closed", RUNS, "HMEpu", "host machine setenv property unit description slice uid gid nice "
                        "working-directory on-active on-boot on-calendar timer-property service-type on-startup "
                        "on-unit-active on-unit-inactive path-property socket-property background expand-environment job-mode "
                        "capsule"),
    "systemd-inhibit": wrapper("closed", RUNS, "", "what who why mode"),
    "caffeinate": wrapper("closed", RUNS, "tw"),
    "cgexec": wrapper("closed", RUNS, "g"),
    "tini": wrapper("closed", RUNS, "pe"),
    "dumb-init": wrapper("closed", RUNS, "r", "rewrite"),
    "catatonit": wrapper("closed", RUNS),
    "chpst": wrapper("closed", RIGHTS, "uUbe/nlLmdopfcrt"),
    "setuidgid": wrapper("closed", RIGHTS, skip=1),
    "s6-setuidgid": wrapper("closed", RIGHTS, skip=1),
    "envdir": wrapper("closed", PLACE, skip=1),
    "envuidgid": wrapper("closed", RIGHTS, skip=1),
    "with-contenv": wrapper("closed", PLACE),
    "execlineb": wrapper("closed", SHELL, "c", texts="-c"),
    "newgrp": wrapper("closed", RIGHTS, tail="operands"),
    "pexec": wrapper("closed", RUNS, "npe"),
    "softlimit": wrapper("closed", RUNS, "amdslfotrcp"),
    "socksify": wrapper("closed", PLACE),
    "setlock": wrapper("closed", RUNS, skip=1),
    "openvt": wrapper("closed", RUNS, "c"),
    "nyc": wrapper("runner", RUNS, "r", "reporter require exclude include report-dir temp-dir cwd"),
    "c8": wrapper("runner", RUNS, "r", "reporter exclude include reports-dir temp-directory"),
    "busybox": wrapper("closed", "it is many programs, a shell among them"),
    "toybox": wrapper("closed", "it is many programs, a shell among them"),
    **{name: wrapper("closed", RUNS) for name in (
        "aa-exec", "aoss", "padsp", "distcc", "ccache", "sccache", "icecc", "ksu", "nocache", "annotate-output", "retry",
        "lckdo", "steam-run", "primusrun", "optirun", "vglrun", "gamemoderun", "mangohud", "wine", "tsocks", "schroot",
        "uxterm", "alacritty", "kitty", "foot", "reptyr", "run-one", "ifne", "nq")},
    "bear": wrapper("closed", RUNS, "o", "output config", dashes=True, writes="-o --output"),
    "scan-build": wrapper("closed", RUNS, "o", "use-cc use-c++ use-analyzer html-title status-bugs-file", writes="-o"),
    "tsp": wrapper("closed", "it runs the command when its turn comes", "SLDWNO"),
    "pee": wrapper("closed", SHELL, tail="text"),
    "mispipe": wrapper("closed", SHELL, tail="text"),
    "uclampset": wrapper("closed", RUNS, "mMp", "pid"),
    "trickle": wrapper("closed", PLACE, "udwtlLnP"),
    "run0": wrapper("closed", RIGHTS, "ugDM", "unit property description slice user group nice chdir setenv background machine"),
    "cargo-watch": wrapper("closed", "it runs a command whenever a file changes", "xsCdwiBE", "exec shell workdir delay watch ignore "
                        "features use-shell env", texts="-s --shell", dashes=True),
    "onchange": wrapper("closed", "it runs the command whenever a file changes", "iedjfo", "exclude delay jobs filter outpipe",
                     dashes=True),
    "chokidar": wrapper("closed", "it runs a command whenever a file changes", "cdtip", "command debounce throttle ignore "
                     "polling-interval", texts="-c --command", tail="operands", permutes=True),
    "reflex": wrapper("closed", "it runs the command whenever a file changes", "rRgGcdt", "regex inverse-regex glob inverse-glob "
                   "config decoration shutdown-timeout"),
    "sem": wrapper("closed", SHELL, "j", "id", tail="text"),
    # other surroundings
    **{name: wrapper("closed", PLACE, "", "groups userspec", skip=1)
       for name in ("chroot", "arch-chroot", "jchroot", "switch_root")},
    "minijail0": wrapper("closed", PLACE, "abBcCefgkmMPRSTuV", "profile preload-library"),
    "unshare": wrapper("closed", PLACE, "RwSGl", "root wd setuid setgid propagation map-user map-group map-users map-groups "
                       "setgroups boottime monotonic load-interp owner"),
    "nsenter": wrapper("closed", PLACE, "tSG", "target setuid setgid"),
    "firejail": wrapper("closed", PLACE, writes="--output --output-stderr"),
    "fakeroot": wrapper("closed", PLACE, "libsf", "lib faked"),
    "fakechroot": wrapper("closed", PLACE),
    "proot": wrapper("closed", PLACE, "rbmqwvkiSR", "rootfs bind mount qemu cwd pwd verbose kernel-release change-id"),
    "eatmydata": wrapper("closed", PLACE),
    "faketime": wrapper("closed", PLACE, "p", "date-prog", skip=1, commands="--date-prog"),
    "flatpak-spawn": wrapper("closed", PLACE, "", "forward-fd sandbox-expose sandbox-expose-ro"),
    "systemd-nspawn": wrapper("closed", PLACE, "DiMSupELZ", "directory image machine slice user uuid property port setenv "
                           "bind bind-ro tmpfs overlay overlay-ro chdir hostname capability drop-capability"),
    # watching
    "strace": wrapper("closed", TRACE, "abeoOpPsSuEIXU", "output trace attach user env string-limit columns summary-sort-by "
                   "summary-columns trace-path status signal const-print-style abbrev argv0 columns detach-on fault inject "
                        "interruptible kvm raw read write syscall-limit trace-fds verbose stack-trace-frame-limit", writes="-o --output"),
    "ltrace": wrapper("closed", TRACE, "aADeFlnopsuwxX", "align config debug indent library output", writes="-o --output"),
    "valgrind": wrapper("closed", TRACE, "", "tool db-command suppressions", texts="--db-command", writes="--log-file --xml-file --callgrind-out-file --cachegrind-out-file "
                     "--massif-out-file --dhat-out-file"),
    "gtime": wrapper("closed", TRACE, "fo", "format output", writes="-o --output"),
    "heaptrack": wrapper("closed", TRACE, "o", "output", writes="-o --output"),
    "rr": wrapper("closed", TRACE),
    "uftrace": wrapper("closed", TRACE, "FNDARTCLdPtSUZWbr", "data logfile", writes="-d --data --logfile"),
    "kcov": wrapper("closed", TRACE, skip=1, into=True),
    "catchsegv": wrapper("closed", TRACE),
    # package runners
    "npx": wrapper("runner", PACKAGE, "pcwC", "package call workspace cache registry loglevel userconfig globalconfig prefix "
                   "script-shell node-options tag scope include omit shell cafile proxy https-proxy noproxy otp",
                   texts="-c --call"),
    "pnpx": wrapper("runner", PACKAGE, "p", "package"),
    "bunx": wrapper("runner", PACKAGE, "p", "package"),
    "uvx": wrapper("runner", PACKAGE, "pfciwbCP", "python from with with-editable with-requirements index default-index "
                "index-url extra-index-url find-links directory project config-file refresh-package constraints "
                   "build-constraints overrides env-file with-executables-from index-strategy keyring-provider resolution "
                   "prerelease fork-strategy config-setting config-settings-package exclude-newer exclude-newer-package "
                   "link-mode no-build-package no-binary-package no-build-isolation-package reinstall-package "
                   "upgrade-package cache-dir python-preference python-platform torch-backend color allow-insecure-host"),
    "cross-env": wrapper("runner", "it runs the command with another environment", assigns=True),
    "cross-env-shell": wrapper("closed", SHELL, assigns=True, tail="text"),
    "env-cmd": wrapper("closed", "it runs the command with another environment", "fer", "file environments rc-file"),
    "dotenv": wrapper("closed", "it runs the command with another environment", "efvpq", "file"),
    "npm-run-all": wrapper("runner", "it runs scripts of the package", tail="operands"),
    "run-s": wrapper("runner", "it runs scripts of the package", tail="operands"),
    "run-p": wrapper("runner", "it runs scripts of the package", tail="operands"),
    # elsewhere
    "ssh": wrapper("closed", FAR, "BbcDEeFIiJLlmOoPpQRSWw", skip=1, tail="text", writes="-E"),
    "mosh": wrapper("closed", FAR, "p", "client server ssh predict port", skip=1),
    "rsh": wrapper("closed", FAR, "lk", skip=1, tail="text"),
    "sshpass": wrapper("closed", RUNS, "pfdP"),
    "pdsh": wrapper("closed", FAR, "wxglRfutXMFP", tail="text"),
    "clush": wrapper("closed", FAR, "wxXgRfltuoOmSd", "hostfile group fanout user options command_timeout connect_timeout outdir "
                  "errdir", tail="text"),
    **{name: wrapper("closed", FAR, "hHlpoetOxX", "hosts host user par outdir errdir timeout option extra-args extra-arg",
                  tail="text", writes="-o -e --outdir --errdir") for name in ("pssh", "parallel-ssh")},
    "ansible": wrapper("closed", FAR, "aBCeEfiIKMPtTuRc", "args background extra-vars forks inventory limit module-name "
                    "module-path poll tree user", texts="-a --args", tail="operands", permutes=True, writes="-t --tree"),
    "autossh": wrapper("closed", FAR, "MBbcDEeFIiJLlmOoPpQRSWw", skip=1, tail="text", writes="-E"),
    # batches and machines of a cluster
    **{name: wrapper("closed", FAR, long="n np c N H host hosts hostfile machinefile map-by bind-to rank-by mca gmca x wdir wd path "
                     "prefix app env genv genvlist ppn perhost f configfile", single=True)
       for name in ("mpirun", "mpiexec", "orterun", "mpiexec.hydra", "horovodrun")},
    **{name: wrapper("closed", FAR, "nNpAtcJoeiDwxqGdCLMSBmOWHR", "ntasks nodes partition account time mem cpus-per-task job-name output error "
                     "input gres gpus constraint qos nodelist exclude chdir distribution mpi export mem-per-cpu "
                     "ntasks-per-node reservation dependency licenses jobid prolog epilog task-prolog task-epilog wrap",
                     texts="--wrap --prolog --epilog --task-prolog --task-epilog", writes="-o --output -e --error")
       for name in ("srun", "salloc", "sbatch")},
    "bsub": wrapper("closed", FAR, "qnRWMJoePmwgGikLEau", texts="-E", writes="-o -e"),
    **{name: wrapper("closed", FAR, "nPspf", "name lxcpath rcfile define uid gid arch", tail="command", dashes=True)
       for name in ("lxc-attach", "lxc-execute")},
    "lima": wrapper("closed", FAR),
    "lima.lima": wrapper("closed", FAR),
    **{name: wrapper("closed", TRACE, "ioCwxtpe", "interval output exposure") for name in ("austin", "dtruss")},
    "envchain": wrapper("closed", PLACE, skip=1),
    "systemd-cat": wrapper("closed", RUNS, "tp", "identifier priority stderr-priority level-prefix namespace"),
    "systemd-socket-activate": wrapper("closed", RUNS, "lE", "listen setenv fdname"),
    **{name: wrapper("closed", RUNS) for name in ("xinit", "startx", "gpg-agent", "reattach-to-user-namespace", "runlim", "summon")},
    "xcrun": wrapper("runner", RUNS, long="sdk toolchain", single=True),
    "sandbox-exec": wrapper("closed", PLACE, "fpnD"),
    "wsl": wrapper("closed", PLACE, "du", "distribution user cd shell-type"),
    "termux-chroot": wrapper("closed", PLACE),
    "distrobox-enter": wrapper("closed", FAR, "nae", "name additional-flags exec", commands="-e --exec", dashes=True, permutes=True),
    "distrobox-host-exec": wrapper("closed", PLACE),
    "host-spawn": wrapper("closed", PLACE, "", "cwd env directory"),
    "with-lock-ex": wrapper("closed", RUNS, skip=1),
    "task-spooler": wrapper("closed", "it runs the command when its turn comes", "SLDWNO"),
    "poop": wrapper("closed", SHELL, tail="text"),
    "dtach": wrapper("closed", RUNS, "r", skip=1),
    "abduco": wrapper("closed", RUNS, "er", skip=1),
}  # fmt: skip
"""By the program's base name."""

SHELLS: Mapping[str, str] = dict.fromkeys(
    ("sh", "bash", "rbash", "dash", "ash", "zsh", "rzsh", "ksh", "ksh93", "mksh", "pdksh", "lksh", "oksh", "yash", "posh",
     "fish", "hush", "ysh", "oil", "csh", "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "sash", "osh", "rc", "es"),
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
    "ts-node-dev": _language("epPrO", "eval print project require compiler-options", "-e -p -r -O --eval --print --require "
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
