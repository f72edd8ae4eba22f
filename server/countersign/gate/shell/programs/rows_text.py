"""Programs that read, list, compare and filter files. Data: one row each (see ``row.py``).

Rows with ``known`` are the fixed read-only set (RULES.md 1, CONTRACT.md 10): with none of their escapes they only read
what their words name. None of them goes into hidden files by itself; those that do with an option name it in
``not_known``. Rows with ``flags`` hold all options of their program, by the manuals of the GNU programs, util-linux,
jq 1.7 and ripgrep 14; with another option the program is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.row import Program, row, same

_DIGITS = "0123456789"

TEXT: Mapping[tuple[str, ...], Program] = {
    **same("cat", row(
        flags="AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
        operands="read", known=True)),
    **same("tac", row(flags="br --before --regex", texts="-s --separator", operands="read", known=True)),
    **same("nl", row(
        flags="p --no-renumber",
        texts="-b -d -f -h -i -l -n -s -v -w --body-numbering --section-delimiter --footer-numbering --header-numbering "
              "--line-increment --join-blank-lines --number-format --number-separator --starting-line-number "
              "--number-width",
        operands="read", known=True)),
    **same("rev", row(flags="0hV --zero", operands="read", known=True)),
    **same("head tail", row(
        flags=_DIGITS + "qvzfFr --quiet --silent --verbose --zero-terminated --follow --retry",
        texts="-n -c -s --lines --bytes --pid --sleep-interval --max-unchanged-stats", operands="read", known=True)),
    **same("wc", row(flags="cmlLw --bytes --chars --lines --max-line-length --words", long="files0-from", texts="--total",
                     reads="--files0-from", operands="read", known=True, not_known="--files0-from")),
    **same("cut", row(flags="nsz --complement --only-delimited --zero-terminated",
                      texts="-b -c -d -f --bytes --characters --fields --delimiter --output-delimiter", operands="read",
                      known=True)),
    **same("tr", row(known=True)),
    **same("fold", row(flags=_DIGITS + "bs --bytes --spaces", texts="-w --width", operands="read", known=True)),
    **same("fmt", row(
        flags=_DIGITS + "cstu --crown-margin --split-only --tagged-paragraph --uniform-spacing",
        texts="-g -p -w --goal --prefix --width", operands="read", known=True)),
    **same("expand unexpand", row(flags=_DIGITS + "ai --all --first-only --initial", texts="-t --tabs", operands="read",
                                  known=True)),
    **same("pr", row(
        flags=_DIGITS + "acdFfJmrtTv --across --show-control-chars --double-space --form-feed --join-lines --merge "
              "--no-file-warnings --omit-header --omit-pagination --show-nonprinting --expand-tabs --output-tabs "
              "--number-lines --separator --sep-string",
        maybe="einsS",
        texts="-D -h -l -N -o -w -W --columns --date-format --header --length --first-line-number --indent --width "
              "--page-width",
        operands="read", known=True)),
    **same("paste", row(flags="sz --serial --zero-terminated", texts="-d --delimiters", operands="read", known=True)),
    **same("comm", row(flags="123z --check-order --nocheck-order --total --zero-terminated", texts="--output-delimiter",
                       operands="read", known=True)),
    **same("join", row(flags="iz --ignore-case --check-order --nocheck-order --header --zero-terminated",
                       texts="-a -e -j -o -t -v -1 -2", operands="read", known=True)),
    **same("cmp", row(flags="blsv --print-bytes --verbose --quiet --silent", texts="-i -n --ignore-initial --bytes",
                      operands="read", known=True)),
    # An older `column` has a flag `-n`: what stands behind it may be a file.
    **same("column", row(
        flags="tdeLJxhV --table --table-noheadings --table-header-repeat --keep-empty-lines --json --fillrows",
        short="n", long="table-name",
        texts="-O -N -l -E -H -R -T -W -r -i -p -c -o -s --table-order --table-columns --table-columns-limit "
              "--table-noextreme --table-hide --table-right --table-truncate --table-wrap --tree --tree-id --tree-parent "
              "--output-width --output-separator --separator",
        operands="read", known=True)),
    **same("uniq", row(
        "its second operand is written",
        flags=_DIGITS + "cdDiuz --count --repeated --all-repeated --group --ignore-case --unique --zero-terminated",
        texts="-f -s -w --skip-fields --skip-chars --check-chars", operands="second", known=True)),
    **same("sort", row(
        "`--compress-program` runs a program, `-o` writes", short="oT",
        flags="bdfgiMhnRrVcCmsuz --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
              "--ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse "
              "--version-sort --check --debug --merge --stable --unique --zero-terminated",
        long="temporary-directory output compress-program files0-from random-source",
        texts="-k -S -t --key --field-separator --buffer-size --parallel --batch-size --sort",
        runs="--compress-program", writes="-o --output -T --temporary-directory", reads="--files0-from --random-source",
        operands="read", known=True, not_known="--files0-from --random-source")),
    **same("shuf", row(
        "`-o` writes", short="o", flags="erz --echo --repeat --zero-terminated", long="output random-source",
        texts="-n -i --head-count --input-range", writes="-o --output", reads="--random-source", operands="read",
        known=True)),
    **same("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum", row(
        flags="bctzwrUqsv0 --binary --check --tag --untagged --text --zero --ignore-missing --quiet --status --strict "
              "--warn --debug --sysv --base64 --raw --UNIVERSAL --01",
        texts="-a -l --algorithm --length", operands="read", known=True, not_known="-c --check")),
    **same("base64 base32 basenc", row(
        flags="diD --decode --ignore-garbage --base64 --base64url --base58 --base32 --base32hex --base16 --base2msbf "
              "--base2lsbf --z85",
        texts="-w --wrap", operands="read", known=True)),
    **same("od", row(
        flags="aBbcDdeFfHhIiLlOosXxv --output-duplicates --width --traditional --strings", maybe="w",
        texts="-A -j -N -S -t --address-radix --skip-bytes --read-bytes --format --endian", operands="read", known=True)),
    **same("hexdump hd", row(
        flags="bcCdoxXvhV --one-byte-octal --one-byte-hex --one-byte-char --canonical --two-bytes-decimal "
              "--two-bytes-octal --two-bytes-hex --color --no-squeezing",
        maybe="L", short="f", long="format-file", texts="-e -n -s --format --length --skip", reads="-f --format-file",
        operands="read", known=True, not_known="-f --format-file")),
    **same("xxd", row("its second operand is written", alone=True, ordered=True, flags="abCdeEhipruv", texts="-c -g -l -n -o -s -R",
                      words="-len -cols -seek -groupsize -name -offset", operands="second", known=True, safe="-o")),
    **same("strings", row(
        flags=_DIGITS + "adfHhowvV --all --data --print-file-name --include-all-whitespace",
        texts="-e -n -s -t -T -U --bytes --encoding --output-separator --radix --target --unicode", operands="read",
        known=True)),
    **same("diff", row(
        "`-l` runs `pr`",
        flags=_DIGITS + "abBcdeEfhHilnNpPqrstTuvwyZ --binary --brief --color --context --ed --expand-tabs --forward-ed "
              "--ignore-all-space --ignore-blank-lines --ignore-case --ignore-file-name-case --ignore-space-change "
              "--ignore-tab-expansion --ignore-trailing-space --inhibit-hunk-merge --initial-tab --left-column --minimal "
              "--new-file --no-dereference --no-ignore-file-name-case --normal --presume-output-tty --rcs --recursive "
              "--report-identical-files --show-c-function --side-by-side --speed-large-files --strip-trailing-cr "
              "--suppress-blank-empty --suppress-common-lines --text --unidirectional-new-file --unified --paginate",
        short="X", long="exclude-from from-file to-file",
        texts="-C -D -F -I -L -S -U -W -x --exclude --starting-file --show-function-line --ignore-matching-lines --label "
              "--width --palette --horizon-lines --tabsize --ifdef --line-format --old-line-format --new-line-format "
              "--unchanged-line-format --old-group-format --new-group-format --changed-group-format "
              "--unchanged-group-format",
        runs="-l --paginate", reads="-X --exclude-from --from-file --to-file", operands="read", deep="-r --recursive", follows="-",
        known=True, not_known="-r --recursive -N --from-file --to-file")),
    **same("diff3", row("`--diff-program` runs a program", short="L", long="diff-program label", runs="--diff-program",
                        operands="read")),
    **same("sdiff", row("`-o` writes and runs an editor", short="owIE", long="output diff-program width",
                        runs="--diff-program", writes="-o --output", operands="read")),
    **same("colordiff delta", row("it runs diff or a pager by its settings", runs="--difftype --pager --paging --config",
                                  long="difftype pager paging config", operands="read")),
    **same("zgrep bzgrep xzgrep", row("it is a script that sorts its words in its own way", short="f", long="file",
                                      reads="-f --file", operands="read")),
    **same("grep", row(
        flags=_DIGITS + "EFGHILPTUVabchilnoqRrsuvwxyZz --basic-regexp --byte-offset --color --colour --count "
              "--dereference-recursive --extended-regexp --files-with-matches --files-without-match --fixed-regexp "
              "--fixed-strings --ignore-case --no-ignore-case --initial-tab --invert-match --line-buffered --line-number "
              "--line-regexp --no-filename --no-group-separator --no-messages --null --null-data --only-matching "
              "--perl-regexp --quiet --recursive --silent --text --binary --unix-byte-offsets --with-filename "
              "--word-regexp",
        short="f", long="file exclude-from",
        texts="-e -m -A -B -C -D -d -X --regexp --max-count --after-context --before-context --context --binary-files "
              "--devices --directories --include --exclude --exclude-dir --label --group-separator",
        reads="-f --file --exclude-from", given="-e --regexp -f --file", operands="pattern",
        deep="-r -R --recursive --dereference-recursive", follows="-R --dereference-recursive", known=True,
        not_known="-r -R --recursive --dereference-recursive -f --file -d --directories --exclude-from")),
    **same("rg", row(
        "`--pre` and `--hostname-bin` run a program", short="f", long="file ignore-file pre hostname-bin",
        flags="abcFhHiIlLnNoPpqsSuUvVwxz0. --auto-hybrid-regex --no-auto-hybrid-regex --binary --no-binary "
              "--block-buffered --no-block-buffered --byte-offset --no-byte-offset --case-sensitive --column --no-column "
              "--no-context-separator --count --count-matches --crlf --no-crlf --debug --no-encoding --files "
              "--files-with-matches --files-without-match --fixed-strings --no-fixed-strings --follow --no-follow "
              "--glob-case-insensitive --no-glob-case-insensitive --heading --no-heading --hidden --no-hidden "
              "--ignore-case --ignore-file-case-insensitive --no-ignore-file-case-insensitive --include-zero "
              "--no-include-zero --invert-match --no-invert-match --json --no-json --line-buffered --no-line-buffered "
              "--line-number --no-line-number --line-regexp --max-columns-preview --no-max-columns-preview --mmap "
              "--no-mmap --multiline --no-multiline --multiline-dotall --no-multiline-dotall --no-config --no-filename "
              "--no-ignore --ignore --no-ignore-dot --ignore-dot --no-ignore-exclude --ignore-exclude --no-ignore-files "
              "--ignore-files --no-ignore-global --ignore-global --no-ignore-messages --ignore-messages "
              "--no-ignore-parent --ignore-parent --no-ignore-vcs --ignore-vcs --no-messages --messages "
              "--no-pcre2-unicode --pcre2-unicode --no-pre --no-require-git --require-git --no-unicode --unicode --null "
              "--null-data --one-file-system --no-one-file-system --only-matching --passthru --passthrough --pcre2 "
              "--no-pcre2 --pcre2-version --pretty --quiet --search-zip --no-search-zip --smart-case --sort-files "
              "--no-sort-files --stats --no-stats --stop-on-nonmatch --text --no-text --trace --trim --no-trim "
              "--type-list --unrestricted --vimgrep --with-filename --word-regexp",
        texts="-A -B -C -E -e -g -M -m -T -t -j -d -r --after-context --before-context --context --encoding --regexp "
              "--glob --iglob --max-columns --max-count --type --type-not --type-add --type-clear --threads --max-depth "
              "--maxdepth --replace --color --colors --pre-glob --sort --sortr --max-filesize --path-separator --engine "
              "--context-separator --field-match-separator --field-context-separator --dfa-size-limit "
              "--regex-size-limit --generate --hyperlink-format",
        runs="--pre --hostname-bin -z --search-zip", reads="-f --file --ignore-file",
        given="-e --regexp -f --file --files --type-list --generate", operands="pattern", here=True, deep="-", follows="-L --follow", known=True,
        safe="--pre-glob",
        not_known="-. --hidden -u -uu -uuu --unrestricted --no-ignore -f --file --ignore-file -L --follow --no-ignore-vcs "
                  "--no-ignore-dot", abbreviates=False)),
    **same("ag", row("`--pager` runs a program", short="ABCGgmp", long="pager path-to-ignore ignore ignore-dir depth",
                     runs="--pager", operands="pattern", here=True, deep="-", follows="-f --follow")),
    **same("ack", row("`--pager` runs a program, `--output` is evaluated", short="ABCmg", long="pager ackrc output type "
                      "type-add type-set ignore-dir ignore-file match", runs="--pager", code="--ackrc --output",
                      operands="pattern", here=True, deep="-", follows="-f --follow")),
    **same("ls dir vdir", row(
        flags="aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --author --escape --ignore-backups --color "
              "--directory --dired --classify --file-type --full-time --group-directories-first --no-group "
              "--human-readable --si --dereference --dereference-command-line "
              "--dereference-command-line-symlink-to-dir --hyperlink --inode --kibibytes --numeric-uid-gid --literal "
              "--hide-control-chars --show-control-chars --quote-name --reverse --recursive --size --context --zero",
        texts="-I -w -T --ignore --hide --width --tabsize --block-size --time --sort --format --indicator-style "
              "--quoting-style --time-style",
        operands="list", here=True, known=True, not_known="-L --dereference")),
    **same("tree", row(
        "`-o` writes", short="o", apart=True,
        flags="adlfxqNQpugshDFiASnCvtcUrXJR --noreport --si --du --prune --matchdirs --metafirst --ignore-case --nolinks "
              "--inodes --device --dirsfirst --filesfirst --gitignore --fromfile --fromtabfile --fflinks --info",
        long="gitfile infofile hintro houtro", texts="-L -P -I -H -T --filelimit --charset --sort --timefmt",
        writes="-o -R", reads="--gitfile --infofile --hintro --houtro", operands="list", here=True, known=True,
        not_known="-l")),
    **same("du", row(
        flags="0abcDHhklLmPSsx --null --all --apparent-size --bytes --total --dereference-args --human-readable --inodes "
              "--dereference --count-links --no-dereference --separate-dirs --si --summarize --one-file-system --time",
        short="X", long="exclude-from files0-from",
        texts="-B -d -t --block-size --max-depth --threshold --exclude --time-style",
        reads="-X --exclude-from --files0-from", operands="list", here=True, known=True,
        not_known="--files0-from -X --exclude-from -L --dereference")),
    **same("df", row(
        flags="aihHklmPTv --all --inodes --human-readable --si --local --portability --print-type --sync --no-sync --total "
              "--output",
        texts="-B -F -t -x --block-size --type --exclude-type", operands="list", known=True, safe="--output")),
    **same("stat", row(flags="fLt --dereference --file-system --terse", texts="-c --format --printf --cached",
                       operands="list", known=True)),
    **same("file", row(
        "`-C` writes a compiled file, `-m` loads one", short="fm", long="magic-file files-from",
        flags="bcdEhiklLnNprsSvzZ0 --brief --checking-printout --debug --extension --apple --keep-going --list "
              "--dereference --no-dereference --mime --mime-type --mime-encoding --no-buffer --no-pad --preserve-date "
              "--print0 --raw --special-files --no-sandbox --uncompress --uncompress-noreport",
        texts="-F -e -P --separator --exclude --exclude-quiet --parameter", code="-m --magic-file", writes="-C --compile",
        reads="-f --files-from", operands="list", known=True, not_known="-f --files-from -z -Z --uncompress "
        "--uncompress-noreport")),
    **same("realpath", row(
        flags="eEmLPqsz --canonicalize --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip "
              "--no-symlinks --zero",
        long="relative-to relative-base", operands="list", known=True)),
    **same("readlink", row(
        flags="femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent "
              "--verbose --zero", operands="list", known=True)),
    **same("basename", row(short="s", long="suffix", known=True)),
    **same("dirname", row(known=True)),
    **same("pwd", row(known=True)),
    **same("echo", row(known=True)),
    **same("printf", row("`-v` sets a variable, and evaluates its subscript", short="v", ordered=True, changes="-v",
                         known=True)),
    **same("date", row(
        "`-s` sets the clock", short="frs", long="file reference set", flags="Ru --debug --resolution --rfc-email "
        "--rfc-2822 --iso-8601 --utc --universal --uct", maybe="I", texts="-d --date --rfc-3339", changes="-s --set",
        reads="-f --file -r --reference", known=True, not_known="-f --file")),
    **same("cal arch nproc whoami tty groups logname", row(known=True)),
    **same("uptime users", row("an operand is a file that is read", operands="read", known=True)),
    **same("uname", row(known=True)),
    **same("id", row(known=True)),
    **same("hostname", row("an operand sets the name", short="F", changes="-F --file -b --boot")),
    **same("which whereis", row(short="BMSf", known=True)),
    **same("type", row(known=True)),
    **same("seq", row(short="fs", long="format separator", known=True)),
    **same("sleep", row(known=True)),
    **same("jq", row(
        flags="acCehijMnrRsSV --ascii-output --compact-output --color-output --exit-status --join-output "
              "--monochrome-output --null-input --raw-output --raw-output0 --raw-input --slurp --sort-keys --tab "
              "--unbuffered --seq --stream --stream-errors --args --jsonargs --build-configuration "
              "--debug-dump-disasm --debug-trace --arg --argjson",
        short="fL", long="from-file slurpfile rawfile argfile library-path", texts="--indent", pairs="--arg --argjson",
        reads="-f --from-file --slurpfile --rawfile --argfile -L --library-path", given="-f --from-file",
        operands="pattern", known=True, abbreviates=False,
        not_known="-f --from-file --slurpfile --rawfile --argfile -L --library-path --run-tests")),
    **same("yq", row("`-i` changes files", short="IopPs", long="indent output-format input-format split-exp expression "
                     "from-file", writes="", changes="-i --inplace --in-place -s --split-exp", reads="--from-file",
                     given="--from-file", operands="pattern", safe="--input-format --indent")),
    **same("xmllint", row("`--output` writes, `--shell` is interactive", long="output xpath encode schema relaxng pattern "
                          "dtdvalid path", writes="--output -o", code="--shell --catalogs --load-trace",
                          reads="--schema --relaxng", operands="read")),
    **same("zcat bzcat xzcat zstdcat gzcat", row(operands="read")),
    **same("bat", row("`--pager` runs a program", short="lHmrPAt", long="language highlight-line file-name theme style "
                      "line-range pager paging color map-syntax wrap tabs terminal-width diff-context italic-text",
                      runs="--pager --paging", operands="read")),
    **same("less", row("it runs commands and writes logs by its options and `+`", short="bhjkoOpPtTxyzD#", long="pattern "
                       "log-file tag lesskey-file lesskey-src lesskey-content prompt tag-file", code="-k --lesskey-file "
                       "--lesskey-src --lesskey-content -t --tag -T --tag-file", writes="-o -O --log-file --LOG-FILE",
                       operands="read")),
    **same("more most pg", row("`+` gives it commands", short="nt", operands="read")),
    **same("man", row("`-P` and `-H` run a program", short="PCRLmMSserEpTXlH", long="pager config-file preprocessor "
                      "troff-device html browser ditroff recode locale systems manpath sections extension encoding "
                      "gxditview", runs="-P -r --prompt --pager -H --html -X --gxditview -p --preprocessor -T --troff-device -Z",
                      code="-C --config-file -l --local-file -M --manpath -m --systems", reads="-C --config-file -l --local-file",
                   operands="read", safe="--path")),
    **same("locate", row(short="dl", reads="-d")),
    **same("ps pgrep lsof netstat ss free vmstat top htop env-list printenv lsblk lscpu", row()),
    **same("tokei cloc scc", row("reports can be written", long="report-file out output exclude-dir format sort",
                                 writes="--report-file --out --output -o --sql", here=True, operands="list",
                                 runs="--script-lang --extract-with --diff-list-files --vcs", code="--config --read-lang-def", one_dash=True,
                                 changes="--counted --ignored --found --categorized --diff-alignment --write-lang-def --strip-comments "
                                         "--unique")),
    **same("fd", row("`-x` and `-X` run a command", short="dteEcjSoxX", long="max-depth min-depth exact-depth type "
                     "extension exclude color threads size owner exec exec-batch changed-within changed-before ignore-file "
                     "base-directory search-path path-separator max-results format",
                     runs="-x --exec -X --exec-batch -l --list-details", operands="pattern", here=True, follows="-L --follow",
                     abbreviates=False)),
    **same("find", row(
        "`-exec` runs a command, `-delete` and `-fprintf` change files", single=True,
        flags="-H -L -P -O0 -O1 -O2 -O3 -a -and -o -or -not -d -depth -daystart -empty -executable -false -follow "
              "-ignore_readdir_race -noignore_readdir_race -ls -mount -noleaf -nogroup -nouser -nowarn -print -print0 -prune "
              "-quit -readable -true -warn -writable -x -xdev",
        long="anewer cnewer newer samefile files0-from fprint fprint0 fls fprintf "
             + " ".join(f"newer{this}{that}" for this in "aBcm" for that in "aBcm"),
        texts="-D -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -maxdepth "
              "-mindepth -mtime -atime -ctime -mmin -amin -cmin -size -perm -user -group -uid -gid -links -inum -fstype "
              "-printf -regextype -used -context -newerat -newerBt -newerct -newermt",
        runs="-exec -execdir -ok -okdir", changes="-delete", writes="-fprint -fprint0 -fls -fprintf",
        reads="-files0-from", operands="list", here=True, known=True, not_known="-files0-from -L -follow",
        abbreviates=False)),
    **same("sed", row(
        "`-i` changes files; its language runs and writes (see `sed.py`)", short="f", long="file", maybe="i",
        flags="bnrzuEs --binary --posix --silent --quiet --debug --regexp-extended --in-place --null-data "
              "--zero-terminated --unbuffered --separate --sandbox --follow-symlinks",
        texts="-e -l --expression --line-length", changes="-i --in-place", code="-f --file", reads="-f --file",
        given="-e --expression -f --file", operands="script", known=True, safe="-s --s")),
    **same("awk", row(
        "its language runs and writes (see `awk.py`)", short="fiElW", long="file include exec load",
        flags="bcCghkMnNOPrsStVI --characters-as-bytes --traditional --copyright --csv --debug --gen-pot --optimize "
              "--no-optimize --non-decimal-data --posix --re-interval --safe --sandbox --bignum --use-lc-numeric --trace "
              "--lint --lint-old --dump-variables --profile --pretty-print",
        maybe="dDLop", texts="-F -v -e --field-separator --assign --source",
        code="-f --file -i --include -l --load -E --exec -D --debug -W",
        reads="-f --file -E --exec", writes="-d --dump-variables -p --profile -o --pretty-print", given="-f --file -e --source -E --exec",
        operands="script", ordered=True, known=True)),
}  # fmt: skip
