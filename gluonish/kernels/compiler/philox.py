"""Philox4x32-10 in generated kernels: the words of `gluonish.ops.support.philox`, to the bit.

References:
    J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from typing import Any

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


def philox4x32(builder: Any, block: Any, seed: Any, offset: Any) -> list[Any]:
    """Append the instructions that make four words of 32 bits.

    Args:
        builder: llvmlite's ``IRBuilder``.
        block: Which four words of the draw, 64 bits.
        seed: First half of the draw's key, 64 bits.
        offset: Second half of the draw's key, 64 bits.

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


def philox_fill(builder: Any, view: Any, place: Any, block: Any, seed: Any, offset: Any) -> None:
    """Append what writes the four words of a block to ``view[place]`` and behind, in 32 bits."""
    for i, made in enumerate(philox4x32(builder, block, seed, offset)):
        at = builder.gep(view, [builder.add(place, place.type(i))])
        builder.store(builder.trunc(made, _word()), at)


def philox_word(builder: Any, index: Any, seed: Any, offset: Any) -> Any:
    """Append what makes one word of the draw, of 32 bits, and return it."""
    words = philox4x32(builder, builder.lshr(index, index.type(2)), seed, offset)
    which = builder.and_(index, index.type(3))
    chosen = words[0]
    for i, made in enumerate(words[1:], 1):
        chosen = builder.select(builder.icmp_unsigned("==", which, which.type(i)), made, chosen)
    return builder.trunc(chosen, _word())


def _word() -> Any:
    from llvmlite import ir

    return ir.IntType(32)
