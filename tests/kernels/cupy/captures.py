"""What CuPy 14.2 refuses while the current stream captures a graph.

Its cuBLAS, cuSOLVER and random numbers are refused by name, copies from and to the host that go
through its arrays, and everything whose shape depends on values, as that waits for a count.
``cupy.cuda.runtime.memcpyAsync`` is not looked at. Sorting goes through Thrust, of which nobody
knows whether it can be captured, so the double refuses it.
"""

from typing import Any

from tests.kernels.cupy.machine import Machine

PRODUCTS = {"matmul", "dot", "tensordot", "einsum", "inner", "vdot", "outer", "kron"}
_SORTS = {"sort", "argsort", "lexsort", "partition", "argpartition", "msort", "sort_complex"}
_SORTS |= {"median", "percentile", "quantile", "searchsorted", "digitize"}
_COUNTED = {"nonzero", "argwhere", "flatnonzero", "unique", "bincount", "compress", "extract"}
_COUNTED |= {"delete", "union1d", "intersect1d", "setdiff1d", "setxor1d", "histogram"}


def refuse_transfer(machine: Machine) -> None:
    """Raise what a copy from or to the host raises."""
    if machine.capturing():
        raise RuntimeError("the current stream is capturing, so synchronous API calls are refused")


def refuse_mask(machine: Machine, *, read: bool) -> None:
    """Count the wait for the number of elements that a mask takes; none is needed to write."""
    if read:
        count_wait(machine)


def count_wait(machine: Machine) -> None:
    """Count a kernel, a copy of its result to the host, and the wait for that."""
    refuse_transfer(machine)
    machine.counts.launches += 1
    machine.counts.downloads += 1
    machine.counts.synchronizations += 1


def refuse_library(machine: Machine, library: str) -> None:
    """Raise what CuPy raises for a call of one of NVIDIA's libraries."""
    if machine.capturing():
        raise NotImplementedError(
            f"calling {library} API during stream capture is currently unsupported"
        )


def refuse_call(machine: Machine, name: str, args: tuple[Any, ...]) -> None:
    """Raise what a function or a method raises; count what it waits for."""
    if name in PRODUCTS and any(getattr(x, "dtype", None) is not None for x in args):
        kinds = {x.dtype.kind for x in args if hasattr(x, "dtype")}
        if not kinds <= set("biu"):  # whole numbers have a kernel of CuPy's own
            refuse_library(machine, "cuBLAS")
    if name in _SORTS and machine.capturing():
        raise RuntimeError(f"cupy.{name} in a graph: nobody knows whether Thrust allows it")
    if name in _COUNTED or (name == "where" and len(args) == 1):
        count_wait(machine)
