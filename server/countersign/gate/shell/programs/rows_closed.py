"""Programs with a language of their own: whatever stands in their words may run another program or write a file.

A rule covers them only if it names every word. Data; the reasons are one for each group.
"""

from __future__ import annotations

from collections.abc import Mapping

from countersign.gate.shell.programs.row import Program, row

_GROUPS: Mapping[str, str] = {
    "an editor runs commands and writes files by its options, its scripts and a file's modelines":
        "ed red emacs emacsclient nano pico joe mcedit ne micro hx helix kak jed vile zile code subl",
    "a debugger or tracer runs programs and scripts":
        "gdb gdbserver lldb bpftrace gcore tshark tcpdump wireshark nmap hping3 mtr sqlmap msfconsole "
        "perlbug pdb pudb crash scanmem jtag volatility debugfs byebug",
    "a language's prompt runs programs":
        "irb pry ghci scala jshell jjs jrunscript clisp sbcl octave R gnuplot dc m4 erl iex ocaml gimp maxima "
        "mathematica expect slsh csvtool cobc dosbox octave-cli ginsh runghc runhaskell ipython jupyter django-admin",
    "a network tool hands what it hears to programs, or writes what it fetches":
        "socat nc ncat netcat telnet ftp lftp tftp smbclient ssh-keyscan openvpn dnsmasq iptables ip6tables nft tc psftp "
        "rlogin minicom lwp-download lwp-request check_by_ssh mosquitto ntpdate rtorrent efax certbot",
    "a terminal or session tool runs commands":
        "screen byobu dtach abduco zellij dialog whiptail xdotool xterm gnome-terminal konsole tmate script runscript",
    "a scheduler or service manager runs what it is given":
        "crontab at batch atq systemctl loginctl machinectl busctl service supervisorctl launchctl logrotate anacron "
        "run-parts update-alternatives systemd-resolve timedatectl pidstat dstat",
    "a package manager runs scripts of packages and hooks named in its arguments":
        "apt apt-get aptitude dpkg dpkg-deb yum dnf rpm rpmbuild zypper pacman yay snap flatpak brew port apk opkg emerge "
        "gem cpan cpanm easy_install pkg nix nix-env nix-build guix conda mamba micromamba rpmquery rpmdb rpmverify",
    "a configuration tool runs commands on this or other machines":
        "ansible ansible-playbook ansible-console ansible-pull ansible-inventory ansible-vault ansible-test puppet chef-client salt salt-call knife vagrant virsh virt-install "
        "qemu-system-x86_64 qemu-img lxc lxd multipass packer fab capistrano cdist genie facter eb restic",
    "a document tool runs programs from its input or writes files":
        "latex pdflatex xelatex lualatex tex pdftex dvips troff nroff groff eqn tbl pandoc gs ghostscript convert magick "
        "mogrify inkscape ffmpeg soffice libreoffice wkhtmltopdf asciidoctor gtester luatex xetex enscript exiftool pic soelim "
        "zsoelim msgfilter msgmerge recode redcarpet highlight espeak cupsfilter run-mailcap cowsay cowthink ispell aspell scrot "
        "nasm pax unsquashfs uudecode zic tic tdbtool",
    "it holds keys, or runs an engine or agent named in its arguments":
        "openssl gpg gpg2 gpg-agent ssh-keygen ssh-add keytool age step vault pass security certutil",
    "it opens a program or a page for the person":
        "xdg-open open sensible-browser x-www-browser w3m lynx links elinks mutt mail mailx sendmail yelp zathura",
    "its language runs programs and writes files":
        "sqlite3 sqlite psql mysql mariadb mongo mongosh redis-cli clickhouse-client",
    "it writes what it fetches, and its hooks run programs":
        "aria2c axel sftp",
    "it changes disks":
        "mount umount losetup mkfs fsck fdisk parted",
    "it loads or runs a program by itself":
        "ld.so ldconfig ldd rundll32 kexec insmod modprobe init reboot telinit",
    "it changes accounts, disks or the machine":
        "useradd usermod userdel passwd chpasswd visudo vipw adduser groupadd chsh chfn swapon dmsetup lvm wipefs "
        "hdparm efibootmgr sysctl setcap cryptsetup dmesg journalctl dmidecode vigr xmodmap xdg-user-dir clamscan",
}  # fmt: skip

_WRITES: Mapping[str, tuple[str, str]] = {
    "openssl": ("", "-out -keyout -signature -CAserial"),
    "gpg gpg2": ("o", "-o --output"),
    "age": ("o", "-o --output"),
    "ssh-keygen": ("f", "-f"),
    "pandoc asciidoctor": ("o", "-o --output --out-file"),
    "tcpdump tshark dumpcap": ("w", "-w"),
    "aria2c axel": ("od", "-o --out -d --dir --output"),
    "sftp lftp": ("o", ""),
    "gs ghostscript": ("", "-sOutputFile -o"),
    "enscript groff troff dvips": ("o", "-o --output -p"),
    "restic": ("", "--target"),
    "nasm": ("ol", "-o -l"),
    "msgmerge msgfilter recode": ("o", "-o --output-file"),
    "journalctl": ("", "--output-file"),
}
"""The letters that take a value, and the options whose value is a file that is written."""

_UNPACK = frozenset("pax unsquashfs sftp lftp dpkg dpkg-deb rpm restic nix-store".split())
"""Of these those that put whole folders, links among them, where they run or where their words say."""

_WRITTEN = {name: said for names, said in _WRITES.items() for name in names.split()}

CLOSED: Mapping[tuple[str, ...], Program] = {
    (name,): row(
        why,
        closed=True,
        short=_WRITTEN.get(name, ("", ""))[0],
        long=" ".join(option.lstrip("-") for option in _WRITTEN.get(name, ("", ""))[1].split() if len(option) > 2),
        writes=_WRITTEN.get(name, ("", ""))[1],
        single=name in {"openssl", "gs", "ghostscript"},
        brings="here" if name in _UNPACK else "nothing",
    )
    for why, names in _GROUPS.items()
    for name in names.split()
}
