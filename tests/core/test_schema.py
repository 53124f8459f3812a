from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core import schema
from gluonish.core.errors import OperatorError
from gluonish.core.schema import REQUIRED, Schema, format_attribute, integer

EXAMPLE = Schema(
    kernel=schema.shape(),
    stride=schema.shape(()),
    no_bias=schema.boolean(False),
    rate=schema.number(0.5),
    axis=schema.optional(schema.integer()),
    groups=schema.integer(1, low=1),
    layout=schema.choice("NCHW", "NHWC", None, default=None),
    dtype=schema.dtype_attr(np.dtype("float32")),
    name=schema.text(""),
    sizes=schema.numbers(()),
)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("kernel", "(3, 3)", (3, 3)),
        ("kernel", "[3, 3]", (3, 3)),
        ("kernel", "3", (3,)),
        ("kernel", [3, np.int64(4)], (3, 4)),
        ("kernel", "(3L, 3L)", (3, 3)),
        ("stride", np.array([1, 2]), (1, 2)),
        ("no_bias", "True", True),
        ("no_bias", "0", False),
        ("no_bias", 1, True),
        ("rate", "0.25", 0.25),
        ("rate", 1, 1.0),
        ("rate", np.float32(0.25), 0.25),
        ("axis", "None", None),
        ("axis", "-1", -1),
        ("groups", 2.0, 2),
        ("groups", "3L", 3),
        ("layout", "None", None),
        ("layout", "NHWC", "NHWC"),
        ("dtype", "float16", np.dtype("float16")),
        ("sizes", "(0.5, 1)", (0.5, 1.0)),
    ],
)
def test_values_and_strings_parse(name: str, value: Any, expected: Any) -> None:
    parsed = EXAMPLE.parse("op", {"kernel": (1,), name: value})[name]
    assert parsed == expected
    assert type(parsed) is type(expected)
    hash(parsed)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("kernel", "a", "a tuple of ints"),
        ("kernel", "__import__('os')", "a tuple of ints"),
        ("kernel", (1.5,), "a tuple of ints"),
        ("no_bias", "maybe", "a bool"),
        ("rate", "much", "a number"),
        ("axis", 1.5, "an int or None"),
        ("groups", 0, "an int of at least 1"),
        ("layout", "NCWH", "one of 'NCHW', 'NHWC', None"),
        ("dtype", "float31", "a dtype"),
    ],
)
def test_other_values_are_refused_by_name(name: str, value: Any, expected: str) -> None:
    with pytest.raises(OperatorError, match=f"op: expected {name} to be {expected}, got"):
        EXAMPLE.parse("op", {"kernel": (1,), name: value})


def test_unknown_and_missing_names_are_refused() -> None:
    with pytest.raises(OperatorError, match=r"op: expected arguments among kernel, .* got 'foo'"):
        EXAMPLE.parse("op", {"kernel": 1, "foo": 2})
    with pytest.raises(OperatorError, match="op: expected a value for kernel, got none"):
        EXAMPLE.parse("op", {})


def test_defaults_are_filled_in() -> None:
    parsed = EXAMPLE.parse("op", {"kernel": 3})
    assert list(parsed) != []
    assert (parsed["stride"], parsed["rate"], parsed["layout"]) == ((), 0.5, None)
    assert "kernel" not in EXAMPLE.defaults
    assert repr(REQUIRED) == "REQUIRED"


def test_strings_hold_what_differs_from_the_default_and_parse_back() -> None:
    parsed = EXAMPLE.parse(
        "op", {"kernel": (3, 3), "no_bias": True, "dtype": "int32", "rate": 0.1, "axis": -1}
    )
    strings = EXAMPLE.to_strings(parsed)
    assert strings == {
        "kernel": "(3, 3)",
        "no_bias": "True",
        "dtype": "int32",
        "rate": "0.1",
        "axis": "-1",
    }
    assert EXAMPLE.parse("op", strings) == parsed


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (2**53, 2.0**53),
        (2**53 + 1, 2**53 + 1),
        (np.int64(-(2**53) - 1), -(2**53) - 1),
        (2**70, 2.0**70),
        (str(2**60 + 1), 2**60 + 1),
        ("9.007199254740993e15", 9007199254740992.0),
        (1e300, 1e300),
        (np.float32(0.5), 0.5),
    ],
)
def test_number_is_a_float_unless_only_an_int_is_exact(value: Any, expected: float) -> None:
    found = schema.number().parse(value)
    assert type(found) is type(expected)
    assert found == expected
    assert schema.number().parse(format_attribute(found)) == found


def test_infinity_is_written_as_a_word() -> None:
    assert format_attribute(float("inf")) == "inf"
    assert schema.number().parse("inf") == float("inf")


@pytest.mark.parametrize(
    ("name", "value"), [("rate", 10**400), ("kernel", "(" * 10_000), ("axis", "9" * 5_000)]
)
def test_what_python_cannot_hold_or_parse_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(OperatorError, match=f"example: expected {name} to be"):
        EXAMPLE.parse("example", {"kernel": 1, name: value})


def test_names_between_double_underscores_are_ignored() -> None:
    assert Schema(axis=integer(0)).parse("sum", {"__layout__": "NCHW", "axis": 1}) == {"axis": 1}
    with pytest.raises(OperatorError, match="_layout_"):
        Schema(axis=integer(0)).parse("sum", {"_layout_": "NCHW"})


@pytest.mark.parametrize("array", [np.array, mx.np.array])
def test_an_array_without_axes_is_its_number(array: Any) -> None:
    given = {"rate": array(0.25), "axis": array(2), "groups": array(3), "kernel": array([2, 3])}
    parsed = EXAMPLE.parse("conv", given)
    assert (parsed["rate"], parsed["axis"], parsed["groups"]) == (0.25, 2, 3)
    assert parsed["kernel"] == (2, 3)
    assert EXAMPLE.parse("conv", {"kernel": array(4)})["kernel"] == (4,)
    with pytest.raises(OperatorError, match="rate"):
        EXAMPLE.parse("conv", {"kernel": 1, "rate": array([0.5])})


def test_wrong_dtype_is_a_type_error_too() -> None:
    for given in ("float31", 7.5):
        with pytest.raises(TypeError, match="expected dtype to be a dtype") as raised:
            EXAMPLE.parse("example", {"kernel": (1,), "dtype": given})
        assert isinstance(raised.value, OperatorError)
