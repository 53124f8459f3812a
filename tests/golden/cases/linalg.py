"""Cases of linear algebra."""

import numpy as np

from tests.golden.case import Case, computed, integers, normal, values


def _spd(x):
    return x @ np.swapaxes(x, -1, -2) + x.shape[-1] * np.eye(x.shape[-1], dtype=x.dtype)


def _regular(x):
    return x + 3 * np.eye(x.shape[-1], dtype=x.dtype)


def _sym(x):
    n = x.shape[-1]
    return (x + np.swapaxes(x, -1, -2)) / 2 + np.diag(3 * np.arange(n)).astype(x.dtype)


def _distinct_spectrum(x):
    return x / 4 + np.diag(3 * np.arange(x.shape[-1])).astype(x.dtype)


def _lower(x):
    return np.tril(x) + 2 * np.eye(x.shape[-1], dtype=x.dtype)


def _eq(a):
    return np.linalg.det(a)


REAL = {"half": False}  # float32 and float64 only
F = "float64"
SPD, SPDS = computed(_spd, normal(4, 4)), computed(_spd, normal(2, 3, 3))
REG, REGS = computed(_regular, normal(4, 4)), computed(_regular, normal(2, 3, 3))
REG64 = computed(_regular, normal(3, 3, dtype=F))
SYM, SYMS = computed(_sym, normal(4, 4)), computed(_sym, normal(2, 3, 3))
LOW, LOWS = computed(_lower, normal(4, 4)), computed(_lower, normal(2, 3, 3))
# What fails for its values does so at the wait: tests/ops/linalg/test_refusals.py.
SINGULAR = values([[1, 2], [2, 4]])
EIG = computed(_distinct_spectrum, normal(4, 4))
# Their gradient is that of a symmetric input: tests/ops/linalg/test_symmetric.py checks it.
SYMMETRIC = {"half": False, "differentiable": False}
ZERO_GRADIENT = "1.9.1 gives zeros"
STRETCHED = "1.9.1 sums over a stretched axis in another order than it lies in"
TWICE = "1.9.1 multiplies by the incoming gradient twice"


def _square(op, matrix, matrices, **more):
    """Return what every operator of square matrices has: one, a stack, and what is refused."""
    first = {"check": REAL, **more}
    return [
        Case(op, [matrix], **first),
        Case(
            op, [matrices], rtol=1e-4, atol=1e-5, **{k: v for k, v in more.items() if k != "check"}
        ),
        Case(op, [normal(2, 3)], invalid=True),
        Case(op, [normal(3)], invalid=True),
        Case(op, [normal(2, 2, dtype="float16")], invalid=True),
    ]


def _classic(op):
    return [Case(op, [integers(1, 5, 2, 2, dtype="int32")], invalid=True)]


def _tri(op):
    left, right = normal(4, 3), normal(3, 4)
    cases = []
    for a, b, c in ((LOW, left, right), (LOWS, normal(2, 3, 2), normal(2, 2, 3))):
        for transpose in (False, True):
            for lower in (False, True):
                for rightside in (False, True):
                    attrs = {"transpose": transpose, "lower": lower, "rightside": rightside}
                    if transpose:
                        attrs["alpha"] = -1.5  # type: ignore[assignment]
                    given = c if rightside else b
                    # A is lower triangular: the upper triangle is its diagonal.
                    cases.append(Case(op, [a, given], attrs, check=REAL, rtol=1e-4, atol=1e-5))
    return [
        *cases,
        Case(op, [computed(_regular, normal(3, 3)), normal(3, 2)], rtol=1e-4, atol=1e-5),
        Case(
            op,
            [computed(_regular, normal(3, 3)), normal(3, 2)],
            {"lower": False},
            rtol=1e-4,
            atol=1e-5,
        ),
        Case(op, [REG64, normal(3, 2, dtype=F)]),
        Case(op, [normal(1, 1), normal(1, 1)], rtol=1e-4),
        Case(op, [LOW, normal(3, 2)], invalid=True),
        Case(op, [LOW, right], invalid=True),
        Case(op, [normal(2, 3), normal(3, 2)], invalid=True),
        Case(op, [LOWS, normal(3, 2)], invalid=True),
        Case(op, [LOW, normal(4, 2, dtype=F)], invalid=True),
    ]


def _gemm():
    op, a, b = "_linalg_gemm", normal(2, 3), normal(3, 4)
    return [
        Case(op, [a, b, normal(2, 4)], check=REAL),
        Case(op, [a, b, normal(2, 4)], {"alpha": 2.0, "beta": -0.5}),
        Case(op, [normal(3, 2), b, normal(2, 4)], {"transpose_a": True}),
        Case(op, [a, normal(4, 3), normal(2, 4)], {"transpose_b": True}),
        Case(
            op,
            [normal(3, 2), normal(4, 3), normal(2, 4)],
            {"transpose_a": True, "transpose_b": True, "beta": 0.0},
        ),
        Case(op, [normal(2, 2, 3), normal(2, 3, 4), normal(2, 2, 4)]),
        Case(op, [normal(2, 5, 3), normal(3, 5, 4), normal(2, 5, 4)], {"axis": 0}),
        Case(
            op,
            [normal(5, 2, 3, dtype=F), normal(5, 3, 4, dtype=F), normal(5, 2, 4, dtype=F)],
            {"axis": -2},
        ),
        Case(op, [a, b, normal(1, 4)], invalid=True),
        Case(op, [a, normal(4, 4), normal(2, 4)], invalid=True),
        Case(op, [a, b, normal(2, 4, dtype=F)], invalid=True),
        Case(op, [normal(3), b, normal(2, 4)], invalid=True),
        Case(
            op,
            [
                normal(2, 3, dtype="float16"),
                normal(3, 4, dtype="float16"),
                normal(2, 4, dtype="float16"),
            ],
            invalid=True,
        ),
    ]


def _syrk():
    op = "_linalg_syrk"
    return [
        Case(op, [normal(2, 3)], check=REAL),
        Case(op, [normal(2, 3)], {"transpose": True, "alpha": -2.0}),
        Case(op, [normal(2, 3, 2)], {"alpha": 0.5}),
        Case(op, [normal(2, 3, dtype=F)]),
        Case(op, [normal(3)], invalid=True),
        Case(op, [normal(2, 3, dtype="float16")], invalid=True),
    ]


def _determinants():
    cases = []
    for op in ("_linalg_det", "_linalg_slogdet", "_npi_det", "_npi_slogdet"):
        cases += _square(op, REG, REGS)
        cases += _classic(op)
        cases += [
            Case(op, [REG64]),
            Case(op, [computed(_regular, normal(1, 1))]),
            Case(
                op,
                [SINGULAR],
                wrong_grad="" if "slog" in op else "is 0, and not the matrix of cofactors",
            ),
            Case(op, [values([[0.0, 1.0], [1.0, 0.0]])], note="negative"),
        ]
    cases += [
        Case("_npi_det", [normal(0, 2, 2)]),
        Case("_npi_slogdet", [normal(0, 2, 2)]),
        Case("_npi_det", [normal(0, 0)], wrong="1.9.1 reads uninitialized memory", expected=_eq),
        *_square("_linalg_inverse", REG, REGS),
        *_classic("_linalg_inverse"),
        Case("_linalg_inverse", [REG64]),
        Case("_npi_inv", [REGS], check=REAL, rtol=1e-4, atol=1e-5),
        Case("_npi_inv", [normal(0, 0)]),
        Case("_npi_inv", [normal(0, 2, 2)]),
    ]
    return cases


def _factors():
    cases = []
    for op in ("_linalg_potrf", "_npi_cholesky"):
        cases += _square(op, SPD, SPDS, check=SYMMETRIC)
        cases += [*_classic(op), Case(op, [values([[4.0]])])]
    return [
        *cases,
        Case("_npi_cholesky", [normal(0, 0)]),
        Case("_linalg_potri", [LOW], check=REAL, rtol=1e-4, atol=1e-5),
        Case("_linalg_potri", [LOWS], rtol=1e-4, atol=1e-5),
        Case("_linalg_potri", [REG64], rtol=1e-6, atol=1e-8),
        Case("_linalg_potri", [normal(2, 3)], invalid=True),
        Case("_linalg_potri", [normal(2, 2, dtype="float16")], invalid=True),
        Case("_linalg_sumlogdiag", [SPD], check=REAL),
        Case("_linalg_sumlogdiag", [SPDS]),
        Case("_linalg_sumlogdiag", [values([[2.0]], dtype=F)]),
        Case("_linalg_sumlogdiag", [normal(2, 3)], invalid=True),
        Case("_linalg_sumlogdiag", [values([[2, 1], [1, 2]], dtype="int32")], invalid=True),
        Case("_linalg_gelqf", [normal(3, 5)], check=REAL, rtol=1e-4, atol=1e-5),
        Case("_linalg_gelqf", [normal(3, 3)], rtol=1e-3, atol=1e-4),
        Case("_linalg_gelqf", [normal(2, 2, 4)], rtol=1e-4, atol=1e-5),
        Case("_linalg_gelqf", [normal(3, 5, dtype=F)], rtol=1e-8, atol=1e-9),
        Case("_linalg_gelqf", [normal(1, 3)]),
        Case("_linalg_gelqf", [normal(3, 2)], invalid=True),
        Case("_linalg_gelqf", [normal(3)], invalid=True),
        Case("_linalg_gelqf", [normal(2, 3, dtype="float16")], invalid=True),
        *_square("_linalg_syevd", SYM, SYMS, check=SYMMETRIC),
        Case("_linalg_syevd", [computed(_sym, normal(3, 3, dtype=F))], rtol=1e-8, atol=1e-9),
        Case("_linalg_syevd", [values([[2.0, 9.0], [1.0, 5.0]])], note="upper is not read"),
    ]


def _diagonals():
    cases = []
    for offset in (-2, -1, 0, 1, 2):
        attrs = {"offset": offset}
        cases += [
            Case("_linalg_extractdiag", [normal(3, 3)], attrs, check=REAL),
            Case("_linalg_makediag", [normal(2, 3)], attrs, check=REAL),
        ]
        for lower in (True, False):
            attrs = {"offset": offset, "lower": lower}
            cases += [
                Case("_linalg_extracttrian", [normal(2, 3, 3)], attrs, check=REAL),
                Case("_linalg_maketrian", [normal(6)], attrs, check=REAL),
            ]
    for op in ("_linalg_extractdiag", "_linalg_extracttrian"):
        cases += [
            Case(op, [normal(2, 2, 4, 4, dtype=F)], {"offset": 1}),
            Case(op, [normal(1, 1)]),
            Case(op, [normal(3, 4)], invalid=True),
            Case(op, [normal(3, 3)], {"offset": 3}, invalid=True),
            Case(op, [normal(3, 3)], {"offset": -3}, invalid=True),
            Case(op, [normal(3)], invalid=True),
            Case(op, [normal(2, 2, dtype="float16")], invalid=True),
        ]
    for op in ("_linalg_makediag", "_linalg_maketrian"):
        cases += [
            Case(op, [normal(2, 2, 3, dtype=F)], {"offset": -1}),
            Case(op, [normal(1)]),
            Case(op, [integers(0, 4, 3, dtype="int32")], invalid=True),
        ]
    cases.append(Case("_linalg_maketrian", [normal(4)], invalid=True))
    op = "_np_trace"
    return [
        *cases,
        Case(op, [normal(3, 3)]),
        Case(op, [normal(3, 4)], {"offset": 1}),
        Case(op, [normal(3, 4)], {"offset": -2}),
        Case(op, [normal(3, 4)], {"offset": 9}),
        Case(op, [normal(2, 3, 2)], {"axis1": -1, "axis2": 0}),
        Case(op, [normal(2, 3, 2)], {"axis1": 0, "axis2": 2, "offset": 1}),
        Case(op, [normal(0, 3)]),
        Case(op, [normal(1, 1, dtype=F)]),
        Case(op, [normal(3, 3, dtype="float16")]),
        Case(op, [integers(0, 9, 3, 3, dtype="int32")]),
        Case(op, [integers(100, 200, 3, 3, dtype="uint8")]),
        Case(op, [normal(3)], invalid=True),
        Case(op, [normal(3, 3)], {"axis1": 1, "axis2": 1}, invalid=True),
        Case(op, [normal(3, 3)], {"axis1": 2}, invalid=True),
    ]


def _spectra():
    whole = integers(0, 5, 3, 3, dtype="int32")
    asymmetric = values([[2.0, 9.0], [1.0, 3.0]])
    cases = []
    for op in ("_npi_eigh", "_npi_eigvalsh"):
        more = {"wrong_grad": ZERO_GRADIENT}
        cases += _square(op, SYM, SYMS, check=SYMMETRIC, **more)
        cases += [
            Case(op, [asymmetric], {"UPLO": "U"}, **more),
            Case(op, [asymmetric], {"UPLO": "L"}, **more),
            Case(op, [computed(_sym, normal(3, 3, dtype=F))], rtol=1e-8, atol=1e-9, **more),
            Case(op, [whole], rtol=1e-8, atol=1e-9),
            Case(op, [normal(0, 0)], **more),
            Case(op, [normal(0, 2, 2)], **more),
        ]
    for op in ("_npi_eig", "_npi_eigvals"):
        # Order and signs are LAPACK's: tests/ops/linalg/test_eigen.py checks values.
        more = {"random": op == "_npi_eig", "wrong_grad": ZERO_GRADIENT}  # type: ignore[dict-item]
        cases += [
            Case(op, [EIG], rtol=1e-4, check=REAL, **more),
            Case(
                op,
                [computed(_distinct_spectrum, normal(3, 3, dtype=F))],
                rtol=1e-8,
                check=REAL,
                **more,
            ),
            Case(op, [computed(_sym, normal(2, 3, 3))], **{**more, "random": True}),
            Case(op, [values([[2, 1], [0, 3]], dtype="int64")], **more),
            Case(op, [normal(0, 2, 2)], **more),
            Case(op, [normal(2, 3)], invalid=True),
            Case(op, [normal(2, 2, dtype="float16")], invalid=True),
        ]
    op = "_npi_svd"
    return [
        *cases,
        Case(op, [normal(3, 5)], check=REAL, rtol=1e-3, atol=1e-4),
        Case(op, [normal(3, 3, dtype=F)], rtol=1e-7, atol=1e-8),
        Case(op, [normal(2, 2, 3)], rtol=1e-3, atol=1e-4),
        Case(op, [normal(1, 1)], rtol=1e-4, atol=1e-5),
        Case(op, [normal(0, 3)]),
        Case(op, [normal(0, 2, 3)]),
        Case(op, [normal(3, 2)], invalid=True),
        Case(op, [normal(3)], invalid=True),
        Case(op, [integers(0, 5, 2, 3, dtype="int32")], invalid=True),
    ]


def _pinv():
    op, by = "_npi_pinv_scalar_rcond", "_npi_pinv"
    more = {"wrong_grad": ZERO_GRADIENT, "rtol": 1e-4, "atol": 1e-5}
    one = values([1e-3])
    return [
        Case(op, [normal(2, 3)], check=REAL, **more),
        Case(op, [normal(4, 2)], **more),
        Case(op, [normal(2, 3)], {"rcond": 0.9}, **more),
        Case(op, [normal(2, 3, 3, dtype=F)], {"hermitian": True}, **more),
        Case(op, [normal(0, 3)], **more),
        Case(op, [normal(3)], invalid=True),
        Case(op, [normal(2, 3, dtype="float16")], invalid=True),
        Case(by, [normal(2, 3, 2), values([1e-4, 1e-3])], check=REAL, **more),
        Case(by, [normal(2, 3, 2), values([0.99, 1e-3])], **more),
        Case(by, [normal(2, 3), values(1e-3)], **more),
        Case(by, [normal(2, 3, 2), values([1e-3])], **more),
        Case(by, [normal(2, 3), values([0.9, 0.1])], invalid=True),
        Case(by, [normal(2, 3), values(1, dtype="int32")], invalid=True),
        Case(by, [normal(3), one], invalid=True),
    ]


def _solve():
    op, by, inverse = "_npi_solve", "_npi_tensorsolve", "_npi_tensorinv"
    close = {"rtol": 1e-3, "atol": 1e-4}
    six = normal(6, 6)
    return [
        Case(op, [REG, normal(4, 2)], check=REAL, **close),
        Case(op, [REG, normal(4)], **close),
        Case(op, [REGS, normal(2, 3)], **close),
        Case(op, [REGS, normal(2, 3, 2)], **close),
        Case(op, [REG64, normal(3, 2, dtype=F)]),
        Case(op, [REG64, normal(3, 2)], wrong_grad="1.9.1 refuses the gradient of mixed dtypes"),
        Case(op, [values([[2, 1], [1, 3]], dtype="int32"), values([1, 2], dtype="int32")]),
        Case(op, [normal(0, 0), normal(0, 2)]),
        Case(op, [REG, normal(3)], invalid=True),
        Case(op, [REGS, normal(1, 3, 1)], invalid=True),
        Case(op, [REG, normal(4, 4, 1)], invalid=True),
        Case(op, [normal(2, 2, dtype="float16"), normal(2, dtype="float16")], invalid=True),
        Case(
            by,
            [computed(_two_three_six, computed(_regular, six)), normal(2, 3)],
            check=REAL,
            **close,
        ),
        Case(
            by,
            [normal(2, 6, 3, dtype=F), normal(2, 3, dtype=F)],
            {"a_axes": (1,)},
            rtol=1e-8,
            atol=1e-9,
        ),
        Case(
            by,
            [normal(2, 6, 3, dtype=F), normal(2, 3, dtype=F)],
            {"a_axes": (-2,)},
            rtol=1e-8,
            atol=1e-9,
        ),
        Case(by, [normal(1), normal()], **close),
        Case(by, [values([[2, 1], [1, 3]], dtype="int32"), values([1, 2], dtype="int32")]),
        Case(by, [normal(2, 3, 6), normal(3, 3)], invalid=True),
        Case(inverse, [computed(_four_two_two, REG)], {"ind": 1}, check=REAL, **close),
        Case(inverse, [normal(2, 2, 2, 2, dtype=F)], rtol=1e-8, atol=1e-9),
        Case(inverse, [values([[2.0]])], {"ind": 1}),
        Case(inverse, [values([[2.0]])], {"ind": 2}),
        Case(inverse, [normal(2, 3, 2)], invalid=True),
        Case(inverse, [normal(2, 2)], {"ind": 0}, invalid=True),
        Case(inverse, [values([[1, 0], [0, 1]], dtype="int32")], {"ind": 1}, invalid=True),
    ]


def _two_three_six(x):
    return x.reshape(2, 3, 6)


def _four_two_two(x):
    return x.reshape(4, 2, 2)


def _einsum():
    op = "_npi_einsum"

    def case(subscripts, *inputs, **more):
        return Case(op, list(inputs), {"subscripts": subscripts, "num_args": len(inputs)}, **more)

    half = {"wrong": "1.9.1 sums in float16 what lies beside", "rtol": 1e-2, "atol": 1e-2}
    return [
        case("ij,jk->ik", normal(2, 3), normal(3, 4)),
        case("ij,jh", normal(2, 3), normal(3, 4)),
        case(" i j , j k -> k i", normal(2, 3), normal(3, 4)),
        case("ii", normal(3, 3)),
        case("ii->i", normal(3, 3)),
        case("iij->j", normal(3, 3, 2)),
        case("ij->", normal(2, 3)),
        case("ij->ji", normal(2, 3)),
        case("ba", normal(2, 3)),
        case("Aa", normal(2, 3)),
        case("i,j->ij", normal(2), normal(3)),
        case("i,i,i", normal(3), normal(3), normal(3)),
        case(",", values(2.0), values(3.0)),
        case("", values(2.0)),
        case("...i->...", normal(2, 3)),
        case("i...", normal(2, 3, 2)),
        case("i...j->...", normal(2, 3, 4)),
        case("...ij,...jk->...ik", normal(3, 1, 2, 2), normal(4, 2, 2), wrong_grad=STRETCHED),
        case("ij,jk", normal(2, 1), normal(3, 2)),
        case("ij,jk,kl->il", normal(2, 3), normal(3, 4), normal(4, 2)),
        case("ij->i", normal(2, 0)),
        case("ij,jk", normal(2, 3, dtype=F), normal(3, 4, dtype=F)),
        case("ij,jk", integers(0, 5, 2, 3, dtype="int32"), integers(0, 5, 3, 2, dtype="int32")),
        case("ij,jk", integers(0, 5, 2, 3, dtype="uint8"), integers(0, 5, 3, 2, dtype="uint8")),
        case("ij,jk", integers(0, 5, 2, 3, dtype="int64"), integers(0, 5, 3, 2, dtype="int64")),
        case("ij,jk", integers(0, 2, 2, 3, dtype="bool"), integers(0, 2, 3, 2, dtype="bool")),
        case(
            "ij,jk",
            normal(2, 3, dtype="float16"),
            normal(3, 2, dtype="float16"),
            expected=_product,
            **half,
        ),
        Case(
            op,
            [normal(2, 3), normal(3, 4), normal(4, 2)],
            {"subscripts": "ij,jk,kl", "num_args": 3, "optimize": 1},
        ),
        case("ij,jk,kl", normal(2, 2), normal(2, 2), invalid=True),
        case("ij->k", normal(2, 2), invalid=True),
        case("ijk", normal(2, 2), invalid=True),
        case("i->ii", normal(2), invalid=True),
        case("...i->i", normal(2, 2), invalid=True),
        case("1a", normal(2, 2), invalid=True),
        case("ii", normal(1, 3), invalid=True),
        case("..ij", normal(2, 2), invalid=True),
        case("ij-", normal(2, 2), invalid=True),
        case("...i...", normal(2, 2), invalid=True),
        case("", normal(2, 2), invalid=True),
        case("ij,jk", normal(2, 3), normal(4, 2), invalid=True),
        case("ij,jk", normal(2, 3), normal(3, 2, dtype=F), invalid=True),
    ]


def _product(a, b):
    return a @ b


def _products():
    op, dot = "_npi_matmul", "_np_dot"
    cases = []
    for name in (op, dot):
        cases += [
            Case(name, [normal(2, 3), normal(3, 4)]),
            Case(name, [normal(3), normal(3)]),
            Case(name, [normal(2, 3), normal(3)]),
            Case(name, [normal(2), normal(2, 3)]),
            Case(name, [normal(2, 2, 3), normal(3)]),
            Case(name, [normal(2), normal(2, 2, 3)]),
            Case(name, [normal(2, 2, 3), normal(3, 2)]),
            Case(name, [normal(2, 3), normal(2, 3, 2)]),
            Case(name, [normal(1, 2, 3), normal(2, 3, 2)]),
            Case(name, [normal(2, 0), normal(0, 3)]),
            Case(name, [normal(0, 2), normal(2, 3)]),
            Case(name, [normal(1, 1), normal(1, 1)]),
            Case(name, [normal(2, 3, dtype=F), normal(3, 4, dtype=F)]),
            Case(name, [normal(2, 3), normal(4, 3)], invalid=True),
            Case(name, [normal(2, 3), normal(3, 4, dtype=F)], invalid=True),
            Case(name, [normal(2, 3), normal(2)], invalid=True),
            Case(name, [integers(0, 5, 2, 2, dtype="int32")] * 2, invalid=True),
        ]
    named, counted = "_npi_tensordot", "_npi_tensordot_int_axes"

    def axes(a, b):
        return {"a_axes_summed": a, "b_axes_summed": b}

    cases += [
        Case(op, [normal(3, 1, 2, 3), normal(4, 3, 2)], wrong_grad=STRETCHED),
        Case(op, [normal(2, 1, 3, 2), normal(1, 4, 2, 2)], wrong_grad=STRETCHED),
        Case(op, [normal(), normal(2)], invalid=True),
        Case(op, [normal(2), normal()], invalid=True),
        Case(op, [normal(2, 2, 3), normal(3, 3, 2)], invalid=True),
        Case(dot, [normal(), normal(2, 3)]),
        Case(dot, [normal(2, 3), normal()]),
        Case(dot, [normal(), normal()]),
        Case(named, [normal(2, 3), normal(3, 2)], axes((1,), (0,))),
        Case(named, [normal(2, 3, 4), normal(4, 5, 2)], axes((0, 2), (2, 0))),
        Case(named, [normal(2, 3), normal(2, 3)], axes((0, 1), (0, 1))),
        Case(named, [normal(2, 3), normal(4, 3)], axes((-1,), (-1,))),
        Case(named, [normal(2), normal(3)], axes((), ())),
        Case(named, [normal(2, 0), normal(0, 3)], axes((1,), (0,))),
        Case(named, [normal(2, 3, dtype=F), normal(3, 2, dtype=F)], axes((1,), (0,))),
        Case(named, [normal(2, 3), normal(3, 2)], axes((0,), (0,)), invalid=True),
        Case(named, [normal(2, 2), normal(2, 2)], axes((0,), (0, 1)), invalid=True),
        Case(named, [normal(2, 3), normal(3, 2, dtype=F)], axes((1,), (0,)), invalid=True),
        Case(named, [integers(0, 5, 2, 2, dtype="int32")] * 2, axes((1,), (0,)), invalid=True),
        Case(counted, [normal(2, 3), normal(3, 2)], {"axes": 1}),
        Case(counted, [normal(4, 2, 3), normal(2, 3, 5)], {"axes": 2}),
        Case(counted, [normal(2), normal(3)], {"axes": 0}),
        Case(counted, [normal(2, 3), normal(2)], {"axes": -1}),
        Case(counted, [normal(2, 3), normal(2, 3)], {"axes": 2}),
        Case(counted, [normal(2, 0), normal(0, 3)], {"axes": 1}),
        Case(counted, [normal(2, 3, dtype=F), normal(3, 2, dtype=F)], {"axes": 1}),
        Case(counted, [normal(2, 3), normal(2, 3)], {"axes": 1}, invalid=True),
        Case(counted, [normal(2, 3), normal(3, 2, dtype=F)], {"axes": 1}, invalid=True),
    ]
    return cases


def _norm():
    op, three, two = "_npi_norm", normal(2, 3, 4), normal(2, 3)
    inf = float("inf")
    cases = [Case(op, [two], rtol=1e-4, atol=1e-5, check=REAL, wrong_grad=TWICE)]
    for attrs in (
        {"flag": 1},
        {"flag": -2},
        {"flag": 2},
        {"flag": 0},
        {"ord": 1},
        {"ord": inf},
        {"ord": -inf},
        {"ord": -1},
        {"ord": -2},
        {"ord": 1, "axis": (0,)},
        {"ord": 3, "axis": (1,)},
        {"ord": 0, "axis": (0,)},
        {"ord": 0.5, "axis": (-1,)},
        {"ord": -1, "axis": (0,), "keepdims": True},
        {"flag": 1, "axis": (1,)},
        {"axis": (0, 1), "keepdims": True},
        {"ord": 1, "axis": (1, 0)},
        {"flag": -2, "keepdims": True},
    ):
        matrices = len(attrs.get("axis", (0, 1))) == 2 and attrs.get("flag", 0) == 0
        wrong = TWICE if matrices else ""
        cases.append(Case(op, [three], attrs, rtol=1e-4, atol=1e-5, wrong_grad=wrong))
    return [
        *cases,
        Case(op, [two], {"flag": 2}, rtol=1e-4, atol=1e-5),
        Case(op, [two], {"flag": 1}),
        Case(op, [normal(3)]),
        Case(op, [normal(3)], {"ord": 2.5, "flag": 1}),
        Case(op, [normal(2, 3, dtype=F)], {"flag": -2}),
        Case(op, [normal(3, 2)], {"ord": 1}, wrong_grad=TWICE),
        Case(op, [normal(2, 0)], {"flag": 1}, grad=False),
        Case(op, [normal(0, 2)], {"axis": (0,)}, grad=False),
        Case(op, [normal(2, 2, dtype="float16")], {"flag": 1}, grad=False),
        Case(op, [integers(1, 4, 2, 2, dtype="int32")], {"ord": 1}),
        Case(op, [normal(3, 2)], wrong="1.9.1 refuses more rows than columns", expected=_spectral),
        Case(op, [three], {"axis": (0, 0)}, invalid=True),
        Case(op, [three], {"axis": (0, 1, 2)}, invalid=True),
        Case(op, [three], {"axis": (5,)}, invalid=True),
        Case(op, [three], {"axis": ()}, invalid=True),
        Case(op, [three], {"axis": (0,), "flag": 2}, invalid=True),
        Case(op, [normal(2, 2, dtype="float16")], invalid=True),
        Case(op, [integers(1, 4, 2, 2, dtype="int32")], invalid=True),
        Case(op, [normal()], invalid=True),
    ]


def _spectral(x):
    return np.linalg.norm(x, 2)


def _khatri_rao():
    op = "khatri_rao"
    return [
        Case(op, [normal(2, 3), normal(4, 3)], check=REAL),
        Case(op, [normal(2, 3)]),
        Case(op, [normal(2, 2), normal(3, 2), normal(2, 2)]),
        Case(op, [normal(2, 3, dtype=F), normal(1, 3, dtype=F)]),
        Case(op, [normal(2, 2), normal(2, 3)], invalid=True),
        Case(op, [normal(2), normal(2)], invalid=True),
        Case(op, [normal(2, 2, dtype="float16")] * 2, invalid=True),
        Case(op, [integers(0, 5, 2, 2, dtype="int32")] * 2, invalid=True),
    ]


CASES = [
    *_gemm(),
    *_syrk(),
    *_tri("_linalg_trmm"),
    *_tri("_linalg_trsm"),
    *_determinants(),
    *_factors(),
    *_diagonals(),
    *_spectra(),
    *_pinv(),
    *_solve(),
    *_einsum(),
    *_products(),
    *_norm(),
    *_khatri_rao(),
]
