"""Batch norm and dropout under every combination of recording and training."""

from types import ModuleType
from typing import Any

import numpy as np

from tests.programs.inputs import fill, normal, values_of

TRAINED_ALONE = ("train", "pause train")


def run(mx: ModuleType, hybridize: bool = False) -> dict[str, Any]:
    autograd, nn = mx.autograd, mx.gluon.nn
    net = nn.HybridSequential(prefix="mode_")
    with net.name_scope():
        net.add(nn.BatchNorm(in_channels=3, momentum=0.5))
        net.add(nn.BatchNorm(in_channels=3, scale=False, center=False))
        net.add(nn.BatchNorm(in_channels=3, use_global_stats=True))
    net.initialize()
    fill(mx, net.collect_params(), 1)
    drop = nn.Dropout(0.4)
    along = nn.Dropout(0.5, axes=(1,))
    if hybridize:
        net.hybridize()
        drop.hybridize()
        along.hybridize()
    x = mx.nd.array(normal(2, 4, 3, 5))
    ones = mx.nd.ones((2000, 4))
    scopes = {
        "none": None,
        "record": autograd.record(),
        "predicting": autograd.record(train_mode=False),
        "train": autograd.train_mode(),
        "predict": autograd.predict_mode(),
        "pause": autograd.pause(),
        "pause train": autograd.pause(train_mode=True),
    }
    out: dict[str, Any] = {}
    for name, scope in scopes.items():
        x.attach_grad()
        if scope is None:
            y, d, flags = net(x), drop(ones), (autograd.is_recording(), autograd.is_training())
            rows = along(ones)
        else:
            with scope:
                flags = autograd.is_recording(), autograd.is_training()
                y, d, rows = net(x), drop(ones), along(ones)
        out[f"{name} flags"] = flags
        out[f"{name} y"] = y.asnumpy()
        kept = d.asnumpy()
        out[f"{name} dropout"] = sorted({round(float(v), 4) for v in kept.ravel()})
        out[f"{name} share"] = round(float((kept > 0).mean()), 1)
        rows = rows.asnumpy()
        out[f"{name} rows"] = bool((rows == rows[:, :1]).all())
        if flags[0]:
            y.backward(mx.nd.array(normal(3, 4, 3, 5)))
        if name == "record":
            out[f"{name} gradient"] = x.grad.asnumpy()
        if name in TRAINED_ALONE:  # MXNet moves the statistics in the backward pass
            fill(mx, net.collect_params(".*running.*"), 1)
        out.update(
            {f"{name} {k}": v for k, v in values_of(net.collect_params(".*running.*")).items()}
        )
    with autograd.record():
        with autograd.pause():
            inner = autograd.is_recording(), autograd.is_training()
        with autograd.predict_mode():
            same = drop(ones)
        outer = autograd.is_recording(), autograd.is_training()
    out["nested"] = [*inner, *outer, bool(np.array_equal(same.asnumpy(), ones.asnumpy()))]
    return out
