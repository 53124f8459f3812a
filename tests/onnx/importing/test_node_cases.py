"""ONNX's own tests of operators: each case passes, or is refused by name for a reason we give."""

import warnings

import pytest

from tests.onnx.importing.node_cases import REFUSED, cases, ends, is_refused

_PARTS = 4


@pytest.mark.parametrize("as_graph", [False, True])
@pytest.mark.parametrize("part", range(_PARTS))
def test_each_case_passes_or_is_refused_as_listed(part: int, as_graph: bool) -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a block runs without a graph
        for case in cases()[part::_PARTS]:
            end, why = ends(case, as_graph=as_graph)
            if end != ("refused" if is_refused(case) else "passed"):
                wrong.append(f"{case.name}: {end} {why[:300]}")
    assert not wrong, "\n".join(wrong)


def test_at_least_95_of_100_cases_are_expected_to_pass() -> None:
    assert len(cases()) > 1000
    assert sum(map(is_refused, cases())) <= 0.05 * len(cases())


@pytest.mark.parametrize("beginning", REFUSED)
def test_a_refusal_names_operator_node_and_opset(beginning: str) -> None:
    case = next(case for case in cases() if case.name.startswith(beginning))
    end, why = ends(case)
    assert end == "refused"
    assert "ONNX" in why
    assert "(node '" in why or "expected numbers that arrays here hold, got strings" in why
