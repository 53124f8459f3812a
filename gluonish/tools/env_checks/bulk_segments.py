"""Checks of the variables that say how many operators of a graph are one job of the engine."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from gluonish.autograd import record
from gluonish.core.config import (
    MXNET_EXEC_BULK_EXEC_INFERENCE,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD,
    MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD,
    MXNET_EXEC_BULK_EXEC_TRAIN,
    MXNET_USE_FUSION,
    Flag,
)
from gluonish.engine import use_engine
from gluonish.gluon.nn import HybridLambda
from gluonish.ndarray import ones
from gluonish.tools.env_checks.check import expect, observes

__all__: list[str] = []


def _chain(F: Any, x: Any) -> Any:
    """Twelve operators in a row."""
    for _ in range(6):
        x = F.broadcast_mul(F.sin(x), x)
    return x


def _jobs(*scopes: AbstractContextManager[Any], train: bool) -> tuple[int, int]:
    """Return how many jobs a graph of twelve operators pushes forward, and backward."""
    pushed: list[str] = []

    def count(fn: Callable[[], None], _lane: object, name: str) -> Callable[[], None]:
        pushed.append(name)
        return fn

    with ExitStack() as stack:
        for scope in (MXNET_USE_FUSION.override(False), *scopes):
            stack.enter_context(scope)
        engine = stack.enter_context(use_engine("ThreadedEngine"))
        block = HybridLambda(_chain)
        block.hybridize()
        x = ones((2, 3))
        x.attach_grad()
        block(x).wait_to_read()
        engine.on_push = count
        if not train:
            block(x).wait_to_read()
            return len(pushed), 0
        with record():
            y = block(x)
        forward = len(pushed)
        y.backward()
        engine.wait_all()
        return forward, len(pushed) - forward


@observes(MXNET_EXEC_BULK_EXEC_INFERENCE)
def bulk_inference() -> str:
    """Count the jobs of a graph outside training."""
    flag = MXNET_EXEC_BULK_EXEC_INFERENCE
    found = [_jobs(flag.override(on), train=False)[0] for on in (True, False)]
    expect(flag, found == [1, 12], "1 job and 12", found)
    return "a graph of 12 operators was 1 job, and 12 without"


@observes(MXNET_EXEC_BULK_EXEC_TRAIN)
def bulk_train() -> str:
    """Count the jobs of a graph in training."""
    flag = MXNET_EXEC_BULK_EXEC_TRAIN
    (on, on_back), (off, off_back) = (_jobs(flag.override(v), train=True) for v in (True, False))
    holds = on == 1 and off == 12 and off_back > 2 * on_back
    expect(flag, holds, "1 job forward and few backward, and 12 and many", (on, on_back, off))
    return f"12 operators were 1 job and {on_back} backward, {off} and {off_back} without"


def _check_segments(flag: Flag[int], forward: bool, backward: bool) -> str:
    few, many = (_jobs(flag.override(size), train=True) for size in (1000, 4))
    acts = (few[0] < many[0], few[1] < many[1])
    expect(flag, acts == (forward, backward), f"more jobs {(forward, backward)}", (few, many))
    expect(flag, not forward or (few[0], many[0]) == (1, 3), "1 and 3 jobs", (few, many))
    where = " and ".join(["forward"] * forward + ["backward"] * backward)
    return f"segments of up to 1000 and of 4 operators: {few} and {many} jobs, more {where}"


@observes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN)
def bulk_nodes() -> str:
    """Count the jobs of both passes."""
    return _check_segments(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN, True, True)


@observes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD)
def bulk_nodes_forward() -> str:
    """Count the jobs of the forward pass."""
    return _check_segments(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD, True, False)


@observes(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD)
def bulk_nodes_backward() -> str:
    """Count the jobs of the backward pass."""
    return _check_segments(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD, False, True)


# Teams of threads in kernels
