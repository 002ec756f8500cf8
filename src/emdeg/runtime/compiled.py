"""A program as a function on arrays, for one state or many."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from emdeg.dynamics import real_array
from emdeg.errors import DeviceError, StateError
from emdeg.programs import InputGroup, Program, split_constants
from emdeg.runtime.kernel import Kernel, MachineKernel, NumpyKernel, machine_available
from emdeg.runtime.pools import cores

if TYPE_CHECKING:
    from emdeg.runtime.cuda import CudaProgram

CUDA = 2
"""What DLPack calls a device that is a CUDA GPU."""


@overload
def compile(
    program: Program,
    *,
    dtype: DTypeLike = np.float64,
    threads: int | None = None,
    check_finite: bool = False,
    backend: Literal["auto", "llvm", "numpy"] = "auto",
) -> CompiledProgram: ...


@overload
def compile(
    program: Program, *, dtype: DTypeLike = np.float64, check_finite: bool = False, backend: Literal["cuda"]
) -> CudaProgram: ...


def compile(
    program: Program,
    *,
    dtype: DTypeLike = np.float64,
    threads: int | None = None,
    check_finite: bool = False,
    backend: Literal["auto", "llvm", "numpy", "cuda"] = "auto",
) -> CompiledProgram | CudaProgram:
    """`program` as a callable in float64 or float32.

    A batch large enough is spread over `threads` cores (all by default). With `check_finite` NaN and
    infinities among the inputs are an error. `backend` "auto" takes llvm where llvmlite can be imported; arrays that
    live on a GPU (torch, JAX, CuPy, DLPack) are computed there. "cuda" does so always, copying NumPy's arrays.

    Machine code has its own sine and cosine: angles far beyond 1e5 rad yield NaN there, never a wrong number.

    >>> import emdeg
    >>> gravity = emdeg.compile(emdeg.program("planar2r", "gravity"))
    >>> gravity([[0.0, 0.5], [1.0, 0.5]]).shape
    (2, 2)
    """
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise TypeError(f"{program.name} can be compiled for float64 or float32, not for {kind}")
    if backend not in ("auto", "llvm", "numpy", "cuda"):
        raise ValueError(f"there is no backend {backend!r}; there are auto, llvm, numpy, cuda")
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise ValueError(f"threads must be a whole number from 1 on, or None for all cores; got {threads!r}")
    if backend == "cuda":
        if check_finite:
            raise ValueError("check_finite would fetch every array from the GPU; look at the results there instead")
        return _for_cuda(program, kind)
    if backend == "auto":
        backend = "llvm" if machine_available() else "numpy"
    build: Callable[[Program, np.dtype], Kernel] = MachineKernel if backend == "llvm" else NumpyKernel
    constants, main = split_constants(program)
    return CompiledProgram(
        program,
        kind,
        None if constants is None else build(constants, kind),
        build(main, kind),
        0 if constants is None else len(constants.outputs[0].entries),
        threads or cores(),
        check_finite,
    )


def _for_cuda(program: Program, kind: np.dtype) -> CudaProgram:
    if not machine_available():
        raise DeviceError("kernels for GPUs are written by llvmlite, which is not installed")
    from emdeg.runtime.cuda import CudaProgram  # needs llvmlite

    return CudaProgram(program, kind)


class CompiledProgram:
    """Call it with arrays (..., size), in the order of the program's inputs or by name.

    Leading axes are states and broadcast. The result is one array (..., *shape), or a tuple of them where the
    program has several outputs. `out` takes the results in arrays that are there already: the one, or a sequence.
    """

    def __init__(
        self,
        program: Program,
        dtype: np.dtype,
        constants: Kernel | None,
        main: Kernel,
        constant_count: int,
        threads: int,
        check_finite: bool,
    ) -> None:
        self.program = program
        self.dtype = dtype
        self._constants = constants
        self._main = main
        self._constant_count = constant_count
        self._threads = threads
        self._check_finite = check_finite
        self._on_device: CudaProgram | None = None

    def __call__(self, *args: ArrayLike, out: NDArray | Sequence[NDArray] | None = None, **named: ArrayLike) -> Any:
        given = matched(self.program, args, named)
        if any(type(array) is not np.ndarray and _may_be_elsewhere(array) for array in given):
            return self._elsewhere(given, out)
        arrays = [as_array(self.program, group, value, self.dtype) for group, value in zip(self.program.inputs, given)]
        if self._check_finite:
            self._check({group.name: array for group, array in zip(self.program.inputs, arrays)})
        batch = self._batch(arrays)
        states = math.prod(batch)
        shaped = self._results(out, batch)
        outputs = [a.reshape(states, len(g.entries)) for a, g in zip(shaped, self.program.outputs)]
        if states and outputs:
            if out is not None and states > 1:
                # Vectors of states overlap at the end, so an input must not change while it is read.
                arrays = [a.copy() if any(np.may_share_memory(a, o) for o in outputs) else a for a in arrays]
            self._run([_rows(array, batch) for array in arrays], outputs)
        return shaped[0] if len(shaped) == 1 else tuple(shaped)

    def _elsewhere(self, given: list[Any], out: object) -> Any:
        """On the GPU where the arrays live."""
        if out is not None or self._check_finite:
            raise StateError(f"{self.program.name}: out and check_finite are for arrays of this host's memory")
        if self._on_device is None:
            self._on_device = _for_cuda(self.program, self.dtype)
        return self._on_device(*given)

    def _results(self, out: NDArray | Sequence[NDArray] | None, batch: tuple[int, ...]) -> list[NDArray]:
        groups = self.program.outputs
        if out is None:
            return [np.empty((*batch, *group.shape), self.dtype) for group in groups]
        if not isinstance(out, np.ndarray | list | tuple):
            raise StateError(f"{self.program.name}: out is {type(out).__name__}, expected an array or several")
        given = [out] if isinstance(out, np.ndarray) else list(out)
        if len(given) != len(groups):
            raise StateError(f"{self.program.name}: out holds {len(given)} arrays, expected {len(groups)}")
        for array, group in zip(given, groups):
            self._fixed(group.name, array, (*batch, *group.shape))
            if not array.flags.writeable:
                raise StateError(f"{self.program.name}: {group.name} is read-only and cannot take results")
        return given

    def bind(self, *args: NDArray, **named: NDArray) -> BoundProgram:
        """A call without arguments on preallocated arrays of one state: inputs, then outputs, or by name.

        The arrays must have the compiled dtype, the exact shape and contiguous memory; outputs left out are
        allocated. Constants of symbolic parameters are computed here, once. With `check_finite` every call looks at
        the inputs first.
        """
        groups = [*self.program.inputs, *self.program.outputs]
        given = dict(zip((group.name for group in groups), args))
        if doubled := sorted(given.keys() & named.keys()):
            raise StateError(f"{self.program.name}: {', '.join(doubled)} is given twice")
        given |= named
        unknown = set(given) - {group.name for group in groups}
        if unknown or len(args) > len(groups):
            raise StateError(f"{self.program.name} has no {', '.join(sorted(unknown)) or 'further arrays'}")
        inputs = {g.name: self._fixed(g.name, given.get(g.name), (g.size,)) for g in self.program.inputs}
        outputs = {
            g.name: self._fixed(g.name, given.get(g.name, np.zeros(g.shape, self.dtype)), g.shape)
            for g in self.program.outputs
        }
        for name in outputs:
            if not outputs[name].flags.writeable:
                raise StateError(f"{self.program.name}: {name} is read-only and cannot take results")
        rows = [array.reshape(1, -1) for array in inputs.values()]
        self._check(inputs)
        passed = self._with_constants(rows)
        run = self._main.bound(passed, [array.reshape(1, -1) for array in outputs.values()])
        return BoundProgram(self._checked(run, inputs) if self._check_finite else run, inputs, outputs)

    def _checked(self, run: Callable[[], None], inputs: dict[str, NDArray]) -> Callable[[], None]:
        def checked() -> None:
            self._check(inputs)
            run()

        return checked

    def _check(self, inputs: Mapping[str, NDArray]) -> None:
        if self._check_finite:
            for name, array in inputs.items():
                self._finite(name, array)

    def _finite(self, name: str, array: NDArray) -> None:
        if not np.isfinite(array).all():
            raise StateError(f"{self.program.name}: {name} holds NaN or infinity")

    def _batch(self, arrays: list[NDArray]) -> tuple[int, ...]:
        shapes = {array.shape[:-1] for array in arrays}
        if len(shapes) == 1:
            return shapes.pop()
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            found = ", ".join(f"{g.name} {a.shape}" for g, a in zip(self.program.inputs, arrays))
            raise StateError(f"{self.program.name}: the states do not fit together: {found}") from None

    def _run(self, rows: list[NDArray], outputs: list[NDArray]) -> None:
        self._main.run(self._with_constants(rows), outputs, self._threads)

    def _with_constants(self, rows: list[NDArray]) -> list[NDArray]:
        """The inputs of the main part: those of the program, with constants in the parameters' place."""
        if self._constants is None:
            return rows
        parameters = [r for r, g in zip(rows, self.program.inputs) if not g.depends]
        constants = np.empty((max(r.shape[0] for r in parameters), self._constant_count), self.dtype)
        if self._constant_count:
            self._constants.run(parameters, [constants], self._threads)
        return [r for r, g in zip(rows, self.program.inputs) if g.depends] + [constants]

    def _fixed(self, name: str, array: NDArray | None, shape: tuple[int, ...]) -> NDArray:
        if array is None:
            raise StateError(f"{self.program.name}: the input {name} is not bound")
        if not isinstance(array, np.ndarray) or array.dtype != self.dtype or array.shape != shape:
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise StateError(f"{self.program.name}: {name} is {found}, expected {self.dtype} {shape}")
        if not array.flags.c_contiguous:
            raise StateError(f"{self.program.name}: {name} is not contiguous in memory")
        return array

    def __repr__(self) -> str:
        return f"<compiled {self.program.name} {self.dtype}>"

    def _repr_html_(self) -> str:
        return f"<p>compiled for {escape(str(self.dtype))}</p>" + self.program._repr_html_()


class BoundProgram:
    """Call it to compute `outputs` from `inputs`, arrays that stay where they are.

    `run` does the same with the least overhead: a function of the interpreter's own, unless inputs are checked.
    """

    __slots__ = ("inputs", "outputs", "run")

    def __init__(self, run: Callable[[], None], inputs: dict[str, NDArray], outputs: dict[str, NDArray]) -> None:
        self.run = run
        self.inputs = inputs
        self.outputs = outputs

    def __call__(self) -> None:
        self.run()


def matched(program: Program, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """The program's inputs in its order, given in that order or by name; TypeError where they are others."""
    names = [group.name for group in program.inputs]
    if len(args) == len(names) and not named:
        return list(args)
    given = dict(zip(names, args))
    doubled = given.keys() & named.keys()
    given |= named
    if doubled or len(args) > len(names) or given.keys() != set(names):
        raise TypeError(f"{program.name} takes {', '.join(names)}")
    return [given[name] for name in names]


def as_array(program: Program, group: InputGroup, value: ArrayLike, dtype: np.dtype) -> NDArray:
    """One of a program's inputs as an array (..., size) of that dtype; StateError where it is no such array."""
    array = real_array(f"{program.name}: {group.name}", value, dtype)
    if not array.ndim or array.shape[-1] != group.size:
        raise StateError(f"{program.name}: {group.name} has shape {array.shape}, expected (..., {group.size})")
    return array


def _may_be_elsewhere(array: object) -> bool:
    """Whether it is an array of a GPU's memory."""
    if not hasattr(array, "__dlpack_device__") or isinstance(array, np.ndarray):
        return False
    return array.__dlpack_device__()[0] == CUDA  # type: ignore[attr-defined]


def _rows(array: NDArray, batch: tuple[int, ...]) -> NDArray:
    """The array as (states, size), or (1, size) where one state serves all; copied only where it must be."""
    if array.ndim == 2 and len(batch) == 1 and array.flags.c_contiguous:
        return array
    if math.prod(array.shape[:-1]) == 1:
        rows = array.reshape(1, array.shape[-1])
    else:
        rows = np.broadcast_to(array, (*batch, array.shape[-1])).reshape(-1, array.shape[-1])
    if (rows.shape[1] > 1 and rows.strides[1] != rows.itemsize) or rows.strides[0] % rows.itemsize:
        rows = np.ascontiguousarray(rows)
    return rows
