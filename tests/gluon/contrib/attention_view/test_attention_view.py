"""attention_view: recorded weights, what is selected, pages and pictures, and what is refused."""

import base64
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.gluon import nn
from gluonish.gluon.contrib.attention_view import AttentionView, view_attention
from gluonish.model_zoo import from_pretrained
from gluonish.model_zoo.vision import Swin
from tests.golden.text_network_cases import LENGTHS, TOKENS
from tests.golden.vision_network_cases import images

GOLDEN = Path(__file__).parents[3] / "golden"
LAYERS = {
    # Windows, softcap, shared keys, rotation, norms of queries, another norm's place, relations.
    **dict.fromkeys(["gemma2", "gemma3", "gpt2", "gpt_neox", "llama", "mistral", "phi3"], 0),
    **dict.fromkeys(["bert", "distilbert", "electra", "modernbert", "roberta"], 1),
}


def text_network(case: str) -> tuple[Any, list[Any]]:
    net = from_pretrained(GOLDEN / "text_networks" / case, dtype="float32")
    tokens = mx.nd.array(TOKENS, dtype="int32")
    return net, [tokens, None, mx.nd.array(LENGTHS, dtype="int32")][: 3 if LAYERS[case] else 1]


def outputs_of_layers(net: Any, inputs: list[Any]) -> list[tuple[Any, Any, np.ndarray]]:
    """Call a network; return each attention layer with its input and its output."""
    found: list[tuple[Any, Any, np.ndarray]] = []

    def note(layer: Any, given: tuple[Any, ...], output: Any) -> None:
        found.append((layer, given[0], output.asnumpy()))

    handles = []

    def attach(block: Any) -> None:
        if isinstance(block, nn.MultiHeadAttention):
            handles.append(block.register_forward_hook(note))

    net.apply(attach)
    net(*inputs)
    for handle in handles:
        handle.detach()
    return found


def output_by_weights(layer: Any, query: Any, weights: np.ndarray) -> np.ndarray:
    """Return what a layer of self-attention gives if its weights are these, in float64."""
    values = layer._project(mx.nd, query)[2].asnumpy().astype(np.float64)  # (N, S, groups, C)
    values = np.repeat(values.transpose(0, 2, 1, 3), weights.shape[1] // values.shape[2], axis=1)
    made = np.matmul(weights.astype(np.float64), values).transpose(0, 2, 1, 3)
    made = made.reshape(*made.shape[:2], -1) @ layer.output.weight.data().asnumpy().T
    return made if layer.output.bias is None else made + layer.output.bias.data().asnumpy()


def check(net: Any, inputs: list[Any], view: AttentionView) -> None:
    layers = outputs_of_layers(net, inputs)
    assert len(layers) == len(view.weights) > 0
    for (layer, query, want), weights in zip(layers, view.weights.values(), strict=True):
        found = output_by_weights(layer, query, weights)
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5 * abs(want).max())
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize("case", LAYERS)
def test_the_weights_give_what_the_layers_of_text_networks_give(case: str) -> None:
    net, inputs = text_network(case)
    view = view_attention(net, *inputs)
    check(net, inputs, view)
    if LAYERS[case]:
        assert (view.weights[next(iter(view.weights))][1, :, :, LENGTHS[1] :] == 0).all()
    else:
        assert all((np.triu(x, 1) == 0).all() for x in view.weights.values())  # no later tokens


@pytest.mark.parametrize("case", ["vit", "dinov2", "clip_vision"])
def test_the_weights_give_what_the_layers_of_image_networks_give(case: str) -> None:
    net = from_pretrained(GOLDEN / "vision_networks" / case, dtype="float32")
    settings = json.loads((GOLDEN / "vision_networks" / case / "config.json").read_text())
    size = settings["image_size"]
    inputs = [mx.nd.array(images((size, size) if isinstance(size, int) else tuple(size)))]
    check(net, inputs, view_attention(net, *inputs))


def test_windows_of_a_map_are_samples_of_their_own() -> None:
    net = Swin(16, 4, (2,), (2,), window_size=4, patch_size=2)
    net.initialize(mx.init.Normal(0.5))
    view = view_attention(net, mx.nd.ones((2, 3, 16, 16)), sample=7)
    assert [x.shape for x in view.weights.values()] == [(8, 2, 16, 16)] * 2


def test_a_hybridized_network_keeps_its_graphs_and_is_left_as_it_is() -> None:
    net, inputs = text_network("bert")
    net.hybridize()
    net(*inputs)
    graphs = dict(net._graphs)
    view = view_attention(net, *inputs)
    assert net._active
    assert net._graphs == graphs
    net.hybridize(False)
    assert not any(block._hooks for block in net.body.encoder.layers)
    again = view_attention(net, *inputs)
    for path, weights in view.weights.items():
        np.testing.assert_array_equal(weights, again.weights[path])


def test_dropout_is_off_also_while_recording() -> None:
    net = nn.MultiHeadAttention(8, 2, dropout=0.5)
    net.initialize(mx.init.Normal(0.5))
    x = mx.nd.ones((1, 3, 8))
    want = view_attention(net, x).weights[net.name]
    with mx.autograd.record():
        found = view_attention(net, x).weights[net.name]
    np.testing.assert_array_equal(found, want)
    np.testing.assert_allclose(found, 1 / 3, rtol=1e-6)


class _Twice(nn.HybridSequential):
    def forward(self, x: Any, memory: Any) -> Any:
        (layer,) = self
        return layer(layer(x, memory), x)


def test_calls_of_a_layer_and_keys_of_another_sequence() -> None:
    net = _Twice()
    net.add(nn.MultiHeadAttention(8, 2, layout="TNC"))
    net.initialize(mx.init.Normal(0.5))
    view = view_attention(
        net, mx.nd.ones((3, 1, 8)), mx.nd.ones((5, 1, 8)), labels=list("abc"),
        key_labels=list("vwxyz"), layers=0,
    )  # fmt: skip
    assert {path: x.shape for path, x in view.weights.items()} == {
        "0": (1, 2, 3, 5),
        "0, call 2": (1, 2, 3, 3),
    }
    with pytest.raises(ArgumentError, match="key_labels for the 3 keys of 0, call 2, got 5"):
        view.select(layers=1)


def made_view(**options: Any) -> AttentionView:
    random = np.random.default_rng(3)
    scores = random.random((2, 3, 4, 4)).astype(np.float32)
    weights = scores / scores.sum(-1, keepdims=True)
    return AttentionView({"low": weights, "high": weights[::-1]}, **options)


def test_layers_heads_and_samples_are_selected() -> None:
    view = made_view()
    assert [(p.layer, p.head) for p in view.panels] == [
        *((name, head) for name in ("low", "high") for head in range(3))
    ]
    view = view.select(["high", -1, 0], [2, -3], sample=1)
    assert [(p.layer, p.head) for p in view.panels] == [
        *(("high", 2), ("high", 0), ("low", 2), ("low", 0))
    ]
    np.testing.assert_array_equal(view.panels[0].weights, view.weights["high"][1, 2])
    assert repr(view) == "AttentionView(2 layers, 4 heads)"
    assert view.select("low").sample == 1


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r"data = (\{.*\});$", page, re.MULTILINE)
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def test_the_page_has_the_weights_and_nothing_from_elsewhere() -> None:
    labels = ["</script><b>", "&amp;", "\u00e9", "$x$"]
    view = made_view(labels=labels, layers="high", heads=1)
    page = view._repr_html_()
    data = data_of(page)
    assert data["labels"] == data["keys"] == labels
    assert page.count("</script>") == 1
    assert not re.search(r"https?:|src=|href=|url\(", page)
    (panel,) = data["panels"]
    assert (panel["layer"], panel["head"], panel["queries"], panel["keys"]) == ("high", 1, 4, 4)
    levels = np.frombuffer(base64.b64decode(panel["data"]), np.uint8)
    found = levels.reshape(4, 4) / 255 * panel["most"]
    np.testing.assert_allclose(found, view.weights["high"][0, 1], atol=panel["most"] / 509)


def test_two_pages_of_a_notebook_do_not_meet() -> None:
    view = made_view()
    first, second = (re.search(r'id="(.*?)"', view._repr_html_()) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first[1] != second[1]


def test_files_are_pages_and_pictures(tmp_path: Path) -> None:
    view = made_view(labels=["$a$", "\u6771", "c_d", ""])
    for ending in ("html", "png", "svg", "PDF"):
        view.save(tmp_path / f"view.{ending}")
    assert data_of((tmp_path / "view.html").read_text("utf-8"))["panels"][5]["head"] == 2
    assert ElementTree.parse(tmp_path / "view.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "view.PDF").read_bytes().startswith(b"%PDF")
    assert imread(tmp_path / "view.png").shape[1] > 600
    one = view.select(1, 0)
    one.save(tmp_path / "one.png")
    rows = np.eye(4, dtype=np.float32)[None, None]
    AttentionView({"only": rows}).save(tmp_path / "eye.png")
    colours = imread(io.BytesIO((tmp_path / "eye.png").read_bytes()))[..., :3]
    yellow = np.abs(colours - np.array([253, 231, 37]) / 255).max(-1) < 0.02
    dark = np.abs(colours - np.array([68, 1, 84]) / 255).max(-1) < 0.02
    assert 2.5 < dark.sum() / yellow.sum() < 3.5  # 12 of 16 weights are 0, and 4 are 1


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    view = made_view()
    with pytest.raises(ArgumentError, match=r"ending in \.html, .*, got .*view\.gif"):
        view.save(tmp_path / "view.gif")
    with pytest.raises(OSError, match="nowhere"):
        view.save(tmp_path / "nowhere" / "view.png")
    many = AttentionView({"all": np.full((1, 300, 2, 2), 0.5, np.float32)})
    with pytest.raises(ArgumentError, match="up to 256 heads for a picture, got 300"):
        many.save(tmp_path / "view.png")
    large = AttentionView({"all": np.broadcast_to(np.float32(0), (1, 17, 1024, 1024))})
    with pytest.raises(ArgumentError, match="up to 16777216 weights for a page, got 17825792"):
        large._repr_html_()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["a", "b"]}, "labels for the 4 queries of low, got 2"),
        ({"labels": list("abcd"), "key_labels": ["a"]}, "key_labels for the 4 keys of low, got 1"),
        ({"layers": 2}, "layers below 2, or of low, high, got 2"),
        ({"layers": "middle"}, "layers below 2, or of low, high, got 'middle'"),
        ({"layers": []}, "at least one of layers, got none"),
        ({"heads": 3}, "heads below 3, the heads of low, got 3"),
        ({"heads": True}, "heads below 3, the heads of low, got True"),
        ({"sample": 2}, "sample below 2, the samples of low, got 2"),
    ],
)
def test_what_is_not_there_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=f"^AttentionView: expected {message}"):
        made_view(**options)


@pytest.mark.parametrize("labels", ["text", [1, 2, 3, 4], 7])
def test_labels_are_texts(labels: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected labels as a list of texts, got"):
        made_view(labels=labels)


class _Idle(nn.HybridSequential):
    def forward(self, x: Any) -> Any:
        return x


def test_networks_without_attention_are_refused() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(2))
    net.initialize()
    with pytest.raises(ArgumentError, match="layers MultiHeadAttention, got HybridSequential"):
        view_attention(net, mx.nd.ones((1, 2)))
    idle = _Idle()
    idle.add(nn.MultiHeadAttention(4, 2))
    with pytest.raises(ArgumentError, match="a call that reaches an attention layer, got one of"):
        view_attention(idle, mx.nd.ones((1, 2, 4)))
    with pytest.raises(ArgumentError, match="at least one layer, got none"):
        AttentionView({})
