"""DLPack, the way in which libraries hand each other arrays: its records, written and read through ctypes."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from emdeg.errors import StateError
from emdeg.runtime.compiled import CUDA

_FLOAT = 2
_NAME = b"dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", _Deleter))

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_python.PyCapsule_IsValid.restype = ctypes.c_int
_python.PyCapsule_IsValid.argtypes = (ctypes.py_object, ctypes.c_char_p)

_kept: dict[int, Any] = {}
"""What others hold of ours, by the record's address, until they give it back."""


@_Deleter
def _given_back(record: Any) -> None:
    _kept.pop(ctypes.addressof(record.contents), None)


def as_capsule(place: int, shape: tuple[int, ...], dtype: np.dtype, number: int, owner: Any) -> Any:
    """A capsule of an array on device `number`; `owner` is kept until the taker is done with it."""
    sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    record = _Managed()
    tensor = record.tensor
    tensor.data, tensor.device_type, tensor.device_id = place, CUDA, number
    tensor.ndim, tensor.code, tensor.bits, tensor.lanes = len(shape), _FLOAT, 8 * dtype.itemsize, 1
    tensor.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64))
    record.deleter = _given_back
    address = ctypes.addressof(record)
    _kept[address] = (record, sizes, owner)
    return _python.PyCapsule_New(address, _NAME, None)


def read_capsule(capsule: Any) -> tuple[int, tuple[int, ...], np.dtype, bool]:
    """(address, shape, dtype, whether it lies row by row) of somebody's array; the capsule is not consumed."""
    if not _python.PyCapsule_IsValid(capsule, _NAME):
        raise StateError("what was handed over is not a DLPack capsule")
    record = _Managed.from_address(_python.PyCapsule_GetPointer(capsule, _NAME))
    tensor = record.tensor
    if tensor.code != _FLOAT or tensor.lanes != 1:
        raise StateError("the array does not hold floating-point numbers")
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    expected = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    in_rows = not tensor.strides or all(tensor.strides[k] == expected[k] or shape[k] == 1 for k in range(tensor.ndim))
    return (tensor.data or 0) + tensor.byte_offset, shape, np.dtype(f"f{tensor.bits // 8}"), in_rows
