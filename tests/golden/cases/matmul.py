"""Cases of dot, batch_dot, linalg.gemm2 and FullyConnected."""

from tests.golden.case import Case, integers, normal

F = "float64"


def _transposes(*names):
    return [{names[0]: a, names[1]: b} for a in (False, True) for b in (False, True) if a or b]


def _turned(shape, turn):
    return (*shape[:-2], shape[-1], shape[-2]) if turn else shape


def _dot():
    op = "dot"
    cases = [Case(op, [normal(2, 3), normal(3, 4)])]
    for attrs in _transposes("transpose_a", "transpose_b"):
        a = normal(*_turned((2, 3), attrs["transpose_a"]))
        b = normal(*_turned((3, 4), attrs["transpose_b"]))
        cases.append(Case(op, [a, b], attrs))
    return [
        *cases,
        Case(op, [normal(3), normal(3)]),
        Case(op, [normal(2, 3), normal(3)]),
        Case(op, [normal(2), normal(2, 3)]),
        Case(op, [normal(2, 2, 3), normal(3, 4)]),
        Case(op, [normal(2, 3), normal(3, 2, 2)]),
        Case(op, [normal(2, 2, 3), normal(3, 2, 2)]),
        Case(op, [normal(3, 2, 2), normal(3, 2)], {"transpose_a": True}),
        Case(op, [normal(1, 1), normal(1, 1)]),
        Case(op, [normal(2, 3, dtype=F), normal(3, 4, dtype=F)]),
        Case(op, [normal(2, 3), normal(3, 4)], {"forward_stype": "default"}),
        Case(op, [normal(2, 3), normal(4, 3)], invalid=True),
        Case(op, [normal(2, 3), normal(2, 3)], {"transpose_b": "perhaps"}, invalid=True),
        Case(op, [normal(2, 3), normal(3, 4, dtype=F)], invalid=True),
        Case(op, [normal(2, 3), normal(3, 4)], {"forward_stype": "dense"}, invalid=True),
        Case(op, [integers(0, 5, 2, 2, dtype="int32")] * 2, invalid=True),
    ]


def _batch_dot():
    op = "batch_dot"
    cases = [Case(op, [normal(2, 2, 3), normal(2, 3, 4)])]
    for attrs in _transposes("transpose_a", "transpose_b"):
        a = normal(*_turned((2, 2, 3), attrs["transpose_a"]))
        b = normal(*_turned((2, 3, 4), attrs["transpose_b"]))
        cases.append(Case(op, [a, b], attrs))
    return [
        *cases,
        Case(op, [normal(1, 1, 1), normal(1, 1, 1)]),
        Case(op, [normal(2, 2, 2, 3), normal(2, 2, 3, 2)]),
        Case(op, [normal(2, 2, 3, dtype=F), normal(2, 3, 4, dtype=F)]),
        Case(op, [normal(2, 2, 3), normal(3, 3, 4)], invalid=True),
        Case(op, [normal(2, 2, 3), normal(2, 2, 4)], invalid=True),
        Case(op, [normal(2, 3), normal(3, 4)], invalid=True),
        Case(op, [normal(2, 2, 3), normal(2, 3, 4, dtype=F)], invalid=True),
        Case(op, [normal(2, 2, 3), normal(2, 3, 4)], {"transpose_c": True}, invalid=True),
    ]


def _gemm2():
    op = "_linalg_gemm2"
    real = {"half": False}
    cases = [Case(op, [normal(2, 3), normal(3, 4)], check=real)]
    for attrs in _transposes("transpose_a", "transpose_b"):
        a = normal(*_turned((2, 3), attrs["transpose_a"]))
        b = normal(*_turned((3, 4), attrs["transpose_b"]))
        cases.append(Case(op, [a, b], attrs))
    return [
        *cases,
        Case(op, [normal(2, 3), normal(3, 4)], {"alpha": -2.5}),
        Case(op, [normal(2, 2, 3), normal(2, 3, 4)]),
        Case(op, [normal(2, 5, 3), normal(3, 5, 4)], {"axis": 0}),
        Case(op, [normal(5, 2, 3), normal(5, 3, 4)], {"axis": -2}),
        Case(op, [normal(2, 4, 5, 3), normal(2, 3, 5, 6)], {"axis": 1, "alpha": 2.0}),
        Case(op, [normal(3, 5, 2), normal(3, 5, 4)], {"axis": 0, "transpose_a": True}),
        Case(op, [normal(1, 1), normal(1, 1)]),
        Case(op, [normal(2, 3, dtype=F), normal(3, 4, dtype=F)]),
        Case(op, [normal(2, 3), normal(4, 4)], invalid=True),
        Case(op, [normal(2, 3), normal(2, 3, 4)], invalid=True),
        Case(op, [normal(3), normal(3)], invalid=True),
        Case(op, [normal(2, 2, 3), normal(3, 3, 4)], invalid=True),
        Case(op, [normal(2, 3), normal(3, 4, dtype=F)], invalid=True),
        Case(op, [integers(0, 5, 2, 2, dtype="int32")] * 2, invalid=True),
    ]


def _fully_connected():
    op = "FullyConnected"

    def case(*inputs, num_hidden=4, **attrs):
        return Case(op, list(inputs), {"num_hidden": num_hidden, **attrs})

    weight, bias = normal(4, 6), normal(4)
    bad = {"num_hidden": 4}
    return [
        case(normal(2, 6), weight, bias),
        case(normal(2, 6), weight, no_bias=True),
        case(normal(2, 2, 3), weight, bias),
        case(normal(2, 3, 6), weight, bias, flatten=False),
        case(normal(2, 2, 3, 6), weight, flatten=False, no_bias=True),
        case(normal(1, 1), normal(1, 1), normal(1), num_hidden=1),
        case(normal(2, 6, dtype=F), normal(4, 6, dtype=F), normal(4, dtype=F)),
        Case(op, [normal(2, 6), normal(4, 5), bias], bad, invalid=True),
        Case(op, [normal(2, 6), normal(3, 6), bias], bad, invalid=True),
        Case(op, [normal(2, 6), weight, normal(3)], bad, invalid=True),
        Case(op, [normal(2, 6), weight, normal(2, 2)], bad, invalid=True),
        Case(op, [normal(2, 6), weight, bias], {"num_hidden": 0}, invalid=True),
        Case(op, [normal(2, 6), weight, bias], {}, invalid=True, note="no num_hidden"),
        Case(op, [normal(2, 6), normal(4, 6, dtype=F), bias], bad, invalid=True),
        Case(op, [normal(2, 2, 3), weight, bias], {**bad, "flatten": False}, invalid=True),
    ]


CASES = [*_dot(), *_batch_dot(), *_gemm2(), *_fully_connected()]
