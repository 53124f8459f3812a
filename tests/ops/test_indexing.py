"""Facts of MXNet 1.9.1 about indexing and ordering, found by running it."""

from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import OperatorError, OperatorIndexError
from gluonish.ops.registry import find_operator
from tests.checking.check_operator import check_operator
from tests.checking.values import ArrayValue, run_operator

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def f(*values: Any) -> Any:
    return np.array(values, np.float32)


def out(name: str, *arrays: Any, **attrs: Any) -> Any:
    return run_operator(name, *arrays, **attrs).tolist()


def test_take_clips_wraps_or_refuses_positions_outside() -> None:
    assert out("take", X, f(-1, 5, 1)) == [[0, 1, 2], [3, 4, 5], [3, 4, 5]]
    assert out("take", X, f(-1, 5, 0), mode="wrap") == [[3, 4, 5], [3, 4, 5], [0, 1, 2]]
    with pytest.raises(OperatorError, match=r"positions in \[0, 2\)"):
        out("take", X, f(-1, 1), mode="raise")


def test_take_of_a_single_position() -> None:
    for given, row in ((0, 0), (1, 1), (-1, 0), (5, 1)):
        for position in (np.array([given], np.int32), np.array([given], np.float32)):
            assert out("take", X, position) == X[row : row + 1].tolist()
        assert out("take", X, np.array([[given]], np.int64)) == [X[row : row + 1].tolist()]
        assert (
            out("take", X, np.array([given]), mode="wrap") == X[given % 2 : given % 2 + 1].tolist()
        )
    with pytest.raises(OperatorIndexError, match="expected positions"):
        out("take", X, np.array([2], np.int32), mode="raise")
    assert out("take", X[0], np.array([2], np.int32)) == [2]


def test_take_cuts_fractions() -> None:
    assert out("take", X, f(0.7, 1.9)) == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("axis", [1, -1])
def test_take_along_an_inner_axis(axis: int) -> None:
    check_operator("take", [X, f([0, 1], [2, 2])], {"axis": axis}, X[:, [[0, 1], [2, 2]]])


def test_pick_clips_or_wraps() -> None:
    assert out("pick", X, f(5, -1)) == [2, 3]
    assert out("pick", X, f(5, -1), mode="wrap") == [2, 5]
    assert out("pick", X, f(5, -1), keepdims=True) == [[2], [3]]
    assert out("pick", X, f([1], [0])) == [1, 3]
    assert out("pick", X, f(1, 0, 1), axis=0) == [3, 1, 5]


def test_pick_without_axis_is_refused() -> None:
    with pytest.raises(OperatorError, match="an int axis"):
        out("pick", X, f(3), axis=None)


def test_one_hot_leaves_rows_of_positions_outside_empty() -> None:
    assert out("one_hot", f(1, 5, -1), depth=3) == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    attrs = {"depth": 3, "on_value": 5, "off_value": -1, "dtype": "int32"}
    assert out("one_hot", f(1.6), **attrs) == [[-1, 5, -1]]


def test_gather_nd_selects_slices_and_counts_from_the_end() -> None:
    assert out("gather_nd", X, f([0, 1], [1, 2])) == [1, 5]
    assert out("gather_nd", X, f([-1, 1])) == [[3, 4, 5], [3, 4, 5]]


POINT_OUTSIDE = ([0, 1], [1, 3])


def test_point_outside_is_an_index_error_at_the_wait() -> None:
    missed = mx.nd.gather_nd(mx.nd.array(X), mx.nd.array(POINT_OUTSIDE))
    sum_ = missed.sum()
    for waited in (missed.asnumpy, missed.wait_to_read, sum_.asscalar):
        with pytest.raises(IndexError, match=r"coordinates in \[-3, 3\) along axis 1"):
            waited()
    mx.nd.gather_nd(mx.nd.array(X), mx.nd.array(POINT_OUTSIDE))
    with pytest.raises(OperatorIndexError, match="gather_nd: failed with"):
        mx.nd.waitall()
    assert issubclass(OperatorIndexError, OperatorError)


def test_point_outside_is_an_index_error_from_a_graph() -> None:
    class Gathers(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, points: Any) -> Any:
            return F.gather_nd(x + 1, points) * 2

    block = Gathers()
    block.hybridize()
    missed = block(mx.nd.array(X), mx.nd.array(POINT_OUTSIDE))
    with pytest.raises(IndexError, match="coordinates"):
        missed.asnumpy()
    data = [mx.sym.var(name) for name in ("x", "points")]
    bound = mx.sym.gather_nd(*data).bind(
        mx.cpu(), {"x": mx.nd.array(X), "points": mx.nd.array(POINT_OUTSIDE)}
    )
    with pytest.raises(IndexError, match="coordinates"):
        bound.forward()[0].asnumpy()


def test_last_of_equal_points_counts_in_scatter_nd() -> None:
    assert out("scatter_nd", f(1, 2, 3), f([0, 1, 1], [0, 1, 1]), shape=(2, 2)) == [[1, 0], [0, 3]]


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({"begin": (None, 1), "end": (None, None)}, [[1, 2], [4, 5]]),
        ({"begin": (1, -1), "end": (None, 0), "step": (-1, -1)}, [[5, 4], [2, 1]]),
        ({"begin": (1, 2), "end": (None, None), "step": (-1, -2)}, [[5, 3], [2, 0]]),
        ({"begin": (0,), "end": (1,)}, [[0, 1, 2]]),
        ({"begin": (0, 1), "end": (1, 2), "step": None}, [[1]]),
        ({"begin": (0, 1), "end": (1, 2), "step": "None"}, [[1]]),
        ({"begin": (), "end": (), "step": None}, [[0, 1, 2], [3, 4, 5]]),
        ({"begin": (0, 0), "end": (5, 9)}, [[0, 1, 2], [3, 4, 5]]),
        ({"begin": (0, 0), "end": (2, 3), "step": (None, 2)}, [[0, 2], [3, 5]]),
        ({"begin": "(0, None)", "end": "(1, None)"}, [[0, 1, 2]]),
        ({"begin": (1, 0), "end": (1, 2)}, []),
    ],
)
def test_slice(attrs: dict[str, Any], expected: list[Any]) -> None:
    assert out("slice", X, **attrs) == expected


def test_slice_wants_one_step_for_each_axis() -> None:
    with pytest.raises(OperatorError, match="of equal length"):
        out("slice", X, begin=(0, 0), end=(2, 3), step=(1,))


def test_slice_axis_refuses_an_end_outside() -> None:
    assert out("slice_axis", X, axis=1, begin=-2, end=None) == [[1, 2], [4, 5]]
    with pytest.raises(OperatorError, match="within 3 elements"):
        out("slice_axis", X, axis=1, begin=0, end=5)


def test_slice_like_takes_some_axes() -> None:
    assert out("slice_like", X, np.ones((1, 2))) == [[0, 1]]
    assert out("slice_like", X, np.ones((1, 2)), axes=(-1,)) == [[0, 1], [3, 4]]
    with pytest.raises(OperatorError, match="within data"):
        out("slice_like", X, np.ones((3, 2)))


def test_where_takes_a_condition_a_row() -> None:
    assert out("where", f(1, 0), X, -X) == [[0, 1, 2], [-3, -4, -5]]


def test_split_drops_the_axis_on_request() -> None:
    pieces = run_operator("split", X, num_outputs=3, squeeze_axis=True)
    assert [piece.tolist() for piece in pieces] == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(OperatorError, match="divisible by 2"):
        run_operator("split", X, num_outputs=2)


def test_split_v2_begins_pieces_at_indices() -> None:
    pieces = run_operator("_split_v2", X, indices=(0, 1), axis=1)
    assert [piece.tolist() for piece in pieces] == [[[0], [3]], [[1, 2], [4, 5]]]
    check_operator("_split_v2", [X], {"indices": (0,), "sections": 3, "squeeze_axis": True})


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad_agrees_with_numpy_and_its_gradient(mode: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    width = ((0, 0), (2, 1), (0, 3))
    attrs = {"mode": mode, "pad_width": tuple(n for pair in width for n in pair)}
    check_operator("Pad", [x], attrs, np.pad(x, width, mode))  # type: ignore[call-overload]


def test_reflection_wider_than_the_data_is_refused() -> None:
    with pytest.raises(OperatorError, match="less than 2 reflected elements along axis 0"):
        out("Pad", X, mode="reflect", pad_width=(2, 0, 0, 0))


def test_clip_with_crossed_bounds_tests_the_upper_one_first() -> None:
    assert out("clip", X, a_min=3, a_max=1) == [[3, 3, 1], [1, 1, 1]]


def test_clip_keeps_nan() -> None:
    assert np.isnan(run_operator("clip", f(np.nan), a_min=1, a_max=3)).all()


def test_clip_cuts_the_bounds_of_integers() -> None:
    assert out("clip", X.astype(np.int32), a_min=1.5, a_max=3.7) == [[1, 1, 2], [3, 3, 3]]
    assert out("clip", np.array([0, 1, 2, 255], np.uint8), a_min=-1, a_max=3) == [0, 1, 2, 3]


def test_cast_wraps_around() -> None:
    assert out("Cast", f(1.7, -1.7, 300), dtype="uint8") == [1, 255, 44]
    assert out("Cast", f(1.7, 0, np.nan), dtype="bool") == [True, False, True]


def test_topk_keeps_the_order_of_equal_elements() -> None:
    x = f(1, 1, 3, 3, 2)
    assert out("topk", x, k=3) == [2, 3, 4]
    assert out("topk", x, k=3, is_ascend=True) == [0, 1, 4]
    assert out("argsort", x, is_ascend=False) == [2, 3, 4, 0, 1]


def test_topk_returns_what_ret_typ_says() -> None:
    assert out("topk", X, k=2, ret_typ="mask") == [[0, 1, 1], [0, 1, 1]]
    assert out("topk", X, k=2, axis=None, ret_typ="mask") == [[0, 0, 0], [0, 1, 1]]
    assert out("topk", X, k=2, axis=None) == [5, 4]
    assert out("topk", X, k=0) == [[2, 1, 0], [2, 1, 0]]
    values, indices = run_operator("topk", X, k=1, ret_typ="both", dtype="int32")
    assert (values.tolist(), indices.tolist()) == ([[2], [5]], [[2], [2]])
    assert indices.dtype == np.int32


def test_topk_of_more_than_there_are_is_refused() -> None:
    with pytest.raises(OperatorError, match="at most 3, got 5"):
        out("topk", X, k=5)


def test_sort_without_axis_is_of_one_row() -> None:
    assert out("sort", f([3, 1, 2], [0, 9, 1]), axis=None) == [0, 1, 1, 2, 3, 9]
    check_operator("sort", [f([3, 1], [0, 9])], {"axis": None, "is_ascend": False}, f(9, 3, 1, 0))


def test_sequence_mask_along_axis_1() -> None:
    attrs = {"use_sequence_length": True, "value": -1, "axis": 1}
    assert out("SequenceMask", np.ones((2, 3), np.float32), f(1, 2), **attrs) == [
        [1, -1, -1],
        [1, 1, -1],
    ]


@pytest.mark.parametrize("mode", ["instance", "channel", "spatial"])
def test_l2_normalization(mode: str) -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2) + 1
    axes = {"instance": (1, 2), "channel": (1,), "spatial": (2,)}[mode]
    norm = np.sqrt((x * x).sum(axes, keepdims=True))
    check_operator("L2Normalization", [x], {"mode": mode}, x / norm)


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({"grad_scale": 3.0}, [[3, 3], [3, 3]]),
        ({"grad_scale": 3.0, "normalization": "batch"}, [[1.5, 1.5], [1.5, 1.5]]),
        (
            {"grad_scale": 3.0, "normalization": "valid", "valid_thresh": 1.5},
            [[1, 1], [1, 1]],
        ),
    ],
)
def test_make_loss_ignores_what_comes_from_behind(
    attrs: dict[str, Any], expected: list[Any]
) -> None:
    op = find_operator("MakeLoss")
    assert op.gradient is not None
    x = ArrayValue(f([1, 2], [3, 4]))
    (gradient,) = op.gradient(x, x, **op.schema.parse("MakeLoss", attrs))
    assert gradient.array.tolist() == expected
