"""Attempts to get out of the sandbox, as data: each prints ``ESCAPED`` where it succeeds.

``{outside}``, ``{home}`` and ``{storage}`` are folders outside, ``{port}`` is where a server outside listens,
``{abstract}`` the abstract socket and ``{socket}`` the path of one, ``{pid}`` a process outside. An attempt marked
``outside`` does succeed without the sandbox: so the table is seen to be able to fail.
"""

from __future__ import annotations

from typing import NamedTuple


class Attempt(NamedTuple):
    name: str
    script: str
    outside: bool = False


PYTHON = "/usr/bin/python3 -c "


def _python(name: str, text: str, *, outside: bool = False) -> Attempt:
    quoted = text.strip().replace("'", "'\\''")
    return Attempt(name, f"{PYTHON}'{quoted}' 2>&1 | tail -1", outside)


def _sh(name: str, text: str, *, outside: bool = False) -> Attempt:
    return Attempt(name, text, outside)


_SYSCALL = "import ctypes,os;c=ctypes.CDLL(None,use_errno=True);"

ATTEMPTS: tuple[Attempt, ...] = (
    # writing outside
    _sh("write outside", "echo x >{outside}/made && test -e {outside}/made && echo ESCAPED"),
    _sh("append to a file outside", "echo x >>{outside}/file && echo ESCAPED", outside=True),
    _sh("remove a file outside", "rm {outside}/file && echo ESCAPED"),
    _sh("write in the system", "touch /usr/bin/evil && rm /usr/bin/evil && echo ESCAPED"),
    _sh("write in /etc", "touch /etc/evil && rm /etc/evil && echo ESCAPED"),
    _sh("write through a link", "ln -s {outside} out; echo x >out/made && test -e {outside}/made && echo ESCAPED; rm -f out"),
    _sh("write a start-up file", "echo x >>{home}/.bashrc; grep -q KEEP {home}/.bashrc && echo ESCAPED"),
    # reading outside
    _sh("read outside", "grep -q TOPSECRET {outside}/file && echo ESCAPED", outside=True),
    _sh("read a key", "grep -q TOPSECRET {home}/.ssh/id_rsa && echo ESCAPED", outside=True),
    _sh("read the store", "cat {storage}/* && echo ESCAPED"),
    _sh("read through /proc/self/root", "grep -q TOPSECRET /proc/self/root{outside}/file && echo ESCAPED", outside=True),
    _sh("read through /proc/1/root", "grep -q TOPSECRET /proc/1/root{outside}/file && echo ESCAPED"),
    _sh("read /etc/shadow", "grep -q : /etc/shadow && echo ESCAPED"),
    _sh("list the home", "test -n \"$(ls -A {home})\" && echo ESCAPED", outside=True),
    # hidden files
    _sh("read a secret", "grep -q TOPSECRET .env && echo ESCAPED", outside=True),
    _sh("read a deep secret", "grep -rq TOPSECRET deep && echo ESCAPED", outside=True),
    _sh("read a key file", "grep -q TOPSECRET server.pem && echo ESCAPED", outside=True),
    _sh("read by a link", "grep -q TOPSECRET soft && echo ESCAPED", outside=True),
    _sh("read by a hard link", "grep -q TOPSECRET src/hard && echo ESCAPED", outside=True),
    _sh("read what a rule denies", "grep -q TOPSECRET notes.txt && echo ESCAPED", outside=True),
    _sh("read in a folder that a rule denies", "grep -rq TOPSECRET private && echo ESCAPED", outside=True),
    _sh("copy a secret", "cp .env copy; grep -q TOPSECRET copy && echo ESCAPED; rm -f copy", outside=True),
    _sh("link a secret", "ln .env other; grep -q TOPSECRET other && echo ESCAPED; rm -f other", outside=True),
    _sh("rename a secret", "mv .env other && echo ESCAPED; mv other .env", outside=True),
    _sh("rename a secret's folder", "mv deep deeper && echo ESCAPED; mv deeper deep", outside=True),
    _sh("open up a secret", "chmod 644 .env && grep -q TOPSECRET .env && echo ESCAPED", outside=True),
    _sh(
        "change the rights of a device",
        "for d in null zero full random urandom; do chmod 666 /dev/$d && echo ESCAPED; done; chmod 666 .npmrc && echo ESCAPED",
    ),
    _sh("unmount a secret", "umount .env && grep -q TOPSECRET .env && echo ESCAPED"),
    _sh("give a secret to git", "git add -f .env && git cat-file -p :.env | grep -q TOPSECRET && echo ESCAPED"),
    _sh("archive a secret", "tar cf - .env private 2>/dev/null | grep -aq TOPSECRET && echo ESCAPED", outside=True),
    _sh("find by inode", "find . -inum $(stat -c %i src/hard) -exec grep -q TOPSECRET {{}} \\; -exec echo ESCAPED \\;"),
    # protected files
    _sh("plant a hook", "echo x >.git/hooks/post-commit && echo ESCAPED"),
    _sh("plant a hook where the configuration says", "echo x >hooks/pre-push && echo ESCAPED"),
    _sh("set a program in git's configuration", "git config core.fsmonitor evil && echo ESCAPED"),
    _sh("write git's configuration", "echo '[core]' >>.git/config && echo ESCAPED", outside=True),
    _sh("replace git's configuration", "echo x >.git/c; mv .git/c .git/config && echo ESCAPED; rm -f .git/c"),
    _sh("redirect git's configuration", "echo ../evil >.git/commondir && echo ESCAPED"),
    _sh("a worktree's configuration", "echo x >.git/config.worktree && echo ESCAPED"),
    _sh("swap the git folder", "mv .git .g && mkdir .git && echo ESCAPED"),
    _sh("change the editor's settings", "echo x >.vscode/settings.json && echo ESCAPED", outside=True),
    _sh("new editor task", "echo x >.vscode/tasks.json && echo ESCAPED", outside=True),
    _sh("swap the editor's folder", "mv .vscode v && mkdir .vscode && echo ESCAPED"),
    _sh("make an agent's folder", "mkdir .cursor && echo ESCAPED; mkdir -p .cursor && touch .cursor/x && echo ESCAPED"),
    _sh("make a server list", "echo x >.mcp.json && echo ESCAPED", outside=True),
    _sh("change an agent's settings further down", "echo x >sub/.claude/settings.json && echo ESCAPED"),
    _sh("swap the folder of an agent's settings", "mv sub sup && mkdir sub && echo ESCAPED"),
    _sh("change what a rule locks", "echo x >locked/a && echo ESCAPED"),
    _sh("add to what a rule locks", "touch locked/b && echo ESCAPED"),
    _sh("swap what a rule locks", "mv locked l && mkdir locked && echo ESCAPED"),
    _sh("change a file that a rule locks", "echo x >fixed.txt && echo ESCAPED"),
    _sh("replace a file that a rule locks", "echo x >f; mv -f f fixed.txt && echo ESCAPED; rm -f f"),
    _sh("link a locked file and write", "ln fixed.txt f && echo x >f && echo ESCAPED; rm -f f"),
    _sh("remount what is locked", "mount -o remount,rw,bind locked && echo ESCAPED"),
    # published escapes of other agents' sandboxes
    _sh("settings that were missing at the start", "mkdir -p .claude && echo x >.claude/settings.json && echo ESCAPED"),
    _sh("settings beside locked ones", "echo x >sub/.claude/settings.local.json && echo ESCAPED"),
    _sh("settings by a rename of their folder", "mkdir t && echo x >t/settings.json; mv -T t .claude && echo ESCAPED; rm -rf t"),
    _sh("settings by a link of their folder", "mkdir t && ln -sfn t .gemini && echo x >.gemini/settings.json && test -e t/settings.json && echo ESCAPED; rm -rf t"),
    _sh("settings by another spelling", "echo x >.//sub/../sub/./.claude/settings.json && echo ESCAPED"),
    _sh("settings by an open folder", "exec 9<sub && echo x >/proc/self/fd/9/.claude/settings.json && echo ESCAPED"),
    _sh("a program by /proc/self/root", "echo x | /proc/self/root/usr/bin/tee /proc/self/root{outside}/made && test -e {outside}/made && echo ESCAPED"),
    _sh("a file of the working directory of another", "for p in /proc/[0-9]*; do grep -qs TOPSECRET $p/cwd/.env && echo ESCAPED; done"),
    _sh("a link that is swapped while it is written through", "mkdir -p t/a; for i in $(seq 200); do ln -sfn {outside} t/b; mv -T t/a t/c; mv -T t/b t/a; echo x >t/a/made; rm -f t/a; mv -T t/c t/a; done; test -e {outside}/made && echo ESCAPED; rm -rf t"),
    _sh("sockets of container engines", "find /run /var/run -type s 2>/dev/null | grep -q . && echo ESCAPED"),
    _sh("an engine's environment", "env | grep -qE '^(DOCKER_HOST|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS)=' && echo ESCAPED"),
    _sh("a hook through a template", "git init --template=src . ; mkdir -p h && git config core.hooksPath h && echo ESCAPED; rm -rf h"),
    _sh("a repository inside another", "git init -q sub/in && echo x >sub/in/.git/hooks/post-checkout; rm -rf sub/in; echo x >.git/modules && rm .git/modules"),
    _sh("git's settings by an include", "git config --file .git/config include.path ../evil && echo ESCAPED"),
    _sh("git's settings by its environment", "GIT_CONFIG=.git/config git config core.fsmonitor evil && echo ESCAPED"),
    _sh("git's settings by a lock file", "echo x >.git/config.lock && mv .git/config.lock .git/config && echo ESCAPED; rm -f .git/config.lock"),
    _sh("git's settings by an exchange of names", PYTHON + "'import ctypes;c=ctypes.CDLL(None);open(\".git/x\",\"w\").close();print(\"ESCAPED\" if c.renameat2(-100,b\".git/x\",-100,b\".git/config\",2)==0 else 1)'; rm -f .git/x"),
    _sh("a value behind an equals sign", "tar --file=.git/config -c src && echo ESCAPED; sed -n --in-place=.b w.vscode/x src/a.txt; test -s .vscode/x && echo ESCAPED; git checkout -q -- src; rm -f src/a.txt.b"),
    # set-user-id programs and bits
    _sh("a set-user-id program", "for p in $(find /usr/bin /bin -perm -4000 -name su -o -perm -4000 -name sudo); do $p -n true; $p -c 'grep CapEff /proc/self/status' </dev/null | grep -vq 0000000000000000 && echo ESCAPED; done"),
    _sh("mounts that heed set-user-id bits", "awk '$6 !~ /nosuid/' /proc/self/mountinfo | grep -q . && echo ESCAPED", outside=True),
    _python("another user's identity", "import os;os.setresuid(1,1,1);print(\"ESCAPED\")"),
    _python("another group", "import os;os.setgroups([0,4,27]);print(\"ESCAPED\" if 27 in os.getgroups() else 1)"),
    _sh("capabilities of a file", "cp /bin/true t; setcap cap_sys_admin+ep t && echo ESCAPED; rm -f t"),
    # network and sockets
    _python("reach the host's loopback", "import socket;socket.create_connection((\"127.0.0.1\",{port}),3);print(\"ESCAPED\")", outside=True),
    _python("an abstract socket", "import socket;s=socket.socket(socket.AF_UNIX);s.connect(\"\\0{abstract}\");print(\"ESCAPED\")", outside=True),
    _python("a socket by path", "import socket;s=socket.socket(socket.AF_UNIX);s.connect(\"{socket}\");print(\"ESCAPED\")", outside=True),
    _python("a socket in the workspace", "import socket;s=socket.socket(socket.AF_UNIX);s.connect(\"socket\");print(\"ESCAPED\")", outside=True),
    _python("another interface", "import os;print(\"ESCAPED\" if set(os.listdir(\"/sys/class/net\"))-{{\"lo\"}} else 1)"),
    _python("a raw socket", "import socket;socket.socket(socket.AF_INET,socket.SOCK_RAW,1);print(\"ESCAPED\")"),
    _python("a packet socket", "import socket;socket.socket(socket.AF_PACKET,socket.SOCK_RAW);print(\"ESCAPED\")"),
    _python("the metadata address", "import socket;socket.create_connection((\"169.254.169.254\",80),2);print(\"ESCAPED\")"),
    # the kernel
    _python("ptrace", _SYSCALL + "print(\"ESCAPED\" if c.ptrace(0,0,0,0)==0 else 1)", outside=True),
    _python("the kernel's keys", _SYSCALL + "print(\"ESCAPED\" if c.syscall(250,0,-3,0)>=0 else 1)"),
    _python("io_uring", _SYSCALL + "b=ctypes.create_string_buffer(256);print(\"ESCAPED\" if c.syscall(425,4,b)>=0 else 1)"),
    _python("a user namespace", _SYSCALL + "print(\"ESCAPED\" if c.unshare(0x10000000)==0 else 1)", outside=True),
    _sh("a nested sandbox", "bwrap --ro-bind / / true && echo ESCAPED", outside=True),
    _sh("unshare", "unshare -Urm true && echo ESCAPED", outside=True),
    _python("open by handle", _SYSCALL + "print(\"ESCAPED\" if ctypes.get_errno()!=1 and c.open_by_handle_at(3,b\"x\"*64,0)>=0 else 1)"),
    _python("type into a terminal", "import fcntl;fcntl.ioctl(0,0x5412,b\"x\");print(\"ESCAPED\")"),
    _sh("see processes outside", "kill -0 {pid} && echo ESCAPED", outside=True),
    _sh("end a process outside", "kill -9 {pid} && echo ESCAPED"),
    _sh("capabilities", "grep -q 'CapEff:\\s*0000000000000000' /proc/self/status || echo ESCAPED"),
    _sh("capabilities of any set", "grep -qE 'Cap(Inh|Prm|Bnd|Amb):\\s*0*[1-9a-f]' /proc/self/status && echo ESCAPED", outside=True),
    _python("the name of the machine", "import socket;socket.sethostname(\"evil\");print(\"ESCAPED\")"),
    _python("a mount by a copy of one", _SYSCALL + "print(\"ESCAPED\" if c.syscall(428,-100,b\"/usr\",1)>=0 else 1)"),
    _python("another root", _SYSCALL + "print(\"ESCAPED\" if c.pivot_root(b\"/tmp\",b\"/tmp\")==0 else 1)"),
    _sh("more user namespaces", "echo 9 >/proc/sys/user/max_user_namespaces && echo ESCAPED"),
    _sh("new privileges", "grep -q 'NoNewPrivs:\\s*1' /proc/self/status || echo ESCAPED", outside=True),
    _sh("a device", "mknod dev b 254 0 && echo ESCAPED"),
    _sh("kernel settings", "f=/proc/sys/kernel/core_pattern; v=$(cat $f); echo \"$v\" >$f && echo ESCAPED"),
    _sh("the out-of-memory setting of all", "cat /proc/sys/vm/overcommit_memory >/proc/sys/vm/overcommit_memory && echo ESCAPED"),
    _sh("inherited descriptors", "for f in /proc/self/fd/*; do case $f in */[012]|*/3) ;; *) test -e $f && echo ESCAPED;; esac; done"),
    _sh("names on a command line", "tr '\\0' ' ' </proc/1/cmdline | grep -q notes[.]txt && echo ESCAPED"),
)  # fmt: skip

NETWORK_ATTEMPTS = {
    "a name by DNS over UDP": "s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.connect(('9.9.9.9',53));s.send(b'x')",
    "a name by the system": "socket.getaddrinfo('example.org',443)",
    "DNS of this machine": "s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.connect(('127.0.0.53',53));s.send(b'x');s.settimeout(2);s.recv(9)",
    "IPv6": "socket.create_connection(('2606:4700::1111',443),2)",
    "IPv6 loopback of this machine": "socket.create_connection(('::1',{port}),2)",
    "IPv4 directly": "socket.create_connection(('1.1.1.1',443),2)",
    "loopback of this machine": "socket.create_connection(('127.0.0.1',{port}),2)",
    "the metadata address": "socket.create_connection(('169.254.169.254',80),2)",
    "a raw socket": "socket.socket(socket.AF_INET,socket.SOCK_RAW,1)",
    "a packet socket": "socket.socket(socket.AF_PACKET,socket.SOCK_RAW)",
    "another network namespace": "import os;os.setns(os.open('/proc/1/ns/net',0),0)",
    "an interface of its own": "import fcntl,struct;fcntl.ioctl(socket.socket(),0x8914,struct.pack('16sH22x',b'lo',0))",
    "the proxy's own port taken": "s=socket.socket();s.setsockopt(1,15,1);s.bind(('127.0.0.1',39128));s.listen()",
    "metadata by the proxy": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'CONNECT 169.254.169.254:80 HTTP/1.1\\r\\n\\r\\n');assert b' 200 ' in s.recv(99)",
    "this machine by the proxy": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n');assert b' 200 ' in s.recv(99)",
    "this machine by name": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n');assert b' 200 ' in s.recv(99)",
    "this machine by a number": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'CONNECT 2130706433:{port} HTTP/1.1\\r\\n\\r\\n');assert b' 200 ' in s.recv(99)",
    "this machine by SOCKS with a NUL": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'\\5\\1\\0');s.recv(2);h=b'localhost\\0.example.org';s.send(b'\\5\\1\\0\\3'+bytes([len(h)])+h+({port}).to_bytes(2,'big'));assert s.recv(9)[1]==0",
    "this machine by CONNECT with a NUL": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'CONNECT localhost\\0.example.org:{port} HTTP/1.1\\r\\n\\r\\n');assert b' 200 ' in s.recv(99)",
    "this machine by SOCKS": "s=socket.create_connection(('127.0.0.1',39128),5);s.send(b'\\5\\1\\0');s.recv(2);s.send(b'\\5\\1\\0\\3\\11localhost'+({port}).to_bytes(2,'big'));assert s.recv(9)[1]==0",
}  # fmt: skip
"""Scripts that try to get around the sandbox's proxy; ``{port}`` is where a server outside listens. One that raises no
error has escaped."""
