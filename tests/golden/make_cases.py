"""Run the cases of ``cases/`` in MXNet 1.9.1 and store what it gives.

Usage, in MXNet's environment, from the root of the repository:

    python tests/golden/make_cases.py [family ...]

Writes ``cases/<family>.npz``. Only cases that are not stored yet are run; results of cases that
are gone are dropped. Each case runs in a child process, since MXNet may end it.
"""

import json
import multiprocessing
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.golden.case import load_cases  # noqa: E402

TIMEOUT_S = 120


def say(line):
    """Tell the one who waits."""
    sys.stderr.write(f"{line}\n")


def invoker(mx, name):
    """Return a function (arrays, attributes) -> list of outputs for any registered operator."""
    import ctypes

    from mxnet._ctypes.ndarray import _imperative_invoke
    from mxnet.base import _LIB, c_str, check_call

    handle = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    as_np = name.startswith("_np")

    def run(arrays, attrs):
        given = {key: value for key, value in attrs.items() if value is not None}
        out = _imperative_invoke(
            handle.value,
            arrays,
            [str(key) for key in given],
            [str(np.dtype(v).name if isinstance(v, type) else v) for v in given.values()],
            None,
            as_np,
            False,
        )
        return list(out) if isinstance(out, (list, tuple)) else [out]

    return run


def run_case(case):
    """Return what MXNet gives, as arrays by name; an error's text as ``error``."""
    import mxnet as mx

    as_np = case.op.startswith("_np")
    if as_np:
        mx.npx.set_np()
    mx.random.seed(7)
    make = mx.np.array if as_np else mx.nd.array
    before = case.arrays()
    try:
        run = invoker(mx, case.op)
        inputs = [make(x, dtype=x.dtype) for x in before]
        wanted = wanted_gradients(case, before)
        for i in wanted:
            inputs[i].attach_grad()
        attrs = dict(case.attrs)
        with mx.autograd.record(train_mode=case.train):
            outputs = run(inputs, attrs)
        found = {f"out{i}": y.asnumpy() for i, y in enumerate(outputs)}
    except Exception as error:  # the classes are MXNet's
        return {"error": np.array(f"{type(error).__name__}: {str(error)[:300]}")}
    if case.random:
        return {f"{k}.spec": np.array(f"{v.dtype.name}{v.shape}") for k, v in found.items()}
    for i, (x, was) in enumerate(zip(inputs, before, strict=True)):
        now = x.asnumpy()
        if not np.array_equal(now, was, equal_nan=now.dtype.kind == "f"):
            found[f"moved{i}"] = now
    if wanted and not case.wrong_grad:
        found.update(gradients(mx, case, inputs, outputs, found, wanted, make))
    return found


def wanted_gradients(case, arrays):
    """Return the positions of the inputs whose gradient is asked for."""
    if case.grad is False or case.random:
        return []
    floating = [i for i, x in enumerate(arrays) if x.dtype.kind == "f"]
    return floating if case.grad is None else [i for i in floating if i in case.grad]


def gradients(mx, case, inputs, outputs, found, wanted, make):
    """Return the gradients by name; nothing where MXNet has none."""
    heads = [
        make(case.head(i, y.shape, y.dtype), dtype=y.dtype)
        for i, y in enumerate(found[f"out{i}"] for i in range(len(outputs)))
        if y.dtype.kind == "f"
    ]
    tops = [y for i, y in enumerate(outputs) if found[f"out{i}"].dtype.kind == "f"]
    if not tops:
        return {}
    try:
        mx.autograd.backward(tops, heads)
        return {f"grad{i}": inputs[i].grad.asnumpy() for i in wanted}
    except Exception as error:
        say(f"  no gradient of {case!r}: {str(error).splitlines()[0][:100]}")
        return {}


def serve(connection, cases):
    """Answer with the results of the cases whose positions are asked for."""
    while True:
        position = connection.recv()
        if position is None:
            return
        connection.send(run_case(cases[position]))


class Oracle:
    """A child process that runs cases, replaced when MXNet ends it."""

    def __init__(self, cases):
        self.cases = cases
        self.child = None

    def run(self, position):
        """Return the results of a case, or its error."""
        if self.child is None:
            self.connection, other = multiprocessing.Pipe()
            context = multiprocessing.get_context("fork")
            self.child = context.Process(target=serve, args=(other, self.cases), daemon=True)
            self.child.start()
            other.close()
        try:
            self.connection.send(position)
            if self.connection.poll(TIMEOUT_S):
                return self.connection.recv()
            reason = "hangs"
        except (EOFError, OSError):
            reason = "crashes"
        self.child.kill()
        self.child = None
        return {"error": np.array(f"MXNet {reason}")}


def main(families):
    """Bring the stored results of these families, or of all, up to date."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for path in sorted((HERE / "cases").glob("*.py")):
        if not families or path.stem in families:
            update(path)


def update(path):
    """Bring the stored results of one family up to date."""
    target = path.with_suffix(".npz")
    stored = {}
    if target.exists():
        with np.load(target) as file:
            stored = {name: file[name] for name in file.files}
    cases = load_cases(path)
    keys = [case.key for case in cases]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        sys.exit(f"{path.name}: cases that are equal: {sorted(twice)}")
    have = {name.split("|")[0] for name in stored}
    kept = {name: value for name, value in stored.items() if name.split("|")[0] in set(keys)}
    oracles = {}  # type: ignore[var-annotated]
    for position, case in enumerate(cases):
        if case.key in have or case.wrong:
            continue
        oracle = oracles.setdefault(case.op.startswith("_np"), Oracle(cases))
        results = oracle.run(position)
        if ("error" in results) != case.invalid:
            word = "an error" if case.invalid else "a result"
            say(f"  {case!r}: expected {word}, got {results.get('error', sorted(results))}")
            continue
        kept.update({f"{case.key}|{name}": value for name, value in results.items()})
    np.savez_compressed(target, **kept)
    say(json.dumps({"family": path.stem, "cases": len(cases), "bytes": target.stat().st_size}))


if __name__ == "__main__":
    main(sys.argv[1:])
