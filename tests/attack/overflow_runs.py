"""Training in mixed precision where one gradient overflows: a step that leaves everything alone.

A run trains two steps, one whose gradient is made infinite or NaN in one parameter on one device,
and one more, and says what the third changed that it must not have, and the fourth did not.
"""

import copy
from itertools import product
from typing import Any

import numpy as np

import gluonish as mx
from gluonish.contrib import amp

_DEVICES = ([mx.cpu(0)], [mx.cpu(0), mx.cpu(1)])
_STORES = (("device", None), ("device", True), ("device", False), ("local", None), (None, None))
_OPTIMIZERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sgd", {"momentum": 0.9}),
    ("adam", {}),
    ("nag", {"momentum": 0.5}),
    ("rmsprop", {}),
    ("adagrad", {}),
    ("ftml", {}),
)
_DTYPES = (("float32", False), ("float16", True), ("float16", False), ("bfloat16", True))
CASES = tuple(product(_OPTIMIZERS, _DEVICES, _STORES, ("write", "add"), _DTYPES, (False, True)))


class _Run:
    def __init__(self, case: Any, seed: int) -> None:
        (name, given), self.contexts, (store, in_store), self.grad_req, dtypes, hybrid = case
        self.dtype, multi = dtypes
        self.random = np.random.default_rng(seed)
        self.net = mx.gluon.nn.HybridSequential()
        self.net.add(mx.gluon.nn.Dense(4, in_units=3), mx.gluon.nn.Dense(2, in_units=4))
        self.net.cast(self.dtype)
        mx.random.seed(seed)
        self.net.initialize(mx.init.Normal(0.5), ctx=self.contexts)
        if hybrid:
            self.net.hybridize()
        self.params = list(self.net.collect_params().values())
        for param in self.params:
            param.grad_req = self.grad_req
        schedule = mx.lr_scheduler.FactorScheduler(2, 0.9, base_lr=0.25)
        options = {**given, "learning_rate": 0.25, "lr_scheduler": schedule}
        if multi:
            options["multi_precision"] = True
        self.trainer = mx.gluon.Trainer(
            self.net.collect_params(), name, options, store, update_on_kvstore=in_store
        )
        amp.init_trainer(self.trainer)
        scaler: Any = self.trainer._amp_loss_scaler
        scaler._loss_scale = scaler._next_loss_scale = 8.0
        self.manual = in_store is False and bool(seed % 2)
        self.unscales = bool(seed % 3)

    def step(self, spoil: Any = None) -> None:
        """Train a step; ``spoil`` is the number of a parameter, of a device, and a gradient."""
        if self.grad_req == "add":
            self.net.collect_params().zero_grad()
        shape = (2, 3)
        with mx.autograd.record():
            losses = [
                self.net(mx.nd.array(self.random.standard_normal(shape), c, self.dtype)).sum()
                for c in self.contexts
            ]
            with amp.scale_loss(losses, self.trainer) as scaled:
                mx.autograd.backward(scaled)
        if spoil is not None:
            param, device, number = spoil
            grads = self.params[param % len(self.params)].list_grad()
            grads[device % len(grads)].reshape(-1)[:1] = number
        if self.manual:
            self.trainer.allreduce_grads()
            if self.unscales:
                amp.unscale(self.trainer)
            self.trainer.update(2)
        else:
            if self.unscales:
                amp.unscale(self.trainer)
            self.trainer.step(2)
        mx.nd.waitall()

    def weights(self) -> list[Any]:
        return [x.asnumpy() for param in self.params for x in param.list_data()]

    def rest(self) -> Any:
        """Return states, counts and rates."""
        trainer: Any = self.trainer
        updaters = list(trainer._updaters)
        if trainer._update_on_kvstore:
            updaters.append(trainer._kvstore._updater)
        states = [
            (i, x.asnumpy().astype("float64").tolist())
            for updater in updaters
            for i, state in updater.states.items()
            for x in _flat(state)
        ]
        optimizer = trainer.optimizer
        counts = copy.deepcopy(optimizer._all_index_update_counts)
        return states, counts, optimizer.num_update, trainer.learning_rate


def _flat(state: Any) -> list[Any]:
    if isinstance(state, tuple | list):
        return [x for part in state for x in _flat(part)]
    return [] if state is None else [state]


def faults(number: int, seed: int) -> list[str]:
    """Return what is wrong in a run; nothing if all holds.

    Args:
        number: Which of `CASES`, modulo their number.
        seed: Seed of weights and data, and of what is spoiled.
    """
    run = _Run(CASES[number % len(CASES)], seed)
    scaler: Any = run.trainer._amp_loss_scaler
    for _ in range(2):
        run.step()
    weights, rest = run.weights(), run.rest()
    run.step((seed, seed // 4, (np.inf, -np.inf, np.nan)[seed % 3]))
    skipped, after = run.weights(), run.rest()
    found = []
    if not all(map(np.array_equal, weights, skipped)):
        found.append("weights changed")
    if str(rest) != str(after):
        found.append("states, counts or rates changed")
    if scaler._next_loss_scale != 4:
        found.append(f"the next scale is {scaler._next_loss_scale}")
    run.step()
    last = [x.astype("float64") for x in run.weights()]
    if not all(np.isfinite(x).all() for x in last):
        found.append("weights are not finite")
    if all(map(np.array_equal, skipped, last)):
        found.append("the next step changed nothing")
    if run.trainer.optimizer.num_update != rest[2] + 1:
        found.append("the next step did not count")
    return found
