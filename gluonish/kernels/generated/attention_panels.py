"""What the kernels of attention have in common: panels, products, masks, and the keys in reach.

A *panel* is an array of rows of `panel_width` float32, whose columns are queries. Scores are stored
in panels, keys by queries: a vector holds one key's scores for neighbouring queries. So keys and
values are read where they are, element by element, maxima and sums are taken lane by lane, and the
weights are in the order in which the second product reads them. Scores are in units of log 2, so
that weights are powers of two.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gluonish.kernels.compiler.vector_code import Assembler, Value, lanes

BLOCK = 128  # keys; a multiple of four
FLOAT = 4  # bytes
_ROWS = 4  # of a product that are computed together
_UNROLLED = 4  # columns of a product
LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453

SIZES = "batch heads group queries keys width value_width shift left right scale"
OPTIONS = "mask_at lengths_at mask_n mask_h mask_t mask_s cap seed offset p factor"


def vectors() -> int:
    """Return how many vectors a row of a panel has: four rows of a product stay in registers."""
    return 4 if lanes() == 16 else 2


def panel_width() -> int:
    """Return the number of queries in a panel."""
    return lanes() * vectors()


def panels() -> int:
    """Return the number of panels in a tile of queries."""
    return 2 if lanes() == 16 else 4


def tile_size() -> int:
    """Return the number of queries in a tile."""
    return panels() * panel_width()


def row_nbytes() -> int:
    """Return the size of a panel's row."""
    return panel_width() * FLOAT


# The modules that write the kernels of attention.
MODULES = tuple(
    f"{__package__}.attention_{name}"
    for name in (
        *("panels", "products", "amx", "code"),
        *("gradient_products", "gradient_amx", "gradient_code"),
    )
)


class Variant(NamedTuple):
    """What a kernel is compiled for.

    Attributes:
        kind: Dtype of queries, keys, values, output and gradients.
        mask: Dtype of the mask; empty without one.
        lengths: Dtype of the numbers of keys; empty without them.
        pairs: Whether there are numbers of queries before those of keys.
        capped: Whether scores are limited by a hyperbolic tangent.
        dropout: Whether weights are dropped: "aligned" if the number of keys is a multiple of four,
            so that neighbouring keys share a block of random numbers, "any" else, or empty.
        amx: Whether the products of bfloat16 are computed by AMX.
    """

    kind: str
    mask: str = ""
    lengths: str = ""
    pairs: bool = False
    capped: bool = False
    dropout: str = ""
    amx: bool = False

    @property
    def itemsize(self) -> int:
        """Bytes of an element of queries, keys and values."""
        return 4 if self.kind == "float32" else 2


class Matrix(NamedTuple):
    """A matrix in memory: the address of its first element, and the steps in bytes."""

    at: Value
    row: Value | int
    column: Value | int

    @property
    def transposed(self) -> "Matrix":
        """The matrix with rows and columns exchanged."""
        return Matrix(self.at, self.column, self.row)


def load_row(code: Assembler, at: Value, count: int = 0) -> list[Value]:
    """Load a row of a panel, or of a panel with another number of vectors in a row."""
    return [code.load(code.sum(at, i * lanes() * FLOAT)) for i in range(count or vectors())]


def store_row(code: Assembler, row: Sequence[Value], at: Value) -> None:
    """Store a row of a panel."""
    for i, vector in enumerate(row):
        code.store(vector, code.sum(at, i * lanes() * FLOAT))


def filled_row(code: Assembler, value: float) -> list[Value]:
    """Return a row with one number in all columns."""
    return [code.constant(value)] * vectors()


def fill(code: Assembler, value: float, rows: Value, at: Value) -> None:
    """Fill rows of a panel with a number."""
    with code.loop(0, rows) as row:
        store_row(code, filled_row(code, value), code.sum(at, code.product(row, row_nbytes())))


def full_vectors(code: Assembler, extent: Value) -> Value:
    """Return the part of an extent that is a multiple of a vector's lanes."""
    full, _ = code.divide(extent, code.number(lanes()))
    return code.product(full, lanes())


def multiply(
    code: Assembler,
    left: Matrix,
    rows: Value,
    inner: Value,
    right: Matrix,
    start: Callable[[Value], list[Value]],
    end: Callable[[Value, list[Value]], None],
    together: Sequence[int] = (_ROWS, 1),
    width: int = 0,
) -> None:
    """Multiply a matrix by one with as many columns as a panel.

    Args:
        left: Matrix (rows, inner) of float32 with any steps.
        rows: Its rows.
        inner: Its columns.
        right: Matrix (inner, `panel_width`) of float32, with contiguous rows.
        start: Called with the number of a row; returns the vectors that the products are added to.
        end: Called with the number of a row, and the sums.
        together: How many rows are computed together: as many as there are left for, else the next
            number; the last is 1.
        width: How many vectors a row of the right matrix has; 0 for those of a panel.
    """
    width = width or vectors()

    def some(first: Value, count: int) -> None:
        lines = [
            code.sum(left.at, code.product(code.sum(first, i), left.row)) for i in range(count)
        ]
        before = [vector for i in range(count) for vector in start(code.sum(first, i))]

        def add(k: Value, sums: list[Value]) -> list[Value]:
            line = load_row(code, code.sum(right.at, code.product(k, right.row)), width)
            column = code.product(k, left.column)
            made = []
            for i, at in enumerate(lines):
                factor = code.load_element(code.sum(at, column))
                made += [code.fma(factor, x, sums[i * width + j]) for j, x in enumerate(line)]
            return made

        def add_some(k: Value, sums: list[Value]) -> list[Value]:
            for i in range(_UNROLLED):
                sums = add(code.sum(k, i), sums)
            return sums

        sums = code.fold(0, full_inner, _UNROLLED, before, add_some)
        sums = code.fold(full_inner, inner, 1, sums, add)
        for i in range(count):
            end(code.sum(first, i), sums[i * width : (i + 1) * width])

    full_inner = code.product(code.divide(inner, code.number(_UNROLLED))[0], _UNROLLED)
    done: Value | int = 0
    for count in together:
        groups, _ = code.divide(code.difference(rows, done), code.number(count))
        stop = code.sum(done, code.product(groups, count))
        with code.loop(done, stop, count) as first:
            some(first, count)
        done = stop


def multiply_to_panel(
    code: Assembler, left: Matrix, rows: Value, inner: Value, right: Value, target: Value
) -> None:
    """Store the product of a matrix and a panel in another panel."""
    multiply(
        code,
        left,
        rows,
        inner,
        Matrix(right, row_nbytes(), FLOAT),
        lambda _row: filled_row(code, 0),
        lambda row, sums: store_row(code, sums, code.sum(target, code.product(row, row_nbytes()))),
    )


def gather(
    code: Assembler,
    rows: Matrix,
    first: Value,
    last: Value,
    columns: Value,
    target: Value,
    scale: Value | None,
    kind: str,
) -> None:
    """Transpose rows, times a factor, to a panel; rows after the last are copies of that one."""

    def address_of(i: int) -> Value:
        return code.sum(rows.at, code.product(code.least(code.sum(first, i), last), rows.row))

    gather_rows(code, address_of, vectors(), rows.column, columns, target, scale, kind)


def gather_rows(
    code: Assembler,
    address_of: Callable[[int], Value],
    width: int,
    column_step: Value | int,
    columns: Value,
    target: Value,
    scale: Value | None,
    kind: str,
) -> None:
    """Transpose rows, times a factor, to a panel with as many columns.

    Args:
        address_of: Returns the address of a row.
        width: How many vectors a row of the panel has.
        column_step: Bytes between two elements of a row.
    """
    step = width * lanes() * FLOAT
    itemsize = {"float32": 4, "bool": 1}.get(kind, 2)
    step_is_one = code.within(code.difference(column_step, itemsize), code.number(1))
    full = code.select(step_is_one, full_vectors(code, columns), 0)
    for group in range(width):
        lines = [address_of(group * lanes() + i) for i in range(lanes())]
        side = group * lanes() * FLOAT
        with code.loop(0, full, lanes()) as column:
            offset = code.product(column, column_step)
            loaded = [code.load_converted(code.sum(line, offset), kind) for line in lines]
            for i, vector in enumerate(code.transpose(loaded)):
                at = code.sum(target, code.product(code.sum(column, i), step), side)
                code.store(vector if scale is None else code.multiply(vector, scale), at)
        with code.loop(full, columns) as column:
            offset = code.product(column, column_step)
            for i, line in enumerate(lines):
                number = code.element(code.sum(line, offset), kind)
                if scale is not None:
                    number = code.float_product(number, code.first(scale))
                at = code.sum(target, code.product(column, step), side + i * FLOAT)
                code.store_float(number, at)


def scatter(
    code: Assembler, panel: Value, columns: Value, target: Matrix, rows: Value, kind: str
) -> None:
    """Transpose a panel to rows of another array.

    Args:
        columns: Extent of the rows, which is the panel's number of rows.
        target: The other array, with contiguous rows.
        rows: Number of its rows, at most the panel's width.
    """
    step = row_nbytes()
    full = full_vectors(code, columns)
    for group in range(vectors()):
        side = group * lanes()
        source = code.sum(panel, side * FLOAT)
        with code.loop(0, full, lanes()) as column:
            loaded = [
                code.load(code.sum(source, code.product(code.sum(column, i), step)))
                for i in range(lanes())
            ]
            offset = code.product(column, target.column)
            for i, vector in enumerate(code.transpose(loaded)):
                with code.when(code.less(side + i, rows)):
                    at = code.sum(target.at, code.product(target.row, side + i), offset)
                    code.store_converted(vector, at, kind)
    with code.loop(full, columns) as column:
        source = code.sum(panel, code.product(column, step))
        offset = code.product(column, target.column)
        with code.loop(0, rows) as row:
            number = code.element(code.sum(source, code.product(row, FLOAT)), "float32")
            at = code.sum(target.at, code.product(row, target.row), offset)
            code.store_element(number, at, kind)


def convert_rows(
    code: Assembler,
    source: Matrix,
    rows: Value,
    columns: Value,
    target: Matrix,
    kind: str,
    scale: Value | None = None,
) -> None:
    """Copy rows of an array, times a factor, to float32."""
    itemsize = {"float32": 4}.get(kind, 2)
    full = full_vectors(code, columns)
    with code.loop(0, rows) as row:
        before = code.sum(source.at, code.product(row, source.row))
        after = code.sum(target.at, code.product(row, target.row))
        with code.loop(0, full, lanes()) as column:
            vector = code.load_converted(code.sum(before, code.product(column, itemsize)), kind)
            vector = vector if scale is None else code.multiply(vector, scale)
            code.store(vector, code.sum(after, code.product(column, FLOAT)))
        with code.loop(full, columns) as column:
            number = code.element(code.sum(before, code.product(column, itemsize)), kind)
            if scale is not None:
                number = code.float_product(number, code.first(scale))
            code.store_float(number, code.sum(after, code.product(column, FLOAT)))


class Tile:
    """Some queries of a head of a sample."""

    def __init__(self, code: Assembler, sample: Value, head: Value, first: Value) -> None:
        params = code.params
        self._code = code
        self.sample, self.head, self.first = sample, head, first
        self.shared_head, _ = code.divide(head, params["group"])
        self.job = code.sum(code.product(sample, params["heads"]), head)
        self.rows = code.least(code.difference(params["queries"], first), code.number(tile_size()))
        width = code.number(panel_width())
        self.panels, _ = code.divide(code.sum(self.rows, panel_width() - 1), width)

    def start(self, name: str, *, shared: bool = False) -> Value:
        """Return the address of the sample's and head's part of an array.

        Args:
            name: Prefix of the array's params.
            shared: Whether the head is that of keys and values.
        """
        code, params = self._code, self._code.params
        return code.sum(
            params[f"{name}_at"],
            code.product(self.sample, params[f"{name}_n"]),
            code.product(self.shared_head if shared else self.head, params[f"{name}_h"]),
        )

    def rows_of(self, name: str, kind: str, *, shared: bool = False) -> Matrix:
        """Return the rows of an array (T, C) of the sample and head, with contiguous columns."""
        itemsize = 4 if kind == "float32" else 2
        return Matrix(self.start(name, shared=shared), self._code.params[f"{name}_t"], itemsize)

    def first_of(self, panel: Value) -> Value:
        """Return the first query of a panel."""
        code = self._code
        return code.sum(self.first, code.product(panel, panel_width()))

    def keys_in_reach(self, variant: Variant) -> tuple[Value, Value]:
        """Return the first key that a query of the tile may attend to, and the end of these."""
        code, params = self._code, self._code.params
        stop = params["keys"]
        if variant.lengths:
            row = params["batch"] if variant.pairs else 0
            stop = code.greatest(code.least(stop, self._length(row, variant)), 0)
        if variant.pairs:
            stop = code.select(code.less(self.first, self.length(variant)), stop, 0)
        shifted = code.sum(self.first, params["shift"])
        end = code.sum(shifted, self.rows, params["right"])
        start = code.greatest(code.difference(shifted, params["left"]), 0)
        if variant.dropout:  # blocks of random numbers have four keys
            start = code.product(code.divide(start, code.number(4))[0], 4)
        return start, code.least(stop, end)

    def length(self, variant: Variant) -> Value:
        """Return the sample's number of queries, where there are pairs of lengths."""
        return self._length(0, variant)

    def _length(self, row: Value | int, variant: Variant) -> Value:
        """Return the sample's number in the lengths from one on."""
        code, itemsize = self._code, int(variant.lengths[-2:]) // 8
        offset = code.product(code.sum(row, self.sample), itemsize)
        return code.load_number(code.sum(code.params["lengths_at"], offset), variant.lengths)

    def keys_of_panel(self, panel: Value, key: Value, count: Value) -> Value:
        """Return how many keys of a block a panel's queries may attend to."""
        code, params = self._code, self._code.params
        last = code.sum(self.first_of(panel), params["shift"], params["right"], panel_width())
        return code.greatest(code.least(count, code.difference(last, key)), 0)


class Copies(NamedTuple):
    """Memory on the stack for what is not read in place.

    Attributes:
        mask: A panel of the mask of a block; None without one.
        keys: Converted keys of a block; None if they need no conversion.
        values: The same for values.
    """

    mask: Value | None
    keys: Value | None
    values: Value | None

    @classmethod
    def reserve(cls, code: Assembler, variant: Variant) -> "Copies":
        """Reserve the memory that a variant needs."""
        keys = values = None
        if variant.itemsize != FLOAT:
            keys, values = (
                code.reserve(code.product(code.params[name], BLOCK * FLOAT))
                for name in ("width", "value_width")
            )
        mask = code.reserve(code.number(BLOCK * row_nbytes())) if variant.mask else None
        return cls(mask, keys, values)


def panel_at(code: Assembler, at: Value, panel: Value, rows: Value) -> Value:
    """Return the address of one of several panels of some rows."""
    return code.sum(at, code.product(panel, rows, row_nbytes()))


class Scores:
    """Scores of a panel of queries and a block of keys, and what changes them.

    Args:
        at: Address of the panel of scores.
        mask: Address of the memory for a panel of the mask.
    """

    def __init__(self, code: Assembler, variant: Variant, at: Value, mask: Value | None) -> None:
        self._code = code
        self._variant = variant
        self.at = at
        self._mask = mask

    def line(self, row: Value) -> Value:
        """Return the address of a key's scores."""
        return self._code.sum(self.at, self._code.product(row, row_nbytes()))

    def cap(self, count: Value, slopes: Value | None = None) -> None:
        """Limit the scores; store the derivatives in another panel if it is given."""
        code = self._code
        if not self._variant.capped:
            return
        cap = code.number_of_bits(code.params["cap"])
        inverse = code.divide_vectors(code.constant(1), cap)
        with code.loop(0, count) as row:
            at = self.line(row)
            tangents = [
                code.function("tanh", code.multiply(x, inverse)) for x in load_row(code, at)
            ]
            store_row(code, [code.multiply(x, cap) for x in tangents], at)
            if slopes is not None:
                line = code.sum(slopes, code.product(row, row_nbytes()))
                one = code.constant(1)
                store_row(code, [code.subtract(one, code.multiply(x, x)) for x in tangents], line)

    def hide(self, tile: Tile, panel: Value, key: Value, count: Value) -> None:
        """Add the mask, and set the scores of hidden keys to minus infinity."""
        if self._variant.mask:
            self._add_mask(tile, panel, key, count)
        self._cut(tile.first_of(panel), key, count)
        if self._variant.pairs:
            self._cut_queries(tile.first_of(panel), tile.length(self._variant), count)

    def _add_mask(self, tile: Tile, panel: Value, key: Value, count: Value) -> None:
        code, params, kind = self._code, self._code.params, self._variant.mask
        rows = Matrix(
            code.sum(tile.start("mask"), code.product(key, params["mask_s"])),
            params["mask_t"],
            params["mask_s"],
        )
        # A mask for all queries is read as one row, and panels of it need no transposition.
        shared = code.less(params["mask_t"], 1)
        is_flag = kind == "bool"
        factor = None if is_flag else code.constant(LOG2_E)
        last = code.difference(params["queries"], 1)
        with code.when(code.unless(shared)):
            gather(code, rows, tile.first_of(panel), last, count, self._mask, factor, kind)
        with code.loop(0, count) as row:
            line = code.sum(self._mask, code.product(row, row_nbytes()))
            with code.when(shared):
                at = code.sum(rows.at, code.product(row, rows.column))
                x = code.load_element(at, kind)
                x = x if factor is None else code.multiply(x, factor)
                store_row(code, [x] * vectors(), line)
            at = self.line(row)
            made = []
            for score, x in zip(load_row(code, at), load_row(code, line), strict=True):
                if is_flag:
                    hidden = code.is_equal(x, code.zeros())
                    made.append(code.where(hidden, code.constant(float("-inf")), score))
                else:
                    made.append(code.add(score, x))
            store_row(code, made, at)

    def _cut(self, first: Value, key: Value, count: Value) -> None:
        """Hide keys outside of the band that a query may attend to."""
        code, params = self._code, self._code.params
        shifted = code.sum(first, params["shift"])
        last = code.sum(shifted, panel_width() - 1)
        end = code.sum(key, count)
        # The band of the first query ends first, and that of the last one begins last.
        inside = code.both(
            code.less(code.difference(end, 1), code.sum(shifted, params["right"], 1)),
            code.less(code.difference(last, params["left"]), code.sum(key, 1)),
        )
        with code.when(code.unless(inside)), code.loop(0, count) as row:
            number = code.sum(key, row)
            low = code.difference(number, params["right"])
            high = code.sum(number, params["left"])
            self._leave(shifted, low, high, row)

    def _cut_queries(self, first: Value, length: Value, count: Value) -> None:
        """Hide all keys from the queries after the last."""
        code = self._code
        is_cut = code.less(length, code.sum(first, panel_width()))
        with code.when(is_cut), code.loop(0, count) as row:
            self._leave(first, code.number(0), code.difference(length, 1), row)

    def _leave(self, first: Value, low: Value, high: Value, row: Value) -> None:
        """Hide a key from all queries but those with numbers between two."""
        code, made = self._code, []
        for i, x in enumerate(load_row(code, self.line(row))):
            query = code.lane_numbers(code.sum(first, i * lanes()))
            hidden = code.constant(float("-inf"))
            made.append(code.where(code.between(query, low, high), x, hidden))
        store_row(code, made, self.line(row))

    def drop(self, tile: Tile, panel: Value, key: Value, count: Value) -> None:
        """Multiply weights by the factors of the dropout."""
        code, params = self._code, self._code.params
        kind = self._variant.dropout
        if not kind:
            return
        share = code.number_of_bits(params["p"])
        factor = code.number_of_bits(params["factor"])
        query = code.sum(code.product(tile.job, params["queries"]), tile.first_of(panel))
        step = 4 if kind == "aligned" else 1
        with code.loop(0, count, step) as row:
            for i in range(vectors()):
                first = code.sum(
                    code.product(code.sum(query, i * lanes()), params["keys"]), key, row
                )
                index = code.wide_lanes(first, params["keys"])
                blocks = code.shifted_right(index, 2)
                words = code.philox(blocks, params["seed"], params["offset"])
                if step == 1:
                    chosen = words[0]
                    for n in range(1, 4):
                        chosen = code.where(code.has_low_bits(index, n), words[n], chosen)
                    words = [chosen]
                for n, word in enumerate(words):
                    keep = code.where(code.is_less(word, share), code.zeros(), factor)
                    offset = code.sum(
                        code.product(code.sum(row, n), row_nbytes()), i * lanes() * FLOAT
                    )
                    at = code.sum(self.at, offset)
                    code.store(code.multiply(code.load(at), keep), at)


def block_rows(
    code: Assembler,
    tile: Tile,
    name: str,
    key: Value,
    count: Value,
    copy: Value | None,
    variant: Variant,
) -> Matrix:
    """Return the keys or values of a block as float32, with contiguous columns.

    Args:
        name: "k" or "v".
        copy: Address of memory for converted rows; None for float32.
    """
    params = code.params
    rows = tile.rows_of(name, variant.kind, shared=True)
    rows = rows._replace(at=code.sum(rows.at, code.product(key, rows.row)))
    if copy is None:
        return rows
    columns = params["width" if name == "k" else "value_width"]
    target = Matrix(copy, code.product(columns, FLOAT), FLOAT)
    convert_rows(code, rows, count, columns, target, variant.kind)
    return target
