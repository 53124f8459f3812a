"""Writes np_face.npz: what MXNet 1.9.1 answers to the calls of np_face_calls.py.

Run it with MXNet's interpreter, from the repository's root:
``python tests/golden/make_np_face.py``. For call number i, ``i.kind`` says whether the answer is
an array, a number, a list or a tuple, ``i.0``, ``i.1`` .. are its parts, and ``g.i.name`` are
gradients of its sum. A call that MXNet refuses has the kind ``error: ..``.
"""

import pathlib
import sys

import numpy
from mxnet import autograd, np, npx

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from np_face_calls import CALLS, GRADIENTS, inputs


def put(array, key, value):
    """Return an array after an assignment."""
    array[key] = value
    return array


def evaluate(call, arrays):
    names = {"np": np, "npx": npx, "numpy": numpy, "put": put, **arrays}
    return eval(call, names)


def arrays():
    return {name: np.array(value, dtype=value.dtype) for name, value in inputs().items()}


def record(stored, key, answer):
    several = isinstance(answer, (list, tuple))
    parts = list(answer) if several else [answer]
    kind = (
        type(answer).__name__
        if several
        else "array"
        if isinstance(answer, np.ndarray)
        else "number"
    )
    stored[f"{key}.kind"] = numpy.array(kind)
    for place, part in enumerate(parts):
        stored[f"{key}.{place}"] = (
            part.asnumpy() if isinstance(part, np.ndarray) else numpy.array(part)
        )


def record_gradients(stored, key, call):
    given = arrays()
    for array in given.values():
        if array.dtype.kind == "f":
            array.attach_grad()
    with autograd.record():
        answer = evaluate(call, given).sum()
    answer.backward()
    used = [name for name in given if name in call.replace("np", "").replace("numpy", "")]
    for name in used:
        if given[name].dtype.kind == "f" and given[name].grad is not None:
            stored[f"g.{key}.{name}"] = given[name].grad.asnumpy()


def main():
    npx.set_np()
    stored = {"calls": numpy.array(CALLS), "gradients": numpy.array(GRADIENTS)}
    for key, call in enumerate(CALLS):
        try:
            record(stored, key, evaluate(call, arrays()))
        except Exception as error:
            stored[f"{key}.kind"] = numpy.array(f"error: {type(error).__name__}")
            sys.stderr.write(f"{call} refused: {error}\n")
    for key, call in enumerate(GRADIENTS):
        record_gradients(stored, key, call)
    numpy.savez_compressed(pathlib.Path(__file__).with_name("np_face.npz"), **stored)


if __name__ == "__main__":
    main()
