from concurrent.futures import ThreadPoolExecutor

import pytest

import gluonish.symbol as sym
from gluonish.core.errors import ArgumentTypeError
from gluonish.symbol import AttrScope, NameManager, Prefix


def test_unnamed_nodes_are_counted_by_word() -> None:
    with NameManager():
        names = [sym.relu(sym.var("x")).name for _ in range(2)] + [sym.exp(sym.var("x")).name]
    assert names == ["relu0", "relu1", "exp0"]


def test_a_given_name_is_kept_and_not_counted() -> None:
    with NameManager():
        assert sym.relu(sym.var("x"), name="r").name == "r"
        assert sym.relu(sym.var("x")).name == "relu0"


def test_a_scope_counts_from_0_and_the_outer_one_goes_on() -> None:
    with NameManager():
        sym.relu(sym.var("x"))
        with NameManager():
            assert sym.relu(sym.var("x")).name == "relu0"
        assert sym.relu(sym.var("x")).name == "relu1"


def test_a_prefix_stands_before_given_names_too() -> None:
    with Prefix("net_"):
        y = sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc")
    assert y.list_arguments() == ["x", "net_fc_weight", "net_fc_bias"]


def test_threads_count_for_themselves() -> None:
    def name() -> str | None:
        return sym.relu(sym.var("x")).name

    with NameManager():
        name()
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(name).result(timeout=30) == "relu0"


def test_attributes_of_a_scope_reach_variables_and_nodes() -> None:
    with AttrScope(__mood__="calm", ctx_group="dev1"):
        x = sym.var("x")
        y = sym.relu(x)
    for symbol in (x, y):
        assert symbol.attr("__mood__") == "calm"
        assert symbol.attr("__ctx_group__") == "dev1"


def test_inner_scopes_and_own_attributes_win() -> None:
    with AttrScope(__a__="1", __b__="1"), AttrScope(__a__="2"):
        x = sym.var("x", attr={"__b__": "3"})
    assert (x.attr("__a__"), x.attr("__b__")) == ("2", "3")


def test_attributes_that_are_no_strings_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="expected lr_mult to be a str, got 2"):
        AttrScope(lr_mult=2)  # type: ignore[arg-type]


def test_get_merges_the_scope_with_given_attributes() -> None:
    merged = {"a": "1", "b": "2", "__b__": "3"}
    assert AttrScope(a="1", b="2").get({"__b__": "3"}) == merged
    assert AttrScope(lr_mult="1").get({"lr_mult": "2"}) == {"lr_mult": "2"}


HIDDEN = {"__lr_mult__": "2", "lr_mult": "2", "__ctx_group__": "d", "ctx_group": "d"}


def test_nodes_take_attributes_of_any_node_by_keyword() -> None:
    x = sym.var("x", attr={"force_mirroring": "True", "mood": "good"})
    assert x.list_attr() == {
        "__force_mirroring__": "True",
        "force_mirroring": "True",
        "mood": "good",
    }
    y = sym.FullyConnected(x, num_hidden=2, name="fc", lr_mult=2, ctx_group="d")  # type: ignore[call-arg]
    for name in ("fc", "fc_weight", "fc_bias"):
        assert y.attr_dict()[name] == {**HIDDEN, "num_hidden": "2"}
    again = sym.load_json(y.tojson())
    assert again.attr_dict() == y.attr_dict()
    assert '"lr_mult"' not in y.tojson()
    x._set_attr(wd_mult="3")
    assert (x.attr("wd_mult"), x.attr("__wd_mult__")) == ("3", "3")


def test_attributes_of_a_scope_are_called_as_they_were_given() -> None:
    with AttrScope(group="4", lr_mult="2"):
        x = sym.var("x")
        with AttrScope(__data__="great"):
            y = sym.var("y", attr={"group": "1"})
    assert x.list_attr() == {"group": "4", "lr_mult": "2", "__lr_mult__": "2"}
    assert (y.attr("group"), y.attr("__data__"), y.attr("data")) == ("1", "great", None)


def test_methods_call_their_nodes_after_themselves() -> None:
    x = sym.var("x")
    with NameManager():
        made = x.flip(axis=0), x.swapaxes(0, 1), x.split(2), x.broadcast_axes(axis=0, size=2)
        assert [y.name for y in made] == ["flip0", "swapaxes0", "split0", "broadcast_axes0"]
        assert x.sum(axis=1, name="s").list_outputs() == ["s_output"]
        assert x.abs(attr={"__a__": "b"}, name="a").list_attr() == {"__a__": "b"}
        assert x.sort().list_outputs() == ["sort0_output0"]
