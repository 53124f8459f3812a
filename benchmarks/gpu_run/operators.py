"""Rows of single operators, called imperatively: gluonish, and PyTorch eager."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.gpu_run.comparisons import note_launches, our_precision
from benchmarks.gpu_run.operator_list import OPERATORS, Operator
from benchmarks.gpu_run.peers import precision_of
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note, Refused, Table
from benchmarks.gpu_run.timing import Contender, in_turns

_TENSORS = 100
_ALIKE = {"float32": 1e-4, "TF32": 1e-2, "bfloat16": 5e-2}  # of the largest value


def _function(text: str, count: int, extra: str) -> Callable[..., Any]:
    names = ", ".join("abc"[:count])
    made: Callable[..., Any] = eval(f"lambda {extra}, {names}: {text}")
    return made


def _learned(operator: Operator, count: int) -> list[int]:
    """Return which arrays have a gradient."""
    return [i for i in range(count) if operator.kind != "index" or i < count - 1]


def _ours(place: Place, operator: Operator, values: list[Any]) -> Callable[[], Any]:
    mx = place.mx
    dtype = operator.precision if operator.precision == "bfloat16" else "float32"
    arrays = [mx.nd.array(x, ctx=mx.gpu(0), dtype=dtype) for x in values]
    function = functools.partial(_function(operator.call, len(arrays), "F"), mx.nd, *arrays)
    if not operator.backward:
        return function
    for i in _learned(operator, len(arrays)):
        arrays[i].attach_grad()

    def step() -> Any:
        with mx.autograd.record():
            out = function()
        out.backward()
        return out

    return step


def _theirs(place: Place, operator: Operator, values: list[Any]) -> Callable[[], Any]:
    torch = place.torch
    tensors = [torch.from_numpy(x).to(place.torch_device) for x in values]
    if operator.precision == "bfloat16":
        tensors = [x.bfloat16() for x in tensors]
    call = _function(operator.torch, len(tensors), "F, N")
    function = functools.partial(call, torch, torch.nn.functional, *tensors)
    if not operator.backward:
        return function
    learned = [tensors[i].requires_grad_() for i in _learned(operator, len(tensors))]

    def step() -> Any:
        out = function()
        torch.autograd.grad(out, learned, torch.ones_like(out))
        return out

    return step


def _operator(place: Place, note: Note, *, operator: Operator) -> Iterator[None]:
    """Check that both compute the same, and time them."""
    from benchmarks.interleaved.operator_jobs import make_arrays

    values = make_arrays(operator, place.pick("large", "small"))
    with our_precision(operator.precision):
        ours = _ours(place, operator, values)
        got = ours()
        contenders, differ = {"ours": Contender(ours, place.timer())}, ""
        try:
            torch = place.torch
            precision_of(torch, operator.precision, place.torch_device)
            theirs = _theirs(place, operator, values)
            want = theirs()
            differ = (
                ""
                if operator.kind == "random"
                else difference_from(note, operator.precision, got, want)
            )
            contenders["torch eager"] = Contender(theirs, place.torch_timer())
        except Refused as error:
            note("torch", str(error))
        del got, values
        yield
        time_both(place, note, contenders)
    assert not differ, differ


def difference_from(note: Note, precision: str, ours: Any, theirs: Any) -> str:
    """Note how far outputs are apart, of the largest; say so if that is too far."""
    got = ours.astype("float32").asnumpy()
    want = theirs.detach().float().cpu().numpy().reshape(got.shape)
    difference = float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30))
    note("difference", difference)
    limit = _ALIKE[precision]
    if difference < limit:
        return ""
    return f"expected outputs within {limit} of the largest, got {difference}"


def time_both(place: Place, note: Note, contenders: dict[str, Contender]) -> None:
    """Time ours and PyTorch's in turns, and count our launches."""
    took = in_turns(contenders, place.pick(5, 1), place.pick(0.05, 0.0))
    mine = took["ours"].device_ms
    for name, found in took.items():
        ratio = {} if name == "ours" else {"ratio": round(found.device_ms / mine, 3)}
        note(name, 1e3 * found.device_ms, "us", host_us=1e3 * found.host_ms,
             spread=found.spread, **ratio)  # fmt: skip
    note_launches(place, note, "our launches", contenders["ours"].call)


def _update(place: Place, note: Note, *, name: str) -> Iterator[None]:
    """Update a hundred tensors; PyTorch's optimizer in one or few kernels."""
    mx, side = place.mx, place.pick(256, 3)
    options = {"learning_rate": 1e-3} | ({"momentum": 0.9} if name == "sgd" else {})
    parameters = [mx.gluon.Parameter(f"p{i}", shape=(side, side)) for i in range(_TENSORS)]
    for parameter in parameters:
        parameter.initialize(mx.init.One(), ctx=mx.gpu(0))
        parameter.grad()[:] = 1
    trainer = mx.gluon.Trainer(parameters, name, options)
    weights = [parameter.data() for parameter in parameters]

    def ours() -> None:
        for weight in weights:
            weight._fresh_grad = True  # as backward leaves it
        trainer.step(1)

    contenders = {"ours": Contender(ours, place.timer())}
    contenders["ours"].call()
    try:
        torch = place.torch
        tensors = [torch.ones((side, side), device=place.torch_device) for _ in range(_TENSORS)]
        for tensor in tensors:
            tensor.requires_grad_().grad = torch.ones_like(tensor)
        optimizers = {
            "sgd": functools.partial(torch.optim.SGD, lr=1e-3, momentum=0.9),
            "adam": functools.partial(torch.optim.Adam, lr=1e-3),
        }
        optimizer = optimizers[name](tensors, fused=True)
        optimizer.step()
        contenders["torch eager"] = Contender(optimizer.step, place.torch_timer())
    except Refused as error:
        note("torch", str(error))
    yield
    time_both(place, note, contenders)


def add_operators(table: Table) -> None:
    """Add a row for each operator."""
    for operator in OPERATORS:
        table.add(operator.name, 40, functools.partial(_operator, operator=operator))
    for name in ("sgd", "adam"):
        table.add(f"{name}, {_TENSORS} tensors", 40, functools.partial(_update, name=name))
