"""bfloat16 and float16 in generated kernels: conversions from and to float32.

Each function appends instructions to llvmlite's ``IRBuilder`` and returns LLVM's value.

Also Philox4x32-10 in generated kernels, with the bits of `gluonish.ops.support.philox`.

References:
    J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gluonish.kernels.compiler.vector_math import constant


def _load_bf16(builder: Any, bits: Any) -> Any:
    from llvmlite import ir

    int32 = ir.IntType(32)
    return builder.bitcast(builder.shl(builder.zext(bits, int32), int32(16)), ir.FloatType())


def _store_bf16(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    # Round to nearest, ties to even; NaN is separate, as rounding may carry into its sign bit.
    wide: Any = ir.IntType(32)
    narrow: Any = ir.IntType(16)
    if isinstance(x.type, ir.VectorType):
        wide, narrow = (ir.VectorType(kind, x.type.count) for kind in (wide, narrow))
    bits = builder.bitcast(x, wide)
    odd = builder.and_(builder.lshr(bits, constant(wide, 16)), constant(wide, 1))
    rounded = builder.add(bits, builder.add(odd, constant(wide, 0x7FFF)))
    is_nan = builder.fcmp_unordered("uno", x, x)
    quiet_nan = builder.or_(bits, constant(wide, 0x400000))
    chosen = builder.select(is_nan, quiet_nan, rounded)
    return builder.trunc(builder.lshr(chosen, constant(wide, 16)), narrow)


def _load_f16(builder: Any, bits: Any) -> Any:
    from llvmlite import ir

    return builder.fpext(builder.bitcast(bits, ir.HalfType()), ir.FloatType())


def _store_f16(builder: Any, x: Any) -> Any:
    from llvmlite import ir

    return builder.bitcast(builder.fptrunc(x, ir.HalfType()), ir.IntType(16))


# Names in sources: conversions of uint16 to float32, and back.
LOADS: Mapping[str, Callable[[Any, Any], Any]] = {"load_bf16": _load_bf16, "load_f16": _load_f16}
STORES: Mapping[str, Callable[[Any, Any], Any]] = {
    "store_bf16": _store_bf16,
    "store_f16": _store_f16,
}


_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


def philox4x32(builder: Any, block: Any, seed: Any, offset: Any) -> list[Any]:
    """Append instructions that compute a Philox block of four 32-bit numbers.

    Args:
        builder: llvmlite's ``IRBuilder``.
        block: Index of the block, a 64-bit value or a vector of them.
        seed: First half of the key, of the same type.
        offset: Second half of the key, of the same type.

    Returns:
        Four values of that type, below 2**32.
    """
    wide = block.type
    low, half = constant(wide, 0xFFFFFFFF), constant(wide, 32)

    def halves(value: Any) -> list[Any]:
        return [builder.and_(value, low), builder.lshr(value, half)]

    c0, c1 = halves(block)
    c2, c3 = halves(offset)
    k0, k1 = halves(seed)
    for i in range(_ROUNDS):
        if i:
            k0, k1 = (
                builder.and_(builder.add(k, constant(wide, step)), low)
                for k, step in zip((k0, k1), _WEYL, strict=True)
            )
        p0 = builder.mul(c0, constant(wide, _MULTIPLIERS[0]))
        p1 = builder.mul(c2, constant(wide, _MULTIPLIERS[1]))
        c0 = builder.xor(builder.xor(builder.lshr(p1, half), c1), k0)
        c2 = builder.xor(builder.xor(builder.lshr(p0, half), c3), k1)
        c1, c3 = builder.and_(p1, low), builder.and_(p0, low)
    return [c0, c1, c2, c3]


def philox_fill(builder: Any, view: Any, index: Any, block: Any, seed: Any, offset: Any) -> None:
    """Append instructions that store a block's four uint32 to a view, starting at ``index``."""
    for i, made in enumerate(philox4x32(builder, block, seed, offset)):
        at = builder.gep(view, [builder.add(index, index.type(i))])
        builder.store(builder.trunc(made, _uint32()), at)


def philox_word(builder: Any, index: Any, seed: Any, offset: Any) -> Any:
    """Append instructions that compute the uint32 at an index, and return it."""
    numbers = philox4x32(builder, builder.lshr(index, index.type(2)), seed, offset)
    which = builder.and_(index, index.type(3))
    chosen = numbers[0]
    for i, made in enumerate(numbers[1:], 1):
        chosen = builder.select(builder.icmp_unsigned("==", which, which.type(i)), made, chosen)
    return builder.trunc(chosen, _uint32())


def _uint32() -> Any:
    from llvmlite import ir

    return ir.IntType(32)
