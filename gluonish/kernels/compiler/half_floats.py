"""bfloat16 and float16 in generated kernels: the instructions that read and write them as float32.

Each function appends to llvmlite's ``IRBuilder`` and returns the value, as LLVM knows it.
"""

from collections.abc import Callable, Mapping
from typing import Any


def _load_bf16(builder: Any, bits: Any) -> Any:
    from llvmlite import ir

    word = ir.IntType(32)
    return builder.bitcast(builder.shl(builder.zext(bits, word), word(16)), ir.FloatType())


def _store_bf16(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    # To the nearest, ties to even; NaN stays NaN, though rounding may carry into its sign.
    word = ir.IntType(32)
    bits = builder.bitcast(x, word)
    odd = builder.and_(builder.lshr(bits, word(16)), word(1))
    rounded = builder.add(bits, builder.add(odd, word(0x7FFF)))
    is_nan = builder.fcmp_unordered("uno", x, x)
    quiet = builder.or_(bits, word(0x400000))
    chosen = builder.select(is_nan, quiet, rounded)
    return builder.trunc(builder.lshr(chosen, word(16)), ir.IntType(16))


def _load_f16(builder: Any, bits: Any) -> Any:
    from llvmlite import ir

    return builder.fpext(builder.bitcast(bits, ir.HalfType()), ir.FloatType())


def _store_f16(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    return builder.bitcast(builder.fptrunc(x, ir.HalfType()), ir.IntType(16))


# By their names in sources: uint16 to float32, and back.
LOADS: Mapping[str, Callable[[Any, Any], Any]] = {"load_bf16": _load_bf16, "load_f16": _load_f16}
STORES: Mapping[str, Callable[[Any, Any], Any]] = {
    "store_bf16": _store_bf16,
    "store_f16": _store_f16,
}
