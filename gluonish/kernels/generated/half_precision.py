"""Sources of kernels for arrays of 16-bit floats, made of those for float32.

Elements are float32 from where they are read to where they are written, so that no sum is formed in
16 bits.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, FLOAT16, FLOAT32
from gluonish.kernels.compiler.machine_code import has_float16

_LOAD_AND_STORE = {BFLOAT16: ("load_bf16", "store_bf16"), FLOAT16: ("load_f16", "store_f16")}


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Whether kernels can read and write a dtype as 16-bit floats, on this CPU."""
    return dtype == BFLOAT16 or (dtype == FLOAT16 and has_float16())


def narrowed(source: str, names: Sequence[str], dtypes: Sequence[np.dtype[Any]]) -> str:
    """Return a source for arrays of other dtypes.

    Args:
        source: For arrays of float32. It reads an element only as ``name[...]``, and writes one
            only in a line ``name[...] = ...``.
        names: Of the arrays, in the order of the words that hold their addresses.
        dtypes: Of the arrays: float32, or what `is_narrow` takes.
    """
    for i, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
        if dtype == FLOAT32:
            continue
        load, store = _LOAD_AND_STORE[dtype]
        source = source.replace(f"f32(words[{i}])", f"u16(words[{i}])")
        source = re.sub(rf"\b({name}\[[^\]]+\])(?! = )", rf"{load}(\1)", source)
        source = re.sub(rf"( {name}\[[^\]]+\] = )(.+)", rf"\1{store}(\2)", source)
    return source
