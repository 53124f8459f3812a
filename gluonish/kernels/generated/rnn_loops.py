"""All time steps of a recurrent layer in one call, with AVX-512: products, gates and states.

The units and the rows of a state are divided into blocks. A thread packs the recurrent weights of
its blocks once, and computes the same blocks in all time steps, so that most of the packed weight
stays in its core's cache: every second step goes through the blocks in the reverse order, which
finds the latest ones there. Before a step, threads wait until all blocks of the step before are
done. A thread without blocks of its own takes those of others from the end, if they have two or
more left, or do not finish in time: so the loop ends in any number of threads, however they run.
Which thread computes a block does not change a bit. With AMX, see `rnn_products`, the weight is
packed before the loop.

For the layout of gates see `gluonish.ops.recurrent.layout`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache, partial
from typing import NamedTuple

from gluonish.kernels.compiler import CompiledKernel, compile_assembly
from gluonish.kernels.compiler.vector_code import Value, lanes
from gluonish.kernels.generated import (
    attention_panels,
    rnn_products,
    rnn_vectors,
    split_blocks,
)
from gluonish.kernels.generated.attention_panels import (
    FLOAT,
    Matrix,
    gather_rows,
    load_row,
    multiply,
    store_row,
)
from gluonish.kernels.generated.rnn_products import Products
from gluonish.kernels.generated.split_blocks import SplitAssembler
from gluonish.ops.recurrent.layout import GATES

ROWS = 32  # of a block
# Integers before those of the blocks: the number of blocks done, alone in a cache line, and one
# beside the first block's.
FLAGS = 9
_LANES = 16
_VECTOR = _LANES * FLOAT  # bytes
_INTEGER = 8  # bytes
_DEPTH = 64  # terms of a sum for which a part of a packed weight stays in the first cache
_PAUSES = 256  # until a thread takes the last blocks of another one; about 15 us
# Rows of a product that are computed together, by the vectors of a row.
_TOGETHER = {2: (12, 8, 4, 2, 1), 3: (8, 4, 2, 1), 4: (6, 4, 2, 1)}

# Steps of the time count elements of the first axis; all other steps count bytes.
_COMMON = (
    f"packed work steps batch units start stride threads yielding weight {rnn_products.PARAMS}"
)
FORWARD = f"{_COMMON} pre gates hidden cells hidden_first cells_first bias"
BACKWARD = (
    f"{_COMMON} gates hidden cells hidden_first cells_first dy dy_step dy_row dh dc products other "
    "sums"
)


def is_fast() -> bool:
    """Whether the processor has the vectors and registers that the code is for."""
    return lanes() == _LANES


class Form(NamedTuple):
    """What the code of a kernel depends on.

    Attributes:
        mode: The kind of the cells.
        backward: Whether it computes gradients.
        split: Whether AMX multiplies, by `rnn_products`.
    """

    mode: str
    backward: bool
    split: bool = False

    @property
    def gates(self) -> int:
        """The number of gates."""
        return GATES[self.mode]

    @property
    def unit_vectors(self) -> int:
        """The vectors of units of a block."""
        if self.backward or self.split:
            return 2
        return 4 if self.gates == 1 else 1

    @property
    def width(self) -> int:
        """The vectors of a row of a block's product."""
        return self.unit_vectors * (1 if self.backward else self.gates)

    @property
    def sums(self) -> int:
        """The sums of a unit that are gradients of biases."""
        return self.gates + (self.mode == "gru")

    def blocks(self, batch: int, units: int) -> int:
        """Return the number of blocks of a state."""
        return -(-units // (_LANES * self.unit_vectors)) * -(-batch // ROWS)

    def packed_nbytes(self, units: int) -> int:
        """Return the size of the packed weight."""
        inner = self.gates * units if self.backward else units
        return self.blocks(1, units) * inner * self.width * _VECTOR


class _Block(NamedTuple):
    """A part of a state: its number, the first unit and how many, the first row and how many."""

    panel: Value
    unit: Value
    units: Value
    row: Value
    rows: Value
    row_block: Value
    lanes: list[Value]


class _Loop(ABC):
    """Writes the code of a kernel."""

    def __init__(self, code: SplitAssembler, form: Form) -> None:
        self.code, self.form = code, form
        params = code.params
        self.batch, self.units, self.steps = params["batch"], params["units"], params["steps"]
        self.width, self.extent = form.width, form.unit_vectors * _LANES
        self.inner = code.product(self.units, form.gates if form.backward else 1)
        self.panels, _ = code.divide(
            code.sum(self.units, self.extent - 1), code.number(self.extent)
        )
        self.row_blocks, _ = code.divide(code.sum(self.batch, ROWS - 1), code.number(ROWS))
        self.blocks = code.product(self.panels, self.row_blocks)
        self.done = params["work"]
        self.claims = code.sum(params["work"], FLAGS * _INTEGER)
        self.tile = code.reserve(code.number(ROWS * self.width * _VECTOR))
        self.products = Products(
            code,
            form.gates,
            backward=form.backward,
            blocks=self.panels,
            row_blocks=self.row_blocks,
        )

    @property
    @abstractmethod
    def stages(self) -> Value:
        """The number of stages: packing, and the time steps."""

    def write(self) -> None:
        """Write the loop over stages."""
        code, threads = self.code, self.code.params["threads"]
        registers = code.registers() if self.form.split else nullcontext()
        with registers, code.loop(code.begin, code.end) as thread:
            first, _ = code.divide(code.product(thread, self.blocks), threads)
            end, _ = code.divide(code.product(code.sum(thread, 1), self.blocks), threads)
            with code.loop(0, self.stages) as stage:
                goal, yielding = code.product(stage, self.blocks), code.params["yielding"]
                is_running = None
                if self.form.split:
                    is_running = self.products.is_running(self.stages)
                    goal = code.select(is_running, goal, 0)
                code.wait_for(self.done, goal, yielding=yielding)
                turns: Value | int = 3
                if is_running is not None:
                    is_running = self.products.go_on(is_running, stage, self.stages)
                    turns = code.select(is_running, 3, 0)
                with code.loop(0, turns) as turn:
                    self._turn(stage, turn, first, end)

    def _turn(self, stage: Value, turn: Value, first: Value, end: Value) -> None:
        """Compute own blocks (0), blocks of slower threads (1), or all that are left (2)."""
        code = self.code
        goal = code.product(code.sum(stage, 1), self.blocks)
        with code.when(code.less(1, turn)):
            code.wait_for(self.done, goal, pauses=_PAUSES)
        is_own, is_patient = (
            code.less(turn, 1),
            code.within(code.difference(turn, 1), code.number(1)),
        )
        is_left = code.less(code.load_shared(self.done), goal)
        count = code.select(is_own, code.difference(end, first), self.blocks)
        is_odd = code.less(0, code.divide(stage, code.number(2))[1])
        beside = code.select(is_odd, _INTEGER, -_INTEGER)  # what the block's owner computes first
        with code.loop(0, code.select(is_left, count, 0)) as i:
            back = code.sum(code.difference(code.difference(first, 1), i), self.blocks)
            last = code.difference(code.difference(end, 1), i)
            up = code.select(is_own, code.sum(first, i), back)
            down = code.select(is_own, last, code.sum(end, i))
            _, block = code.divide(code.select(is_odd, down, up), self.blocks)
            claim = code.sum(self.claims, code.product(block, _INTEGER))
            # Of the blocks of a slower thread, the one that it computes next is left to it.
            is_next = code.both(
                is_patient, code.unless(self._is_free(code.sum(claim, beside), stage))
            )
            is_free = code.both(self._is_free(claim, stage), code.unless(is_next))
            with code.when(is_free), code.when(code.claim(claim, stage)):
                self._compute(stage, self._block(block))
                code.count(self.done)

    def _is_free(self, claim: Value, stage: Value) -> Value:
        return self.code.within(
            self.code.difference(self.code.load_shared(claim), stage), self.code.number(1)
        )

    def _block(self, number: Value) -> _Block:
        code = self.code
        panel, row_block = code.divide(number, self.row_blocks)
        unit, row = code.product(panel, self.extent), code.product(row_block, ROWS)
        units = code.least(code.difference(self.units, unit), code.number(self.extent))
        rows = code.least(code.difference(self.batch, row), code.number(ROWS))
        parts = [
            code.first_lanes(code.difference(units, i * _LANES))
            for i in range(self.form.unit_vectors)
        ]
        return _Block(panel, unit, units, row, rows, row_block, parts)

    def _compute(self, stage: Value, block: _Block) -> None:
        code = self.code
        at = code.product(block.panel, self.inner, self.width * _VECTOR)
        panel = code.sum(code.params["packed"], at)
        is_first = code.less(stage, 1)
        # A packed weight has no rows; a state has.
        packs = is_first if self.form.split else code.both(is_first, code.less(block.row, 1))
        with code.when(packs):
            self._pack(block, panel)
        with code.when(code.unless(is_first)):
            self._step(code.difference(stage, 1), block, panel)

    def _pack_state(
        self, step: Value | int, block: _Block, x: Value, columns: int, part: int = 0
    ) -> None:
        """Pack a block of the state that a step has computed, from rows of some units."""
        self.products.pack(
            self.code.sum(step, 1),
            block.panel,
            block.row_block,
            part,
            x=x,
            rows=block.rows,
            terms=block.units,
            step=self.code.product(self.units, columns * FLOAT),
        )

    @abstractmethod
    def _pack(self, block: _Block, panel: Value) -> None:
        """Copy the columns of the weight that a block's product reads, or pack the first state."""

    @abstractmethod
    def _step(self, step: Value, block: _Block, panel: Value) -> None:
        """Compute a block of a time step, of which ``step`` is the number in the kernel's order."""

    def _add_split(
        self, step: Value, block: _Block, lines: Callable[[Value], Sequence[Value]]
    ) -> None:
        """Add the product of the packed state before a step to the tile; see `_multiply`."""
        code = self.code

        def read(number: Value, products: Value) -> None:
            each, _ = code.divide(code.sum(products, ROWS - 1), products)  # rows
            start = code.product(number, each)
            with code.loop(start, code.least(block.rows, code.sum(start, each))) as row:
                for address in lines(row):
                    code.prefetch(address)

        tile = self.tile, self.width * _VECTOR
        self.products.add(code.sum(step, 1), block.panel, block.row_block, tile, read)

    def _multiply(
        self,
        left: Value,
        inner: Value,
        rows: Value,
        panel: Value,
        lines: Callable[[Value], Sequence[Value]],
    ) -> None:
        """Add the product of rows of ``self.inner`` elements and a packed weight to the tile.

        Args:
            lines: Returns the addresses of vectors that the cells read with a row. They are read
                into the cache during the product.
        """
        code = self.code
        row_step = code.product(self.inner, FLOAT)
        parts, _ = code.divide(code.sum(self.inner, _DEPTH - 1), code.number(_DEPTH))
        each, _ = code.divide(code.sum(parts, ROWS - 1), parts)  # rows during a part

        def line(row: Value) -> Value:
            return code.sum(self.tile, code.product(row, self.width * _VECTOR))

        with code.loop(0, inner, _DEPTH) as first:
            part, _ = code.divide(first, code.number(_DEPTH))
            start = code.product(part, each)
            with code.loop(start, code.least(rows, code.sum(start, each))) as row:
                for address in lines(row):
                    code.prefetch(address)
            depth = code.least(code.difference(inner, first), code.number(_DEPTH))
            right = code.sum(panel, code.product(first, self.width * _VECTOR))
            multiply(
                code,
                Matrix(code.sum(left, code.product(first, FLOAT)), row_step, FLOAT),
                rows,
                depth,
                Matrix(right, self.width * _VECTOR, FLOAT),
                lambda row: load_row(code, line(row), self.width),
                lambda row, sums: store_row(code, sums, line(row)),
                _TOGETHER[self.width],
                self.width,
            )

    def time(self, step: Value) -> Value:
        """Return the index along the first axis of a step, in the order of the forward pass."""
        return self.code.sum(
            self.code.params["start"], self.code.product(step, self.code.params["stride"])
        )

    def at(self, name: str, time: Value, row: Value, columns: int, column: Value) -> Value:
        """Return the address of an element of an array (T, N, columns H)."""
        code = self.code
        rows = code.sum(code.product(time, self.batch), row)
        index = code.sum(code.product(rows, self.units, columns), column)
        return code.sum(code.params[name], code.product(index, FLOAT))

    def earlier(self, name: str, step: Value) -> Value:
        """Return the address of a state before a step of the forward pass."""
        code = self.code
        zero = code.number(0)
        before = self.at(name, self.time(code.difference(step, 1)), zero, 1, zero)
        return code.select(code.less(step, 1), code.params[f"{name}_first"], before)

    def offset(self, row: Value, column: Value) -> Value:
        """Return the offset of an element of a state (N, H)."""
        code = self.code
        return code.product(code.sum(code.product(row, self.units), column), FLOAT)

    def gate(self, block: _Block, gate: int, vector: int) -> Value:
        """Return the column of a vector of a gate's units."""
        code = self.code
        return code.sum(code.product(self.units, gate), block.unit, vector * _LANES)


class _Forward(_Loop):
    @property
    def stages(self) -> Value:
        """The number of stages."""
        return self.code.sum(self.steps, 1)

    def _pack(self, block: _Block, panel: Value) -> None:
        code, weight = self.code, self.code.params["weight"]
        if self.form.split:
            first = self.offset(block.row, block.unit)
            self._pack_state(-1, block, code.sum(code.params["hidden_first"], first), 1)
            return
        step = code.product(self.units, FLOAT)
        last = code.difference(self.units, 1)
        vectors = self.form.unit_vectors

        def address_of(i: int) -> Value:
            gate, unit = divmod(i, vectors * _LANES)
            row = code.least(code.sum(block.unit, unit), last)
            row = code.sum(row, code.product(self.units, gate))
            return code.sum(weight, code.product(row, step))

        gather_rows(code, address_of, self.width, FLOAT, self.units, panel, None, "float32")

    def _step(self, step: Value, block: _Block, panel: Value) -> None:
        code, form, time = self.code, self.form, self.time(step)
        with code.loop(0, block.rows) as row:
            tile = code.sum(self.tile, code.product(row, self.width * _VECTOR))
            for i in range(self.width):
                gate, vector = divmod(i, form.unit_vectors)
                start = code.zeros()
                if form.mode == "gru":
                    at = code.product(self.gate(block, gate, vector), FLOAT)
                    at = code.sum(code.params["bias"], at)
                    start = code.load_where(at, block.lanes[vector])
                code.store(start, code.sum(tile, i * _VECTOR))
        before = self.earlier("hidden", step)
        cells = self.earlier("cells", step)
        left = code.sum(before, self.offset(block.row, code.number(0)))

        def lines(row: Value) -> list[Value]:
            row = code.sum(block.row, row)
            found = [self._pre(block, time, row, i) for i in range(self.width)]
            if form.mode == "lstm":
                found += [
                    code.sum(cells, self.offset(row, block.unit), i * _VECTOR)
                    for i in range(form.unit_vectors)
                ]
            return found

        if form.split:
            self._add_split(step, block, lines)
        else:
            self._multiply(left, self.inner, block.rows, panel, lines)
        with code.loop(0, block.rows) as row:
            tile = code.sum(self.tile, code.product(row, self.width * _VECTOR))
            sums = load_row(code, tile, self.width)
            for vector in range(form.unit_vectors):
                state = cells if form.mode == "lstm" else before
                self._cell(block, time, code.sum(block.row, row), vector, sums, state)
        if form.split:
            made = self.at("hidden", time, block.row, 1, block.unit)
            self._pack_state(step, block, made, 1)

    def _pre(self, block: _Block, time: Value, row: Value, index: int) -> Value:
        """Return the address of the input's products for a vector of a row of the tile."""
        gate, vector = divmod(index, self.form.unit_vectors)
        return self.at("pre", time, row, self.form.gates, self.gate(block, gate, vector))

    def _cell(
        self, block: _Block, time: Value, row: Value, vector: int, sums: list[Value], state: Value
    ) -> None:
        code, form, where = self.code, self.form, block.lanes[vector]
        column = self.gate(block, 0, vector)
        own, before = range(vector, self.width, form.unit_vectors), None
        pre = [code.load_where(self._pre(block, time, row, i), where) for i in own]
        if form.gates > 1:
            before = code.load_where(code.sum(state, self.offset(row, column)), where)
        made = rnn_vectors.forward(code, form.mode, [sums[i] for i in own], pre, before)
        for i, saved in enumerate(made.saved):
            at = self.at("gates", time, row, len(made.saved), self.gate(block, i, vector))
            code.store_where(saved, at, where)
        if made.cell is not None:
            code.store_where(made.cell, self.at("cells", time, row, 1, column), where)
        code.store_where(made.hidden, self.at("hidden", time, row, 1, column), where)


class _Backward(_Loop):
    @property
    def stages(self) -> Value:
        """The number of stages; the last one computes the gradient of the first state."""
        return self.code.sum(self.steps, 2)

    def _pack(self, block: _Block, panel: Value) -> None:
        code = self.code
        if self.form.split:  # the first product is that of the last step's gradients
            return
        with code.loop(0, self.inner) as row:
            target = code.sum(panel, code.product(row, self.width * _VECTOR))
            start = code.sum(code.params["weight"], self.offset(row, block.unit))
            for i, where in enumerate(block.lanes):
                vector = code.load_where(code.sum(start, i * _VECTOR), where)
                code.store(vector, code.sum(target, i * _VECTOR))

    def _step(self, step: Value, block: _Block, panel: Value) -> None:
        code, form = self.code, self.form
        forward = code.difference(code.difference(self.steps, 1), step)
        is_first = code.less(step, 1)
        dh = code.params["dh"]
        with code.loop(0, block.rows) as row:
            tile = code.sum(self.tile, code.product(row, self.width * _VECTOR))
            at = code.sum(dh, self.offset(code.sum(block.row, row), block.unit))
            for i, where in enumerate(block.lanes):
                vector = code.load_where(code.sum(at, i * _VECTOR), where)
                if form.mode != "gru":  # all of the gradient comes from the products
                    vector = code.where(self._all(is_first), vector, code.zeros())
                code.store(vector, code.sum(tile, i * _VECTOR))
        later = self.time(code.sum(forward, 1))
        name = "other" if form.mode == "gru" else "products"
        left = self.at(name, later, block.row, form.gates, code.number(0))
        terms = code.select(is_first, 0, self.inner)
        lines = partial(self._lines, block, forward)
        if form.split:
            with code.when(code.unless(is_first)):
                self._add_split(step, block, lines)
        else:
            self._multiply(left, terms, block.rows, panel, lines)
        is_last = code.less(forward, 0)
        with code.when(code.unless(is_last)):
            self._cells(block, forward)
            for gate in range(form.gates if form.split else 0):
                column = self.gate(block, gate, 0)
                made = self.at(name, self.time(forward), block.row, form.gates, column)
                self._pack_state(step, block, made, form.gates, gate)
        with code.when(is_last), code.loop(0, block.rows) as row:
            tile = code.sum(self.tile, code.product(row, self.width * _VECTOR))
            at = code.sum(dh, self.offset(code.sum(block.row, row), block.unit))
            for i, where in enumerate(block.lanes):
                vector = code.load(code.sum(tile, i * _VECTOR))
                code.store_where(vector, code.sum(at, i * _VECTOR), where)

    def _lines(self, block: _Block, forward: Value, row: Value) -> list[Value]:
        """Return the addresses of what the cells of a row read."""
        code, form = self.code, self.form
        time, row = self.time(forward), code.sum(block.row, row)
        found = [self._dy(time, row, block.unit)]
        if form.gates > 1:
            found += [self.at("gates", time, row, 4, self.gate(block, i, 0)) for i in range(4)]
        if form.mode == "lstm":
            found += [
                self.at("cells", x, row, 1, block.unit)
                for x in (time, self.time(code.difference(forward, 1)))
            ]
        return [code.sum(x, i * _VECTOR) for x in found for i in range(form.unit_vectors)]

    def _dy(self, time: Value, row: Value, column: Value) -> Value:
        """Return the address of the gradient of the output."""
        code, params = self.code, self.code.params
        steps = code.product(time, params["dy_step"]), code.product(row, params["dy_row"])
        return code.sum(params["dy"], *steps, code.product(column, FLOAT))

    def _all(self, condition: Value) -> Value:
        """Return all lanes if a condition holds, else none."""
        code = self.code
        return code.first_lanes(code.select(condition, _LANES, 0))

    def _cells(self, block: _Block, forward: Value) -> None:
        """Compute the gradients of the gates of a block, and add those of the biases."""
        code, form = self.code, self.form
        count = form.sums

        def add(row: Value, sums: list[Value]) -> list[Value]:
            tile = code.sum(self.tile, code.product(row, self.width * _VECTOR))
            made = []
            for i in range(form.unit_vectors):
                hidden = code.load(code.sum(tile, i * _VECTOR))
                found = self._cell(block, forward, code.sum(block.row, row), i, hidden)
                own = sums[i * count : (i + 1) * count]
                made += [code.add(x, y) for x, y in zip(own, found, strict=True)]
            return made

        zeros = [code.zeros()] * (count * form.unit_vectors)
        sums = code.fold(0, block.rows, 1, zeros, add)
        for i, total in enumerate(sums):
            vector, kind = divmod(i, count)
            rows = code.product(block.row_block, self.units, count)
            index = code.sum(rows, self.gate(block, kind, vector))
            at = code.sum(code.params["sums"], code.product(index, FLOAT))
            where = block.lanes[vector]
            code.store_where(code.add(code.load_where(at, where), total), at, where)

    def _cell(
        self, block: _Block, forward: Value, row: Value, vector: int, d_hidden: Value
    ) -> Sequence[Value]:
        """Compute the gradients of the gates of a vector of units; return the biases' shares."""
        code, form, params = self.code, self.form, self.code.params
        time, where = self.time(forward), block.lanes[vector]
        column = self.gate(block, 0, vector)
        state = self.offset(row, column)
        dy = self._dy(time, row, column)
        d_hidden = code.add(code.load_where(dy, where), d_hidden)
        saved = [
            code.load_where(self.at("gates", time, row, 4, self.gate(block, i, vector)), where)
            for i in range(4 if form.gates > 1 else 0)
        ]
        before = after = d_cell = None
        if form.mode == "lstm":
            before = self.earlier("cells", forward)
            after = code.load_where(self.at("cells", time, row, 1, column), where)
            d_cell = code.load_where(code.sum(params["dc"], state), where)
        elif form.mode == "gru":
            before = self.earlier("hidden", forward)
        else:
            after = code.load_where(self.at("hidden", time, row, 1, column), where)
        if before is not None:
            before = code.load_where(code.sum(before, state), where)
        made = rnn_vectors.backward(code, form.mode, saved, before, after, d_hidden, d_cell)
        for i, product in enumerate(made.products):
            at = self.at("products", time, row, form.gates, self.gate(block, i, vector))
            code.store_where(product, at, where)
        if made.other is None:
            if made.cell is not None:
                code.store_where(made.cell, code.sum(params["dc"], state), where)
            return made.products
        others = (*made.products[:2], made.other)
        for i, product in enumerate(others):
            at = self.at("other", time, row, form.gates, self.gate(block, i, vector))
            code.store_where(product, at, where)
        code.store_where(made.hidden, code.sum(params["dh"], state), where)
        return (*made.products, made.other)


_MODULES = tuple(
    module.__name__ for module in (attention_panels, rnn_vectors, rnn_products, split_blocks)
)


@lru_cache(16)
def kernel(form: Form) -> CompiledKernel:
    """Return the kernel of a form; its extent is the number of threads."""

    def text() -> str:
        code = SplitAssembler(BACKWARD if form.backward else FORWARD)
        (_Backward if form.backward else _Forward)(code, form).write()
        return code.finish()

    return compile_assembly(f"rnn loops {form}", text, __name__, *_MODULES)
