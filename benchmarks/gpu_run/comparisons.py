"""What every row of stage 3 does: time ours and the peers' in turns, count launches, ask memory."""

import contextlib
import importlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.gpu_run.compiled_figures import COMPILED, recorded_ms
from benchmarks.gpu_run.place import Place, variables
from benchmarks.gpu_run.rows import Note, Refused
from benchmarks.gpu_run.timeline import summary
from benchmarks.gpu_run.timing import Contender, calls_of, in_turns

_TF32 = "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION"
_ROUNDS = 5
# CUDA graphs are captured at the second call, what they refuse is found after it, and arrays that
# recur are used in place from about the fifteenth on.
_FIRST_CALLS = 20
# The dtypes of all of a network, by how it is said.
HALVES = {"AMP": "bfloat16", "FP16": "float16"}
static = {"static_alloc": True, "static_shape": True}


def our_precision(precision: str) -> contextlib.AbstractContextManager[None]:
    """Set how gluonish multiplies float32, inside the scope."""
    return variables({_TF32: "0" if precision == "float32" else "1"})


class OurStep:
    """A training step of gluonish: forward, loss, backward, update.

    Args:
        mx: gluonish.
        loss: Returns the loss.
        parameters: The network's.
        optimizer: Its name and arguments.
        count: Samples, for the trainer.
        precision: With ``AMP``, which is bfloat16, and ``FP16`` weights have copies in float32;
            with ``FP16`` the loss is scaled.
    """

    def __init__(
        self,
        mx: Any,
        loss: Callable[[], Any],
        parameters: Any,
        optimizer: tuple[str, dict[str, Any]],
        count: int,
        precision: str,
    ) -> None:
        name, options = optimizer
        if precision in HALVES:
            options = {**options, "multi_precision": True}
        self._record = mx.autograd.record
        self._loss = loss
        self._trainer = mx.gluon.Trainer(parameters, name, options)
        self._count = count
        self._amp: Any = mx.contrib.amp if precision == "FP16" else None
        if self._amp is not None:
            self._amp.init_trainer(self._trainer)

    def __call__(self) -> Any:
        """Take it."""
        with self._record():
            loss = self._loss()
            if self._amp is not None:
                with self._amp.scale_loss(loss, self._trainer) as scaled:
                    scaled.backward()
        if self._amp is None:
            loss.backward()
        self._trainer.step(self._count)
        return loss

    def memory(self) -> dict[str, int]:
        """Return the bytes of arrays that outlive a step, by kind."""
        parameters = [p for p in self._trainer._params if p.grad_req != "null"]
        states = self._trainer._updaters[0].states.values()
        return {
            "parameters": sum(_bytes(p.data()) for p in self._trainer._params),
            "gradients": sum(_bytes(p.grad()) for p in parameters),
            "states": sum(map(_bytes, states)),
        }


def _bytes(found: Any) -> int:
    """Return the bytes of an array, or of arrays in tuples; None has none."""
    if isinstance(found, tuple | list):
        return sum(map(_bytes, found))
    return 0 if found is None else int(found.size * np.dtype(found.dtype).itemsize)


def compare(
    place: Place,
    note: Note,
    ours: Callable[[], Any],
    peers: Callable[[], dict[str, Contender]],
    *,
    per_step: int,
    seconds: float,
) -> Iterator[None]:
    """Prepare, yield, and measure; ours alone where there is no PyTorch.

    Args:
        place: Where.
        note: Told what is found.
        ours: gluonish's step, hybridized but not yet run.
        peers: Makes PyTorch's.
        per_step: Images or words of a step.
        seconds: About how long a turn is.
    """
    with _refused_by_graphs(note):
        for _ in range(_FIRST_CALLS):
            ours()
        place.mx.nd.waitall()
    if place.turns:
        yield
        yield from _turns(place, note, Contender(ours, place.timer()), place.pick(seconds, 0.0))
    contenders = {"ours": Contender(ours, place.timer())}
    try:
        assert place.torch
        contenders |= peers()
    except Refused as error:
        note("torch", str(error))
    yield
    rounds = place.pick(_ROUNDS, 1)
    took = in_turns(contenders, rounds, place.pick(seconds, 0.0))
    mine = took["ours"].device_ms
    for name, found in took.items():
        ratio = {} if name == "ours" else {"ratio": round(found.device_ms / mine, 3)}
        note(name, found.device_ms, "ms", host_ms=found.host_ms, spread=found.spread,
             per_s=1e3 * per_step / found.device_ms, **ratio)  # fmt: skip
    if "torch eager" in contenders and COMPILED not in contenders:
        recorded = recorded_ms(place.card, place.torch.__version__, place.row)
        if recorded is not None:
            note(f"{COMPILED}, recorded", recorded, "ms", ratio=round(recorded / mine, 3))
    _beside_time(place, note, contenders)


def _turns(place: Place, note: Note, ours: Contender, seconds: float) -> Iterator[None]:
    """Measure one turn of ours each time, without end."""
    count = calls_of(ours, seconds)
    while True:
        sample = ours.timer.time(ours.call, count)
        note("turn", sample.device_ms, "ms", host_ms=sample.host_ms)
        note("peak", place.mx.gpu(0).memory_info().peak / 1e6, "MB")
        yield


class _Refusals(logging.Handler):
    """Keeps what gluonish says of operators that no CUDA graph holds."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.told: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        if str(record.msg).startswith("No CUDA graph holds"):
            self.told[record.getMessage()] = None


@contextlib.contextmanager
def _refused_by_graphs(note: Note) -> Iterator[None]:
    """Note which operators were refused by CUDA graphs, inside the scope."""
    log, handler = logging.getLogger("gluonish"), _Refusals()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)
    for i, message in enumerate(list(handler.told)[:8]):
        note(f"not in a graph {i}", message[:200])


def note_launches(place: Place, note: Note, what: str, call: Callable[[], Any]) -> None:
    """Note how many kernels a call launches, with their names and times, or why nobody knows."""
    try:
        found = summary(place.work(call))
        note(what, found["launches"], timeline=found)
    except (Refused, RuntimeError, AttributeError) as error:
        note(what, f"not counted: {error}")


def _note_memory(place: Place, note: Note, ours: Callable[[], Any]) -> None:
    """Note our peak of memory, and what its kinds hold."""
    device = importlib.import_module("gluonish.core.device").device_of(place.mx.gpu(0))
    kinds = {"captures": int(device.graphs._scratch.nbytes)}
    kinds |= ours.memory() if isinstance(ours, OurStep) else {}
    info = device.memory_info()
    mb = {f"{kind}_mb": round(nbytes / 1e6, 3) for kind, nbytes in kinds.items()}
    note("our peak", info.peak / 1e6, "MB", held_mb=info.held / 1e6, **mb)


def _beside_time(place: Place, note: Note, contenders: dict[str, Contender]) -> None:
    """Note launches and memory of ours and of PyTorch's eager step."""
    _note_memory(place, note, contenders["ours"].call)
    note_launches(place, note, "our launches", contenders["ours"].call)
    if not place.rehearsed:
        for name in [name for name in contenders if name != "ours"]:
            note_launches(place, note, f"launches of {name}", contenders[name].call)
    if not place.rehearsed and "torch eager" in contenders:
        cuda = place.torch.cuda
        cuda.empty_cache()
        before = cuda.memory_allocated()
        cuda.reset_peak_memory_stats()
        contenders["torch eager"].call()
        cuda.synchronize()
        peak = cuda.max_memory_allocated()
        note("torch's peak", peak / 1e6, "MB", above_rest_mb=(peak - before) / 1e6)
