"""Products of recurrent loops by AMX, of three bfloat16 of each element; see `split_blocks`.

The recurrent weight is packed before the loop, each gate for itself. A block of a state is 32 rows
by 32 units, which is a packed block of the next step's product: the thread that has computed it
packs it, while it is in its first cache. Two states are kept, of odd and of even stages.

With each state, its largest magnitude is found. If the parts of a state are not exact, all threads
stop before the stage that would multiply it, and write the stage's number.
"""

from collections.abc import Callable
from typing import NamedTuple

from gluonish.kernels.compiler.vector_code import Value
from gluonish.kernels.generated.split_blocks import (
    BLOCK,
    FLOAT,
    HIGHEST,
    INTEGER,
    LOWEST,
    PACKING_NBYTES,
    SIDE,
    SplitAssembler,
    add_products,
    packed,
)
from gluonish.ops.kernel import Array

PARAMS = "state tops pack"
_VECTOR = SIDE // 2 * FLOAT  # bytes


class Layout(NamedTuple):
    """How packed weights and states lie in memory: blocks of units of gates.

    Args:
        gates: The number of gates.
        backward: Whether sums are over all gates.
        batch: The number of rows.
        units: The number of units.
    """

    gates: int
    backward: bool
    batch: int
    units: int

    @property
    def blocks(self) -> int:
        """The number of blocks of units."""
        return -(-self.units // SIDE)

    @property
    def weight_size(self) -> int:
        """Elements of float32 that the packed weight takes the memory of."""
        return self.gates * self.blocks**2 * BLOCK // FLOAT

    @property
    def state_size(self) -> int:
        """Elements of float32 that the packed states take the memory of."""
        count = self.blocks * -(-self.batch // SIDE) * (self.gates if self.backward else 1)
        return 2 * count * BLOCK // FLOAT

    def pack(self, memory: Array, weight: Array) -> list[int]:
        """Pack the weight of each gate; return the bits of their largest magnitudes."""
        size, tops = self.weight_size // self.gates, []
        for gate in range(self.gates):
            own = weight[gate * self.units : (gate + 1) * self.units]
            x = own.T if self.backward else own
            tops.append(packed(memory[gate * size : (gate + 1) * size], x, left=False))
        return tops


class Products:
    """Writes the products of a loop.

    Args:
        code: What writes the kernel.
        gates: The number of gates.
        backward: Whether sums are over all gates.
        blocks: The number of blocks of units.
        row_blocks: The number of blocks of rows.
    """

    def __init__(
        self, code: SplitAssembler, gates: int, *, backward: bool, blocks: Value, row_blocks: Value
    ) -> None:
        self.code, self.gates, self.backward = code, gates, backward
        self.blocks, self.row_blocks = blocks, row_blocks
        self.parts = gates if backward else 1  # of a state
        self.packing = code.reserve(code.number(PACKING_NBYTES))
        self.panel = code.product(blocks, BLOCK)  # bytes

    def is_running(self, stages: Value) -> Value:
        """Whether no thread has stopped."""
        return self.code.less(self.code.load_shared(self._top(stages)), 1)

    def go_on(self, is_running: Value, stage: Value, stages: Value) -> Value:
        """Stop before a stage if the parts of the state before it are not exact.

        Args:
            is_running: Whether no thread has stopped before.
            stage: The stage, after all blocks of the one before are done.
            stages: The number of stages.

        Returns:
            Whether this thread has not stopped.
        """
        code = self.code
        top = code.load_shared(self._top(code.greatest(code.difference(stage, 1), 0)))
        is_there = code.both(code.less(0, stage), code.less(0, top))  # zeros are exact
        top = code.select(is_there, top, LOWEST)
        is_exact = code.both(code.less(LOWEST - 1, top), code.less(top, HIGHEST))
        with code.when(code.both(is_running, code.unless(is_exact))):
            code.store_int64(stage, self._top(stages))
        return code.both(is_running, is_exact)

    def pack(
        self, stage: Value, block: Value, row_block: Value, part: int, **values: Value
    ) -> None:
        """Pack a block that was just computed.

        Args:
            stage: The stage that computes it.
            block: Number of the block of units.
            row_block: Number of the block of rows.
            part: The gate; 0 if there is one part.
            **values: The params ``x``, ``rows``, ``terms`` and ``step`` of the kernel that packs.
        """
        code = self.code
        state = code.sum(self._state(stage, row_block), code.product(self.panel, part))
        out = code.sum(state, code.product(block, BLOCK))
        code.invoke_packing(
            code.params["pack"],
            self.packing,
            code.number(1),
            out=out,
            top=self._top(stage),
            **values,
        )

    def add(
        self,
        stage: Value,
        block: Value,
        row_block: Value,
        tile: tuple[Value, int],
        read: Callable[[Value, Value], None],
    ) -> None:
        """Add the products of the state of the stage before to a tile.

        Args:
            stage: The stage.
            block: Number of the block of units.
            row_block: Number of the block of rows.
            tile: Address of the sums, and the bytes of a row.
            read: Called with the number of a block's product and how many there are.
        """
        code, (start, row) = self.code, tile
        state = self._state(code.difference(stage, 1), row_block)
        last = code.difference(self.panel, BLOCK)
        number = code.product(self.blocks, self.gates)
        with code.loop(0, self.gates) as gate:
            place = code.sum(code.product(gate, self.blocks), block)
            right = code.sum(code.params["packed"], code.product(place, self.panel))
            after = code.sum(right, code.product(self.blocks, self.panel))
            left, sums = state, start
            if self.backward:
                left = code.sum(state, code.product(gate, self.panel))
            else:
                sums = code.sum(start, code.product(gate, 2 * _VECTOR))
            for i in range(4):
                code.load_register(i, _quarter(code, sums, row, i), row)
            with code.loop(0, self.panel, BLOCK) as offset:
                k, _ = code.divide(offset, code.number(BLOCK))
                read(code.sum(code.product(gate, self.blocks), k), number)
                is_last = code.less(code.difference(last, 1), offset)
                following = code.sum(offset, BLOCK)
                next_left = code.sum(left, following)
                if not self.backward:
                    next_left = code.select(is_last, left, next_left)
                next_right = code.select(is_last, after, code.sum(right, following))
                places = code.sum(left, offset), code.sum(right, offset)
                add_products(code, places, (next_left, next_right))
            for i in range(4):
                code.store_register(i, _quarter(code, sums, row, i), row)

    def _top(self, stage: Value) -> Value:
        return self.code.sum(self.code.params["tops"], self.code.product(stage, INTEGER))

    def _state(self, stage: Value, row_block: Value) -> Value:
        """Return the address of rows of the state that a stage computes."""
        code = self.code
        _, odd = code.divide(stage, code.number(2))
        place = code.sum(code.product(odd, self.row_blocks), row_block)
        return code.sum(code.params["state"], code.product(place, self.panel, self.parts))


def _quarter(code: SplitAssembler, at: Value, row: int, number: int) -> Value:
    """Return the address of the part of a tile that a register holds."""
    return code.sum(at, number // 2 * SIDE // 2 * row + number % 2 * _VECTOR)
