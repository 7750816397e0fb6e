"""A step of the build: kernels that were compiled beforehand go into the wheel, which is then one for their platform.

``PERIPLUS_KERNELS`` names the folder they lie in (``scripts/dist``). Without it the wheel is one for any platform, and
kernels are compiled at the first start.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "PERIPLUS_KERNELS"
TAG = "py3-none-manylinux_2_17_x86_64"  # they ask for nothing but the C library's memory and maths


class ShippedKernels(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get(VARIABLE)
        if folder and version == "standard":
            build_data["force_include"][folder] = "periplus/core/shipped"
            build_data["tag"] = TAG
            build_data["pure_python"] = False
