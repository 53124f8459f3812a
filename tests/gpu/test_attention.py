"""Attention by cuDNN on a real device: each way of writing it gives what its operators give."""

import pytest

from tests.kernels.cupy.attention_forms import CASES, check_form

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_form_is_that_of_its_operators(name: str, dtype: str) -> None:
    check_form(name, dtype, steps=2)
