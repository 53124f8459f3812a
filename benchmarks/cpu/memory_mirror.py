"""Memory and time of a training step that recomputes: nothing, cheap values, all between segments.

    python -m benchmarks.cpu memory_mirror [--models resnet50_v1,resnet152_v1] [--run]

Planned bytes come from shapes alone: what the forward pass keeps, and the arenas of both passes,
of which the larger counts, since they lie in the same memory in turn. With ``--run``, steps are
timed in processes of their own, in turns (A B C A B C): medians, and the peak of resident memory.
Float32, 3x224x224, static_alloc, SGD with momentum, all cores.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "engine")]

import gluonish as mx  # noqa: E402
from gluonish.core.device import device_of  # noqa: E402
from gluonish.core.spec import PartialSpec, Spec  # noqa: E402
from gluonish.graph.inference import infer  # noqa: E402
from gluonish.graph.ir import Value  # noqa: E402
from gluonish.graph.pass_plans import PassOptions, plan_passes  # noqa: E402

IMAGE = (3, 224, 224)
MB = 1e6

# Environment of each plan.
PLANS = {
    "keep all": {"MXNET_BACKWARD_DO_MIRROR": "0", "MXNET_MEMORY_OPT": "0"},
    "mirror": {"MXNET_BACKWARD_DO_MIRROR": "1", "MXNET_MEMORY_OPT": "0"},
    "sqrt N": {"MXNET_BACKWARD_DO_MIRROR": "0", "MXNET_MEMORY_OPT": "1"},
}


def planned(model: str, batch_size: int) -> tuple[int, int, int]:
    """Return bytes kept and of both arenas in a training step, as the environment says now."""
    outputs = getattr(mx.gluon.model_zoo.vision, model)()(mx.sym.var("data"))
    variables = outputs._variables()
    fixed = {"data", *outputs.list_auxiliary_states()}
    known = {"data": PartialSpec((batch_size, *IMAGE), np.dtype(np.float32))}
    found = infer(outputs._values, known)
    specs = []
    for node in variables:
        shape, dtype = found.spec(Value(node))
        assert shape is not None
        assert dtype is not None
        specs.append(Spec(shape, dtype))
    plan = plan_passes(
        variables,
        outputs._values,
        specs,
        device_of(mx.cpu()),
        training=True,
        requires_grad=[node.name not in fixed for node in variables],
        options=PassOptions((1, 1), 1),
    )
    assert plan.backward is not None
    kept = sum(value.spec.nbytes for value in plan.partition.saved)
    return kept, plan.forward.layout.arena_nbytes, plan.backward.layout.arena_nbytes


def measure(model: str, batch_size: int, steps: int) -> tuple[float, float]:
    """Return the median time of a step in seconds, and the peak of resident memory in bytes."""
    net = getattr(mx.gluon.model_zoo.vision, model)()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    images = mx.nd.random.uniform(shape=(batch_size, *IMAGE))
    labels = mx.nd.zeros((batch_size,))
    loss_function = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_function.hybridize(static_alloc=True)
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9}
    )
    times = []
    for _ in range(steps + 2):
        start = time.perf_counter()
        with mx.autograd.record():
            loss = loss_function(net(images), labels)
        loss.backward()
        trainer.step(batch_size)
        mx.nd.waitall()
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return statistics.median(times[2:]), peak


def _in_process(model: str, arguments: argparse.Namespace, plan: str) -> tuple[float, float]:
    command = [sys.executable, __file__, "--measure", model]
    command += ["--batch-size", str(arguments.batch_size), "--steps", str(arguments.steps)]
    environment = {**os.environ, **PLANS[plan]}
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=True
    )
    seconds, peak = map(float, result.stdout.split()[-2:])
    return seconds, peak


def _print_planned(model: str, arguments: argparse.Namespace) -> None:
    print(f"{model}, batch {arguments.batch_size}: MB planned, without weights and gradients")
    first = None
    for plan, environment in PLANS.items():
        os.environ.update(environment)
        kept, forward, backward = planned(model, arguments.batch_size)
        total = kept + max(forward, backward)
        first = first or total
        print(
            f"  {plan:9} kept {kept / MB:6.0f}  forward {forward / MB:5.0f}  backward "
            f"{backward / MB:5.0f}  total {total / MB:6.0f} ({total / first:4.0%})"
        )
    for name in next(iter(PLANS.values())):
        del os.environ[name]


def _print_measured(model: str, arguments: argparse.Namespace) -> None:
    rounds: dict[str, list[tuple[float, float]]] = {plan: [] for plan in PLANS}
    for _ in range(arguments.rounds):
        for plan, found in rounds.items():
            found.append(_in_process(model, arguments, plan))
    print(f"{model}, batch {arguments.batch_size}: measured")
    first = None
    for plan, found in rounds.items():
        seconds, peak = (statistics.median(column) for column in zip(*found, strict=True))
        first = first or seconds
        print(
            f"  {plan:9} {seconds:6.3f} s a step (speed {first / seconds:4.0%})  peak resident "
            f"{peak / MB:5.0f} MB"
        )


def main() -> None:
    """Print what is planned, and with ``--run`` what is measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", default="resnet50_v1,resnet152_v1")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--run", action="store_true", help="train, too")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(*measure(arguments.measure, arguments.batch_size, arguments.steps))
        return
    for model in arguments.models.split(","):
        _print_planned(model, arguments)
        if arguments.run:
            _print_measured(model, arguments)


if __name__ == "__main__":
    main()
