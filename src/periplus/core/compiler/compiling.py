"""Kernels to machine code, by numba. What comes out runs without it.

numba's own convention for calls is a place for the result, one for what went wrong, then the arguments, with all parts
of an array: two owners, of which there are none, how many items of which size, where, shape and strides. The entry
that is added here takes a block instead (``calling``), and gives back the result.

Kernels that make arrays ask for memory by numba's runtime, which lives in numba. ``_MEMORY`` stands for it: all that
they need is to take memory and to free it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from periplus.core.compiler.kept import Code
from periplus.core.compiler.late import types
from periplus.core.compiler.signatures import FAILED, ArgumentBundle
from periplus.core.compiler.target import machine, processor

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.core.compiler.signatures import Argument, Signature

_SIZES = {"uint8": 1, "uint16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8, "float64": 8}

# What a kernel may ask for: every process has it.
_MEMORY_OF_C = {"malloc", "free", "memset", "memcpy", "memmove"}
_MATHS_OF_C = {"sqrt", "floor", "ceil", "fmod", "pow", "log", "log2", "log10", "log1p", "exp", "exp2", "expm1"}

# As in numba's runtime: how often it is referred to, two of its owner's, where the items begin, their bytes, an owner.
_MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %more = add i64 %wide, 48
  %whole = add i64 %size, %more
  %too_much = icmp ult i64 %whole, %size
  %asked = select i1 %too_much, i64 -1, i64 %whole
  %made = call ptr @malloc(i64 %asked)
  %none = icmp eq ptr %made, null
  br i1 %none, label %failed, label %done
failed:
  ret ptr null
done:
  %at = ptrtoint ptr %made to i64
  %behind = add i64 %at, %more
  %before = sub i64 %behind, 1
  %over = urem i64 %before, %wide
  %items = sub i64 %before, %over
  store i64 1, ptr %made
  %owner = getelementptr i64, ptr %made, i64 1
  store i64 0, ptr %owner
  %detail = getelementptr i64, ptr %made, i64 2
  store i64 0, ptr %detail
  %data = getelementptr i64, ptr %made, i64 3
  store i64 %items, ptr %data
  %bytes = getelementptr i64, ptr %made, i64 4
  store i64 %size, ptr %bytes
  %outside = getelementptr i64, ptr %made, i64 5
  store i64 0, ptr %outside
  ret ptr %made
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %made = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %made
}

define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %ending) {
  %made = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  %none = icmp eq ptr %made, null
  br i1 %none, label %done, label %more
more:
  %owner = getelementptr i64, ptr %made, i64 1
  store ptr %ending, ptr %owner
  br label %done
done:
  ret ptr %made
}

define void @NRT_MemInfo_call_dtor(ptr %made) {
  %owner = getelementptr i64, ptr %made, i64 1
  %ending = load ptr, ptr %owner
  %none = icmp eq ptr %ending, null
  br i1 %none, label %done, label %more
more:
  %detail = getelementptr i64, ptr %made, i64 2
  %data = getelementptr i64, ptr %made, i64 3
  %bytes = getelementptr i64, ptr %made, i64 4
  %first = load ptr, ptr %data
  %size = load i64, ptr %bytes
  %info = load ptr, ptr %detail
  call void %ending(ptr %first, i64 %size, ptr %info)
  br label %done
done:
  call void @free(ptr %made)
  ret void
}
"""


def compiled(name: str, function: Callable[..., Any], signature: Signature, options: dict[str, Any]) -> Code:
    """The function for one signature."""
    import numba
    from llvmlite import binding

    config: Any = numba.config
    config.CPU_NAME, config.CPU_FEATURES = processor()
    njit: Any = numba.njit  # with options that its types do not name
    bare = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    (found,) = njit(_types_of(signature), **bare)(function).overloads.values()
    symbol = found.fndesc.llvm_func_name
    entry = f"{symbol}_entry"
    module = binding.parse_assembly(f"{found.library.get_llvm_str()}\n{_entry(entry, symbol, signature.flat)}")
    module.link_in(binding.parse_assembly(_MEMORY))
    for one in module.functions:
        if not one.is_declaration and one.name not in (symbol, entry):
            one.linkage = "internal"  # other kernels have their own
    _without_the_unused(module)
    _check(name, [one.name for one in module.functions if one.is_declaration])
    module.verify()
    code: bytes = machine().emit_object(module)
    return Code(entry, code, hashlib.sha256(code).digest())


def _types_of(signature: Signature) -> Any:
    """The signature in numba's types."""
    given = []
    for argument in signature.arguments:
        if not isinstance(argument, ArgumentBundle):
            given.append(_type_of(argument))
            continue
        fields = [_type_of(one) for one in argument.fields]
        if len(set(fields)) == 1:
            given.append(types.NamedUniTuple(fields[0], len(fields), argument.of))
        else:
            given.append(types.NamedTuple(fields, argument.of))
    return getattr(types, signature.result)(*given)


def _type_of(argument: Argument) -> Any:
    if argument.kind != "array":
        return types.float64 if argument.kind == "float64" else types.int64
    return types.Array(getattr(types, argument.element), argument.dimensions, "C", readonly=not argument.is_written)


def _without_the_unused(module: Any) -> None:
    from llvmlite import binding

    passes: Any = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, binding.create_pass_builder(machine(), binding.create_pipeline_tuning_options()))


def _check(name: str, outside: list[str]) -> None:
    """What a loader would not find would be called all the same, at address 0."""
    known = _MEMORY_OF_C | _MATHS_OF_C
    unknown = [one for one in outside if not one.startswith("llvm.") and one not in known]
    if unknown:
        raise TypeError(
            f"the kernel {name} asks for {', '.join(unknown)}: copy element by element, and make no objects"
        )


def _entry(name: str, symbol: str, arguments: list[Argument]) -> str:
    """What takes a block and calls the kernel, in LLVM's language."""
    lines, given, place = [], [], 0
    for number, argument in enumerate(arguments):
        parts = _parts(argument)
        for part, kind in enumerate(parts):
            at, value = f"%at_{number}_{part}", f"%value_{number}_{part}"
            lines.append(f"  {at} = getelementptr i8, ptr %block, i64 {place}")
            lines.append(f"  {value} = load {kind}, ptr {at}")
            place += 8
        given += _given(argument, number, lines, place)
    return f"""
define i64 @{name}(ptr %block) {{
  %result = alloca i64
  %failure = alloca ptr
  store i64 0, ptr %result
{chr(10).join(lines)}
  %status = call i32 @{symbol}({", ".join(["ptr %result", "ptr %failure", *given])})
  %is_well = icmp eq i32 %status, 0
  %found = load i64, ptr %result
  %answer = select i1 %is_well, i64 %found, i64 {FAILED}
  ret i64 %answer
}}
"""


def _parts(argument: Argument) -> list[str]:
    """What of an argument lies in the block."""
    if argument.kind == "array":
        return ["ptr", *["i64"] * argument.dimensions]
    return {"int64": ["i64"], "float64": ["double"], "bytes": []}[argument.kind]


def _given(argument: Argument, number: int, lines: list[str], end: int) -> list[str]:
    """An argument as numba takes it; ``lines`` get what has to be done before."""
    if argument.kind == "bytes":
        lines.append(f"  %text_at = getelementptr i8, ptr %block, i64 {end}")
        lines.append("  %text = ptrtoint ptr %text_at to i64")
        return ["i64 %text"]
    if argument.kind != "array":
        return [f"{_parts(argument)[0]} %value_{number}_0"]
    size = _SIZES[argument.element]
    shape = [f"%value_{number}_{dimension + 1}" for dimension in range(argument.dimensions)]
    items, strides = shape[-1], [str(size)]
    for dimension in range(argument.dimensions - 1, 0, -1):
        before, stride = f"%items_{number}_{dimension}", f"%stride_{number}_{dimension}"
        lines.append(f"  {stride} = mul i64 {shape[dimension]}, {strides[0]}")
        lines.append(f"  {before} = mul i64 {items}, {shape[dimension - 1]}")
        items, strides = before, [stride, *strides]
    whole = [items, str(size)]
    return [
        "ptr null",
        "ptr null",
        *(f"i64 {value}" for value in whole),
        f"ptr %value_{number}_0",
        *(f"i64 {value}" for value in (*shape, *strides)),
    ]
