"""Errors' helpers: hints at near names, whatever the wrong name is and however many there are."""

import time
from typing import Any

import pytest

from gluonish import gluon, nd, sym
from gluonish.core.errors import ArgumentTypeError, GluonishError, nearest, require_text

KEYS: list[Any] = [0, None, 1.5, (1, 2), b"weight", sym.var("x"), nd.ones(1), [1], {}, type]


def test_near_names_are_named() -> None:
    assert nearest("wieght", ["bias", "weight", 3]) == " (nearest: 'weight')"
    assert nearest("zzz", ["bias", "weight"]) == ""


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_what_is_no_text_has_no_near_name(key: object) -> None:
    assert nearest(key, ["weight"]) == ""
    assert nearest("weight", [key, "weights"]) == " (nearest: 'weights')"
    with pytest.raises(ArgumentTypeError, match="here as text, got"):
        require_text(key, "here")


def test_of_very_many_names_the_near_ones_are_found_in_short_time() -> None:
    names = [f"{'layer' * 40}.{i}.weight" for i in range(300_000)]
    start = time.process_time()
    assert "layer.77.weight'" in nearest(f"{'layer' * 40}.77.wieght", names)
    assert nearest("x" * 1_000_000, names) == ""
    assert time.process_time() - start < 10


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_of_any_type_are_refused_in_our_words(key: object) -> None:
    net = gluon.nn.Dense(3, in_units=2)
    net.initialize()
    graph = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    params = net.collect_params()
    assert key not in params
    with pytest.raises(GluonishError, match="expected the name of one of 2 parameters, got"):
        params[key]  # type: ignore[index]
    with pytest.raises(ArgumentTypeError, match="name as text"):
        params.get(key)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="name as text"):
        params.get_constant(key)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="name as text"):
        params.setattr(key, 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="get_model: expected name as text"):
        gluon.model_zoo.vision.get_model(key)  # type: ignore[arg-type]
    if key is not None:
        with pytest.raises(ArgumentTypeError, match="select, a regular expression, as text"):
            net.collect_params(key)  # type: ignore[arg-type]
    if not hasattr(key, "__index__"):
        with pytest.raises(ArgumentTypeError, match="expected an index or a name"):
            graph[key]  # type: ignore[index]


@pytest.mark.parametrize("key", KEYS[:7], ids=repr)
def test_arrays_under_keys_of_any_type_are_refused_in_our_words(key: object) -> None:
    from gluonish import initializer

    net = gluon.nn.Dense(3, in_units=2)
    arrays = {key: nd.ones((3, 2))}
    with pytest.raises(ArgumentTypeError, match="names of arrays as text"):
        net.load_dict(arrays)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="names of arrays as text"):
        net.collect_params().load_dict(arrays)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="names of arrays as text"):
        initializer.Load(arrays)  # type: ignore[arg-type]
