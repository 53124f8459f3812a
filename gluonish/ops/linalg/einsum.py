"""np.einsum: sums of products over labelled axes; its gradients are einsums, too."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.linalg.einsum_terms import NAME, Terms, read_terms
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import is_narrow, widen

_MAX_ELEMENTS = 1 << 31  # of an output, which can be far larger than the operands


def _infer(*operands: Spec, num_args: int, subscripts: str, optimize: int) -> tuple[Spec]:
    if num_args != len(operands) or not operands:
        raise OperatorError(
            f"{NAME}: expected num_args to be the number of arrays, at least 1, got {num_args} "
            f"for {len(operands)} arrays"
        )
    for other in operands[1:]:
        check_same_dtype(NAME, operands[0], other)
    terms = read_terms(subscripts, tuple(spec.shape for spec in operands))
    shape = tuple(terms.extents[label] for label in terms.output)
    if math.prod(shape) > _MAX_ELEMENTS:
        raise OperatorError(
            f"{NAME}: expected an output of at most {_MAX_ELEMENTS} elements, got {shape}"
        )
    return (Spec(shape, operands[0].dtype),)


def _kernel(
    xp: ModuleType, out: Any, *operands: Any, num_args: int, subscripts: str, optimize: int
) -> None:
    terms = read_terms(subscripts, tuple(x.shape for x in operands))
    narrow = is_narrow(out.dtype)
    arrays = [widen(x) for x in operands] if narrow else operands
    # Matrix products if every label has a single extent, else NumPy's loop.
    fast = len(operands) > 1 and not terms.stretched and out.dtype.kind != "b"
    with np.errstate(all="ignore"):  # no warnings about infinities and NaN
        result = xp.einsum(terms.subscripts, *arrays, optimize="greedy" if fast else False)
    out[...] = result.astype(out.dtype) if narrow else result


def _gradient(g: V, *operands: V, num_args: int, subscripts: str, optimize: int) -> tuple[Any, ...]:
    terms = read_terms(subscripts, tuple(x.shape for x in operands))
    return tuple(
        lambda i=i: _operand_gradient(g, operands, terms, i, optimize) for i in range(num_args)
    )


def _operand_gradient(
    g: Any, operands: tuple[Any, ...], terms: Terms, position: int, optimize: int
) -> Any:
    """Return the gradient of one operand: sum over the labels it lacks, then broadcast."""
    shape = operands[position].shape
    term = terms.inputs[position]
    others = [i for i in range(len(operands)) if i != position]
    # Labels with their full extent in the sum; the sum broadcasts along the others.
    full = set(terms.output)
    for i in others:
        axes = zip(terms.inputs[i], operands[i].shape, strict=True)
        full.update(c for c, n in axes if n == terms.extents[c])
    stretched = {c for c, n in zip(term, shape, strict=True) if n != terms.extents[c]}
    labels = "".join(c for c in dict.fromkeys(term) if c in full and c not in stretched)
    sources = [terms.output, *(terms.inputs[i] for i in others)]
    total = einsum(
        f"{','.join(sources)}->{labels}", g, *(operands[i] for i in others), optimize=optimize
    )
    if labels == term:
        return total
    return apply(_EINSUM_SPREAD, (total,), {"source": labels, "term": term, "shape": shape})


NPI_EINSUM = register(
    Operator(
        NAME,
        _infer,
        _kernel,
        _gradient,
        doc=(
            "Evaluate the Einstein summation: the sum of products over axes with equal labels.\n\n"
            "subscripts holds a letter for each axis, with commas between the arrays:\n"
            "'ij,jk->ik'. Without an arrow the output has the labels that occur once, in\n"
            "alphabetical order; '...' stands for axes that broadcast. optimize is accepted and\n"
            "ignored: the order of products is always optimized.\n\n"
            "Shapes: defined by subscripts; axes with the same letter have the same size."
        ),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1), subscripts=text(""), optimize=integer(0)),
        variadic="num_args",
        execution=Execution(heavy=True),
    )
)


def einsum(subscripts: str, *operands: Any, optimize: int = 0) -> Any:
    """Return the sum of products defined by ``subscripts``."""
    first, _, last = subscripts.partition("->")
    if len(operands) == 1 and first == last:
        return operands[0]
    attrs = {"num_args": len(operands), "subscripts": subscripts, "optimize": optimize}
    return apply(NPI_EINSUM, operands, attrs)


def _spread_infer(data: Spec, *, source: str, term: str, shape: Shape) -> tuple[Spec]:
    return (Spec(shape, data.dtype),)


def _spread_kernel(
    xp: ModuleType, out: Any, data: Any, *, source: str, term: str, shape: Shape
) -> None:
    out.fill(0)
    labels = "".join(dict.fromkeys(term))
    # A repeated label selects a diagonal: its stride is the sum over all of its axes.
    strides = [sum(out.strides[i] for i, c in enumerate(term) if c == label) for label in labels]
    view = xp.lib.stride_tricks.as_strided(out, [shape[term.index(c)] for c in labels], strides)
    view[...] = data.reshape([shape[term.index(c)] if c in source else 1 for c in labels])


def _spread_gradient(g: V, data: V, *, source: str, term: str, shape: Shape) -> tuple[Any]:
    return (einsum(f"{term}->{source}", g),)


_EINSUM_SPREAD = register(
    Operator(
        "_backward_einsum",
        _spread_infer,
        _spread_kernel,
        _spread_gradient,
        doc=(
            "Write data into zeros along the axes of term: on diagonals for repeated labels,\n"
            "broadcast along new ones."
        ),
        schema=Schema(source=text(), term=text(), shape=shape_attr()),
    )
)
