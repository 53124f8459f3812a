"""What `FastKernel.compiles` compiles ahead is what a run of the same kernel needs."""

from typing import Any

import numpy as np
import pytest

from gluonish.kernels.generated import layer_norm, scattering
from gluonish.ops.indexing.pick import ADD_ALONG
from gluonish.ops.indexing.take import TAKE_ADD
from gluonish.ops.kernel import FastKernel
from gluonish.ops.nn.embedding import EMBEDDING_BACKWARD
from gluonish.ops.normalization.layer_norm import LAYER_NORM_BACKWARD
from gluonish.ops.registry import Operator

FLOATS = np.random.default_rng(0).standard_normal


def fast_of(module: Any, name: str) -> FastKernel:
    found: dict[Operator, FastKernel] = dict(module.KERNELS)
    (fast,) = (kernel for op, kernel in found.items() if op.name == name)
    return fast


def positions(shape: tuple[int, ...], dtype: str) -> Any:
    return np.zeros(shape, dtype)


TAKES = [
    ((64, 200), 0, "clip", "float32"),
    ((64, 200), 0, "wrap", "int64"),
    ((64, 200), 0, "raise", "int32"),
    ((1000, 4), 0, "clip", "uint8"),
    ((3, 1000, 4), 1, "clip", "int32"),
    ((40, 100, 4), -2, "clip", "int16"),
]


@pytest.mark.parametrize(("shape", "axis", "mode", "dtype"), TAKES)
def test_take(shape: Any, axis: int, mode: str, dtype: str, monkeypatch: Any) -> None:
    along = axis % len(shape)
    terms = FLOATS((*shape[:along], 70, *shape[along + 1 :])).astype("float32")
    attrs = {"shape": shape, "axis": axis, "mode": mode}
    name = TAKE_ADD.name
    check(
        scattering,
        name,
        np.empty(shape, "float32"),
        (terms, positions((70,), dtype)),
        attrs,
        monkeypatch,
    )


@pytest.mark.parametrize("shape", [(500, 64), (5000, 8)])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int8"])
def test_embedding(shape: Any, dtype: str, monkeypatch: Any) -> None:
    terms = FLOATS((300, shape[1])).astype("float32")
    name = EMBEDDING_BACKWARD.name
    check(
        scattering,
        name,
        np.empty(shape, "float32"),
        (terms, positions((300,), dtype)),
        {},
        monkeypatch,
    )


@pytest.mark.parametrize(("shape", "axis"), [((128, 90), 1), ((5, 128, 90), 1)])
def test_add_along(shape: Any, axis: int, monkeypatch: Any) -> None:
    index = positions((*shape[:axis], 7, *shape[axis + 1 :]), "int32")
    terms = FLOATS(index.shape).astype("float32")
    attrs = {"shape": shape, "axis": axis, "mode": "clip"}
    name = ADD_ALONG.name
    check(scattering, name, np.empty(shape, "float32"), (terms, index), attrs, monkeypatch)


def test_layer_norm(monkeypatch: Any) -> None:
    data, gamma, rows = FLOATS((300, 40)), FLOATS(40), np.ones((300, 1))
    inputs = [x.astype("float32") for x in (data, data, gamma, rows, rows)]
    out = tuple(np.empty(x.shape, "float32") for x in (data, gamma, gamma))
    check(layer_norm, LAYER_NORM_BACKWARD.name, out, inputs, {"axis": -1}, monkeypatch)


def check(module: Any, name: str, out: Any, inputs: Any, attrs: Any, monkeypatch: Any) -> None:
    """Assert that a run needs the kernels that were compiled for it, and no other."""
    fast = fast_of(module, name)
    assert fast.compiles is not None
    assert fast.run is not None
    needed: list[str] = []
    compile_kernel = module.compile_kernel
    monkeypatch.setattr(
        module, "compile_kernel", lambda *args: needed.append(args[0]) or compile_kernel(*args)
    )
    cached = getattr(module, "_kernel", None)
    clear = cached.cache_clear if cached is not None else lambda: None
    clear()
    fast.compiles(out if isinstance(out, tuple) else (out,), inputs, attrs)
    ahead, needed[:] = [*needed], []
    clear()
    fast.run(np, out, *inputs, **attrs)
    assert ahead == needed
    assert len(ahead) == 1
