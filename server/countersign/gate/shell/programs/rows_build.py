"""Tools that build, test, check and deploy. Data: one row each (see ``row.py``).

What a rule allows of them is running the project's own code; the escapes here are options that run something else, take
their settings from elsewhere, or write where the person would not expect it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from countersign.gate.shell.programs.row import Program, row, same

_GO = row(
    "`-exec`, `-toolexec` and `-vettool` run a program, `-o` and profiles write",
    single=True,
    abbreviates=False,
    long="exec toolexec vettool o overlay modfile C p parallel run bench count timeout cpu tags ldflags gcflags asmflags "
    "gccgoflags mod pkgdir coverprofile cpuprofile memprofile blockprofile mutexprofile trace outputdir covermode "
    "coverpkg benchtime shuffle skip fuzz fuzztime list f compiler installsuffix buildmode pgo vet",
    runs="-exec --exec -toolexec --toolexec -vettool --vettool -ldflags --ldflags -gccgoflags --gccgoflags -compiler "
    "--compiler",
    code="-overlay --overlay -modfile --modfile -modcacherw -C --C -gcflags --gcflags -asmflags",
    writes="-o --o -coverprofile --coverprofile -cpuprofile --cpuprofile -memprofile --memprofile -blockprofile "
    "--blockprofile -mutexprofile --mutexprofile -trace --trace -outputdir --outputdir -pkgdir "
    "-test.coverprofile -test.cpuprofile -test.memprofile -test.outputdir -test.trace -test.blockprofile "
    "-test.mutexprofile -test.testlogfile -test.gocoverdir -debug-trace --debug-trace -debug-actiongraph "
    "--debug-actiongraph -debug-runtime-trace --debug-runtime-trace",
    changes="-w --w -fix -u --u -c --c",
)

_NODE_PACKAGES = (
    "--script-shell --shell --git --editor --viewer --browser --node-gyp --npm-path --scripts-prepend-node-path"
)
_NODE_CODE = (
    "--node-options --prefix --userconfig --globalconfig --init-module --onload-script --dir --cwd --use-yarnrc "
    "--modules-folder --preload --config --global-dir --global-bin-dir --ignore-scripts=false -C --nodedir --pnpmfile "
    "--config.* --global-pnpmfile --virtual-store-dir --store-dir --registry --tsconfig-override --bunfile --use-node-version"
)

_TERRAFORM = row(
    "settings and outputs named in its arguments",
    single=True,
    abbreviates=False,
    long="chdir out var var-file state state-out backup backend-config plugin-dir from-module generate-config-out lock-timeout "
    "parallelism target replace refresh input lock config test-directory fs-mirror",
    code="-config -test-directory --test-directory -fs-mirror --fs-mirror -chdir --chdir -plugin-dir --plugin-dir -from-module --from-module -backend-config --backend-config "
    "--terragrunt-config --terragrunt-tfpath --tf-path --working-dir --config",
    writes="-out --out -state --state -state-out --state-out -backup --backup -generate-config-out --generate-config-out "
    "-backup-path",
    reads="-var-file --var-file",
    changes="-auto-approve --auto-approve -destroy --destroy -migrate-state -reconfigure -force-copy -write --write",
)


def _without(program: Program, *options: str) -> Program:
    return replace(program, escapes={name: kind for name, kind in program.escapes.items() if name not in options})


BUILD: Mapping[tuple[str, ...], Program] = {
    **same("make", row("variables and makefiles named in its arguments say what runs", short="CfIjloWEO", long="directory file "
                       "makefile include-dir jobs load-average old-file new-file what-if assume-new assume-old eval "
                       "output-sync", code="-f --file --makefile -C --directory -I --include-dir --eval -E",
                       safe="--environment-overrides --ignore-errors")),
    **same("ninja", row("`-f` and `-C` say what runs", short="Cfjkltdw", code="-f -C -t")),
    **same("cmake", row("`-P` runs a script, `-D` names programs", short="SBDUGTAPCEj", long="build install toolchain preset "
                        "target config parallel graphviz workflow log-level trace-redirect profiling-output prefix",
                        code="-P -C -E -D -G -T --toolchain -U --preset", writes="--trace-redirect --profiling-output "
                        "--graphviz --prefix", safe="--parallel --target --config --pre")),
    **same("ctest", row("scripts and `--build-and-test` run programs", short="REjLCQOISDMTA", long="tests-regex exclude-regex "
                        "parallel label-regex build-config output-log output-junit timeout test-dir script script-new-process "
                        "build-and-test test-command build-makeprogram build-generator overwrite repeat dashboard schedule-random "
                        "resource-spec-file add-notes preset tests-information test-load stop-time",
                        runs="--build-and-test --test-command --build-makeprogram", code="-S -SP --script "
                        "--script-new-process --overwrite -D --dashboard --build-generator --resource-spec-file",
                        writes="-O --output-log --output-junit", safe="--output-on-failure --output --build-config --test")),
    **same("gcc g++ cc c++ c89 c99 clang clang++ tcc ld as nvcc emcc em++ hipcc icc icx icpx", row("plug-ins and `-wrapper` run programs (see `escapes.py`)",
           short="oIDLlxBfWmOUM", writes="-o", code="-B", operands="read", abbreviates=False)),
    **same("cargo", row("`--config` names programs to run", short="pjFZC", long="package jobs features target target-dir "
                        "manifest-path config color profile test bench example bin exclude message-format timings "
                        "out-dir artifact-dir lockfile-path", runs="--config -Z", code="--manifest-path -C --lockfile-path --config-file --tool-config-file --makefile",
                        writes="--target-dir --out-dir --artifact-dir --logfile --output-path --output-dir --archive-file", changes="--fix",
                        safe="--out --lib --target --make --log --arch")),
    ("cargo", "new"): row("it makes a folder", long="name vcs edition registry color config", runs="--config -Z",
                          operands="write"),
    ("cargo", "vendor"): row("it makes a folder", short="s", long="sync manifest-path lockfile-path color config",
                             runs="--config -Z", code="--manifest-path --lockfile-path -s --sync", operands="write"),
    ("cargo", "init"): row("it makes a folder", long="name vcs edition registry color config", runs="--config -Z",
                           operands="write"),
    ("go",): _GO,
    ("go", "list"): _without(_GO, "-u", "--u"),  # it shows what could be updated
    ("go", "env"): row("`-w` changes settings", single=True, changes="-w --w -u --u"),
    ("go", "fmt"): row("it rewrites files"),
    **same("npm", row("`--script-shell` and similar options run a program", alike="-g=--global -f=--force", short="wCc", long="workspace prefix script-shell "
                      "node-options userconfig globalconfig registry loglevel omit include tag shell", runs=_NODE_PACKAGES,
                      code=_NODE_CODE, writes="--logs-dir",
                      safe="--pre --no --git-tag-version --global --config --production --prod --prefer-offline "
                      "--prefer-online --ignore-scripts --node --registry --prefer-dedupe", abbreviates=True, one_dash=True)),
    **{key: row("it changes settings that name programs to run", closed=True) for key in (
        ("npm", "config"), ("npm", "set"), ("npm", "pkg"), ("npm", "set-script"), ("npm", "edit"), ("pnpm", "config"),
        *(("npm", short) for short in "c con conf confi pk set- set-s set-sc set-scr ed edi".split()), ("pnpm", "c"), ("yarn", "config"),
        ("pip", "config"), ("poetry", "config"), ("bundle", "config"), ("corepack",), ("gcloud", "config"), ("aws", "configure"),
        ("kubectl", "krew"), ("aws", "codeartifact", "login"), ("aws", "ecr", "get-login-password"), ("gcloud", "components"),
        *(("gcloud", "auth", *each) for each in (("print-access-token",), ("print-identity-token",), ("application-default", "print-access-token"))),
        *(("gcloud", each, "interactive") for each in ("alpha", "beta")), ("az", "account", "get-access-token"), ("az", "config"),
        ("az", "extension"), ("az", "interactive"), *(("gh", "auth", each) for each in ("setup-git", "login", "refresh")), ("gh", "browse"),
        *((name, "self") for name in ("uv", "poetry", "pdm")), ("pdm", "plugin"), ("pdm", "config"), ("poetry", "source"),
        *(("composer", each) for each in ("config", "global", "self-update", "selfupdate")), *(("bundle", each) for each in (
            "console", "open", "plugin")), ("dotnet", "nuget"), ("dotnet", "tool", "install"), ("dotnet", "workload"),
        *(("mix", each) for each in ("archive.install", "escript.install")), ("stack", "ghc"), ("stack", "upgrade"),
        ("stack", "config"), ("swift", "repl"), ("swift", "sdk"), ("swift", "package", "plugin"), ("bun", "repl"), ("deno", "repl"),
        ("deno", "upgrade"), ("bun", "upgrade"), ("deno", "jupyter"), ("docker", "context"), ("kubectl", "config"), ("helm", "plugin"), ("gh", "config"), ("cargo", "install"))},
    **same("pnpm", row("`--script-shell` and similar options run a program", short="CF", long="dir filter workspace-concurrency "
                       "script-shell reporter loglevel config", runs=_NODE_PACKAGES + " --shell-mode -c", code=_NODE_CODE,
                       safe="--recursive --registry --no-bail --prod --prefer-offline --if-present", abbreviates=False)),
    **same("yarn", row("`--script-shell` and similar options run a program", long="cwd script-shell use-yarnrc modules-folder "
                       "node-options require", runs=_NODE_PACKAGES, code=_NODE_CODE + " --require", abbreviates=False)),
    **same("bun", row("`--preload` loads code", short="re", long="preload config cwd shell eval print env-file define",
                      runs="--shell", code=_NODE_CODE + " -r -e -p --require --import --cpu-prof --heap-prof --eval --print --env-file --define --inspect-preload",
                      abbreviates=False)),
    **same("deno", row("`eval` and `--preload` run code", short="cLr", long="config import-map lock location cert seed "
                       "v8-flags preload ext", code="--preload --import --import-map --config -c --cert --v8-flags --require --env-file --plugin "
                           "--rules-dir",
                       writes="--lock-write --output -o --coverage --junit-path --lock --cpu-prof --reporter-path", abbreviates=False)),
    **same("eslint xo standard", row("settings and formatters named in its arguments are code, `--fix` changes files", short="cfo",
                                     long="config format output-file rulesdir plugin parser parser-options "
                                     "resolve-plugins-relative-to ext ignore-path ignore-pattern rule env global "
                                     "max-warnings cache-location cache-file cache-strategy flag",
                                     code="-c --config --rulesdir --plugin --parser --resolve-plugins-relative-to -f --format "
                                          "--init --eslint-path --inspect-config",
                                     writes="-o --output-file --cache-location --cache-file", changes="--fix --fix-type "
                                     "--suppress-all --suppress-rule --prune-suppressions",
                                     safe="--fix-dry-run --ext --cache --env --parser-options", abbreviates=False)),
    **same("prettier", row("`--write` changes files, plug-ins are code", short="", long="config plugin ignore-path parser "
                           "cache-location config-precedence log-level print-width tab-width plugin-search-dir",
                           code="--config --plugin --plugin-search-dir", writes="--cache-location", changes="--write -w",
                           safe="-c -l -u --check --list-different --cache --config-precedence", abbreviates=False)),
    **same("tsc", row("outputs named in its arguments are written", short="pbitmw", single=False, long="project outDir outFile "
                      "declarationDir rootDir target module jsx lib tsBuildInfoFile generateTrace generateCpuProfile baseUrl "
                      "pretty moduleResolution", writes="--outDir --outFile --out --declarationDir --tsBuildInfoFile --generateTrace "
                      "--generateCpuProfile", changes="--init -b --build", code="--plugins", abbreviates=False, one_dash=True)),
    **same("jest", row("settings named in its arguments are code", short="ctowuif", long="config globalSetup globalTeardown "
                       "setupFiles setupFilesAfterEnv runner testRunner reporters transform resolver env testEnvironment "
                       "coverageDirectory outputFile rootDir roots testResultsProcessor testSequencer snapshotSerializers "
                       "watchPlugins moduleNameMapper testNamePattern testPathPattern maxWorkers testTimeout cacheDirectory "
                       "coverageProvider coverageReporters projects preset filter prettierPath testPathPatterns",
                       code="-c --config --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner "
                            "--reporters --transform --resolver --env --testEnvironment --rootDir --roots "
                            "--testResultsProcessor --testSequencer --snapshotSerializers --watchPlugins --moduleNameMapper "
                            "--preset --filter --prettierPath --projects --coverageProcessor --dependencyExtractor "
                            "--haste --modulePaths --coverageReporters --snapshotResolver", writes="--coverageDirectory --outputFile --cacheDirectory --logHeapUsageFile",
                       changes="-u --updateSnapshot --init --clearCache", safe="--runInBand --runTestsByPath -t -o -w -i -f",
                       abbreviates=False)),
    **same("vitest", row("settings named in its arguments are code", short="crtudw", long="config root reporter outputFile dir "
                         "environment globalSetup testNamePattern project pool maxWorkers mode workspace shard bail",
                         code="-c --config -r --root --dir --environment --globalSetup --reporter --pool --workspace --browser* "
                              "--execArgv --poolOptions* --sequence.sequencer --setupFiles --alias* --deps* --server* --env-file "
                              "--coverage.provider --coverage.customProviderModule --runner --diff --snapshotEnvironment",
                         runs="--typecheck.checker", writes="--outputJson --outputFile* --coverage.reportsDirectory --attachmentsDir", changes="-u --update",
                         safe="-d -w -t --diff", abbreviates=False)),
    **same("mocha", row("settings named in its arguments are code", short="rRguOftw", long="require reporter config package file "
                        "loader import ui grep fgrep timeout node-option spec", code="-r --require --config --package --file "
                        "--loader --import -R --reporter -u --ui -n --node-option -O --reporter-option --opts --compilers",
                        abbreviates=False)),
    **same("pytest py.test", row(
        "plug-ins and settings named in its arguments are code, reports are written", short="pocWkmnr", long="config-file rootdir "
        "confcutdir override-ini junitxml junit-xml log-file basetemp pdbcls import-mode tb maxfail durations ignore "
        "ignore-glob deselect cov cov-report cov-config html json-report-file resultlog debug log-level log-cli-level "
        "capture color numprocesses dist timeout benchmark-json pastebin",
        code="-p -o --override-ini -c --config-file --rootdir --confcutdir --pdbcls --cov-config -D --tx --px --rsyncdir --ds "
             "--dc --looponfail -W --pythonwarnings --jaxtyping-packages --pylint-rcfile --mypy-config-file --mypy-ini-file",
        runs="--postgresql-exec --redis-exec --mysql-exec --mysql-mysqld --driver-path --splinter-webdriver-executable "
             "--docker-compose-command",
        writes="--junitxml --junit-xml --log-file --html --json-report-file --resultlog --report-log --benchmark-json "
               "--basetemp --debug --profile-svg --alluredir --clean-alluredir --output --durations-path --benchmark-storage "
               "--excelreport --md-report-output --cucumberjson --cprofile-file", changes="--cache-clear --snapshot-update --inline-snapshot --pastebin",
        safe="--co --lf --ff --nf --sw --pdb --log-cli-level --log-level --cov --collect-only --pd --pro --cache-show --html-"
             " --conf --import --root --junit --base --res --over --no-cov --in --re --ca"
             " --driver --durations --mypy --pylint --docker --docker-compose --redis --mysql --postgresql --splinter --python"
             " --benchmark --md --md-report --cprofile --excel --clean --out --cucumber")),
    **same("ruff", row("`--fix` changes files", long="config output-file cache-dir select ignore extend-select output-format "
                       "target-version line-length extension exclude format per-file-ignores", short="o",
                       code="--config", writes="-o --output-file --cache-dir --statistics-file",
                       changes="--fix --fix-only --add-noqa --unsafe-fixes --diff-apply", safe="--output-format",
                       abbreviates=False)),
    **same("black isort autopep8 yapf", row(short="ltcSCk", long="line-length target-version config code exclude include "
                                            "workers settings-path", changes="--in-place -i --inplace", safe="-S -C")),
    **same("mypy dmypy", row(
        "plug-ins in its settings and `--python-executable` are run", short="mpc", long="config-file python-executable module "
        "package command cache-dir custom-typeshed-dir custom-typing-module shadow-file python-version platform exclude "
        "junit-xml html-report txt-report xml-report any-exprs-report linecount-report linecoverage-report lineprecision-report "
        "xslt-html-report xslt-txt-report cobertura-xml-report follow-imports timing-stats line-checking-stats",
        runs="--python-executable --install-types", code="--config-file --shadow-file --custom-typeshed-dir --plugins",
        writes="--cache-dir --junit-xml --html-report --txt-report --xml-report --any-exprs-report --linecount-report "
               "--linecoverage-report --lineprecision-report --xslt-html-report --xslt-txt-report --cobertura-xml-report "
               "--timing-stats --line-checking-stats",
        safe="--python-version --python --platform --package --follow-imports")),
    **same("pyright basedpyright", row("`--pythonpath` runs a program", short="pvt", long="project pythonpath venvpath "
                                       "typeshedpath createstub pythonplatform pythonversion level threads",
                                       runs="--pythonpath", code="--venvpath -v --venv-path -p --project --typeshedpath",
                                       writes="--createstub --writebaseline", abbreviates=False)),
    **same("coverage", row("settings named in its arguments are code, reports are written", short="domi", long="rcfile "
                           "data-file omit include directory fail-under precision format sort contexts skip-covered",
                           code="--rcfile --debug --concurrency", writes="-o -d --directory --data-file", safe="--fail-under")),
    **same("tox", row("settings named in its arguments are code", short="cexpjr", long="conf workdir root override result-json "
                      "installpkg develop workon discover runner", code="-c --conf --root -x --override --installpkg "
                      "--discover --runner --workon", writes="--workdir --work-dir --result-json", safe="--recreate --co")),
    **same("pip pip3 pipx", row("`--python` runs a program", long="python log cert client-cert index-url extra-index-url "
                                "find-links requirement constraint target prefix root src cache-dir format path proxy "
                                "config-settings editable timeout retries trusted-host report global-option build-option",
                                short="rceityfwC", runs="--python --use-pep517-runner --editor",
                                writes="--log --log-file --local-log --target -t --prefix --root --src --cache-dir --report -d "
                                       "--dest --wheel-dir -w", code="--config-settings -C --global-option --build-option -i --index-url "
                                       "--extra-index-url --find-links -f --trusted-host --proxy",
                                safe="--pre --path --py --lo --no --requirement --require-hashes --require --re --local "
                                     "--disable-pip-version-check")),
    **same("hatch", row("an environment can be named in front of a subcommand", short="ep", long="env project data-dir cache-dir "
                        "config", code="--config --data-dir -p --project", writes="--cache-dir", abbreviates=False)),
    **same("pdm", row("`--python` runs a program", short="pCPdLcGo", long="python project venv dest lockfile config group output format "
                      "skip backend save-exact", runs="--python --plugins", code="--project -p --config-setting -C --pep582",
                      writes="--cache-dir", abbreviates=False)),
    **same("uv poetry rye pipenv", row("`--python` runs a program", short="pCP", long="python directory project "
                                                 "config-file cache-dir index-url extra-index-url default-index env-file "
                                                 "format color", runs="--python",
                                                 code="--directory --project --config-file -C -P --env-file -p --index --index-url "
                                                      "--extra-index-url --default-index --find-links --config-setting --config-settings "
                                                      "--keyring-provider",
                                                 writes="--cache-dir --output-file -o", safe="--python-version "
                                                 "--project-only --outdated --pre", abbreviates=False)),
    **same("nox", row("a file named in its arguments is code", short="fsekprR", long="noxfile session keywords python default-venv-backend envdir report "
                      "extra-pythons force-python", code="-f --noxfile", writes="--envdir --report", abbreviates=True)),
    **same("rspec minitest", row("files named in its arguments are code", short="rIfoOeEtPp", long="require options out format "
                                 "default-path example tag pattern order seed", code="-r --require -I -O --options -f --format "
                                 "--default-path --drb", writes="-o --out", safe="--order --only-failures --format",
                                 abbreviates=True)),
    **same("rake", row("files and code named in its arguments are run", short="fRerIpEgGjnWTDC", long="rakefile libdir require "
                       "rakelib execute execute-print execute-continue", code="-f --rakefile -R --rakelib -r --require -I "
                       "--libdir -e --execute -p --execute-print -E --execute-continue -g --system -C --directory",
                       safe="--trace --tasks --quiet --silent")),
    **same("bundle", row("`exec` runs a program", long="gemfile path jobs retry binstubs cache-path lockfile "
                         "file target-rbconfig gemspec", short="jrf", code="--gemfile")),
    **same("docker podman nerdctl", row("the daemon and its settings can be named in its arguments", short="HclfnvopeutwI",
                                        long="conmon hooks-dir network-cmd-path runtime host context config log-level filter format since until tail details tlscacert "
                                        "tlscert tlskey file output iidfile metadata-file cidfile env-file volume mount "
                                        "project-name profile ansi progress parallel root runroot storage-driver "
                                        "storage-opt url tmpdir connection identity module namespace address data-root "
                                        "cgroup-manager snapshotter cni-path hosts-dir",
                                        code="-H --host --config --env-file --tlscacert --tlscert --tlskey --url --identity "
                                        "--module --connection --root --runroot --storage-opt", runs="--conmon --hooks-dir "
                                        "--network-cmd-path --cni-path --runtime",
                                        writes="--iidfile --metadata-file --cidfile", safe="--con --hostname -o --context",
                                        abbreviates=False)),
    ("docker", "compose"): row("files named in its arguments say what runs", short="fp", long="file project-name project-directory "
                               "env-file profile format filter status services", code="-f --file --project-directory "
                               "--env-file --config -H --host", abbreviates=False),
    ("docker", "compose", "ps"): row(long="format filter status orderby", abbreviates=False),
    ("docker", "compose", "logs"): row(short="n", long="tail since until index", abbreviates=False),
    **{("podman", *key): row("what it mounts and runs is named elsewhere", closed=True) for key in (
        ("play",), ("kube",), ("container", "runlabel"), ("system", "service"))},
    ("podman", "volume", "export"): row("it writes an archive", short="o", long="output", writes="-o --output", abbreviates=False),
    ("docker", "cp"): row("it writes its last operand", operands="remote", abbreviates=False, brings="named",
                          follows="-L --follow-link"),
    ("docker", "save"): row("it writes an archive", short="o", long="output platform", writes="-o --output", abbreviates=False),
    ("docker", "export"): row("it writes an archive", short="o", long="output", writes="-o --output", abbreviates=False),
    ("docker", "logs"): row(short="n", long="tail since until", abbreviates=False),
    ("docker", "build"): row(short="ftom", long="file tag output build-arg target platform cache-to cache-from secret ssh "
                             "iidfile metadata-file", writes="-o --output --iidfile --metadata-file --cache-to",
                             code="--secret --ssh --allow --runtime --hooks-dir", abbreviates=False),
    **same("docker-compose", row("files named in its arguments say what runs", short="fp", long="file project-name project-directory "
                                 "env-file profile ansi progress parallel", code="-f --file --project-directory --env-file",
                                 abbreviates=False)),
    **same("kubectl oc", row("settings named in its arguments run programs", short="nolfLcskv", long="output-directory namespace output selector "
                             "filename kubeconfig context cluster user server cache-dir profile-output field-selector "
                             "sort-by template label-columns token as as-group request-timeout certificate-authority "
                             "client-certificate client-key raw chunk-size",
                             code="--kubeconfig --server -s --insecure-skip-tls-verify --certificate-authority --client-key "
                                  "--client-certificate", reads="-f --filename", writes="--cache-dir --profile-output "
                                  "--profile --log-file --log-dir --output-directory", runs="--enable-exec --enable-helm "
                                  "--enable-alpha-plugins --helm-command", safe="-f", abbreviates=False)),
    ("kubectl", "cp"): row("it writes its last operand", short="nc", long="namespace container retries", operands="remote",
                           abbreviates=False),
    ("kubectl", "edit"): row("it runs an editor", closed=True),
    **same("helm", row("`--post-renderer` runs a program", short="fno", long="values set set-file set-string namespace output "
                       "kubeconfig post-renderer post-renderer-args kube-context repository-config registry-config",
                       runs="--post-renderer", code="--kubeconfig --repository-config --registry-config",
                       reads="-f --values --set-file", writes="--output-dir -d --destination", abbreviates=False)),
    **same("gh", row("`--web` runs a browser", short="RLjtqHFXfbBlasmpwcid", long="repo limit json template jq state label "
                     "author assignee search base head workflow branch user status event commit header field raw-field method "
                     "input cache hostname", runs="--web --editor", reads="--input --body-file -F", safe="--web-", abbreviates=False,
                     brings="below")),
    ("gh", "pr"): row("`--web` runs a browser", short="RLjtqHBASlFbrm", long="repo limit json template jq state label author assignee "
                      "search base head body-file title body template", reads="-F --body-file", runs="--web -w --editor -e", abbreviates=False),
    **{key: row("it changes the work tree", short="Rb", long="repo branch", abbreviates=False, brings="tree") for key in (
        ("gh", "pr", "checkout"), ("gh", "co"), ("gh", "repo", "sync"), ("gh", "issue", "develop"), ("glab", "mr", "checkout"))},
    **{("gh", each): row("`--web` runs a browser", short="RLjtqS", long="repo limit json template jq", runs="--web -w", abbreviates=False)
       for each in ("search", "ruleset", "label", "project", "org")},
    ("gh", "issue"): row("`--web` runs a browser", short="RLjtqASlmFb", long="repo limit json template jq state label author "
                         "assignee search milestone mention body-file title body", reads="-F --body-file", runs="--web -w --editor -e", abbreviates=False),
    ("gh", "repo"): row("`--web` runs a browser", short="bjtqL", long="branch json template jq limit", runs="--web -w",
                        abbreviates=False, brings="below"),
    ("gh", "release", "download"): row("it writes what it fetches", short="ADOpR", long="archive dir output pattern repo",
                                       writes="-D --dir -O --output", changes="--clobber", abbreviates=False, brings="below"),
    ("gh", "run", "download"): row("it writes what it fetches", short="DnpR", long="dir name pattern repo",
                                   writes="-D --dir", abbreviates=False, brings="below"),
    ("gh", "repo", "clone"): row("it writes a folder", short="u", long="upstream-remote-name", operands="second",
                                 abbreviates=False, brings="below"),
    ("gh", "gist", "clone"): row("it writes a folder", operands="second", abbreviates=False, brings="below"),
    ("gh", "gist", "create"): row("it sends files", short="df", long="desc filename", runs="--web -w", operands="read",
                                  abbreviates=False),
    ("gh", "gist", "edit"): row("it runs an editor", closed=True),
    ("gh", "alias"): row("an alias can be a shell text", changes="-s --shell", closed=True),
    ("gh", "extension"): row("an extension is a program", closed=True),
    **same("glab", row("`--web` runs a browser", runs="--web -w", abbreviates=False, brings="below")),
    **same("hub", row("`--web` runs a browser", runs="--web -w", abbreviates=False, brings="tree")),
    **same("terraform tofu terragrunt", _TERRAFORM),
    **{(name, "plan"): _without(_TERRAFORM, "-destroy", "--destroy") for name in ("terraform", "tofu", "terragrunt")},
    **same("gradle gradlew", row(
        "scripts and properties named in its arguments are run", short="IbcpgDPx", long="init-script build-file settings-file "
        "project-dir gradle-user-home include-build system-prop project-prop tests exclude-task console max-workers "
        "project-cache-dir configuration-cache-problems priority warning-mode dependency-verification",
        code="--gradle-distribution-url -I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home --include-build -D "
             "--system-prop", writes="--project-cache-dir --write-verification-metadata --write-locks --profile",
        safe="-i -q -t -S -s --info --console --in --con --offline --no-daemon --continue --stacktrace --project-prop --continuous "
             "--configure-on-demand --configuration-cache --build-cache --priority")),
    **same("mvn mvnw", row(
        "properties and goals named in its arguments run programs", short="fsgtDPlTbepr", long="file settings global-settings "
        "toolchains global-toolchains define activate-profiles log-file threads builder projects resume-from encrypt-password "
        "fail-at-end", code="-f --file -s --settings -gs --global-settings -t --toolchains -gt --global-toolchains --project-settings -ps -is --installation-settings -D "
        "--define -b --builder", writes="-l --log-file", single=False,
        safe="--fail-at-end --fail-fast --batch-mode --show-version --quiet --file- --fae --ff --fn --gs --gt --am --amd --pl --rf",
        one_dash=True)),
    **same("dotnet", row("properties named in its arguments run programs", short="covpr", long="configuration output framework "
                         "runtime verbosity property logger settings filter results-directory project diag collect",
                         code="-p --property -p: /p: -rp --rp --restoreProperty --logger -l --settings -s --test-adapter-path --msbuild",
                         writes="-o --output --results-directory --diag --artifacts-path", abbreviates=False)),
    **same("java javaw", row("agents and argument files are code", single=True, long="cp classpath class-path p module-path m "
                             "module jar", code="-javaagent -agentlib -agentpath -XX:OnError -XX:OnOutOfMemoryError -XX:Flags "
                             "-Xbootclasspath -Xbootclasspath/a", abbreviates=False)),
    **same("ip", row("a batch is a list of its own commands", short="bn", code="-b -batch -force", abbreviates=False)),
    **same("fzf sk", row("previews and bindings run commands", short="qfmnd", long="preview bind query filter history with-nth "
                         "delimiter prompt header", runs="--preview --bind --preview-window --execute --listen --become",
                         writes="--history", abbreviates=False)),
    **same("rclone", row("`--password-command` runs a program", short="P", long="config password-command filter include "
                         "exclude log-file transfers checkers", runs="--password-command", code="--config", writes="--log-file "
                         "--use-json-log", operands="remote", abbreviates=False)),
    **same("babel swc terser uglifyjs sass lessc tailwindcss postcss", row(
        "outputs, plug-ins and settings are named in its arguments", short="odcrp", long="out-file out-dir output plugins presets "
        "config-file config require extensions source-map", code="--plugins --presets --config-file --config --require -r -c -p "
        "--use --plugin", writes="-o -d --out-file --out-dir --output --source-map", changes="--replace", abbreviates=False)),
    **same("rubocop standardrb reek brakeman", row("`-A` changes files, `-r` loads code", short="rcofl", long="require config out "
                                                   "format only except", code="-r --require -c --config --plugin --format0",
                                                   writes="-o --out --cache-root", changes="-a -A -x --autocorrect "
                                                   "--autocorrect-all --auto-correct --auto-correct-all --auto-gen-config "
                                                   "--fix-layout --safe-auto-correct", safe="--only --out0")),
    **same("flake8 pylint bandit pydocstyle pycodestyle vulture", row(
        "plug-ins and hooks named in its arguments are code", short="ofcr", long="output-file output load-plugins init-hook rcfile "
        "config append-config max-line-length exclude select ignore format tee", runs="--init-hook",
        code="--load-plugins --append-config --enable-extensions --plugin-dir --rcfile --config", writes="-o --output-file --output --tee --import-graph --ext-import-graph --int-import-graph",
        abbreviates=False)),
    **same("playwright cypress ava tap nightwatch wdio karma", row(
        "settings named in its arguments are code", short="cr", long="config config-file require node-arguments reporter project grep "
        "output", code="-c --config --config-file --require -r --node-arguments --reporter --import --loader --node-arg",
        writes="--output -o", abbreviates=False)),
    **same("gunicorn uvicorn celery flask alembic mkdocs sphinx-build", row(
        "settings and programs named in its arguments are code", short="cADfdbE", long="config app factory config-file",
        code="-c --config -A --app -D -f --config-file --reload-dir --app-dir --chdir --pythonpath --log-config "
             "--log-config-dict --log-config-json -k --worker-class --logger-class --statsd-host --paster --env-file -e --loader",
        writes="--access-logfile --error-logfile --log-file -d --site-dir -p --pid --capture-output --logfile --pidfile",
        abbreviates=False)),
    **same("kustomize", row("functions run programs", code="--enable-exec --enable-alpha-plugins --network --mount --env",
                            writes="-o --output", short="oe", abbreviates=False)),
    **same("pg_ctl", row("`-p` and `-o` say what runs", short="Dlopctsmw", long="pgdata log options core-files timeout mode",
                         runs="-p -o --options", writes="-l --log", abbreviates=False)),
    **same("pg_dump pg_dumpall mysqldump mongodump", row("the dump is written", code="--defaults-file --defaults-extra-file", short="fFr", long="file result-file out archive",
                                                         writes="-f --file -r --result-file --out -o --archive --tab -T")),
    ("deno", "eval"): row("it runs code", closed=True),
    ("terraform", "console"): row("it is a prompt", closed=True),
    ("kubectl", "proxy"): row("it serves files and the cluster", closed=True),
    **same("sbt", row("`!` and `eval` run programs", closed=False, code="-J -D --sbt-dir --sbt-boot -sbt-jar -java-home")),
    **same("unrar unar", row("it unpacks", brings="here")),
    **same("swift xcodebuild bazel bazelisk lein mix rebar3 stack cabal ghc zig dart flutter buck2 pants meson scons ant "
           "composer phpunit sam serverless pulumi skaffold tilt just task nx turbo lerna rush gulp grunt webpack vite rollup "
           "esbuild parcel next nuxt astro svelte-kit ng ionic expo",
           row("settings and scripts named in its arguments are code", short="cfCp", long="config file directory project cwd "
               "chdir require plugin output outdir outfile working-directory build-path package-path loader",
               code="-c --config -f --file -C --directory --cwd --chdir --require --plugin --eval -e --justfile -d --taskfile "
                    "--working-directory --working-dir --cross-file --native-file --build-file --script --loader --package-path --run_under --workspace_status_command --shell "
                    "--gulpfile --gruntfile --configFile --bazelrc --define --toolchain --disable-sandbox --enable-plugin --shell_executable --action_env --host_action_env --crosstool_top "
                    "--extra_toolchains --toolset --destination --test-cmd --zig-lib-dir --policy-pack --debugger-path --hook-name --rulesdir --resolve-plugins-relative-to --root-turbo-json --override_repository --pants-config-files",
               writes="-o --output --outdir --outfile --build-path --outDir", abbreviates=False)),
}  # fmt: skip
