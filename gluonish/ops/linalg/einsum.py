"""np.einsum: sums of products over labelled axes; its gradients are sums of the same kind."""

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

_MOST_ELEMENTS = 1 << 31  # of an output, since its size is a product of the operands' sizes


def _infer(*operands: Spec, num_args: int, subscripts: str, optimize: int) -> tuple[Spec]:
    if num_args != len(operands) or not operands:
        raise OperatorError(
            f"{NAME}: expected num_args to be the number of arrays, at least 1, got {num_args} for "
            f"{len(operands)} arrays"
        )
    for other in operands[1:]:
        check_same_dtype(NAME, operands[0], other)
    terms = read_terms(subscripts, tuple(spec.shape for spec in operands))
    shape = tuple(terms.extents[label] for label in terms.output)
    if math.prod(shape) > _MOST_ELEMENTS:
        raise OperatorError(
            f"{NAME}: expected an output of at most {_MOST_ELEMENTS} elements, got {shape}"
        )
    return (Spec(shape, operands[0].dtype),)


def _kernel(
    xp: ModuleType, out: Any, *operands: Any, num_args: int, subscripts: str, optimize: int
) -> None:
    terms = read_terms(subscripts, tuple(x.shape for x in operands))
    narrow = is_narrow(out.dtype)
    arrays = [widen(x) for x in operands] if narrow else operands
    # As products of matrices where labels have one extent each: NumPy's own loop is for the rest.
    fast = len(operands) > 1 and not terms.stretched and out.dtype.kind != "b"
    with np.errstate(all="ignore"):  # infinities and NaN pass without a word
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
    """Return the gradient of one operand: a sum over what it lacks, then spread over its axes."""
    shape = operands[position].shape
    term = terms.inputs[position]
    others = [i for i in range(len(operands)) if i != position]
    # Labels that the sum has in full; where it has them as 1 or not at all, it is copied along.
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
            "Einstein summation: sum of products of arrays over axes with the same label.\n\n"
            "subscripts holds a letter for each axis, with commas between the arrays:\n"
            "'ij,jk->ik'. Without an arrow the output has the labels that occur once, in\n"
            "alphabetical order; '...' stands for axes that broadcast. optimize is accepted and\n"
            "ignored: the order of products is always chosen.\n\n"
            "Shapes: those that subscripts say; axes with the same letter have the same size."
        ),
        inputs=("data",),
        schema=Schema(num_args=integer(low=1), subscripts=text(""), optimize=integer(0)),
        variadic="num_args",
        execution=Execution(heavy=True),
    )
)


def einsum(subscripts: str, *operands: Any, optimize: int = 0) -> Any:
    """Return the sum of products that ``subscripts`` says."""
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
    # A repeated label walks a diagonal: it strides along all of its axes at once.
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
            "Zeros with data along the axes of term: on diagonals for repeated labels, copied\n"
            "along new ones."
        ),
        schema=Schema(source=text(), term=text(), shape=shape_attr()),
    )
)
