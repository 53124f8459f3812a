import shutil

import pytest

import gluonish as mx
from gluonish.gluon import nn
from gluonish.gluon.data.vision import transforms
from tests.notebook_html import check_html, text_of


def network(prefix: str = "net_") -> nn.HybridSequential:
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Dense(4, in_units=3, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    return net


def test_a_network_is_a_tree_with_shapes_and_counts() -> None:
    net = network()
    net(mx.nd.ones((1, 3)))
    html = check_html(net._repr_html_())
    assert html.count("<details") == 4
    text = text_of(html)
    assert "HybridSequential · 42 parameters, 34 trainable" in text  # 16 + 16 + 10
    assert "0: Dense(3 -> 4, Activation(relu)) · 16 parameters" in text
    assert "weight (4, 3) float32 12 yes" in text
    assert "running_mean (4,) float32 4 no" in text
    assert "hybridized" not in text
    net.hybridize()
    assert "hybridized" in text_of(net._repr_html_())


def test_unknown_shapes_are_said_to_be_unknown() -> None:
    text = text_of(nn.Dense(2)._repr_html_())
    assert "2 parameters, shapes of 1 arrays unknown until the first call" in text
    assert "weight (2, ?) float32 unknown yes" in text


def test_a_shared_layer_counts_once() -> None:
    net = nn.HybridSequential()
    layer = nn.Dense(3, in_units=3)
    net.add(layer, layer)
    text = text_of(net._repr_html_())
    assert "HybridSequential · 12 parameters" in text
    assert "1: Dense(3 -> 3, linear) · shared, see above" in text


def test_layers_without_parameters_show_their_arguments() -> None:
    net = transforms.Compose([transforms.Resize(8), transforms.Normalize((0.5,), (0.25,))])
    text = text_of(check_html(net._repr_html_()))
    assert "Resize(size=(8,), interpolation=1)" in text
    assert "Normalize(mean=(0.5,), std=(0.25,))" in text


def test_a_large_network_folds_and_is_not_too_long() -> None:
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    html = check_html(net._repr_html_())
    assert html.count("<details open") == 1
    assert len(html) < 200_000
    many = nn.HybridSequential()
    many.add(*(nn.Flatten() for _ in range(2500)))
    assert text_of(many._repr_html_()).count("Flatten") < 2001


MARKUP = "<script>alert(1)</script>&\"'_"


def test_names_are_escaped() -> None:
    net = network(MARKUP)
    check_html(net._repr_html_())
    escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&amp;"
    for value in (net[0].weight, net.collect_params()):
        assert escaped in check_html(value._repr_html_())
    assert escaped in check_html(net(mx.sym.var(MARKUP))._repr_html_())


def test_a_parameter_shows_its_values() -> None:
    weight = mx.gluon.Parameter("weight", shape=(2, 2), lr_mult=0.5, init="ones")
    assert "not initialized" in text_of(check_html(weight._repr_html_()))
    weight.initialize()
    text = text_of(check_html(weight._repr_html_()))
    assert "Parameter · lr_mult 0.5 · cpu(0)" in text
    assert "weight (2, 2) float32 4 yes" in text
    assert "[[1. 1.] [1. 1.]]" in text


def test_a_dict_of_parameters_is_a_table() -> None:
    net = network()
    net(mx.nd.ones((1, 3)))
    text = text_of(check_html(net.collect_params()._repr_html_()))
    assert "net_ · 8 arrays · 42 elements, 34 trainable" in text
    assert "net_dense0_weight (4, 3) float32 12 yes" in text


@pytest.mark.parametrize("graphviz", [True, False])
def test_a_symbol_is_drawn_or_listed(graphviz: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if graphviz and shutil.which("dot") is None:
        pytest.skip("needs Graphviz")
    if graphviz:
        pytest.importorskip("graphviz")
    else:
        monkeypatch.setattr(shutil, "which", lambda name: None)
    symbol = mx.sym.relu(mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc"), name="r")
    html = check_html(symbol._repr_html_())
    assert "Symbol · outputs r_output · 2 operators · 3 variables" in text_of(html)
    assert ("<svg" in html) == graphviz
    if graphviz:
        assert "FullyConnected" in html
    else:
        assert "fc FullyConnected x, fc_weight, fc_bias num_hidden=3" in text_of(html)


def test_a_long_symbol_is_a_table() -> None:
    symbol = mx.sym.var("x")
    for _ in range(500):
        symbol = mx.sym.relu(symbol)
    html = check_html(symbol._repr_html_())
    assert "<svg" not in html
    assert "100 more" in text_of(html)


def test_links_in_names_of_nodes_are_no_links() -> None:
    name = '<<TABLE HREF="javascript:alert(1)"><TR><TD>x</TD></TR></TABLE>>'
    html = check_html(mx.sym.exp(mx.sym.var("x"), name=name)._repr_html_())
    assert "href=" not in html
