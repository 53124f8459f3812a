"""Numeric gradients of every golden case of linear algebra: those tests take each operator's first.

Left out: inputs taken for symmetric (test_symmetric.py), singular matrices, whose determinant
passes no gradient on as in MXNet, and arrays without elements or axes.
"""

from pathlib import Path

import numpy as np
import pytest

from tests.checking.check_operator import check_operator
from tests.golden.case import Case, load_cases

FOLDER = Path(__file__).parents[2] / "golden" / "cases"
SYMMETRIC = {
    "_linalg_potrf",
    "_linalg_syevd",
    "_npi_cholesky",
    "_npi_eigh",
    "_npi_eigvalsh",
}


def _is_smooth(case: Case) -> bool:
    arrays = case.arrays()
    if case.invalid or case.op in SYMMETRIC or case.attrs.get("rcond") == 0.9:
        return False
    if any(x.size == 0 or x.ndim == 0 or x.dtype.kind != "f" for x in arrays):
        return False
    if "det" in case.op:
        return bool((np.linalg.det(arrays[0]) != 0).all())
    return case.op != "_npi_pinv" or float(arrays[1].max()) < 0.5


CASES = [
    case
    for family in ("linalg", "matmul")
    for case in load_cases(FOLDER / f"{family}.py")
    if _is_smooth(case)
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_gradients_hold_to_second_order(case: Case) -> None:
    arrays = [x.astype(np.float64) for x in case.arrays()]
    check_operator(case.op, arrays, case.attrs, half=False)
