"""Small programs around Blocks; each gets the package, MXNet's or this one, and tells what it saw.

They give text, names and shapes, as JSON has them. `make_blocks.py` runs them in MXNet 1.9.1, and
tests/gluon/block/test_programs.py here.
"""

import contextlib
import io
import os
import tempfile


def _network(mx, prefix, params=None):
    """Return a network in the style of 1.x with children in two depths and a parameter."""
    nn = mx.gluon.nn

    class Net(mx.gluon.HybridBlock):  # type: ignore[name-defined]
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.stem = nn.Dense(4, in_units=3, activation="relu")
                self.stack = nn.HybridSequential()
                with self.stack.name_scope():
                    self.stack.add(nn.Dense(4, in_units=4), nn.BatchNorm(in_channels=4))
                self.again = nn.Dense(4, in_units=4, params=self.stack[0].params)
                self.scale = self.params.get("scale", shape=(1, 4), init="ones")

        def hybrid_forward(self, F, x, scale):
            return F.broadcast_mul(self.again(self.stack(self.stem(x))), scale)

    return Net(prefix=prefix, params=params)


def _ready(mx, prefix="net_"):
    net = _network(mx, prefix)
    net.initialize()
    return net


def names(mx):
    """Prefixes, names and parameters of nested, unnamed and sharing blocks."""
    net = _network(mx, "net_")
    other = _network(mx, "other_", net.collect_params())
    partly = _network(mx, "partly_", net.params)
    empty = mx.gluon.nn.Dense(2, prefix="")
    return {
        "own": [*net.params.keys()],
        "all": [*net.collect_params().keys()],
        "prefixes": [block.prefix for block in (net, net.stem, net.stack, net.stack[0], net.again)],
        "names": [block.name for block in (net, net.stem, net.stack[0], empty)],
        "shared": [*other.collect_params().keys()],
        "shared prefixes": [other.prefix, other.params.prefix, other.stem.params.prefix],
        "shared by own": [*partly.collect_params().keys()],
        "same": other.stem.weight is net.stem.weight,
        "empty": [empty.prefix, *empty.collect_params().keys()],
    }


def representations(mx):
    """How a network and its parameters print."""
    net = _network(mx, "net_")
    return [repr(net), repr(net.stack), repr(net.params), repr(net.collect_params(".*bias"))]


def selections(mx):
    """Parameters by a regular expression."""
    net = _network(mx, "net_")
    words = (
        ".*weight",
        ".*weight|.*bias",
        "net_scale",
        "weight",
        "net_dense0",
        "net_dense.*s$",
        "",
    )
    return {word: [*net.collect_params(word).keys()] for word in words}


def children(mx):
    """Children after attributes were replaced and blocks registered by hand."""
    nn = mx.gluon.nn
    net = _network(mx, "net_")
    net.stem = nn.Dense(7, in_units=3, prefix="new_")
    net.register_child(nn.Activation("relu"))
    net.register_child(nn.Activation("tanh"), "tail")
    net.register_child(nn.Activation("sigmoid"), "tail")
    return [[*net._children], [*net.collect_params().keys()], repr(net)]


def application(mx):
    """The order in which `apply` visits blocks."""
    seen = []
    _network(mx, "net_").apply(lambda block: seen.append(block.name))
    return seen


def hooks(mx):
    """What hooks get, in their order, while some are taken off."""
    net, seen = _ready(mx), []

    def before(word):
        return lambda block, inputs: seen.append([word, block.name, type(inputs).__name__])

    def after(word):
        return lambda block, inputs, output: seen.append([word, block.name, str(output.shape)])

    net.register_forward_hook(after("after 1"))
    net.register_forward_pre_hook(before("before 1"))
    second = net.register_forward_hook(after("after 2"))
    net.stem.register_forward_pre_hook(before("stem"))
    net.stack[0].register_forward_hook(after("dense"))
    x = mx.nd.ones((2, 3))
    net(x)
    second.detach()
    with net.register_forward_pre_hook(before("within")):
        net(x)
    net(x)
    return seen


def file_names(mx):
    """Names of arrays in all the files that a network writes."""
    net = _ready(mx)
    net.hybridize()
    net(mx.nd.ones((2, 3)))
    found = {}
    with tempfile.TemporaryDirectory() as folder:

        def listed(name):
            return sorted(mx.nd.load(os.path.join(folder, name)))

        net.save_parameters(os.path.join(folder, "all"))
        net.save_parameters(os.path.join(folder, "once"), deduplicate=True)
        net.collect_params().save(os.path.join(folder, "collected"))
        net.collect_params().save(os.path.join(folder, "stripped"), strip_prefix="net_")
        net.export(os.path.join(folder, "exported"), 7)
        for name in ("all", "once", "collected", "stripped", "exported-0007.params"):
            found[name] = listed(name)
        found["files"] = sorted(os.listdir(folder))
    return found


def symbol_blocks(mx):
    """Parameters of SymbolBlocks, and their names in files."""
    sym = mx.sym
    x = sym.var("data")
    first = sym.FullyConnected(x, num_hidden=3, name="s_dense0")
    graphs = {
        "layer": first,
        "two": sym.FullyConnected(first, num_hidden=3, name="s_dense1"),
        "nothing in common": sym.FullyConnected(first, num_hidden=3, name="z_dense1"),
        "normalized": sym.BatchNorm(
            sym.FullyConnected(x, num_hidden=3, no_bias=True, name="s_d"), name="s_bn"
        ),
        "several": [sym.relu(first), first],
    }
    found = {}
    for word, outputs in graphs.items():
        block = mx.gluon.SymbolBlock(outputs, [x])
        block.initialize()
        block(mx.nd.ones((1, 4)))
        shapes = [[name, str(p.shape)] for name, p in block.collect_params().items()]
        requests = [p.grad_req for p in block.collect_params().values()]
        found[word] = [shapes, requests, [*block._collect_params_with_prefix()]]
    return found


def casts(mx):
    """Types of parameters after casts, before and after `initialize` and `hybridize`."""
    seen = []
    net = _network(mx, "net_")

    def note():
        kinds = [p.dtype for p in net.collect_params().values()]
        seen.append([kind if isinstance(kind, str) else kind.__name__ for kind in kinds])

    net.cast("float16")
    note()
    net.initialize()
    net.cast("float64")
    note()
    net.hybridize()
    seen.append(net(mx.nd.ones((2, 3), dtype="float64")).dtype.__name__)
    net.cast("float32")
    note()
    seen.append(net(mx.nd.ones((2, 3))).dtype.__name__)
    return seen


def shapes(mx):
    """Shapes found by `infer_shape`."""
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Dense(2), nn.LayerNorm())
    before = [str(p.shape) for p in net.collect_params().values()]
    net.infer_shape(mx.nd.ones((2, 3, 8, 8)))
    return [before, [str(p.shape) for p in net.collect_params().values()]]


def summaries(mx):
    """Tables of `summary`."""
    nn = mx.gluon.nn

    class Pair(mx.gluon.Block):  # type: ignore[name-defined]
        def forward(self, x, y):
            return [x, (y, x)]

    def table(block, *inputs):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            block.summary(*inputs)
        return out.getvalue()

    ones = mx.nd.ones
    net = _ready(mx)
    net.collect_params("net_dense0").setattr("grad_req", "null")
    lstm = mx.gluon.rnn.LSTM(3, input_size=4, prefix="lstm_")
    lstm.initialize()
    lazy = nn.HybridSequential(prefix="lazy_")
    with lazy.name_scope():
        lazy.add(nn.Conv2D(4, 3), nn.Flatten(), nn.Dense(2))
    lazy.initialize()
    return [
        table(net, ones((2, 3))),
        table(lstm, ones((2, 1, 4)), lstm.begin_state(batch_size=1)),
        table(Pair(), ones((1,)), ones((2, 3))),
        table(lazy, ones((1, 3, 8, 8))),
    ]


PROGRAMS = (
    names,
    representations,
    selections,
    children,
    application,
    hooks,
    file_names,
    symbol_blocks,
    casts,
    shapes,
    summaries,
)
