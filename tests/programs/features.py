"""A zoo network as a feature extractor, with its output replaced, and cut as a SymbolBlock."""

import os
import tempfile
from types import ModuleType
from typing import Any

from tests.programs.inputs import classes, fill, normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nd, gluon, nn, vision = mx.nd, mx.gluon, mx.gluon.nn, mx.gluon.model_zoo.vision
    x, y = nd.array(normal(1, 2, 3, 32, 32)), nd.array(classes(2, 3, 2))

    def make(count: int, prefix: str) -> Any:
        block = vision.BasicBlockV1
        return vision.ResNetV1(
            block, [1, 2, 1], [8, 8, 12, 16], classes=count, thumbnail=True, prefix=prefix
        )

    net = make(10, "zoo_")
    net.initialize()
    net(x)
    fill(mx, net.collect_params(), 3, scale=0.1)
    out: dict[str, Any] = {"names": list(net.collect_params())[:40]}
    out["logits"] = net(x).asnumpy()
    extractor = nn.HybridSequential(prefix="ext_")
    with extractor.name_scope():
        for layer in net.features[:-2]:
            extractor.add(layer)
        extractor.add(nn.GlobalAvgPool2D())
    if hybridize:
        extractor.hybridize(static_alloc=True)
        net.hybridize()
    out["pooled"] = extractor(x).asnumpy()
    out["kinds"] = [type(net.features[:-1]).__name__, type(net.features).__name__]
    out["count"] = [len(net.features), len(net.features[:-1]), len(net.features[2])]

    with net.name_scope():
        net.output = nn.Dense(3, in_units=16)
    net.output.initialize(mx.init.Constant(0.01))
    net.features.collect_params().setattr("grad_req", "null")
    net.collect_params(".*batchnorm.*").setattr("lr_mult", 0.0)
    trainer = gluon.Trainer(net.output.collect_params(), "sgd", {"learning_rate": 0.01})
    losses = []
    for _ in range(3):
        with mx.autograd.record(train_mode=False):
            loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
        loss.backward()
        trainer.step(2)
        losses.append(loss.asnumpy())
    out["losses"] = losses
    out["output"] = net.output.weight.data().asnumpy()
    net.hybridize()
    net(x)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net")
        net.export(path, epoch=3)
        arguments: dict[str, Any] = {}
        auxiliary: dict[str, Any] = {}
        symbol = mx.sym.load(path + "-symbol.json")
        for key, value in nd.load(path + "-0003.params").items():
            kind, name = key.split(":", 1)
            (arguments if kind == "arg" else auxiliary)[name] = value
        internals = symbol.get_internals()
        wanted = [n for n in internals.list_outputs() if n.endswith("pool0_fwd_output")][-1]
        cut = gluon.SymbolBlock(internals[wanted], mx.sym.var("data"))
        cut.load_parameters(
            path + "-0003.params", allow_missing=True, ignore_extra=True, cast_dtype=True
        )
        third = make(3, "new_")
        mapped = {third.prefix + k[len("zoo_") :]: v for k, v in {**arguments, **auxiliary}.items()}
        for name, parameter in third.collect_params().items():
            if name in mapped:
                parameter.shape = mapped[name].shape
                parameter.initialize()
                parameter.set_data(mapped[name])
        missing = [n for n in third.collect_params() if n not in mapped]
    out["cut name"] = wanted
    out["cut"] = cut(x).asnumpy()
    out["missing"] = missing
    out["sizes"] = [len(arguments), len(auxiliary)]
    tuned = nn.HybridSequential(prefix="tuned_")
    with tuned.name_scope():
        tuned.add(cut, nn.Dense(3))
    tuned[1].initialize(mx.init.Constant(0.02))
    if hybridize:
        tuned.hybridize()
    trainer = gluon.Trainer(tuned.collect_params(), "sgd", {"learning_rate": 0.001})
    losses = []
    for _ in range(2):
        with mx.autograd.record():
            loss = gluon.loss.SoftmaxCrossEntropyLoss()(tuned(x), y)
        loss.backward()
        trainer.step(2)
        losses.append(loss.asnumpy())
    out["tuned"] = losses
    out["tuned names"] = list(tuned.collect_params())[:6]
    out["first"] = tuned.collect_params()["zoo_conv0_weight"].data().asnumpy()[:4]
    return out
