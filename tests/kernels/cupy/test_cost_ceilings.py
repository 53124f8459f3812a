"""Steps of whole networks cost on a modelled H200 what cost_ceilings.json says.

After a change on purpose: ``python -m tests.kernels.cupy.cost_ceilings``.
"""

import pytest

from tests.kernels.cupy.cost_ceilings import CEILINGS, FIGURES, measured
from tests.kernels.cupy.cost_model.rows import ROWS


def test_table_has_every_row_and_figure() -> None:
    assert list(CEILINGS) == list(ROWS)
    assert all(list(ceiling) == list(FIGURES) for ceiling in CEILINGS.values())


@pytest.mark.parametrize("name", ROWS)
def test_step_costs_what_the_table_says(name: str) -> None:
    now, ceiling = measured(name), CEILINGS[name]
    for what, slack in FIGURES.items():
        most = ceiling[what]
        assert now[what] <= most, f"{name} needs more {what} than it did: {now[what]} of {most}"
        least = most * (1 - slack)
        assert now[what] >= least, f"{name} needs fewer {what}, {now[what]}: lower the ceiling"
