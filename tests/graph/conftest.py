"""Every pass that runs in a test of graphs is followed by lint, and jobs are bounded in time."""

from collections.abc import Callable, Iterator

import pytest

from gluonish.engine import current_engine
from gluonish.graph import pipeline
from gluonish.graph.ir import Graph
from gluonish.graph.lint import lint


def _checked(graph_pass: Callable[[Graph], Graph]) -> Callable[[Graph], Graph]:
    return lambda graph: lint(graph_pass(lint(graph)))


@pytest.fixture(autouse=True)
def _lint_after_each_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = tuple((_checked(graph_pass), switch) for graph_pass, switch in pipeline.PASSES)
    monkeypatch.setattr(pipeline, "PASSES", checked)


@pytest.fixture(autouse=True)
def _nothing_pending() -> Iterator[None]:
    yield
    current_engine().wait_all()
