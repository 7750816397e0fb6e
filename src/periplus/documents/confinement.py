"""What a process that reads strangers' bytes gives up before it reads the first of them, for good.

Three fences, each where the system has it: limits of memory, files and output (``setrlimit``); Landlock, by which files
can be read only below the folders that are named and written nowhere, and no TCP port can be reached; and a filter of
system calls (seccomp), by which no socket, program or process can be made and no other process touched. ``confine``
says which of them stand. All by ctypes: none of it needs a library or a privilege.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# prctl(2)
_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38
# landlock(7): the calls have the same numbers on every processor
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ASKED, _BENEATH = 1, 1
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_FILE_RIGHTS: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP_RIGHTS: Final = 3  # to bind and to connect; from the fourth version on
_SCOPES: Final = 3  # abstract sockets and signals outside of it; from the sixth version on

# System calls that are refused, by their numbers: x86-64, then 64-bit ARM (none: it has no such call).
_FORBIDDEN: Final = {
    "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "connect": (42, 203), "sendto": (44, 206), "sendmsg": (46, 211), "accept4": (288, 242), "sendmmsg": (307, 269),
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "clone3": (435, 435),
    "execve": (59, 221), "execveat": (322, 281),
    "kill": (62, 129), "tkill": (200, 130), "ptrace": (101, 117), "pidfd_open": (434, 434),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "chown": (92, None), "fchown": (93, 55),
    "lchown": (94, None), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "utimensat": (280, 88), "mount": (165, 40), "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "keyctl": (250, 219), "add_key": (248, 217), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
}  # fmt: skip
_MACHINES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # the name of a processor to the filter
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # what a filter is made of
_NUMBER, _PROCESSOR, _FIRST_ARGUMENT = 0, 4, 16  # where a filter finds what is known of a call
_THREAD: Final = 0x10000  # the flag of clone(2) that makes a thread, and no process
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_X32: Final = 0x40000000  # calls of another interface of the same processor

_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)


def confine(readable: Iterable[Path], *, memory: int, files: int, threads: bool = False) -> tuple[str, ...]:
    """Give up what reading needs not; the fences that stand, of "limits", "landlock" and "seccomp".

    ``memory`` in bytes; ``files`` open at once. ``threads``: whether threads may be started, which live behind the same
    fences. Only this thread is fenced in, so there must be no other. Raises nothing: a system without a fence goes
    without it.
    """
    _limit(memory, files)
    standing = ["limits"]
    if _LIBRARY.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
        standing += ["landlock"] if _fence_files(readable) else []
        standing += ["seccomp"] if _filter_calls(threads=threads) else []
    return tuple(standing)


def _limit(memory: int, files: int) -> None:
    wanted = {
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_NOFILE: files,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in wanted.items():
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def _fence_files(readable: Iterable[Path]) -> bool:
    version = _LIBRARY.syscall(_CREATE_RULESET, None, 0, _VERSION_ASKED)
    if version < 1:
        return False
    rights = (_FILE_RIGHTS[min(version, 5)], _TCP_RIGHTS if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    handled = ctypes.create_string_buffer(struct.pack("<QQQ", *rights)[:size], size)
    rules = _LIBRARY.syscall(_CREATE_RULESET, handled, size, 0)
    if rules < 0:
        return False
    try:
        for path in readable:
            _allow(rules, path)
        return bool(_LIBRARY.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: Path) -> None:
    """Let all below a folder be read."""
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it is not there
    rights = _READ_FILE | _READ_FOLDER if path.is_dir() else _READ_FILE
    try:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, folder), 12)
        _LIBRARY.syscall(_ADD_RULE, rules, _BENEATH, rule, 0)
    finally:
        os.close(folder)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _filter_calls(*, threads: bool) -> bool:
    known = _MACHINES.get(platform.machine())
    if known is None:
        return False
    name, column = known
    lines = _for_threads(column) if threads else []
    code = _filter(name, sorted({number for row in _FORBIDDEN.values() if (number := row[column]) is not None}), lines)
    program = _Program(len(code) // 8, code)
    return bool(_LIBRARY.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0)


_Lines = list[tuple[int, int, int, int]]


def _for_threads(column: int) -> _Lines:
    """Lets clone(2) make threads; clone3(2), whose flags no filter sees, is said not to exist, so it is not used."""
    clone, clone3 = _FORBIDDEN["clone"][column], _FORBIDDEN["clone3"][column]
    assert clone is not None
    assert clone3 is not None
    return [
        (_EQUAL, 0, 1, clone3),
        (_RETURN, 0, 0, _REFUSE | errno.ENOSYS),
        (_EQUAL, 0, 3, clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_OF, 0, 1, _THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER),
    ]


def _filter(machine: int, forbidden: list[int], before: _Lines) -> bytes:
    """A program that looks at the number of each call, with lines ``before`` that let some pass."""
    count = len(forbidden)
    lines = [(_LOAD, 0, 0, _PROCESSOR), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    lines += before
    lines.append((_AT_LEAST, count + 1, 0, _X32))
    lines += [(_EQUAL, count - place, 0, number) for place, number in enumerate(forbidden)]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE | errno.EPERM)]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
