"""What is printed: blocks, parameters, arrays, losses, trainers' complaints, hooks' reports."""

from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal


def layers(nn: Any) -> list[Any]:
    return [
        nn.Dense(3),
        nn.Dense(3, in_units=2, use_bias=False, activation="relu"),
        nn.Conv1D(2, 3, in_channels=4),
        nn.Conv2D(2, (3, 1), (1, 2), (1, 0), dilation=2, groups=2, use_bias=False),
        nn.Conv3D(2, 3, layout="NCDHW", activation="tanh"),
        nn.Conv2DTranspose(4, 3, 2, 1, 1, in_channels=2),
        nn.MaxPool2D(),
        nn.MaxPool2D((3, 2), 2, 1, ceil_mode=True),
        nn.AvgPool1D(2),
        nn.AvgPool3D(),
        nn.GlobalAvgPool2D(),
        nn.GlobalMaxPool1D(),
        nn.BatchNorm(in_channels=3),
        nn.BatchNorm(axis=-1, epsilon=1e-3, scale=False, use_global_stats=True),
        nn.LayerNorm(),
        nn.InstanceNorm(in_channels=2),
        nn.GroupNorm(num_groups=2),
        nn.Dropout(0.3),
        nn.Dropout(0.5, axes=(1, 2)),
        nn.Embedding(4, 3),
        nn.Flatten(),
        nn.Activation("softsign"),
        nn.LeakyReLU(0.1),
        nn.PReLU(),
        nn.ELU(),
        nn.SELU(),
        nn.GELU(),
        nn.Swish(),
        nn.ReflectionPad2D(1),
        nn.Lambda("tanh"),
        nn.HybridLambda("relu"),
    ]


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn = mx.nd, mx.gluon, mx.gluon.nn
    out: dict[str, Any] = {"layers": [repr(layer) for layer in layers(nn)]}
    loss = gluon.loss
    out["losses"] = [
        repr(v)
        for v in (
            loss.L2Loss(),
            loss.L1Loss(weight=2.0),
            loss.SoftmaxCrossEntropyLoss(axis=1),
            loss.HingeLoss(),
            loss.TripletLoss(),
            loss.PoissonNLLLoss(batch_axis=1),
        )
    ]
    p = gluon.Parameter("w", shape=(2, 0), dtype="float16", allow_deferred_init=True)
    constant = gluon.Constant("c", [[1.0, 2.0]])
    out["parameters"] = [repr(p), repr(constant), str(p.shape), str(p.dtype), str(p.grad_req)]
    net = nn.HybridSequential(prefix="rep_")
    with net.name_scope():
        net.add(nn.Dense(3, in_units=2), nn.Dropout(0), nn.Dense(2, in_units=3))
    out["net"] = [repr(net), repr(net.collect_params()), net.name, net.prefix, str(net)]
    out["empty"] = [repr(nn.Sequential()), repr(gluon.ParameterDict("p_"))]
    complaints = {}

    def note(name: str, action: Any) -> None:
        try:
            action()
            complaints[name] = "accepted"
        except Exception as error:
            complaints[name] = "refused" if str(error) else "silent"

    x = nd.array(normal(1, 4, 2))
    note("uninitialized", lambda: net(x))
    net.initialize()
    fill(mx, net.collect_params(), 2)
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    note("no backward", lambda: trainer.step(1))
    note("stale allowed", lambda: trainer.step(1, ignore_stale_grad=True))
    note("not parameters", lambda: gluon.Trainer([1, 2], "sgd"))
    note("unknown optimizer", lambda: gluon.Trainer(net.collect_params(), "sgdd"))
    sgd = mx.optimizer.SGD()
    note("settings twice", lambda: gluon.Trainer(net.collect_params(), sgd, {"wd": 1}))
    note("wrong width", lambda: net(nd.ones((2, 5))).wait_to_read())
    note("wrong activation", lambda: nn.Activation("rellu")(x).wait_to_read())
    note("no gradient", lambda: net.collect_params()["rep_dense0_weight"].list_grad())
    note("outside record", lambda: net(x).backward())
    note("bad grad_req", lambda: net.collect_params().setattr("grad_req", "maybe"))
    note("bad shapes", lambda: (nd.ones((2, 3)) + nd.ones((3, 2))).asnumpy())
    note("bad reshape", lambda: nd.ones((2, 3)).reshape((4, 2)))
    note("bad index", lambda: nd.ones((2, 3))[5])
    note("bad axis", lambda: nd.ones((2, 3)).sum(axis=4).asnumpy())
    note("bad dtype", lambda: nd.ones((2,), dtype="float33"))
    note("truth of many", lambda: bool(nd.ones((2,))))
    note("scalar of many", lambda: nd.ones((2,)).asscalar())
    out["complaints"] = [f"{k}: {v}" for k, v in complaints.items()]
    out["arrays"] = [
        repr(nd.array([[1.5, -2.25]])),
        str(nd.array([1, 2, 3], dtype="int64")),
        repr(nd.ones((1, 1, 2), dtype="float16", ctx=mx.cpu(1))),
        repr(nd.arange(2000).reshape((1000, 2))),
        f"{nd.array([2])}",
    ]
    events: list[str] = []
    handles = [
        net.register_forward_pre_hook(lambda block, inputs: events.append(f"pre {block.name}")),
        net[0].register_forward_hook(
            lambda block, inputs, output: events.append(f"post {block.name} {output.shape}")
        ),
    ]
    net.hybridize(active=False)
    net(x)
    handles[0].detach()
    net(x)
    with handles[1]:
        net(x)
    net(x)
    out["events"] = events
    return out
