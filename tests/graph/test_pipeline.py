import pytest

from gluonish.core.config import (
    MXNET_DISABLED_GRAPH_PASSES,
    MXNET_ELIMINATE_COMMON_EXPR,
    MXNET_USE_FUSION,
)
from gluonish.core.context import cpu
from gluonish.core.device import device_of
from gluonish.core.errors import ConfigError
from gluonish.graph import passes, pipeline
from gluonish.graph.pipeline import finish, fuse_layers, optimize, split_layers
from gluonish.graph.strided_views import channels_last_values
from gluonish.kernels import back_ends
from gluonish.kernels.compiler import compile as compiler
from gluonish.kernels.generated import support as generated
from gluonish.kernels.onednn import register as onednn
from tests.graph.builders import call, graph, inputs, text


def _made() -> str:
    (a,) = inputs((2,))
    y = call("relu", a) + call("relu", call("_copy", a))
    return str(optimize(graph([a], y)))


def test_simplification_lets_subexpressions_meet() -> None:
    assert _made() == text(
        """
        %0: float32(2,) = variable a
        %1: float32(2,) = relu(%0)
        %2: float32(2,) = broadcast_add(%1, %1)
        return %2
        """
    )


def test_the_environment_switches_common_subexpressions_off() -> None:
    with MXNET_ELIMINATE_COMMON_EXPR.override(False):
        assert _made().count("relu") == 2


ALONE = ("channels_last", *passes.__all__)


def test_each_pass_can_be_switched_off_by_its_name() -> None:
    for name in ALONE:
        with MXNET_DISABLED_GRAPH_PASSES.override((name,)):
            assert MXNET_DISABLED_GRAPH_PASSES.value == (name,)
    listed = MXNET_DISABLED_GRAPH_PASSES.expected
    assert listed == f"some of {', '.join(sorted(ALONE))}, with commas between"


def test_a_pass_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_DISABLED_GRAPH_PASSES", "simplify, fly")
    with pytest.raises(ConfigError, match=r"MXNET_DISABLED_GRAPH_PASSES: .*got 'simplify, fly'"):
        _made()


def test_without_simplification_the_copy_stays() -> None:
    with MXNET_DISABLED_GRAPH_PASSES.override(("simplify",)):
        assert _made().count("_copy") == 1


@pytest.mark.parametrize("name", passes.__all__)
def test_only_the_named_pass_is_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (generated.enabled() and onednn.enabled()):
        pytest.skip("generated kernels or oneDNN are not there, for which some passes are")
    ran: list[str] = []
    plain = pipeline._is_on

    def watched(graph_pass: object) -> bool:
        is_on = plain(graph_pass)
        if is_on:
            ran.append(getattr(graph_pass, "func", graph_pass).__name__)  # type: ignore[attr-defined]
        return is_on

    monkeypatch.setattr(pipeline, "_is_on", watched)
    every = {**back_ends.passes("gpu"), **back_ends.passes("cpu")}  # some are for GPUs only
    monkeypatch.setattr(back_ends, "passes", lambda platform: every)
    (a,) = inputs((2,))
    device = device_of(cpu())
    with MXNET_DISABLED_GRAPH_PASSES.override((name,)):
        made = optimize(graph([a], call("relu", a)))
        pipeline.without_history(made)
        for stable in (None, ()):
            finish(split_layers(fuse_layers(made, device, stable), device), device)
    assert set(passes.__all__) - set(ran) == {name}


def test_the_layout_of_memory_can_stay_that_of_the_shapes() -> None:
    x, weight = inputs((2, 8, 6, 6), (8, 8, 3, 3))
    y = call("Convolution", x, weight, kernel=(3, 3), num_filter=8, no_bias=True)
    assert channels_last_values([y.node])
    with MXNET_DISABLED_GRAPH_PASSES.override(("channels_last",)):
        assert not channels_last_values([y.node])
        assert channels_last_values([y.node], [x.key]) == {x.key}


def test_without_a_compiler_operators_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    (a,) = inputs((32, 64))
    plain = graph([a], call("relu", call("exp", a)))
    compiler.available.cache_clear()
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)
    try:
        assert finish(plain, device_of(cpu())) is plain
    finally:
        compiler.available.cache_clear()


def test_common_subexpressions_of_split_layers_have_the_same_switch() -> None:
    (a,) = inputs((2,))
    device = device_of(cpu())
    with MXNET_USE_FUSION.override(True):
        if not generated.enabled():
            pytest.skip("generated kernels are not there")
        doubled = graph([a], call("sin", a) + call("sin", a))
        assert str(split_layers(doubled, device)).count("sin") == 1
        with MXNET_ELIMINATE_COMMON_EXPR.override(False):
            assert str(split_layers(doubled, device)).count("sin") == 2
