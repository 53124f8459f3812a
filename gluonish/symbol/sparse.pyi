# Written by `python -m tests.stubs`, and held to the registry by tests/test_stubs.py.

from collections.abc import Mapping
from collections.abc import Sequence
from gluonish.core.dtype import DType
from gluonish.ops.frontend import chosen as chosen
from gluonish.ops.sparse.compressed import OPERATORS as OPERATORS
from gluonish.symbol.namespace import make_operator_function as make_operator_function
from gluonish.symbol.symbol import Symbol
from typing import Literal


def ElementWiseSum(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype."""
def Embedding(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    input_dim: int = ...,
    output_dim: int = ...,
    dtype: DType = ...,
    sparse_grad: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Look up rows of weight by the indices in data."""
def FullyConnected(
    data: Symbol | None = None,
    weight: Symbol | None = None,
    bias: Symbol | None = None,
    num_hidden: int = ...,
    no_bias: bool | int = False,
    flatten: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data times the transposed weight, plus bias: a dense layer."""
def LinearRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with gradient data - label."""
def LogisticRegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """sigmoid of data, with gradient sigmoid - label."""
def MAERegressionOutput(
    data: Symbol | None = None,
    label: Symbol | None = None,
    grad_scale: float = 1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """data itself, with gradient 1 where data > label, else -1."""
def abs(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise absolute value."""
def adagrad_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    history: Symbol | None = None,
    lr: float = ...,
    epsilon: float = 1e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of AdaGrad: return the new weight, and update history in place."""
def adam_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mean: Symbol | None = None,
    var: Symbol | None = None,
    lr: float = ...,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-08,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of Adam without bias correction (the caller includes it in lr)."""
def add_n(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Sum arrays of the same shape and dtype."""
def arccos(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse cosine."""
def arccosh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic cosine."""
def arcsin(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse sine."""
def arcsinh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic sine."""
def arctan(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse tangent."""
def arctanh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise inverse hyperbolic tangent."""
def broadcast_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def broadcast_minus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_plus(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def broadcast_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def cast_storage(
    data: Symbol | None = None,
    stype: Literal["csr", "default", "row_sparse"] | str = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Convert data to the storage type stype: default (dense), row_sparse or csr."""
def cbrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cube root."""
def ceil(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise smallest integer not below data."""
def clip(
    data: Symbol | None = None,
    a_min: float = ...,
    a_max: float = ...,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Clip data to [a_min, a_max]."""
def concat(
    *data: Symbol | Sequence[Symbol],
    num_args: int = ...,
    dim: int = 1,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Join arrays along axis dim; their other sizes are equal."""
def cos(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise cosine."""
def cosh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic cosine."""
def degrees(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of radians to degrees."""
def dot(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    transpose_a: bool | int = False,
    transpose_b: bool | int = False,
    forward_stype: Literal[None, "csr", "default", "row_sparse"] | str = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Multiply matrices: sum products over the last axis of lhs and the first axis of rhs."""
def elemwise_add(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs + rhs; both arrays have the same dtype, and shapes broadcast."""
def elemwise_div(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs / rhs, toward zero for integers; both arrays have the same dtype, and shapes
    broadcast."""
def elemwise_mul(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs * rhs; both arrays have the same dtype, and shapes broadcast."""
def elemwise_sub(
    lhs: Symbol | None = None,
    rhs: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise lhs - rhs; both arrays have the same dtype, and shapes broadcast."""
def exp(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data."""
def expm1(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise e to the power of data, minus 1."""
def fix(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def floor(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise largest integer not above data."""
def ftrl_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    z: Symbol | None = None,
    n: Symbol | None = None,
    lr: float = ...,
    lamda1: float = 0.01,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of FTRL-Proximal."""
def gamma(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise gamma function."""
def gammaln(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise logarithm of the gamma function's absolute value."""
def log(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm."""
def log10(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise decimal logarithm."""
def log1p(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise natural logarithm of 1 + data."""
def log2(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise binary logarithm."""
def make_loss(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data as a loss: its gradient is 1, and the gradient of the output is ignored."""
def mean(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the arithmetic mean along axis, all axes by default; with exclude along all other
    axes."""
def negative(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise -data."""
def norm(
    data: Symbol | None = None,
    ord: int = 2,
    axis: int | Sequence[int] | None = None,
    out_dtype: Literal[None, "float16", "float32", "float64", "int32", "int64", "int8"] | DType = None,
    keepdims: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the norm along axis, or over all elements: the sum of absolute values (ord=1) or the
    square root of the sum of squares (ord=2)."""
def radians(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise conversion of degrees to radians."""
def relu(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise maximum of data and 0."""
def retain(
    data: Symbol | None = None,
    indices: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Retain the rows of data listed in indices; all other rows are zero."""
def rint(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves downward."""
def round(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise nearest integer, halves away from zero."""
def rsqrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / square root."""
def sgd_mom_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    mom: Symbol | None = None,
    lr: float = ...,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent with momentum."""
def sgd_update(
    weight: Symbol | None = None,
    grad: Symbol | None = None,
    lr: float = ...,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool | int = True,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Take one step of gradient descent."""
def sigmoid(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise 1 / (1 + exp(-data))."""
def sign(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sign: -1, 0 or 1."""
def sin(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise sine."""
def sinh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic sine."""
def slice(
    data: Symbol | None = None,
    begin: int | Sequence[int | None] = ...,
    end: int | Sequence[int | None] = ...,
    step: int | Sequence[int | None] = (),
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Slice data from begin up to end in steps of step, as Python slices."""
def sqrt(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square root."""
def square(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise square."""
def stop_gradient(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return data, and stop the gradient."""
def sum(
    data: Symbol | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool | int = False,
    exclude: bool | int = False,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Compute the sum along axis, all axes by default; with exclude along all other axes."""
def tan(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise tangent."""
def tanh(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise hyperbolic tangent."""
def trunc(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Elementwise truncation toward zero to an integer."""
def where(
    condition: Symbol | None = None,
    x: Symbol | None = None,
    y: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Select x where condition is not 0, else y; condition has the shape of x, or one element for
    each row."""
def zeros_like(
    data: Symbol | None = None,
    *,
    name: str | None = None,
    attr: Mapping[str, str] | None = None,
    out: None = None,
) -> Symbol:
    """Return an array of 0s with the shape and dtype of data."""
