"""PyTorch's side of a comparison: a step, eager, compiled, and captured as a CUDA graph.

The graph is of the whole step, optimizer included, and of the compiled one where that compiled:
more than ``mode="reduce-overhead"`` does, which captures the network alone.
"""

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from benchmarks.gpu_run.compiled_figures import COMPILED
from benchmarks.gpu_run.place import Place
from benchmarks.gpu_run.rows import Note
from benchmarks.gpu_run.timing import Contender

Forward = Callable[..., Any]
_WARM_UPS = 3


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the scope after some time; for the main thread."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def precision_of(torch: Any, precision: str, device: str) -> contextlib.AbstractContextManager[Any]:
    """Set how PyTorch multiplies float32, and return the scope of a training step.

    Args:
        torch: The module.
        precision: ``float32``, ``TF32`` or ``AMP``, which is bfloat16.
        device: ``cuda`` or ``cpu``.
    """
    rounds = precision != "float32"
    torch.set_float32_matmul_precision("high" if rounds else "highest")
    torch.backends.cudnn.allow_tf32 = rounds
    torch.backends.cudnn.benchmark = True
    scope: contextlib.AbstractContextManager[Any] = torch.autocast(
        device, dtype=torch.bfloat16, enabled=precision == "AMP"
    )
    return scope


class TorchStep:
    """A call of a network, or a training step.

    Args:
        torch: The module.
        forward: The network, or the loss of it.
        data: Its arguments.
        scope: Entered for the forward part.
        optimizer: Of a training step; None for inference.
    """

    def __init__(
        self,
        torch: Any,
        forward: Forward,
        data: Sequence[Any],
        scope: contextlib.AbstractContextManager[Any],
        optimizer: Any = None,
    ) -> None:
        self.torch = torch
        self.forward = forward
        self._data = data
        self._scope = scope
        self._optimizer = optimizer

    def with_forward(self, forward: Forward) -> "TorchStep":
        """Return the same step with another forward part."""
        return TorchStep(self.torch, forward, self._data, self._scope, self._optimizer)

    def __call__(self) -> Any:
        """Take it."""
        if self._optimizer is None:
            with self.torch.no_grad(), self._scope:
                return self.forward(*self._data)
        self._optimizer.zero_grad(set_to_none=True)
        with self._scope:
            loss = self.forward(*self._data)
        loss.backward()
        self._optimizer.step()
        return loss


def _graph(torch: Any, step: Callable[[], Any]) -> Callable[[], Any]:
    """Return a replay of a step."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(_WARM_UPS):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = step()

    def replay() -> Any:
        graph.replay()
        return kept

    return replay


def contenders_of(
    place: Place, step: TorchStep, note: Note, *, compile_s: float = 0.0, overhead: bool = False
) -> dict[str, Contender]:
    """Return the ways in which PyTorch takes a step, each of which ran.

    Args:
        place: Where.
        step: The eager one.
        note: Told why a way is missing.
        compile_s: What compiling may take; 0 leaves it out.
        overhead: Whether ``mode="reduce-overhead"`` is wanted, too.
    """
    timer, torch = place.torch_timer(), step.torch
    step()
    found = {"torch eager": Contender(step, timer)}
    compile_s *= place.compiles
    best: Callable[[], Any] = step
    modes = {"torch compiled": "default"} if compile_s else {}
    modes |= {"torch reduce-overhead": "reduce-overhead"} if compile_s and overhead else {}
    for name, mode in modes.items():
        how = place.pick({"mode": mode}, {"backend": "eager"})
        try:
            with time_limit(compile_s):
                compiled = step.with_forward(torch.compile(step.forward, dynamic=False, **how))
                for _ in range(_WARM_UPS):
                    compiled()
        except Exception as error:
            note(name, f"failed: {type(error).__name__}: {str(error)[:150]}")
            continue
        found[name] = Contender(compiled, timer)
        best = compiled if mode == "default" else best
    if place.rehearsed:
        return found
    try:
        name = "torch graph" if best is step else COMPILED
        found[name] = Contender(_graph(torch, best), timer)
    except Exception as error:
        note("torch graph", f"failed: {type(error).__name__}: {str(error)[:150]}")
    return found
