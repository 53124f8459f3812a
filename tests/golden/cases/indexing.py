"""Cases of classic indexing, ordering and shapes."""

from tests.golden.case import Case, distinct, integers, normal, values

_DATA = {"wrt": (0,)}
_FORWARD = {"differentiable": False}
_MATRIX = normal(3, 4)
_CUBE = normal(2, 3, 4)
_COUNTS = distinct(3, 4)
_INTS = integers(0, 9, 3, 4, dtype="int32")
_HALF = distinct(3, 4, dtype="float16")
_SEQUENCE = normal(4, 2, 3)

CASES = [
    # take, pick, gather
    Case("take", [_MATRIX, values([2, 0, 2])], grad=(0,), check=_DATA),
    *[
        Case("take", [_MATRIX, values([[2, -1], [5, 1]])], attrs, grad=(0,))
        for attrs in ({"mode": "clip"}, {"mode": "wrap"}, {"axis": 1}, {"axis": -1, "mode": "wrap"})
    ],
    Case("take", [_MATRIX, values([2, 0, 1])], {"mode": "raise"}, grad=(0,)),
    Case("take", [_CUBE, values([[1, 0]], "int64")], {"axis": 1}, grad=(0,)),
    Case("take", [_INTS, values([2, 0], "int32")], grad=False),
    Case("take", [_HALF, values([2, 0, 2])], grad=(0,)),
    Case("take", [normal(1), values([0])], grad=(0,)),
    Case("take", [_MATRIX, values([2])], {"axis": 2}, invalid=True),
    Case("take", [_MATRIX, values([2])], {"mode": "reflect"}, invalid=True),
    Case("pick", [_MATRIX, values([0, 3, 1])], grad=(0,), check=_DATA),
    *[
        Case("pick", [_MATRIX, values([-1, 3, 5])], attrs, grad=(0,))
        for attrs in ({}, {"mode": "wrap"}, {"keepdims": True}, {"axis": -1})
    ],
    Case("pick", [_MATRIX, values([0, 2, 1, 1])], {"axis": 0}, grad=(0,)),
    Case("pick", [_MATRIX, values([[0], [2], [1]])], {"axis": 1, "keepdims": True}, grad=(0,)),
    Case("pick", [_CUBE, integers(0, 3, 2, 4)], {"axis": 1}, grad=(0,)),
    Case("pick", [_INTS, values([0, 3, 1], "int32")], grad=False),
    Case("pick", [_MATRIX, values([0, 1])], invalid=True),
    Case("pick", [_MATRIX, values([0, 1, 2])], {"axis": 2}, invalid=True),
    Case("batch_take", [_MATRIX, values([0, 3, 1], "int32")], grad=(0,), check=_DATA),
    Case("batch_take", [_MATRIX, values([0, 1], "int32")], invalid=True),
    Case("gather_nd", [_MATRIX, values([[0, 2, 0], [1, 3, 1]])], grad=(0,), check=_DATA),
    Case("gather_nd", [_MATRIX, values([[0, 2]])], grad=(0,)),
    Case("gather_nd", [_CUBE, integers(0, 2, 2, 2, 2)], grad=(0,)),
    Case("gather_nd", [_MATRIX, values([[-1, 2], [1, -2]])], wrong_grad="writes past the ends"),
    Case("gather_nd", [_INTS, values([[0, 2]], "int32")], grad=False),
    Case("gather_nd", [_MATRIX, integers(0, 2, 3, 2)], invalid=True),
    Case(
        "scatter_nd",
        [normal(2), values([[0, 2], [1, 3]])],
        {"shape": (3, 4)},
        grad=(0,),
        check=_DATA,
    ),
    Case("scatter_nd", [normal(2, 4), values([[0, 2]])], {"shape": (3, 4)}, grad=(0,)),
    Case("scatter_nd", [normal(2), values([[0, 2], [1, 3]])], invalid=True),
    Case("scatter_nd", [normal(3), values([[0, 2], [1, 3]])], {"shape": (3, 4)}, invalid=True),
    Case("one_hot", [values([1, 0, 2])], {"depth": 3}, check=_FORWARD),
    *[
        Case("one_hot", [values([[1, 0], [-1, 5]])], attrs)
        for attrs in (
            {"depth": 3},
            {"depth": 3, "on_value": 8, "off_value": 1},
            {"depth": 2, "dtype": "int32"},
            {"depth": 2, "dtype": "float16"},
        )
    ],
    Case("one_hot", [values([1, 0, 2], "int64")], {"depth": 3}),
    Case("one_hot", [values([1, 0, 2])], invalid=True),
    Case(
        "Embedding",
        [values([1, 0, 1]), normal(3, 2)],
        {"input_dim": 3, "output_dim": 2},
        grad=(1,),
        check={"wrt": (1,)},
    ),
    Case(
        "Embedding",
        [values([[1, 5], [-1, 0]], "int32"), normal(3, 2)],
        {"input_dim": 3, "output_dim": 2},
        grad=(1,),
        mxnet_rules=True,
    ),
    Case("Embedding", [values([1]), normal(3, 2)], {"input_dim": 4, "output_dim": 2}, invalid=True),
    Case(
        "where",
        [values([[1, 0, 2]]), normal(1, 3), normal(1, 3)],
        grad=(1, 2),
        check={"wrt": (1, 2)},
    ),
    Case("where", [values([1, 0]), normal(2, 3), normal(2, 3)], grad=(1, 2)),
    Case("where", [values([1, 0], "int32"), normal(2), normal(2)], grad=(1, 2)),
    Case("where", [values([1, 0]), _INTS, _INTS], grad=False, invalid=True),
    Case("where", [values([1, 0]), normal(2), normal(3)], invalid=True),
    # empty arrays
    *[
        Case(op, [normal(2, 0)], attrs, wrong="makes no empty arrays", check=False)
        for op, attrs in (
            ("reverse", {"axis": (1,)}),
            ("expand_dims", {"axis": 1}),
            ("slice", {"begin": (0, 0), "end": (1, 0)}),
            ("slice_axis", {"axis": 0, "begin": 0, "end": 1}),
            ("tile", {"reps": (2, 1)}),
            ("repeat", {"repeats": 2}),
            ("sort", {}),
            ("argsort", {}),
            ("one_hot", {"depth": 3}),
        )
    ],
    Case("take", [normal(2, 0), values([1])], wrong="makes no empty arrays", check=False),
    Case("take", [normal(0, 2), values([1])], wrong="reads past the end", invalid=True),
    Case("take", [normal(2, 3), normal(0)], wrong="makes no empty arrays", check=False),
    Case("Concat", [normal(2, 0), normal(2, 3)], wrong="makes no empty arrays", check=False),
    Case("stack", [normal(2, 0), normal(2, 0)], wrong="makes no empty arrays", check=False),
    # slices
    *[
        Case("slice", [_COUNTS], {"begin": begin, "end": end, "step": step})
        for begin, end, step in (
            ((0, 1), (2, 3), ()),
            ((None, 1), (None, None), ()),
            ((0,), (2,), ()),
            ((2, None), (None, None), (-1, 2)),
            ((-2, -3), (3, 4), ()),
            ((2, 3), (0, None), (-1, -2)),
            ((0, 0), (9, 9), ()),
        )
    ],
    Case("slice", [_INTS], {"begin": (1,), "end": (3,)}),
    Case("slice", [_HALF], {"begin": (1,), "end": (3,)}),
    Case("slice", [_COUNTS], {"begin": (0, 0, 0), "end": (1, 1, 1)}, invalid=True),
    Case("slice", [_COUNTS], {"begin": (0,), "end": (1, 1)}, invalid=True),
    Case("slice", [_COUNTS], {"begin": (0,)}, invalid=True),
    Case("slice", [_COUNTS], {"begin": (0,), "end": (2,), "step": (0,)}, invalid=True),
    *[
        Case("slice_axis", [_COUNTS], {"axis": axis, "begin": begin, "end": end})
        for axis, begin, end in ((0, 1, 3), (1, 0, -1), (-1, -3, -1), (1, 1, 4))
    ],
    Case("slice_axis", [_COUNTS], {"axis": 2, "begin": 0, "end": 1}, invalid=True),
    Case("slice_axis", [_COUNTS], {"axis": 1, "begin": 3, "end": 9}, invalid=True),
    Case("slice_axis", [_COUNTS], {"axis": 1, "begin": 0}, invalid=True),
    Case("slice_like", [_COUNTS, normal(2, 3)], grad=(0,), check=_DATA),
    Case("slice_like", [_COUNTS, normal(2, 3)], {"axes": (1,)}, grad=(0,)),
    Case("slice_like", [_COUNTS, normal(2, 3)], {"axes": (0, -1)}, grad=(0,)),
    Case("slice_like", [_COUNTS, normal(2, 9)], invalid=True),
    Case("slice_like", [_COUNTS, normal(2)], invalid=True),
    # ordering
    *[
        Case("topk", [_COUNTS], attrs)
        for attrs in (
            {"ret_typ": "value", "k": 2},
            {},
            {"k": 2, "ret_typ": "both"},
            {"k": 2, "ret_typ": "mask"},
            {"k": 2, "axis": 0, "is_ascend": True, "ret_typ": "both"},
            {"k": 3, "axis": "None", "ret_typ": "value"},
            {"k": 0, "ret_typ": "value"},
            {"k": 2, "dtype": "int32"},
        )
    ],
    Case("topk", [_INTS], {"k": 2, "ret_typ": "value"}),
    Case("topk", [_COUNTS], {"k": 9}, invalid=True),
    Case("topk", [_COUNTS], {"axis": 3}, invalid=True),
    *[
        Case("sort", [_COUNTS], attrs)
        for attrs in (
            {"axis": -1},
            {"axis": 0},
            {"axis": 1, "is_ascend": False},
            {"axis": "None"},
            {"axis": -2},
        )
    ],
    Case("sort", [_COUNTS], grad=False),
    Case("sort", [_INTS]),
    Case("sort", [_HALF], wrong="sorts no float16 on the CPU"),
    Case("sort", [_COUNTS], {"axis": 2}, invalid=True),
    *[
        Case("argsort", [_COUNTS], attrs, check=_FORWARD)
        for attrs in ({}, {"axis": 0}, {"is_ascend": False}, {"axis": "None"}, {"dtype": "int32"})
    ],
    Case("argsort", [_COUNTS], {"axis": 2}, invalid=True),
    # sequences
    Case(
        "SequenceMask",
        [_SEQUENCE, values([2, 4])],
        {"use_sequence_length": True},
        grad=(0,),
        check=_DATA,
    ),
    *[
        Case(
            "SequenceMask", [_SEQUENCE, lengths], {"use_sequence_length": True, **attrs}, grad=(0,)
        )
        for lengths, attrs in (
            (values([2, 3]), {"value": -1.5}),
            (values([2, 0, 1, 1]), {"axis": 1}),
            (values([2, 1], "int32"), {}),
        )
    ],
    Case("SequenceMask", [_SEQUENCE]),
    Case(
        "SequenceMask", [_SEQUENCE, values([2, 3, 1])], {"use_sequence_length": True}, invalid=True
    ),
    Case("SequenceMask", [_SEQUENCE], {"axis": 2}, invalid=True),
    Case(
        "SequenceLast",
        [_SEQUENCE, values([2, 4])],
        {"use_sequence_length": True},
        grad=(0,),
        check=_DATA,
    ),
    Case("SequenceLast", [_SEQUENCE], grad=False),
    Case("SequenceLast", [_SEQUENCE], {"axis": 1}, grad=False),
    Case(
        "SequenceLast",
        [_SEQUENCE, values([2, 1, 1, 2])],
        {"use_sequence_length": True, "axis": 1},
        grad=(0,),
    ),
    Case(
        "SequenceLast", [_SEQUENCE, values([2, 3, 1])], {"use_sequence_length": True}, invalid=True
    ),
    Case(
        "SequenceReverse",
        [_SEQUENCE, values([2, 4])],
        {"use_sequence_length": True},
        grad=(0,),
        check=_DATA,
    ),
    Case("SequenceReverse", [_SEQUENCE]),
    Case(
        "SequenceReverse",
        [_SEQUENCE, values([2, 3, 1])],
        {"use_sequence_length": True},
        invalid=True,
    ),
    # joining, repeating, padding, turning around
    Case("stack", [normal(2, 3), normal(2, 3)]),
    *[Case("stack", [normal(2, 3)] * 3, {"axis": axis, "num_args": 3}) for axis in (1, -1, 2)],
    Case("stack", [normal(2), normal(2)], {"axis": 3, "num_args": 2}, invalid=True),
    Case("stack", [normal(2), normal(3)], {"num_args": 2}, invalid=True),
    Case("Concat", [normal(2, 3), normal(2, 1)], {"num_args": 2}),
    *[
        Case("Concat", [normal(2, 3), normal(2, 3)], {"num_args": 2, "dim": dim})
        for dim in (0, -1, -2)
    ],
    Case("Concat", [normal(2, 3)], {"num_args": 1}),
    Case("Concat", [_HALF, _HALF], {"num_args": 2}),
    Case("Concat", [normal(2, 3), normal(3, 3)], {"num_args": 2}, invalid=True),
    Case("Concat", [normal(2, 3), normal(2, 3)], {"num_args": 2, "dim": 2}, invalid=True),
    *[Case("tile", [normal(2, 3)], {"reps": reps}) for reps in ((2, 1), (2,), (2, 1, 3), (1, 1))],
    Case("tile", [normal(2, 3)], {"reps": (-1,)}, invalid=True),
    Case("tile", [normal(2, 3)], invalid=True),
    *[
        Case("repeat", [normal(2, 3)], attrs)
        for attrs in ({"repeats": 2}, {"repeats": 2, "axis": 0}, {"repeats": 3, "axis": -1})
    ],
    Case("repeat", [normal(2, 3)], {"repeats": 2, "axis": 2}, invalid=True),
    Case("repeat", [normal(2, 3)], {"repeats": -1}, invalid=True),
    *[
        Case("Pad", [normal(1, 2, 3, 4)], {"mode": mode, "pad_width": (0, 0, 0, 0, 1, 2, 2, 0)})
        for mode in ("constant", "edge", "reflect")
    ],
    Case(
        "Pad",
        [normal(1, 2, 2, 3, 4)],
        {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 0, 1, 2, 2, 0), "constant_value": 3.5},
    ),
    Case(
        "Pad", [normal(1, 2, 3, 4)], {"mode": "constant", "pad_width": (0, 0, 1, 1)}, invalid=True
    ),
    Case("Pad", [normal(1, 2, 3, 4)], {"mode": "wrap", "pad_width": (0,) * 8}, invalid=True),
    *[Case("reverse", [_CUBE], {"axis": axis}) for axis in ((0,), (1, 2))],
    Case("reverse", [_INTS], {"axis": (1,)}),
    Case("reverse", [_CUBE], {"axis": (3,)}, invalid=True),
    Case("reverse", [_CUBE], invalid=True),
    # splitting
    *[
        Case("_split_v2", [_COUNTS], {"axis": 1, "indices": (), **attrs})
        for attrs in (
            {"sections": 2},
            {"indices": (0, 1, 3)},
            {"sections": 4, "squeeze_axis": True},
            {"sections": 3, "axis": 0},
        )
    ],
    *[
        Case("SliceChannel", [_COUNTS], attrs)
        for attrs in (
            {"num_outputs": 2},
            {"num_outputs": 3, "axis": 0},
            {"num_outputs": 4, "squeeze_axis": True},
            {"num_outputs": 2, "axis": -1},
            {"num_outputs": 1},
        )
    ],
    Case("SliceChannel", [_COUNTS], {"num_outputs": 3}, invalid=True),
    Case("SliceChannel", [_COUNTS], {"num_outputs": 2, "axis": 2}, invalid=True),
    # shapes
    *[Case("expand_dims", [_MATRIX], {"axis": axis}) for axis in (0, 1, 2, -1, -3)],
    Case("expand_dims", [_MATRIX], {"axis": 4}, invalid=True),
    Case("expand_dims", [_MATRIX], invalid=True),
    *[
        Case("Reshape", [_CUBE], attrs)
        for attrs in (
            {"shape": (6, 4)},
            {"shape": (-1,)},
            {"shape": (0, -1)},
            {"shape": (-2,)},
            {"shape": (2, -2)},
            {"shape": (-3, 4)},
            {"shape": (-3, -2)},
            {"shape": (0, -3)},
            {"shape": (-4, 1, 2, -2)},
            {"shape": (2, -4, -1, 3, 4)},
            {"shape": (-2, 1, 1)},
            {"shape": (-1, 0), "reverse": True},
            {"shape": (-1, 0)},
            {"shape": (4, 0, 2)},
            {"target_shape": (2, 0)},
            {"target_shape": (1, 0), "keep_highest": True},
        )
    ],
    Case("Reshape", [_INTS], {"shape": (4, 3)}),
    Case("Reshape", [_CUBE], {"shape": (5, -1)}, invalid=True, wrong="reads past the end"),
    Case("Reshape", [_CUBE], {"shape": (-1, -1)}, invalid=True),
    Case("Reshape", [_CUBE], {"shape": (7,)}, invalid=True, wrong="drops the rest"),
    Case("reshape_like", [_CUBE, normal(6, 4)], grad=(0,), check=_DATA),
    Case(
        "reshape_like",
        [_CUBE, normal(6, 5)],
        {"lhs_begin": 0, "lhs_end": 2, "rhs_begin": 0, "rhs_end": 1},
        grad=(0,),
    ),
    Case(
        "reshape_like",
        [normal(6, 4), normal(5, 2, 3)],
        {"lhs_end": -1, "rhs_begin": -2, "rhs_end": None},
        grad=(0,),
    ),
    Case("reshape_like", [_CUBE, normal(6, 5)], invalid=True),
    Case(
        "reshape_like",
        [_CUBE, normal(6, 5)],
        {"lhs_begin": 0, "lhs_end": 9, "rhs_begin": 0, "rhs_end": 1},
        invalid=True,
    ),
    # positions
    Case("_ravel_multi_index", [values([[0, 2, 1], [3, 1, 0]])], {"shape": (3, 4)}, check=_FORWARD),
    Case("_ravel_multi_index", [values([[0, 2, 1], [3, 1, 0]])], {"shape": (-1, 4)}),
    Case("_ravel_multi_index", [values([[0, 2, 1], [3, 1, 0]], "int64")], {"shape": (3, 4)}),
    Case("_ravel_multi_index", [normal(2, 2, 2)], {"shape": (3, 4)}, invalid=True),
    Case("_ravel_multi_index", [normal(2, 2)], {"shape": (3, 4, 2)}, invalid=True),
    Case("_unravel_index", [values([3, 9, 13, -1])], {"shape": (3, 4)}, check=_FORWARD),
    Case("_unravel_index", [values([3, 9, 13])], {"shape": (-1, 4)}),
    Case("_unravel_index", [values([3, 9, 13], "int64")], {"shape": (2, 3, 4)}),
]
