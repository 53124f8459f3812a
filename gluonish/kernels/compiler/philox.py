"""Philox4x32-10 in generated kernels, with the bits of `gluonish.ops.support.philox`.

References:
    J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from typing import Any

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


def philox4x32(builder: Any, block: Any, seed: Any, offset: Any) -> list[Any]:
    """Append instructions that compute a block of four numbers of 32 bits.

    Args:
        builder: llvmlite's ``IRBuilder``.
        block: Index of the block, 64 bits.
        seed: First half of the key, 64 bits.
        offset: Second half of the key, 64 bits.

    Returns:
        Four values of 64 bits, below 2**32.
    """
    wide = block.type
    low, half = wide(0xFFFFFFFF), wide(32)

    def halves(value: Any) -> list[Any]:
        return [builder.and_(value, low), builder.lshr(value, half)]

    c0, c1 = halves(block)
    c2, c3 = halves(offset)
    k0, k1 = halves(seed)
    for i in range(_ROUNDS):
        if i:
            k0, k1 = (
                builder.and_(builder.add(k, wide(step)), low)
                for k, step in zip((k0, k1), _WEYL, strict=True)
            )
        p0 = builder.mul(c0, wide(_MULTIPLIERS[0]))
        p1 = builder.mul(c2, wide(_MULTIPLIERS[1]))
        c0 = builder.xor(builder.xor(builder.lshr(p1, half), c1), k0)
        c2 = builder.xor(builder.xor(builder.lshr(p0, half), c3), k1)
        c1, c3 = builder.and_(p1, low), builder.and_(p0, low)
    return [c0, c1, c2, c3]


def philox_fill(builder: Any, view: Any, index: Any, block: Any, seed: Any, offset: Any) -> None:
    """Append instructions that store the four uint32 of a block to a view, from ``index``."""
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
