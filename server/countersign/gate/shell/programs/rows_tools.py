"""More tools that build, format, serve and fetch: which of their options run, load or write something. Data.

Rows like those of ``rows_build.py`` for programs that stand alone, and for subcommands that do more than their
program's row says.
"""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.row import Program, row, same
from countersign.gate.shell.programs.rows_closed import CLOSED

_PROMPT = "it is a prompt, or runs the code in its arguments"
_COMPILES = "options hand words to the compiler and linker, which load code and run programs"

TOOLS: Mapping[tuple[str, ...], Program] = {
    **CLOSED,  # what they do with the files that they name is not known either
    **{key: row(_PROMPT, closed=True) for key in (
        ("dotnet", "fsi"), ("dotnet", "script"), ("stack", "runghc"), ("stack", "runhaskell"), ("stack", "script"),
        ("stack", "ghci"), ("stack", "eval"), ("stack", "repl"), ("mix", "eval"), ("mix", "cmd"), ("mix", "do"),
        ("meson", "devenv"), ("poetry", "shell"), ("pipenv", "shell"), ("hatch", "shell"), ("yarn", "node"),
        ("rails", "runner"), ("rails", "r"), ("rails", "console"), ("rails", "dbconsole"), ("rails", "db"), ("lein", "repl"), ("pulumi", "plugin"), ("lein", "exec"),
        ("flask", "shell"), ("cabal", "repl"), ("gh", "codespace"), ("gh", "cs"))},
    **{key: row("it changes which program or plug-in runs", closed=True) for key in (
        ("yarn", "set"), ("yarn", "plugin"), ("yarn", "global"), ("docker", "plugin"), ("docker", "swarm"),
        ("git-lfs", "install"), ("asdf", "plugin"), ("gh", "ext"), ("gh", "extensions"))},
    **{(name, "show"): row("logs are written", long="python log", runs="--python", writes="--log --log-file --local-log --cache-dir",
                           abbreviates=False) for name in ("pip", "pip3")},
    **{("gh", "auth", each): row("it prints a token", closed=True) for each in ("token", "git-credential")},
    ("gh", "auth", "status"): row("`-t` prints the token", short="h", long="hostname", code="-t --show-token", abbreviates=False),
    ("cargo", "flamegraph"): row("`-c` runs a command", short="co", long="cmd post-process output", runs="-c --cmd --post-process", code="--config -Z --manifest-path",
                                 writes="-o --output --target-dir"),
    **{("cargo", each): row("reports are written", short="o", long="output output-path output-dir config manifest-path",
                            runs="--config -Z", code="--manifest-path",
                            writes="-o --output --output-path --output-dir --target-dir")
       for each in ("mutants", "deb", "llvm-cov", "tarpaulin")},
    **{("docker", *key): row("it writes what it copies or tells", short="o", long="output index format", writes="-o --output",
                             operands="remote" if key[-1] == "cp" else "none", code="-f --file --project-directory --env-file",
                             abbreviates=False)
       for key in (("compose", "cp"), ("compose", "export"), ("compose", "config"), ("compose", "convert"), ("sbom",), ("scout",))},
    ("gh", "release", "upload"): row("it sends files", short="R", long="repo", operands="read", abbreviates=False),
    ("gh", "release", "create"): row("it sends files", short="RtnF", long="repo title notes notes-file target",
                                     reads="-F --notes-file", operands="read", abbreviates=False),
    **{("docker", *key): row("mounts, devices and rights named in its arguments reach this machine", closed=True) for key in (
        ("create",), ("container", "create"), ("service", "create"), ("service", "update"), ("stack", "deploy"),
        ("stack", "up"), ("system", "dial-stdio"), ("volume", "create"), ("buildx", "bake"), ("bake",))},
    **{("docker", *key): row("outputs named in its arguments are written", short="ftom", long="file tag output build-arg target "
                             "platform cache-to cache-from secret ssh iidfile metadata-file builder",
                             writes="-o --output --iidfile --metadata-file --cache-to", code="--secret --ssh --allow",
                             abbreviates=False) for key in (("buildx", "build"), ("buildx", "b"), ("image", "build"), ("builder", "build"))},
    **{("docker", *key): row("it writes an archive", short="o", long="output platform", writes="-o --output",
                             abbreviates=False) for key in (("image", "save"), ("container", "export"))},
    ("docker", "container", "cp"): row("it writes its last operand", operands="remote", abbreviates=False, brings="named", follows="-L --follow-link"),
    **same("javac", row("annotation processors and plug-ins are code", single=True, long="d s h cp classpath class-path "
                        "processor processorpath processor-path processor-module-path sourcepath source-path encoding source "
                        "target release p module-path",
                        code="-processor -processorpath --processor-path --processor-module-path --upgrade-module-path "
                             "--system -bootclasspath -extdirs -endorseddirs", abbreviates=False)),
    **same("kotlin kotlinc scalac scala-cli kscript", row(
        "scripts, expressions and plug-ins named in its arguments are run", single=True, long="e d cp classpath script expression",
        code="-e -expression --expression -script -Xplugin -plugin -P -J -toolcheck -S -Xcompiler-plugin",
        writes="-d", abbreviates=False)),
    **same("rustc", row(_COMPILES, short="CLlZoW", long="codegen extern out-dir emit crate-name crate-type edition target cfg "
                        "print sysroot cap-lints remap-path-prefix", code="-C --codegen -Z --sysroot --extern -L",
                        writes="-o --out-dir --emit", abbreviates=False)),
    **same("rustdoc", row(_COMPILES, short="CLlZo", long="codegen extern out-dir test-runtool test-builder test-run-directory",
                          runs="--test-runtool --test-builder --runtool", code="-C --codegen -Z --sysroot --html-in-header "
                          "--theme", writes="-o --out-dir --output", abbreviates=False)),
    **same("cabal", row(_COMPILES, short="wvod", long="destdir output-directory with-compiler with-hc-pkg project-file project-dir builddir "
                        "ghc-options config-file store-dir installdir", runs="-w --with-* --test-wrapper --extra-prog-path* "
                        "--ghc-pkg-option", code="--ghc-options --ghc-option --config-file "
                        "--alex-options --happy-options --haddock-options --gcc-options --ld-options --hsc2hs-options --cpphs-options "
                        "--remote-repo-cache "
                        "--project-file --project-dir --package-db --ld-option --gcc-option",
                        writes="--installdir --store-dir --builddir --output-directory --output-dir -o --logs-dir --build-log", abbreviates=False)),
    **same("stack", row(_COMPILES, long="stack-yaml resolver to tar-dir ddump-dir compiler setup-info docker-env exec ghc-options work-dir stack-root local-bin-path docker-image "
                        "with-gcc extra-lib-dirs snapshot", runs="--exec --with-gcc --with-hpack",
                        code="--stack-yaml --ghc-options --stack-root --docker --docker-image --docker-run-args --setup-info-yaml "
                             "--nix-shell-options --docker-env --setup-info --nix-packages --nix --work-dir --extra-lib-dirs",
                        writes="--local-bin-path --dump-logs-to", abbreviates=False)),
    **same("just", row("recipes, settings and shells named in its arguments are run", short="fdcE", long="justfile "
                       "working-directory set shell shell-arg command chooser dotenv-path dotenv-filename tempdir",
                       runs="-c --command --cygpath --chooser --choose --shell --shell-arg --shell-command --edit -e --init",
                       code="-f --justfile -d --working-directory --set --dotenv-path --dotenv-filename -E --global-justfile -g "
                            "--tempdir", changes="--fmt", abbreviates=False)),
    **same("task", row("a taskfile named in its arguments is code", short="dto", long="taskfile dir output", code="-t --taskfile -d "
                       "--dir -g --global", abbreviates=False)),
    **same("meson", row("wrappers and machine files named in its arguments run programs", short="CD", long="wrapper gdb-path "
                        "cross-file native-file destdir", runs="--wrapper --wrap --gdb-path --gdb --ninja-args --vs-args --xcode-args",
                        code="-C --cross-file --native-file -D --backend --vsenv --test-args", writes="--destdir --logbase",
                        abbreviates=False)),
    **same("mix", row("code and files named in its arguments are run", short="er", long="eval require", code="-e --eval -r "
                      "--require --rpc-eval", abbreviates=False)),
    **same("scons", row("scripts named in its arguments are run", short="fCDYI", long="file sconstruct makefile directory site-dir "
                        "srcdir include-dir", code="-f --file --sconstruct --makefile -C --directory --site-dir -Y --srcdir "
                        "--repository -I --include-dir", abbreviates=False)),
    **same("phpunit paratest pest", row(
        "files and classes named in its arguments are code, reports are written", short="cd", long="configuration bootstrap "
        "printer extension include-path log-junit log-teamcity testdox-html testdox-text filter group testsuite",
        code="-c --configuration --bootstrap --prepend --printer --extension --include-path --loader -d --runner --passthru "
             "--test-suffix", writes="--log-* --coverage-c* --coverage-h* --coverage-p* --coverage-x* --testdox-* --cache-directory "
             "--cache-result-file --generate-baseline --tmp-dir", safe="--coverage-text", abbreviates=False)),
    **same("phpstan psalm rector php-cs-fixer phpcs phpcbf phpmd infection deptrac", row(
        "settings and autoloaders named in its arguments are code", short="cab", long="configuration config autoload-file bootstrap "
        "standard rules plugin report-file generate-baseline", code="-c --configuration --config -a --autoload-file --bootstrap "
        "--standard --plugin --root -r --runtime-set --extensions --initial-tests-php-options --test-framework-options "
        "--path-mode", writes="-b --generate-baseline --report* --set-baseline --cache-file --cache-dir --tmp-dir --logger-*",
        abbreviates=False)),
    **same("perltidy perlcritic prove cover", row(
        "settings named in its arguments are code", single=True, long="pro profile exec e I M P archive a o",
        runs="-exec --exec -e", code="-pro --profile -profile -I -M -P --include --rc -rc --source --formatter --harness",
        writes="-o -a --archive -b -outfile --outfile -logfile", abbreviates=False)),
    **same("doxygen snakemake nextflow cwltool locust k6 artillery pm2 forever supervisor waf premake5 xmake gn ray mlflow dvc "
           "papermill airflow spago", row(
               "files, settings and programs named in its arguments are run", short="fFscCtdo", long="config configfile snakefile "
               "interpreter script-executable directory project-dir profiles-dir profile output", code="-f -F --file -s --snakefile "
               "-c --config --configfile -C -t --interpreter --script-executable -d --directory --project-dir --profiles-dir "
               "--profile --workflow-profile --exec-args --env-file --singularity-args --apptainer-args --default-resources --container-image",
               writes="-o --out --output --shadow-prefix --report", abbreviates=False)),
    **same("nim crystal v dmd ldc2 gnatmake ocamlfind ocamlc ocamlopt erlc elixirc gfortran fpc gleam purs dune rebar3", row(
        _COMPILES, short="o", long="root GCC nimcache output", runs="-pp --GCC --GNATBIND --GNATLINK -ppx --pp --cc --ld -Wl -r "
        "--shell-cmd", code="--root --workspace --passC --passL --eval eval -B -specs -fplugin -pa -cc -cclib --mcpu --display "
        "--link-flags --cross-compile -cflags", writes="-o -of --nimcache --output -e -FE -outdir -odir", single=True,
        abbreviates=False)),
    **same("air", row("commands named in its arguments are run", short="c", runs="--build.cmd --build.bin --build.full_bin --build.pre_cmd "
                      "--build.post_cmd -build.cmd -build.bin", code="-c --build.entrypoint", long="build.cmd build.bin build.full_bin "
                      "build.pre_cmd build.post_cmd build.entrypoint", abbreviates=False)),
    **same("swiftc swift-frontend", row(_COMPILES, single=True, short="", long="o module-name target sdk I L F D emit-module-path", writes="-o "
                                        "-emit-module-path", operands="read", abbreviates=False)),
    **same("clang-tidy", row("`--load` loads code, `--fix` changes files", short="p", long="checks config config-file header-filter "
                             "line-filter vfsoverlay warnings-as-errors", code="--vfsoverlay", writes="--export-fixes -export-fixes",
                             changes="--fix -fix --fix-errors -fix-errors --fix-notes -fix-notes", operands="read", abbreviates=False)),
    **same("cppcheck", row("addons are code, reports are written", short="DIUijlf", long="addon output-file", code="--addon-python "
                           "--exename --rule-file", writes="--output-file --cppcheck-build-dir --checkers-report --plist-output",
                           changes="--dump", operands="read", abbreviates=False)),
    **same("bison yacc byacc flex lex", row("the skeleton is code, the output is written", short="oSLpbDWrFP", long="output skeleton "
                                            "language outfile prefix", code="-S --skeleton", writes="-o --output --outfile --output-file "
                                            "--header --header-file --defines --html --graph --xml --report-file --tables-file",
                                            operands="read")),
    **same("stylelint", row("settings and plug-ins named in its arguments are code, `--fix` changes files", short="fso", long="config config-basedir "
                            "formatter custom-syntax custom-formatter ignore-path ignore-pattern output-file cache-location "
                            "max-warnings stdin-filename", code="--config --config-basedir --custom-syntax --custom-formatter --plugin",
                            writes="-o --output-file --cache-location", changes="--fix", operands="read", abbreviates=False)),
    **same("biome", row("`--write` changes files", long="config-path stdin-file-path vcs-root max-diagnostics reporter colors only skip "
                        "diagnostic-level changed since files-max-size", code="--config-path --vcs-root",
                        changes="--write --fix --apply --apply-unsafe", operands="read", abbreviates=False)),
    **same("autoflake docformatter ktlint dprint markdownlint taplo sqlfluff", row(
        "they rewrite what they name where an option says so", short="cr", long="config configuration mode rules plugins",
        code="-c --config --configuration -r --rules --plugins", changes="-i --in-place --inplace --replace -F --format --fix fix fmt",
        writes="-o --output", operands="read", abbreviates=False)),
    **same("pyupgrade add-trailing-comma reorder-python-imports swiftformat scalafmt elm-format optipng jpegoptim svgo", row(
        "it changes what it names", long="config output", code="--config", writes="-o --output", operands="change", abbreviates=False)),
    **same("sd rpl fastmod fallocate setfattr patchelf chrpath", row(
        "it changes what it names", long="output", writes="--output", operands="write", abbreviates=False)),
    **same("rename prename file-rename perl-rename rename.ul mmv mcp detox", row(
        "it gives what it names other names", long="output", writes="--output", operands="write", abbreviates=False, brings="here")),
    **same("exch", row("it exchanges what it names", operands="move", brings="named")),
    **same("ditto", row("it copies folders with their links, and unpacks archives", long="arch bom", texts="--arch --bom",
                        operands="remote", brings="named")),
    **{key: row("it rewrites what it names", short="c", long="config plugins rules dialect", code="-c --config --plugins", operands="change",
                abbreviates=False) for key in (("taplo", "fmt"), ("taplo", "format"), ("dprint", "fmt"), ("sqlfluff", "fix"),
                                               ("sqlfluff", "format"), ("deno", "fmt"))},
    **{key: row("it writes its last operand", operands="remote", abbreviates=False, follows="-") for key in (
        *(("aws", "s3", each) for each in ("cp", "mv", "sync")), *(("gcloud", "storage", each) for each in ("cp", "mv", "rsync")),
        *(("gsutil", each) for each in ("cp", "mv", "rsync")), ("gcloud", "compute", "scp"), ("s3cmd", "get"), ("s3cmd", "sync"))},
    **same("cdk cdktf", row("`--app` is a program that is run", short="aopcr", long="app plugin output context profile build", runs="-a --app "
                            "--build --build-command", code="--plugin -p", writes="-o --output", abbreviates=False)),
    **same("clojure clj bb boot", row("`-e` is code", single=True, long="e eval i init Sdeps", code="-e --eval -i --init -Sdeps", abbreviates=False)),
    **same("redis-server", row("`--loadmodule` loads code", long="loadmodule logfile", code="--loadmodule", writes="--logfile --pidfile",
                               abbreviates=False)),
    **same("minikube microk8s k3s", row("a cluster's settings are named in its arguments", short="pnc", long="profile node config kubeconfig",
                                        code="-c --config --kubeconfig", abbreviates=False)),
    ("crystal", "eval"): row(_PROMPT, closed=True),
    ("rebar3", "shell"): row(_PROMPT, closed=True),
    **same("ctags etags universal-ctags", row("options can be read from a file, and hold commands", short="foL", long="options "
                                              "output-file", code="--options --options-maybe -L --_xformat", writes="-f -o "
                                              "--output-file -O", operands="read", abbreviates=False)),
    **same("dot neato fdp sfdp twopi circo", row("`-o` writes", short="oKTGNEl", writes="-o -O", code="-l", operands="read",
                                                 abbreviates=False)),
    **same("protoc buf thrift flatc capnp", row("plug-ins are programs, outputs are written", single=True, long="o out I plugin "
                                                "template output", runs="--plugin -plugin", code="--template --config -path",
                                                writes="-o -out --out --output --descriptor_set_out --dependency_out -w",
                                                abbreviates=False)),
    **same("xsltproc saxon", row("a style sheet can write files", short="o", long="output path writesubtree", writes="-o --output "
                                 "--writesubtree -d", operands="read", abbreviates=False)),
    **same("lcov genhtml gcovr", row("`--rc` and settings are code, reports are written", short="ocdb", long="output-file "
                                     "output-directory rc config-file", code="--rc --config-file --config --gcov-executable "
                                     "--gcov-tool --criteria-script --annotate-script", writes="-o --output --output-file "
                                     "--output-directory --txt --xml --html --json --csv", abbreviates=False)),
    **same("pg_restore mongorestore", row("it writes where its arguments say", short="fd", writes="-f --file", code="--config",
                                          abbreviates=False)),
    **same("hugo jekyll zola mdbook eleventy gatsby docusaurus vuepress", row(
        "settings and plug-ins named in its arguments are code, sites are written", short="dobscp", long="destination output config "
        "plugins source dest-dir", code="-c --config --plugins -p --themesDir --layouts --environment", writes="-d -o "
        "--destination --output --dest-dir --output-dir --cacheDir", abbreviates=False)),
    **same("trivy semgrep snyk gitleaks sonar-scanner hadolint grype syft checkov", row(
        "rules and settings named in its arguments come from elsewhere, reports are written", short="ofrcD", long="output config "
        "report-path template", code="--config -c -D --template --plugin --policy --config-policy --module-dir -e "
        "--external-checks-dir", writes="-o --output -r --report-path --json-file-output --sarif-file-output "
        "--output-file-path --file", abbreviates=False)),
    **same("commitlint semantic-release release-it lint-staged pre-commit lefthook standard-version changeset lerna np", row(
        "settings and plug-ins named in its arguments are code", short="cxegp", long="config extends plugins parser-preset cwd",
        code="-c --config -x --extends -e -p --plugins --parser-preset -d --cwd --hooks.* --scripts.* -g --format -o -H "
             "--infile --releaseCommitMessageFormat", abbreviates=False)),
    ("pre-commit", "try-repo"): row(_PROMPT, closed=True),
    ("husky", "add"): row("it writes a hook", closed=True),
    ("husky", "set"): row("it writes a hook", closed=True),
    **same("json-server live-server http-server serve newman wrk ab hey vegeta", row(
        "modules and scripts named in its arguments are run, reports are written", short="csregom", long="config middlewares "
        "middleware reporters proxy", code="-c --config -s --script -r --reporters -m --middlewares --middleware --proxy "
        "--export-environment --cert --key", writes="-g -e -o -output --output --reporter-html-export --reporter-json-export",
        single=True, abbreviates=False)),
    **same("http https xh httpie", row("`-o` and `-d` write", short="oAap", long="output auth session", writes="-o --output "
                                       "--session --session-read-only", changes="-d --download", abbreviates=False)),
    **same("composer", row("`--working-dir` runs another project's scripts", short="d", long="working-dir dir repository "
                           "repository-url", code="-d --working-dir --repository --repository-url", abbreviates=False)),
    **same("rollup", row("plug-ins, settings and commands named in its arguments are run", short="cpiodfgn", long="config plugin configPlugin "
                         "file dir input format watch.onStart watch.onEnd watch.onBundleStart watch.onBundleEnd watch.onError",
                         runs="--watch.onStart --watch.onEnd --watch.onBundleStart --watch.onBundleEnd --watch.onError",
                         code="-c --config -p --plugin --configPlugin", writes="-o --file -d --dir", abbreviates=False)),
    **same("svn", row("editors and diff programs named in its arguments are run", short="rmFxc", long="editor-cmd diff-cmd "
                      "diff3-cmd config-dir config-option file extensions", runs="--editor-cmd --diff-cmd --diff3-cmd",
                      code="--config-dir --config-option", reads="-F --file --targets", abbreviates=False, brings="tree",
                      stays="status stat st log diff di info blame praise annotate ann cat list ls propget pget pg proplist "
                            "plist pl add commit ci help version auth mkdir delete del remove rm lock unlock")),
    **same("hg chg sl", row("settings named in its arguments run programs", short="RmXI", long="config cwd repository config-file "
                            "tool encoding ssh remotecmd rev", runs="--ssh -e --remotecmd --tool -t --debugger",
                            code="--config --cwd -R --repository --config-file", writes="-o --output", abbreviates=False,
                            brings="tree", stays="status stat st log history diff cat annotate blame files manifest grep "
                            "identify id summary sum tip heads branches branch bookmarks bookmark tags tag paths help version "
                            "root add commit ci push pull incoming in outgoing out parents", anyway="-u --update --rebase -i "
                            "--interactive")),
    **same("jj", row("settings named in its arguments run programs", short="Rrm", long="config config-file config-toml repository "
                     "tool revision message", runs="--tool", code="--config --config-file --config-toml -R --repository",
                     abbreviates=False, brings="tree", stays="status st log diff show evolog help version describe desc commit "
                     "bookmark tag root interdiff", anyway="-i --interactive --tool")),
    **same("yt-dlp youtube-dl gallery-dl", row(
        "it runs programs on what it fetches, and writes it anywhere", short="oPa", long="exec exec-before-download downloader "
        "external-downloader ffmpeg-location output paths config-locations plugin-dirs cookies batch-file netrc-cmd",
        runs="--exec --exec-before-download --exec-after --downloader --external-downloader --ffmpeg-location --netrc-cmd "
             "--postprocessor-args --ppa --use-postprocessor --downloader-args --external-downloader-args --cookies-from-browser",
        code="--config-location --config-locations --plugin-dirs --alias -c --config --config-json",
        writes="-o --output -P --paths --download-archive --cookies --cache-dir --print-to-file -d -D --destination --directory "
               "--write-log", reads="-a --batch-file --load-info-json", abbreviates=False)),
    **same("latexmk arara tectonic", row("engines and settings named in its arguments are run", closed=True)),
    **same("mpv vlc mplayer sox feh sxiv", row("scripts and filters named in its arguments are run", closed=True)),
    **same("montage identify compare composite display import animate conjure stream magick-script gm", row(
        "delegates and scripts named in its arguments are run", closed=True)),
    **same("ssh-copy-id sshfs rsnapshot duplicity borg unison rdiff-backup mutagen", row(
        "it reaches other machines by programs named in its arguments", closed=True)),
    **same("nginx httpd apache2 apachectl apache2ctl caddy haproxy traefik lighttpd varnishd squid", row(
        "settings named in its arguments load modules and run programs", short="cgpfCdDe", long="config conf",
        code="-c -g -p -f -C -d -D -e -E --config --conf --configFile --adapter", abbreviates=False)),
    **same("neofetch fastfetch screenfetch", row("a settings file is code", short="c", long="config source ascii", code="-c "
                                                 "--config --load-config", reads="--source --ascii --logo -l --file",
                                                 abbreviates=False)),
    **same("webpack webpack-cli rspack", row(
        "settings and modules named in its arguments are code", short="cord", long="config entry output-path extends require "
        "config-name env mode target name output-filename", code="-c --config --extends --entry --require -r --config-node-env "
        "--module-* --resolve-* --plugin", writes="-o --output-path --output-filename --json --output-*", abbreviates=False)),
    ("webpack", "configtest"): row(_PROMPT, closed=True),
    **same("wrangler netlify vercel firebase amplify sst", row(
        "settings named in its arguments are code", short="cC", long="config cwd env-file", code="-c --config --cwd --filter "
        "--local-config --global-config -A -Q", writes="--outdir --persist-to", reads="--env-file", abbreviates=False)),
    **same("sphinx-build sphinx-autobuild", row(
        "settings named in its arguments are code", short="bcdDAtjw", long="conf-dir define pre-build post-build watch",
        runs="--pre-build --post-build", code="-c --conf-dir -D --define -A", writes="-d --doctree-dir -w --warning-file",
        operands="second", abbreviates=False)),
    **same("iconv", row("`-o` writes", short="fto", long="output from-code to-code", writes="-o --output", operands="read")),
    **same("ss", row(short="FAfN", long="filter query family net", reads="-F --filter -D --diag")),
    **same("maturin", row("another project's settings name programs", short="mio", long="manifest-path interpreter out "
                          "target-dir", runs="-i --interpreter", code="-m --manifest-path --config", writes="-o --out "
                          "--target-dir", abbreviates=False)),
    **same("forge cast anvil", row("`--ffi` runs programs", long="root config-path out cache-path", runs="--ffi --use",
                                   code="--root --config-path --remappings", writes="--out -o --cache-path --broadcast",
                                   abbreviates=False)),
    **same("phing", row("a build file is code", short="fD", long="buildfile", code="-f -buildfile --buildfile -D -logger -listener "
                        "-propertyfile", single=True, abbreviates=False)),
    **same("check_ssl_cert check_cups check_memory check_raid check_nt check_procs", row(
        "programs and settings named in its arguments are run", closed=True)),
    **same("agetty getty ctr crictl runc crun lpadmin", row("it starts programs named in its arguments", closed=True)),
    ("go", "tool"): row("tools of its own read, write and run", closed=True),
    ("go", "tool", "cover"): row("`-o` writes, `-html` opens a browser", single=True, long="func html o mode var",
                                 writes="-o --o", runs="-html --html", abbreviates=False),
    **same("gofmt goimports gofumpt golines", row("`-w` changes files", single=True, long="r local cpuprofile", writes="-cpuprofile",
                                                  operands="read", changes="-w --w", abbreviates=False)),
    **same("clang-format", row("`-i` changes files", changes="-i", operands="read", abbreviates=False)),
    **same("shfmt swift-format ormolu fourmolu google-java-format", row(
        "`-i` changes files", short="i", code="", changes="-i -w --in-place --inplace --write --replace", operands="read",
        abbreviates=False)),
    **same("black isort stylua nixfmt alejandra djlint rustfmt", row(
        "it rewrites its operands", short="ltCpmW", long="line-length target-version config code exclude include workers "
        "settings-path edition emit stdin-filename extend-exclude force-exclude profile src config-path", operands="change",
        abbreviates=False)),
    **same("dos2unix unix2dos", row("it rewrites its operands", changes="-n --newfile", operands="change", abbreviates=False)),
    ("ruff", "format"): row("it rewrites its operands", long="config cache-dir line-length target-version exclude extension "
                            "range stdin-filename", code="--config", writes="--cache-dir", operands="change", abbreviates=False),
    **{key: row("it rewrites its operands", single=True, operands="change", abbreviates=False) for key in (
        ("terraform", "fmt"), ("tofu", "fmt"), ("dart", "format"), ("zig", "fmt"), ("mix", "format"), ("deno", "fmt"))},
}  # fmt: skip
