"""Cases of optimizers' steps: the new weights, and the states that change in place."""

from tests.golden.case import Case, normal, uniform, values

STATES = {
    "sgd": 0,
    "sgd_mom": 1,
    "nag_mom": 1,
    "adam": 2,
    "rmsprop": 1,
    "rmspropalex": 3,
    "ftrl": 2,
    "ftml": 3,
    "signsgd": 0,
    "signum": 1,
}
# Attributes that each case of an optimizer adds to what they all have.
OWN = {
    "sgd_mom": [{"momentum": 0.9}],
    "nag_mom": [{"momentum": 0.9}],
    "adam": [{"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}, {"lazy_update": False}],
    "rmsprop": [{"gamma1": 0.8, "epsilon": 1e-3}, {"clip_weights": 0.4}],
    "rmspropalex": [{"gamma1": 0.8, "gamma2": 0.7, "epsilon": 1e-3}, {"clip_weights": 0.4}],
    "ftrl": [{"lamda1": 0.3, "beta": 0.5}],
    "ftml": [{"beta1": 0.5, "beta2": 0.9, "epsilon": 1e-3}],
    "signum": [{"momentum": 0.9, "wd_lh": 0.1}],
}
REQUIRED = {"ftml": {"t": 3}}
MIXED = ("sgd", "sgd_mom", "nag_mom")
HALF, SINGLE = "float16", "float32"
# Steps are not differentiated, and the float32 weights of some stay float32.
_NUMBERS = [[0.5, -1.25, 2.0], [0.125, -0.75, 1.5]]
WEIGHT, WEIGHT16 = values(_NUMBERS), values(_NUMBERS, HALF)
OUT = "infers no shapes without out"
NONE = {"differentiable": False, "half": False}


def _states(word, dtype=SINGLE):
    # Of a centered RMSProp the mean of squares exceeds the square of the mean.
    low = [(1.0, 2.0), (0.1, 0.5), (-0.2, 0.2)] if word == "rmspropalex" else [(0.1, 1.0)] * 3
    return [uniform(*low[i], 2, 3, dtype=dtype) for i in range(STATES[word])]


def _plain():
    for word in STATES:
        op = f"{word}_update"
        base = {"lr": 0.1, **REQUIRED.get(word, {})}
        pair = [normal(2, 3), normal(2, 3)]
        clip = "clip_grad" if word == "ftml" else "clip_gradient"
        check = NONE
        for own in ({}, *OWN.get(word, [])):
            yield Case(op, [*pair, *_states(word)], {**base, **own}, grad=False, check=check)
        scaled = {**base, "wd": 0.2, "rescale_grad": 2.0, clip: 0.5}
        yield Case(op, [*pair, *_states(word)], scaled, grad=False)
        wide = [normal(2, 3, dtype="float64")] * 2
        yield Case(op, [*wide, *_states(word, "float64")], scaled, grad=False, rtol=2e-5)
        yield Case(op, [*pair, *_states(word)], REQUIRED.get(word, {}), grad=False, invalid=True)
        yield Case(op, [normal(2, 3), normal(3), *_states(word)], base, grad=False, invalid=True)


def _mixed():
    for word in MIXED:
        for own in ({}, *OWN.get(word, [])):
            arrays = [WEIGHT16, normal(2, 3, dtype=HALF), *_states(word), WEIGHT]
            attrs = {"lr": 0.1, "wd": 0.2, "rescale_grad": 2.0, "clip_gradient": 0.5, **own}
            yield Case(f"mp_{word}_update", arrays, attrs, grad=False, check=NONE)


def _group(word, mixed):
    dtype = HALF if mixed else SINGLE
    arrays = [WEIGHT16 if mixed else WEIGHT, normal(2, 3, dtype=dtype)]
    arrays += [uniform(0.1, 1, 2, 3)] * {"sgd": 0, "sgd_mom": 1, "adamw": 2, "lamb": 2}[word]
    return arrays + ([WEIGHT] if mixed else [])


def _multi():
    """What they compute is tested in tests/ops/test_optimizer_multi_update.py."""

    for mixed in (False, True):
        word = "mp_" if mixed else ""
        for rule in ("sgd", "sgd_mom"):
            own = {"momentum": 0.9} if rule == "sgd_mom" else {}
            scaled = {**own, "rescale_grad": 2.0, "clip_gradient": 0.5, "num_weights": 2}
            rates = {"lrs": (0.1, 0.2), "wds": (0.0, 0.3)}
            arrays = _group(rule, mixed) * 2
            attrs = {**scaled, **rates}
            yield Case(
                f"multi_{word}{rule}_update", arrays, attrs, grad=False, wrong=OUT, check=NONE
            )
            arrays = [*arrays, values([0.1, 0.2]), values([0.0, 0.3])]
            op = f"preloaded_multi_{word}{rule}_update"
            yield Case(op, arrays, scaled, grad=False, wrong=OUT, check=NONE)
        rates = {"lrs": (0.1, 0.2), "wds": (0.0, 0.3), "etas": (0.9, 0.8)}
        arrays = [*_group("adamw", mixed) * 2, values([1.0])]
        attrs = {**rates, "num_weights": 2}
        yield Case(f"_multi_{word}adamw_update", arrays, attrs, grad=False, wrong=OUT, check=NONE)
        attrs = {
            "learning_rates": (0.1, 0.2),
            "wds": (0.0, 0.3),
            "step_count": (1, 3),
            "num_tensors": 2,
            "rescale_grad": 2.0,
            "clip_gradient": 0.5,
        }
        arrays = _group("lamb", mixed) * 2
        op = f"_multi_{word}lamb_update"
        yield Case(
            op, arrays, attrs, grad=False, wrong=OUT, rtol=2e-3 if mixed else 1e-4, check=NONE
        )
        bounds = {**attrs, "lower_bound": 0.5, "upper_bound": 0.8, "bias_correction": False}
        yield Case(op, arrays, bounds, grad=False, wrong=OUT, rtol=2e-3 if mixed else 1e-4)


def _unchanged(weight, *_others):
    return weight


def _adamw_and_lamb():

    for mixed in (False, True):
        word = "mp_" if mixed else ""
        op, attrs = f"_{word}adamw_update", {"lr": 0.1, "eta": 0.9, "wd": 0.2}
        for own in ({}, {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}):
            arrays = [*_group("adamw", mixed), values([1.0])]
            yield Case(op, arrays, {**attrs, **own}, grad=False, check=NONE)
        for scale in ([float("nan")], [0.0]):
            arrays = [*_group("adamw", mixed), values(scale)]
            wrong = "without out the result is not written"
            yield Case(op, arrays, attrs, grad=False, wrong=wrong, expected=_unchanged)
        phase = {"t": 2, "wd": 0.2, "rescale_grad": 2.0, "clip_gradient": 0.5}
        for own in ({}, {"bias_correction": False, "epsilon": 1e-3, "beta1": 0.8}):
            op = f"{word}lamb_update_phase1"
            yield Case(op, _group("lamb", mixed), {**phase, **own}, grad=False, check=NONE)
        arrays = [WEIGHT16 if mixed else WEIGHT, normal(2, 3)]
        arrays += [values([1.5]), values([0.7])] + ([WEIGHT] if mixed else [])
        for own in ({}, {"lower_bound": 1.6}, {"upper_bound": 1.2}):
            op = f"{word}lamb_update_phase2"
            yield Case(op, arrays, {"lr": 0.1, **own}, grad=False, check=NONE)


CASES = [*_plain(), *_mixed(), *_multi(), *_adamw_and_lamb()]
