"""Steps of whole networks cost on a modelled H200 what cost_ceilings.json says.

After a change on purpose: ``python -m tests.kernels.cupy.cost_ceilings``.
"""

import pytest

from tests.kernels.cupy.cost_ceilings import (
    CEILINGS,
    FIGURES,
    LAYER_KERNELS,
    LIMITS,
    NOISE,
    measured,
)
from tests.kernels.cupy.cost_model.rows import ROWS


def test_table_has_every_row_and_figure() -> None:
    assert list(CEILINGS) == list(ROWS)
    assert all(list(ceiling) == list(FIGURES) for ceiling in CEILINGS.values())


@pytest.mark.parametrize("name", ROWS)
def test_no_ceiling_is_above_its_limit(name: str) -> None:
    assert CEILINGS[name]["waits"] == 0, "a step waits for the device"
    for what, most in LIMITS[name].items():
        assert CEILINGS[name][what] <= most, what


def test_layer_of_bert_needs_few_kernels() -> None:
    name = "BERT-base training, 32 x 128, AMP"
    few, more = (measured(name, layers)["kernels"] for layers in (1, 3))
    assert 10 < (more - few) / 2 <= LAYER_KERNELS


@pytest.mark.parametrize("name", ROWS)
def test_step_costs_what_the_table_says(name: str) -> None:
    now, ceiling = measured(name), CEILINGS[name]
    for what, slack in FIGURES.items():
        most = ceiling[what]
        most *= 1 + NOISE.get(what, 0)
        assert now[what] <= most, f"{name} needs more {what} than it did: {now[what]} of {most}"
        least = ceiling[what] * (1 - slack)
        assert now[what] >= least, f"{name} needs fewer {what}, {now[what]}: lower the ceiling"
