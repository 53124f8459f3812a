"""Cases of optimizers of MXNet 2.0, for `make.py` and for tests: names and arguments."""

from itertools import product
from typing import Any

import numpy as np

SHAPES = ((3, 2), (4,), (2, 3))
NAMES = ("a_weight", "b_bias", "c_gamma")
STEPS = 5

_COMMON: "dict[str, dict[str, Any]]" = {
    "default": {},
    "decayed": {"wd": 0.1},
    "all": {"wd": 0.05, "clip_gradient": 0.6, "rescale_grad": 0.7, "learning_rate": 0.2},
    "scheduled": {"scheduler": True, "wd": 0.01},
    "resumed": {"begin_num_update": 3},
    "zero_group": {"aggregate_num": 0, "wd": 0.1},
    "half": {"multi_precision": True, "wd": 0.05, "dtype": "float16"},
}
_OWN: "dict[str, dict[str, dict[str, Any]]]" = {
    "sgd": {"momentum": {"momentum": 0.9}, "mixed": {"momentum": 0.5, **_COMMON["half"]}},
    "nag": {"plain": {"momentum": 0.0}, "mixed": {"momentum": 0.5, **_COMMON["half"]}},
    "sgld": {},
    "signum": {"plain": {"momentum": 0.0, "wd": 0.1}, "late": {"wd_lh": 0.1, "wd": 0.1}},
    "dcasgd": {"momentum": {"momentum": 0.9, "wd": 0.1}, "lamda": {"lamda": 0.5}},
    "lars": {"momentum": {"momentum": 0.9, "wd": 0.1}, "eta": {"eta": 0.1, "epsilon": 1e-3}},
    "adagrad": {"epsilon": {"epsilon": 0.1}},
    "adadelta": {"rho": {"rho": 0.5, "epsilon": 1e-2}},
    "adam": {"betas": {"beta1": 0.5, "beta2": 0.8, "epsilon": 0.1}},
    "adamax": {"betas": {"beta1": 0.5, "beta2": 0.8}},
    "adamw": {
        "betas": {"beta1": 0.5, "beta2": 0.8, "epsilon": 0.1, "wd": 0.1},
        "biased": {"correct_bias": False, "wd": 0.1},
    },
    "adabelief": {
        "betas": {"beta1": 0.5, "beta2": 0.8, "epsilon": 0.1},
        "biased": {"correct_bias": False},
    },
    "nadam": {"schedule": {"schedule_decay": 0.5, "beta1": 0.5}},
    "ftrl": {"l1": {"lamda1": 0.3, "beta": 0.1, "wd": 0.1}},
    "ftml": {"betas": {"beta1": 0.5, "beta2": 0.8, "epsilon": 0.1}},
    "lamb": {
        "bounds": {"lower_bound": 0.1, "upper_bound": 0.5, "wd": 0.1},
        "biased": {"bias_correction": False},
    },
    "lans": {"bounds": {"lower_bound": 0.1, "upper_bound": 0.5, "wd": 0.1}},
    "rmsprop": {
        "rho": {"rho": 0.5, "momentum": 0.3, "epsilon": 1e-2},
        "centered": {"centered": True, "rho": 0.8, "momentum": 0.5, "wd": 0.1},
        "weights": {"clip_weights": 0.4, "learning_rate": 0.1},
    },
    "groupadagrad": {"epsilon": {"epsilon": 0.1}},
}


def cases():
    """Yield a name, an optimizer and its arguments for each case."""
    for optimizer, own in _OWN.items():
        for (name, args), fused in product({**_COMMON, **own}.items(), (None, True, False)):
            if optimizer == "groupadagrad" and "wd" in args:
                args = {key: value for key, value in args.items() if key != "wd"}
            given = {} if fused is None else {"use_fused_step": fused}
            yield f"{optimizer}/{name}/{fused}", optimizer, {**args, **given}


def inputs(dtype, rows):
    """Return the weights and the gradients of every step."""
    rng = np.random.RandomState(0)
    shapes = [s for s in SHAPES if len(s) > 1 or not rows]
    weights = [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes]
    grads = [[rng.uniform(-2, 2, s).astype(dtype) for s in shapes] for _ in range(STEPS)]
    return weights, grads


def train(mx, optimizer, args):
    """Return the weights after each step, in one row; of SGLD their variance is not compared."""
    args = dict(args)
    dtype = args.pop("dtype", "float32")
    if args.pop("scheduler", False):
        args["lr_scheduler"] = mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.3)
    made = mx.optimizer.create(optimizer, param_idx2name=dict(enumerate(NAMES)), **args)
    updater = mx.optimizer.get_updater(made)
    weights, grads = inputs(dtype, optimizer == "groupadagrad")
    weights = [mx.np.array(w, dtype=dtype) for w in weights]
    history = []
    for step in grads:
        step = [mx.np.array(g, dtype=dtype) for g in step]
        if updater.aggregate_updates:
            updater(list(range(len(weights))), step, weights)
        else:
            for i, (w, g) in enumerate(zip(weights, step)):  # noqa: B905  # Python 3.8
                updater(i, g, w)
        history.append(np.concatenate([w.asnumpy().ravel() for w in weights]))
    return np.stack(history)
