"""What PyTorch took compiled is recorded by card and version, and compared with nothing else."""

from pathlib import Path
from typing import Any

from benchmarks.gpu_run.compiled_figures import COMPILED, record, recorded_ms

CARD = {"device": "NVIDIA H200", "torch": "2.11.0+cu130"}


def row(name: str, what: str = COMPILED, value: float = 12.00004) -> dict[str, Any]:
    return {"name": name, "values": [{"what": what, "value": value, "unit": "ms"}]}


def test_figure_is_found_on_the_same_card_by_the_same_version(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    rows = [row("a, CUDA graphs"), row("b", "torch eager"), row("c", value=3.5)]
    assert record(rows, CARD, path) == ["a", "c"]
    assert recorded_ms("NVIDIA H200", "2.11.0", "a", path) == 12
    assert recorded_ms("NVIDIA H200", "2.11.0+cu126", "c, CUDA graphs", path) == 3.5
    for card, version, name in (
        ("NVIDIA H100", "2.11.0", "a"),
        ("NVIDIA H200", "2.12.0", "a"),
        ("NVIDIA H200", "2.11.0", "b"),
    ):
        assert recorded_ms(card, version, name, path) is None


def test_later_run_replaces_its_rows_only(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    record([row("a"), row("b")], CARD, path)
    record([row("a", value=11.0)], CARD, path)
    record([row("a", value=9.0)], {**CARD, "device": "NVIDIA H100"}, path)
    assert [recorded_ms("NVIDIA H200", "2.11.0", name, path) for name in "ab"] == [11, 12]


def test_run_that_does_not_name_its_card_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    assert record([row("a")], {"torch": "2.11.0"}, path) == []
    assert not path.exists()


def test_figures_of_the_measured_card_are_recorded() -> None:
    assert recorded_ms("NVIDIA H200", "2.11.0", "ResNet-50 training, 64, AMP, CUDA graphs") == 12
