"""Settings of a sweep: how values and ranges are written, and which settings come of them."""

import math
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import ArgumentError, FileFormatError, MissingFileError
from gluonish.tools.sweep.guided import Guided
from gluonish.tools.sweep.space import Range, flags, grid, parse_space, random_settings


def test_values_and_ranges_of_the_command_line() -> None:
    space = parse_space(
        None,
        [
            *("lr=0.01,0.1", "wd=log:1e-5..1e-2", "batch-size=int:16..64", "mom=0.5..0.9:3"),
            *("optimizer=sgd,adam", "opt-set.beta2=0.9,0.99", "--num_epochs=3"),
        ],
    )
    assert space == {
        "lr": [0.01, 0.1],
        "wd": Range(1e-5, 1e-2, log=True),
        "batch-size": Range(16, 64, whole=True),
        "mom": Range(0.5, 0.9, steps=3),
        "optimizer": ["sgd", "adam"],
        "opt-set.beta2": ["0.9", "0.99"],
        "num-epochs": [3],
    }


def test_a_file_has_lists_and_ranges(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text("lr: log:1e-3..1\noptimizer: [sgd, lamb]\nmixup: [0, 0.2]\nwd: 5e-4\n")
    assert parse_space(str(path), ["lr=0.5"]) == {
        "lr": [0.5],
        "optimizer": ["sgd", "lamb"],
        "mixup": [0.0, 0.2],
        "wd": [5e-4],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lrr=1", r"expected an option of `gluonish train`.*'lrr' \(nearest: 'lr'"),
        ("lr", "expected NAME=VALUES, got 'lr'"),
        ("lr=a,b", "--param lr: expected a number, got 'a'"),
        ("lr=1..0.1", "expected a range low..high in order"),
        ("lr=log:0..1", "expected a range above 0 with log"),
        ("batch-size=int:1.5..3", "expected whole numbers with int"),
        ("batch-size=1.5..3", "expected a whole number, got 1.5"),
        ("lr=x..y", "expected numbers in a range"),
        ("lr=0.1,0.1", "expected each value once"),
        ("lr-schedule=cosin,step", "expected one of step, cosine"),
        ("resume=1", "expected an option"),
    ],
)
def test_wrong_values_are_refused_before_a_trial(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        parse_space(None, [text])


def test_wrong_lines_of_a_file_are_named(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text("lr: [0.1]\nmixupp: [1]\n")
    with pytest.raises(ArgumentError, match=r"space.yaml:2: mixupp: expected an option.*'mixup'"):
        parse_space(str(path), [])
    path.write_text("[")
    with pytest.raises(FileFormatError, match="expected YAML"):
        parse_space(str(path), [])
    with pytest.raises(ArgumentError, match="expected --param NAME=VALUES or --space FILE"):
        parse_space(None, [])


def test_a_grid_has_all_settings() -> None:
    space = parse_space(None, ["lr=log:1e-3..1e-1:3", "optimizer=sgd,adam"])
    found = list(grid(space))
    assert [x["optimizer"] for x in found] == ["sgd", "adam"] * 3
    np.testing.assert_allclose([x["lr"] for x in found[::2]], [1e-3, 1e-2, 1e-1])
    with pytest.raises(ArgumentError, match="expected values or a number of them in a grid"):
        list(grid(parse_space(None, ["lr=log:1e-3..1e-1"])))


def test_random_settings_depend_on_the_seed_and_their_number() -> None:
    space = parse_space(None, ["lr=log:1e-4..1", "wd=0..0.1", "batch-size=int:8..10"])
    first, again = (list(islice(random_settings(space, 3), n)) for n in (6, 40))
    assert again[:6] == first
    assert list(islice(random_settings(space, 4), 6)) != first
    many: list[Any] = list(islice(random_settings(space, 0), 2000))
    logs = np.array([math.log10(x["lr"]) for x in many])
    assert -4 <= logs.min() < -3.9
    assert -0.1 < logs.max() <= 0
    assert np.mean(logs) == pytest.approx(-2, abs=0.1)
    sizes = [x["batch-size"] for x in many]
    assert {*sizes} == {8, 9, 10}
    assert min(sizes.count(n) for n in (8, 9, 10)) > 550


def test_whole_numbers_do_not_repeat() -> None:
    space = parse_space(None, ["batch-size=int:8..10", "optimizer=sgd,adam"])
    assert len({tuple(x.values()) for x in random_settings(space, 0)}) == 6
    assert len(list(random_settings(space, 0))) == 6


@pytest.mark.parametrize("steps", [0, 1001, 10**30])
def test_numbers_of_values_of_a_grid_are_limited(steps: int) -> None:
    with pytest.raises(ArgumentError, match="--param lr: expected 1 to 1000 values of a range"):
        parse_space(None, [f"lr=log:1e-3..1:{steps}"])


def test_switches_are_true_or_false() -> None:
    space = parse_space(None, ["hybridize=true,False"])
    assert space == {"hybridize": [True, False]}
    assert [flags(x) for x in grid(space)] == [["--hybridize"], []]
    with pytest.raises(ArgumentError, match="hybridize: expected true or false, got 'yes'"):
        parse_space(None, ["hybridize=yes"])


def test_a_missing_file_is_named_by_its_option(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="--space: expected a YAML file, got"):
        parse_space(str(tmp_path / "none.yaml"), [])


def test_random_choices_do_not_repeat() -> None:
    space = parse_space(None, ["lr=0.1,0.2,0.3", "optimizer=sgd,adam"])
    found = [tuple(x.values()) for x in random_settings(space, 0)]
    assert len(found) == 6
    assert len(set(found)) == 6


def test_flags_of_a_setting() -> None:
    assert flags({"lr": 1e-05, "opt-set.beta2": 0.9, "optimizer": "adam"}) == [
        *("--lr=1e-05", "--opt-set=beta2=0.9", "--optimizer=adam")
    ]


def test_optuna_gives_the_same_settings_for_the_same_results() -> None:
    pytest.importorskip("optuna", reason="needs Optuna, which the extra sweep brings")
    space = parse_space(None, ["lr=log:1e-4..1", "optimizer=sgd,adam", "batch-size=int:8..64"])

    def run(count: int) -> list[Any]:
        guided = Guided(space, 5, "max")
        found = []
        for setting in islice(guided.settings(), count):
            found.append(setting)
            lr: Any = setting["lr"]
            guided.tell(None if len(found) == 3 else -abs(math.log10(lr) + 2))
        return found

    whole = run(40)
    assert run(15) == whole[:15]
    distance = [abs(math.log10(x["lr"]) + 2) for x in whole]
    assert np.mean(distance[20:]) < np.mean(distance[:10])  # it has learnt
