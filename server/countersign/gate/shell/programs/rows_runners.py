"""Subcommands that run another program named in their words (RULES.md S7). Data: one row each, with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.wrapper_row import FAR, PACKAGE, PLACE, RUNS, SHELL, TRACE, Wrapper, wrapper

_NPM = (
    "package call workspace prefix cache registry loglevel userconfig globalconfig script-shell node-options tag scope include "
    "omit shell cafile proxy https-proxy noproxy otp"
)
_UV = (
    "no-extra no-group index default-index index-url extra-index-url find-links index-strategy keyring-provider resolution "
    "prerelease fork-strategy config-setting config-settings-package exclude-newer exclude-newer-package link-mode "
    "no-build-package no-binary-package no-build-isolation-package reinstall-package upgrade-package refresh-package "
    "cache-dir python-preference python-platform torch-backend color allow-insecure-host config-file directory project "
)
_CONTAINER = (
    "add-host annotation arch attach authfile blkio-weight blkio-weight-device cap-add cap-drop cgroup-conf cgroup-parent cgroupns "
    "cgroups chrootdirs cidfile conmon-pidfile cpu-count cpu-period cpu-percent cpu-quota cpu-rt-period cpu-rt-runtime "
    "cpu-shares cpus cpuset-cpus cpuset-mems decryption-key detach-keys device device-cgroup-rule device-read-bps "
    "device-read-iops device-write-bps device-write-iops dns dns-opt dns-option dns-search domainname entrypoint env env-file "
    "env-merge expose gidmap gpus group-add group-entry health-cmd health-interval health-on-failure health-retries "
    "health-start-interval health-start-period health-startup-cmd health-timeout hooks-dir hostname hostuser image-volume "
    "init-path io-maxbandwidth io-maxiops ip ip6 ipc isolation kernel-memory label label-file link link-local-ip log-driver "
    "log-opt mac-address memory memory-reservation memory-swap memory-swappiness mount name net net-alias network network-alias "
    "oom-score-adj os passwd-entry personality pid pidfile pids-limit platform pod pod-id-file preserve-fd preserve-fds publish "
    "pull rdt-class requires restart retry retry-delay runtime sdnotify seccomp-policy secret security-opt shm-size "
    "shm-size-systemd stop-signal stop-timeout storage-opt subgidname subuidname sysctl systemd timeout tmpfs tz uidmap ulimit "
    "umask unsetenv user userns uts variant volume volume-driver volumes-from workdir "
    "constraint container-label limit-cpu limit-memory limit-pids mode placement-pref replicas reserve-cpu reserve-memory "
    "restart-condition update-parallelism"
)
_HEALTH = "--health-cmd --health-startup-cmd"
_ENGINES = ("docker", "podman", "nerdctl", "finch")
_FILTERS = ("--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter "
            "--commit-filter --tag-name-filter")  # fmt: skip

SUBCOMMANDS: Mapping[tuple[str, ...], Wrapper] = {
    # npm takes the beginning of a command for the whole.
    **{("npm", each): wrapper("runner", PACKAGE, "pcwC", _NPM, texts="-c --call")
       for each in ("exec", "exe", "ex", "x")},
    **{("npm", each): wrapper("closed", RUNS, skip=1, tail="text", dashes=True)
       for each in ("explore", "explor", "explo", "expl")},
    **{("npm", each): wrapper("runner", PACKAGE)
       for each in ("init", "ini", "innit", "inni", "inn", "create", "creat", "crea", "cre", "cr")},
    ("pnpm", "exec"): wrapper("runner", PACKAGE, "CF", "dir filter filter-prod resume-from workspace-concurrency reporter loglevel "
                              "test-pattern changed-files-ignore-pattern"),
    ("pnpm", "dlx"): wrapper("runner", PACKAGE, "pC", "package dir allow-build reporter loglevel registry cpu os libc"),
    **{("pnpm", each, "exec"): wrapper("runner", PACKAGE) for each in ("recursive", "multi", "m")},
    ("pnpm", "create"): wrapper("runner", PACKAGE),
    ("yarn", "exec"): wrapper("runner", PACKAGE),
    ("yarn", "dlx"): wrapper("runner", PACKAGE, "p", "package"),
    ("yarn", "create"): wrapper("runner", PACKAGE),
    ("yarn", "workspace"): wrapper("runner", "it runs yarn in a package", skip=1),
    ("tox", "exec"): wrapper("runner", PACKAGE, "e", "conf", dashes=True),
    ("tox", "e"): wrapper("runner", PACKAGE, "e", "conf", dashes=True),
    ("cargo", "watch"): wrapper("closed", "it runs a command whenever a file changes", "xsCdwiBE", "exec shell workdir delay watch "
                             "ignore features use-shell env", texts="-s --shell", dashes=True),
    ("cargo-watch", "watch"): wrapper("closed", "it runs a command whenever a file changes", "xsCdwiBE", "exec shell workdir delay "
                                   "watch ignore features use-shell env", texts="-s --shell", dashes=True),
    ("bun", "x"): wrapper("runner", PACKAGE, "p", "package"),
    ("bun", "create"): wrapper("runner", PACKAGE),
    ("bun", "exec"): wrapper("closed", SHELL, tail="text"),
    ("uv", "run"): wrapper("runner", PACKAGE, "pmwCPfi", _UV + "python module with with-editable with-requirements extra group "
                        "only-group env-file package directory project index default-index index-url "
                        "extra-index-url find-links config-file refresh-package upgrade-package", texts=""),
    ("uv", "tool", "run"): wrapper("runner", PACKAGE, "pfciwbCP", _UV + "python from with with-editable with-requirements constraints "
                               "build-constraints overrides env-file with-executables-from"),
    ("poetry", "run"): wrapper("runner", PACKAGE, "PC", "project directory"),
    **{("pdm", each): wrapper("runner", PACKAGE, "pc", "project venv config") for each in ("run", "x")},
    ("hatch", "run"): wrapper("runner", PACKAGE),
    ("hatch", "env", "run"): wrapper("runner", PACKAGE, "eifF", "env include exclude filter force-continue", dashes=True),
    ("rye", "run"): wrapper("runner", PACKAGE, "", "pyproject"),
    ("pipenv", "run"): wrapper("runner", PACKAGE),
    ("pipx", "run"): wrapper("runner", PACKAGE, "", "spec python pip-args index-url with"),
    **{("pixi", each): wrapper("runner", PACKAGE, "em", "environment manifest-path") for each in ("run", "r")},
    **{("pixi", each): wrapper("runner", PACKAGE, "scpw", "spec channel platform with") for each in ("exec", "x")},
    ("conda", "run"): wrapper("runner", PACKAGE, "np", "name prefix cwd"),
    ("mamba", "run"): wrapper("runner", PACKAGE, "np", "name prefix cwd"),
    ("micromamba", "run"): wrapper("runner", PACKAGE, "anepr", "attach name env prefix root-prefix rc-file label cwd"),
    **{("bundle", each): wrapper("runner", PACKAGE, "", "gemfile") for each in ("exec", "exe", "ex", "e")},
    ("gem", "exec"): wrapper("runner", PACKAGE, "gv", "gem version"),
    ("mix", "cmd"): wrapper("closed", SHELL, "", "app cd", tail="text"),
    **{(name, "exec"): wrapper("runner", PACKAGE) for name in (
        "rbenv", "pyenv", "nodenv", "jenv", "goenv", "phpenv", "plenv", "luaenv", "swiftenv", "asdf")},
    ("mise", "exec"): wrapper("runner", PACKAGE, "cCj", "command cd jobs", texts="-c --command", dashes=True, permutes=True),
    ("mise", "x"): wrapper("runner", PACKAGE, "cCj", "command cd jobs", texts="-c --command", dashes=True, permutes=True),
    ("volta", "run"): wrapper("runner", PACKAGE, "", "node npm yarn env"),
    ("fnm", "exec"): wrapper("runner", PACKAGE, "", "using"),
    ("nvm", "exec"): wrapper("runner", PACKAGE, skip=1),
    ("composer", "exec"): wrapper("runner", PACKAGE),
    ("nx", "exec"): wrapper("runner", PACKAGE, dashes=True),
    ("turbo", "exec"): wrapper("runner", PACKAGE, dashes=True),
    ("rush", "exec"): wrapper("runner", PACKAGE),
    **{("heroku", each): wrapper("closed", FAR, "aresp", "app remote size env type dyno ssh-key")
       for each in ("run", "run:detached", "run:inside", "ps:exec")},
    **{(name, *each): wrapper("closed", FAR, "Caorsugi", "command app org region select user", texts="-C --command", tail="operands",
                              permutes=True) for name in ("fly", "flyctl") for each in (("ssh",), ("console",))},
    **{(name, *each): wrapper("closed", FAR, "acermnoptvw", "app config env region name org port vm-size vm-memory volume timeout", skip=1,
                              tail="text") for name in ("fly", "flyctl") for kind in ("machine", "m", "machines")
       for each in ((kind, "exec"), (kind, "run"))},
    ("infisical", "run"): wrapper("closed", PLACE, "", "command env path", texts="--command", dashes=True),
    ("chamber", "exec"): wrapper("closed", PLACE, skip=1, dashes=True),
    ("sops", "exec-env"): wrapper("closed", SHELL, skip=1, tail="text"),
    ("sops", "exec-file"): wrapper("closed", SHELL, skip=1, tail="text"),
    ("distrobox", "enter"): wrapper("closed", FAR, "nae", "name additional-flags exec", commands="-e --exec", dashes=True, permutes=True),
    ("devcontainer", "exec"): wrapper("closed", FAR, "", "workspace-folder container-id id-label config override-config remote-env docker-path "
                                      "docker-compose-path user-data-folder container-data-folder log-level terminal-columns terminal-rows"),
    ("meson", "devenv"): wrapper("closed", PLACE, "Cw", "workdir dump-format"),
    ("toolbox", "run"): wrapper("closed", FAR, "cd", "container distro"),
    ("devbox", "run"): wrapper("closed", PLACE, "c", "config"),
    **{("gh", each, "ssh"): wrapper("closed", FAR, "cRp", "codespace repo repo-owner profile server-port", tail="text") for each in ("codespace", "cs")},
    ("ray", "job", "submit"): wrapper("closed", FAR, "", "address working-dir runtime-env", dashes=True),
    ("opam", "exec"): wrapper("runner", PACKAGE, "", "switch root"),
    ("stack", "exec"): wrapper("runner", PACKAGE, "", "stack-yaml package resolver"),
    **{("cabal", each): wrapper("runner", PACKAGE, "v", "project-file builddir")
       for each in ("exec", "v2-exec", "new-exec", "v1-exec")},
    ("devenv", "shell"): wrapper("closed", PLACE, "j", "max-jobs system option"),
    **{("watchmedo", each): wrapper("closed", SHELL, "cpid", "command patterns ignore-patterns directory directories pattern ignore-pattern "
                                    "signal kill-after interval debounce-interval timeout", texts="-c --command",
                                    tail="operands", permutes=True) for each in ("shell-command", "tricks-from")},
    ("watchmedo", "auto-restart"): wrapper("closed", RUNS, "pid", "patterns ignore-patterns directory directories pattern ignore-pattern "
                                           "signal kill-after interval debounce-interval timeout"),
    ("dune", "exec"): wrapper("runner", PACKAGE, "", "root profile"),
    ("lerna", "exec"): wrapper("runner", PACKAGE, "", "scope ignore since"),
    ("rustup", "run"): wrapper("runner", PACKAGE, skip=1),
    ("dotnet", "exec"): wrapper("runner", PACKAGE, "", "depsfile runtimeconfig additionalprobingpath fx-version"),
    ("dotnet", "tool", "run"): wrapper("runner", PACKAGE),
    ("direnv", "exec"): wrapper("closed", PLACE, skip=1),
    ("doppler", "run"): wrapper("closed", PLACE, "pct", "project config token command", texts="--command"),
    ("op", "run"): wrapper("closed", PLACE, "", "env-file account"),
    **{(name, *row, "exec"): wrapper("closed", FAR, "euw", "env env-file user workdir detach-keys index", skip=1)
       for name in _ENGINES for row in ((), ("container",), ("compose",))},
    **{(name, *row): wrapper("closed", FAR, "acehlmpuvw", _CONTAINER, skip=1, commands="--entrypoint", texts=_HEALTH,
                          writes="--cidfile --pidfile --conmon-pidfile --pod-id-file")
       for name in _ENGINES for row in (("run",), ("create",), ("container", "run"), ("container", "create"), ("service", "create"))},
    **{(*name, "run"): wrapper("closed", FAR, "elpuvw", "entrypoint env env-from-file name user workdir volume publish label "
                            "cap-add cap-drop pull", skip=1, commands="--entrypoint")
       for name in (*((engine, "compose") for engine in _ENGINES), ("docker-compose",), ("podman-compose",))},
    **{(name, "exec"): wrapper("closed", FAR, "euw", "env user workdir index", skip=1)
       for name in ("docker-compose", "podman-compose")},
    **{(name, each): wrapper("closed", FAR, "BHSWceo", "app bind home scratch workdir overlay env env-file fusemount pwd cwd "
                          "network dns hostname security apply-cgroups add-caps drop-caps mount pem-path", skip=1)
       for name in ("apptainer", "singularity") for each in ("exec", "run")},
    ("kubectl", "exec"): wrapper("closed", FAR, "cn", "container namespace context kubeconfig", skip=1, dashes=True),
    ("kubectl", "run"): wrapper("closed", FAR, "n", "image namespace restart overrides", skip=1, dashes=True),
    **{("kubectl", "create", each): wrapper("closed", FAR, "n", "image namespace schedule", skip=1, dashes=True)
       for each in ("job", "cronjob", "cj", "deployment", "deploy")},
    **{("oc", each): wrapper("closed", FAR, "cn", "container namespace image", skip=1, dashes=True) for each in ("run", "debug")},
    **{(name, "ssh"): wrapper("closed", FAR, "pn", "profile node", tail="text") for name in ("minikube", "colima")},
    ("limactl", "shell"): wrapper("closed", FAR, "", "workdir shell log-level", skip=1),
    **{(name, "exec"): wrapper("closed", FAR, "ceiur", "user workdir env container-name exec-id cwd fifo-dir process pid-file user "
                               "additional-gids process-label apparmor cap cgroup console-socket", skip=1) for name in ("crictl", "runc", "crun")},
    **{("ctr", each, "exec"): wrapper("closed", FAR, "", "exec-id cwd fifo-dir log-uri user", skip=1)
       for each in ("task", "tasks", "t")},
    **{("ctr", *each): wrapper("closed", FAR, "", "snapshotter label env mount net-host with-ns pid-file cwd user gpus runtime", skip=2)
       for each in (("run",), ("container", "run"), ("c", "run"))},
    ("buildah", "run"): wrapper("closed", FAR, "evu", "add-history cap-add cap-drop cgroupns contextdir env hostname ipc isolation mount network "
                                "pid runtime runtime-flag security-opt user uts volume workingdir", skip=1),
    ("buildah", "unshare"): wrapper("closed", PLACE, "m", "mount"),
    ("podman", "unshare"): wrapper("closed", PLACE),
    ("podman", "machine", "ssh"): wrapper("closed", FAR, "", "username", tail="text"),
    ("docker", "debug"): wrapper("closed", FAR, "c", "command shell", texts="-c --command", tail="operands", permutes=True),
    ("kubectl", "debug"): wrapper("closed", FAR, "cn", "container namespace image target copy-to", skip=1, dashes=True),
    ("oc", "exec"): wrapper("closed", FAR, "cn", "container namespace", skip=1, dashes=True),
    ("oc", "rsh"): wrapper("closed", FAR, "cn", "container namespace shell timeout", skip=1, dashes=True),
    ("lxc", "exec"): wrapper("closed", FAR, "", "env cwd user group mode", skip=1, dashes=True),
    ("incus", "exec"): wrapper("closed", FAR, "", "env cwd user group mode project", skip=1, dashes=True),
    ("multipass", "exec"): wrapper("closed", FAR, "d", "working-directory", skip=1, dashes=True),
    ("machinectl", "shell"): wrapper("closed", FAR, "HMEu", "host machine setenv uid", skip=1),
    ("flatpak", "run"): wrapper("closed", PLACE, "", "arch branch cwd command", skip=1, commands="--command"),
    ("railway", "run"): wrapper("closed", PLACE, "sep", "service environment project"),
    ("dotenvx", "run"): wrapper("closed", "it runs the command with another environment", "ef", "env env-file env-vault-file "
                             "convention env-keys-file", dashes=True),
    **{(name, "run"): wrapper("closed", PLACE, "edf", "env root procfile app-root") for name in ("foreman", "honcho")},
    ("flox", "activate"): wrapper("closed", PLACE, "drcm", "dir remote command mode", texts="-c --command", dashes=True),
    ("pueue", "add"): wrapper("closed", SHELL, "wgdalop", "working-directory group delay after label priority", tail="text"),
    **{("vagrant", each): wrapper("closed", FAR, "c", "command", texts="-c --command", tail="operands", permutes=True)
       for each in ("ssh", "winrm", "powershell")},
    **{("gcloud", *each, "ssh"): wrapper("closed", FAR, "", "command zone project account ssh-flag ssh-key-file worker", texts="--command",
                                     tail="operands", permutes=True)
       for each in (("compute",), ("beta", "compute"), ("alpha", "compute"), ("cloud-shell",))},
    ("aws", "ecs", "execute-command"): wrapper("closed", FAR, "", "command cluster task container", texts="--command", tail="operands", permutes=True),
    ("az", "container", "exec"): wrapper("closed", FAR, "ng", "exec-command name resource-group container-name", texts="--exec-command",
                                         tail="operands", permutes=True),
    ("az", "vm", "run-command"): wrapper("closed", FAR, "ng", "scripts name resource-group command-id", texts="--scripts", tail="operands", permutes=True),
    ("saml2aws", "exec"): wrapper("closed", PLACE, "a", "idp-account profile exec-profile", dashes=True),
    ("terragrunt", "exec"): wrapper("closed", PLACE, "", "working-dir config", dashes=True),
    ("netlify", "dev:exec"): wrapper("closed", PLACE),
    ("vercel", "env", "run"): wrapper("closed", PLACE, "e", "environment git-branch", dashes=True),
    **{("salt-call", f"cmd.{each}"): wrapper("closed", FAR, tail="text")
       for each in ("run", "shell", "run_all", "run_stdout", "run_stderr", "retcode", "run_bg", "powershell")},
    ("netlify", "dev"): wrapper("closed", SHELL, "c", "command", texts="-c --command", tail="operands", permutes=True),
    ("bolt", "command", "run"): wrapper("closed", FAR, "tup", "targets user password", tail="text"),
    ("knife", "ssh"): wrapper("closed", FAR, "xPGi", skip=1, tail="text"),
    ("perf", "stat"): wrapper("closed", TRACE, "eopItCGrxMD", "event output pid tid cpu repeat interval-print field-separator for-each-cgroup "
                              "cgroup metrics delay control log-fd pre post timeout interval-count filter td-level input time",
                              texts="--pre --post", writes="-o --output"),
    **{("perf", *each): wrapper("closed", TRACE, "eoptuCGrDjkFcm", "event output pid tid uid cpu cgroup realtime delay branch-filter clockid freq "
                                "count mmap-pages call-graph max-size switch-max-files user-regs proc-map-timeout affinity "
                                "aux-sample num-thread-synthesize filter control expr tracer trace-funcs notrace-funcs "
                                "graph-funcs nograph-funcs type ldlat max-stack duration", writes="-o --output")
       for each in (("record",), ("trace",), ("ftrace",), ("ftrace", "trace"), ("ftrace", "latency"),
                    *((kind, "record") for kind in ("mem", "sched", "lock", "c2c", "kmem", "kvm", "timechart", "kwork")))},
    ("perf", "iostat"): wrapper("closed", TRACE),
    ("samply", "record"): wrapper("closed", TRACE, "or", "output rate duration profile-name", writes="-o --output"),
    **{("py-spy", each): wrapper("closed", TRACE, "pordf", "pid output rate duration format", writes="-o --output") for each in ("record", "top", "dump")},
    ("xctrace", "record"): wrapper("closed", TRACE, "", "template output time-limit device", dashes=True, writes="--output"),
    **{("zellij", each): wrapper("closed", RUNS, "dn", "direction name cwd width height x y", dashes=True) for each in ("run", "r")},
    ("rr", "record"): wrapper("closed", TRACE, "covnFM", "output-trace-dir env syscall-buffer-size num-cores"),
    **{("uftrace", each): wrapper("closed", TRACE, "FNDARTCLdPtSUZWbr", "data logfile", writes="-d --data --logfile") for each in ("record", "live")},
    **{("ip", kind, "exec"): wrapper("closed", PLACE, skip=1) for kind in ("netns", "vrf")},
    ("jj", "util", "exec"): wrapper("closed", RUNS),
    ("git", "bisect", "run"): wrapper("closed", RUNS),
    ("git", "submodule", "foreach"): wrapper("closed", SHELL, tail="text"),
    ("git", "filter-branch"): wrapper("closed", SHELL, "d", f"original state-branch subdirectory-filter {_FILTERS.replace('--', '')}",
                                   texts=_FILTERS, tail="operands", permutes=True),
    ("git", "difftool"): wrapper("closed", SHELL, "xt", "extcmd tool", texts="-x --extcmd", tail="operands", permutes=True),
    ("git", "send-email"): wrapper("closed", SHELL, "", "sendmail-cmd smtp-server to-cmd cc-cmd header-cmd",
                                texts="--sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd", tail="operands",
                                permutes=True),
    ("git", "instaweb"): wrapper("closed", SHELL, "dbpm", "httpd browser port module-path", texts="-d --httpd -b --browser",
                              tail="operands", permutes=True),
    ("git", "daemon"): wrapper("closed", SHELL, "", "access-hook", texts="--access-hook", tail="operands", permutes=True),
    ("cmake", "-E", "env"): wrapper("closed", "it runs the command with another environment", "", "unset modify",
                                 assigns=True),
    ("cmake", "-E", "time"): wrapper("closed", RUNS),
    ("cmake", "-E", "chdir"): wrapper("closed", PLACE, skip=1),
    **{key: wrapper("closed", PLACE, "nct", "task container namespace env context selector", skip=skip, dashes=True) for key, skip in (
        (("teller", "run"), 0), (("berglas", "exec"), 0), (("overmind", "run"), 0), (("dagger", "run"), 0), (("okteto", "exec"), 0),
        (("devspace", "enter"), 0), (("telepresence", "connect"), 0), (("telepresence", "intercept"), 1), (("garden", "exec"), 1),
        (("consul", "lock"), 1), (("etcdctl", "watch"), 1), (("etcdctl", "lock"), 1), (("etcdctl", "exec-watch"), 1),
        (("dokku", "run"), 1), (("dokku", "enter"), 2), (("scalingo", "run"), 0), (("lando", "exec"), 1), (("snap", "run"), 0),
        (("launchctl", "asuser"), 1), (("launchctl", "bsexec"), 1), (("launchctl", "submit"), 0), (("drush", "exec"), 0))},
    **{key: wrapper("closed", FAR, long="task job i t e namespace region address", skip=1, single=True)
       for key in (("nomad", "alloc", "exec"), ("nomad", "exec"))},
    **{key: wrapper("closed", FAR, "capsi", "command app environment service", texts="-c --command", tail="operands", permutes=True)
       for key in (("cf", "ssh"), ("eb", "ssh"), ("lando", "ssh"), ("copilot", "svc", "exec"))},
    **{key: wrapper("closed", FAR, "sdpeA", "service dir", tail="text") for key in (("ddev", "exec"), ("platform", "ssh"), ("consul", "exec"))},
    ("firebase", "emulators:exec"): wrapper("closed", SHELL, "P", "project config only import export-on-exit", tail="text", permutes=True),
    ("doctl", "compute", "ssh"): wrapper("closed", FAR, "", "ssh-command ssh-user ssh-key-path ssh-port", texts="--ssh-command", tail="operands",
                                         permutes=True),
    **{("dvc", *each): wrapper("closed", SHELL, "ndDopPmMOwf", "name deps outs params metrics wdir file desc outs-no-cache metrics-no-cache "
                               "plots plots-no-cache outs-persist", tail="text") for each in (("run",), ("stage", "add"))},
    ("aws-vault", "exec"): wrapper("closed", PLACE, "d", "duration", skip=1, dashes=True),
}  # fmt: skip
"""By the program's base name and its first words."""
