"""A metric over ranks is one that has seen the batches of all of them."""

from typing import Any

import numpy as np
import pytest

import gluonish.ndarray as nd
from gluonish import metric
from gluonish.core.errors import ArgumentTypeError
from gluonish.core.registry import get_registry
from gluonish.metric import EvalMetric

BATCHES = 5  # of which the first rank has two

# How each registered metric is made, and what it predicts.
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "accuracy": ({}, "scores"),
    "topkaccuracy": ({"top_k": 2}, "scores"),
    "f1": ({}, "binary"),
    "f1 micro": ({"average": "micro"}, "binary"),
    "mcc": ({}, "binary"),
    "mcc micro": ({"average": "micro"}, "binary"),
    "pcc": ({}, "classes"),
    "mae": ({}, "numbers"),
    "mse": ({}, "numbers"),
    "rmse": ({}, "numbers"),
    "pearsoncorrelation": ({}, "numbers"),
    "pearsoncorrelation micro": ({"average": "micro"}, "numbers"),
    "crossentropy": ({}, "scores"),
    "negativeloglikelihood": ({}, "scores"),
    "perplexity": ({"ignore_label": 1}, "scores"),
    "loss": ({}, "numbers"),
    "torch": ({}, "numbers"),
    "caffe": ({}, "numbers"),
    "r2": ({}, "numbers"),
    "auroc": ({}, "binary"),
    "averageprecision": ({}, "scores"),
    "confusionmatrix": ({"num_classes": 3, "normalize": "true"}, "scores"),
    "meaniou": ({"num_classes": 3}, "scores"),
    "topkaccuracyperclass": ({"num_classes": 3, "top_k": 2}, "scores"),
    "meanaverageprecision": ({}, "boxes"),
    "bleu": ({"max_n": 2}, "sentences"),
}


class Ranks:
    """A store of ranks that are metrics in this process."""

    def __init__(self, metrics: list[EvalMetric]) -> None:
        self._metrics = metrics

    def gather(self, _: Any) -> list[Any]:
        return [one._all_sums() for one in self._metrics]


def batch(number: int, kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(number)
    if kind == "numbers":
        return [nd.array(rng.normal(size=7))], [nd.array(rng.normal(size=7))]
    if kind == "sentences":
        labels, preds = rng.integers(0, 4, (2, 3, 6)).astype(str)
        return [[" ".join(x)] for x in labels], [" ".join(x) for x in preds]
    if kind == "boxes":
        corners = np.sort(rng.random((3, 2, 2)), axis=1).reshape(3, 4)
        label = np.concatenate([rng.integers(0, 2, (3, 1)), corners], 1)
        pred = np.concatenate([label[:, :1], rng.random((3, 1)), corners + 0.05], 1)
        return [nd.array(label)], [nd.array(pred)]
    classes = 2 if kind == "binary" else 3 + (kind == "classes") * number
    label, pred = rng.integers(0, classes, 7), rng.dirichlet(np.ones(classes), 7)
    return [nd.array(label)], [nd.array(pred)]


def filled(made: EvalMetric, numbers: range, kind: str) -> EvalMetric:
    for number in numbers:
        if number == 1:
            made.reset_local()
        made.update(*batch(number, kind))
    return made


def test_all_kinds_are_tried() -> None:
    own = {
        cls for cls in get_registry(EvalMetric).values() if cls.__module__.startswith("gluonish")
    }
    tried = {
        type(metric.create(name.split()[0], **options)) for name, (options, _) in KINDS.items()
    }
    assert own == tried | {metric.CompositeEvalMetric, metric.CustomMetric}


@pytest.mark.parametrize("name", KINDS)
def test_sums_are_those_of_all_ranks(name: str) -> None:
    options, kind = KINDS[name]
    first, second, expected = (metric.create(name.split()[0], **options) for _ in range(3))
    filled(first, range(2), kind)
    filled(second, range(2, BATCHES), kind)
    filled(expected, range(BATCHES), kind)
    before = first.get()
    found = [one.over_ranks(Ranks([first, second])) for one in (first, second)]
    for one, value in ((first, before), (found[0], found[1].get())):
        assert one.get()[0] == value[0]
        np.testing.assert_array_equal(one.get()[1], value[1])
    for one in found:
        np.testing.assert_allclose(one.get()[1], expected.get()[1], 1e-12)
        np.testing.assert_allclose(one.get_global()[1], expected.get_global()[1], 1e-12)


def test_a_composite_and_functions_are_gathered_in_one_go() -> None:
    kinds = ["acc", lambda label, pred: float(label.sum())]
    first, second, expected = (metric.create(list(kinds)) for _ in range(3))
    filled(first, range(2), "scores")
    filled(second, range(2, BATCHES), "scores")
    filled(expected, range(BATCHES), "scores")
    found = first.over_ranks(Ranks([first, second]))
    assert found.get() == expected.get()
    assert found.get_global() == expected.get_global()


def test_a_rank_without_a_batch_counts_for_nothing() -> None:
    ranks = [metric.create("pearsonr", average="micro") for _ in range(2)]
    filled(ranks[1], range(3), "numbers")
    assert ranks[0].over_ranks(Ranks(ranks)).get() == ranks[1].get()


def test_what_cannot_gather_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="Accuracy: expected a store with gather, got str"):
        metric.create("acc").over_ranks("dist_sync")
