"""Operator lists of mixed precision, and policies from default or custom lists."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, normalize_dtype
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DtypeError
from gluonish.gluon.mixed_precision import bfloat16_lists, float16_lists
from gluonish.ops.autocast import Policy
from gluonish.ops.registry import all_names, find_operator

# An operator, one of its attributes, and the values under which it computes in float32.
Conditional = tuple[str, str, Sequence[str]]


def half_dtype(what: str, dtype: Any) -> np.dtype[Any]:
    """Return float16 or bfloat16.

    Args:
        what: Name of the calling function, for error messages.
        dtype: A name, type or dtype; also MXNet's structured dtype for bfloat16.

    Raises:
        ArgumentError: ``dtype`` is neither of these.
    """
    found: np.dtype[Any] | None = None
    if getattr(dtype, "names", None) == ("bfloat16",):
        found = BFLOAT16
    else:
        with suppress(DtypeError):
            found = normalize_dtype(dtype)
    if found is not None and (found is FLOAT16 or found is BFLOAT16):
        return found
    raise ArgumentError(f"{what}: expected target_dtype float16 or bfloat16, got {dtype!r}")


def _lists(what: str, target_dtype: Any) -> ModuleType:
    return float16_lists if half_dtype(what, target_dtype) == FLOAT16 else bfloat16_lists


def list_lp16_ops(target_dtype: Any) -> list[str]:
    """Return the names of the operators that compute in ``target_dtype``, float16 or bfloat16."""
    lists = _lists("list_lp16_ops", target_dtype)
    found: list[str] = lists.FP16_FUNCS if lists is float16_lists else lists.BF16_FUNCS
    return found


def list_fp32_ops(target_dtype: Any) -> list[str]:
    """Return the names of the operators that compute in float32."""
    found: list[str] = _lists("list_fp32_ops", target_dtype).FP32_FUNCS
    return found


def list_lp16_fp32_ops(target_dtype: Any) -> list[str]:
    """Return the names of the operators that compute in the dtype of their inputs."""
    lists = _lists("list_lp16_fp32_ops", target_dtype)
    found: list[str] = lists.FP16_FP32_FUNCS if lists is float16_lists else lists.BF16_FP32_FUNCS
    return found


def list_conditional_fp32_ops(target_dtype: Any) -> list[tuple[str, str, list[str]]]:
    """Return the operators that compute in float32 for some values of an attribute.

    Args:
        target_dtype: ``"float16"`` or ``"bfloat16"``.

    Returns:
        List of tuples (operator, attribute, values).
    """
    lists = _lists("list_conditional_fp32_ops", target_dtype)
    found: list[tuple[str, str, list[str]]] = lists.CONDITIONAL_FP32_FUNCS
    return found


def list_widest_type_cast(target_dtype: Any) -> list[str]:
    """Return the names of the operators whose inputs are cast to the widest dtype among them."""
    found: list[str] = _lists("list_widest_type_cast", target_dtype).WIDEST_TYPE_CASTS
    return found


def list_loss_output_functions(target_dtype: Any) -> list[str]:
    """Return the names of the output layers that are losses themselves.

    `scale_loss` has no effect on them: their gradient does not come from a loss.
    """
    found: list[str] = _lists("list_loss_output_functions", target_dtype).LOSS_OUTPUT_FUNCTIONS
    return found


# Inputs that 16 bits would change: -1e30, which hides a key, would be -inf, lengths are counts, and
# weights of 8 bits stay so, with scales in float32.
UNCAST = {
    "_cached_attention": ["mask"],
    "_grouped_dense": ["counts"],
    "linear_cross_entropy": ["label"],
    "scaled_dot_product_attention": ["mask", "valid_length"],
    "weight_only_dense": ["weight", "scale"],
}


def list_lp16_use_fp32_params(target_dtype: Any) -> dict[str, list[str]] | None:
    """Return the inputs that stay float32 although their operator computes in 16 bits.

    Returns:
        Dict from operator to names of inputs; None for float16.
    """
    lists = _lists("list_lp16_use_fp32_params", target_dtype)
    return None if lists is float16_lists else lists.BF16_USE_FP32_PARAMS


def policy_of(
    what: str,
    target_dtype: Any,
    target_precision_ops: Iterable[str] | None = None,
    conditional_fp32_ops: Iterable[Conditional] | None = None,
    fp32_ops: Iterable[str] | None = None,
) -> Policy:
    """Return the mixed-precision policy of the default lists or of custom lists.

    Equal arguments return the same object, which is a key of cached graphs.

    Args:
        what: Name of the calling function, for error messages.
        target_dtype: float16 or bfloat16.
        target_precision_ops: Names that replace `list_lp16_ops`.
        conditional_fp32_ops: Tuples that replace `list_conditional_fp32_ops`.
        fp32_ops: Names that replace `list_fp32_ops`.

    Raises:
        ArgumentError: The dtype is neither of these, or a name is not an operator or is in two
            lists.
        ArgumentTypeError: An argument is not a list of names.
    """
    dtype = half_dtype(what, target_dtype)
    low = _checked(what, "target_precision_ops", target_precision_ops)
    full = _checked(what, "fp32_ops", fp32_ops)
    conditional = _conditions(what, conditional_fp32_ops)
    listed = (low, full, None if conditional is None else tuple(name for name, _, _ in conditional))
    for i, names in enumerate(listed):
        for others in listed[i + 1 :]:
            common = sorted(set(names or ()) & set(others or ()))
            if common:
                raise ArgumentError(
                    f"{what}: expected each operator in one list, got {common} in two"
                )
    return _policy(dtype, low, conditional, full)


@cache
def _policy(
    dtype: np.dtype[Any],
    low: tuple[str, ...] | None,
    conditional: tuple[tuple[str, str, tuple[str, ...]], ...] | None,
    full: tuple[str, ...] | None,
) -> Policy:
    custom = {*(low or ()), *(full or ()), *(name for name, _, _ in conditional or ())}
    if conditional is None:
        conditional = tuple((n, a, tuple(v)) for n, a, v in list_conditional_fp32_ops(dtype))
    conditions: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, attribute, values in conditional:
        own = conditions.setdefault(find_operator(name).name, {})
        own[attribute] = (*own.get(attribute, ()), *values)

    def rest(names: list[str]) -> list[str]:
        return [name for name in names if name not in custom]

    return Policy(
        dtype,
        low=rest(list_lp16_ops(dtype)) if low is None else low,
        full=rest(list_fp32_ops(dtype)) if full is None else full,
        widest=rest(list_widest_type_cast(dtype)),
        either=rest(list_lp16_fp32_ops(dtype)),
        conditions=conditions,
        exempt={**UNCAST, **(list_lp16_use_fp32_params(dtype) or {})},
    )


def _checked(what: str, argument: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(names, list | tuple | set | frozenset) or not all(
        isinstance(name, str) for name in names
    ):
        raise ArgumentTypeError(
            f"{what}: expected {argument} to be a list of str, got {names!r:.60}"
        )
    _check_known(what, argument, names)
    return tuple(names)


def _check_known(what: str, argument: str, names: Iterable[str]) -> None:
    known = {
        *(list_lp16_ops(FLOAT16) + list_fp32_ops(FLOAT16) + list_lp16_fp32_ops(FLOAT16)),
        *list_widest_type_cast(FLOAT16),
    }
    wrong = [name for name in names if name not in known and name not in all_names()]
    if wrong:
        raise ArgumentError(f"{what}: expected names of operators in {argument}, got {wrong}")


def _conditions(
    what: str, given: Iterable[Conditional] | None
) -> tuple[tuple[str, str, tuple[str, ...]], ...] | None:
    if given is None:
        return None
    found = []
    for entry in given:
        if not isinstance(entry, list | tuple) or len(entry) != 3 or isinstance(entry[2], str):
            raise ArgumentTypeError(
                f"{what}: expected conditional_fp32_ops to hold (operator, attribute, values), got "
                f"{entry!r:.60}"
            )
        name, attribute, values = entry
        _check_known(what, "conditional_fp32_ops", [name])
        found.append((name, attribute, tuple(map(str, values))))
    return tuple(found)
