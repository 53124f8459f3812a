"""Make the golden data beside it with MXNet 1.9.1: ``oracle/bin/python make_optimizer.py``.

``cases.json`` names optimizers and schedulers; ``optimizer.npz`` holds, for each case, the weights
after every step; ``states.npz`` states files with the weights before and after they are used;
``resumed.npz`` what training gives after each of ``../trainer_*.states`` was loaded. The tests make
the same inputs as ``inputs``.
"""

import json
from pathlib import Path

import mxnet as mx
import numpy as np

HERE = Path(__file__).parent
CASES = json.loads((HERE / "cases.json").read_text())
NAMES = ["a_weight", "b_bias", "c_gamma"]
ROWS = ([0, 2], [1], [2], [0, 3])


def inputs(seed, steps, shapes):
    """Weights and gradients of every step."""
    rng = np.random.default_rng(seed)
    weights = [rng.uniform(-1, 1, shape).astype("float32") for shape in shapes]
    grads = [[rng.uniform(-2, 2, s).astype("float32") for s in shapes] for _ in range(steps)]
    return weights, grads


def scheduler(told):
    return getattr(mx.lr_scheduler, told["class"])(**told["args"])


def train(updater, weights, grads, indices, dtype):
    weights = [mx.nd.array(w, dtype=dtype) for w in weights]
    history = []
    for step in grads:
        given = [mx.nd.array(g, dtype=dtype) for g in step]
        if updater.aggregate_updates:  # all at once: LARS minds it
            updater(list(indices), given, weights)
        else:
            for i, w, g in zip(indices, weights, given, strict=True):
                updater(i, g, w)
        history.append([w.asnumpy() for w in weights])
    return history


def made(case):
    args = dict(case["args"])
    if "scheduler" in case:
        args["lr_scheduler"] = scheduler(case["scheduler"])
    optimizer = mx.optimizer.create(
        case["optimizer"], param_idx2name=dict(enumerate(NAMES)), **args
    )
    optimizer.set_lr_mult(case.get("lr_mult", {}))
    optimizer.set_wd_mult(case.get("wd_mult", {}))
    return optimizer


def optimizers(cases, shapes):
    result = {}
    for name, case in cases.items():
        weights, grads = inputs(0, 5, shapes)
        history = train(
            mx.optimizer.get_updater(made(case)),
            weights,
            grads,
            range(len(shapes)),
            case.get("dtype", "float32"),
        )
        for i in range(len(shapes)):
            result[f"{name}/{i}"] = np.stack([step[i] for step in history])
    return result


def sparse():
    """Weights after steps whose gradients hold some rows only."""
    result = {}
    for name, case in CASES["sparse"].items():
        (weight,), grads = inputs(2, len(ROWS), [(4, 2)])
        weight = mx.nd.array(weight).tostype(case["stype"])
        updater = mx.optimizer.get_updater(made(case))
        history = []
        for rows, (grad,) in zip(ROWS, grads, strict=True):
            given = mx.nd.sparse.row_sparse_array((grad[rows], rows), shape=(4, 2))
            updater(0, given, weight)
            history.append(weight.asnumpy())
        result[f"sparse/{name}"] = np.stack(history)
    return result


def states():
    """Files of updaters after three steps, and what three more give, in MXNet."""
    result = {}
    for name, case in CASES["states"].items():
        dtype = case.get("dtype", "float32")
        weights, grads = inputs(3, 6, [(3, 2), (2, 4)])
        updater = mx.optimizer.get_updater(made(case))
        before = train(updater, weights, grads[:3], range(2), dtype)[-1]
        data = updater.get_states(dump_optimizer=True)
        after = train(updater, before, grads[3:], range(2), dtype)[-1]
        result[f"{name}/file"] = np.frombuffer(data, np.uint8)
        for i in range(2):
            result[f"{name}/before/{i}"] = before[i]
            result[f"{name}/after/{i}"] = after[i]
    return result


def schedulers():
    result = {}
    for name, told in CASES["schedulers"].items():
        made = scheduler(told)
        result[f"scheduler/{name}"] = np.array([made(n) for n in range(20)])
    return result


def resumed():
    result = {}
    for name in ("sgd", "adam", "sgd_fp16"):
        kind = "adam" if name == "adam" else "sgd"
        updater = mx.optimizer.get_updater(mx.optimizer.create(kind))
        updater.set_states((HERE.parent / f"trainer_{name}.states").read_bytes())
        indices = sorted(updater.states)
        leaves = [updater.states[i] for i in indices]
        leaves = [x[-1] if isinstance(x, tuple) else x for x in leaves]
        weights, grads = inputs(1, 4, [x.shape for x in leaves])
        dtype = "float16" if name == "sgd_fp16" else "float32"
        history = train(updater, weights, grads, indices, dtype)
        for i, w in zip(indices, history[-1], strict=True):
            result[f"{name}/{i}"] = w
    return result


if __name__ == "__main__":
    np.savez_compressed(
        HERE / "optimizer.npz",
        **optimizers(CASES["optimizers"], CASES["shapes"]),
        **optimizers(CASES["embeddings"], [(3, 4), (5, 2)]),
        **sparse(),
        **schedulers(),
    )
    np.savez_compressed(HERE / "states.npz", **states())
    np.savez_compressed(HERE / "resumed.npz", **resumed())
