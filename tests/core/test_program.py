import pytest

from gluonish.core.program import Program, Programs


class _Equal:
    """Equal to every other one: equality of operands does not count."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


A, B = _Equal(), _Equal()
PROGRAM = Program((A, B), ["float32", 3], print)


def test_it_holds_for_the_same_operands_at_an_equal_version() -> None:
    assert PROGRAM.holds([A, B], ["float32", 3])


@pytest.mark.parametrize(
    ("operands", "version"),
    [
        ((A, _Equal()), ["float32", 3]),
        ((B, A), ["float32", 3]),
        ((A,), ["float32", 3]),
        ((A, B, B), ["float32", 3]),
        ((A, B), ["float32", 4]),
    ],
    ids=["equal operand", "order", "fewer", "more", "version"],
)
def test_another_call_needs_another_program(operands: tuple[object, ...], version: object) -> None:
    assert not PROGRAM.holds(operands, version)


def test_the_oldest_version_goes_first() -> None:
    programs: Programs[str] = Programs(2)
    for version in (1, 2, 3):
        assert programs.add(version, f"work {version}") == f"work {version}"
    assert programs == {2: "work 2", 3: "work 3"}


def test_what_is_used_is_the_newest() -> None:
    programs: Programs[str] = Programs(2)
    for version in (1, 2):
        programs.add(version, f"work {version}")
    assert programs.use(1) == "work 1"
    programs.add(3, "work 3")
    assert [*programs] == [1, 3]
    assert programs.use(2) is None
