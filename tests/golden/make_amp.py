"""Makes amp.json; run it with MXNet 1.9.1: what convert_symbol makes of the graphs in amp_calls.py,
and how a loss scale moves."""

import json
from pathlib import Path

import amp_calls as calls
import mxnet as mx
from mxnet.contrib import amp

HERE = Path(__file__).resolve().parent


def scales() -> list[list[float]]:
    """Return the scales of steps of which the third and the fifth overflow."""
    weight = mx.gluon.Parameter("weight", shape=(2,))
    weight.initialize(mx.init.One())
    amp.init()
    trainer = mx.gluon.Trainer([weight], "sgd", {"learning_rate": 0.5})
    amp.init_trainer(trainer)
    found = []
    for step in range(7):
        with mx.autograd.record():
            loss = (weight.data() * (float("inf") if step in (2, 4) else 1)).sum()
            with amp.scale_loss(loss, trainer) as scaled:
                scaled.backward()
        trainer.step(1)
        found.append([trainer._scale, *weight.data().asnumpy().tolist()])
    return found


def main() -> None:
    """Write the file."""
    converted = []
    for name in calls.GRAPHS:
        for told in calls.options(name):
            made = amp.convert_symbol(calls.graph(mx.sym, name), **told)
            nodes = json.loads(made.tojson(remove_amp_cast=False))["nodes"]
            converted.append([name, told, calls.described(nodes)])
    lists = {
        name: getattr(amp, f"list_{name}")("float16")
        for name in (
            *("lp16_ops", "fp32_ops", "lp16_fp32_ops", "conditional_fp32_ops"),
            *("widest_type_cast", "loss_output_functions", "lp16_use_fp32_params"),
        )
    }
    found = {"converted": converted, "scales": scales(), "lists": lists}
    (HERE / "amp.json").write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
