"""The NDArray idioms that MXNet programs use outside of blocks."""

import os
import tempfile
from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import normal


def shaping(nd: Any) -> dict[str, Any]:
    a = nd.arange(24).reshape((2, 3, 4))
    return {
        "codes": [
            str(a.reshape(s).shape) for s in ((0, -1), (-2,), (-3, 0), (-4, 1, 2, -2), (4, -1))
        ],
        "keyword": a.reshape(shape=(6, 4)).shape,
        "alike": nd.reshape_like(a, nd.zeros((6, 4))),
        "transpose": nd.transpose(a, axes=(1, 0, 2)),
        "T": a[0].T,
        "swap": a.swapaxes(0, 2),
        "flip": nd.flip(a, axis=1),
        "tile": nd.tile(a[0], reps=(2, 1)),
        "repeat": a[0].repeat(2, axis=1),
        "expand": a.expand_dims(axis=1).shape,
        "squeeze": nd.squeeze(nd.ones((1, 2, 1))).shape,
        "flatten": a.flatten(),
        "pad": nd.pad(
            nd.ones((1, 1, 2, 2)),
            mode="constant",
            constant_value=5,
            pad_width=(0, 0, 0, 0, 1, 1, 1, 1),
        ),
        "concat": nd.concat(a, a, dim=2),
        "stack": nd.stack(a[0], a[1], axis=-1),
        "split": nd.split(a, 2, axis=2)[1],
        "split squeezed": a.split(num_outputs=3, axis=1, squeeze_axis=True)[2],
        "slice": nd.slice(a, begin=(0, 1), end=(2, 3)),
        "slice_axis": a.slice_axis(axis=2, begin=1, end=3),
        "broadcast": nd.broadcast_to(nd.ones((1, 3)), shape=(2, 3)),
        "axes": nd.broadcast_axis(nd.ones((1, 3)), axis=0, size=2),
        "full": nd.full((2, 2), 3.5),
        "linspace": nd.linspace(0, 1, 5),
        "eye": nd.eye(3, k=1),
        "zeros_like": nd.zeros_like(a[0]),
        "ones alike": a[0].ones_like(),
        "arange": nd.arange(2, 8, 1.5, repeat=2),
    }


def indexing(nd: Any, x: Any) -> dict[str, Any]:
    rows = nd.array([2, 0], dtype="int32")
    b = x.copy()
    b[1:3] = 7
    b[0, 1] = -1
    b[:, 2] = nd.array([1, 2, 3, 4])
    b[3, :2] = [9, 8]
    view = b[0]
    view[:] = 5
    c = x.copy()
    c[rows] = 0.5
    return {
        "assigned": b,
        "advanced": c,
        "row": x[1],
        "negative": x[-1],
        "ellipsis": x[..., 1],
        "none": x[:, None].shape,
        "step": x[::2, ::-1],
        "list": x[[0, 2]],
        "pair": x[[0, 1], [1, 2]],
        "array": x[rows],
        "scalar": x[1, 2].asscalar(),
        "take": nd.take(x, rows),
        "batch_take": nd.batch_take(x, nd.array([0, 1, 2, 0], dtype="int32")),
        "pick": nd.pick(x, nd.array([0, 1, 2, 0]), axis=1),
        "one_hot": nd.one_hot(nd.array([0, 2]), depth=3, on_value=2, off_value=-1),
        "where": nd.where(x > 0, x, -x * 2),
        "gather": nd.gather_nd(x, nd.array([[0, 1], [2, 0]])),
        "scatter": nd.scatter_nd(nd.array([5, 6]), nd.array([[0, 1], [1, 0]]), (2, 2)),
        "topk": x.topk(k=2, ret_typ="value"),
        "topk both": list(nd.topk(x, axis=1, k=2, ret_typ="both")),
        "topk mask": nd.topk(x, k=1, ret_typ="mask"),
        "sort": x.sort(axis=0),
        "argsort": nd.argsort(x, is_ascend=False),
        "argmax": x.argmax(axis=1),
        "argmin": x.argmin(axis=0),
        "shuffled": nd.random.shuffle(nd.arange(6)).sort(),
    }


def arithmetic(nd: Any, x: Any, y: Any) -> dict[str, Any]:
    z = x.copy()
    z += y
    z *= 2
    z -= 1
    z /= 4
    return {
        "in place": z,
        "dot": nd.dot(x, y, transpose_b=True),
        "dot a": nd.dot(x, y, transpose_a=True),
        "batch": nd.batch_dot(nd.stack(x, y), nd.stack(y, x), transpose_b=True),
        "norm": x.norm(),
        "norms": nd.norm(x, ord=1, axis=1, keepdims=True),
        "clip": x.clip(-0.5, 0.5),
        "sum": x.sum(),
        "sums": x.sum(axis=(0, 1), keepdims=True),
        "exclude": nd.mean(x, axis=0, exclude=True),
        "max": x.max(axis=0),
        "prod": nd.prod(x),
        "nansum": nd.nansum(x),
        "power": x.abs() ** 0.5,
        "reverse": [2 - x, 2 / (x + 10), 2**x],
        "compare": [x > y, x >= 0, x == x, x != y, x > 0],
        "mod": (x + 10) % 3,
        "maximum": nd.maximum(x, 0.1),
        "minimum": nd.broadcast_minimum(x, y[:1]),
        "logical": nd.logical_and(x > 0, y > 0),
        "not": nd.logical_not(x > 0),
        "rounding": [x.round(), x.floor(), x.ceil(), x.trunc(), x.fix(), x.sign()],
        "functions": [
            x.exp(),
            x.abs().log(),
            x.square(),
            x.sigmoid(),
            x.relu(),
            nd.erf(x),
            x.log_softmax(),
            nd.expm1(x),
            nd.arctan(x),
        ],
        "smooth": nd.smooth_l1(x, scalar=1.0),
        "add_n": nd.add_n(x, y, x),
        "elemwise": nd.elemwise_mul(x, y),
        "hypot": nd.broadcast_hypot(x, y),
        "L2": nd.L2Normalization(x),
        "softmax": nd.softmax(x, axis=0, temperature=2.0),
        "embedding": nd.Embedding(nd.array([0, 2]), x, 4, 3),
    }


def values(found: Any) -> Any:
    if isinstance(found, (list, tuple)) and found and hasattr(found[0], "asnumpy"):
        return [v.asnumpy() for v in found]
    return found.asnumpy() if hasattr(found, "asnumpy") else found


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd = mx.nd
    x, y = nd.array(normal(1, 4, 3)), nd.array(normal(2, 4, 3))
    found = {**shaping(nd), **indexing(nd, x), **arithmetic(nd, x, y)}
    out = {key: values(value) for key, value in found.items()}
    target = nd.zeros((4, 3), ctx=mx.cpu(1))
    copied = x.copyto(target)
    moved = x.as_in_context(mx.cpu(1))
    same = x.as_in_context(mx.cpu(0)) is x
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "a.nd")
        nd.save(file, {"x": x, "i": nd.array([1, 2], dtype="int64")})
        loaded = nd.load(file)
        nd.save(file, [x, y])
        listed = nd.load(file)
        nd.save(file, x)
        single = nd.load(file)
    nd.waitall()
    out.update(
        {
            "copied": target.asnumpy(),
            "returned": copied is target,
            "same": same,
            "moved": str(moved.context),
            "loaded": loaded["x"].asnumpy(),
            "loaded type": str(loaded["i"].dtype),
            "listed": len(listed),
            "single": len(single),
            "dtypes": [
                str(nd.array(v).dtype)
                for v in ([1, 2], np.ones(2), np.ones(2, "int64"), np.ones(2, "float16"))
            ],
            "repr": repr(nd.array([[1, 2.5], [3, 4]])),
            "text": str(nd.ones((2,), dtype="int32")),
            "astype": x.astype("int32").asnumpy(),
            "bool": bool(nd.array([0])),
            "len": len(x),
            "size": x.size,
            "ndim": x.ndim,
            "iterated": [float(v.sum().asscalar()) for v in x],
            "stype": x.stype,
            "half": nd.ones((2,), dtype="float16").dtype.__name__,
            "format": f"{nd.array([1.5]).asscalar():.2f}",
            "tolist": x.asnumpy().tolist(),
            "context": str(x.context),
            "ctx": repr(x.ctx),
        }
    )
    return out
