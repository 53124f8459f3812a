"""Values of blocks of quantized numbers, as GGUF files have them, on all cores.

A block has 32 numbers of 4 or 8 bits, with a scale and, in some kinds, a minimum, both in float16.
"""

from functools import lru_cache
from typing import Any

from gluonish.kernels.compiler import KernelError, available, compile_kernel
from gluonish.kernels.generated.plan import KernelPlan
from gluonish.ops.support.refusals import note_refusal

_GRAIN = 1 << 10  # minimum blocks of a thread
_FASTMATH = ()  # a product and a sum are rounded one by one, as NumPy does

# Params: the values (float32), the blocks (bytes), the iterations of a block (LLVM would unroll a
# constant number of them instead of using vectors).
_BODY = """
def body(begin, end, params):
    y, halves, x = f32(params[0]), u16(params[1]), {bytes}(params[1])
    for block in range(begin, end):
        at, i = block * 32, block * {nbytes} + {start}
        scale = load_f16(halves[block * {nbytes} // 2])
{minimum}
        for k in range(params[2]):
            independent()
{values}
"""
_MINIMUM = "        minimum = load_f16(halves[block * {nbytes} // 2 + 1])"
# The 16 bytes have the first 16 numbers in their low halves, and the others in their high ones.
_HALVES = """
            y[at + k] = float32((int32(x[i + k]) & int32(15)){shift}) * scale{more}
            y[at + k + 16] = float32((int32(x[i + k]) >> int32(4)){shift}) * scale{more}
"""
_BYTES = "            y[at + k] = float32(int32(x[i + k])) * scale"


def _source(kind: str) -> str | None:
    """Return the source of a kind of blocks, None if it has no kernel."""
    if kind == "Q8_0":
        return _BODY.format(nbytes=34, start=2, bytes="i8", minimum="", values=_BYTES)
    if kind not in ("Q4_0", "Q4_1"):
        return None
    nbytes, minimum, shift, more = (18, "", " - int32(8)", "")
    if kind == "Q4_1":
        nbytes, minimum, shift, more = 20, _MINIMUM.format(nbytes=20), "", " + minimum"
    values = _HALVES.format(shift=shift, more=more)
    return _BODY.format(
        nbytes=nbytes, start=nbytes - 16, bytes="u8", minimum=minimum, values=values
    )


@lru_cache(256)
def _plan(kind: str, blocks: int) -> KernelPlan | None:
    source = _source(kind)
    if source is None or not available():
        return None
    try:
        return KernelPlan(
            compile_kernel(source, _FASTMATH), (0, 0, 32 if kind == "Q8_0" else 16), blocks, _GRAIN
        )
    except KernelError as error:
        note_refusal("quantized_blocks", error)
        return None


def write_values(kind: str, blocks: Any, out: Any) -> bool:
    """Write the values of blocks.

    Args:
        kind: ``"Q4_0"``, ``"Q4_1"`` or ``"Q8_0"``.
        blocks: uint8 of shape (blocks, bytes of a block), contiguous.
        out: float32 of shape (blocks, 32), contiguous.

    Returns:
        Whether it did: not without a compiler, nor for other kinds.
    """
    plan = _plan(kind, len(blocks))
    if plan is None:
        return False
    plan.run(out, blocks)
    return True
