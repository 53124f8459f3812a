import copy
import pickle
from typing import Any

import pytest

import gluonish.symbol as sym
from gluonish.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    GraphError,
    NotSupportedError,
    OperatorError,
)
from gluonish.ndarray import ones
from gluonish.symbol import AttrScope, NameManager, Symbol


def _network() -> Symbol:
    x = sym.var("data")
    y = sym.BatchNorm(x, name="bn", fix_gamma=False)
    return sym.Activation(y, act_type="relu", name="act")


def test_arguments_auxiliary_states_and_outputs_are_listed() -> None:
    y = _network()
    assert y.list_arguments() == ["data", "bn_gamma", "bn_beta"]
    assert y.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert y.list_outputs() == ["act_output"]
    assert y.list_inputs() == ["data", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]


def test_internals_are_all_values_in_order() -> None:
    internals = _network().get_internals()
    assert internals.list_outputs() == [
        *("data", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"),
        *("bn_output", "act_output"),
    ]
    assert internals["bn_output"].name == "bn"


def test_children_are_the_inputs_of_the_node() -> None:
    children = _network().get_children()
    assert children is not None
    assert children.list_outputs() == ["bn_output"]
    assert sym.var("a").get_children() is None


def test_outputs_are_picked_by_number_name_and_slice() -> None:
    parts = sym.split(sym.var("x"), num_outputs=3, name="s")
    assert len(parts) == 3
    assert [part.list_outputs() for part in parts] == [["s_output0"], ["s_output1"], ["s_output2"]]
    assert parts[1].list_outputs() == ["s_output1"]
    assert parts["s_output2"].list_outputs() == ["s_output2"]
    assert parts[0:2].list_outputs() == ["s_output0", "s_output1"]


@pytest.mark.parametrize("index", [3, -1])
def test_an_output_that_is_not_there_is_refused(index: int) -> None:
    with pytest.raises(IndexError, match="expected an output index below 3"):
        sym.split(sym.var("x"), num_outputs=3)[index]


def test_an_unknown_output_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match="expected one output named 'y'"):
        sym.var("x")["y"]


def test_variables_that_a_call_makes_copy_its_attributes() -> None:
    y = sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc", attr={"__lr_mult__": "2"})
    attrs = y.attr_dict()
    copied = {"num_hidden": "3", "__lr_mult__": "2", "lr_mult": "2"}
    assert attrs == {"fc_weight": copied, "fc_bias": copied, "fc": copied}


def test_moving_statistics_that_a_call_makes_know_how_they_start() -> None:
    attrs = sym.BatchNorm(sym.var("x"), name="bn").attr_dict()
    assert attrs["bn_moving_mean"] == {"__init__": '["zero", {}]'}
    assert attrs["bn_moving_var"] == {"__init__": '["one", {}]'}


def test_hidden_attributes_are_read_in_both_spellings() -> None:
    with AttrScope(ctx_group="dev1"):
        y = sym.relu(sym.var("x"))
    assert y.attr("ctx_group") == y.attr("__ctx_group__") == "dev1"
    assert y.attr("nothing") is None
    assert y.list_attr() == {"ctx_group": "dev1", "__ctx_group__": "dev1"}


def test_recursive_attributes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="use attr_dict"):
        _network().list_attr(recursive=True)


def test_attributes_can_be_set() -> None:
    x = sym.var("x")
    x._set_attr(mood="calm")
    assert x.attr("mood") == "calm"
    with pytest.raises(ArgumentTypeError, match="expected mood to be a str"):
        x._set_attr(mood=3)  # type: ignore[arg-type]


def test_a_symbol_has_no_truth_value_and_no_numbers() -> None:
    x = sym.var("x")
    with pytest.raises(NotSupportedError, match="truth value"):
        bool(x)
    for method in (x.asnumpy, x.asscalar, x.wait_to_read, x.backward):
        with pytest.raises(NotSupportedError, match="which has no values"):
            method()


def test_arrays_among_the_inputs_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected weight to be a Symbol, got NDArray"):
        sym.FullyConnected(sym.var("x"), ones((2, 2)), num_hidden=2)


def test_an_input_of_several_outputs_is_refused() -> None:
    with pytest.raises(GraphError, match=r"expected data to be one output, got 2; pick one"):
        sym.relu(sym.split(sym.var("x"), num_outputs=2))


def test_an_unknown_attribute_is_refused() -> None:
    with pytest.raises(OperatorError, match="'units'"):
        sym.FullyConnected(sym.var("x"), units=3)  # type: ignore[call-arg]


def test_operators_of_python_make_the_nodes_that_files_hold() -> None:
    with NameManager():
        x = sym.var("x")
        nodes = [x + 1, 1 - x, x * 2.5, 2**x, -x, x > 1, x + x, x / x, abs(x)]
    assert [(y.name, y.attr("scalar")) for y in nodes] == [
        ("_plusscalar0", "1"),
        ("_rminusscalar0", "1"),
        ("_mulscalar0", "2.5"),
        ("_rpower_scalar0", "2"),
        ("_mulscalar1", "-1.0"),
        ("_greater_scalar0", "1"),
        ("_plus0", None),
        ("_div0", None),
        ("abs0", None),
    ]


def test_repr_names_the_node_or_the_outputs_of_a_group() -> None:
    assert repr(sym.var("x")) == "<Symbol x>"
    assert repr(sym.Group([sym.var("x"), sym.var("y")])) == "<Symbol group [x, y]>"


def test_copies_and_pickles_are_the_same_graph() -> None:
    y = _network()
    for other in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert other.tojson() == y.tojson()


def test_long_chains_are_copied_and_pickled() -> None:
    y = sym.var("x")
    for i in range(3000):
        y = sym.relu(y, name=f"relu{i}")
    for other in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert other.tojson() == y.tojson()


def test_loop_goes_through_a_pickle() -> None:
    outputs, _ = sym.contrib.foreach(
        lambda x, states: (x + states[0], [x]), sym.var("x"), [sym.var("s")]
    )
    other = pickle.loads(pickle.dumps(outputs))
    assert other.infer_shape(x=(4, 3), s=(3,))[1] == [(4, 3)]


@pytest.mark.parametrize(
    ("operator", "inputs", "output"),
    [
        (sym.make_loss, 1, "n_loss"),
        (sym.linalg.det, 1, "n_output0"),
        (sym.contrib.box_nms, 1, "n_output0"),
        (sym.CTCLoss, 2, "n_output0"),
    ],
)
def test_words_for_outputs_are_those_of_mxnet(operator: Any, inputs: int, output: str) -> None:
    variables = [sym.var(f"x{i}") for i in range(inputs)]
    assert operator(*variables, name="n").list_outputs() == [output]
