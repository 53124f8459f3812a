from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gluonish.graph.passes.mirror as mirror_module
from gluonish import autograd
from gluonish.core.config import MXNET_BACKWARD_DO_MIRROR, MXNET_MEMORY_OPT
from gluonish.core.random_state import seed
from gluonish.graph.cached_graph import CachedGraph
from gluonish.graph.gradient import Joint
from gluonish.graph.ir import Value, lint, variable
from gluonish.graph.memory_figures import memory_figures
from gluonish.graph.partition import split_passes
from gluonish.graph.passes.mirror import mirror
from gluonish.graph.saved_values import Effort
from gluonish.ndarray import array
from tests.graph.builders import call, graph, inputs, spec
from tests.graph.joints import joint_of
from tests.graph.random_graphs import RandomGraph, random_graphs

BN = {"fix_gamma": False, "eps": 1e-3, "train": True}


@contextmanager
def _flags(effort: Effort) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(MXNET_BACKWARD_DO_MIRROR.override(effort == Effort.LITTLE))
        stack.enter_context(MXNET_MEMORY_OPT.override(effort == Effort.ANYTHING))
        yield


def _names(values: Sequence[Value]) -> list[str]:
    return [value.node.op.name for value in values if value.node.op]


def _normalized(x: Value, prefix: str, variables: list[Value]) -> Value:
    parameters = [variable(f"{prefix}{i}", spec(x.shape[1])) for i in range(4)]
    variables += parameters
    result: Value = call("BatchNorm", x, *parameters, **BN)
    return result


def _residual(depth: int, channels: int = 4) -> tuple[list[Value], Value]:
    """Return variables and result of ``depth`` sums of a value and a convolution of it."""
    x = variable("x", spec(2, channels, 5, 5))
    variables = [x]
    y: Value = x
    for i in range(depth):
        weight = variable(f"w{i}", spec(channels, channels, 3, 3))
        variables.append(weight)
        z = call("Convolution", y, weight, kernel=(3, 3), pad=(1, 1), num_filter=channels,
                 no_bias=True)  # fmt: skip
        y = call("Activation", _normalized(z, f"n{i}_", variables) + y, act_type="relu")
    return variables, y


def test_a_rectifier_behind_a_normalization_is_computed_again_from_its_statistics() -> None:
    x, weight = variable("x", spec(2, 4, 5, 5)), variable("w", spec(4, 4, 3, 3))
    variables = [x, weight]
    y = call("Activation", _normalized(x * 2.0, "n", variables), act_type="relu")
    z = call("Convolution", y, weight, kernel=(3, 3), num_filter=4, no_bias=True)
    made = graph(variables, z)
    with _flags(Effort.LITTLE):
        parts = split_passes(made, [0, 1])
    assert _names(parts.saved) == ["BatchNorm", "BatchNorm"]  # the statistics
    copies = [node.op.name for node in parts.backward if node.op]
    assert copies.count("_batch_norm_apply") == 1
    assert copies.count("_mul_scalar") == 2  # the copy, and the gradient
    assert "BatchNorm" not in copies
    assert len(split_passes(made, [0, 1]).saved) == 4


def test_products_are_not_computed_again_by_mirroring() -> None:
    x, weight = inputs((2, 3), (4, 3))
    y = call("Activation", call("FullyConnected", x, weight, num_hidden=4, no_bias=True),
             act_type="relu")  # fmt: skip
    made = graph([x, weight], call("square", y))
    with _flags(Effort.LITTLE):
        parts = split_passes(made, [0, 1])
    assert "FullyConnected" not in [node.op.name for node in parts.backward if node.op]
    assert _names(parts.saved) == ["Activation"]


def test_what_is_kept_anyway_gives_what_follows_from_it() -> None:
    (a,) = inputs((2, 3))
    b = call("sin", a)
    made = graph([a], call("square", call("exp", b)))
    with _flags(Effort.LITTLE):
        parts = split_passes(made, [0])
    assert parts.saved == []
    assert parts.read_inputs == [0]


def test_a_mask_is_kept_and_dropout_is_applied_again_with_it() -> None:
    (a,) = inputs((20, 30))
    made = graph([a], call("square", call("Dropout", call("sin", a), p=0.5, train=True)))
    with _flags(Effort.LITTLE):
        parts = split_passes(made, [0])
    assert [(value.node.op.name, value.index) for value in parts.saved if value.node.op] == [
        ("Dropout", 1)
    ]


def test_without_effort_only_shapes_are_made_again() -> None:
    (a,) = inputs((2, 3))
    flat = call("Reshape", call("exp", a), shape=(-1,))
    joint = joint_of(graph([a], call("square", flat)), [0])
    assert len(joint.read) == 2
    assert _names(list(mirror(joint, Effort.NOTHING).read.values())) == ["exp"]


@pytest.mark.parametrize("effort", [Effort.LITTLE, Effort.ANYTHING])
def test_the_result_is_a_legal_graph_with_the_same_outputs(effort: Effort) -> None:
    variables, y = _residual(6)
    joint = joint_of(graph(variables, y), range(len(variables)))
    mirrored = mirror(joint, effort)
    lint(mirrored.graph)
    assert mirrored.outputs == joint.outputs
    assert [v.spec for v in mirrored.gradients] == [v.spec for v in joint.gradients]
    assert [id(node) for node in mirrored.forward] == [id(node) for node in joint.forward]


def test_more_effort_saves_more_on_a_residual_chain() -> None:
    variables, y = _residual(16, channels=8)
    totals = []
    for effort in Effort:
        with _flags(effort):
            figures = memory_figures(split_passes(graph(variables, y), range(len(variables))))
        totals.append(figures.saved + figures.backward)
    assert totals[1] < 0.75 * totals[0]
    assert totals[2] < 0.5 * totals[0]


def test_memory_grows_like_the_root_of_the_depth_with_all_effort() -> None:
    def kept_and_backward(depth: int) -> int:
        variables, y = _residual(depth, channels=8)
        with _flags(Effort.ANYTHING):
            figures = memory_figures(split_passes(graph(variables, y), range(len(variables))))
        return figures.saved + figures.backward

    assert kept_and_backward(36) < 2.6 * kept_and_backward(9)


@pytest.mark.parametrize(("effort", "depth"), [(Effort.LITTLE, 6), (Effort.ANYTHING, 3)])
def test_of_the_segments_those_are_chosen_whose_plan_needs_least(
    monkeypatch: pytest.MonkeyPatch, effort: Effort, depth: int
) -> None:
    def planned() -> int:
        variables, y = _residual(depth, channels=8)
        with _flags(effort):
            return memory_figures(split_passes(graph(variables, y), range(len(variables)))).planned

    def one_that_chooses(index: int) -> Callable[[Joint], tuple[int, int]]:
        asked = count()
        return lambda joint: (int(next(asked) != index), 0)

    chosen = planned()
    every = []
    for index in range(4):
        monkeypatch.setattr(mirror_module, "_nbytes", one_that_chooses(index))
        every.append(planned())
    assert chosen == min(every) < max(every)


def test_a_value_that_is_overwritten_is_not_read_for_a_copy() -> None:
    x, gamma, beta, mean, deviation = inputs((4, 3), (3,), (3,), (3,), (3,))
    shifted = call("broadcast_add", x, call("expand_dims", mean, axis=0))
    y = call("BatchNorm", call("exp", shifted), gamma, beta, mean, deviation, **BN)
    with _flags(Effort.LITTLE):
        parts = split_passes(graph([x, gamma, beta, mean, deviation], y), [0])
    assert {"expand_dims", "broadcast_add", "exp"}.intersection(_names(parts.saved))
    assert 3 not in parts.read_inputs


Results = tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]


def _run(made: RandomGraph, effort: Effort) -> Results:
    """Return outputs, gradients, and what the inputs hold afterwards."""
    nodes = [value.node for value in made.variables]
    arrays = made.arrays()
    for x in arrays:
        x.attach_grad()
    with _flags(effort):
        cached = CachedGraph(nodes, made.outputs, static_alloc=True)
        for step in range(2):
            seed(step)
            with autograd.record():
                outputs = cached(arrays)
            autograd.backward(
                outputs, [array(np.cos(np.arange(y.size)).reshape(y.shape)) for y in outputs]
            )
    return (
        [y.asnumpy() for y in outputs],
        [x.grad.asnumpy() for x in arrays],
        [x.asnumpy() for x in arrays],
    )


def _assert_alike(got: Results, want: Results) -> None:
    for group, expected in zip(got, want, strict=True):
        for x, y in zip(group, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


@given(random_graphs(), st.sampled_from([Effort.LITTLE, Effort.ANYTHING]))
def test_random_graphs_give_the_same_and_move_statistics_once(
    made: RandomGraph, effort: Effort
) -> None:
    _assert_alike(_run(made, effort), _run(made, Effort.NOTHING))


@pytest.mark.parametrize("effort", [Effort.LITTLE, Effort.ANYTHING])
def test_a_residual_network_trains_alike(effort: Effort) -> None:
    variables, y = _residual(5)
    random = np.random.default_rng(4)
    values = [random.standard_normal(v.shape).astype(np.float32) for v in variables]
    values = [abs(v) + 0.5 if v.ndim == 1 else v * 0.3 for v in values]
    made = RandomGraph(variables, [y], values)
    _assert_alike(_run(made, effort), _run(made, Effort.NOTHING))
