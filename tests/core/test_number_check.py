"""Arguments that are numbers are checked where they are given, in all rooms alike."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError
from gluonish.core.number_check import as_int, check_attributes, check_numbers
from gluonish.gluon import loss, nn, rnn
from gluonish.gluon.data import IntervalSampler, RandomSampler, SequentialSampler, SplitSampler
from gluonish.lr_scheduler import (
    CosineScheduler,
    FactorScheduler,
    MultiFactorScheduler,
    PolyScheduler,
)
from gluonish.optimizer import Optimizer, create

NUMBERS = [
    *(1, True, 0.5, Fraction(1, 2), float("nan"), np.float32(0.5), np.int64(3), np.float16(1)),
    *(np.array(0.5), np.array([0.5]), mx.nd.array([0.5])),
]
OTHERS: list[Any] = [
    "0.1",
    "x",
    b"1",
    None,
    [0.1],
    (1,),
    {},
    1j,
    np.array([1.0, 2.0]),
    Decimal("0.1"),
    len,
]


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_of_all_kinds_are_taken(value: Any) -> None:
    check_numbers("f", x=value)
    check_attributes("f", x=value)


@pytest.mark.parametrize("value", OTHERS)
def test_what_is_no_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^f: expected x to be a number, got "):
        check_numbers("f", y=1, x=value)
    with pytest.raises(ArgumentTypeError, match=r"^f: expected x to be an int, got "):
        as_int("f", "x", value)


def test_text_of_a_number_is_one_where_operators_take_it() -> None:
    check_attributes("f", x="0.1")
    with pytest.raises(ArgumentTypeError, match=r"got 'x'$"):
        check_attributes("f", x="x")
    with pytest.raises(ArgumentTypeError, match=r"got '0\.1'; pass 0\.1$"):
        check_numbers("f", x="0.1")


def test_counts_are_whole_and_not_below_their_limit() -> None:
    assert [as_int("f", "x", x) for x in (3, 3.0, np.int8(3), np.array([3.0]))] == [3] * 4
    assert as_int("f", "x", 2**70, 1) == 2**70
    for value in (2.5, float("inf"), float("nan")):
        with pytest.raises(ArgumentTypeError, match="expected x to be an int, got"):
            as_int("f", "x", value)
    with pytest.raises(ArgumentError, match="f: expected x of 1 or more, got 0"):
        as_int("f", "x", 0, 1)


OWN = {
    "adam": "beta1 beta2 epsilon",
    "adamw": "beta1 beta2 epsilon",
    "adabelief": "beta1 beta2 epsilon",
    "adamax": "beta1 beta2",
    "nadam": "beta1 beta2 epsilon schedule_decay",
    "lamb": "beta1 lower_bound upper_bound",
    "lans": "beta2 lower_bound upper_bound",
    "rmsprop": "gamma1 gamma2 epsilon clip_weights",
    "sgd": "momentum",
    "nag": "momentum",
    "signum": "momentum wd_lh",
    "dcasgd": "momentum lamda",
    "adafactor": "beta2_decay epsilon1 epsilon2 clip_threshold",
    "muon": "momentum epsilon",
    "lion": "beta1 beta2",
    "lookahead": "k alpha",
    "radam": "beta1 beta2 epsilon",
    "lars": "momentum eta eps",
    "ftml": "beta1 beta2 epsilon",
    "ftrl": "lamda1 beta",
    "adagrad": "eps",
    "groupadagrad": "eps",
    "adadelta": "rho epsilon",
    "lbsgd": "momentum warmup_epochs batch_scale updates_per_epoch begin_epoch",
}
SHARED = "learning_rate wd rescale_grad clip_gradient begin_num_update"


@pytest.mark.parametrize("optimizer", sorted(OWN))
def test_every_number_of_an_optimizer_is_checked_when_it_is_made(optimizer: str) -> None:
    for argument in (OWN[optimizer] + " " + SHARED).split():
        for value in ("0.1", [0.1], 1j):
            with pytest.raises(ArgumentTypeError, match=f"expected {argument} to be a number"):
                create(optimizer, **{argument: value})
        create(optimizer, **{argument: np.int64(1)})


def test_all_optimizers_are_looked_at() -> None:
    others = {"sgld", "test", "ccsgd"}  # no numbers of their own
    ours = {n for n, c in Optimizer.opt_registry.items() if c.__module__.startswith("gluonish.")}
    assert ours - {"_svrgoptimizer", "_assignmentoptimizer"} == set(OWN) | others


@pytest.mark.parametrize("scheduler", [0.1, 1, "cosine", [0.1], np.float32(0.1)])
def test_a_number_is_no_schedule(scheduler: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"LRScheduler or a function, got .*learning_rate"):
        mx.optimizer.SGD(lr_scheduler=scheduler)


def test_a_function_is_a_schedule() -> None:
    assert mx.optimizer.SGD(lr_scheduler=lambda count: 0.5).learning_rate == 0.5


def test_a_rate_that_is_set_is_a_number() -> None:
    trainer = mx.gluon.Trainer([], "sgd")
    with pytest.raises(ArgumentTypeError, match=r"set_learning_rate: .* got '0\.1'; pass 0\.1"):
        trainer.set_learning_rate("0.1")  # type: ignore[arg-type]
    trainer.set_learning_rate(np.float32(0.5))
    assert trainer.learning_rate == 0.5


SCHEDULES: list[tuple[str, Callable[..., Any]]] = [
    *[(name, lambda **x: FactorScheduler(**{"step": 2} | x)) for name in ("step", "factor")],
    ("stop_factor_lr", lambda **x: FactorScheduler(2, **x)),
    ("factor", lambda **x: MultiFactorScheduler([2], **x)),
    ("pwr", lambda **x: PolyScheduler(5, **x)),
    ("final_lr", lambda **x: PolyScheduler(5, **x)),
    ("final_lr", lambda **x: CosineScheduler(5, **x)),
    ("base_lr", lambda **x: CosineScheduler(5, **x)),
    ("warmup_begin_lr", lambda **x: FactorScheduler(2, **x)),
    ("warmup_steps", lambda **x: FactorScheduler(2, **x)),
    ("max_update", lambda **x: CosineScheduler(**{"max_update": 5} | x)),
]


@pytest.mark.parametrize(("argument", "make"), SCHEDULES)
@pytest.mark.parametrize("value", ["1", None, [1]])
def test_numbers_of_schedules_are_checked(
    argument: str, make: Callable[..., Any], value: Any
) -> None:
    with pytest.raises(ArgumentTypeError, match=f"Scheduler: expected .*{argument}"):
        make(**{argument: value})


def test_steps_of_a_schedule_are_numbers() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected step\[1\] to be a number, got '4'"):
        MultiFactorScheduler([2, "4"])  # type: ignore[list-item]
    assert FactorScheduler(np.int64(2), np.float32(0.5))(3) == 0.005


def test_a_mode_of_warmup_is_text() -> None:
    with pytest.raises(ArgumentError, match="expected warmup_mode 'linear' or 'constant', got"):
        FactorScheduler(2, warmup_mode=mx.nd.ones(1))  # type: ignore[arg-type]


LAYERS: list[tuple[str, Callable[[Any], Any]]] = [
    ("momentum", lambda x: nn.BatchNorm(momentum=x)),
    ("epsilon", lambda x: nn.BatchNorm(epsilon=x)),
    ("momentum", lambda x: nn.BatchNormReLU(momentum=x)),
    ("momentum", lambda x: mx.gluon.contrib.nn.SyncBatchNorm(momentum=x)),
    ("epsilon", lambda x: nn.LayerNorm(epsilon=x)),
    ("epsilon", lambda x: nn.GroupNorm(epsilon=x)),
    ("epsilon", lambda x: nn.InstanceNorm(epsilon=x)),
    ("alpha", lambda x: nn.LeakyReLU(x)),
    ("alpha", lambda x: nn.ELU(x)),
    ("beta", lambda x: nn.Swish(x)),
    ("dropout", lambda x: rnn.LSTM(3, dropout=x)),
    ("dropout", lambda x: rnn.GRU(3, dropout=x)),
    ("zoneout_states", lambda x: rnn.ZoneoutCell(rnn.RNNCell(3), zoneout_states=x)),
    ("drop_outputs", lambda x: _variational(x)),
    ("rho", lambda x: loss.HuberLoss(rho=x)),
    ("margin", lambda x: loss.HingeLoss(margin=x)),
    ("margin", lambda x: loss.SquaredHingeLoss(margin=x)),
    ("margin", lambda x: loss.TripletLoss(margin=x)),
    ("margin", lambda x: loss.CosineEmbeddingLoss(margin=x)),
    ("smoothing_parameter", lambda x: loss.SDMLLoss(x)),
    ("length", lambda x: SequentialSampler(x)),
    ("start", lambda x: SequentialSampler(3, x)),
    ("length", lambda x: RandomSampler(x)),
    ("interval", lambda x: IntervalSampler(3, x)),
    ("length", lambda x: IntervalSampler(x, 1)),
    ("num_parts", lambda x: SplitSampler(3, x)),
    ("part_index", lambda x: SplitSampler(3, 1, x)),
]


def _variational(x: Any) -> Any:
    return mx.gluon.contrib.rnn.VariationalDropoutCell(rnn.RNNCell(3), drop_outputs=x)


@pytest.mark.parametrize(("argument", "make"), LAYERS)
def test_numbers_of_layers_losses_and_samplers_are_checked_when_given(
    argument: str, make: Callable[[Any], Any]
) -> None:
    for value in ("x", None, [1], 1j):
        with pytest.raises(ArgumentTypeError, match=f"expected {argument} to be a"):
            make(value)


def test_layers_take_numbers_as_text_where_their_operators_do() -> None:
    """As MXNet's, whose operators get all attributes as text."""
    x = mx.nd.ones((2, 3, 2))
    for layer in (nn.BatchNorm(momentum="0.9", epsilon="1e-5"), nn.LayerNorm(epsilon="1e-5")):  # type: ignore[arg-type]
        layer.initialize()
        assert layer(x).shape == x.shape


def test_lengths_of_samplers_may_be_numbers_of_numpy() -> None:
    assert list(SequentialSampler(np.int64(2), 1.0)) == [1, 2]  # type: ignore[arg-type]
    assert sorted(RandomSampler(np.array(3))) == [0, 1, 2]  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expected length of 0 or more, got -1"):
        RandomSampler(-1)


@pytest.mark.parametrize("settings", ["adam", 0.1, [("learning_rate", 0.1)]])
def test_settings_of_a_trainer_are_a_dict(settings: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="expected optimizer_params as a dict, got"):
        mx.gluon.Trainer([], "sgd", settings)


@pytest.mark.parametrize("settings", [[], (), "", 0, False])
def test_a_trainer_takes_what_is_empty_for_no_settings(settings: Any) -> None:
    assert mx.gluon.Trainer([], "sgd", settings).learning_rate == 0.01


@pytest.mark.parametrize("settings", ["adam", 0.1, None])
def test_settings_of_a_module_are_a_dict_or_pairs(settings: Any) -> None:
    module = mx.mod.Module(
        mx.sym.MakeLoss(mx.sym.var("data") * mx.sym.var("w_weight")), label_names=None
    )
    module.bind([("data", (2,))])
    module.init_params()
    with pytest.raises(ArgumentTypeError, match="expected optimizer_params as a dict or pairs"):
        module.init_optimizer(optimizer_params=settings)


@pytest.mark.parametrize("samples", ["4", None, [4], 0, -1, float("nan")])
def test_numbers_of_samples_are_above_0(samples: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"Trainer\.step: expected batch"):
        mx.gluon.Trainer([], "sgd").step(samples)


@pytest.mark.parametrize("samples", [4, 4.0, np.int64(4), np.array(4), np.array([4]), True])
def test_numbers_of_samples_may_be_of_any_kind(samples: Any) -> None:
    mx.gluon.Trainer([], "sgd").step(samples)


@pytest.mark.parametrize(
    ("scheduler", "outcome"),
    [
        (CosineScheduler(4, 0.1), "0.1 is used, learning_rate is not"),
        (PolyScheduler(4, 0.1), "0.1 is used, learning_rate is not"),
        (FactorScheduler(2, 0.5, base_lr=0.1), "0.001 is used; "),
        (MultiFactorScheduler([2], 0.5, base_lr=0.1), "0.001 is used; "),
        (
            FactorScheduler(2, base_lr=0.1, warmup_steps=2),
            "0.001 is used, but the warm-up rises to 0.1",
        ),
        (
            FactorScheduler(2, base_lr=0.1, warmup_steps=2, warmup_mode="constant"),
            "0.001 is used; ",
        ),
    ],
)
def test_of_two_rates_it_is_said_which_is_used(
    capsys: pytest.CaptureFixture[str], scheduler: Any, outcome: str
) -> None:
    """The rates are those of MXNet 1.9.1, which says that learning_rate is used in all cases."""
    optimizer = mx.optimizer.Adam(lr_scheduler=scheduler)
    said = capsys.readouterr().out
    assert "base_lr 0.1 of lr_scheduler and learning_rate 0.001 of the optimizer" in said
    assert outcome in said
    assert said.endswith("; set both to the same\n")
    optimizer.num_update = 2
    used = 0.05 if isinstance(scheduler, CosineScheduler) else 0.025
    decays = isinstance(scheduler, CosineScheduler | PolyScheduler)
    np.testing.assert_allclose(optimizer.learning_rate, used if decays else 0.001)


def test_a_schedule_of_ones_own_has_no_warmup_to_tell_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Schedule:
        base_lr, warmup_steps = 0.1, 2

        def __call__(self, num_update: int) -> float:
            return self.base_lr

    optimizer = mx.optimizer.Adam(lr_scheduler=Schedule())
    assert capsys.readouterr().out.endswith("; 0.001 is used; set both to the same\n")
    assert optimizer.learning_rate == 0.001


def test_equal_rates_are_nothing_to_tell(capsys: pytest.CaptureFixture[str]) -> None:
    mx.optimizer.Adam(0.1, lr_scheduler=CosineScheduler(4, 0.1))
    assert capsys.readouterr().out == ""
