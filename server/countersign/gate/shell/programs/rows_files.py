"""Programs that write, change, move, pack or fetch files (RULES.md S10). Data: one row each (see ``row.py``)."""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.row import Program, row, same

FILES: Mapping[tuple[str, ...], Program] = {
    **same("tee", row("it writes its operands", operands="write")),
    **same("sponge", row("it writes its operand", operands="write")),
    **same("touch", row("it makes files", flags="acfhm --no-create --no-dereference", short="r", long="reference",
                        texts="-d -t --date --time", reads="-r --reference", operands="write")),
    **same("mkdir", row("it makes folders", flags="pvZ --parents --verbose --context", texts="-m --mode", operands="write")),
    **same("mkfifo mknod", row("it makes special files", flags="Z --context", texts="-m --mode", operands="write")),
    **same("rm", row("it deletes", flags="dfiIrRv --dir --force --interactive --no-preserve-root --preserve-root "
                     "--one-file-system --recursive --verbose", operands="delete", alike="-r=-R=--recursive -f=--force -d=--dir")),
    **same("shred", row("it deletes", flags="fuvxz --force --remove --verbose --exact --zero", long="random-source",
                        texts="-n -s --iterations --size", reads="--random-source", operands="delete")),
    **same("unlink srm trash trash-put", row("it deletes", operands="delete")),
    **same("rmdir", row("it deletes folders", operands="delete")),
    **same("truncate", row("it changes files", flags="co --no-create --io-blocks", short="r", long="reference",
                           texts="-s --size", reads="-r --reference", operands="write")),
    **same("chmod chgrp", row("it changes rights", texts="--reference --from", operands="owner", alike="-R=--recursive")),
    **same("chown setfacl chattr chcon", row("it changes rights", texts="--reference --from", operands="owner", alike="-R=--recursive")),
    **same("cp", row(
        "it writes its last operand", short="t", long="target-directory",
        flags="abdfHilLnPpRrsTuvxZ --archive --attributes-only --backup --context --copy-contents --debug --dereference "
              "--no-dereference --force --interactive --keep-directory-symlink --link --no-clobber --no-target-directory "
              "--one-file-system --parents --preserve --recursive --reflink --remove-destination "
              "--strip-trailing-slashes --symbolic-link --update --verbose",
        texts="-S --suffix --sparse --no-preserve", operands="copy", follows="-L --dereference", links="-l -s --link --symbolic-link",
        alike="-r=-R=--recursive -f=--force -a=--archive -l=--link -s=--symbolic-link -t=--target-directory")),
    **same("mv", row(
        "it moves files", short="t", long="target-directory",
        flags="bfinTuvZ --backup --context --debug --exchange --force --interactive --no-clobber --no-copy "
              "--no-target-directory --strip-trailing-slashes --update --verbose", texts="-S --suffix", operands="move",
        alike="-f=--force -t=--target-directory")),
    **same("ln link", row(
        "it makes names for files", short="t", long="target-directory",
        flags="bdFfiLnPrsTv --backup --directory --force --interactive --logical --no-dereference --no-target-directory "
              "--physical --relative --symbolic --verbose", texts="-S --suffix", operands="link",
        alike="-s=--symbolic -f=--force -t=--target-directory")),
    **same("install", row(
        "it writes its last operand", short="t", long="target-directory strip-program",
        flags="bcCdDpsTvZ --backup --compare --context --debug --directory --no-target-directory --preserve-context "
              "--preserve-timestamps --strip --verbose", texts="-g -m -o -S --group --mode --owner --suffix",
        runs="--strip-program -s --strip", operands="copy")),
    **same("dd", row("`of=` is written")),
    **same("split", row(
        "it writes files; `--filter` runs a command", long="filter",
        flags="0123456789deux --elide-empty-files --unbuffered --verbose --hex-suffixes --numeric-suffixes",
        texts="-a -b -C -l -n -t --suffix-length --bytes --line-bytes --lines --number --separator --additional-suffix",
        runs="--filter", operands="second")),
    **same("csplit", row("it writes files", short="bfn", long="suffix-format prefix digits", writes="-f --prefix")),
    **same("patch", row("it changes the files that a patch names", short="BDFYdgiopprVxz", long="input output reject-file "
                        "directory strip fuzz get prefix suffix", writes="-o --output -r --reject-file", reads="-i --input", runs="-e --ed -g --get")),
    **same("rsync", row("`-e` and `--rsync-path` run a program", short="eTM", long="rsh rsync-path temp-dir backup-dir "
                        "exclude-from include-from files-from log-file partial-dir compare-dest copy-dest link-dest "
                        "password-file write-batch only-write-batch read-batch remote-option config dparam",
                        texts="-B -f -@ --suffix --exclude --include --bwlimit --port --timeout --chmod --chown --filter "
                              "--max-size --min-size --address --out-format --info --debug",
                        runs="-e --rsh --rsync-path -M --remote-option", code="--config --daemon --read-batch",
                        writes="--log-file --write-batch --only-write-batch --backup-dir --partial-dir --temp-dir -T --link-dest",
                        changes="--remove-source-files", brings="fetched", follows="-L --copy-links -k --copy-dirlinks --copy-unsafe-links", reads="--password-file --files-from --exclude-from --include-from",
                        operands="remote")),
    **same("scp", row("`-S` and `-o` run a program", short="DFiSo", texts="-c -J -l -P -X", runs="-S -o -D", code="-F", reads="-F", operands="remote",
                     follows="-", brings="below")),
    **same("ssh autossh", row("`-o` and `-F` run programs", short="BbcDEeFIiJLlmOoPpQRSWw", ordered=True, runs="-o -J",
                              code="-F -I -S", reads="-F", writes="-E")),
    **same("curl", row(
        "`-o` and its like write, `-K` reads options", alike="-X=--request -o=--output -O=--remote-name -d=--data -F=--form "
        "-T=--upload-file -K=--config -k=--insecure -L=--location -H=--header -u=--user -x=--proxy -b=--cookie -I=--head",
        short="ouXHdFTAebcDEmrtUwxyYzCKPQ",
        long="output user request header data data-raw data-binary data-ascii data-urlencode form upload-file user-agent "
             "referer cookie cookie-jar dump-header cert key cacert capath max-time connect-timeout range proxy proxy-user "
             "write-out config interface limit-rate retry retry-delay retry-max-time resolve stderr trace trace-ascii "
             "libcurl hsts alt-svc etag-save etag-compare output-dir url json netrc-file engine ciphers ftp-port quote "
             "form-string max-redirs continue-at speed-limit speed-time time-cond preproxy socks5 noproxy doh-url "
             "dns-servers aws-sigv4 oauth2-bearer pinnedpubkey unix-socket url-query variable proxy-header proxy-cert proxy-key "
             "crlfile proxy-crlfile proxy-cacert proxy-capath egd-file random-file proxy-pinnedpubkey",
        writes="-o --output -D --dump-header -c --cookie-jar --stderr --trace --trace-ascii --libcurl --hsts --alt-svc "
               "--etag-save --output-dir --ssl-sessions",
        changes="-O --remote-name --remote-name-all -J --remote-header-name --xattr -Q --quote",
        code="-K --config --engine --unix-socket --abstract-unix-socket --proto-default",
        reads="-K --config --cacert -T --upload-file -E --cert --key --netrc-file -b --cookie --proxy-cert --proxy-key --etag-compare "
              "--crlfile --proxy-crlfile --proxy-cacert --capath --proxy-capath --egd-file --random-file --pinnedpubkey "
              "--proxy-pinnedpubkey",
        safe="--con --connect-timeout --cookie --data --trace-ids --trace-time --header --compressed --create-dirs "
             "--fail --silent --location --head --include --user --user-agent -H -X -d")),
    **same("wget", row(
        "it writes what it fetches", alike="-O=--output-document -r=--recursive -m=--mirror -i=--input-file", short="OoaiPBtTwQUeADRILX", long="output-document output-file append-output input-file "
        "directory-prefix base tries timeout wait quota user-agent execute accept reject header post-data post-file body-data "
        "body-file user password load-cookies save-cookies config use-askpass rejected-log referer method warc-file private-key "
        "certificate ca-certificate ca-directory crl-file pinnedpubkey egd-file",
        writes="-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies "
               "--rejected-log --warc-file --hsts-file", runs="--use-askpass", code="-e --execute --config",
        reads="-i --input-file --post-file --body-file --load-cookies --private-key --certificate "
              "--ca-certificate --ca-directory --crl-file --pinnedpubkey --egd-file --config", brings="below")),
    **same("tar", row("see `escapes.py`: options that run programs, and unpacking", follows="-h --dereference -L", alike="-x=--extract=--get -c=--create "
                      "-f=--file -t=--list -r=--append -u=--update -C=--directory -P=--absolute-names -z=--gzip=--ungzip",
                      short="fbCFgIKLNTVXH", long="file "
                      "directory use-compress-program checkpoint checkpoint-action to-command rsh-command rmt-command "
                      "info-script new-volume-script files-from exclude exclude-from transform xform strip-components "
                      "one-top-level owner group mode mtime index-file listed-incremental blocking-factor label suffix format "
                      "add-file newer after-date volno-file starting-file sparse-version warning quoting-style",
                      runs="-I --use-compress-program --checkpoint-action --to-command --rsh-command --rmt-command -F "
                           "--info-script --new-volume-script", code="-T --files-from",
                      writes="--index-file -g --listed-incremental --volno-file", changes="--remove-files -P "
                      "--absolute-names --delete",
                      reads="-X --exclude-from", safe="--checkpoint --to-stdout --exclude --file --list --extract")),
    **same("zip", row("`-TT` runs a command", short="bitxPsn", long="unzip-command temp-path output-file exclude include",
                      runs="-TT --unzip-command", changes="-m --move", writes="-O --output-file -b --temp-path",
                      operands="archive", follows="-")),
    **same("unzip", row("it unpacks", short="dPx", writes="-d")),
    **same("7z 7za 7zr", row("it packs and unpacks", brings="here", stays="a l t h i b", follows="-")),
    **same("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd compress uncompress pigz lz4",
           row("it replaces its operands", short="SobpT", long="suffix output memlimit", writes="-o --output",
               code="--files --files0", safe="--f --fi --fil --file",
               operands="change")),
    **same("cpio", row("it packs and unpacks; `--rsh-command` runs a program", short="CEFHIMORD", long="rsh-command "
                       "to-stdout file directory", runs="--rsh-command", writes="-O -F --file -D --directory",
                       changes="-i --extract -p --pass-through", brings="here", stays="-t --list -o --create")),
    **same("ar ranlib", row("the archive, whose place its key letters move, is written", changes="-M", operands="read")),
    **same("mktemp", row("it makes a file, with `-p` anywhere", flags="dqtuV --directory --dry-run --quiet --tmpdir",
                         short="p", texts="--suffix", writes="-p --tmpdir", operands="write")),
    **same("xargs parallel", row("`-a` names a file of words", short="adEIJLnPRSsjCDN", long="arg-file delimiter max-args max-procs "
                                 "max-chars process-slot-var jobs", reads="-a --arg-file", ordered=True)),
}  # fmt: skip
