"""Cases of random samplers, of which only shapes and dtypes are compared, and of densities."""

from tests.golden.case import Case, integers, normal, uniform, values

FAMILIES = {
    "poisson": {"lam": 3.0},
    "negative_binomial": {"k": 3, "p": 0.4},
    "generalized_negative_binomial": {"mu": 2.0, "alpha": 0.5},
    "uniform": {"low": -1.0, "high": 2.0},
    "normal": {"loc": 1.0, "scale": 2.0},
    "gamma": {"alpha": 0.5, "beta": 2.0},
    "exponential": {"lam": 2.0},
}
INVALID = {
    "poisson": {"lam": -1.0},
    "generalized_negative_binomial": {"mu": -1.0},
    "uniform": {"low": "a"},
    "normal": {"scale": -1.0},
    "gamma": {"alpha": -1.0},
    "exponential": {"lam": -1.0},
    "negative_binomial": {"k": 1.5},
}
# Parameters of one distribution for each element.
ARRAYS = {
    "poisson": [uniform(0.5, 20, 3)],
    "negative_binomial": [integers(1, 9, 3), uniform(0.2, 0.9, 3)],
    "generalized_negative_binomial": [uniform(0.5, 20, 3), uniform(0.2, 2, 3)],
    "uniform": [uniform(-2, -1, 3), uniform(1, 2, 3)],
    "normal": [normal(3), uniform(0.5, 2, 3)],
    "gamma": [uniform(0.2, 3, 3), uniform(0.5, 2, 3)],
    "exponential": [uniform(0.5, 2, 3)],
}
LOCATED = ("normal", "normal_n", "uniform", "uniform_n", "gumbel", "logistic", "gamma")
TYPED = ("normal", "normal_n", "uniform", "uniform_n", "gamma")
NAMES = {"uniform": ("low", "high"), "uniform_n": ("low", "high"), "gamma": ("shape", "scale")}
SCALED = {
    "exponential": "scale",
    "rayleigh": "scale",
    "pareto": "a",
    "weibull": "a",
    "powerd": "a",
}
NO_SIZE = {"size": "None"}


def _drawn(op, inputs=(), **attrs):
    return Case(op, list(inputs), attrs, random=True)


def _classic():
    for word, parameters in FAMILIES.items():
        name = f"_random_{word}"
        yield _drawn(name, **parameters, shape=(2, 3))
        yield _drawn(name, **parameters, shape=(4,), dtype="float64")
        yield _drawn(name, **parameters, shape=(4,), dtype="float16")
        yield Case(name, [], {**INVALID[word], "shape": (2,)}, invalid=True)  # type: ignore[dict-item]
        yield Case(name, [], {"shape": (2,), "dtype": "int32"}, invalid=True)
        yield _drawn(f"{name}_like", [normal(2, 3)], **parameters)
        yield _drawn(f"{name}_like", [normal(2, dtype="float64")], **parameters)
        sample = f"_sample_{word}"
        yield _drawn(sample, ARRAYS[word])
        yield _drawn(sample, ARRAYS[word], shape=(2, 2))
        yield _drawn(sample, ARRAYS[word], shape=2, dtype="float16")
        yield _drawn(sample, ARRAYS[word], dtype="float64")
        if len(ARRAYS[word]) > 1:
            bad = [ARRAYS[word][0], uniform(0.5, 1, 4)]
            yield Case(sample, bad, {}, invalid=True)
    yield _drawn("_random_randint", low=-3, high=9, shape=(2, 3))
    yield _drawn("_random_randint", low=0, high=2**40, shape=(4,), dtype="int64")
    yield _drawn("_sample_unique_zipfian", range_max=50, shape=(2, 6))
    yield Case("_sample_unique_zipfian", [], {"range_max": 50, "shape": (6,)}, invalid=True)
    yield _drawn("_shuffle", [normal(4, 2)])
    shares = values([[0.2, 0.8, 0.0], [1.0, 0.0, 0.0]])
    yield _drawn("_sample_multinomial", [shares])
    yield _drawn("_sample_multinomial", [shares], shape=(2, 2), dtype="uint8")
    yield _drawn("_sample_multinomial", [values([0.5, 0.5])], shape=3, get_prob=True)


def _numpy():
    for word in LOCATED:
        op, (first, second) = f"_npi_{word}", NAMES.get(word, ("loc", "scale"))
        a, b = uniform(1, 2, 2, 1), uniform(2, 3, 3)
        numbers = {first: 1.0, second: 2.0}
        yield _drawn(op, **numbers, size=(2, 3))
        yield _drawn(op, **numbers, **NO_SIZE)
        yield _drawn(op, **numbers, size=(0, 3))
        yield _drawn(op, [a, b], **{first: "None", second: "None"}, **NO_SIZE)
        size = (4,) if word.endswith("_n") else (4, 2, 3)
        yield _drawn(op, [a, b], **{first: "None", second: "None"}, size=size)
        yield _drawn(op, [a], **{first: "None", second: 2.0}, **NO_SIZE)
        yield _drawn(op, [b], **{first: 1.0, second: "None"}, size=(1, 3))
        if not word.endswith("_n"):
            attrs = {first: 1.0, second: "None", "size": (2,)}
            yield Case(op, [b], attrs, invalid=True)
        if not word.startswith("uniform"):
            attrs = {first: 1.0, second: -1.0, "size": (2,)}
            yield Case(op, [], attrs, invalid=True)
        if word in TYPED:
            yield _drawn(op, **numbers, size=(2,), dtype="float16")
            yield _drawn(op, [a, b], **{first: "None", second: "None"}, **NO_SIZE, dtype="float64")
    for word, name in SCALED.items():
        op, a = f"_npi_{word}", uniform(1, 2, 2, 3)
        yield _drawn(op, **{name: 2.0}, size=(2, 3))
        yield _drawn(op, **{name: 2.0}, **NO_SIZE)
        yield _drawn(op, [a], **{name: "None"}, **NO_SIZE)
        yield _drawn(op, [a], **{name: "None"}, size=(4, 2, 3))
        yield Case(op, [], {name: -1.0, "size": (2,)}, invalid=True)


def _discrete():
    p = uniform(0.1, 0.9, 3)
    for attrs in (
        {"prob": 0.3, "logit": "None", "is_logit": False},
        {"prob": "None", "logit": 0.3, "is_logit": True},
    ):
        yield _drawn("_npi_bernoulli", **attrs, size=(2, 3))
        yield _drawn("_npi_bernoulli", **attrs, **NO_SIZE, dtype="bool")
    none = {"prob": "None", "logit": "None"}
    yield _drawn("_npi_bernoulli", [p], **none, is_logit=False, **NO_SIZE, dtype="int32")
    yield _drawn("_npi_bernoulli", [p], **none, is_logit=True, size=(2, 3), dtype="float64")
    bad = {"prob": 1.5, "logit": "None", "is_logit": False, "size": (2,)}
    yield Case("_npi_bernoulli", [], bad, invalid=True)
    yield _drawn("_npi_choice", a=5, size=(2, 2))
    yield _drawn("_npi_choice", a=5, **NO_SIZE)
    yield _drawn("_npi_choice", a=5, size=(5,), replace=False)
    yield _drawn("_npi_choice", [normal(4)], a="None", size=(3,))
    yield _drawn("_npi_choice", [values([0.5, 0.25, 0.25])], a=3, size=(4,), weighted=True)
    weighted = [normal(3), values([0.5, 0.25, 0.25])]
    attrs = {"a": "None", "size": (2,), "weighted": True, "replace": False}
    yield _drawn("_npi_choice", weighted, **attrs)
    yield Case("_npi_choice", [], {"a": 5, "size": (6,), "replace": False}, invalid=True)
    yield _drawn("_npi_multinomial", n=20, pvals=(0.2, 0.8), size=(3,))
    yield _drawn("_npi_multinomial", n=20, pvals=(0.2, 0.3, 0.5))
    yield _drawn("_npi_multinomial", [values([0.5, 0.25, 0.25])], n=4, size=(2, 2))


def _densities():
    x, whole = uniform(0.2, 2, 2, 3), integers(0, 6, 2, 3)
    cases = {
        "uniform": [x, uniform(0, 0.1, 2), uniform(2, 3, 2)],
        "normal": [normal(2, 3), normal(2), uniform(0.5, 2, 2)],
        "gamma": [x, uniform(0.5, 3, 2), uniform(0.5, 2, 2)],
        "exponential": [x, uniform(0.5, 2, 2)],
        "poisson": [whole, uniform(0.5, 4, 2)],
        "negative_binomial": [whole, integers(1, 6, 2), uniform(0.2, 0.8, 2)],
        "generalized_negative_binomial": [whole, uniform(0.5, 4, 2), uniform(0.2, 1, 2)],
        "dirichlet": [values([[[0.2, 0.3, 0.5]], [[0.6, 0.1, 0.3]]]), uniform(0.5, 3, 2, 3)],
    }
    discrete = ("poisson", "negative_binomial", "generalized_negative_binomial")
    for word, inputs in cases.items():
        op = f"_random_pdf_{word}"
        # Of a sample of whole numbers the gradient is none, where the formula has one.
        check = {"wrt": tuple(range(1, len(inputs)))} if word in discrete else None
        if word == "uniform":
            check = {"wrt": (1, 2)}
        if word in ("gamma", "dirichlet", *discrete):
            # The third derivative of the logarithm of gamma is no operator.
            check = {**(check or {}), "second_order": False}  # type: ignore[dict-item]
        for is_log in (False, True):
            yield Case(op, inputs, {"is_log": is_log}, rtol=2e-4, atol=1e-5, check=check)
        wide = [_cast(recipe, "float64") for recipe in inputs]
        yield Case(op, wide, {}, rtol=1e-5)
        yield Case(op, [inputs[0], *[uniform(0.5, 2, 4)] * (len(inputs) - 1)], {}, invalid=True)
        yield Case(op, [wide[0], *inputs[1:]], {}, invalid=True)
    yield Case("_random_pdf_normal", [normal(3), normal(3), uniform(0.5, 2, 3)])


def _cast(recipe, dtype):
    return type(recipe)(recipe.word, recipe.make, dtype)


CASES = [*_classic(), *_numpy(), *_discrete(), *_densities()]
