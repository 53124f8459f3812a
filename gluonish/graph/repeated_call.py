"""RepeatedCall: the call before once more, on data of the same specs and the same parameters.

What a hybridized block finds out at each call follows from the parameters but for the data; they
are the same arrays at nearly all calls. So it is found out once, and a call only looks at the data.
"""

from collections.abc import Sequence

from gluonish.core.out_of_memory import empty_or_refuse
from gluonish.graph.call_plan import CallPlan
from gluonish.ndarray.ndarray import NDArray
from gluonish.ndarray.recording import mode
from gluonish_engine import Var

__all__ = ["RepeatedCall"]


class RepeatedCall:
    """Calls of a plan outside `record` on parameters that stay the same arrays.

    Args:
        plan: The plan, without a backward pass.
        parameters: The inputs behind the data, in order.
    """

    __slots__ = (
        *("_device", "_mode", "_name", "_output_specs"),
        *("_parameters", "_specs", "_submit", "_vars"),
    )

    def __init__(self, plan: CallPlan, parameters: Sequence[NDArray]) -> None:
        self._device = plan.device
        self._mode = plan.training
        self._name = plan.forward.name
        self._output_specs = plan.output_specs
        self._parameters = parameters
        self._specs = plan.specs[: len(plan.specs) - len(parameters)]
        self._submit = plan.forward.submit
        self._vars = [x._var for x in parameters]

    def run(self, data: Sequence[NDArray]) -> list[NDArray] | None:
        """Return new outputs; None, and nothing is done, if it is another call."""
        if mode.get() != self._mode:
            return None
        device = self._device
        frame, reads = [], []
        for x, spec in zip(data, self._specs, strict=True):
            raw = x._data
            if x._device is not device or x._spec != spec or not raw.flags.c_contiguous:
                return None
            frame.append(raw)
            reads.append(x._var)
        for x in self._parameters:
            frame.append(x._data)
        reads += self._vars
        kind = type(data[0])
        outputs, writes = [], []
        for spec in self._output_specs:
            try:
                raw = device.empty(spec.shape, spec.dtype)
            except (MemoryError, ValueError):
                raw = empty_or_refuse(device, spec.shape, spec.dtype, self._name)
            var = Var()
            frame.append(raw)
            writes.append(var)
            outputs.append(kind(raw, spec, device, var))
        self._submit(frame, reads, writes)
        return outputs
