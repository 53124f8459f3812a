"""Uses of Parameters and ParameterDicts, each a function of the module: MXNet's, or ours."""

from collections.abc import Callable
from typing import Any

CASES: dict[str, Callable[[Any], Any]] = {}


def outcome(case: Callable[[Any], Any], mx: Any, errors: type[Exception] = Exception) -> Any:
    """Return what a case gives as plain data; ``"refused"`` for an error of these."""
    try:
        return plain(case(mx))
    except errors:
        return "refused"


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "asnumpy"):
        return [
            value.stype,
            str(value.context),
            str(value.asnumpy().dtype),
            value.asnumpy().tolist(),
        ]
    return value if isinstance(value, int | float | str | None) else str(value)


def made(mx: Any, shape: Any = (2, 3), ctx: Any = None, init: Any = "ones", **kwargs: Any) -> Any:
    parameter = mx.gluon.Parameter("w", shape=shape, **kwargs)
    parameter.initialize(init, ctx=ctx)
    return parameter


def dictionary(mx: Any, prefix: str = "net_", shared: Any = None) -> Any:
    params = mx.gluon.ParameterDict(prefix, shared=shared)
    params.get("w", shape=(2, 3))
    params.get("b", shape=(2,), init="zeros")
    return params


def reshaped(mx: Any, before: Any, after: Any) -> Any:
    parameter = mx.gluon.Parameter("w", shape=before, allow_deferred_init=True)
    parameter.shape = after
    return parameter.shape


def in_np_shape(mx: Any, use: Callable[[], Any]) -> Any:
    with mx.util.np_shape(True):
        return use()


def started(mx: Any, own: Any, given: Any, default: Any) -> Any:
    parameter = mx.gluon.Parameter("w", shape=(2,), init=own)
    parameter.initialize(init=given, default_init=default)
    return parameter.data()


def requests(mx: Any, *sequence: str) -> list[Any]:
    parameter, seen = made(mx), []
    for grad_req in sequence:
        parameter.grad_req = grad_req
        seen.append([parameter.grad_req, parameter._grad is None])
    return seen


def moved(mx: Any, *places: Any, **kwargs: Any) -> list[Any]:
    parameter = made(mx, (1, 2), **kwargs)
    for place in places:
        parameter.reset_ctx(place)
    return [parameter.list_ctx(), parameter.list_data(), parameter.list_grad()]


def filled(mx: Any, values: Any, **kwargs: Any) -> Any:
    parameter = made(mx, ctx=[mx.cpu(0), mx.cpu(1)], **kwargs)
    parameter.set_data(values)
    if parameter._deferred_init:
        parameter._finish_deferred_init()
    return parameter.list_data()


def cast_to(mx: Any, dtype: str, **kwargs: Any) -> Any:
    parameter = made(mx, **kwargs)
    parameter.cast(dtype)
    if parameter._deferred_init:
        parameter.shape = (2, 3)
        parameter._finish_deferred_init()
    return [parameter.dtype, parameter.data(), parameter.grad()]


def again(mx: Any, name: str = "w", **kwargs: Any) -> Any:
    params = dictionary(mx)
    found = params.get(name, **kwargs)
    return [found is params["net_" + name], found.shape, found.lr_mult, found.grad_req]


def pulled(mx: Any) -> Any:
    parameter = mx.gluon.Parameter("w", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
    parameter.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
    mx.gluon.Trainer([parameter], "sgd")
    rows = parameter.row_sparse_data(mx.nd.array([3, 1, 1]))
    parameter.set_data(mx.nd.full((4, 2), 5))
    every = parameter.list_row_sparse_data(mx.nd.array([0]))
    return [rows, every[0].indices, every]


def add(name: str, case: Callable[[Any], Any]) -> None:
    CASES[name] = case


for before, after in (
    *(((2, 0), (2, 3)), ((2, 0), (3, 3)), ((2, 3), (0, 3)), ((2, 3), (2, 3)), ((2, -1), (2, 3))),
    *((None, (2, 3)), ((2, 0), (2,)), ((2, 0), (2, -1)), ((2, -1), (2, 0)), (3, (3,))),
):
    add(f"shape {before} {after}", lambda mx, b=before, a=after: reshaped(mx, b, a))
    add(
        f"np shape {before} {after}",
        lambda mx, b=before, a=after: in_np_shape(mx, lambda: reshaped(mx, b, a)),
    )
for shape in ((2, 0), (2, -1), (), (2, 3), None):
    for deferred in (False, True):
        use = f"{shape} {deferred}"
        add(
            f"initialize {use}",
            lambda mx, s=shape, d=deferred: made(mx, s, allow_deferred_init=d).data(),
        )
        add(
            f"np initialize {use}",
            lambda mx, s=shape, d=deferred: in_np_shape(
                mx, lambda: made(mx, s, allow_deferred_init=d).data().shape
            ),
        )
for own in (None, "ones"):
    for given in (None, "zeros"):
        for default in ("ones", "zeros"):
            add(
                f"order {own} {given} {default}",
                lambda mx, o=own, g=given, d=default: started(mx, o, g, d),
            )
add("requests", lambda mx: requests(mx, "null", "write", "add", "null", "add", "write"))
add("request for what", lambda mx: requests(mx, "foo"))
add("no gradient", lambda mx: made(mx, grad_req="null").grad())
add("not differentiable", lambda mx: made(mx, differentiable=False).grad_req)
add("move", lambda mx: moved(mx, mx.cpu(1)))
add("move to several", lambda mx: moved(mx, [mx.cpu(0), mx.cpu(2)]))
add("move to several and back", lambda mx: moved(mx, [mx.cpu(0), mx.cpu(1)], mx.cpu(2)))
add("move to the current", lambda mx: moved(mx, None, ctx=[mx.cpu(0), mx.cpu(1)]))
add("move before", lambda mx: mx.gluon.Parameter("w", shape=(2,)).reset_ctx(mx.cpu(1)))
add("set", lambda mx: filled(mx, mx.nd.full((2, 3), 7)))
add("set float64", lambda mx: filled(mx, mx.nd.full((2, 3), 7, dtype="float64")))
add("set other shape", lambda mx: filled(mx, mx.nd.ones((3, 3))))
for shape in ((2, 0), None, (3, 0)):
    add(
        f"set deferred {shape}",
        lambda mx, s=shape: filled(mx, mx.nd.full((2, 2), 7), shape=s, allow_deferred_init=True),
    )
for dtype in ("float16", "float64", "int32"):
    add(f"cast {dtype}", lambda mx, d=dtype: cast_to(mx, d))
    add(
        f"cast deferred {dtype}",
        lambda mx, d=dtype: cast_to(mx, d, shape=(2, 0), allow_deferred_init=True),
    )
for kwargs in (
    *({}, {"shape": (2, 3)}, {"shape": (2, 4)}, {"shape": (0, 3)}, {"shape": (2, 3, 4)}),
    *({"dtype": "float32"}, {"dtype": "float16"}, {"init": "ones"}, {"lr_mult": 2.0}),
    *({"grad_req": "null"}, {"allow_deferred_init": True}, {"differentiable": False}),
):
    add(f"get {kwargs}", lambda mx, k=kwargs: again(mx, **k))
    add(f"get b {kwargs}", lambda mx, k=kwargs: again(mx, "b", **k))
add("variable", lambda mx: made(mx, (2, 3), lr_mult=2.0, wd_mult=0.5).var().attr_dict())
add("rows", pulled)
add("rows as a whole", lambda mx: made(mx, stype="row_sparse").data())
add("dense rows", lambda mx: made(mx).row_sparse_data(mx.nd.array([0])))
add("shared", lambda mx: list(dictionary(mx, "net_", dictionary(mx)).keys()))
add("other device", lambda mx: made(mx).data(mx.cpu(1)))
add("one device of two", lambda mx: made(mx, ctx=[mx.cpu(0), mx.cpu(1)]).data())
add("none of two", lambda mx: made(mx, ctx=[mx.cpu(1), mx.cpu(2)]).data())
add("constant", lambda mx: mx.gluon.Constant("c", [[1, 2]]).value)
add("constant float64", lambda mx: mx.gluon.Constant("c", mx.nd.array([1], dtype="float64")).dtype)
