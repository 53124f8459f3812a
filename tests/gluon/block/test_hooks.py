import gc
from typing import Any

import pytest

from gluonish.core.errors import ArgumentError
from gluonish.gluon import nn
from gluonish.gluon.block import Block, HookHandle
from gluonish.gluon.block.hooks import Hooks
from gluonish.ndarray import ones


def layer() -> nn.Dense:
    made = nn.Dense(2, in_units=3)
    made.initialize()
    return made


def test_hooks_run_before_and_after_with_block_and_values() -> None:
    dense, log = layer(), []
    dense.register_forward_hook(lambda block, x, y: log.append(("after", block, x, y)))
    dense.register_forward_pre_hook(lambda block, x: log.append(("before", block, x)))
    x = ones((1, 3))
    y = dense(x)
    assert log == [("before", dense, (x,)), ("after", dense, (x,), y)]


def test_hook_runs_for_hybridized_blocks() -> None:
    dense, log = layer(), []
    dense.register_forward_hook(lambda *args: log.append(len(args)))
    with pytest.warns(UserWarning, match="hybridized with forward hooks"):
        dense.hybridize()
    dense(ones((1, 3)))
    assert log == [3]


def test_result_of_a_hook_is_ignored() -> None:
    dense = layer()
    dense.register_forward_hook(lambda *args: "something else")
    assert dense(ones((1, 3))).shape == (1, 2)


def test_detached_hook_is_not_called() -> None:
    dense, log = layer(), []
    handle = dense.register_forward_pre_hook(lambda *args: log.append(args))
    handle.detach()
    handle.detach()
    dense(ones((1, 3)))
    assert log == []


def test_handle_is_a_context_manager() -> None:
    dense, log = layer(), []
    with dense.register_forward_hook(lambda *args: log.append(args)):
        dense(ones((1, 3)))
    dense(ones((1, 3)))
    assert len(log) == 1


def test_hook_may_detach_itself() -> None:
    dense, log = layer(), []

    def once(*args: Any) -> None:
        log.append(args)
        handle.detach()

    handle = dense.register_forward_hook(once)
    dense(ones((1, 3)))
    dense(ones((1, 3)))
    assert len(log) == 1


def test_handle_outlives_its_block() -> None:
    block = Block()
    handle = block.register_forward_hook(lambda *args: None)
    del block
    gc.collect()
    handle.detach()


def test_handle_stands_for_one_hook() -> None:
    handle, hooks = HookHandle(), Hooks()
    handle.attach(hooks, print)
    with pytest.raises(ArgumentError, match="belongs to a hook"):
        handle.attach(hooks, print)
