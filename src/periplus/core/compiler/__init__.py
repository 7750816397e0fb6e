"""The compiler: how kernels are declared, compiled once, kept as machine code, and loaded without numba."""

from periplus.core.compiler.calling import address_of
from periplus.core.compiler.helpers import bare_helper, helper, inlined, intrinsic
from periplus.core.compiler.kernels import Kernel, bare_kernel, kernel
from periplus.core.compiler.late import arrayobj, ir, types
from periplus.core.compiler.signatures import signature
from periplus.core.compiler.warming import all_are_kept, cold, every_kernel, keep_all, keep_one, ready_note
from periplus.core.layout.kinds import (
    BYTES,
    F64,
    I64,
    M_F64,
    M_I64,
    M_U8,
    M_U32,
    M_U64,
    R_F64,
    R_I64,
    R_U8,
    R_U16,
    R_U32,
    R_U64,
)

__all__ = [
    "BYTES",
    "F64",
    "I64",
    "M_F64",
    "M_I64",
    "M_U8",
    "M_U32",
    "M_U64",
    "R_F64",
    "R_I64",
    "R_U8",
    "R_U16",
    "R_U32",
    "R_U64",
    "Kernel",
    "address_of",
    "all_are_kept",
    "arrayobj",
    "bare_helper",
    "bare_kernel",
    "cold",
    "every_kernel",
    "helper",
    "inlined",
    "intrinsic",
    "ir",
    "keep_all",
    "keep_one",
    "kernel",
    "ready_note",
    "signature",
    "types",
]
