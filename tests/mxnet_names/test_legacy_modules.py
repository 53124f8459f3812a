"""Small modules of MXNet that old programs import, and what they do here."""

import importlib
import multiprocessing.pool
from typing import Any

import numpy as np
import pytest

import gluonish as mx

# Its names are those of no document.
dataloader: Any = importlib.import_module("gluonish.gluon.data.dataloader")


@pytest.mark.parametrize(
    "name",
    [
        *("libinfo", "ndarray_doc", "symbol_doc", "numpy_op_signature", "_numpy_op_doc"),
        *("io.io", "ndarray.register", "symbol.register", "numpy_dispatch_protocol"),
        *("executor_manager", "notebook.callback", "kvstore.kvstore_server", "rnn.rnn_cell"),
    ],
)
def test_module_can_be_imported(name: str) -> None:
    assert importlib.import_module(f"gluonish.{name}").__doc__


def test_there_is_no_c_library_to_find() -> None:
    assert mx.libinfo.find_lib_path() == []
    assert mx.libinfo.__version__ == mx.__version__
    with pytest.raises(NotImplementedError, match="CustomOp"):
        mx.libinfo.find_include_path()
    with pytest.raises(OSError, match="tvmop"):
        mx.libinfo.find_conf_path()


def test_docstrings_are_built_with_what_classes_add() -> None:
    from gluonish import ndarray_doc  # type: ignore[attr-defined]

    class shiftDoc(ndarray_doc.NDArrayDoc):  # its name is the operator's
        """Example of shift."""

    text = ndarray_doc._build_doc("shift", "Shift it.", ["data"], ["NDArray"], ["What."])
    assert text.startswith("Shift it.\n\nParameters\n----------\ndata : NDArray\n    What.\n")
    assert text.endswith("\nExample of shift.")


def test_output_shapes_by_name() -> None:
    from gluonish.mxnet_names.symbol_doc import SymbolDoc

    dense = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    assert SymbolDoc.get_output_shape(dense, data=(2, 3)) == {"fc_output": (2, 3)}


def test_functions_of_operators_are_made_by_name() -> None:
    from gluonish.numpy_extension.nd_namespaces.np.register import (
        _make_ndarray_function,
        _verify_all_np_ndarrays,
    )
    from gluonish.symbol.register import _make_symbol_function, _verify_legacy_symbol

    assert _make_ndarray_function(None, "sqrt", "sqrt")(mx.nd.array([4])).asscalar() == 2
    with mx.name.NameManager():
        assert _make_symbol_function(None, "sqrt", "sqrt")(mx.sym.var("x")).name == "sqrt0"
    with pytest.raises(TypeError, match="as_np_ndarray"):
        _verify_all_np_ndarrays("op", "f", [mx.np.ones(1), mx.nd.ones(1)], None)
    with pytest.raises(TypeError, match="as_nd_ndarray"):
        _verify_legacy_symbol("op", "f", mx.sym.var("x").as_np_ndarray())


def test_functions_of_numpy_answer_by_the_protocols() -> None:
    from gluonish import numpy_dispatch_protocol as protocol  # type: ignore[attr-defined]

    @protocol.with_array_function_protocol  # type: ignore[untyped-decorator]
    def mean(x: Any) -> Any:
        return np.mean(x)

    assert type(mean(mx.np.ones(3))) is mx.np.ndarray
    assert "linalg.norm" in protocol._NUMPY_ARRAY_FUNCTION_LIST
    assert "true_divide" in protocol._NUMPY_ARRAY_UFUNC_LIST


def test_batches_of_a_pool_of_the_programs_own() -> None:
    data = mx.gluon.data.ArrayDataset(np.arange(6, dtype="float32"), np.arange(6) * 2)
    rows = [[0, 1], [4, 5], [2, 3]]
    with multiprocessing.pool.ThreadPool(2) as pool:
        batches = dataloader._MultiWorkerIter(
            pool,
            dataloader.default_batchify_fn,
            rows,
            worker_fn=dataloader._thread_worker_fn,
            prefetch=2,
            dataset=data,
        )
        assert len(batches) == 3
        found = [x.asnumpy().tolist() for x, _ in batches]
    assert found == rows


def test_batches_of_processes_come_pickled() -> None:
    data = mx.gluon.data.ArrayDataset(np.arange(6, dtype="float32"))
    dataloader._worker_initializer(data)
    with multiprocessing.pool.ThreadPool(1) as pool:  # as a process of the pool would
        batches = dataloader._MultiWorkerIter(
            pool, dataloader.default_mp_batchify_fn, [[1, 2], [5]], pin_memory=True
        )
        found = [x.asnumpy().tolist() for x in batches]
    assert found == [[1, 2], [5]]


def test_metrics_are_kept_in_tables_of_pandas() -> None:
    pytest.importorskip("pandas")
    logger = mx.notebook.callback.PandasLogger(batch_size=4, frequent=2)
    metric = mx.metric.create("acc")
    metric.update([mx.nd.array([1])], [mx.nd.array([[0, 1]])])
    for number in range(4):
        logger.train_cb(mx.model.BatchEndParam(0, number, metric, {}))
    logger.epoch_cb()
    assert list(logger.train_df["minibatch_count"]) == [0, 2]
    assert logger.train_df["accuracy"][0] == 1
    assert len(logger.epoch_df) == 1


def test_callbacks_of_several_objects_are_joined() -> None:
    class One:
        def callback_args(self) -> dict[str, Any]:
            return {"batch_end_callback": "b", "epoch_end_callback": "e"}

    class Two:
        def callback_args(self) -> dict[str, Any]:
            return {"batch_end_callback": "c"}

    found = mx.notebook.callback.args_wrapper(One(), Two())
    assert found == {"batch_end_callback": ["b", "c"], "epoch_end_callback": ["e"]}
    with pytest.raises(NotImplementedError, match="PandasLogger"):
        mx.notebook.callback.LiveLearningCurve("acc")


def test_loss_scaler_halves_on_overflow_and_doubles_later() -> None:
    from gluonish.contrib.amp.loss_scaler import LossScaler

    weight = mx.gluon.Parameter("w", shape=(2,))
    weight.initialize()
    scaler = LossScaler()
    weight.grad()[:] = float("inf")
    assert scaler.has_overflow([weight])
    weight.grad()[:] = 1
    assert not scaler.has_overflow([weight])
    assert scaler.loss_scale == 32768
    for _ in range(2000):
        scaler.has_overflow([weight])
    assert scaler.loss_scale == 65536


def test_nested_arguments_are_taken_apart_and_put_together() -> None:
    from gluonish.gluon import block, utils

    x = mx.nd.ones(1)
    nested = [x, [x, None, (x,)]]
    flat, form = block._flatten(nested, "input")  # type: ignore[attr-defined]
    assert form == [0, [0, -1, [0]]]
    assert len(flat) == 4
    assert block._regroup(flat, form) == [x, [x, None, [x]]]  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="input"):
        block._flatten([3], "input")  # type: ignore[attr-defined]
    assert block._gather_type_ctx_info([x, [x]]) == (False, True, {mx.cpu()}, mx.cpu())  # type: ignore[attr-defined]
    assert utils._indent("a\nb", 2) == "a\n  b"  # type: ignore[attr-defined]
    names = list("abcdefghijkl")
    assert utils._brief_print_list(names, 7) == "'a', 'b', 'c', ..., 'i', 'j', 'k', 'l'"  # type: ignore[attr-defined]
    assert utils._get_repo_file_url("ns", "f").endswith("/ns/f")


def test_index_is_completed_as_in_mxnet() -> None:
    expand = mx.nd.indexing_key_expand_implicit_axes
    whole = slice(None)
    assert expand((Ellipsis, 1), (2, 3, 4)) == ((whole, whole, 1), -1)
    assert expand((None, 1), (2, 3, 4)) == ((None, 1, whole, whole), -1)
    assert expand(True, (2, 3)) == ((whole, whole), 1)
    assert mx.nd.get_indexing_dispatch_code(([1, 2], 1)) == 1
    assert mx.nd.get_indexing_dispatch_code((None, 1, whole)) == 0
    with pytest.raises(ValueError, match="Ellipsis"):
        mx.nd.get_indexing_dispatch_code((Ellipsis,))
    assert mx.nd.get_oshape_of_gather_nd_op((2, 3, 4), (2, 5)) == (5, 4)


def test_sparse_arrays_tell_their_number_of_auxiliary_arrays() -> None:
    rows = mx.nd.sparse.row_sparse_array((np.ones((1, 2)), [0]), shape=(3, 2))
    matrix = mx.nd.sparse.csr_matrix(np.eye(2))
    assert (rows._num_aux, matrix._num_aux) == (1, 2)
    assert matrix._aux_types == [np.int64, np.int64]


def test_ways_to_resample_are_chosen_by_size() -> None:
    from gluonish.image.image import _get_interp_method

    assert _get_interp_method(1) == 1
    assert _get_interp_method(9) == 2
    assert _get_interp_method(9, (10, 10, 20, 20)) == 2
    assert _get_interp_method(9, (20, 20, 10, 10)) == 3
    assert _get_interp_method(9, (20, 20, 10, 30)) == 1
    with pytest.raises(ValueError, match="5"):
        _get_interp_method(5)
