"""Kernels that a wheel brings: machine code for one kind of processor, so that nobody who installs it needs a compiler.

``scripts/dist`` compiles them. They lie in a folder like that of ``kept``, in which they are looked for second.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from periplus.core.compiler.target import VARIABLE, Processor

HOME = Path(__file__).resolve().parents[1] / "shipped"
PROCESSOR = Processor("x86-64-v3", "")  # since about 2013
# What it has beyond x86-64, by LLVM's names.
FEATURES = ("avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "xsave")


@cache
def home() -> Path | None:
    """Where they lie; ``None`` when there are none that run here, or another processor was asked for."""
    return HOME if HOME.exists() and not os.environ.get(VARIABLE) and _runs_here() else None


def _runs_here() -> bool:
    from llvmlite import binding

    present = binding.get_host_cpu_features()
    return all(present.get(feature) for feature in FEATURES)
