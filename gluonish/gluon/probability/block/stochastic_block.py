"""StochasticBlock and StochasticSequential: Blocks that collect losses in their forward pass."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Self, overload

from gluonish.core.errors import ArgumentError, OutOfBoundsError
from gluonish.gluon.block import Block, HybridBlock

__all__ = ["StochasticBlock", "StochasticSequential"]


class StochasticBlock(HybridBlock):
    """HybridBlock whose ``forward`` adds losses, such as the divergence of a variational layer.

    ``forward`` must be decorated by `collectLoss`; the losses of the last call are in `losses`::

        class Encoder(StochasticBlock):
            @StochasticBlock.collectLoss
            def forward(self, x):
                q = mgp.Normal(self.loc(x), np.exp(self.log_scale(x)))
                self.add_loss(mgp.kl_divergence(q, mgp.Normal(0.0, 1.0)))
                return q.sample()

    Args:
        **kwargs: Keywords of HybridBlock.
    """

    _untracked = HybridBlock._untracked | {"_losses", "_losscache"}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._losses: Any = []
        self._losscache: list[Any] = []

    def add_loss(self, loss: Any) -> None:
        """Add a loss; to be called in ``forward``.

        Args:
            loss: Array.
        """
        self._losscache.append(loss)

    @staticmethod
    def collectLoss(func: Callable[..., Any]) -> Callable[..., Any]:  # MXNet's name
        """Decorate ``forward`` so that it returns its losses, too, which a call takes off again.

        Args:
            func: The method.
        """

        @wraps(func)
        def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
            self._losscache = []
            try:
                out = func(self, *args, **kwargs)
                return out, self._losscache
            finally:
                self._losscache = []

        forward._collects_losses = True  # type: ignore[attr-defined]
        return forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs, and set `losses`.

        Args:
            *args: Arguments of ``forward``.
            **kwargs: Arguments by keyword.

        Raises:
            ArgumentError: ``forward`` is not decorated by `collectLoss`.
        """
        if not getattr(self.forward, "_collects_losses", False):
            raise ArgumentError(
                f"{type(self).__name__}: expected forward to be decorated by "
                "StochasticBlock.collectLoss, got a plain method"
            )
        out, self._losses = super().__call__(*args, **kwargs)
        return out

    @property
    def losses(self) -> Any:
        """The losses of the last call, in the order of `add_loss`."""
        return self._losses


class StochasticSequential(StochasticBlock):
    """Run HybridBlocks in sequence; `losses` has a list for each StochasticBlock among them.

    Args:
        **kwargs: Keywords of HybridBlock.

    Inputs:
        x: input of the first Block.

    Outputs:
        y: output of the last Block.
    """

    def add(self, *blocks: HybridBlock) -> None:
        """Append Blocks.

        Args:
            *blocks: HybridBlocks.

        Raises:
            ArgumentTypeError: One is no HybridBlock.
        """
        for block in blocks:
            self.register_child(block)

    @StochasticBlock.collectLoss
    def forward(self, x: Any, *args: Any) -> Any:
        """Run the Blocks in order, each on the outputs of the previous one.

        Args:
            x: Input of the first Block.
            *args: Further inputs of the first Block.
        """
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, tuple | list):
                x, args = x[0], tuple(x[1:])
            if isinstance(block, StochasticBlock):
                self.add_loss(block.losses)
        return (x, *args) if args else x

    def __repr__(self) -> str:
        lines = "\n".join(
            "  ({}): {}".format(name, repr(block).replace("\n", "\n  "))
            for name, block in self._children.items()
        )
        return f"{type(self).__name__}(\n{lines}\n)"

    @overload
    def __getitem__(self, key: int) -> Any: ...

    @overload
    def __getitem__(self, key: slice) -> Self: ...

    def __getitem__(self, key: int | slice) -> Any:
        """Return a Block, or a StochasticSequential of several.

        Args:
            key: Index or slice.

        Raises:
            OutOfBoundsError: There is no such Block.
        """
        try:
            found = list(self._children.values())[key]
        except IndexError:
            raise OutOfBoundsError(
                f"{type(self).__name__}: expected an index below {len(self)}, got {key}"
            ) from None
        if isinstance(found, Block):
            return found
        sliced = type(self)()
        sliced.add(*found)  # type: ignore[arg-type]  # all are HybridBlocks
        return sliced

    def __len__(self) -> int:
        return len(self._children)
