"""The cost of CuPy's own kernels: what a name says of the elements that are touched."""

from collections.abc import Sequence
from typing import Any

from tests.kernels.cupy.cost_model.records import Cost, cost_of, touched

SUMS = {"sum", "mean", "prod", "max", "min", "any", "all", "argmax", "argmin", "var", "std"}
SUMS |= {"amax", "amin", "cumsum", "nansum"}
SORTS = {"sort", "argsort", "lexsort", "partition", "argpartition", "searchsorted", "unique"}
FILLS = {"zeros", "zeros_like"}  # memory sets
_GATHERS = {"getitem", "take", "take_along_axis", "choose"}


def cupy_cost(name: str, sources: Sequence[Any], out: Any, launches: int) -> Cost:
    """Return the cost of a kernel of CuPy that fills ``out``."""
    if name in FILLS:
        return cost_of("copy", [], [out], launches=launches)
    cost = cost_of("cupy", sources, [out], launches=launches)
    if name in _GATHERS:  # of a source as much as is taken
        most = touched(out)
        read = sum(min(touched(x), most) for x in sources)
        return cost._replace(read=read, elements=int(out.size))
    if name in SUMS and sources and _is_along_rows(sources[0], out):
        return cost._replace(row=touched(sources[0]) // max(int(out.size), 1))
    return cost


def _is_along_rows(source: Any, out: Any) -> bool:
    """Whether a reduction takes contiguous rows, the last axes of the source."""
    kept = [n for n in out.shape if n != 1]
    leading = [n for n in source.shape[: len(source.shape) - 1] if n != 1]
    # In a square either axis may be it: the slower one is taken.
    ambiguous = bool(kept) and [n for n in source.shape if n != 1][-len(kept) :] == kept
    return bool(source.flags.c_contiguous) and leading[: len(kept)] == kept and not ambiguous
