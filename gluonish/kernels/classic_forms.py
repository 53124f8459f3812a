"""Reuses the fast kernels of classic operators for NumPy operators that compute the same."""

from collections.abc import Iterator
from typing import Any

from gluonish.core.spec import Spec
from gluonish.ops.kernel import BackEnd, FastKernel
from gluonish.ops.numpy.classic import Form, classic_form, classic_operators
from gluonish.ops.registry import Operator


def _form(op: Operator, specs: tuple[Spec, ...], attrs: dict[str, Any]) -> Form | None:
    (out,) = op.infer(*specs, **attrs)
    return classic_form(op, specs, out, attrs)


def _translated(op: Operator, classic: Operator, fast: FastKernel) -> FastKernel:
    """Wrap a classic operator's kernel as a kernel of a NumPy operator."""

    def supports(*specs: Spec, **attrs: Any) -> bool:
        form = _form(op, specs, attrs)
        return form is not None and form[0] is classic and fast.supports(*specs, **form[1])

    def run(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
        form = _form(op, tuple(Spec(x.shape, x.dtype) for x in inputs), attrs)
        assert form is not None  # `supports` accepted these specs
        # Classic reductions over all axes have shape (1,).
        fast.kernel(xp, out if out.shape else out.reshape(1), *inputs, **form[1])

    return FastKernel(
        fast.back_end,
        fast.name.partition(".")[2],
        supports,
        run=run,
        enabled=fast.enabled,
        large_only=fast.large_only,
        serial_limit=fast.serial_limit,
        makes=fast.makes,
    )


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the classic operators' kernels that a NumPy operator can use, the preferred first."""
    for classic in classic_operators().get(op.name, ()):
        for fast in classic.fast_kernels:
            # NumPy kernels only help as plans in graphs; elsewhere they do what NumPy does anyway.
            if fast.back_end is not BackEnd.NUMPY:
                yield _translated(op, classic, fast)
