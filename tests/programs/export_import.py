"""A trained net exported, its files loaded as a SymbolBlock, trained on and used for features."""

import json
import os
import tempfile
from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal, values_of


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    gluon, nn = mx.gluon, mx.gluon.nn
    net = nn.HybridSequential(prefix="exp_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D())
        net.add(nn.Dense(5, activation="softrelu"), nn.Dropout(0.0), nn.Dense(2))
    net.initialize()
    x = mx.nd.array(normal(1, 3, 1, 8, 8))
    net(x)
    fill(mx, net.collect_params(), 3)
    net.hybridize(static_alloc=hybridize)
    expected = net(x)
    out: dict[str, Any] = {"expected": expected.asnumpy()}
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "model")
        net.export(prefix, epoch=7)
        out["files"] = sorted(os.listdir(folder))
        out["keys"] = sorted(mx.nd.load(prefix + "-0007.params"))
        with open(prefix + "-symbol.json") as file:
            nodes = json.load(file)["nodes"]
        out["nodes"] = [f"{n['op']} {n['name']}" for n in nodes]
        out["attributes"] = [str(sorted(n.get("attrs", {}).items())) for n in nodes]
        files = prefix + "-symbol.json", prefix + "-0007.params"
        block = gluon.SymbolBlock.imports(files[0], ["data"], files[1], ctx=mx.cpu())
        symbol = mx.sym.load(files[0])
        inner = symbol.get_internals()
        features = gluon.SymbolBlock(
            inner[[o for o in inner.list_outputs() if "dense0" in o][-1]], mx.sym.var("data")
        )
        features.load_parameters(files[1], ignore_extra=True)
    out["imported"] = block(x).asnumpy()
    out["features"] = features(x).asnumpy()
    out["arguments"] = symbol.list_arguments()
    out["outputs"] = symbol.list_outputs()
    out["auxiliary"] = symbol.list_auxiliary_states()
    out["internals"] = inner.list_outputs()
    out["shapes"] = str(symbol.infer_shape(data=(3, 1, 8, 8)))
    if hybridize:
        block.hybridize()
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.05})
    for _ in range(2):
        with mx.autograd.record():
            loss = gluon.loss.L2Loss()(block(x), mx.nd.ones((3, 2)))
        loss.backward()
        trainer.step(3)
    out["trained"] = block(x).asnumpy()
    out.update(values_of(block.collect_params()))
    return out
