"""Public names and argument names against those recorded from MXNet 1.9.1."""

import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gluonish  # noqa: F401  # makes the modules of `gluonish.gluon`

GOLDEN = Path(__file__).parents[1] / "golden" / "training_api.json"
RECORDED: dict[str, dict[str, dict[str, Any]]] = json.loads(GOLDEN.read_text(encoding="utf-8"))

# What is not there yet, by module; whoever adds it takes it off the list.
ABSENT: dict[str, str] = {}
# Callables whose arguments differ, and why.
DIFFERENT = {
    "attribute.AttrScope.__exit__": "only Python calls it",
    "context.Context.__exit__": "only Python calls it",
    "name.NameManager.__exit__": "only Python calls it",
}


NOT_THERE = object()


def module_of(name: str) -> ModuleType:
    return importlib.import_module(f"gluonish.{name}")


def public_names() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for module, names in RECORDED.items():
        for name, spec in names.items():
            yield module, name, spec


def callables() -> Iterator[tuple[str, Any, list[str]]]:
    """Every recorded class, function and method that is there, with its arguments, if any."""
    for module, name, spec in public_names():
        found = getattr(module_of(module), name, None)
        if found is None:
            continue
        if spec.get("arguments"):
            yield f"{module}.{name}", found, spec["arguments"]
        for member, wanted in spec.get("members", {}).items():
            if wanted is not None and hasattr(found, member):
                yield f"{module}.{name}.{member}", getattr(found, member), wanted


def own_arguments(value: Any) -> list[str]:
    """The names of the arguments; those of a method without ``self``."""
    found = [
        f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name
        for p in inspect.signature(value).parameters.values()
        if p.kind is not p.VAR_KEYWORD
    ]
    return found[1:] if found[:1] == ["self"] else found


def without_stars(names: list[str]) -> list[str]:
    return ["*" if name.startswith("*") else name for name in names]


@pytest.mark.parametrize("module", RECORDED)
def test_module_can_be_imported_by_its_name(module: str) -> None:
    assert isinstance(module_of(module), ModuleType)


def test_every_recorded_name_is_there_or_listed_as_absent() -> None:
    missing = set()
    for module, name, spec in public_names():
        found = getattr(module_of(module), name, NOT_THERE)
        if found is NOT_THERE:
            missing.add(f"{module}.{name}")
        else:
            members = (m for m in spec.get("members", {}) if not hasattr(found, m))
            missing.update(f"{module}.{name}.{member}" for member in members)
    assert missing == {f"{module}.{n}" for module, names in ABSENT.items() for n in names.split()}


def test_every_callable_has_the_recorded_arguments_in_order() -> None:
    wrong = {}
    for name, value, wanted in callables():
        found = without_stars(own_arguments(value))
        asked = without_stars(wanted)
        kept = [argument for argument in found if argument in asked]
        if kept != asked:
            wrong[name] = (asked, found)
    assert sorted(wrong) == sorted(DIFFERENT), wrong


def test_metrics_of_gluon_are_a_module_of_their_own() -> None:
    """MXNet 2.0 moved the metrics there and changed some: those average over samples."""
    new, old = module_of("gluon.metric"), module_of("metric")
    assert new.Accuracy is old.Accuracy
    assert new.F1 is not old.F1


def test_modules_under_two_names_are_one_module() -> None:
    assert module_of("gluon.model_zoo") is module_of("model_zoo")
    for inner in ("nn", "data"):
        assert module_of(inner) is module_of(f"gluon.{inner}")
    assert module_of("gluon.model_zoo.vision") is module_of("model_zoo.vision")
