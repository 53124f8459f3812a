"""Checks of the variables that select graph passes, by the resulting plans."""

import contextlib
import io
from collections.abc import Sequence
from itertools import count
from typing import Any

import gluonish.symbol as sym
from gluonish.autograd import backward, record
from gluonish.contrib import amp
from gluonish.core.config import (
    GLUONISH_CUDA_MOVE,
    GLUONISH_DEVICE_LOSS_SCALE,
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_ENABLE_CUDA_GRAPHS,
    MXNET_FUSION_VERBOSE,
    MXNET_SUBGRAPH_BACKEND,
    MXNET_USE_FUSION,
)
from gluonish.core.context import gpu
from gluonish.core.device import device_of, gpu_count
from gluonish.gluon import Parameter, Trainer
from gluonish.gluon.nn import HybridLambda
from gluonish.graph.cached_graph import CachedGraph
from gluonish.kernels.generated import support as generated
from gluonish.kernels.onednn import register as onednn
from gluonish.ndarray import NDArray, ones
from gluonish.symbol import Subgraph, SubgraphBackend, Symbol
from gluonish.symbol.subgraph import OperatorNode, registered_backend
from gluonish.tools.env_checks.process import NotHereError, expect, observes

_numbers = count()  # makes each generated kernel different from earlier ones


def _steps(symbol: Symbol, arrays: Sequence[NDArray]) -> list[str]:
    """Run a graph once, and return the operators of its plan, in order."""
    graph = CachedGraph(symbol._variables(), symbol._values, name="check")
    graph(arrays)[0].wait_to_read()
    (plan,) = graph._plans.values()
    return [step.op.name for step in plan.forward.layout.instructions]


def _need_generated_kernels() -> None:
    with MXNET_USE_FUSION.override(True):
        if not generated.enabled():
            raise NotHereError("needs llvmlite, which compiles kernels")


@observes(MXNET_ELIMINATE_COMMON_EXPR)
def _common() -> str:
    x = sym.var("x")
    found = []
    for switch in (True, False):
        with MXNET_ELIMINATE_COMMON_EXPR.override(switch), MXNET_USE_FUSION.override(False):
            found.append(_steps(x.sin() + x.sin(), [ones((2, 3))]).count("sin"))
    expect(MXNET_ELIMINATE_COMMON_EXPR, found == [1, 2], "1 sine with it and 2 without", found)
    return "the plan of sin(x) + sin(x) had one sine with it, and two without"


@observes(MXNET_DISABLED_GRAPH_PASSES)
def _passes() -> str:
    copied = sym.identity(sym.var("x"))
    found = []
    for names in ((), ("simplify",)):
        with MXNET_DISABLED_GRAPH_PASSES.override(names), MXNET_USE_FUSION.override(False):
            found.append(_steps(copied + copied, [ones((2, 3))]).count("_copy"))
    expect(MXNET_DISABLED_GRAPH_PASSES, found == [0, 1], "a copy without simplify only", found)
    return "a copy stayed in the plan if simplify was disabled, else it was removed"


@observes(MXNET_USE_FUSION)
def _fusion() -> str:
    _need_generated_kernels()
    x = sym.var("x")
    found = []
    for switch in (True, False):
        with MXNET_USE_FUSION.override(switch):
            found.append(_steps((x * 2).tanh() + 1, [ones((64, 64))]))
    fused, single = found
    expect(MXNET_USE_FUSION, len(fused) == 1, "one step with fusion", fused)
    expect(MXNET_USE_FUSION, len(single) == 3, "a step for each operator without", single)
    return f"three operators were one step ({fused[0]}) with it and three steps without"


@observes(MXNET_FUSION_VERBOSE)
def _verbose() -> str:
    _need_generated_kernels()
    x = sym.var("x")
    printed = []
    for switch in (True, False):
        written = io.StringIO()
        new = 1.5 + next(_numbers) / 1024  # no kernel is cached for this number yet
        with (
            MXNET_FUSION_VERBOSE.override(switch),
            MXNET_USE_FUSION.override(True),
            contextlib.redirect_stderr(written),
        ):
            _steps((x * new).tanh() + new, [ones((64, 64))])
        printed.append(written.getvalue())
    lines = printed[0].splitlines()
    expect(MXNET_FUSION_VERBOSE, "def body(" in printed[0], "the source of a kernel", printed[0])
    expect(MXNET_FUSION_VERBOSE, printed[1] == "", "no output without it", printed[1])
    return f"{len(lines)} lines of a generated kernel's source were printed with it, none without"


class _Check(SubgraphBackend):
    """A subgraph property that replaces each subgraph by itself plus 1."""

    def select(self, node: OperatorNode) -> bool:
        return True

    def replace(self, subgraph: Subgraph) -> Symbol:
        more: Symbol = subgraph.symbol + 1
        return more


@observes(MXNET_SUBGRAPH_BACKEND)
def _backend() -> str:
    x, weight = sym.var("x"), sym.var("weight")
    dense = sym.FullyConnected(x, weight, num_hidden=4, no_bias=True)
    arrays = [ones((2, 3)), ones((4, 3))]
    seen = []
    if onednn.enabled():
        for name in ("ONEDNN", "NONE"):
            with MXNET_SUBGRAPH_BACKEND.override(name):
                seen.append(len(_steps(sym.Activation(dense, act_type="relu"), arrays)))
        expect(MXNET_SUBGRAPH_BACKEND, seen == [1, 2], "a fused step with ONEDNN only", seen)
    bound = []
    with registered_backend("check", _Check):
        for name in ("check", "NONE"):
            with MXNET_SUBGRAPH_BACKEND.override(name):
                executor = dense.bind(arrays[0].context, arrays)
                bound.append(float(executor.forward()[0].max().asscalar()))
    expect(MXNET_SUBGRAPH_BACKEND, bound == [4.0, 3.0], "the 1 that the backend adds", bound)
    fused = "a layer and its activation were one step with ONEDNN, two with NONE; " if seen else ""
    return f"{fused}a registered backend replaced a subgraph"


@observes(MXNET_ENABLE_CUDA_GRAPHS)
def _cuda_graphs() -> str:
    """Call a network with static memory and shapes, and count the graphs that a GPU launches."""
    flag = MXNET_ENABLE_CUDA_GRAPHS
    if not gpu_count():
        raise NotHereError("needs a GPU")
    graphs: Any = device_of(gpu(0)).graphs
    found = []
    for value in (False, True):
        block = HybridLambda("tanh")
        block.hybridize(static_alloc=True, static_shape=True)
        before = graphs.launches
        with flag.override(value):
            for _ in range(4):
                block(ones((8,), ctx=gpu(0))).wait_to_read()
        found.append(graphs.launches - before)
    expect(flag, found[0] == 0 < found[1], "no graph without it, and some with it", found)
    return f"four calls of a network launched {found[0]} and {found[1]} graphs"


@observes(GLUONISH_CUDA_MOVE)
def _cuda_move() -> str:
    """Call a network on a large array, and count the arrays that its CUDA graphs read in place."""
    if not gpu_count():
        raise NotHereError("needs a GPU")
    graphs: Any = device_of(gpu(0)).graphs
    x, found = ones((1 << 21,), ctx=gpu(0)), []
    for value in (False, True):
        block = HybridLambda(lambda F, x: F.sum(F.tanh(x) * 2 + 1))
        block.hybridize(static_alloc=True, static_shape=True)
        before = {id(replay) for replay in tuple(graphs._living)}
        with GLUONISH_CUDA_MOVE.override(value), MXNET_ENABLE_CUDA_GRAPHS.override(True):
            for _ in range(3):
                block(x).wait_to_read()
        made = [replay for replay in tuple(graphs._living) if id(replay) not in before]
        found.append(sum(len(replay.moves) for replay in made))
    expect(GLUONISH_CUDA_MOVE, found == [0, 1], "the array is read in place with it only", found)
    return "a graph read a large array in place with it, and a copy without"


@observes(GLUONISH_DEVICE_LOSS_SCALE)
def _device_loss_scale() -> str:
    """Take a step with a loss scale on a GPU, and ask where the scale is."""
    if not gpu_count():
        raise NotHereError("needs a GPU")
    weight = Parameter("weight", shape=(2,))
    weight.initialize(ctx=gpu(0))
    found = []
    for value in (False, True):
        trainer = Trainer([weight], "sgd")
        amp.init_trainer(trainer)
        with GLUONISH_DEVICE_LOSS_SCALE.override(value):
            with record(), amp.scale_loss(weight.data().sum(), trainer) as scaled:
                backward(scaled)
            trainer.step(1)
        scaler: Any = trainer._amp_loss_scaler
        found.append(scaler.is_on_device)
    expect(GLUONISH_DEVICE_LOSS_SCALE, found == [False, True], "a scale there with it only", found)
    return "the loss scale was on the device with it, and on the host without"
