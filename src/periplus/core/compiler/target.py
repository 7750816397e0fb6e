"""The processor that kernels are compiled for: this one, with all it can do, or a plain one.

``PERIPLUS_PROCESSOR=x86-64`` asks for code that every processor of the kind runs. Results are the same to the last bit
(``make soak-processors``), since machines that share a collection may differ.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, NamedTuple

VARIABLE = "PERIPLUS_PROCESSOR"


class Processor(NamedTuple):
    name: str
    features: str


@cache
def processor() -> Processor:
    """As LLVM knows it."""
    from llvmlite import binding

    named = os.environ.get(VARIABLE, "")
    if named:
        return Processor(named, "")
    return Processor(binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())


@cache
def machine() -> Any:
    """As numba compiles for it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=processor().name, features=processor().features, opt=3, codemodel="jitdefault", jit=True
    )
