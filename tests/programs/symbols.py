"""Symbols put together by hand: names, attributes, shapes, groups, evaluation."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    with mx.name.NameManager():  # so that numbers in names begin at 0
        return compose(mx)


def compose(mx: ModuleType) -> dict[str, Any]:
    sym = mx.sym
    data, label = sym.var("data"), sym.Variable("label", shape=(4,))
    with mx.AttrScope(ctx_group="body", lr_mult="2"):
        hidden = sym.FullyConnected(data, num_hidden=6, name="fc1")
    act = sym.Activation(hidden, act_type="relu", name="act")
    with mx.name.Prefix("tail_"):
        scores = sym.FullyConnected(act, num_hidden=3, no_bias=True)
    net = sym.SoftmaxOutput(scores, label, name="softmax")
    group = sym.Group([net, sym.BlockGrad(act), (hidden * 2 + 1) / 3])
    arguments, outputs, auxiliary = net.infer_shape(data=(4, 5))
    partial = sym.relu(data).infer_shape_partial()
    twice = sym.relu(sym.var("z")) + 1
    composed = twice(z=act, name="composed")
    a, b = sym.var("a"), sym.var("b")
    mixed = sym.concat(sym.broadcast_add(a, b), a - b, dim=1)
    value = mixed.eval(ctx=mx.cpu(), a=mx.nd.array(normal(1, 2, 3)), b=mx.nd.array(normal(2, 2, 3)))
    reloaded = sym.load_json(net.tojson())
    return {
        "arguments": net.list_arguments(),
        "outputs": group.list_outputs(),
        "internals": group.get_internals().list_outputs(),
        "shapes": str((arguments, outputs, auxiliary)),
        "partial": str(partial),
        "types": str([[t.__name__ for t in ts] for ts in act.infer_type(data="float32")]),
        "attributes": str(sorted(hidden.list_attr().items())),
        "all attributes": str(sorted((k, sorted(v.items())) for k, v in net.attr_dict().items())),
        "composed": composed.list_arguments(),
        "name": f"{net.name} {group.name} {composed.name}",
        "reprs": [repr(net), repr(group), repr(a)],
        "children": net.get_children().list_outputs(),
        "count": len(group.list_outputs()),
        "second": group[1].list_outputs(),
        "value": value[0].asnumpy(),
        "reloaded": reloaded.list_arguments(),
        "same": reloaded.tojson() == net.tojson(),
    }
