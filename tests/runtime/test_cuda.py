"""Kernels for GPUs, on machines without one: the very text that a GPU runs, run on this processor, and PTX of all."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import functions_of
from emdeg.errors import BadRequest, DeviceError, StateError
from emdeg.programs import Dependence, Tracer
from emdeg.runtime.cuda import (
    ARCHITECTURES,
    Borrowed,
    CudaProgram,
    device,
    devices,
    emulated_kernel,
    kernel,
    kernel_parts,
    kernel_plan,
    lives_on_device,
    ptx,
    ptxas,
    register_use,
    suitable_parts,
)
from emdeg.runtime.cuda.staging import CONFLICTS, LARGEST_TILE, SECTOR, pieces, result_pieces
from emdeg.runtime.engine import machine_engine
from tests.paper_device import DeviceOfPaper

STATES = 75
"""Two warps and a part of one."""


def emulated(program, inputs, bits, layout="rows", shared=frozenset(), guard=64, parts=None, block_rows=1):
    """What the kernel computes, warp by warp, with memory around the arrays that must stay as it is.

    The results begin `guard` entries behind a multiple of 16 bytes.
    """
    dtype = np.dtype(f"f{bits // 8}")
    states = max(len(array) for array in inputs)
    plan = kernel_plan(program, bits, layout, shared, parts)
    shape, engine = plan.shape, machine_engine(emulated_kernel(plan), opt=0)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 2, *[ctypes.c_int32] * 2)
    run = kind(engine.get_function_address("warp"))
    given = [np.ascontiguousarray(a.T if layout == "entries" and len(a) > 1 else a, dtype) for a in inputs]
    results = [np.full(states * len(group.entries) + 2 * guard, 7.0, dtype) for group in program.outputs]
    tile = np.full(max(1, shape.tile), np.nan, dtype)
    places = [array.ctypes.data for array in given]
    places += [array.ctypes.data + guard * dtype.itemsize for array in results]
    words = (ctypes.c_int64 * (len(places) + 1))(*places, tile.ctypes.data)
    for warp, row in product(range(shape.blocks(states) * shape.warps), range(block_rows)):
        run(words, states, warp, row, block_rows)
    found = []
    for array, group in zip(results, program.outputs):
        assert (array[:guard] == 7).all()
        assert (array[-guard:] == 7).all()
        inner = array[guard:-guard]
        rows = inner.reshape(-1, states).T if layout == "entries" else inner.reshape(states, -1)
        found.append(rows.reshape(states, *group.shape))
    return found


def close(found, expected, bits):
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=0, atol=(1e-12 if bits == 64 else 1e-5) * np.abs(other).max())


def states_of(program, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.0, 1.0, (STATES, group.size)) for group in program.inputs]


@pytest.mark.parametrize("layout", ["rows", "entries"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("robot", "function"), [("planar2r", "mass_matrix"), ("scara", "inverse_dynamics")])
def test_the_kernel_computes_what_the_mechanics_does(robot, function, bits, layout):
    program = emdeg.program(robot, function)
    inputs = states_of(program)
    expected = getattr(emdeg, function)(robot, *inputs)
    close(emulated(program, inputs, bits, layout), [expected], bits)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("function", ["inverse_dynamics_derivatives", "jacobian", "forward_dynamics", "elements"])
def test_long_results_in_pieces(function, bits):
    program = emdeg.program("puma560", function)
    inputs = states_of(program)
    expected = emdeg.compile(program)(*inputs)
    close(emulated(program, inputs, bits), expected if isinstance(expected, tuple) else [expected], bits)


def test_rows_of_every_length_pass_through_the_tile():
    """Rows that make banks collide, or that are too long for a tile, are cut; the results are the same."""
    assert [piece.width for piece in pieces(6, 64)] == [6]
    assert [piece.width for piece in pieces(64, 32)] == [32, 32]
    assert [piece.width for piece in pieces(100, 64)] == [32, 32, 32, 4]
    for size in range(1, 200):
        for bits in (32, 64):
            cut = pieces(size, bits)
            assert [p.first for p in cut] == list(np.cumsum([0, *(p.width for p in cut[:-1])]))
            assert sum(p.width for p in cut) == size
            assert all(p.entries * bits // 8 <= LARGEST_TILE for p in cut)
            assert all(np.gcd(p.stride, 32) <= CONFLICTS for p in cut)
    for function, lengths in (("link_transforms", [32, 16]), ("forward_kinematics", [16])):
        program = emdeg.program("planar3r", function)
        assert [piece.width for piece in pieces(len(program.outputs[0].entries), 64)] == lengths
        inputs = states_of(program)
        close(emulated(program, inputs, 64), [getattr(emdeg, function)("planar3r", *inputs)], 64)


def test_pieces_of_results_are_whole_sectors_of_memory():
    """Every entry is written once, by a warp's 32 threads; within a row a piece begins where a sector does."""
    for bits in (32, 64):
        for size in (1, 49, 101, 130, 141, 155, 400, 490, 900):
            cut, sector = result_pieces(size, bits), SECTOR * 8 // bits
            assert all(p.entries * bits // 8 <= LARGEST_TILE for p in cut)
            assert all(np.gcd(p.stride, 32) <= CONFLICTS for p in cut)
            for row in range(32) if len(cut) > 1 else ():
                written = [range(p.first, p.first + p.stride)[p.of_row(row, size).start :] for p in cut]
                counts = [len(p.of_row(row, size)) for p in cut]
                assert max(counts) <= 32
                places = [place for some, count in zip(written, counts) for place in some[:count]]
                assert places == list(range(size))
                assert all((row * size + some[0]) % sector == 0 for some, n in zip(written[1:], counts[1:]) if n)
                assert all(p.of_row(row, size).stop <= len(p.places) <= p.stride for p in cut)


def test_programs_with_more_values_than_registers_are_done_in_two_parts():
    """Derivatives in double precision; in single precision where states are few; what has one part, never."""
    for function, bits, few, more in (
        ("inverse_dynamics_derivatives", 64, 2, 2),
        ("inverse_dynamics_derivatives", 32, 2, 1),
        ("mass_matrix", 64, 1, 1),
        ("forward_dynamics", 64, 1, 1),
    ):
        program = emdeg.program("panda", function)
        assert [len(suitable_parts(program, bits, states)) for states in (1000, 1 << 20)] == [few, more], function


@pytest.mark.parametrize("size", [1, 5, 16, 33, 141])
@pytest.mark.parametrize("bits", [32, 64])
def test_results_of_every_length_arrive(size, bits):
    """Entry k of a result is k times the input: nothing else than the way through the tile can go wrong."""
    tracer = Tracer()
    x, y = tracer.inputs("x", 2, Dependence.CONFIGURATION)
    program = tracer.program("multiples", {"out": [x * k + y for k in range(size)]})
    inputs = states_of(program)
    expected = inputs[0][:, :1] * np.arange(size) + inputs[0][:, 1:]
    close(emulated(program, inputs, bits), [expected], bits)


@pytest.mark.parametrize("bits", [32, 64])
def test_arrays_may_begin_anywhere(bits):
    """Rows are copied 16 bytes at a time where they begin at a multiple of that, else entry by entry."""
    program = emdeg.program("planar3r", "inverse_dynamics")
    inputs = states_of(program)
    expected = emdeg.inverse_dynamics("planar3r", *inputs)
    assert "align 16" in kernel(kernel_plan(program, bits), "k")
    for guard in (64, 65, 67):
        close(emulated(program, inputs, bits, guard=guard), [expected], bits)


@pytest.mark.parametrize("layout", ["rows", "entries"])
@pytest.mark.parametrize(("bits", "parts"), [(64, 2), (32, 99)])
def test_a_program_in_parts_computes_the_same(bits, parts, layout):
    """One after the other in a thread, or in rows of blocks, however many there are of them."""
    program = emdeg.program("planar3r", "mass_matrix+link_transforms")
    inputs = states_of(program)
    made = kernel_parts(program, bits, parts)
    assert len(made) == min(parts, sum(len(part.units) for part in made))
    assert all(len(part.program.ops) < len(program.ops) for part in made)
    expected = emdeg.compile(program)(*inputs)
    for block_rows in {1, 2, len(made)}:
        close(emulated(program, inputs, bits, layout, parts=made, block_rows=block_rows), expected, bits)


def test_parameters_of_one_robot_or_of_a_robot_a_state():
    robot = emdeg.load("planar2r_symbolic" if "planar2r_symbolic" in emdeg.library_names() else "puma560_symbolic")
    program = emdeg.program(robot, "gravity")
    names = [group.name for group in program.inputs]
    assert names == ["q", "parameters"]
    rng = np.random.default_rng(3)
    q = rng.uniform(-1, 1, (STATES, program.inputs[0].size))
    each = rng.uniform(0.5, 2, (STATES, program.inputs[1].size))
    run = emdeg.compile(program)
    close(emulated(program, [q, each], 64), [run(q, each)], 64)
    close(emulated(program, [q, each[:1]], 64, shared=frozenset({"parameters"})), [run(q, each[:1])], 64)


def test_ptx_for_every_function_and_architecture():
    robot = emdeg.load("planar3r")
    for function in functions_of(robot):
        program = emdeg.program(robot, function)
        for bits in (32, 64):
            text, shape = ptx(program, "some_name", bits=bits)
            assert text.count(".visible .entry some_name(") == 1
            assert f".reqntid {shape.threads}, 1, 1" in text
            arguments = re.search(r"entry some_name\((.*?)\)", text, re.DOTALL)
            assert arguments is not None
            assert arguments[1].count(".param") == len(program.inputs) + len(program.outputs) + 1
    gravity = emdeg.program(robot, "gravity")
    for sm in ARCHITECTURES:
        assert f".target sm_{sm}" in ptx(gravity, "g", sm=sm)[0]
    with pytest.raises(BadRequest, match="sm_12"):
        ptx(gravity, "g", sm=12)


def test_a_bounded_launch_covers_all_states():
    shape = kernel_plan(emdeg.program("puma560", "inverse_dynamics"), 32).shape
    assert [shape.blocks(states) for states in (1, shape.threads, shape.threads + 1)] == [1, 1, 2]
    assert shape.shared_bytes <= 48 * 1024


@pytest.mark.skipif(devices() > 0, reason="there is a GPU")
def test_without_a_driver_the_error_says_so():
    program = emdeg.program("planar2r", "gravity")
    with pytest.raises(DeviceError, match=r"driver|GPU"):
        emdeg.compile(program, backend="cuda")(np.zeros((1, 2)))


def test_arrays_of_the_host_are_no_devices():
    assert not lives_on_device(np.zeros(3))
    assert not lives_on_device([1.0])
    with pytest.raises(TypeError, match="takes q"):
        CudaProgram(emdeg.program("planar2r", "gravity"), np.dtype("f8"))()


@pytest.mark.targets
@pytest.mark.parametrize("name", ["puma560", "panda", "delta"])
def test_ptxas_assembles_and_short_programs_do_not_spill(name):
    robot = emdeg.load(name)
    for function in functions_of(robot):
        for bits in (32, 64):
            use = register_use(ptx(emdeg.program(robot, function), "k", bits=bits, sm=80)[0], 80)
            assert 0 < use.registers <= 255
            if bits == 32 and function in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
                assert use.spill_bytes == 0, (name, function)


@pytest.mark.targets
def test_ptxas_takes_every_architecture_that_it_knows():
    """Its own list decides; LLVM's is longer or shorter by a generation at times."""
    told = subprocess.run([str(ptxas()), "--help"], capture_output=True, text=True).stdout
    known = [sm for sm in ARCHITECTURES if f"'sm_{sm}'" in told]
    assert {75, 80, 90, 100, 120} <= set(known)
    program = emdeg.program("planar2r", "forward_dynamics")
    for sm in known:
        for layout in ("rows", "entries"):
            assert register_use(ptx(program, "k", bits=32, sm=sm, layout=layout)[0], sm).spill_bytes == 0
    with pytest.raises(DeviceError, match="ptxas refused"):
        register_use("nonsense", 80)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_of_numpy_go_there_and_back(dtype, monkeypatch):
    """The whole way of a call: shapes, memory, launch; on a device of paper, whose kernels are the PTX executed."""
    paper = DeviceOfPaper()
    monkeypatch.setattr("emdeg.runtime.cuda.program.device", lambda number: paper)
    program = emdeg.program("planar2r", "inverse_dynamics_derivatives")
    run = emdeg.compile(program, dtype=dtype, backend="cuda")
    inputs = states_of(program)
    close(run(*inputs), emdeg.compile(program)(*inputs), 32 if dtype == "float32" else 64)
    one = [inputs[0], inputs[1], inputs[2][0]]  # one acceleration for all states: a kernel of its own
    close(run(*one), emdeg.compile(program)(*one), 32 if dtype == "float32" else 64)
    run(*inputs)
    assert len(paper.loaded) == 2
    assert run(*(array[:0] for array in inputs))[0].shape == (0, 2, 2)
    several = [array[:72].reshape(8, 9, 2) for array in inputs]
    close(run(*several), emdeg.compile(program)(*several), 32 if dtype == "float32" else 64)
    with pytest.raises(StateError, match="do not fit"):
        run(inputs[0][:3], inputs[1][:4], inputs[2])


def test_parameters_of_a_robot_a_state_go_there(monkeypatch):
    paper = DeviceOfPaper()
    monkeypatch.setattr("emdeg.runtime.cuda.program.device", lambda number: paper)
    program = emdeg.program("puma560_symbolic", "gravity")
    rng = np.random.default_rng(3)
    q, each = rng.uniform(-1, 1, (STATES, 6)), rng.uniform(0.5, 2, (STATES, 65))
    run, expected = emdeg.compile(program, backend="cuda"), emdeg.compile(program)
    close([run(q, each)], [expected(q, each)], 64)
    close([run(q, each[0])], [expected(q, each[0])], 64)


def test_wrong_arrays_of_numpy_are_told_as_they_are_without_a_gpu(monkeypatch):
    """By name or in order; nothing is cut off, and nothing that is no number becomes one."""
    monkeypatch.setattr("emdeg.runtime.cuda.program.device", lambda number: DeviceOfPaper())
    program = emdeg.program("planar2r", "gravity")
    there, here = emdeg.compile(program, backend="cuda"), emdeg.compile(program)
    close([there(q=[[0.1, 0.2]])], [here(q=[[0.1, 0.2]])], 64)
    for wrong in ([[1j, 0.0]], [["a", "b"]], [[0.0]], 0.0, [[0.0], [0.0, 1.0]], [[True, False]]):
        said = []
        for run in (there, here):
            with pytest.raises(StateError) as problem:
                run(wrong)
            said.append(str(problem.value))
        assert said[0] == said[1]
    for run in (there, here):
        with pytest.raises(TypeError, match="takes q"):
            run([[0.0, 0.0]], q=[[0.0, 0.0]])


def test_bound_arrays_lie_apart_and_no_states_are_no_work():
    paper = DeviceOfPaper()
    program = emdeg.program("planar2r", "inverse_dynamics")

    def lying(states):
        return Borrowed(paper.memory(16 * states).place, (states, 2), np.dtype("f8"), paper, 0, None)

    run = CudaProgram(program, np.dtype("f8"))
    arrays = [lying(40) for _ in range(4)]
    run.bind(*arrays)()
    for k in range(3):
        with pytest.raises(StateError, match="tau shares memory with q"):
            run.bind(*arrays[:3], arrays[k])
    with pytest.raises(StateError, match="tau has shape"):
        run.bind(*arrays[:3], lying(39))
    run.bind(*(lying(0) for _ in range(4)))()


def test_a_mix_of_kinds_is_refused():
    class Foreign:
        def __dlpack_device__(self):
            return 2, 0

    program = emdeg.program("planar2r", "inverse_dynamics")
    with pytest.raises(StateError, match="several kinds"):
        CudaProgram(program, np.dtype("f8"))(np.zeros((1, 2)), Foreign(), np.zeros((1, 2)))


def on_device(library, arrays):
    """The arrays on a GPU, as that library has them."""
    if library == "torch":
        torch = pytest.importorskip("torch")
        return [torch.from_numpy(array).cuda() for array in arrays]
    if library == "cupy":
        cupy = pytest.importorskip("cupy")
        return [cupy.asarray(array) for array in arrays]
    jax = pytest.importorskip("jax")
    return [jax.numpy.asarray(array) for array in arrays]


def on_host(array):
    if hasattr(array, "cpu"):
        return array.cpu().numpy()
    return array.get() if hasattr(array, "get") else np.asarray(array)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives"])
def test_arrays_of_other_libraries_are_computed_where_they_lie(library, function):
    program = emdeg.program("puma560", function)
    inputs = [array.astype(np.float32) for array in states_of(program)]
    expected = emdeg.compile(program)(*inputs)
    for run in (emdeg.compile(program, dtype="float32"), emdeg.compile(program, dtype="float32", backend="cuda")):
        given = on_device(library, inputs)
        found = run(*given)
        pairs = zip(found, expected) if isinstance(found, tuple) else [(found, expected)]
        for one, other in pairs:
            assert type(one).__module__.split(".")[0] == type(given[0]).__module__.split(".")[0]
            np.testing.assert_allclose(on_host(one), other, rtol=0, atol=1e-5 * np.abs(other).max())


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["puma560", "panda", "delta", "scara", "stanford_arm"])
def test_every_function_on_the_device(name):
    robot = emdeg.load(name)
    for function in functions_of(robot):
        program = emdeg.program(robot, function)
        inputs = [0.02 * array for array in states_of(program)]
        inputs[0] = inputs[0] + kind_of(robot).home(robot)
        expected = emdeg.compile(program)(*inputs)
        found = emdeg.compile(program, backend="cuda")(*inputs)
        close(*([found, expected] if isinstance(found, tuple) else [[found], [expected]]), 64)


@pytest.mark.gpu
def test_wrong_arrays_and_a_used_up_driver_are_errors_and_the_context_lives_on():
    torch = pytest.importorskip("torch")
    run = emdeg.compile(emdeg.program("puma560", "gravity"), backend="cuda")
    with pytest.raises(StateError, match="float64"):
        run(torch.zeros((4, 6), device="cuda"))
    with pytest.raises(StateError, match="expected"):
        run(torch.zeros((4, 5), device="cuda", dtype=torch.float64))
    for kind in (torch.bfloat16, torch.int64, torch.complex64):
        with pytest.raises(StateError, match="dtype"):
            run(torch.zeros((4, 6), device="cuda", dtype=kind))
    wide = torch.rand((4, 12), device="cuda", dtype=torch.float64)
    assert torch.equal(run(wide[:, ::2]), run(wide[:, ::2].contiguous()))
    flat = torch.rand(6 * 1000 + 1, device="cuda", dtype=torch.float64)
    begins_later = flat[1:].reshape(1000, 6)
    assert begins_later.data_ptr() % 16
    assert torch.equal(run(begins_later), run(begins_later.clone()))
    with pytest.raises(StateError, match="several kinds"):
        emdeg.compile(emdeg.program("puma560", "bias"), backend="cuda")(begins_later, begins_later.cpu())
    run.bind(wide[:0, :6].contiguous(), wide[:0, :6].contiguous())()
    with pytest.raises(DeviceError, match="cuMemAlloc"):
        device().memory(1 << 60)
    with pytest.raises(DeviceError, match="cuModuleLoadDataEx"):
        device().load("nonsense", "kernel")
    assert run(torch.zeros((4, 6), device="cuda", dtype=torch.float64)).shape == (4, 6)
    assert run(torch.zeros((0, 6), device="cuda", dtype=torch.float64)).shape == (0, 6)


@pytest.mark.gpu
def test_many_threads_and_streams():
    torch = pytest.importorskip("torch")
    program = emdeg.program("puma560", "gravity")
    run = emdeg.compile(program, backend="cuda")
    q = torch.rand((1000, 6), dtype=torch.float64, device="cuda")
    expected = torch.from_numpy(emdeg.compile(program)(q.cpu().numpy()))

    def work(_):
        with torch.cuda.stream(torch.cuda.Stream()):
            found = run(q)
            torch.cuda.current_stream().synchronize()
            return torch.allclose(found.cpu(), expected)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


FORKING = """
import os, numpy as np, emdeg
run = emdeg.compile(emdeg.program("puma560", "gravity"), backend="cuda")
run(np.zeros((1, 6)))
child = os.fork()
if child == 0:
    try:
        run(np.zeros((1, 6)))
    except emdeg.errors.DeviceError as problem:
        os._exit(0 if "forked" in str(problem) else 2)
    os._exit(1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.gpu
def test_a_forked_child_is_told():
    assert subprocess.run([sys.executable, "-c", FORKING]).returncode == 0


@pytest.mark.gpu
def test_a_bound_call_renews_its_outputs():
    torch = pytest.importorskip("torch")
    program = emdeg.program("puma560", "gravity")
    q, g = (torch.zeros((100, 6), dtype=torch.float64, device="cuda") for _ in range(2))
    run = emdeg.compile(program, backend="cuda").bind(q, g)
    q += 0.3
    run()
    torch.cuda.synchronize()
    np.testing.assert_allclose(g.cpu().numpy(), emdeg.gravity("puma560", np.full((100, 6), 0.3)), atol=1e-10)
