"""Lambda and HybridLambda, forward hooks with handles, apply, summary, and Concurrent blocks."""

import contextlib
import io
from types import ModuleType
from typing import Any

from tests.programs.inputs import fill, normal


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="hook_")
    with net.name_scope():
        net.add(nn.Dense(4, in_units=3), nn.HybridLambda("tanh"))
        net.add(nn.HybridLambda(lambda F, x: F.concat(x, x * 2, dim=1)), nn.Dense(2, in_units=8))
    net.initialize()
    fill(mx, net.collect_params(), 1)
    x = mx.nd.array(normal(2, 5, 3))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        net.summary(x)
    if hybridize:
        net.hybridize()
    seen: list[str] = []
    handles = [
        net[0].register_forward_hook(
            lambda block, inputs, y: seen.append(f"after {block.name} {y.shape} {len(inputs)}")
        ),
        net.register_forward_pre_hook(
            lambda block, inputs: seen.append(f"before {block.name} {inputs[0].shape}")
        ),
    ]
    y = net(x) if not hybridize else None
    if hybridize:
        net.hybridize(False)
        y = net(x)
    handles[0].detach()
    with handles[1]:
        net(x)
    net(x)
    kinds: list[str] = []
    net.apply(lambda block: kinds.append(type(block).__name__))
    plain = nn.Sequential(prefix="plain_")
    plain.add(nn.Lambda("relu"), nn.Lambda(lambda a: a.sum(axis=1)))
    return {
        "y": y.asnumpy(),
        "plain": plain(x).asnumpy(),
        "seen": seen,
        "kinds": kinds,
        "repr": [repr(net[1]), repr(plain[0]), repr(net[0])],
        "summary": printed.getvalue(),
    }
