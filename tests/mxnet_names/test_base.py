"""`mx.base`: what MXNet's programs import from it. Expectations are MXNet 1.9.1's."""

import array
import ctypes

import numpy as np
import pytest

import gluonish as mx
from gluonish import base
from gluonish.core import errors
from gluonish.core.class_property import ClassPropertyMeta


def test_kinds_of_values() -> None:
    assert base.string_types == (str,)
    assert isinstance(3, base.numeric_types)
    assert isinstance(np.float32(3), base.numeric_types)
    assert not isinstance("3", base.numeric_types)
    assert isinstance(np.int64(3), base.integer_types)
    assert not isinstance(3.0, base.integer_types)
    assert base.mx_real_t is np.float32


def test_text_of_c_functions_is_decoded_and_text_stays() -> None:
    assert base.py_str(b"caf\xc3\xa9") == "café"
    assert base.py_str("café") == "café"


def test_c_strings_and_arrays() -> None:
    assert base.c_str("café").value == "café".encode()
    assert list(base.c_str_array(["a", "b"])) == [b"a", b"b"]
    assert list(base.c_array(base.mx_uint, [1, 2])) == [1, 2]
    buffer = array.array("I", [1, 2])
    shared = base.c_array_buf(base.mx_uint, buffer)
    shared[0] = 7
    assert buffer[0] == 7


def test_c_memory_is_copied_or_shared() -> None:
    memory = (ctypes.c_float * 4)(1, 2, 3, 4)
    pointer = ctypes.cast(memory, ctypes.POINTER(ctypes.c_float))
    seen = base.ctypes2numpy_shared(pointer, (2, 2))
    memory[3] = 9
    np.testing.assert_array_equal(seen, [[1, 2], [3, 9]])
    text = ctypes.cast(ctypes.create_string_buffer(b"abcd"), ctypes.POINTER(ctypes.c_char))
    assert base.ctypes2buffer(text, 2) == b"ab"
    with pytest.raises(TypeError, match="expected a pointer to c_char"):
        base.ctypes2buffer(pointer, 2)  # a pointer to floats


def test_calling_the_c_library_says_what_to_call_instead() -> None:
    function = base._LIB.MXNDArrayGetShape  # type: ignore[attr-defined]
    with pytest.raises(NotImplementedError, match=r"use NDArray\.shape"):
        base.check_call(function(None))
    assert not hasattr(base._LIB, "printf")  # type: ignore[attr-defined]
    with pytest.raises(NotImplementedError, match="handle"):
        base.c_handle_array([mx.nd.ones(1)])


def test_arrays_are_copied_to_and_from_memory() -> None:
    x = mx.nd.array([[1, 2, 3], [4, 5, 6]]) * 2
    copy = np.zeros(6, np.float32)
    pointer = copy.ctypes.data_as(ctypes.c_void_p)
    base.check_call(base._LIB.MXNDArraySyncCopyToCPU(x.T.handle, pointer, ctypes.c_size_t(x.size)))  # type: ignore[attr-defined]
    assert copy.tolist() == [2, 8, 4, 10, 6, 12]
    base.check_call(base._LIB.MXNDArraySyncCopyFromCPU(x.handle, pointer, ctypes.c_size_t(6)))
    base.check_call(base._LIB.MXNDArrayWaitAll())
    assert x.asnumpy().tolist() == [[2, 8, 4], [10, 6, 12]]
    with pytest.raises(ValueError, match="expected size to be the number of elements, 6, got 5"):
        base._LIB.MXNDArraySyncCopyToCPU(x.handle, pointer, ctypes.c_size_t(5))


def test_results_of_c_functions_are_checked() -> None:
    base.check_call(0)
    with pytest.raises(mx.MXNetError, match="got 3"):
        base.check_call(3)


def test_lists_stay_and_other_things_become_one() -> None:
    assert base._as_list(1) == [1]
    assert base._as_list((1, 2)) == (1, 2)


def test_documentation_of_parameters() -> None:
    text = base.build_param_doc(["a", "b", "a"], ["int", "float, optional", "x"], ["first", "", ""])
    assert text == "Parameters\n----------\na : int\n    first\nb : float, optional\n"


def test_attribute_that_is_null_counts_as_left_out() -> None:
    x = mx.nd.array([[1, 2], [3, 5]])
    np.testing.assert_array_equal(mx.nd.sum(x, axis=base._Null).asnumpy(), [11])  # type: ignore[attr-defined]
    assert repr(base._Null) == "_Null"  # type: ignore[attr-defined]


def test_property_of_a_class_is_read_and_assigned_on_the_class() -> None:
    class Counter(metaclass=ClassPropertyMeta):
        _count = 3

        @base.classproperty
        def count(cls) -> int:
            return int(cls._count)  # type: ignore[attr-defined]  # `cls` is the class

        @count.setter  # type: ignore[no-redef]
        def count(cls, value: int) -> None:
            cls._count = value  # type: ignore[attr-defined]  # `cls` is the class

    assert Counter.count == 3
    Counter.count = 5  # type: ignore[assignment, method-assign]
    assert Counter._count == 5
    assert Counter().count == 5


def test_symbols_refuse_what_arrays_do_with_an_error_of_that_name() -> None:
    x = mx.sym.Variable("x")
    for refused in (lambda: bool(x), lambda: x.asnumpy(), lambda: x.backward(), lambda: 1 in x):  # type: ignore[operator]
        with pytest.raises(base.NotImplementedForSymbol) as caught:
            refused()
        assert isinstance(caught.value, mx.MXNetError)


def test_errors_can_be_made_as_in_mxnet() -> None:
    def foo() -> None: ...

    error = base.NotImplementedForSymbol(foo, "op", 2)
    assert str(error) == (
        "Function foo (namely operator \"op\") with arguments (<class 'int'>) is not implemented "
        "for Symbol and only available in NDArray."
    )
    assert "not supported for SparseNDArray" in str(base.NotSupportedForSparseNDArray(foo, None))


@pytest.mark.parametrize(
    "error", ["ArgumentError", "ArgumentTypeError", "FileFormatError", "DeviceError"]
)
def test_what_mxnet_asserts_is_an_assertion_error(error: str) -> None:
    assert issubclass(getattr(errors, error), AssertionError)
