"""What ``warm`` compiles: every kernel there is, so that no query waits for a compiler."""

from __future__ import annotations

import importlib
import pkgutil

import periplus.index.kernels as kernels
from periplus.index.kernels.compiler import Kernel


def test_every_module_with_a_kernel_is_warmed():
    found = {
        module.name
        for module in pkgutil.iter_modules(kernels.__path__)
        for value in vars(importlib.import_module(f"{kernels.__name__}.{module.name}")).values()
        if isinstance(value, Kernel) and value._function.__module__ == f"{kernels.__name__}.{module.name}"
    }
    assert found == set(kernels.MODULES)


def test_what_is_compiled_first_is_a_kernel():
    assert set(kernels.LONGEST) <= {kernel.name for kernel in kernels._all()}
