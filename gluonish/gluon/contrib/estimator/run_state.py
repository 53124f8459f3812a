"""All that the rest of a training run follows from, besides parameters and optimizer states.

Random numbers, positions in the data, metrics, counters of handlers, the loss scale, gradients that
wait for an update, and arrays that differ between processes or devices: running statistics.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gluonish.core.errors import FileFormatError
from gluonish.core.generator_states import generator_states, plain_states, restore_generators
from gluonish.gluon.contrib.estimator.events import EventHandler
from gluonish.gluon.contrib.estimator.packed_values import Arrays, packed, unpacked
from gluonish.gluon.data import DataLoader
from gluonish.gluon.mixed_precision.loss_scaler import LossScaler
from gluonish.gluon.parameter import Parameter
from gluonish.metric import EvalMetric
from gluonish.ndarray import NDArray, array

State = dict[str, Any]


class RunState:
    """Collects and restores the state of one process of a training run.

    Args:
        estimator: The Estimator.
        handlers: Its handlers.
        loaders: Its loaders.
    """

    def __init__(
        self, estimator: Any, handlers: Sequence[EventHandler], loaders: Sequence[DataLoader]
    ) -> None:
        self._estimator = estimator
        self._handlers = handlers
        self._loaders = loaders

    def collect(self) -> tuple[State, Arrays]:
        """Return the state for JSON, and its arrays."""
        arrays: Arrays = {}
        state = {
            "random": plain_states(generator_states()),
            "data": [loader.state_dict() for loader in self._loaders],
            "handlers": [[name, x.state_dict()] for name, x in self._named_handlers()],
            "metrics": [[metric.name, metric._all_sums()] for metric in self._metrics()],
            "scaling": self._scaling(),
            "gradients": self._gradients(),
            "arrays": {name: x.asnumpy() for name, x in self._own_arrays()},
        }
        found: State = packed(state, arrays, "")
        return found, arrays

    def restore(self, state: State, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Continue from a result of `collect`, of parameters and states that are loaded already.

        Raises:
            FileFormatError: The state is one of other metrics, or with or without evaluation.
        """
        found = unpacked(state, arrays)
        if len(found["data"]) != len(self._loaders):
            had, has = ("with" if len(x) > 1 else "without" for x in (found["data"], self._loaders))
            raise FileFormatError(
                f"Estimator.fit: expected a run {had} val_data, as that of the checkpoint, got one "
                f"{has}; pass the same, or choose another folder"
            )
        for loader, its in zip(self._loaders, found["data"], strict=True):
            loader.load_state_dict(its)
        states = dict(found["handlers"])
        for name, handler in self._named_handlers():
            if name in states:
                handler.load_state_dict(states[name])
        metrics = self._metrics()
        names = [name for name, _ in found["metrics"]]
        if names != [metric.name for metric in metrics]:
            raise FileFormatError(
                f"Estimator.fit: expected a checkpoint of the metrics {[x.name for x in metrics]}, "
                f"got one of {names}; start without resume=True, or with these metrics"
            )
        for metric, (_, sums) in zip(metrics, found["metrics"], strict=True):
            metric._set_sums([sums])
        for name, x in self._own_arrays():
            _set(x, found["arrays"][name])
        self._restore_scaling(found["scaling"])
        self._restore_gradients(found["gradients"])
        restore_generators(found["random"])

    def _named_handlers(self) -> Iterator[tuple[str, EventHandler]]:
        """Yield the handlers with their classes' names, of which the same get numbers."""
        counts: dict[str, int] = {}
        for handler in self._handlers:
            name = type(handler).__name__
            counts[name] = counts.get(name, 0) + 1
            yield f"{name} {counts[name]}", handler

    def _metrics(self) -> list[EvalMetric]:
        estimator = self._estimator
        return [*estimator.train_metrics, *estimator.val_metrics, *estimator.average_metrics]

    def _own_arrays(self) -> Iterator[tuple[str, NDArray]]:
        """Yield the arrays that other devices and processes may have with other values."""
        average = self._estimator.average
        averages = {} if average is None else average._averages
        for name, param in self._estimator.net._collect_params_with_prefix().items():
            if param._differentiable or param._arrays is None:
                continue
            for number, data in enumerate(param.list_data()):
                yield f"{name} {number}", data
            if name in averages:
                yield f"{name} average", averages[name]

    def _scaling(self) -> State | None:
        trainer = self._estimator.trainer
        scaler = trainer._amp_loss_scaler
        if not isinstance(scaler, LossScaler):
            return None
        # Moves the numbers from a GPU to the host.
        numbers = [scaler._loss_scale, scaler._next_loss_scale, scaler._unskipped]
        return {"numbers": numbers, "divisor": scaler.divisor, "factor": [*trainer._scaling]}

    def _restore_scaling(self, state: State | None) -> None:
        trainer = self._estimator.trainer
        scaler = trainer._amp_loss_scaler
        if state is None or not isinstance(scaler, LossScaler):
            return
        scaler._loss_scale, scaler._next_loss_scale, scaler._unskipped = state["numbers"]
        scaler._divisor = state["divisor"]
        trainer._scaling = tuple(state["factor"])

    def _adding(self) -> list[tuple[int, Parameter]]:
        """Return the parameters whose gradients wait for an update, with their positions."""
        groups = self._estimator.trainer._groups
        if groups is not None and not groups.is_open:
            return []
        params = enumerate(self._estimator.trainer._params)
        return [(i, param) for i, param in params if param.grad_req == "add"]

    def _gradients(self) -> State:
        groups = self._estimator.trainer._groups
        return {
            "group": None if groups is None else list(groups.state),
            "arrays": {
                str(i): [
                    [gradient.asnumpy(), bool(data._fresh_grad)]
                    for gradient, data in zip(param.list_grad(), param.list_data(), strict=True)
                ]
                for i, param in self._adding()
            },
        }

    def _restore_gradients(self, state: State) -> None:
        trainer = self._estimator.trainer
        if trainer._groups is not None and state["group"] is not None:
            trainer._groups.state = tuple(state["group"])
        for position, of_devices in state["arrays"].items():
            param = trainer._params[int(position)]
            devices = zip(param.list_grad(), param.list_data(), of_devices, strict=True)
            for gradient, data, (values, is_fresh) in devices:
                _set(gradient, values)
                data._fresh_grad = is_fresh


def _set(target: NDArray, values: np.ndarray[Any, Any]) -> None:
    target[:] = array(values, ctx=target.context, dtype=target.dtype)
