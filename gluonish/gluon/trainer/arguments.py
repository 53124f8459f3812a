"""What a Trainer is given: checks, and the forms that it works with."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.core.context import Context
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_float
from gluonish.gluon.parameter import Parameter, ParameterDict
from gluonish.gluon.parameter.places import described
from gluonish.kvstore import KVStoreBase
from gluonish.kvstore.compression import compression_from
from gluonish.optimizer import Optimizer
from gluonish.optimizer import create as create_optimizer

__all__ = [
    "check_batch_size",
    "check_store_arguments",
    "common_contexts",
    "make_optimizer",
    "parameter_list",
    "refuse_update_in_store",
]


def parameter_list(params: Any) -> list[Parameter]:
    """Return the parameters to train, each once; those of a dict sorted by name.

    A dict of a network's structure may name a shared parameter twice, a list may not.

    Raises:
        ArgumentTypeError: It is neither a list nor a dict of Parameters.
        ArgumentError: A list holds a parameter twice.
    """
    named = isinstance(params, ParameterDict | Mapping)
    if named:
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, list | tuple):
        raise ArgumentTypeError(
            f"Trainer: expected a list or dict of Parameters, got {type(params).__name__}"
        )
    for param in params:
        if not isinstance(param, Parameter):
            raise ArgumentTypeError(f"Trainer: expected Parameters, got {type(param).__name__}")
    unique = {id(param): param for param in params}
    if len(unique) < len(params) and not named:
        twice = next(param for i, param in enumerate(params) if any(p is param for p in params[:i]))
        raise ArgumentError(
            f"Trainer: expected each Parameter once, got {described(twice)} twice; take the "
            "parameters of networks that share some from one collect_params()"
        )
    return list(unique.values())


def common_contexts(params: Sequence[Parameter]) -> list[Context]:
    """Return the devices that all parameters are on, or wait for.

    Raises:
        ArgumentError: They are on different ones.
        ParameterError: One is not initialized.
    """
    contexts: list[Context] | None = None
    for param in params:
        own = param.list_ctx()
        if contexts is not None and own != contexts:
            raise ArgumentError(
                f"Trainer: expected all Parameters on {contexts}, got {param.name} on {own}; "
                "initialize them with one ctx, or call reset_ctx"
            )
        contexts = own
    return contexts or []


def make_optimizer(
    optimizer: str | Optimizer, settings: Mapping[str, Any] | None, params: Sequence[Parameter]
) -> Optimizer:
    """Return the optimizer, with the parameters for its multipliers.

    Raises:
        ArgumentTypeError: It is neither a name nor an Optimizer.
        ArgumentError: There is no such optimizer, or settings come with an Optimizer.
    """
    if settings and not isinstance(settings, Mapping):
        raise ArgumentTypeError(
            f"Trainer: expected optimizer_params as a dict, got {type(settings).__name__}"
        )
    param_dict = dict(enumerate(params))
    if isinstance(optimizer, str):
        return create_optimizer(optimizer, param_dict=param_dict, **(settings or {}))
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(
            f"Trainer: expected an Optimizer or its name, got {optimizer!r}; make one of a class"
        )
    if settings:
        raise ArgumentError(
            "Trainer: expected optimizer_params None with an Optimizer, got"
            f" {dict(settings)}; give them to the optimizer itself"
        )
    optimizer.param_dict = param_dict
    return optimizer


def check_store_arguments(kvstore: Any, compression: Any, update: Any) -> None:
    """Refuse what is no store, no compression, or no answer to ``update_on_kvstore``.

    Raises:
        ArgumentTypeError: One is of a wrong type.
        ArgumentError: There is no such compression. A store's name is looked at where one is made.
    """
    if kvstore is not None and not isinstance(kvstore, str | KVStoreBase):
        raise ArgumentTypeError(
            f"Trainer: expected a kvstore or its name, got {type(kvstore).__name__}"
        )
    if update is not None and update not in (True, False):
        raise ArgumentTypeError(
            f"Trainer: expected update_on_kvstore None, True or False, got {update!r}"
        )
    if compression is not None and not isinstance(compression, Mapping):
        raise ArgumentTypeError(
            f"Trainer: expected compression_params as a dict, got {type(compression).__name__}"
        )
    custom = isinstance(kvstore, str) and kvstore.lower() in KVStoreBase.kv_registry
    if compression and isinstance(kvstore, str) and not custom:
        compression_from(compression)


def check_batch_size(what: str, batch_size: Any) -> float:
    """Return what gradients are divided by: a number above 0, or an array of one.

    Raises:
        ArgumentTypeError: It is not a number.
        ArgumentError: It is not above 0.
    """
    samples = as_float(f"Trainer.{what}", "batch_size", batch_size)
    if not samples > 0:
        raise ArgumentError(f"Trainer.{what}: expected batch_size above 0, got {samples:g}")
    return samples


def refuse_update_in_store(what: str, update: bool | None) -> None:
    """Refuse to work on weights that the store updates.

    Raises:
        ArgumentError: It does.
    """
    if update:
        raise ArgumentError(
            f"{what}: expected a trainer that updates outside the kvstore, got one with "
            "update_on_kvstore; pass update_on_kvstore=False to Trainer"
        )
