"""Other names of programs, under which the tables know them. Data."""

from __future__ import annotations

from collections.abc import Mapping

_PREFIXED = """
arch awk b2sum base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd dir
dircolors dirname du echo egrep env expand expr factor false fgrep find fmt fold grep groups head hostid id install join
kill link ln locate logname ls make md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste patch
pathchk pinky printenv printf ptx pwd readlink realpath rm rmdir runcon sed seq sha1sum sha224sum sha256sum sha384sum
sha512sum shred shuf sleep sort split stdbuf stty sum sync tac tail tar tee time timeout touch tr true truncate tsort
tty uname unexpand uniq unlink uptime users vdir wc which whoami xargs yes
"""
"""GNU programs that Homebrew and the BSDs install with a ``g`` in front."""
OTHER_NAMES: Mapping[str, str] = {f"g{name}": name for name in _PREFIXED.split()} | {
    "python3": "python", "python2": "python", "pypy3": "pypy", "nodejs": "node", "bsdtar": "tar", "mawk": "awk",
    "nawk": "awk", "original-awk": "awk", "fdfind": "fd", "batcat": "bat", "egrep": "grep", "fgrep": "grep",
    "gegrep": "grep", "gfgrep": "grep", "nvim": "vim", "vi": "vim", "view": "vim", "vimdiff": "vim", "gvim": "vim",
    "ex": "vim", "rvim": "vim", "rview": "vim", "py": "python", "exa": "ls", "eza": "ls", "rscript": "Rscript",
    "texlua": "lua", "vim.basic": "vim", "vim.tiny": "vim", "vimx": "vim",
}  # fmt: skip
"""Other names of the same programs, as far as their options agree."""
