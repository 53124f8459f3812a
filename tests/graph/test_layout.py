from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gluonish.core.spec import Spec
from gluonish.graph.ir import Value, topological_order
from gluonish.graph.strided_views import channels_last_values
from gluonish.ops.registry import all_operators
from gluonish.ops.support.memory_layout import array_of, follows_layout, has_channels
from tests.graph.builders import call, inputs
from tests.ops.operator_runs import Call, calls_of


def _found(outputs: list[Value]) -> set[str]:
    nodes = [node for node in topological_order(outputs) if node.op is not None]
    found = channels_last_values(nodes)
    return {node.op.name for node in nodes if node.op is not None and (id(node), 0) in found}


def _convolved() -> Value:
    x, w = inputs((2, 3, 8, 8), (4, 3, 3, 3))
    return call("Convolution", x, w, kernel=(3, 3), num_filter=4, no_bias=True)


def test_the_layout_starts_at_convolutions_and_goes_on_through_what_follows() -> None:
    y = call("Pooling", call("relu", _convolved()), kernel=(2, 2), pool_type="max")
    assert _found([y]) == {"Convolution", "relu", "Pooling"}


def test_without_a_convolution_nothing_lies_channels_last() -> None:
    (x,) = inputs((2, 3, 8, 8))
    assert _found([call("relu", x)]) == set()


def test_another_shape_ends_it() -> None:
    assert _found([call("relu", call("Flatten", _convolved()))]) == {"Convolution"}


def test_a_convolution_with_its_channels_last_in_the_shape_is_left_alone() -> None:
    x, w = inputs((2, 8, 8, 3), (4, 3, 3, 3))
    attrs = {"kernel": (3, 3), "num_filter": 4, "no_bias": True, "layout": "NHWC"}
    assert _found([call("Convolution", x, w, **attrs)]) == set()


def test_gradients_of_weights_lie_as_weights_do() -> None:
    g, x = inputs((2, 4, 6, 6), (2, 3, 8, 8))
    attrs = {"kernel": (3, 3), "num_filter": 4, "weight_shape": (4, 3, 3, 3)}
    given = {g.key, x.key}
    weight = call("_convolution_backward_weight", call("relu", g), x, **attrs)
    nodes = [node for node in topological_order([call("relu", weight)]) if node.op is not None]
    assert len(channels_last_values(nodes, given) - given) == 1


def test_one_channel_or_one_pixel_has_one_layout_only() -> None:
    kind = np.dtype(np.float32)
    assert not has_channels(Spec((2, 1, 4, 4), kind))
    assert not has_channels(Spec((2, 4, 1, 1), kind))
    assert has_channels(Spec((1, 4, 1, 2), kind))


def test_memory_with_channels_last_shows_its_shape() -> None:
    spec = Spec((2, 3, 4, 5), np.dtype(np.float32))
    made = array_of(np.zeros(spec.nbytes, np.uint8), spec, channels_last=True)
    assert made.shape == spec.shape
    assert np.moveaxis(made, 1, -1).flags.c_contiguous


def _last(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


def _pictures(case: Call) -> list[np.ndarray[Any, Any]] | None:
    """Return the inputs with axes of channels; None where the operator wants others."""
    if any(x.ndim == 4 for x in case.inputs):
        return case.inputs
    if case.op.name in ("Pooling", "slice_axis"):  # attributes fit the case's shape only
        return case.inputs if case.inputs[0].ndim in (3, 5) else None
    same = case.op.name.startswith("broadcast_") or len({x.shape for x in case.inputs}) == 1
    if same and all(x.size for x in case.inputs):
        return [np.resize(x, (2, 3, 2, 4)) for x in case.inputs]
    return None


# Generated kernels have tests of their own, with every layout.
_CONCERNED = [
    op
    for op in all_operators()
    if follows_layout(op) and not op.name.endswith("_update") and "pointwise" not in op.name
]


@pytest.mark.parametrize("op", _CONCERNED, ids=lambda op: op.name)
def test_reference_kernels_fill_memory_with_channels_last(op: Any) -> None:
    tried = 0
    for case in calls_of(op.name):
        pictures = _pictures(case)
        if pictures is None:
            continue
        written = op.mutated_inputs({**case.attrs, **case.runtime})
        wanted = Call(op, pictures, case.attrs, case.runtime).run()
        specs = [Spec(x.shape, x.dtype) for x in pictures]
        outputs = []
        for spec in op.infer(*specs, **case.attrs):
            last = has_channels(spec)
            outputs.append(array_of(np.zeros(spec.nbytes, np.uint8), spec, channels_last=last))
        given = [_last(x) if has_channels(Spec(x.shape, x.dtype)) else x for x in pictures]
        given = [x.copy() if i in written else x for i, x in enumerate(given)]
        attrs = {**case.attrs, **case.runtime}
        op.kernel(np, outputs[0] if op.single else tuple(outputs), *given, **attrs)
        for i, (got, expected) in enumerate(zip(outputs, wanted, strict=True)):
            if i in op.workspaces:  # a mask's bits are in the order of memory
                continue
            np.testing.assert_allclose(
                got.astype(np.float64), expected.astype(np.float64), rtol=1e-5, atol=1e-5
            )
        tried += 1
    assert tried


def test_a_back_end_chooses_where_the_layout_starts_and_what_is_read_in_it() -> None:
    x, weight, scale = inputs((2, 8, 6, 6), (8, 8, 3, 3), (8, 1, 1, 1))
    scaled, shifted = call("broadcast_mul", weight, scale), call("broadcast_add", x, x)
    flat = call("Reshape", shifted, shape=(2, 8, 6, 6))
    window = {"kernel": (3, 3), "num_filter": 8, "no_bias": True}
    first, second = (call("Convolution", data, scaled, **window) for data in (shifted, flat))
    nodes = [value.node for value in (scaled, shifted, flat, first, second)]

    def starts(op: object, attrs: object, specs: Sequence[Spec], xp: object) -> bool:
        assert xp == "module"
        return op is first.node.op and len(specs) == 2

    anchors = {first.key, second.key}
    positions = lambda op, attrs: (0, 1)  # noqa: E731
    assert channels_last_values(nodes, (), "module", starts=starts) == anchors
    # The weight and the first data are computed in the layout, a reshape keeps its own.
    made = channels_last_values(nodes, (), "module", starts=starts, positions=positions)
    assert made == {*anchors, scaled.key, shifted.key}
    assert not channels_last_values(nodes, (), starts=lambda *_: False, positions=positions)
