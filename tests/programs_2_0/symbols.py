import json

import mxnet as mx
import numpy as onp
from mxnet import np, npx

from tests.programs_2_0.errors import error


def _mlp():
    data = mx.sym.var("data")
    h = mx.sym.FullyConnected(data, num_hidden=3, name="fc1")
    h = mx.sym.Activation(h, act_type="relu", name="act")
    return mx.sym.FullyConnected(h, num_hidden=2, name="fc2")


def arguments_and_outputs():
    s = _mlp()
    return s.list_arguments(), s.list_outputs(), s.name, s.list_auxiliary_states()


def shapes_inferred():
    return _mlp().infer_shape(data=(4, 5))


def shapes_inferred_partly():
    s = mx.sym.var("a") + mx.sym.var("b")
    return s.infer_shape_partial(a=(2, 3))


def shapes_in_conflict():
    return error(_mlp().infer_shape, data=(4, 5), fc1_weight=(3, 6))


def types_inferred():
    args, outs, aux = _mlp().infer_type(data="float32")
    return [onp.dtype(t).name for t in args], [onp.dtype(t).name for t in outs]


def internals():
    s = _mlp()
    inner = s.get_internals()
    return inner.list_outputs(), inner["act_output"].list_arguments(), len(inner.list_outputs())


def grouped():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    g = mx.sym.Group([a + b, a * b])
    return len(g), g.list_outputs()[:0], g[0].list_arguments(), g.list_arguments()


def json_round_trip():
    s = _mlp()
    t = mx.sym.fromjson(s.tojson()) if hasattr(mx.sym, "fromjson") else mx.sym.load_json(s.tojson())
    return t.list_arguments(), t.list_outputs(), sorted(json.loads(s.tojson()))


def saved_and_loaded():
    _mlp().save("s.json")
    return mx.sym.load("s.json").list_arguments()


def attributes():
    a = mx.sym.var("a", shape=(2, 3), lr_mult=2.0)
    with mx.AttrScope(group="4"):
        b = mx.sym.var("b")
    return a.attr("__shape__"), a.attr("__lr_mult__"), b.attr("group"), a.attr("nothing")


def attribute_dictionary():
    s = _mlp()
    return s.attr_dict()["fc1"]["num_hidden"], s.list_attr()["num_hidden"]


def names_by_prefix():
    with mx.name.Prefix("net_"):
        s = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=1, name="fc")
    return s.list_arguments()


def executor_forward():
    s = mx.sym.var("a") * 2 + mx.sym.var("b")
    e = (
        s._bind(mx.cpu(), {"a": mx.nd.ones((2,)), "b": mx.nd.ones((2,)) * 3})
        if hasattr(s, "_bind")
        else s.bind(mx.cpu(), {"a": mx.nd.ones((2,)), "b": mx.nd.ones((2,)) * 3})
    )
    return e.forward()


def executor_backward():
    s = mx.sym.var("a") * mx.sym.var("b")
    args = {"a": mx.nd.array([1.0, 2.0]), "b": mx.nd.array([3.0, 4.0])}
    grads = {"a": mx.nd.zeros((2,)), "b": mx.nd.zeros((2,))}
    bind = getattr(s, "_bind", None) or s.bind
    e = bind(mx.cpu(), args, args_grad=grads)
    e.forward(is_train=True)
    e.backward([mx.nd.ones((2,))])
    return e.grad_dict["a"], e.grad_dict["b"]


def simple_bind():
    s = _mlp()
    bind = getattr(s, "_simple_bind", None) or s.simple_bind
    e = bind(mx.cpu(), data=(2, 4))
    for value in e.arg_dict.values():
        value[:] = 0.5
    return e.forward()[0], sorted(e.arg_dict), [o.shape for o in e.outputs]


def evaluation():
    s = mx.sym.var("a") + 1
    return s.eval(device=mx.cpu(), a=mx.nd.ones((2,))) if True else 0


def compose():
    a = mx.sym.var("a") * 2
    b = mx.sym.var("b") + 1
    return b(b=a).list_arguments()


def arithmetic_of_symbols():
    a = mx.sym.var("a")
    bind = (a + 1)._bind
    found = []
    for s in (a + 1, 1 - a, a * 2, 2 / a, a**2, -a, a > 1, a == 2):
        found += s._bind(mx.cpu(), {"a": mx.nd.array([1.0, 2.0])}).forward()
    return found, bind is not None


def numpy_symbols():
    a = mx.sym.var("a").as_np_ndarray()
    s = mx.sym.np.exp(a) + 1
    return isinstance(s, mx.sym.Symbol), s._bind(mx.cpu(), {"a": np.zeros(2)}).forward()


def numpy_extension_symbols():
    a = mx.sym.var("a").as_np_ndarray()
    s = mx.sym.npx.relu(a)
    return s.list_arguments(), type(s.as_nd_ndarray()).__name__


def iteration_of_outputs():
    s = mx.sym.split(mx.sym.var("a"), num_outputs=2, axis=1)
    return len(s), [o.list_arguments() for o in s]


def variable_errors():
    return error(mx.sym.var, 5), error(mx.sym.Group, [1, 2]), error(lambda: bool(mx.sym.var("a")))


def batch_norm_states():
    s = mx.sym.BatchNorm(mx.sym.var("x"), name="bn")
    return s.list_arguments(), s.list_auxiliary_states()


def symbol_repr():
    return repr(_mlp()), repr(mx.sym.Group([mx.sym.var("a"), mx.sym.var("b")]))


def children_of_symbol():
    s = _mlp()
    return s.get_children().list_outputs(), mx.sym.var("a").get_children()


def zeros_and_ones_symbols():
    return mx.sym.zeros((2,)).eval(device=mx.cpu()), mx.sym.arange(0, 3).eval(device=mx.cpu())


def visualization_summary():
    return mx.viz.print_summary(_mlp(), shape={"data": (1, 4)})


def symbol_of_convolution():
    s = mx.sym.Convolution(mx.sym.var("x"), kernel=(3, 3), num_filter=2, name="c")
    return s.infer_shape(x=(1, 3, 5, 5))


def symbols_to_block():
    from mxnet import gluon

    npx.reset_np()
    net = gluon.SymbolBlock(_mlp(), mx.sym.var("data"))
    net.initialize(mx.init.One())
    y = net(mx.nd.ones((1, 2)))
    npx.set_np()
    return y, sorted(net.collect_params())


def shared_variable():
    w = mx.sym.var("w")
    a = mx.sym.FullyConnected(mx.sym.var("x"), weight=w, no_bias=True, num_hidden=2)
    b = mx.sym.FullyConnected(a, weight=w, no_bias=True, num_hidden=2)
    return b.list_arguments()


def attribute_setting():
    s = mx.sym.var("a")
    s._set_attr(mood="calm")
    return s.attr("mood")


def gradient_of_symbol_missing():
    return hasattr(mx.sym.Symbol, "grad") or hasattr(mx.sym.Symbol, "gradient")
