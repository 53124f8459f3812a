"""The names that the sources of generated kernels may use; `compiler` documents them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gluonish.kernels.compiler.half_floats import LOADS, STORES
from gluonish.kernels.compiler.philox import philox_fill, philox_word
from gluonish.kernels.compiler.vector_math import FUNCTIONS, Number

__all__ = ["MARKER", "SCRATCH_SUMS", "SCRATCH_WORDS", "kernel_scope"]

# The function whose calls mark independent loops until `frontend` has read them.
MARKER = "gluonish.independent"

SCRATCH_WORDS = 1032  # of 32 bits, on the stack of each thread
SCRATCH_SUMS = 4096  # float64, on the stack of each thread


def kernel_scope() -> dict[str, Any]:
    """Return the globals of a kernel's source: a new dictionary."""
    import numba

    words = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
    scope: dict[str, Any] = {name: getattr(numba, name) for name in words.split()}
    made = (_views, _bits, _half_floats, _choices, _marker, _scratch, _random, _math)
    for names in (make() for make in made):
        scope |= names
    return scope | {"np": np, "math": math}


def _views() -> dict[str, Any]:
    from numba import types

    names = {"f32": types.float32, "f64": types.float64}
    names |= {"i8": types.int8, "i16": types.int16, "i32": types.int32, "i64": types.int64}
    names |= {"u8": types.uint8, "u16": types.uint16, "u32": types.uint32, "u64": types.uint64}
    return {name: _view(types.CPointer(kind)) for name, kind in names.items()}


def _view(pointer: Any) -> Any:
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(pointer))

    return _fixed(pointer(types.int64), generate)


def _bits() -> dict[str, Any]:
    from numba import types

    pairs = {
        "as_float": (types.float64, types.int64),
        "as_int": (types.int64, types.float64),
        "float_of_bits": (types.float32, types.uint32),
        "bits_of_float": (types.uint32, types.float32),
    }

    def generate(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return {name: _fixed(to(source), generate) for name, (to, source) in pairs.items()}


def _half_floats() -> dict[str, Any]:
    from numba import types

    def generator(append: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        return lambda context, builder, signature, args: append(builder, args[0])

    load, store = types.float32(types.uint16), types.uint16(types.float32)
    names = {name: _fixed(load, generator(append)) for name, append in LOADS.items()}
    return names | {name: _fixed(store, generator(append)) for name, append in STORES.items()}


def _marker() -> dict[str, Any]:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils

    def generate(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, MARKER), [])
        return context.get_dummy_value()

    return {"independent": _fixed(types.void(), generate)}


def _choices() -> dict[str, Any]:
    from numba import types
    from numba.extending import intrinsic

    def select(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return builder.select(*args)

    def typed(typing_context: Any, condition: Any, x: Any, y: Any) -> Any:
        kind = typing_context.unify_types(x, y)
        return kind(types.boolean, kind, kind), select

    def flag(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        kind = context.get_value_type(signature.return_type)
        return builder.select(args[0], kind(1), kind(0))

    kinds = {"float32": types.float32, "float64": types.float64, "int64": types.int64}
    flags = {f"flag_{name}": _fixed(kind(types.boolean), flag) for name, kind in kinds.items()}
    return {"select": intrinsic(typed), **flags}


def _scratch() -> dict[str, Any]:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils

    def room(kind: Any, count: int) -> Callable[..., Any]:
        return lambda context, builder, signature, args: cgutils.alloca_once(
            builder, kind, size=count
        )

    words, sums = room(ir.IntType(32), SCRATCH_WORDS), room(ir.DoubleType(), SCRATCH_SUMS)
    return {
        "scratch": _fixed(types.CPointer(types.uint32)(), words),
        "scratch_sums": _fixed(types.CPointer(types.float64)(), sums),
    }


def _random() -> dict[str, Any]:
    from numba import types
    from numba.extending import intrinsic

    def fill(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        philox_fill(builder, *args)
        return context.get_dummy_value()

    def one(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return philox_word(builder, *args)

    filled = types.void(types.CPointer(types.uint32), *[types.int64] * 4)
    drawn = types.uint32(*[types.int64] * 3)
    return {
        "philox_fill": intrinsic(lambda typing, view, place, block, seed, offset: (filled, fill)),
        "philox_word": intrinsic(lambda typing, index, seed, offset: (drawn, one)),
    }


def _fixed(signature: Any, generate: Callable[..., Any]) -> Any:
    """An intrinsic with one signature, to which arguments are converted."""
    from numba.extending import intrinsic

    if not signature.args:
        return intrinsic(lambda typing_context: (signature, generate))
    return intrinsic(lambda typing_context, value: (signature, generate))


def _math() -> dict[str, Any]:
    return {name: _function(count, formula) for name, (count, formula) in FUNCTIONS.items()}


def _function(count: int, formula: Callable[..., Number]) -> Any:
    """An intrinsic of floating arguments of one type: float32 if all have it, else float64."""
    from numba import types
    from numba.extending import intrinsic

    def generate(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        return formula(*(Number(builder, value) for value in args)).value

    def typed(*kinds: Any) -> Any:
        single = all(kind == types.float32 for kind in kinds)
        result = types.float32 if single else types.float64
        return result(*[result] * count), generate

    if count == 1:
        return intrinsic(lambda typing_context, x: typed(x))
    if count == 2:
        return intrinsic(lambda typing_context, x, y: typed(x, y))
    return intrinsic(lambda typing_context, x, y, z: typed(x, y, z))
