"""BucketingModule: networks for inputs of several lengths, with the same weights."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.context import Context, cpu
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.core.files import written_together
from gluonish.initializer import Initializer, Uniform
from gluonish.io.data_iter import DataBatch
from gluonish.module.checkpoint import load_params, save_checkpoint
from gluonish.module.descriptions import Requests, described_batch
from gluonish.module.device_arrays import Groups
from gluonish.module.interface import RATE, ModuleInterface, OptimizerParams, Params
from gluonish.module.module import Module
from gluonish.module.monitor import Monitor
from gluonish.module.mxnet_attributes import BucketingAttributes
from gluonish.ndarray import NDArray, array
from gluonish.ndarray import load as load_arrays
from gluonish.ndarray import save as save_arrays
from gluonish.symbol import Symbol
from gluonish.symbol import load as load_symbol

__all__ = ["BucketingModule"]

Key = Any
SymGen = Callable[[Key], Any]


class BucketingModule(BucketingAttributes):
    """A module with one network for each bucket (length of the inputs), created when first needed.

    All networks share weights, gradients and memory with the default bucket, which must be the
    largest and have all weights of the others.

    Args:
        sym_gen: Function that takes a bucket key and returns the bucket's Symbol, or a tuple of the
            Symbol, its data names and its label names.
        default_bucket_key: Key of the largest bucket.
        logger: Logger for messages.
        context: Device, or list of devices.
        work_load_list: Relative share of the batch for each device.
        fixed_param_names: Names of weights that are not trained.
        state_names: Names of arguments that are states, neither data nor weights.
        group2ctxs: Dict from ``ctx_group`` to device or devices.
        compression_params: See `KVStore.set_gradient_compression`.

    Raises:
        ArgumentError: ``default_bucket_key`` is None, or the network lacks one of the names.
    """

    def __init__(
        self,
        sym_gen: SymGen,
        default_bucket_key: Key = None,
        logger: Any = logging,
        context: Context | Sequence[Context] = cpu(0),  # noqa: B008  # a constant
        work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Groups = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise ArgumentError("BucketingModule: expected default_bucket_key, got None")
        self._sym_gen = sym_gen
        self._default_bucket_key = default_bucket_key
        self._settings: dict[str, Any] = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        self._buckets: dict[Key, Module] = {}
        self._made = self._make(default_bucket_key)
        self._curr_bucket_key: Key = None
        self._grad_req: Requests | None = None
        self._monitor: Monitor | None = None

    def _make(self, key: Key) -> Module:
        made = self._sym_gen(key)
        if isinstance(made, Symbol):
            return Module(made, **self._settings)
        symbol, data_names, label_names = made
        return Module(symbol, data_names, label_names, **self._settings)

    @property
    def _curr_module(self) -> Module | None:
        """The current bucket's module, which MXNet programs read."""
        return self._buckets.get(self._curr_bucket_key)

    def _current(self, what: str) -> Module:
        self._expect_bound(what)
        return self._buckets[self._curr_bucket_key]

    def _computer(self, what: str) -> Module:
        return self._current(what)

    @property
    def _default(self) -> Module:
        return self._buckets[self._default_bucket_key]

    def switch_bucket(
        self, bucket_key: Key, data_shapes: Sequence[Any], label_shapes: Sequence[Any] | None = None
    ) -> None:
        """Make a bucket the current one; bind its network if it is new.

        Args:
            bucket_key: Key of the bucket.
            data_shapes: Descriptions of the bucket's data, `DataDesc` or pairs (name, shape).
            label_shapes: Descriptions of the bucket's labels; None for none.

        Raises:
            ModuleStateError: The module is not bound, or has no weights when a new bucket is bound.
            ArgumentError: The bucket's weights have other shapes than the default bucket's.
        """
        self._expect_bound("switch_bucket")
        if bucket_key not in self._buckets:
            made = self._make(bucket_key)
            made.bind(
                data_shapes,
                label_shapes,
                self.for_training,
                self.inputs_need_grad,
                shared_module=self._default,
                grad_req=self._grad_req or "write",
            )
            if self._monitor is not None:
                made.install_monitor(self._monitor)
            self._buckets[bucket_key] = made
        self._curr_bucket_key = bucket_key

    def _switch_to(self, batch: DataBatch) -> None:
        key = self._default_bucket_key if batch.bucket_key is None else batch.bucket_key
        default = self._default
        self.switch_bucket(
            key, *described_batch(batch, default.data_shapes, default.label_shapes or [])
        )

    def bind(
        self,
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: ModuleInterface | None = None,
        grad_req: Requests = "write",
    ) -> None:
        """Bind the default bucket; the arguments are those of `Module.bind`.

        Raises:
            ArgumentError: There is a ``shared_module``.
        """
        if shared_module is not None:
            raise ArgumentError(
                "BucketingModule.bind: expected shared_module=None, got one; the buckets already "
                "share weights with each other"
            )
        if self._is_rebind_ignored(force_rebind):
            return
        module = self._default if self.binded else self._made
        module.bind(
            *(data_shapes, label_shapes, for_training, inputs_need_grad),
            force_rebind=True,
            grad_req=grad_req,
        )
        self._buckets = {self._default_bucket_key: module}
        self._curr_bucket_key = self._default_bucket_key
        self._grad_req = grad_req
        self.binded, self.for_training = True, for_training
        self.inputs_need_grad = inputs_need_grad
        if self._monitor is not None:
            module.install_monitor(self._monitor)

    @property
    def symbol(self) -> Symbol | None:
        """The network of the current bucket."""
        return self._current("symbol").symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        return self._current("data_names").data_names if self.binded else self._made.data_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        module = self._current("output_names") if self.binded else self._made
        return module.output_names

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of each output of the current bucket."""
        return self._current("output_shapes").output_shapes

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return weights and auxiliary states by name, on the CPU; before `bind`, as loaded."""
        if not self.binded and self.params_initialized:
            weights = self._made._weights
            return dict(weights.arguments), dict(weights.auxiliary)
        self._expect_weights("get_params")
        return self._default.get_params()

    def init_params(
        self,
        initializer: Initializer | None = Uniform(0.01),  # noqa: B008  # holds no state
        arg_params: Params = None,
        aux_params: Params = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Initialize weights and auxiliary states; see `Module.init_params`."""
        if self.params_initialized and not force_init:
            self._warn_initialized("init_params")
            return
        self._expect_bound("init_params")
        self._default.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
        )
        self.params_initialized = True

    def set_params(
        self,
        arg_params: Params,
        aux_params: Params,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set weights and auxiliary states; see `Module.set_params`."""
        if self.params_initialized and not force_init:
            self._warn_initialized("set_params")
            return
        self._expect_bound("set_params")
        self._default.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self.params_initialized = True

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = RATE,
        force_init: bool = False,
    ) -> None:
        """Create the optimizer, which all buckets share; see `Module.init_optimizer`."""
        self._expect_weights("init_optimizer")
        if self._is_reinit_ignored(force_init):
            return
        self._default.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not self._default:
                module.borrow_optimizer(self._default)
        self.optimizer_initialized = True

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Bind the bucket of ``data_batch``, if it is new; the current bucket stays current."""
        self._expect_weights("prepare")
        current = self._curr_bucket_key
        self._switch_to(data_batch)
        self._current("prepare").prepare(data_batch, sparse_row_id_fn)
        self._curr_bucket_key = current

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Switch to the bucket of a batch, and compute its outputs.

        Args:
            data_batch: The batch; its ``bucket_key`` is None for the default bucket.
            is_train: As in `Module.forward`.
        """
        self._expect_weights("forward")
        self._switch_to(data_batch)
        self._current("forward").forward(data_batch, is_train)

    def update(self) -> None:
        """Update the weights, which all buckets share, with the gradients of the current bucket."""
        self._expect_optimizer("update")
        self._current("update").update()

    def install_monitor(self, mon: Monitor) -> None:
        """Install a monitor on the executors of all buckets, present and future."""
        self._expect_bound("install_monitor")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Save the networks and keys of all buckets created so far, and the weights.

        Args:
            prefix: Files are ``prefix.buckets``, ``prefix-10-symbol.json`` for the bucket 10, and
                ``prefix-0003.params`` for epoch 3.
            epoch: Number of the epoch.
            remove_amp_cast: Whether to leave out casts that mixed precision inserted.

        Raises:
            ArgumentError: A key is not an int, so that the file of keys cannot store it.
        """
        arguments, auxiliary = self.get_params()
        keys = list(self._buckets)
        wrong = [key for key in keys if not isinstance(key, int)]
        if wrong:
            raise ArgumentError(
                f"BucketingModule.save_checkpoint: expected int keys, got {wrong[0]!r}; save each "
                "bucket's symbol, and the weights by save_params"
            )
        symbols = {key: f"{prefix}-{key}-symbol.json" for key in keys}
        names = (f"{prefix}.buckets", f"{prefix}-symbol.json", f"{prefix}-{epoch:04d}.params")
        with written_together(*names, *symbols.values()):
            save_arrays(f"{prefix}.buckets", [array(keys, dtype="int32")])
            for key, module in self._buckets.items():
                module._symbol.save(symbols[key], remove_amp_cast)
            save_checkpoint(prefix, epoch, None, arguments, auxiliary)

    @staticmethod
    def load(
        prefix: str,
        epoch: int,
        sym_gen: SymGen | None = None,
        default_bucket_key: Key = None,
        **kwargs: Any,
    ) -> "BucketingModule":
        """Load a checkpoint into a new module, which is not bound yet.

        Args:
            prefix: The prefix passed to `save_checkpoint`.
            epoch: The epoch passed to `save_checkpoint`.
            sym_gen: See `BucketingModule`.
            default_bucket_key: See `BucketingModule`.
            **kwargs: Other arguments of `BucketingModule`.

        Raises:
            ArgumentError: ``sym_gen`` or ``default_bucket_key`` is None.
            MissingFileError: A file does not exist.
            FileFormatError: A file is damaged or of another kind.
        """
        filename = f"{prefix}.buckets"
        arrays = load_arrays(filename)
        if not isinstance(arrays, list) or len(arrays) != 1 or arrays[0].ndim != 1:
            raise FileFormatError(
                f"load: expected keys of buckets in {filename!r}, got {arrays!r:.60}"
            )
        keys = [int(key) for key in arrays[0].asnumpy()]
        symbols = {key: load_symbol(f"{prefix}-{key}-symbol.json") for key in keys}
        parameters = load_params(prefix, epoch)
        return BucketingModule.load_dict(
            symbols, sym_gen, default_bucket_key, *parameters, **kwargs
        )

    @staticmethod
    def load_dict(
        sym_dict: Mapping[Key, Symbol] | None = None,
        sym_gen: SymGen | None = None,
        default_bucket_key: Key = None,
        arg_params: Params = None,
        aux_params: Params = None,
        **kwargs: Any,
    ) -> "BucketingModule":
        """Return a module with the networks and weights, not bound yet.

        Args:
            sym_dict: Symbols by bucket key, which replace the Symbols from ``sym_gen``.
            sym_gen: See `BucketingModule`; still called for the names of data and labels.
            default_bucket_key: See `BucketingModule`.
            arg_params: Weights by name.
            aux_params: Auxiliary states by name.
            **kwargs: Other arguments of `BucketingModule`.

        Raises:
            ArgumentError: ``sym_gen`` or ``default_bucket_key`` is None.
        """
        if sym_gen is None:
            raise ArgumentError("BucketingModule.load: expected sym_gen, got None")
        symbols = dict(sym_dict or {})

        def saved_symbol(key: Key) -> Any:
            made = sym_gen(key)
            symbol = symbols.get(key)
            if symbol is None:
                return made
            return symbol if isinstance(made, Symbol) else (symbol, *made[1:])

        module = BucketingModule(saved_symbol, default_bucket_key, **kwargs)
        module._made._weights.arguments.update(arg_params or {})
        module._made._weights.auxiliary.update(aux_params or {})
        module._made.params_initialized = module.params_initialized = True
        return module
