"""The processor that kernels are compiled for: this one, with all it can do."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def machine() -> Any:
    """As numba compiles for it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        codemodel="jitdefault",
        jit=True,
    )
