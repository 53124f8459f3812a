"""The switch between the behaviour of MXNet 1.9 and that of 2.0, where they conflict.

Under ``import gluonish`` the 2.0 behaviour applies where it does not break 1.9 programs. Under the
name ``mxnet`` (`gluonish.as_mxnet`) the 1.9 behaviour applies everywhere. `DIFFERENCES` lists every
use of `follows_mxnet`.
"""

from typing import NamedTuple

VERSION = "1.9.1"  # the emulated version


class Difference(NamedTuple):
    """A behaviour that the switch changes.

    Attributes:
        what: The subject.
        mxnet: Behaviour under the name ``mxnet``.
        gluonish: Behaviour under the name ``gluonish``.
    """

    what: str
    mxnet: str
    gluonish: str


DIFFERENCES = (
    Difference(
        "a hybridized block that overrides `forward`",
        "runs `forward` as Python at every call; blocks in it run as graphs of their own",
        "is traced: `forward` runs once for each kind of call, then its graph",
    ),
    Difference(
        "a block that overrides `forward`, inside a hybridized one with `hybrid_forward`",
        "gets Symbols",
        "gets arrays without values, of known shape and dtype",
    ),
    Difference(
        "outputs that `hybrid_forward` returns in tuples, where the block is hybridized",
        "come in lists",
        "come in tuples, as they do imperatively",
    ),
    Difference(
        "arrays of different shapes in `elemwise_add` and its kin, which `+` of Symbols is",
        "are refused",
        "broadcast",
    ),
    Difference(
        "the gradient of `linalg.det` at a singular matrix", "is 0", "is the matrix of cofactors"
    ),
    Difference(
        "`arange_like` and `ravel_multi_index` beyond the whole numbers of their dtype",
        "round or repeat some in silence, as `arange` and `linspace` do",
        "are refused; `arange` and `linspace` warn",
    ),
    Difference(
        "indices of `Embedding` outside the table",
        "read the first or the last row",
        "are refused on CPUs, and read the first or the last row on GPUs",
    ),
    Difference("`np.mean` of an array without elements", "is 0", "is NaN, as in NumPy"),
    Difference(
        "a `sample_weight` of one axis for a loss of several",
        "broadcasts to the last axis, so that samples may get each other's weights",
        "is one weight for each sample",
    ),
    Difference(
        "an attribute, no Block or Parameter, that is set after a hybridized block has read it",
        "keeps its old value in the graph",
        "is read anew at the next call",
    ),
    Difference(
        "`npx.set_np`, `set_np_shape`, `set_np_array`",
        "hold in the thread that calls them",
        "hold in all threads",
    ),
    Difference(
        "the result of a comparison of `nd` arrays as a key of an array of its shape",
        "holds positions along the first axis, 0 and 1",
        "is a mask: `x[x == 0] = v`",
    ),
    Difference("`__version__`", f'"{VERSION}"', "gluonish's own"),
    Difference(
        "`F.__name__` in `hybrid_forward`", "begins with `mxnet.`", "begins with `gluonish.`"
    ),
    Difference(
        "modules that MXNet's files import, such as `metric.ndarray`",
        "are attributes of its modules",
        "are where they are",
    ),
    Difference(
        "`DataLoader` with `num_workers` or `prefetch` below 0, text `prefetch`, `batch_size` True",
        "takes 0, the text's number, and 1",
        "is refused",
    ),
    Difference(
        "counts of updates after `Module.load_optimizer_states`",
        "begin at 0; programs shorten their schedules",
        "go on from where the file was written",
    ),
    Difference("a learning rate that is NaN, infinite or negative", "is taken", "is refused"),
    Difference(
        "`x[0]`, `x[0:1]`, `len(x)` and iteration over a Symbol of one output in `hybrid_forward`",
        "mean its outputs, where imperatively they mean rows",
        "are refused",
    ),
    Difference("a misspelt option of `hybridize`", "is ignored", "is refused"),
    Difference("`multiprocessing.pool`", "is loaded with the package", "is loaded by who needs it"),
)

_follows = False


def follows_mxnet() -> bool:
    """Return whether the behaviour of MXNet 1.9 applies everywhere."""
    return _follows


def follow_mxnet(active: bool = True) -> bool:
    """Switch the behaviour of MXNet 1.9 on or off; return the previous setting.

    Blocks keep their existing graphs: switch before the first call.
    """
    global _follows
    before, _follows = _follows, bool(active)
    return before
