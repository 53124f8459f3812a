"""Calls of operators on arrays of every storage type; what each result is stored as is compared.

`storage_types.json` holds what MXNet 1.9.1 gives: for each name the storage types of the inputs,
d, r and c, and that of the result; ``error`` where MXNet refuses or crashes. To write it anew:

    python tests/golden/storage_types.py    (in an environment with mxnet 1.9.1 and numpy 1.23.5)
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_suffix(".json")
LETTERS = {"d": "default", "r": "row_sparse", "c": "csr"}

_UNARY = """
    abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees erf erfinv exp expm1
    fix floor gamma gammaln hard_sigmoid identity log log10 log1p log2 logical_not make_loss
    negative ones_like radians rcbrt reciprocal relu rint round rsqrt sigmoid sign sin sinh softsign
    softmax log_softmax softmin sqrt square stop_gradient BlockGrad tan tanh trunc zeros_like
    shape_array size_array Flatten transpose sum mean prod max min nansum nanprod norm argmax argmin
    sort argsort L2Normalization squeeze
"""
_SCALAR = """
    _plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _mod_scalar
    _rmod_scalar _power_scalar _rpower_scalar _maximum_scalar _minimum_scalar _hypot_scalar
    _equal_scalar _not_equal_scalar _greater_scalar _greater_equal_scalar _lesser_scalar
    _lesser_equal_scalar _scatter_plus_scalar _scatter_minus_scalar _logical_and_scalar
    _logical_or_scalar _logical_xor_scalar smooth_l1
"""
_WITH: list[tuple[str, dict[str, Any]]] = [
    *(("cast_storage", {"stype": stype}) for stype in LETTERS.values()),
    *(("clip", {"a_min": low, "a_max": high}) for low, high in ((-1, 1), (0.1, 1), (-1, -0.1))),
    *((name, {"axis": axis}) for name in ("sum", "mean") for axis in (0, 1)),
    *(("_square_sum", {"axis": axis}) for axis in (0, 1)),
    ("_square_sum", {"axis": 1, "keepdims": True}),
    ("sum", {"axis": 1, "keepdims": True}),
    ("norm", {"axis": 1}),
    ("slice", {"begin": (0, 0), "end": (2, 2)}),
    ("slice_axis", {"axis": 0, "begin": 0, "end": 2}),
    ("reshape", {"shape": (9,)}),
    ("expand_dims", {"axis": 0}),
    ("cast", {"dtype": "float64"}),
    ("amp_cast", {"dtype": "float32"}),
    ("repeat", {"repeats": 2}),
    ("tile", {"reps": 2}),
    ("reverse", {"axis": 0}),
    ("swapaxes", {"dim1": 0, "dim2": 1}),
    ("topk", {"k": 1}),
]
_BINARY = """
    elemwise_add elemwise_sub elemwise_mul elemwise_div broadcast_add broadcast_sub broadcast_mul
    broadcast_div broadcast_mod broadcast_power broadcast_maximum broadcast_minimum broadcast_hypot
    broadcast_equal broadcast_greater broadcast_logical_and _maximum _minimum _mod _power _hypot
    _equal _not_equal _greater _lesser _greater_equal _lesser_equal _logical_and _logical_or
    _logical_xor _scatter_elemwise_div _grad_add add_n dot _identity_with_attr_like_rhs
"""
_PAIRS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in _BINARY.split()),
    ("dot", {"transpose_a": True}),
    ("dot", {"transpose_b": True}),
    ("concat", {"dim": 0}),
    ("concat", {"dim": 1}),
    ("stack", {}),
]
_VALUES = (
    [[0, 0.5, 0], [0, 0, 0], [0.25, 0, 0.5]],
    [[0, 0, 0.5], [0, 0.25, 0], [0.5, 0, 0]],
)


def calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield operator, letters of the inputs' storage types, and attributes; one input is sparse."""
    single = (
        [(name, {}) for name in _UNARY.split()]
        + [(name, {"scalar": 2.0}) for name in _SCALAR.split()]
        + _WITH
    )
    for name, attrs in single:
        for letter in "rc":
            yield name, letter, attrs
    for name, attrs in _PAIRS:
        for letters in ("dr", "dc", "rd", "rr", "rc", "cd", "cr", "cc"):
            yield name, letters, attrs


def key(name: str, letters: str, attrs: dict[str, Any]) -> str:
    """Return the name of a call in the file."""
    return " ".join([name, letters, *(f"{word}={value}" for word, value in attrs.items())])


def stored_as(mx: Any, name: str, letters: str, attrs: dict[str, Any]) -> str:
    """Return the storage type of a call's result, once it is computed."""
    nd = mx.nd
    inputs = [
        nd.array(values).tostype(LETTERS[letter])
        for letter, values in zip(letters, _VALUES, strict=False)
    ]
    function = getattr(nd, name) if hasattr(nd, name) else getattr(nd._internal, name)
    found = function(*inputs, **attrs)
    found = found[0] if isinstance(found, list) else found
    found.asnumpy()
    return str(found.stype)


def _in_a_process(call: Callable[[], str]) -> str:
    """Return what a call gives in a process of its own, which may crash."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, call().encode())
        finally:
            os._exit(0)
    os.close(write)
    found = os.read(read, 100).decode()
    os.close(read)
    os.waitpid(child, 0)
    return found or "error"


def main() -> None:
    """Ask MXNet."""
    import mxnet as mx

    table = {key(*call): _in_a_process(lambda: stored_as(mx, *call)) for call in calls()}  # noqa: B023  # called at once
    PATH.write_text(json.dumps(table, indent=0) + "\n")
    sys.stdout.write(f"{len(table)} calls\n")


if __name__ == "__main__":
    main()
