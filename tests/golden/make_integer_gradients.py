"""Write integer_gradients.json: what MXNet 1.9.1 gives as gradients of integer arrays.

Run it with MXNet 1.9.1. Expressions are of ``x``, [1, 2, 3], ``y``, [3, 2, 1], and ``f``, the
namespace, ``nd`` or ``np``. Those that MXNet refuses are left out.
"""

import json
from pathlib import Path
from typing import Any

import mxnet as mx

HERE = Path(__file__).resolve().parent
DTYPES = ("int32", "int64", "int8", "uint8")

EXPRESSIONS = {
    "both": (
        *("x * 2", "x * 2.5", "2 + x", "1 - x", "x * x", "x + x * 3", "x - y", "x * y", "-x * y"),
        *("x ** 2", "x ** 0", "2 ** x", "x ** y", "x % 2", "2 % x", "x % y", "f.sqrt(x) * x"),
        *("f.maximum(x, 2)", "f.minimum(x, 2)", "f.maximum(x, y)", "f.abs(x * 2)", "f.sign(x) * x"),
        *("(x > 2) * x", "f.floor(x) * x", "f.clip(x, 1, 2)", "x.max() * 2", "f.transpose(x) * y"),
        *("x.sum()", "x.mean()", "f.exp(x)", "x.reshape((3, 1)) * 3", "x[1:] * 3", "f.flip(x, 0)"),
        *("x.astype('float32') * 1.5", "x.astype('int64') * 2", "x * x * x"),
    ),
    "nd": ("f.broadcast_power(x, y)", "f.broadcast_hypot(x, y)", "f.square(x)", "x / y", "2 / x"),
    "np": (
        *("f.cumsum(x)", "f.diff(x)", "f.prod(x)", "f.ldexp(x, y)", "f.ldexp(2, x)"),
        *("f.copysign(x, y)", "f.hypot(x, 2)", "f.arctan2(2, x)", "f.sum(x, dtype='int64')"),
        "x * f.array([1.5, 2.5, 3.5])",
    ),
}


def gradients(face: Any, expression: str, dtype: str) -> list[list[int]]:
    """Return the gradients of x and y; zeros where there is none."""
    names = {"x": face.array([1, 2, 3], dtype=dtype), "y": face.array([3, 2, 1], dtype=dtype)}
    for array in names.values():
        array.attach_grad()
    with mx.autograd.record():
        output = eval(expression, {"f": face, **names})
    output.backward()
    return [[int(v) for v in array.grad.asnumpy()] for array in names.values()]


def main() -> None:
    """Write the file."""
    found: dict[str, dict[str, dict[str, list[list[int]]]]] = {}
    for kind, face in (("nd", mx.nd), ("np", mx.np)):
        if kind == "np":
            mx.npx.set_np()
        found[kind] = {}
        for expression in (*EXPRESSIONS["both"], *EXPRESSIONS[kind]):
            rows = {}
            for dtype in DTYPES:
                try:
                    rows[dtype] = gradients(face, expression, dtype)
                except (mx.MXNetError, TypeError):
                    continue  # MXNet refuses it
            if rows:
                found[kind][expression] = rows
    (HERE / "integer_gradients.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
