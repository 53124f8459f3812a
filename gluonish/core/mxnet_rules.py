"""The switch between the behaviour of MXNet 1.9 and that of 2.0, where they conflict.

Under ``import gluonish`` the 2.0 behaviour applies where it does not break 1.9 programs. Under the
name ``mxnet`` the behaviour of one version applies everywhere: that of 1.9 with
`gluonish.as_mxnet`, that of 2.0 with `gluonish.as_mxnet2`. `DIFFERENCES` lists every use of
`follows_mxnet` and `follows_mxnet1`, `DIFFERENCES2` every use of `follows_mxnet2`.
"""

from enum import IntEnum
from typing import NamedTuple

from gluonish.core.mode_reads import mode_reads

VERSION = "1.9.1"  # the emulated versions
VERSION2 = "2.0.0"


class Rules(IntEnum):
    """Whose behaviour applies."""

    GLUONISH = 0
    MXNET1 = 1
    MXNET2 = 2


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
    Difference(
        "an `np` array of integers and a Python float, as in `x + 1.5`",
        "have the array's dtype: 1.5 counts as 1",
        "have float64, as in NumPy",
    ),
    Difference(
        "`nd` arrays as arguments of functions and operators of `mx.np`",
        "are refused",
        "are taken, and share their memory",
    ),
    Difference(
        "`np.sin`, `np.sqrt` and their kin of an `np` array of integers",
        "have the array's dtype, and lose their fractions",
        "are float16 for types of 8 bits and bool, else float32",
    ),
    Difference(
        "`np.full` of an int, and `np.indices`",
        "are float32, and int32",
        "are int64, as in NumPy",
    ),
    Difference(
        "`np` arrays of int8 and uint8, as in `x + y`",
        "give int32",
        "give int16, as in NumPy",
    ),
    Difference(
        "`np.histogram` and `np.linalg.slogdet`",
        "return a list",
        "return a tuple, as in NumPy",
    ),
    Difference(
        "`np.std`, `np.var` and `np.average` of integers",
        "are integers, rounded down",
        "are float32",
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
        "`DataLoader` with samples that are named tuples",
        "gives lists as batches",
        "gives named tuples of their class",
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
    Difference(
        "a Parameter set as an attribute that holds another one",
        "is refused",
        "replaces it: `b.weight = a.weight` shares the weight, as in 2.0",
    ),
    Difference("a misspelt option of `hybridize`", "is ignored, by the rules of 1.9", "is refused"),
    Difference("`multiprocessing.pool`", "is loaded with the package", "is loaded by who needs it"),
)

# What is otherwise with `gluonish.as_mxnet2`. Where `DIFFERENCES` is about leniency, it applies,
# too.
DIFFERENCES2 = (
    Difference("`__version__`", f'"{VERSION2}"', "gluonish's own"),
    Difference(
        "keys of `Block.collect_params()`",
        "are attribute paths, `body.0.weight`; the result is a dict",
        "are full names, `net0_dense0_weight`; paths are found, too",
    ),
    Difference(
        "names of parameters in files of `HybridBlock.export`",
        "are attribute paths",
        "are full names",
    ),
    Difference(
        "`KLDivLoss`, `PoissonNLLLoss` and `CosineEmbeddingLoss` of a batch of N",
        "average over all axes but the first: N values",
        "sum so, average over all elements, and return (N, 1), as in 1.9",
    ),
    Difference(
        "`gamma` and `beta` of `nn.GroupNorm` without `in_channels`",
        "have one entry for each channel",
        "have one entry for each group, as in 1.9",
    ),
    Difference(
        "learning rates of SGD, NAG, DCASGD, LARS, SGLD and FTML that are not given",
        "are 0.1, that of FTML 0.0025",
        "are 0.01, as in 1.9",
    ),
    Difference(
        "`NAG`",
        "has a momentum of 0.9 by default, and decays with the old weight",
        "has none by default, and decays its momentum with the new weight, as in 1.9",
    ),
    Difference(
        "names of parameters of a SymbolBlock in files of `save_parameters`",
        "are whole",
        "lack the text with which all of them begin, as in 1.9",
    ),
    Difference(
        "numbers from functions of `np` that NumPy computes, such as `np.interp(2.5, ...)`",
        "are `np` arrays of no axes",
        "are numbers, as in NumPy",
    ),
    Difference(
        "a single element of an `nd` array, and `nd.linalg.det` of one matrix, after `npx.set_np`",
        "have shape ()",
        "have shape (1,)",
    ),
    Difference(
        "a bias of `npx.fully_connected` without `no_bias=False`",
        "is ignored: `no_bias` is True by default",
        "is added",
    ),
    Difference(
        "the `repr` of a transposed convolution",
        "names input channels before output channels",
        "names output channels before input channels, as in 1.9",
    ),
    Difference(
        "`func` of `begin_state`, if it is none of `nd` or `sym`",
        "gets shape, dtype and device",
        "gets shape, layout and name, as in 1.9",
    ),
    Difference(
        "`gluon.utils.clip_global_norm`",
        "returns a `float`",
        "returns a `numpy.float32`, as in 1.9",
    ),
    Difference(
        "batches of `CSVIter`, `ImageRecordIter` and the other iterators of files",
        "are `np` arrays after `npx.set_np`",
        "are `nd` arrays",
    ),
    Difference(
        "`attach_grad` and `mark_variables` of a recorded `nd` array",
        "keep it in the graph: the gradient goes on to what it was computed from",
        "cut it from the graph; `np` arrays are kept",
    ),
    Difference(
        "`np.array` and `np.asarray` of a NumPy array, without a dtype",
        "are float32, unless `npx.set_np(dtype=True)`",
        "have its dtype",
    ),
    Difference(
        "`np.asarray` of an int",
        "is int64",
        "is float32, as `np.array` of it",
    ),
    Difference(
        "`np.mean` without a dtype",
        "is float32, or float64 with `npx.set_np(dtype=True)`",
        "has the array's dtype; that of integers is float32",
    ),
    Difference(
        "`x.sort()` of an `np` array",
        "returns a sorted copy",
        "is refused, as NumPy's sorts in place",
    ),
    Difference(
        "weight decay of parameters whose names end neither in `_weight` nor in `_gamma`",
        "applies, where names come by `param_idx2name`",
        "is 0, as in 1.9; a Trainer's parameters decay by their own `wd_mult`",
    ),
    Difference(
        "formulas and defaults of AdaGrad, AdaDelta, RMSProp, Adamax, DCASGD, GroupAdaGrad and "
        "LARS; clipping in Adam, Nadam, FTML and RMSProp",
        "are those of 2.0, which clips before it adds weight decay; see each class",
        "are those of 1.9",
    ),
    Difference(
        "positional arguments of optimizers",
        "begin with `learning_rate`: `SGD(0.1, 0.9)`",
        "have the order of 1.9: `SGD(0.9)` is the momentum",
    ),
    Difference(
        "a scheduler's `base_lr` in SGD, AdaGrad, ... without `learning_rate`",
        "becomes the optimizer's default rate, with a printed notice",
        "stays",
    ),
    Difference(
        "a user's optimizer that defines `update`",
        "gets lists, of `aggregate_num` weights at most",
        "gets one weight at a time",
    ),
    Difference(
        "`Parameter.name`",
        "is the name without the prefix of its Block, `weight`",
        "is the full name, `net0_dense0_weight`",
    ),
    Difference(
        "`Block.name` and `prefix`",
        "may be set, as attributes that 2.0 lacks",
        "are read-only",
    ),
    Difference(
        "outputs in tuples of a hybridized block that defines `forward`",
        "come in lists; dicts, numbers and texts among them are refused",
        "come as `forward` returns them",
    ),
    Difference(
        "parameters of `rnn.RNN`, `LSTM` and `GRU`",
        "are one vector, `rnn_param`; `unfuse` is refused",
        "are separate weights and biases; files of both forms are read",
    ),
    Difference(
        "outputs in a tuple or list of a layer in `nn.Sequential` and `HybridSequential`",
        "are separate inputs of the next layer",
        "are one input",
    ),
    Difference(
        "`nn.HybridLambda(function)`",
        "calls `function(x)`; names are those of `np` and `npx`",
        "calls `function(F, x)`; names are those of `nd` and `sym`",
    ),
)

_rules = Rules.GLUONISH


def current_rules() -> Rules:
    """Return whose behaviour applies."""
    mode_reads()
    return _rules


def follows_mxnet() -> bool:
    """Return whether the behaviour of MXNet, 1.9 or 2.0, applies everywhere."""
    mode_reads()
    return _rules != Rules.GLUONISH


def follows_mxnet1() -> bool:
    """Return whether the behaviour of MXNet 1.9 applies everywhere."""
    mode_reads()
    return _rules == Rules.MXNET1


def follows_mxnet2() -> bool:
    """Return whether the behaviour of MXNet 2.0 applies everywhere."""
    mode_reads()
    return _rules == Rules.MXNET2


def follow_mxnet(rules: int = Rules.MXNET1) -> Rules:
    """Set whose behaviour applies; return the previous setting.

    Blocks keep their existing graphs: switch before the first call.

    Args:
        rules: One of `Rules`; True for MXNet 1.9, False for gluonish.
    """
    global _rules
    before, _rules = _rules, Rules(rules)
    return before
