"""Writes npx2.npz: what MXNet 2.0.0b1 answers to the calls of npx2_calls.py.

Run it with MXNet's interpreter (Python 3.8), from the repository's root:
``python tests/golden/make_npx2.py``. For call number i, ``i.n`` is the number of arrays, ``i.0``,
``i.1`` .. are they, and ``g.i.name`` are gradients of the sum of them all times a weight.
"""

import pathlib
import re
import sys

import numpy
from mxnet import autograd, np, npx

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from npx2_calls import CALLS, GRADIENTS, inputs


def leaves(answer):
    """Return the arrays of nested lists, in order."""
    if isinstance(answer, (list, tuple)):
        return [leaf for item in answer for leaf in leaves(item)]
    return [answer]


def named(call, given):
    """Return the names of the arrays in a call."""
    return [name for name in given if re.search(rf"(?<![\w.]){name}\b(?! ?=[^=])", call)]


def arrays():
    return {name: np.array(value, dtype=value.dtype) for name, value in inputs().items()}


def weighted(answer):
    """Return the sum of all arrays, each element times a weight of its own."""
    total = 0
    for leaf in leaves(answer):
        weights = numpy.cos(numpy.arange(leaf.size)).reshape(leaf.shape).astype(leaf.dtype)
        total = total + (np.where(np.isfinite(leaf), leaf, 0) * np.array(weights)).sum()
    return total


def main():
    npx.set_np()
    every = [call for calls in CALLS.values() for call in calls]
    stored = {"calls": numpy.array(every)}
    for key, call in enumerate(every):
        given = arrays()
        answer = leaves(eval(call, {"np": np, "npx": npx, **given}))
        stored[f"{key}.n"] = numpy.array(len(answer))
        for place, part in enumerate(answer):
            stored[f"{key}.{place}"] = part.asnumpy()
        if call not in GRADIENTS:
            continue
        used = [name for name in named(call, given) if given[name].dtype == numpy.float32]
        for name in used:
            given[name].attach_grad()
        try:
            with autograd.record():
                total = weighted(eval(call, {"np": np, "npx": npx, **given}))
            total.backward()
            for name in used:
                stored[f"g.{key}.{name}"] = given[name].grad.asnumpy()
        except Exception as error:
            sys.stderr.write(f"no gradient of {call}: {str(error)[-200:]}\n")
    numpy.savez_compressed(pathlib.Path(__file__).with_name("npx2.npz"), **stored)


if __name__ == "__main__":
    main()
