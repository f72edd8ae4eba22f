"""The system calls that nothing in the sandbox may make, as a program for the kernel's filter.

Denied: looking into other processes, the kernel's keys, asynchronous system calls that pass by filters, mounts and
namespaces, loading kernel code, opening by handle, and typing into a terminal. x86-64 and AArch64 only.
"""

from __future__ import annotations

import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _EPERM, _ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050000 | 38
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP, NEWTIME."""
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

# name: (x86-64, AArch64); None where the architecture has none.
DENIED: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "clock_settime": (227, 112),
    "delete_module": (176, 106), "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "lookup_dcookie": (212, 18), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pivot_root": (155, 41), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142),
    "request_key": (249, 218), "setns": (308, 268), "settimeofday": (164, 170), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97),
    "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip
_MACHINES = {
    "x86_64": (0xC000003E, 0, {"clone": 56, "clone3": 435, "ioctl": 16}),
    "aarch64": (0xC00000B7, 1, {"clone": 220, "clone3": 435, "ioctl": 29}),
}


def filter_program(machine: str | None = None) -> bytes | None:
    """The filter for this machine, as an array of ``struct sock_filter``; None where its numbers are not known."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, column, calls = known
    code = [
        _step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), _step(_RETURN, _KILL), _step(_LOAD, _NUMBER),
    ]  # fmt: skip
    if column == 0:
        # The numbers of the x32 ABI.
        code += [_step(_AT_LEAST, 0x40000000, 0, 1), _step(_RETURN, _EPERM)]
    for numbers in DENIED.values():
        number = numbers[column]
        if number is not None:
            code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _EPERM)]
    # clone3 keeps its flags in memory, where no filter sees them; programs then fall back to clone.
    code += [_step(_EQUAL, calls["clone3"], 0, 1), _step(_RETURN, _ENOSYS)]
    code += [
        _step(_EQUAL, calls["clone"], 0, 4), _step(_LOAD, _FIRST), _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _step(_RETURN, _EPERM), _step(_RETURN, _ALLOW),
        _step(_EQUAL, calls["ioctl"], 0, 4), _step(_LOAD, _SECOND), _step(_EQUAL, _TIOCSTI, 1, 0),
        _step(_EQUAL, _TIOCLINUX, 0, 1), _step(_RETURN, _EPERM), _step(_RETURN, _ALLOW),
    ]  # fmt: skip
    return b"".join(code)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
