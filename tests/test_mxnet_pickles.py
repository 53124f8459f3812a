"""Pickles that MXNet 1.9.1 wrote: Python's own ``pickle.load`` reads them under its names.

The texts are what ``pickle.dumps(value, 2)`` gave there.
"""

import base64
import pickle
from typing import Any

import numpy as np

from gluonish import cpu, nd
from gluonish.ndarray.sparse import BaseSparseNDArray

_PICKLES = {
    "nd": (
        "fC6J}cy48ME^cIDa&lpLE^cIDa&lpL3Qj~pa&lpL3UL5Vg>eB=aRPmD16T$C003xVZe(m_aRg&uUt)D>Y;<X"
        "EUtbDhd30rAa&lpL3ULKvUt@1%Wn*&+Wo~0{WMv9*23Rcs006^@!@9zg!?^$e00031000620000000031000"
        "000000000000!hk;j03bkd2UrFG003-ZbZKreaR`QS2~u$ig>ef~aSU@}E&"
    ),
    "np": (
        "fC6J}cy48ME^c*gaCr)DWMOi0VR;I108WK*0a9@SeQ^U=1^@s6Xkl(-Y-Mo-V_#olb!lvLX>MO%3SxP5Wnpr"
        "1VR;I11!G@hZ)9a-a|&f{V{c?-3ULNlGynhq!-"
        ">PX!jr?f000000ssI20RR91000000ssI2000000RR91000001ONa40RR910ssI2aR*oi0001NVRUJ3F>wfna"
        "S2j!3WaeCQgIA(VlD"
    ),
    "csr": (
        "fC6J}cy48ME^cIDa&lpLE^}~Ua&u)0LsL>tL_u<LVR;I108WK*0a9@SeQ^U=1^@s6Xkl(-Y-Mo-V_#olb!lv"
        "LX>MO%3SxP5Wnpr1VR;I11!G@hZ)9a-a|&f{V{c?-3ULNli2wiq!-"
        ">PX!jr?f0ssI20RR910ssI2000000ssI20ssI2000000ssI2000000RR9100000000001^@s60RR910{{R30"
        "00001^@s60RR910ssI200000006>(KL7v#KmY&$00000009610000000IC20000000961000000000000000"
        "0C5Lc1^@s6Y+-b1ZZUBPhH(i}aSDZT3sP|mb7C$"
    ),
    "rsp": (
        "fC6J}cy48ME^cIDa&lpLE^}~Ua&u)0Qg3%taA9(DWllsva&lpL3UL5Vg>eB=aRPmD16T$C003xVZe(m_aRg&"
        "uUt)D>Y;<XEUtbDhd30rAa&lpL3ULKvUt@1%Wn*&+Wo~0{WMv9*23T<b006^@!@9zg!?^(f0006200062000"
        "0000062000000006200062000000006200000000310000000000000I60003100062000000000000000!h"
        "k;j002M$000000000000001000000001S2UrFG003-ZbZKreaR`QS2~u$ig>ef~aSU@}E&"
    ),
    "ctx": (
        "fC6J}cy48ME@N+QbY*yS3PW#hbY*yS3UL4_fpGzSaRMk<4FCWDWMy_~V`X1-"
        "d2nTEWN`ya0aytD003lVc4=c}Uuk4<1WN%}2mk;8UvF$=Ut@H5aRp9wVlD"
    ),
    "sym": (
        "fC6J}cy48ME^~QpVsC6Nb9rrIZ)^%vd2M2EYzlDzPK9v+QgH%(aRXQe0001JVQyq>WpM;pTmb+8dkP>RB5rS"
        "FWpg4rAX^F`ARr)n3LqdLARr(jZ*U?yAR=ycY-}PdAPOKLARr(hB5q-"
        "AWg<EtB6uP!APOKLARr(hB57`Lb#!wgIv`tJ3LqdLAbl(#3LqdLAbScRARr(hAR=#YB03-<Uu|`4Uvpz&Y+-"
        "UDEFcOXARr(hAR=yIZDk@lAR=FFb!>BEVQgV?Fd{4<3LqdLARr(jVRUqIb0Rt*dm?jVVQgV?B03-"
        "<G9rB}APOKLARr(hB57`Lb#!wgIv`tHFf1T2EFdslT?!x|ARv7TARt{VAPOKLB4Ki8Uv6(?Wpg4rAX_k9EFc"
        "OXAR=yWWMyA+Z+BmCbaEm(AX_jjATcZ;GF>bn3LqdNXk}q!b0Rt*TU#+KATTT-"
        "FkM|NAPOKLB4KoNa&sa&AbTQhcy48MUv_13b7^mGB03;jB57`PA}k;=FgY+WU406DaRqZ?E&"
    ),
}


def _read(name: str) -> Any:
    content = base64.b85decode(_PICKLES[name])
    return pickle.loads(content.replace(b"cmxnet.", b"cgluonish."))


def test_dense_array_is_read() -> None:
    array = _read("nd")
    assert type(array) is nd.NDArray
    assert array.context == cpu()
    np.testing.assert_array_equal(array.asnumpy(), np.array([1, 2.5], np.float32))


def test_array_of_the_numpy_face_is_read() -> None:
    array = _read("np")
    assert array.dtype == np.int32
    np.testing.assert_array_equal(array.asnumpy(), [[1, 2]])


def test_sparse_arrays_are_read() -> None:
    for stype in ("csr", "rsp"):
        array = _read(stype)
        assert isinstance(array, BaseSparseNDArray)
        np.testing.assert_array_equal(array.asnumpy(), [[0, 1], [2, 0]])


def test_context_is_read() -> None:
    context = _read("ctx")
    assert (context, hash(context)) == (cpu(1), hash(cpu(1)))


def test_symbol_is_read() -> None:
    symbol = _read("sym")
    assert symbol.list_arguments() == ["x"]
    np.testing.assert_array_equal(symbol.eval(x=nd.array([1, 2]))[0].asnumpy(), [2, 4])
