"""np.einsum: sums of products over labelled axes; its gradients are einsums, too.

`read_terms` parses einsum subscripts such as ``"...ij,jk->...ik"``.

khatri_rao: the column-wise Kronecker product of matrices.
"""

import math
import string
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.errors import OperatorError
from gluonish.core.schema import Schema, integer, text
from gluonish.core.schema import shape as shape_attr
from gluonish.core.spec import Shape, Spec
from gluonish.ops.facts import Execution
from gluonish.ops.linalg.matrices import check_real
from gluonish.ops.registry import Operator, V, apply, register
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.broadcasting import check_same_dtype
from gluonish.ops.support.precision import is_narrow, widen

NAME = "_npi_einsum"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DOTS = "..."


class Terms(NamedTuple):
    """Parsed subscripts, with ellipses expanded to labels, and the extents of the labels.

    Attributes:
        inputs: Labels of each operand, one letter per axis.
        output: Labels of the output.
        extents: Extent of each label; an operand may have 1 instead.
        stretched: Whether an operand broadcasts along a label.
    """

    inputs: tuple[str, ...]
    output: str
    extents: dict[str, int]
    stretched: bool

    @property
    def subscripts(self) -> str:
        """The subscripts as text."""
        return f"{','.join(self.inputs)}->{self.output}"


def _refuse(expected: str, subscripts: str) -> OperatorError:
    return OperatorError(f"{NAME}: expected {expected}, got subscripts {subscripts!r}")


def _check_letters(term: str, subscripts: str) -> None:
    letters = term.replace(_DOTS, "", 1)
    if not all(letter in _LETTERS for letter in letters):
        raise _refuse("letters, commas, one arrow and an ellipsis a term", subscripts)


def _split(subscripts: str, count: int) -> tuple[list[str], str | None]:
    """Return the terms of the operands, and of the output or None if it is omitted."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    for term in (*inputs, output):
        _check_letters(term, subscripts)
    if len(inputs) != count:
        raise _refuse(f"one term for each of {count} arrays", subscripts)
    return inputs, output if arrow else None


def _ellipsis_rank(term: str, shape: Shape, subscripts: str) -> int:
    """Return the number of axes of an operand's ellipsis."""
    rank = len(shape) - len(term.replace(_DOTS, ""))
    if rank < 0 or (rank and _DOTS not in term):
        raise _refuse(f"a term for the {len(shape)} axes of {shape}", subscripts)
    return rank


def read_terms(subscripts: str, shapes: tuple[Shape, ...]) -> Terms:
    """Parse subscripts: replace the ellipsis by unused letters, and complete the output.

    Raises:
        OperatorError: The subscripts are malformed, or do not fit the shapes.
    """
    inputs, output = _split(subscripts, len(shapes))
    ranks = [_ellipsis_rank(t, s, subscripts) for t, s in zip(inputs, shapes, strict=True)]
    widest = max(ranks)
    free = [letter for letter in _LETTERS if letter not in subscripts]
    if widest > len(free):
        raise _refuse("at most 52 letters for all axes", subscripts)
    dots = "".join(free[:widest])
    if output is None:
        joined = "".join(inputs).replace(_DOTS, "")
        output = _DOTS + "".join(sorted(c for c in joined if joined.count(c) == 1))
    elif widest and _DOTS not in output:
        raise _refuse(
            "an ellipsis in the output, since an input has axes in an ellipsis", subscripts
        )
    full = tuple(t.replace(_DOTS, dots[widest - r :]) for t, r in zip(inputs, ranks, strict=True))
    output = output.replace(_DOTS, dots)
    if len(set(output)) != len(output) or not set(output) <= set("".join(full)):
        raise _refuse("each output label once, and in an input", subscripts)
    return _with_extents(full, output, shapes, subscripts)


def _with_extents(
    inputs: tuple[str, ...], output: str, shapes: tuple[Shape, ...], subscripts: str
) -> Terms:
    extents: dict[str, int] = {}
    pairs: set[tuple[str, int]] = set()
    for term, shape in zip(inputs, shapes, strict=True):
        in_term: dict[str, int] = {}
        for label, extent in zip(term, shape, strict=True):
            known = extents.get(label, 1)
            if in_term.setdefault(label, extent) != extent or (
                known != extent and 1 not in (known, extent)
            ):
                raise OperatorError(
                    f"{NAME}: expected one size per label in {subscripts!r}, got shapes "
                    f"{', '.join(map(str, shapes))}"
                )
            extents[label] = extent if known == 1 else known
            pairs.add((label, extent))
    return Terms(inputs, output, extents, len(pairs) > len(extents))


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
    """Return the gradient of one operand: sum over labels that it lacks, then broadcast."""
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


_MAX_ARRAYS = 25  # each uses an axis of the product, and NumPy has 32
_COLUMN = "Z"


def _infer_khatri_rao(*args: Spec, num_args: int) -> tuple[Spec]:
    if num_args != len(args) or not 1 <= num_args <= _MAX_ARRAYS:
        raise OperatorError(
            f"khatri_rao: expected num_args to count 1 to {_MAX_ARRAYS} arrays, got {num_args} "
            f"for {len(args)}"
        )
    check_real("khatri_rao", *args)
    if any(len(x.shape) != 2 or x.shape[1:] != args[0].shape[1:] for x in args):
        shapes = ", ".join(str(x.shape) for x in args)
        raise OperatorError(
            f"khatri_rao: expected matrices with the same number of columns, got {shapes}"
        )
    rows = math.prod(x.shape[0] for x in args)
    return (Spec((rows, *args[0].shape[1:]), args[0].dtype),)


def _kernel_khatri_rao(xp: ModuleType, out: Any, *args: Any, num_args: int) -> None:
    result = args[0]
    for x in args[1:]:
        rows, columns = result.shape[0] * x.shape[0], x.shape[1]
        result = (result[:, None, :] * x[None, :, :]).reshape(rows, columns)
    out[...] = result


def _gradient_khatri_rao(g: V, *args: V, num_args: int) -> tuple[Any, ...]:
    rows = string.ascii_lowercase[:num_args]
    grad = reshape(g, tuple(x.shape[0] for x in args) + args[0].shape[1:])

    def of(position: int) -> Any:
        others = [i for i in range(num_args) if i != position]
        terms = [rows + _COLUMN, *(rows[i] + _COLUMN for i in others)]
        return einsum(
            f"{','.join(terms)}->{rows[position]}{_COLUMN}", grad, *(args[i] for i in others)
        )

    return tuple(lambda i=i: of(i) for i in range(num_args))


KHATRI_RAO = register(
    Operator(
        "khatri_rao",
        _infer_khatri_rao,
        _kernel_khatri_rao,
        _gradient_khatri_rao,
        doc=(
            "Compute the Khatri-Rao product: the Kronecker products of the columns of matrices.\n\n"
            "Unlike in MXNet, it is differentiable.\n\n"
            "Shapes: arrays (m, k), (n, k), ..., output (m * n * ..., k)."
        ),
        inputs=("args",),
        schema=Schema(num_args=integer(low=1)),
        variadic="num_args",
    )
)
