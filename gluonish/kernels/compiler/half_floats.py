"""bfloat16 and float16 in generated kernels: conversions from and to float32.

Each function appends instructions to llvmlite's ``IRBuilder`` and returns LLVM's value.
"""

from collections.abc import Callable, Mapping
from typing import Any


def _load_bf16(builder: Any, bits: Any) -> Any:
    from llvmlite import ir

    int32 = ir.IntType(32)
    return builder.bitcast(builder.shl(builder.zext(bits, int32), int32(16)), ir.FloatType())


def _store_bf16(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    # To nearest, ties to even; NaN is handled separately, as rounding may carry into its sign.
    int32 = ir.IntType(32)
    bits = builder.bitcast(x, int32)
    odd = builder.and_(builder.lshr(bits, int32(16)), int32(1))
    rounded = builder.add(bits, builder.add(odd, int32(0x7FFF)))
    is_nan = builder.fcmp_unordered("uno", x, x)
    quiet_nan = builder.or_(bits, int32(0x400000))
    chosen = builder.select(is_nan, quiet_nan, rounded)
    return builder.trunc(builder.lshr(chosen, int32(16)), ir.IntType(16))


def _load_f16(builder: Any, bits: Any) -> Any:
    from llvmlite import ir

    return builder.fpext(builder.bitcast(bits, ir.HalfType()), ir.FloatType())


def _store_f16(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    return builder.bitcast(builder.fptrunc(x, ir.HalfType()), ir.IntType(16))


# By names in sources: uint16 to float32, and back.
LOADS: Mapping[str, Callable[[Any, Any], Any]] = {"load_bf16": _load_bf16, "load_f16": _load_f16}
STORES: Mapping[str, Callable[[Any, Any], Any]] = {
    "store_bf16": _store_bf16,
    "store_f16": _store_f16,
}
