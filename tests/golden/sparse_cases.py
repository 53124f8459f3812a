"""Calls on sparse arrays, as functions of the package: MXNet 1.9.1 ran them, and the tests do.

Imported by both interpreters, so that it imports nothing but NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

MATRIX = np.array(
    [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, -4], [0, 0, 0, 0], [0, 5, -6, 0]], np.float32
)
OTHER = np.array([[0, 7, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]], np.float32)
STYPES = ("default", "row_sparse", "csr")
SPARSE = STYPES[1:]

Case = Callable[[Any], Any]
CASES: dict[str, Case] = {}

# What MXNet 1.9.1 gets wrong: not run there.
WRONG = {
    "divide 2 row_sparse": "it divides by the number instead",
    "divide 2 csr": "the same",
    "subtract 2 row_sparse": "it subtracts the number from the array instead",
    "subtract 2 csr": "the same",
}


def make(mx: Any, stype: str, values: Any = MATRIX) -> Any:
    """Return an array of a storage type."""
    return mx.nd.array(values).tostype(stype)


def rng(*shape: int) -> Any:
    """Return values that are the same in every run."""
    return np.random.RandomState(len(shape) + sum(shape)).randn(*shape).astype(np.float32)


def internal(mx: Any) -> Any:
    """Return where the operators are whose names begin with ``_``."""
    return getattr(mx.nd, "_internal", mx.nd)


def case(name: str, run: Case) -> None:
    """Add a case."""
    assert name not in CASES
    CASES[name] = run


_UNARY = """
    abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor
    gamma gammaln log log10 log1p log2 make_loss negative radians relu rint round rsqrt sigmoid sign
    sin sinh sqrt square stop_gradient tan tanh trunc zeros_like
"""
for _name in _UNARY.split():
    for _st in SPARSE:
        case(f"{_name} {_st}", lambda mx, f=_name, s=_st: getattr(mx.nd.sparse, f)(make(mx, s)))

_DENSE_ONLY = "identity reciprocal rcbrt ones_like softsign erf softmax transpose logical_not"
for _name in _DENSE_ONLY.split():
    for _st in SPARSE:
        case(f"nd.{_name} {_st}", lambda mx, f=_name, s=_st: getattr(mx.nd, f)(make(mx, s)))

_SCALARS = """
    _plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _power_scalar
    _maximum_scalar _minimum_scalar _greater_scalar _greater_equal_scalar _equal_scalar
    _not_equal_scalar _lesser_scalar _lesser_equal_scalar _scatter_plus_scalar
    _scatter_minus_scalar
"""
for _name in _SCALARS.split():
    for _st in SPARSE:
        for _number in (2.0, 0.0, -1.0):
            case(
                f"{_name} {_st} {_number}",
                lambda mx, f=_name, s=_st, n=_number: getattr(internal(mx), f)(
                    make(mx, s), scalar=n
                ),
            )

for _name in ("elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div"):
    for _a in STYPES:
        for _b in STYPES:
            if _a != _b or _a != "default":
                case(
                    f"{_name} {_a} {_b}",
                    lambda mx, f=_name, a=_a, b=_b: getattr(mx.nd.sparse, f)(
                        make(mx, a), make(mx, b, OTHER)
                    ),
                )
for _name in ("add", "subtract", "multiply", "divide"):
    for _st in SPARSE:
        for _number in (2, 0):
            case(
                f"{_name} {_st} {_number}",
                lambda mx, f=_name, s=_st, n=_number: getattr(mx.nd.sparse, f)(make(mx, s), n),
            )
        case(
            f"{_name} 2 {_st}",
            lambda mx, f=_name, s=_st: getattr(mx.nd.sparse, f)(2, make(mx, s)),
        )
_BESIDE = {"row": (1, 4), "column": (5, 1), "one": (1, 1), "vector": (4,)}
for _name in ("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div"):
    for _st in SPARSE:
        for _word, _shape in _BESIDE.items():
            case(
                f"{_name} {_st} {_word}",
                lambda mx, f=_name, s=_st, n=_shape: getattr(mx.nd.sparse, f)(
                    make(mx, s), mx.nd.array(rng(*n))
                ),
            )
case("broadcast_mul csr same", lambda mx: mx.nd.broadcast_mul(make(mx, "csr"), mx.nd.ones((5, 4))))
case("csr + csr", lambda mx: make(mx, "csr") + make(mx, "csr", OTHER))
case("csr - itself", lambda mx: make(mx, "csr") - make(mx, "csr"))
case("row_sparse - itself", lambda mx: make(mx, "row_sparse") - make(mx, "row_sparse"))
case("row_sparse * 2", lambda mx: make(mx, "row_sparse") * 2)
case("2 / row_sparse", lambda mx: 2 / make(mx, "row_sparse"))
case("dense - csr", lambda mx: mx.nd.ones((5, 4)) - make(mx, "csr"))
case("csr == dense", lambda mx: make(mx, "csr") == mx.nd.array(MATRIX))
case("csr > 0", lambda mx: make(mx, "csr") > 0)
case("-csr", lambda mx: -make(mx, "csr"))

for _a in STYPES:
    for _b in STYPES:
        for _ta in (False, True):
            for _tb in (False, True):
                if _a == _b == "default":
                    continue
                for _wanted in (None, "default", "row_sparse"):
                    _rhs = rng(5, 3) if _ta else rng(4, 3)
                    case(
                        f"dot {_a}{' T' * _ta} {_b}{' T' * _tb} {_wanted}",
                        lambda mx, a=_a, b=_b, ta=_ta, tb=_tb, r=_rhs, w=_wanted: mx.nd.sparse.dot(
                            make(mx, a),
                            make(mx, b, r.T if tb else r),
                            transpose_a=ta,
                            transpose_b=tb,
                            **({"forward_stype": w} if w else {}),
                        ),
                    )
case("dot csr vector", lambda mx: mx.nd.sparse.dot(make(mx, "csr"), mx.nd.array(rng(4))))
case(
    "dot csr T with empty columns",
    lambda mx: mx.nd.sparse.dot(
        make(mx, "csr", OTHER * [[1, 0, 0, 1]]), mx.nd.array(rng(5, 3)), transpose_a=True
    ),
)

for _name in ("sum", "mean", "norm"):
    for _st in SPARSE:
        for _axis in (None, 0, 1, (0, 1)):
            for _keep in (False, True):
                case(
                    f"{_name} {_st} {_axis} {_keep}",
                    lambda mx, f=_name, s=_st, a=_axis, k=_keep: getattr(mx.nd.sparse, f)(
                        make(mx, s), axis=a, keepdims=k
                    ),
                )
for _axis, _keep in ((0, False), (0, True), (1, False), ((1,), True)):  # type: ignore[assignment]
    case(
        f"_square_sum {_axis} {_keep}",
        lambda mx, a=_axis, k=_keep: internal(mx)._square_sum(
            make(mx, "row_sparse"), axis=a, keepdims=k
        ),
    )
for _st in SPARSE:
    for _low, _high in ((-1, 3), (0, 3), (-3, 0)):
        case(
            f"clip {_st} {_low} {_high}",
            lambda mx, s=_st, a=_low, b=_high: mx.nd.sparse.clip(make(mx, s), a, b),
        )
    for _begin, _end, _step in (
        ((1,), (4,), ()),
        ((1, 1), (4, 3), ()),
        ((-4,), (-1,), ()),
        ((None, 1), (None, 3), ()),
        ((0,), (4,), (2,)),
    ):
        case(
            f"slice {_st} {_begin} {_end} {_step}",
            lambda mx, s=_st, b=_begin, e=_end, st=_step: mx.nd.sparse.slice(
                make(mx, s), begin=b, end=e, step=st
            ),
        )
    case(f"add_n {_st}", lambda mx, s=_st: mx.nd.add_n(make(mx, s), make(mx, s, OTHER)))
    case(
        f"add_n {_st} default",
        lambda mx, s=_st: mx.nd.add_n(make(mx, s), make(mx, "default", OTHER), make(mx, s)),
    )
    for _axis in (0, 1):
        case(
            f"concat {_st} {_axis}",
            lambda mx, s=_st, a=_axis: mx.nd.sparse.concat(make(mx, s), make(mx, s, OTHER), dim=a),
        )
    case(
        f"where {_st}",
        lambda mx, s=_st: mx.nd.sparse.where(make(mx, s), mx.nd.ones((5, 4)), mx.nd.zeros((5, 4))),
    )
    case(f"take {_st}", lambda mx, s=_st: mx.nd.take(make(mx, s), mx.nd.array([2, 0, 0])))
    case(
        f"take wrap {_st}",
        lambda mx, s=_st: mx.nd.take(make(mx, s), mx.nd.array([7, -1]), mode="wrap"),
    )
    case(
        f"FullyConnected {_st}",
        lambda mx, s=_st: mx.nd.sparse.FullyConnected(
            make(mx, s), mx.nd.array(rng(3, 4)), mx.nd.zeros(3), num_hidden=3
        ),
    )
    for _to in ("default", _st):
        case(
            f"cast_storage {_st} {_to}", lambda mx, s=_st, t=_to: mx.nd.cast_storage(make(mx, s), t)
        )
        case(f"tostype {_st} {_to}", lambda mx, s=_st, t=_to: make(mx, s).tostype(t))
    for _dtype in ("float16", "float64", "int32"):
        case(f"astype {_st} {_dtype}", lambda mx, s=_st, d=_dtype: make(mx, s).astype(d))
    case(f"copy {_st}", lambda mx, s=_st: make(mx, s).copy())
    case(f"[:] {_st}", lambda mx, s=_st: make(mx, s)[:])
    case(f"zeros {_st}", lambda mx, s=_st: mx.nd.zeros((3, 2), stype=s))
    case(f"nd.array {_st}", lambda mx, s=_st: mx.nd.array(make(mx, s)))
    case(f"sum() {_st}", lambda mx, s=_st: make(mx, s).sum())
    case(f"T {_st}", lambda mx, s=_st: make(mx, s).T)
    case(f"maximum {_st}", lambda mx, s=_st: mx.nd.maximum(make(mx, s), make(mx, s, OTHER)))
for _key in (slice(1, 3), 1, 2, -1, slice(3, 3), slice(2, None), slice(None, -1)):
    case(f"csr[{_key}]", lambda mx, k=_key: make(mx, "csr")[k])
for _rows in ([0, 3, 4], [4, 0], [1], [2, 2]):
    if _rows != [2, 2] and _rows == sorted(_rows):
        case(
            f"retain {_rows}",
            lambda mx, r=_rows: mx.nd.sparse.retain(make(mx, "row_sparse"), mx.nd.array(r)),
        )
case(
    "Embedding of row_sparse",
    lambda mx: mx.nd.sparse.Embedding(
        mx.nd.array([0, 2, 1]), make(mx, "row_sparse"), input_dim=5, output_dim=4
    ),
)
case(
    "_scatter_elemwise_div",
    lambda mx: internal(mx)._scatter_elemwise_div(
        make(mx, "row_sparse"), make(mx, "row_sparse", MATRIX + 1)
    ),
)
case("getnnz", lambda mx: mx.nd.contrib.getnnz(make(mx, "csr")))
case("getnnz 1", lambda mx: mx.nd.contrib.getnnz(make(mx, "csr"), axis=1))
case(
    "edge_id",
    lambda mx: mx.nd.contrib.edge_id(
        make(mx, "csr"), mx.nd.array([0, 1, 2]), mx.nd.array([1, 1, 3])
    ),
)
case(
    "cast_storage NaN and -0",
    lambda mx: mx.nd.array([[np.nan], [0], [-0.0]]).tostype("row_sparse"),
)
case("cast_storage of 3 axes", lambda mx: mx.nd.array(rng(3, 2, 2)).tostype("row_sparse"))

_PARTS = (np.array([1, 2, 3], np.float32), np.array([0, 2, 1]), np.array([0, 2, 2, 3]))
case("csr_matrix parts", lambda mx: mx.nd.sparse.csr_matrix(_PARTS, shape=(3, 4)))
case("csr_matrix parts without shape", lambda mx: mx.nd.sparse.csr_matrix(_PARTS))
case("csr_matrix lists", lambda mx: mx.nd.sparse.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3])))
case("csr_matrix float64", lambda mx: mx.nd.sparse.csr_matrix(MATRIX.astype(np.float64)))
case("csr_matrix int32", lambda mx: mx.nd.sparse.csr_matrix(MATRIX.astype(np.int32)))
case("csr_matrix nested lists", lambda mx: mx.nd.sparse.csr_matrix([[0, 1], [2, 0]]))
case("csr_matrix shape", lambda mx: mx.nd.sparse.csr_matrix((3, 4)))
case("csr_matrix csr", lambda mx: mx.nd.sparse.csr_matrix(make(mx, "csr")))
_ROWS = np.ones((2, 3), np.float32)
case("row_sparse_array", lambda mx: mx.nd.sparse.row_sparse_array((_ROWS, [1, 3]), shape=(5, 3)))
case("row_sparse_array no shape", lambda mx: mx.nd.sparse.row_sparse_array((_ROWS, [1, 3])))
case("row_sparse_array dense", lambda mx: mx.nd.sparse.row_sparse_array(MATRIX))
case("row_sparse_array shape", lambda mx: mx.nd.sparse.row_sparse_array((3, 4, 2)))
case("row_sparse_array one axis", lambda mx: mx.nd.sparse.row_sparse_array(np.array([0, 1, 0.0])))


def _gradient(function: Callable[[Any, Any], Any], stype: str, grad_stype: str | None) -> Case:
    def run(mx: Any) -> Any:
        x = make(mx, stype)
        x.attach_grad(stype=grad_stype)
        with mx.autograd.record():
            y = function(mx, x)
        y.backward()
        return [y, x.grad]

    return run


_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "retain": lambda mx, x: mx.nd.sparse.retain(x, mx.nd.array([0, 1, 2])),
    "square sum": lambda mx, x: internal(mx)._square_sum(x, axis=1),
    "square sum kept": lambda mx, x: internal(mx)._square_sum(x, axis=(1,), keepdims=True),
    "abs": lambda mx, x: mx.nd.sparse.abs(x),
    "sum": lambda mx, x: mx.nd.sparse.sum(x, axis=1),
    "mean": lambda mx, x: mx.nd.sparse.mean(x),
    "norm": lambda mx, x: mx.nd.sparse.norm(x),
    "add_n": lambda mx, x: mx.nd.sparse.add_n(x, x),
    "x + x": lambda mx, x: x + x,
    "x * row_sparse": lambda mx, x: x * make(mx, "row_sparse"),
    "x * dense": lambda mx, x: x * make(mx, "default"),
    "clip": lambda mx, x: mx.nd.sparse.clip(x, -1, 3),
    "relu": lambda mx, x: mx.nd.sparse.relu(x),
    "zeros_like": lambda mx, x: mx.nd.sparse.zeros_like(x),
    "stop_gradient": lambda mx, x: mx.nd.sparse.stop_gradient(x) + x,
    "exp": lambda mx, x: mx.nd.sparse.exp(x),
    "x / 2": lambda mx, x: x / 2,
    "dense": lambda mx, x: x.tostype("default"),
    "copy": lambda mx, x: x.copy(),
}
for _name, _function in _FUNCTIONS.items():
    case(f"gradient {_name}", _gradient(_function, "row_sparse", None))
for _st in (None, "default", "row_sparse", "csr"):  # type: ignore[assignment]
    case(
        f"gradient of csr dot w, {_st}",
        _gradient(lambda mx, x: mx.nd.sparse.dot(make(mx, "csr", rng(3, 5)), x), "default", _st),
    )
    case(f"gradient of 2 w, {_st}", _gradient(lambda mx, x: x * 2, "default", _st))
case("gradient of csr square", _gradient(lambda mx, x: x.square(), "csr", None))
case("gradient of cast", _gradient(lambda mx, x: x.tostype("csr") * 2, "default", None))


def _lookup(mx: Any, x: Any) -> Any:
    indices = mx.nd.array([[1, 3], [1, 0]])
    return mx.nd.Embedding(indices, x, input_dim=5, output_dim=4, sparse_grad=True) * 2


case("gradient Embedding", _gradient(_lookup, "default", "row_sparse"))
case(
    "gradient SparseEmbedding",
    _gradient(
        lambda mx, x: mx.nd.contrib.SparseEmbedding(
            mx.nd.array([2, 4, 4]), x, input_dim=5, output_dim=4
        ),
        "default",
        "row_sparse",
    ),
)


def _update(name: str, states: int, weight: str, state: str, **attributes: Any) -> Case:
    def run(mx: Any) -> Any:
        w = make(mx, weight, np.arange(1, 11, dtype=np.float32).reshape(5, 2))
        rows = np.array([[1, 2], [3, 4]], np.float32)
        g = mx.nd.sparse.row_sparse_array((rows, [1, 3]), shape=(5, 2))
        kept = [make(mx, state, np.full((5, 2), 0.5, np.float32)) for _ in range(states)]
        getattr(mx.nd.sparse, name)(w, g, *kept, out=w, lr=0.1, **attributes)
        return [w, *kept]

    return run


_UPDATES: Any = (
    ("sgd_update", 0, {"wd": 0.1, "rescale_grad": 0.5}),
    ("sgd_update", 0, {"wd": 0.1, "lazy_update": False}),
    ("sgd_mom_update", 1, {"wd": 0.1, "momentum": 0.9, "clip_gradient": 2.5}),
    ("sgd_mom_update", 1, {"wd": 0.1, "momentum": 0.9, "lazy_update": False}),
    ("adam_update", 2, {"wd": 0.1}),
    ("adam_update", 2, {"wd": 0.1, "lazy_update": False}),
    ("ftrl_update", 2, {"wd": 0.1}),
    ("adagrad_update", 1, {}),
)
for _name, _count, _attributes in _UPDATES:
    for _weight in ("default", "row_sparse"):
        for _state in ("default", "row_sparse"):
            if _name == "adagrad_update" and _weight != _state:
                continue
            _word = "lazy" if _attributes.get("lazy_update", True) else "full"
            case(
                f"{_name} {_word} {_weight} {_state}",
                _update(_name, _count, _weight, _state, **_attributes),
            )
case(
    "group_adagrad_update",
    lambda mx: _group_adagrad(mx),
)


def _group_adagrad(mx: Any) -> Any:
    w = mx.nd.array(np.arange(1, 11).reshape(5, 2))
    rows = np.array([[1, 2], [3, 4]], np.float32)
    g = mx.nd.sparse.row_sparse_array((rows, [1, 3]), shape=(5, 2))
    history = mx.nd.ones((5, 1))
    mx.nd.contrib.group_adagrad_update(w, g, history, lr=0.1, out=w)
    return [w, history]


def _train(optimizer: str, settings: dict[str, Any], *, hybridize: bool = False) -> Case:
    def run(mx: Any) -> Any:
        net = mx.gluon.nn.Embedding(6, 3, sparse_grad=True)
        net.initialize(mx.init.Constant(0.5))
        if hybridize:
            net.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), optimizer, settings)
        for rows in ([1, 3, 1], [2, 3, 5], [0, 1, 1]):
            scale = mx.nd.array(rng(3, 3))
            with mx.autograd.record():
                loss = (net(mx.nd.array(rows)) * scale).sum()
            loss.backward()
            trainer.step(2)
        return [net.weight.data(), net.weight.grad()]

    return run


_OPTIMIZERS = {
    "sgd": {"learning_rate": 0.1, "wd": 0.01},
    "sgd momentum": {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
    "sgd not lazy": {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01, "lazy_update": False},
    "adam": {"learning_rate": 0.1, "wd": 0.01},
    "adam not lazy": {"learning_rate": 0.1, "wd": 0.01, "lazy_update": False},
    "adagrad": {"learning_rate": 0.1},
    "rmsprop": {"learning_rate": 0.1},
}
for _name, _settings in _OPTIMIZERS.items():
    for _hybrid in (False, True):
        case(
            f"train {_name} {'hybrid' if _hybrid else 'eager'}",
            _train(_name.split()[0], _settings, hybridize=_hybrid),
        )


def _row_sparse_parameter(contexts: int) -> Case:
    def run(mx: Any) -> Any:
        devices = [mx.cpu(i) for i in range(contexts)]
        weight = mx.gluon.Parameter(
            "w", shape=(5, 2), stype="row_sparse", grad_stype="row_sparse", init="ones"
        )
        weight.initialize(ctx=devices)
        trainer = mx.gluon.Trainer([weight], "sgd", {"learning_rate": 0.5, "momentum": 0.9})
        found = []
        for step in range(3):
            heads = []
            for device in devices:
                x = mx.nd.array([[1, 2, 0, 0, 0], [0, 0, step, 0, 0]], ctx=device).tostype("csr")
                w = weight.row_sparse_data(mx.nd.array([0, 1, 2], ctx=device))
                with mx.autograd.record():
                    heads.append(mx.nd.sparse.dot(x, w))
            mx.autograd.backward(heads)
            trainer.step(1)
        rows = mx.nd.array([0, 1, 2, 4], ctx=devices[0])
        found.append(weight.row_sparse_data(rows))
        found.append(weight.grad(devices[0]))
        return found

    return run


case("train row_sparse parameter", _row_sparse_parameter(1))
case("train row_sparse parameter on 2 devices", _row_sparse_parameter(2))


def _store(mx: Any) -> Any:
    store = mx.kv.create("local")
    rows = np.ones((2, 2), np.float32)
    store.init("a", mx.nd.sparse.row_sparse_array((rows, [1, 3]), shape=(5, 2)))
    store.init("b", mx.nd.ones((5, 2)))
    found = []

    def pull(row_ids: Any) -> None:
        out = mx.nd.sparse.zeros("row_sparse", (5, 2))
        store.row_sparse_pull("a", out=out, row_ids=mx.nd.array(row_ids))
        found.append(out)

    pull([1, 2, 1])
    pull([3, 0])
    outs = [mx.nd.sparse.zeros("row_sparse", (5, 2)) for _ in range(2)]
    store.row_sparse_pull("a", out=outs, row_ids=[mx.nd.array([1]), mx.nd.array([3])])
    found += outs
    outs = [mx.nd.sparse.zeros("row_sparse", (5, 2)) for _ in range(2)]
    store.row_sparse_pull("a", out=outs, row_ids=mx.nd.array([1, 2]))
    found += outs
    ignored = mx.nd.sparse.zeros("row_sparse", (5, 2))
    store.pull("a", out=ignored)
    whole = mx.nd.sparse.zeros("row_sparse", (5, 2))
    store.pull("a", out=whole, ignore_sparse=False)
    found += [ignored, whole]
    grad = mx.nd.sparse.row_sparse_array((rows * 2, [1, 4]), shape=(5, 2))
    store.push("a", [grad, grad])
    pull([0, 1, 2, 3, 4])
    store.push("b", [grad, grad])
    dense = mx.nd.zeros((5, 2))
    store.pull("b", out=dense)
    found.append(dense)
    return found


case("kvstore", _store)
