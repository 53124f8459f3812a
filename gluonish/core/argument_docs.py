"""Descriptions of common arguments, for the docstrings of generated functions.

A function that needs other descriptions has its own ``Args:`` section.
"""

import inspect
from collections.abc import Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any

_VARIABLE = 0x0C  # CO_VARARGS and CO_VARKEYWORDS

_MEANINGS = {
    "A": "Input array of any shape.",
    "M": "Number of points; of a matrix the number of columns, None or 0 for a square one.",
    "N": "Number of rows.",
    "UPLO": "Triangle to read: ``'L'`` (lower) or ``'U'`` (upper).",
    "a": "Input array.",
    "a_max": "Upper bound; larger elements are replaced by it. None for no bound.",
    "a_min": "Lower bound; smaller elements are replaced by it. None for no bound.",
    "alpha": "Shape parameter or dispersion of the distribution: a positive number or array.",
    "always_copy": "Whether to copy a single array, too, instead of returning it.",
    "args": "Arrays, as separate arguments.",
    "arr": "Input array of any shape.",
    "array": "Input array of any shape.",
    "arrays": "List or tuple of arrays, of equal shape except along the joined axis.",
    "ary": "Array to split, of at least one axis.",
    "arys": "Arrays or numbers, as separate arguments.",
    "axes": "The axes in their new order; None reverses the order.",
    "axis": "Axis to work along; negative counts from the last. None, where allowed: all elements.",
    "axis1": "First of the two axes; negative counts from the last.",
    "axis2": "Second of the two axes; negative counts from the last.",
    "b": "Second input array.",
    "base": "Base of the powers: number or array.",
    "beta": "Scale of the distribution: a positive number or array.",
    "buf": "Content of a .params file: bytes.",
    "ctx": "Device of the result; the current context by default.",
    "data": "Input array.",
    "ddof": "Delta degrees of freedom: the divisor is the number of elements minus this.",
    "decimals": "Number of decimal places; negative rounds to tens, hundreds, ...",
    "destination": "New positions of the axes: an int or a tuple of ints.",
    "device": "Device of the result: another name of ``ctx``, that of MXNet 2.0.",
    "df": "Degrees of freedom: a positive number or array.",
    "dimensions": "Shape of the grid.",
    "dtype": "Element type of the result; None for the default.",
    "endpoint": "Whether ``stop`` is the last value.",
    "exp": "Exponent: number or array.",
    "fname": "Path of the file to read or write.",
    "get_prob": "Whether to return the log probability of each sample, too.",
    "high": "Upper bound, excluded: number or array.",
    "ind": "Number of leading axes of ``a`` that form the rows of the matrix.",
    "indices": "Array of integer indices.",
    "indices_or_sections": "Number of equal parts, or the indices at which to split.",
    "infer_range": "Accepted and ignored.",
    "interpolation": "Between two elements: ``'linear'``, ``'lower'``, ``'higher'``, "
    "``'midpoint'`` or ``'nearest'``.",
    "json_str": "Content of a file.",
    "k": "Index of the diagonal: 0 for the main one, positive above it, negative below.",
    "keepdims": "Whether to keep reduced axes, with size 1.",
    "kind": "Accepted and ignored.",
    "kwargs": "Further options of the operator; ``name`` is accepted.",
    "lam": "Mean: a number or array, at least 0.",
    "left": "First operand: Symbol or number.",
    "lhs": "First operand: array or number.",
    "loc": "Mean, or center, of the distribution: number or array.",
    "low": "Lower bound, included: number or array.",
    "m": "Array of at least one axis; two for operations on matrices.",
    "max_work": "Accepted and ignored.",
    "mean": "Mean of the logarithm: number or array.",
    "mu": "Mean: a number or array, at least 0.",
    "n": "Number of rows.",
    "name": "Name of the Symbol.",
    "num": "Number of values.",
    "offset": "Index of the diagonal: 0 for the main one, positive above it, negative below.",
    "order": "Order in which elements are read and written: ``'C'``, row by row.",
    "out": "Array to write the result to, of the same shape and dtype.",
    "overwrite_input": "Accepted and ignored.",
    "p": "Probability of a success, in (0, 1]: number or array.",
    "q": "Number or array in [0, 1].",
    "repeat": "Number of repetitions of each value.",
    "repeats": "Number of repetitions of each element.",
    "reps": "Number of copies along each axis: an int or a tuple.",
    "rhs": "Second operand: array or number.",
    "right": "Second operand: Symbol or number.",
    "scale": "Standard deviation, or scale, of the distribution: a positive number or array.",
    "shape": "Shape of the result: an int or a tuple of ints.",
    "sigma": "Standard deviation of the logarithm: number or array.",
    "size": "Shape of the result: an int or a tuple; None for the shape of the parameters.",
    "source": "Axes to move: an int or a tuple of ints.",
    "start": "First value.",
    "step": "Difference between neighbouring values.",
    "stop": "End of the range.",
    "stype": "Storage type: ``'default'`` (dense), ``'row_sparse'`` or ``'csr'``.",
    "tensor": "Input array.",
    "tup": "List or tuple of arrays, of equal shape except along the joined axis.",
    "val": "Value of all elements: a number.",
    "values": "Array to append.",
    "x": "Input array of any shape.",
}


def document_arguments(
    namespace: Mapping[str, Any], names: Iterable[str], meanings: Mapping[str, str] | None = None
) -> None:
    """Add an ``Args:`` section to the docstrings of functions that have none.

    Functions with an unknown argument are unchanged.

    Args:
        namespace: A module's ``globals()``, or ``vars`` of a class.
        names: Names of the functions; names of other objects are ignored.
        meanings: Additional descriptions by argument, or by ``function.argument``.
    """
    special = meanings or {}
    for name in names:
        function = namespace[name]
        if not isinstance(function, FunctionType) or "Args:" in (function.__doc__ or ""):
            continue
        found = {
            arg: special.get(f"{name}.{arg}", special.get(arg, _MEANINGS.get(arg)))
            for arg in _arguments(function.__code__)
        }
        if found and None not in found.values():
            lines = [f"    {arg}: {meaning}" for arg, meaning in found.items()]
            before, heading, errors = inspect.cleandoc(function.__doc__ or "").partition("Raises:")
            text = "\n".join([before.rstrip(), "", "Args:", *lines])
            raises = f"{heading}{errors}"
            function.__doc__ = f"{text}\n\n{raises}" if raises else text


def _arguments(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & _VARIABLE).bit_count()
    return tuple(name for name in code.co_varnames[:count] if name != "self")
