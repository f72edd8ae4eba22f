"""Programs that read, list, compare and filter files. Data: one row each (see ``table_row.py``).

Rows with ``known`` are the fixed read-only set (RULES.md 1, CONTRACT.md 10): with none of their escapes they only read
what their words name. None of them goes into hidden files by itself; those that do with an option name it in
``not_known``.
"""

from __future__ import annotations

from collections.abc import Mapping

from .table_row import Program, row, same

TEXT: Mapping[tuple[str, ...], Program] = {
    **same("cat tac nl rev", row(operands="read", short="bdfhilnsvw", known=True)),
    **same("head tail", row(short="ncs", long="lines bytes pid sleep-interval max-unchanged-stats", operands="read",
                            known=True)),
    **same("wc", row(long="files0-from total", reads="--files0-from", operands="read", known=True,
                     not_known="--files0-from")),
    **same("cut", row(short="bcdf", long="bytes characters fields delimiter output-delimiter", operands="read",
                      known=True)),
    **same("tr", row(known=True)),
    **same("fold fmt expand unexpand pr", row(short="wthlNos", operands="read", known=True)),
    **same("paste", row(short="d", long="delimiters", operands="read", known=True)),
    **same("comm join cmp", row(short="aeijotv12n", long="output-delimiter bytes ignore-initial", operands="read",
                                known=True)),
    **same("column", row(short="cosNRTHEOWdlCrpi", long="output-width separator output-separator table-columns",
                         operands="read", known=True)),
    **same("uniq", row("its second operand is written", short="fsw", operands="second", known=True)),
    **same("sort", row("`--compress-program` runs a program, `-o` writes", short="kStTo",
                       long="key field-separator buffer-size temporary-directory output compress-program files0-from "
                            "parallel random-source batch-size sort",
                       runs="--compress-program", writes="-o --output -T --temporary-directory",
                       reads="--files0-from --random-source", operands="read", known=True,
                       not_known="--files0-from --random-source")),
    **same("shuf", row("`-o` writes", short="oni", long="output head-count input-range random-source",
                       writes="-o --output", reads="--random-source", operands="read", known=True)),
    **same("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum",
           row(short="al", long="algorithm length", operands="read", known=True, not_known="-c --check")),
    **same("base64 base32 basenc", row(short="w", long="wrap", operands="read", known=True)),
    **same("od hexdump hd", row(short="AjNStwenfvs", operands="read", known=True, not_known="-f")),
    **same("xxd", row("its second operand is written", short="cglnsoRe", operands="second", known=True, safe="-o")),
    **same("strings", row(short="netTUo", operands="read", known=True)),
    **same("diff", row("`-l` runs `pr`", short="xXFILSUCW", long="exclude exclude-from starting-file "
                       "show-function-line ignore-matching-lines unified context label from-file to-file width "
                       "color palette horizon-lines line-format tabsize",
                       runs="-l --paginate", reads="-X --exclude-from -S --from-file --to-file", operands="read",
                       deep="-r --recursive", known=True, not_known="-r --recursive -N --from-file --to-file")),
    **same("diff3", row("`--diff-program` runs a program", short="L", long="diff-program label", runs="--diff-program",
                        operands="read")),
    **same("sdiff", row("`-o` writes and runs an editor", short="owIE", long="output diff-program width",
                        runs="--diff-program", writes="-o --output", operands="read")),
    **same("colordiff delta", row("it runs diff or a pager by its settings", runs="--difftype --pager --paging --config",
                                  long="difftype pager paging config", operands="read")),
    **same("grep zgrep bzgrep xzgrep", row(
        short="eftmABCDd",
        long="regexp file max-count after-context before-context context binary-files devices directories include "
             "exclude exclude-from exclude-dir color colour label group-separator",
        reads="-f --file --exclude-from", given="-e --regexp -f --file", operands="pattern",
        deep="-r -R --recursive --dereference-recursive", known=True,
        not_known="-r -R --recursive --dereference-recursive -f --file -d --directories --exclude-from")),
    **same("rg", row(
        "`--pre` and `--hostname-bin` run a program", short="ABCEefgMmTtjdrO",
        long="after-context before-context context encoding regexp file glob iglob max-columns max-count type-not type "
             "threads max-depth replace color colors pre pre-glob hostname-bin sort sortr max-filesize ignore-file "
             "path-separator type-add engine context-separator field-match-separator dfa-size-limit regex-size-limit "
             "generate hyperlink-format type-clear field-context-separator stop-on-nonmatch",
        runs="--pre --hostname-bin -z --search-zip", reads="-f --file --ignore-file", given="-e --regexp -f --file --files",
        operands="pattern", here=True, deep="-", known=True, safe="--pre-glob",
        not_known="-. --hidden -u -uu -uuu --unrestricted --no-ignore -f --file --ignore-file -L --follow --no-ignore-vcs "
                  "--no-ignore-dot -g --glob --iglob", abbreviates=False)),
    **same("ag", row("`--pager` runs a program", short="ABCGgmp", long="pager path-to-ignore ignore ignore-dir depth",
                     runs="--pager", operands="pattern", here=True, deep="-")),
    **same("ack", row("`--pager` runs a program, `--output` is evaluated", short="ABCmg", long="pager ackrc output type "
                      "type-add type-set ignore-dir ignore-file match", runs="--pager", code="--ackrc --output",
                      operands="pattern", here=True, deep="-")),
    **same("ls", row(short="IwT", long="ignore width tabsize block-size time sort format hide indicator-style "
                     "quoting-style time-style", operands="list", here=True, known=True)),
    **same("dir vdir", row(short="IwT", operands="list", here=True, known=True)),
    **same("tree", row("`-o` writes", short="LPIHTo", long="filelimit charset sort timefmt gitfile infofile filesfrom",
                       writes="-o -R", reads="--fromfile --gitfile --infofile", operands="list", here=True, known=True)),
    **same("du", row(short="BdtX", long="block-size max-depth threshold exclude exclude-from files0-from time time-style",
                     reads="-X --exclude-from --files0-from", operands="list", here=True, known=True,
                     not_known="--files0-from -X --exclude-from")),
    **same("df", row(short="Btx", long="block-size type exclude-type output", operands="list", known=True, safe="--output")),
    **same("stat", row(short="cf", long="format printf", operands="list", known=True)),
    **same("file", row("`-C` writes a compiled file, `-m` loads one", short="fFmeP", long="magic-file files-from separator "
                       "exclude parameter", code="-m --magic-file", writes="-C --compile", reads="-f --files-from",
                       operands="list", known=True, not_known="-f --files-from -z -Z --uncompress")),
    **same("realpath readlink", row(long="relative-to relative-base", operands="list", known=True)),
    **same("basename", row(short="s", long="suffix", known=True)),
    **same("dirname", row(known=True)),
    **same("pwd", row(known=True)),
    **same("echo", row(known=True)),
    **same("printf", row("`-v` sets a variable, and evaluates its subscript", short="v", ordered=True, changes="-v",
                         known=True)),
    **same("date", row("`-s` sets the clock", short="dfrsI", long="date file reference set", changes="-s --set",
                       reads="-f --file -r --reference", known=True, not_known="-f --file")),
    **same("cal uptime arch nproc whoami tty groups logname users", row(known=True)),
    **same("uname", row(known=True)),
    **same("id", row(known=True)),
    **same("hostname", row("an operand sets the name", short="F", changes="-F --file -b --boot")),
    **same("which whereis", row(short="BMSf", known=True)),
    **same("type", row(known=True)),
    **same("seq", row(short="fs", long="format separator", known=True)),
    **same("sleep", row(known=True)),
    **same("jq", row(short="fL", long="from-file indent arg argjson slurpfile rawfile args jsonargs seq stream",
                     reads="-f --from-file --slurpfile --rawfile -L", given="-f --from-file", operands="pattern", known=True,
                     not_known="-f --from-file --slurpfile --rawfile -L --run-tests")),
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
                      "gxditview", runs="-P --pager -H --html -X --gxditview -p --preprocessor -T --troff-device -Z",
                      code="-C --config-file -l --local-file -M --manpath -m --systems", safe="--path")),
    **same("locate", row(short="dl", reads="-d")),
    **same("ps pgrep lsof netstat ss free vmstat top htop env-list printenv lsblk lscpu", row()),
    **same("tokei cloc scc", row("reports can be written", long="report-file out output exclude-dir format sort",
                                 writes="--report-file --out --output -o --sql", here=True, operands="list",
                                 runs="--script-lang --extract-with --diff-list-files", code="--config --read-lang-def")),
    **same("fd", row("`-x` and `-X` run a command", short="dteEcjSoxX", long="max-depth min-depth exact-depth type "
                     "extension exclude color threads size owner exec exec-batch changed-within changed-before ignore-file "
                     "base-directory search-path path-separator max-results format",
                     runs="-x --exec -X --exec-batch -l --list-details", operands="pattern", here=True,
                     abbreviates=False)),
    **same("find", row("`-exec` runs a command, `-delete` and `-fprintf` change files", single=True,
                       long="name iname path ipath wholename regex iregex lname ilname type xtype maxdepth mindepth newer "
                            "anewer cnewer newermt newerat newerct mtime atime ctime mmin amin cmin size perm user group uid gid links "
                            "inum samefile fstype printf regextype files0-from used context",
                       runs="-exec -execdir -ok -okdir", changes="-delete", writes="-fprint -fprint0 -fls -fprintf",
                       reads="-files0-from", operands="list", here=True, known=True, not_known="-files0-from",
                       abbreviates=False)),
    **same("sed", row("`-i` changes files; its language runs and writes (see `sed.py`)", short="efl",
                      long="expression file line-length", changes="-i --in-place", code="-f --file",
                      given="-e --expression -f --file", operands="script", known=True, safe="-s")),
    **same("awk", row("its language runs and writes (see `awk.py`)", short="FvfeiElDop", long="field-separator assign file "
                      "source include exec load dump-variables profile pretty-print",
                      code="-f --file -i --include -l --load -E --exec -D --debug",
                      writes="-d --dump-variables -p --profile -o --pretty-print", given="-f --file -e --source -E --exec",
                      operands="script", ordered=True)),
}  # fmt: skip
