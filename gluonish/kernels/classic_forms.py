"""Fast kernels of classic operators on the NumPy operators that do the same.

The modules that hang kernels on those classic operators are imported first, in the order of
`gluonish.ndarray`, which decides what is preferred.
"""

from typing import Any

from gluonish.core.spec import Spec
from gluonish.kernels.cupy import register as _cupy  # noqa: F401  # hangs kernels on
from gluonish.kernels.numba import columns as _columns  # noqa: F401  # the same
from gluonish.kernels.numba import reductions as _reductions  # noqa: F401  # the same
from gluonish.kernels.numba import register as _generated  # noqa: F401  # the same
from gluonish.kernels.onednn import register as _onednn  # noqa: F401  # the same
from gluonish.ops.numpy.classic import Form, classic_form, classic_operators
from gluonish.ops.registry import FastKernel, Operator, find_operator

__all__ = ["hang"]


def _form(op: Operator, specs: tuple[Spec, ...], attrs: dict[str, Any]) -> Form | None:
    (out,) = op.infer(*specs, **attrs)
    return classic_form(op, specs, out, attrs)


def _translated(op: Operator, classic: Operator, fast: FastKernel) -> FastKernel:
    """Return a kernel of a classic operator as one of a NumPy operator."""

    def takes(*specs: Spec, **attrs: Any) -> bool:
        form = _form(op, specs, attrs)
        return form is not None and form[0] is classic and fast.takes(*specs, **form[1])

    def kernel(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
        form = _form(op, tuple(Spec(x.shape, x.dtype) for x in inputs), attrs)
        assert form is not None  # `takes` has seen these specs
        # Classic reductions over all axes leave one.
        fast.kernel(xp, out if out.shape else out.reshape(1), *inputs, **form[1])

    return FastKernel(
        fast.name,
        takes,
        kernel,
        fast.enabled,
        large_only=fast.large_only,
        alone=fast.alone,
        makes=fast.makes,
    )


def hang() -> None:
    """Hang the kernels, in the order in which they hang on the classic operators."""
    for name, classics in classic_operators().items():
        op = find_operator(name)
        for classic in classics:
            for fast in classic.fast_kernels:
                # Those of NumPy are plans for graphs; outside they are what NumPy does anyway.
                if not fast.name.startswith("numpy."):
                    op.hang(_translated(op, classic, fast), last=True)


hang()
