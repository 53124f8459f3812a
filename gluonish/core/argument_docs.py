"""The words that functions of one face share, so that each docstring can end with its arguments.

A function that needs more than these words says it in an ``Args:`` section of its own.
"""

import inspect
from collections.abc import Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any

__all__ = ["document_arguments"]

_VARIABLE = 0x0C  # CO_VARARGS and CO_VARKEYWORDS

_MEANINGS = {
    "A": "Array of any shape.",
    "M": "Number of points; columns of a matrix, None or 0 for as many as rows.",
    "N": "Number of rows.",
    "UPLO": "The triangle that is read: ``'L'``, the lower one, or ``'U'``.",
    "a": "Array.",
    "a_max": "Upper bound; None for none.",
    "a_min": "Lower bound; None for none.",
    "alpha": "Shape, or the dispersion: a positive number or array.",
    "always_copy": "Whether a single array is copied too.",
    "args": "Arrays, one by one.",
    "arr": "Array of any shape.",
    "array": "Array of any shape.",
    "arrays": "Arrays whose shapes fit, as a list or tuple.",
    "ary": "Array of at least one axis.",
    "arys": "Arrays or numbers, one by one.",
    "axes": "Axes, in the order that is wanted; None for the default.",
    "axis": "Axis, negative from the last; where None is taken it stands for all elements.",
    "axis1": "First of the two axes, negative from the last.",
    "axis2": "Second of the two axes, negative from the last.",
    "b": "The other array.",
    "base": "Number or array; the base of powers.",
    "beta": "Scale: a positive number or array.",
    "buf": "Content of a file: bytes.",
    "ctx": "Device; the current context by default.",
    "data": "Array.",
    "ddof": "What is taken off the count in the divisor.",
    "decimals": "Digits behind the point, negative before it.",
    "destination": "Where the axes go: an int or a tuple of ints.",
    "df": "Degrees of freedom: a positive number or array.",
    "dimensions": "Extents of the grid.",
    "dtype": "Element type; None for the default.",
    "endpoint": "Whether the last value is stop.",
    "exp": "Exponent: number or array.",
    "fname": "Path of the file.",
    "get_prob": "Whether to return the logarithm of each probability too.",
    "high": "Upper bound, which is not reached: number or array.",
    "ind": "How many axes of ``a`` count as rows.",
    "indices": "Array of positions.",
    "indices_or_sections": "Number of parts, or where the parts after the first begin.",
    "infer_range": "Accepted and ignored.",
    "interpolation": "Between two elements: ``'linear'``, ``'lower'``, ``'higher'``, "
    "``'midpoint'`` or ``'nearest'``.",
    "json_str": "Content of a file.",
    "k": "Diagonal, above the main one if positive.",
    "keepdims": "Whether reduced axes stay, with extent 1.",
    "kind": "Accepted and ignored.",
    "kwargs": "Further options of the operator; ``name`` is accepted.",
    "lam": "Mean: a number or array, at least 0.",
    "left": "Symbol or number.",
    "lhs": "Array or number.",
    "loc": "Where the distribution is centred: number or array.",
    "low": "Lower bound, which is reached: number or array.",
    "m": "Array of at least one axis, for matrices of two.",
    "max_work": "Accepted and ignored.",
    "mean": "Mean of the logarithm: number or array.",
    "mu": "Mean: a number or array, at least 0.",
    "n": "Number of rows.",
    "name": "Name of the Symbol.",
    "num": "Number of values.",
    "offset": "Diagonal, above the main one if positive.",
    "order": "Order of the elements in memory: ``'C'``, by rows.",
    "out": "Array that receives the result.",
    "overwrite_input": "Accepted and ignored.",
    "p": "Probability of a success, in (0, 1]: number or array.",
    "q": "Number or array in [0, 1].",
    "repeat": "How often each value comes.",
    "repeats": "How often each element comes.",
    "reps": "Copies along each axis: an int or a tuple.",
    "rhs": "Array or number.",
    "right": "Symbol or number.",
    "scale": "How far the distribution spreads: a positive number or array.",
    "shape": "Extents: an int or a tuple of ints.",
    "sigma": "Standard deviation of the logarithm: number or array.",
    "size": "Extents of the result: an int or a tuple; None for those of the parameters.",
    "source": "Axes to move: an int or a tuple of ints.",
    "start": "First value.",
    "step": "Distance of neighbours.",
    "stop": "Where the values end.",
    "stype": "Storage: ``'default'``, ``'row_sparse'`` or ``'csr'``.",
    "tensor": "Array.",
    "tup": "Arrays whose shapes fit, as a list or tuple.",
    "val": "Number.",
    "values": "Array that goes to the end.",
    "x": "Array of any shape.",
}
# Where a module, or a function of it, means something else by the word.
_ELSEWHERE = {
    "gluonish.ndarray.random.k": "Successes: a positive number or array.",
    "gluonish.ndarray.random.multinomial.data": "Probabilities (..., classes).",
    "gluonish.ndarray.random.shuffle.data": "Array (N, ...).",
    "gluonish.numpy.creation.logspace.axis": "0.",
    "gluonish.numpy.linalg.a": "Matrices (..., N, N).",
    "gluonish.numpy.linalg.b": "Right sides (..., N) or (..., N, K).",
    "gluonish.numpy.linalg.svd.a": "Matrices (..., M, N).",
    "gluonish.numpy.linalg.tensorinv.a": "Array, square as a matrix.",
    "gluonish.numpy.linalg.tensorsolve.a": "Array, square as a matrix.",
    "gluonish.numpy.linalg.tensorsolve.axes": "Axes of ``a`` that are moved to its end first.",
    "gluonish.numpy.linalg.tensorsolve.b": "Array of any shape.",
    "gluonish.numpy.products.polyval.p": "Coefficients (K,), that of the highest power first.",
    "gluonish.numpy.random.a": "Shape parameter: a positive number or array.",
    "gluonish.numpy.random.b": "Second shape parameter: a positive number or array.",
    "gluonish.numpy.random.gamma.shape": "Shape parameter: a positive number or array.",
    "gluonish.numpy.random.shuffle.x": "Array (N, ...), which is changed.",
    "gluonish.numpy.reductions.axis": "Axis or axes, negative from the last; None for all.",
    "gluonish.numpy.shapes.rot90.axes": "The two axes of the plane.",
    "gluonish.numpy.shapes.rot90.k": "Quarter turns.",
    "gluonish.symbol.random.k": "Successes: a positive number or Symbol.",
}


def document_arguments(namespace: Mapping[str, Any], names: Iterable[str]) -> None:
    """Add an ``Args:`` section to the docstrings of a module's functions that have none.

    Functions with an argument that no list here has stay as they are.

    Args:
        namespace: The module's ``globals()``.
        names: Which functions; names of anything else are left alone.
    """
    for name in names:
        function = namespace[name]
        if not isinstance(function, FunctionType) or "Args:" in (function.__doc__ or ""):
            continue
        meanings = {word: _meaning(function, word) for word in _arguments(function.__code__)}
        if meanings and None not in meanings.values():
            lines = [f"    {word}: {meaning}" for word, meaning in meanings.items()]
            before, found, after = inspect.cleandoc(function.__doc__ or "").partition("Raises:")
            text = "\n".join([before.rstrip(), "", "Args:", *lines])
            tail = f"{found}{after}"
            function.__doc__ = f"{text}\n\n{tail}" if tail else text


def _arguments(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & _VARIABLE).bit_count()
    return code.co_varnames[:count]


def _meaning(function: FunctionType, word: str) -> str | None:
    module = function.__module__
    for place in (f"{module}.{function.__name__}.{word}", f"{module}.{word}"):
        if place in _ELSEWHERE:
            return _ELSEWHERE[place]
    return _MEANINGS.get(word)
