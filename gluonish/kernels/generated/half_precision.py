"""Kernel sources for arrays of 16-bit floats, derived from those for float32.

Elements are converted on load and store, so that all arithmetic is in float32.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.kernels.compiler.machine_code import has_float16

_LOAD_AND_STORE = {BFLOAT16: ("load_bf16", "store_bf16"), FLOAT16: ("load_f16", "store_f16")}


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is a 16-bit float that this CPU can convert."""
    return dtype == BFLOAT16 or (dtype == FLOAT16 and has_float16())


def narrowed(source: str, names: Sequence[str], dtypes: Sequence[np.dtype[Any]]) -> str:
    """Return a source for arrays of other dtypes.

    Args:
        source: A source for float32. It reads an element only as ``name[...]``, and writes one only
            in a line ``name[...] = ...``.
        names: Names of the arrays, in the order of the params with their addresses.
        dtypes: Dtypes of the arrays: float32, or one for which `is_narrow` is true.
    """
    for i, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        if dtype == FLOAT32:
            continue
        load, store = _LOAD_AND_STORE[dtype]
        source = source.replace(f"f32(params[{i}])", f"u16(params[{i}])")
        source = re.sub(rf"\b({name}\[[^\]]+\])(?! = )", rf"{load}(\1)", source)
        source = re.sub(rf"( {name}\[[^\]]+\] = )(.+)", rf"\1{store}(\2)", source)
    return source
