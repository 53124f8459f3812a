"""SVRGModule: a Module with variance-reduced gradients."""

import logging
from typing import Any

from gluonish.contrib.svrg_optimization.svrg_optimizer import _OptimizerView
from gluonish.core.context import cpu
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.module import Module
from gluonish.ndarray import NDArray, zeros_like

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """A `Module` trained by stochastic variance-reduced gradients (SVRG).

    Every ``update_freq`` epochs it takes a snapshot of the weights, and computes the mean gradient
    of all batches at the snapshot. The gradient g(w) of a batch is replaced by g(w) - g(w_snapshot)
    + mean gradient. Each device stores the mean gradient of its slices of the batches; a
    KVStore across machines sums the corrected gradients.

    Args:
        symbol: The network.
        data_names: Names of its arguments that are data.
        label_names: Names of its arguments that are labels; None for none.
        logger: Logger for messages.
        context: Device, or list of devices.
        work_load_list: Relative load of each device.
        fixed_param_names: Names of weights that are not trained.
        state_names: Names of arguments that are neither data nor weights.
        group2ctxs: Devices of each ``ctx_group``; see `Module`.
        compression_params: See `KVStore.set_gradient_compression`.
        update_freq: Number of epochs between two snapshots.

    Raises:
        ArgumentTypeError: ``update_freq`` is not an int.
        ArgumentError: ``update_freq`` is not positive.

    References:
        R. Johnson and T. Zhang, "Accelerating Stochastic Gradient Descent using Predictive
        Variance Reduction", 2013.
    """

    def __init__(
        self,
        symbol: Any,
        data_names: Any = ("data",),
        label_names: Any = ("softmax_label",),
        logger: Any = logging,
        context: Any = cpu(),  # noqa: B008  # a value
        work_load_list: Any = None,
        fixed_param_names: Any = None,
        state_names: Any = None,
        group2ctxs: Any = None,
        compression_params: Any = None,
        update_freq: int | None = None,
    ) -> None:
        shared = (logger, context, work_load_list, fixed_param_names, state_names, group2ctxs)
        super().__init__(symbol, data_names, label_names, *shared, compression_params)
        if not isinstance(update_freq, int):
            raise ArgumentTypeError(
                "update_freq in SVRGModule must be an integer to represent the frequency for "
                f"calculating full gradients, got {update_freq!r}"
            )
        if update_freq <= 0:
            raise ArgumentError(
                "update_freq in SVRGModule must be a positive integer to represent the frequency "
                f"for calculating full gradients, got {update_freq}"
            )
        self.update_freq = update_freq
        self._mod_aux = Module(symbol, data_names, label_names, *shared, compression_params)
        self._view: _OptimizerView | None = None
        # For each device, the mean gradients at the snapshot, by weight name.
        self._param_dict: list[dict[str, NDArray]] = []

    @property
    def _optimizer(self) -> Any:
        """The optimizer wrapped as in MXNet: its ``default_opt`` updates the weights."""
        made = super()._optimizer
        if made is None:
            return None
        view = self._view
        if view is None or view.default_opt is not made:
            view = self._view = _OptimizerView(made)
        return view

    @property
    def _ctx_len(self) -> int:
        """The number of devices."""
        return len(self._context)

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Allocate the arrays for batches of these shapes, and for the snapshot; see `Module.bind`.

        Args:
            data_shapes: Descriptions of the data.
            label_shapes: Descriptions of the labels.
            for_training: Whether to allocate gradients.
            inputs_need_grad: Whether to compute gradients of the data, too.
            force_rebind: Whether to bind the module again if it is already bound.
            shared_module: A module to share weights with.
            grad_req: How gradients are stored: ``"write"``, ``"add"`` or ``"null"``.
        """
        options = (for_training, inputs_need_grad, force_rebind, shared_module, grad_req)
        bound = self.binded and not force_rebind
        super().bind(data_shapes, label_shapes, *options)
        if for_training and not bound:
            self._mod_aux.bind(data_shapes, label_shapes, *options)
            self._param_dict = [
                {name: zeros_like(gradient) for name, gradient in gradients.items()}
                for gradients in _gradients(self)
            ]

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Change the shapes of the batches.

        Args:
            data_shapes: Descriptions of the data.
            label_shapes: Descriptions of the labels.
        """
        super().reshape(data_shapes, label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes)

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs for a batch; when training, also with the snapshot of the weights.

        Args:
            data_batch: The batch.
            is_train: Whether to run in training mode; None for ``for_training``.
        """
        super().forward(data_batch, is_train)
        if (self.for_training if is_train is None else is_train) and self._mod_aux.binded:
            if not self._mod_aux.params_initialized:
                self._snapshot_weights()
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients, also those at the snapshot of the weights.

        Args:
            out_grads: Gradients of the outputs; None if the outputs are losses.
        """
        super().backward(out_grads)
        if self._mod_aux.binded:
            self._mod_aux.backward(out_grads)

    def update(self) -> None:
        """Correct the gradients, and update the weights with them."""
        self._update_svrg_gradients()
        super().update()

    def _svrg_grads_update_rule(
        self,
        g_curr_batch_curr_weight: NDArray,
        g_curr_batch_special_weight: NDArray,
        g_special_weight_all_batch: NDArray,
    ) -> NDArray:
        """Return the corrected gradient of a weight."""
        change = g_curr_batch_curr_weight - g_curr_batch_special_weight
        corrected: NDArray = change + g_special_weight_all_batch
        return corrected

    def _update_svrg_gradients(self) -> None:
        current, snapshot = _gradients(self), _gradients(self._mod_aux)
        for device, gradients in enumerate(current):
            for name, gradient in gradients.items():
                gradient[:] = self._svrg_grads_update_rule(
                    gradient, snapshot[device][name], self._param_dict[device][name]
                )

    def _snapshot_weights(self) -> None:
        arguments, auxiliary = self.get_params()
        self._mod_aux.init_params(
            arg_params=arguments, aux_params=auxiliary, allow_missing=False, force_init=True
        )

    def update_full_grads(self, train_data: Any) -> None:
        """Take a snapshot of the weights, and compute the mean gradient of all batches at it.

        Args:
            train_data: Iterator over the batches; it is reset.
        """
        self._snapshot_weights()
        totals = [
            {name: zeros_like(gradient) for name, gradient in gradients.items()}
            for gradients in _gradients(self._mod_aux)
        ]
        count = 0
        train_data.reset()
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            count += 1
            for total, gradients in zip(totals, _gradients(self._mod_aux), strict=True):
                for name, gradient in gradients.items():
                    total[name] += gradient
        train_data.reset()
        for total in totals:
            for gradient in total.values():
                gradient /= max(count, 1)
        self._param_dict = totals

    def _before_epoch(self, epoch: int, train_data: Any) -> None:
        if epoch % self.update_freq == 0 or not self._mod_aux.params_initialized:
            self.update_full_grads(train_data)


def _gradients(module: Module) -> list[dict[str, NDArray]]:
    """Return the gradients of a bound module's weights, by device and name."""
    group = module._bound("SVRGModule")
    return [
        {
            name: executor.grad_dict[name]
            for name in group.param_names
            if executor.grad_dict.get(name) is not None
        }
        for executor in group.execs
    ]
