import numpy as np
import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentError, OperatorError
from gluonish.core.user_functions import np_shape
from gluonish.symbol import Symbol


def _dense() -> Symbol:
    return sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")


def test_all_shapes_follow_from_the_data() -> None:
    y = sym.BatchNorm(sym.Convolution(sym.var("x"), kernel=(3, 3), num_filter=4, name="c"))
    arguments, outputs, auxiliary = y.infer_shape(x=(2, 3, 8, 8))
    assert arguments == [(2, 3, 8, 8), (4, 3, 3, 3), (4,), (4,), (4,)]
    assert outputs == [(2, 4, 6, 6)]
    assert auxiliary == [(4,), (4,)]


def test_shapes_may_come_by_position() -> None:
    assert _dense().infer_shape((2, 5))[1] == [(2, 3)]


def test_shapes_flow_backward() -> None:
    assert (sym.var("a") + sym.var("b")).infer_shape(b=(2, 3))[0] == [(2, 3), (2, 3)]


def test_zero_is_an_extent_with_the_semantics_of_numpy() -> None:
    with np_shape():
        assert _dense().infer_shape(data=(0, 5))[1] == [(0, 3)]
        assert _dense().infer_shape(data=(-1, 5)) == (None, None, None)
        assert _dense().infer_shape_partial(data=(-1, 5))[1] == [(-1, 3)]


def test_an_incomplete_result_is_three_times_none() -> None:
    assert _dense().infer_shape() == (None, None, None)
    assert _dense().infer_shape(data=(0, 5)) == (None, None, None)


def test_a_partial_result_has_zeros_for_unknown_extents() -> None:
    arguments, _, auxiliary = _dense().infer_shape_partial(data=(0, 5))
    assert arguments == [(0, 5), (3, 5), (3,)]
    assert auxiliary == []


def test_declared_shapes_count_and_given_ones_win() -> None:
    x = sym.var("x", shape=(2, 3))
    assert sym.relu(x).infer_shape()[1] == [(2, 3)]
    assert sym.relu(x).infer_shape(x=(4, 5))[1] == [(4, 5)]


def test_zeros_in_a_declaration_mean_unknown() -> None:
    y = sym.FullyConnected(sym.var("x"), sym.var("w", shape=(3, 0)), num_hidden=3, no_bias=True)
    assert y.infer_shape(x=(2, 7))[0] == [(2, 7), (3, 7)]


def test_a_contradiction_names_the_node() -> None:
    with pytest.raises(OperatorError, match=r"^fc: "):
        _dense().infer_shape(data=(2, 3), fc_weight=(4, 4))


def test_positions_and_names_do_not_mix() -> None:
    with pytest.raises(ArgumentError, match="by position or by name, got both"):
        _dense().infer_shape((2, 5), fc_bias=(3,))
    with pytest.raises(ArgumentError, match="expected at most 3 arguments, got 4"):
        _dense().infer_shape((1,), (1,), (1,), (1,))


def test_dtypes_follow_from_the_data() -> None:
    assert _dense().infer_type(data="float16") == ([np.float16] * 3, [np.float16], [])


def test_an_incomplete_dtype_result_is_three_times_none() -> None:
    assert _dense().infer_type() == (None, None, None)


def test_a_partial_dtype_result_has_none_for_unknown_ones() -> None:
    y = sym.take(sym.var("a"), sym.var("i"))
    assert y.infer_type(a="float16") == (None, None, None)
    assert y.infer_type_partial(a="float16") == ([np.float16, None], [np.float16], [])


@pytest.mark.parametrize("name", ["float64", "float32", "int32"])
def test_all_inputs_of_most_operators_have_one_dtype(name: str) -> None:
    dtype = np.dtype(name).type
    y = sym.concat(sym.var("a"), sym.dot(sym.var("b"), sym.var("c")))
    assert y.infer_type(c=name) == ([dtype] * 3, [dtype], [])
    z = sym.elemwise_add(sym.var("a"), sym.var("b"))
    assert z.infer_type(b=name) == ([dtype] * 2, [dtype], [])


def test_dtypes_flow_backward() -> None:
    y = sym.FullyConnected(sym.Flatten(sym.var("x")), sym.var("w"), no_bias=True, num_hidden=2)
    assert y.infer_type(w="float64") == ([np.float64] * 2, [np.float64], [])


def test_an_index_may_be_of_any_dtype() -> None:
    y = sym.pick(sym.var("a"), sym.var("i"))
    assert y.infer_type(a="float64", i="int32") == ([np.float64, np.int32], [np.float64], [])
    z = sym.where(sym.var("c"), sym.var("x"), sym.var("y"))
    found = z.infer_type(c="int32", x="float64")
    assert found == ([np.int32, np.float64, np.float64], [np.float64], [])


def test_the_dtype_of_an_output_may_be_an_attribute() -> None:
    assert sym.one_hot(sym.var("a"), depth=3).infer_type(a="int32")[1] == [np.float32]
    both = sym.topk(sym.var("a"), ret_typ="both", dtype="int32")
    assert both.infer_type(a="float64")[1] == [np.float64, np.int32]


def test_declared_shapes_do_not_keep_dtypes_from_being_found() -> None:
    y = sym.var("a", shape=(2, 3)) + sym.var("b", shape=(4, 5))
    assert y.infer_type(a="float16") == ([np.float16] * 2, [np.float16], [])


def test_a_declared_dtype_counts() -> None:
    assert sym.relu(sym.var("x", dtype="float64")).infer_type()[1] == [np.float64]


def test_an_operator_that_names_its_dtype_gives_it_without_shapes() -> None:
    y = sym.Cast(sym.var("x"), dtype="int32")
    assert y.infer_type(x="float64") == ([np.float64], [np.int32], [])


def test_outputs_have_the_dtype_of_the_data_without_shapes() -> None:
    y = sym.BatchNorm(sym.var("x"))
    arguments, outputs, auxiliary = y.infer_type(x="float64")
    assert outputs == [np.float64]
    assert set(arguments + auxiliary) == {np.float64}


@pytest.mark.parametrize("text", ["(2, 3", "x", "((((", "(2, 'a')"])
def test_damaged_shape_of_a_variable_is_refused(text: str) -> None:
    x = sym.var("x", attr={"__shape__": text})
    with pytest.raises(OperatorError, match="x: expected __shape__ as a tuple"):
        sym.relu(x).infer_shape()


def test_number_as_shape_of_a_random_operator_is_no_tuple() -> None:
    y = sym.load_json(
        '{"nodes":[{"op":"_npi_gamma","name":"y","inputs":[],"attrs":{"shape":"1.5","scale":"1",'
        '"size":"(2,)"}}],"arg_nodes":[],"heads":[[0,0,0]]}'
    )
    assert y.infer_shape()[1] == [(2,)]


def test_indices_of_batch_take_are_int32_unless_they_are_said_to_be_others() -> None:
    y = sym.batch_take(sym.var("a"), sym.var("i"))
    assert y.infer_type(a="float16") == ([np.float16, np.int32], [np.float16], [])
    assert y.infer_type(a="float16", i="int64") == ([np.float16, np.int64], [np.float16], [])


def test_shape_of_one_number_is_known_with_the_semantics_of_numpy() -> None:
    a, b = sym.var("a"), sym.var("b")
    with np_shape():
        assert sym.exp(a).infer_shape(a=()) == ([()], [()], [])
        assert sym.broadcast_add(a, b).infer_shape(a=(2, 3), b=())[1] == [(2, 3)]
        one = sym.var("one", shape=())
        assert one.infer_shape() == ([()], [()], [])
        assert sym.load_json(one.tojson()).infer_shape() == ([()], [()], [])
        none = sym.var("none", shape=(0, 2))
        assert (none * 2).infer_shape() == ([(0, 2)], [(0, 2)], [])
    assert sym.exp(a).infer_shape(a=()) == (None, None, None)


def test_number_and_truth_values_are_int64() -> None:
    flags = sym.var("flags")
    for symbol in (flags + 2, flags == 2, 2 / flags):
        assert symbol.infer_type(flags="bool") == ([np.bool_], [np.int64], [])
