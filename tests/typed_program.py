"""A user's program, for type checkers alone: mypy and pyright read it, nothing runs it.

A line that a type checker must refuse says so in a comment; both report a comment that suppresses
nothing (`warn_unused_ignores`, `reportUnnecessaryTypeIgnoreComment`), so that an error which is no
longer found is an error itself.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from typing import assert_type

import gluonish as mx
from gluonish.numpy.array import ndarray

x = mx.nd.ones((2, 3))
image = mx.nd.zeros((1, 3, 8, 8))

# Functions of operators have their types in every namespace.
assert_type(mx.nd.relu(x), mx.nd.NDArray)
assert_type(mx.nd.op.relu(x), mx.nd.NDArray)
assert_type(mx.nd.Convolution(image, image, kernel=(3, 3), num_filter=4), mx.nd.NDArray)
assert_type(mx.nd.contrib.box_iou(x, x), mx.nd.NDArray)
assert_type(mx.nd.linalg.gemm2(x, x, transpose_b=True), mx.nd.NDArray)
assert_type(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4), mx.sym.Symbol)
assert_type(mx.npx.relu(mx.np.ones((2, 3))), ndarray)

# So have methods.
assert_type(x.relu(), mx.nd.NDArray)
assert_type(x.sum(axis=1, keepdims=True).sqrt(), mx.nd.NDArray)
assert_type(mx.sym.var("data").relu().mean(axis=(0, 1)), mx.sym.Symbol)

# What does not exist is an error, as is an argument of another type.
x.rellu()  # type: ignore[attr-defined]
mx.sym.var("data").rellu()  # type: ignore[attr-defined]
mx.nd.rellu(x)  # type: ignore[attr-defined]
mx.sym.rellu(x)  # type: ignore[attr-defined]
mx.npx.rellu(x)  # type: ignore[attr-defined]
mx.nd.relu("x")  # type: ignore[arg-type]
mx.nd.Convolution(image, kernel=(3, 3), num_filter="4")  # type: ignore[arg-type]
mx.nd.Convolution(image, kernels=(3, 3))  # type: ignore[call-arg]
x.sum(axes=1)  # type: ignore[call-arg]
