"""The functions that acados expects of a model, with its integers and its names: C text over the emitted function.

`acados_called` calls them, so that what they compute can be held against the function they come from.

The state is x = (q, qd), the control u = tau, the parameters p the robot's open ones. Of forward dynamics these are the
explicit model's, xdot = (qd, qdd); of inverse dynamics the implicit one's, 0 = (xdot_1 - qd, tau(q, qd, xdot_2) - u),
which divides by nothing. Matrices are dense, column by column; z and t are empty. Products with sensitivities are
loops, so that a file stays as long as the derivatives themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.codegen.c.casadi import work_function
from emdeg.errors import BadRequest
from emdeg.programs import ACROSS, ALONG, BENT, GRADIENT, SLOPE, WEIGHT, Program, dense_derivatives, split_constants

EXPLICIT, IMPLICIT = "forward_dynamics", "inverse_dynamics"
JACOBIANS = (
    ("fun_jac_x_xdot_z", ("x", "xdot", "z"), True),
    ("fun_jac_x_xdot_u_z", ("x", "xdot", "u", "z"), True),
    ("fun_jac_x_xdot_u", ("x", "xdot", "u"), True),
    ("jac_x_xdot_u_z", ("x", "xdot", "u", "z"), False),
)
"""Of the implicit model: how a function's name ends, by what it differentiates, whether the residual comes first."""


@dataclass(frozen=True, slots=True)
class _Model:
    """The model's name and its function's, and the sizes of q, u and p."""

    name: str
    function: str
    n: int
    nu: int
    np: int
    has_constants: int
    explicit: bool

    @property
    def nx(self) -> int:
        return 2 * self.n

    @property
    def width(self) -> int:
        """Inputs of the function: q, qd and tau or qdd."""
        return 3 * self.n if self.nu == self.n else 2 * self.n + self.nu


def acados_functions(program: Program, name: str, function: Callable[[Program], str]) -> str:
    """C text; `name` is the emitted function's, `<model>_forward_dynamics` or `<model>_inverse_dynamics`."""
    model = _model(program, name)
    if not model.explicit and model.nu != model.n:
        raise BadRequest(f"acados' implicit model needs as many drives as freedoms: there are {model.nu} and {model.n}")
    needed = ("jacobian", "adjoint", "hessian") if model.explicit else ("jacobian", "hessian")
    texts = [function(one) for one in dense_derivatives(program, name, needed)]
    texts += _explicit(model) if model.explicit else _implicit(model)
    return "#ifndef EMDEG_FLOAT\n" + "\n".join(texts) + "\n#endif\n"


def _model(program: Program, name: str) -> _Model:
    sizes = {group.name: group.size for group in program.inputs}
    kind = EXPLICIT if "tau" in sizes else IMPLICIT
    n, nu = sizes["q"], sizes["tau"] if kind == EXPLICIT else len(program.outputs[0].entries)
    constants, _ = split_constants(program)
    held = 0 if constants is None else max(len(constants.outputs[0].entries), 1)
    return _Model(name.removesuffix(f"_{kind}"), name, n, nu, sizes.get("parameters", 0), held, kind == EXPLICIT)


def _explicit(m: _Model) -> list[str]:
    x, u, p = ("x", m.nx, 1), ("u", m.nu, 1), ("p", m.np, 1)
    S, N = [("Sx", m.nx, m.nx), ("Su", m.nx, m.nu)], m.nx + m.nu
    rates = ("f", m.nx, 1)
    velocity = f"for (i = 0; i < {m.n}; ++i) {{ f[i] = x[{m.n} + i]; f[{m.n} + i] = y[i]; }}"
    ode = [f"double y[{m.n}];", *_call(m, "x", f"x + {m.n}", "u", "y"), velocity]
    slopes = [f"double J[{m.n * m.width}];", *_derivative(m, "jacobian", "u", "J")]
    forward = [
        f"for (j = 0; j < {m.nx}; ++j) for (i = 0; i < {m.n}; ++i) {{",
        "    double sum = 0.0;",
        f"    for (k = 0; k < {m.nx}; ++k) sum += J[i + {m.n}*k] * Sx[k + {m.nx}*j];",
        f"    vdeX[i + {m.nx}*j] = Sx[{m.n} + i + {m.nx}*j];",
        f"    vdeX[{m.n} + i + {m.nx}*j] = sum;",
        "}",
        f"for (j = 0; j < {m.nu}; ++j) for (i = 0; i < {m.n}; ++i) {{",
        f"    double sum = J[i + {m.n}*({m.nx} + j)];",
        f"    for (k = 0; k < {m.nx}; ++k) sum += J[i + {m.n}*k] * Su[k + {m.nx}*j];",
        f"    vdeU[i + {m.nx}*j] = Su[{m.n} + i + {m.nx}*j];",
        f"    vdeU[{m.n} + i + {m.nx}*j] = sum;",
        "}",
    ]
    carried = f"for (i = 0; i < {m.n}; ++i) adj[{m.n} + i] += lambda[i];"
    adjoint = [*_derivative(m, "adjoint", "u", f"lambda + {m.n}", "adj"), carried]
    hessian = [
        f"double H[{N * N}], S[{N * N}], T[{N * N}];",
        *_derivative(m, "hessian", "u", f"lambda + {m.n}", "adj", "H"),
        carried,
        f"for (j = 0; j < {N}; ++j) for (i = 0; i < {N}; ++i)",
        f"    S[i + {N}*j] = i >= {m.nx} ? (i == j ? 1.0 : 0.0)",
        f"        : j < {m.nx} ? Sx[i + {m.nx}*j] : Su[i + {m.nx}*(j - {m.nx})];",
        f"for (j = 0; j < {N}; ++j) for (i = 0; i < {N}; ++i) {{",
        "    double sum = 0.0;",
        f"    for (k = 0; k < {N}; ++k) sum += H[i + {N}*k] * S[k + {N}*j];",
        f"    T[i + {N}*j] = sum;",
        "}",
        f"for (j = 0; j < {N}; ++j) for (i = j; i < {N}; ++i) {{",
        "    double sum = 0.0;",
        f"    for (k = 0; k < {N}; ++k) sum += S[k + {N}*i] * T[k + {N}*j];",
        f"    hess[i + j*{N} - j*(j + 1)/2] = sum;",
        "}",
    ]
    weights, gradient = ("lambda", m.nx, 1), ("adj", N, 1)
    return [
        _entry(f"{m.name}_expl_ode_fun", [x, u, p], [rates], ode),
        _entry(
            f"{m.name}_expl_vde_forw",
            [x, *S, u, p],
            [rates, ("vdeX", m.nx, m.nx), ("vdeU", m.nx, m.nu)],
            [*ode, *slopes, *forward],
        ),
        _entry(f"{m.name}_expl_vde_adj", [x, weights, u, p], [gradient], adjoint),
        _entry(f"{m.name}_expl_ode_hess", [x, *S, weights, u, p], [gradient, ("hess", N * (N + 1) // 2, 1)], hessian),
    ]


def _implicit(m: _Model) -> list[str]:
    x, xdot, u, z = ("x", m.nx, 1), ("xdot", m.nx, 1), ("u", m.nu, 1), ("z", 0, 1)
    t, p, N = ("t", 0, 1), ("p", m.np, 1), 2 * m.nx + m.nu
    given = [x, xdot, u, z, t, p]
    at = f"xdot + {m.n}"
    residual = [
        f"double y[{m.n}];",
        *_call(m, "x", f"x + {m.n}", at, "y"),
        f"for (i = 0; i < {m.n}; ++i) {{ f[i] = xdot[i] - x[{m.n} + i]; f[{m.n} + i] = y[i] - u[i]; }}",
    ]
    fill = {
        "jac_x": [
            f"for (i = 0; i < {m.nx * m.nx}; ++i) jac_x[i] = 0.0;",
            f"for (i = 0; i < {m.n}; ++i) jac_x[i + {m.nx}*({m.n} + i)] = -1.0;",
            f"for (j = 0; j < {m.nx}; ++j) for (i = 0; i < {m.n}; ++i) jac_x[{m.n} + i + {m.nx}*j] = J[i + {m.n}*j];",
        ],
        "jac_xdot": [
            f"for (i = 0; i < {m.nx * m.nx}; ++i) jac_xdot[i] = 0.0;",
            f"for (i = 0; i < {m.n}; ++i) jac_xdot[i + {m.nx}*i] = 1.0;",
            f"for (j = 0; j < {m.n}; ++j) for (i = 0; i < {m.n}; ++i) "
            f"jac_xdot[{m.n} + i + {m.nx}*({m.n} + j)] = J[i + {m.n}*({m.nx} + j)];",
        ],
        "jac_u": [
            f"for (i = 0; i < {m.nx * m.nu}; ++i) jac_u[i] = 0.0;",
            f"for (i = 0; i < {m.n}; ++i) jac_u[{m.n} + i + {m.nx}*i] = -1.0;",
        ],
        "jac_z": [],
    }
    shapes = {"jac_x": m.nx, "jac_xdot": m.nx, "jac_u": m.nu, "jac_z": 0}
    slopes = [f"double J[{m.n * m.width}];", *_derivative(m, "jacobian", at, "J")]

    def function(ending: str, blocks: Sequence[str], with_residual: bool = True) -> str:
        outputs = [("f", m.nx, 1)] if with_residual else []
        outputs += [(block, m.nx, shapes[block]) for block in blocks]
        lines = [*(residual if with_residual else []), *(slopes if blocks else [])]
        lines += [line for block in blocks for line in fill[block]]
        return _entry(f"{m.name}_impl_dae_{ending}", given, outputs, lines)

    # x, xdot, z, u: the function's q, qd and qdd stand in x and in the second half of xdot.
    place = f"(i < {m.nx} ? i : i + {m.n})"
    hessian = [
        f"double g[{m.width}], H[{m.width * m.width}];",
        *_derivative(m, "hessian", at, f"multiplier + {m.n}", "g", "H"),
        "(void)g;",
        f"for (i = 0; i < {N * N}; ++i) HESS[i] = 0.0;",
        f"for (j = 0; j < {m.width}; ++j) for (i = 0; i < {m.width}; ++i)",
        f"    HESS[{place} + {N}*{place.replace('i', 'j')}] = H[i + {m.width}*j];",
    ]
    return [
        function("fun", []),
        *(
            function(ending, [f"jac_{block}" for block in blocks], with_residual)
            for ending, blocks, with_residual in JACOBIANS
        ),
        _entry(
            f"{m.name}_impl_dae_hess",
            [x, xdot, u, z, ("multiplier", m.nx, 1), t, p],
            [("HESS", N, N)],
            hessian,
        ),
    ]


def _call(m: _Model, *given: str) -> list[str]:
    """The emitted function at these arguments, its constants made first."""
    *inputs, output = given
    if not m.has_constants:
        return [f"{m.function}({', '.join(given)});"]
    return [
        f"double constants[{m.has_constants}];",
        f"{m.function}_constants(p, constants);",
        f"{m.function}({', '.join([*inputs, 'constants', output])});",
    ]


def _derivative(m: _Model, which: str, third: str, *rest: str) -> list[str]:
    """A dense derivative at x and the third array; parameters come before weights and outputs."""
    given = ["x", f"x + {m.n}", third, *(["p"] if m.np else []), *rest]
    return [f"{m.function}_{which}({', '.join(given)});"]


Array = tuple[str, int, int]


def _entry(entry: str, inputs: Sequence[Array], outputs: Sequence[Array], work: Sequence[str]) -> str:
    """One function with CasADi's interface in acados' integers: inputs copied, zeros for those left out."""
    signature = f"int {entry}(const double **arg, double **res, int *iw, double *w, int mem)"
    lines = [f"{signature};", signature, "{"]
    lines += [f"    double {name}[{max(rows * columns, 1)}];" for name, rows, columns in [*inputs, *outputs]]
    lines += ["    int i, j, k;", "    (void)iw; (void)w; (void)mem; (void)j; (void)k;"]
    for place, (name, rows, columns) in enumerate(inputs):
        if rows * columns:
            lines.append(
                f"    for (i = 0; i < {rows * columns}; ++i) {name}[i] = arg[{place}] ? arg[{place}][i] : 0.0;"
            )
        lines.append(f"    (void){name};")
    lines += ["    {", *(f"        {line}" for line in work)]
    for place, (name, rows, columns) in enumerate(outputs):
        if rows * columns:
            lines.append(
                f"        if (res[{place}]) for (i = 0; i < {rows * columns}; ++i) res[{place}][i] = {name}[i];"
            )
        else:
            lines.append(f"        (void){name};")
    lines += ["    }", "    return 0;", "}"]
    for direction, arrays in (("in", inputs), ("out", outputs)):
        lines += [
            f"int {entry}_n_{direction}(void);",
            f"int {entry}_n_{direction}(void) {{ return {len(arrays)}; }}",
            f"const int *{entry}_sparsity_{direction}(int i);",
            f"const int *{entry}_sparsity_{direction}(int i)",
            "{",
            f"    static const int dense[{len(arrays)}][3] = {{",
            *(f"        {{{rows}, {columns}, 1}}," for _, rows, columns in arrays),
            "    };",
            f"    return i >= 0 && i < {len(arrays)} ? dense[i] : 0;",
            "}",
        ]
    return "\n".join([*lines, *work_function(entry, "int", len(inputs), len(outputs))])


Values = Mapping[str, NDArray]
"""Inputs or outputs at one state, by name."""
StateRun = Callable[[Values], dict[str, NDArray]]
Entry = Callable[[str, Sequence[NDArray], Sequence[tuple[int, ...]]], list[NDArray]]
"""Calls an entry: its name, its arrays and the shapes of its results, flat or column by column."""


def acados_called(program: Program, name: str, call: Entry) -> tuple[dict[str, StateRun], ...]:
    """By name, at a state: what computes the function itself, and what its derivatives along lines, parameters held.

    An entry's rows that are no dynamics (the rates of q are qd) must hold exactly; where they do not, what comes back
    is not a number.
    """
    model = _model(program, name)
    return _explicit_called(model, program, call) if model.explicit else _implicit_called(model, program, call)


def _explicit_called(m: _Model, program: Program, call: Entry) -> tuple[dict[str, StateRun], ...]:
    y = program.outputs[0].name
    given, along, across = (_packed(m, ending) for ending in ("", ALONG, ACROSS))
    n, nx, N = m.n, m.nx, m.nx + m.nu
    slanted = np.eye(nx) + np.eye(nx, k=1) / 2

    def rates(f: NDArray, at: Values) -> dict[str, NDArray]:
        return {y: _where(f[:n], at["qd"], f[n:])}

    def ode(at: Values) -> dict[str, NDArray]:
        (f,) = call(f"{m.name}_expl_ode_fun", [*given(at)], [(nx,)])
        return rates(f, at)

    def sensitivities(at: Values, dx: NDArray) -> list[NDArray]:
        x, u, p = given(at)
        # every column of Sx and Su is the direction, so that both products count
        arrays = [x, np.tile(dx, nx), np.tile(dx, m.nu), u, p]
        return call(f"{m.name}_expl_vde_forw", arrays, [(nx,), (nx, nx), (m.nu, nx)])

    def forward(at: Values) -> dict[str, NDArray]:
        dx, du, _ = along(at)
        _, X, U = sensitivities(at, dx)
        moved = X.mean(axis=0) * (1 - du.sum()) + du @ U
        speeds = np.concatenate([X[:, :n].ravel(), U[:, :n].ravel()])
        return {y + SLOPE: _where(speeds, np.tile(dx[n:], nx + m.nu), moved[n:])}

    def weights(at: Values) -> NDArray:
        return np.concatenate([np.ones(n), at[y + WEIGHT]])

    def weighed(gradient: NDArray, at: Values) -> dict[str, NDArray]:
        dx, du, _ = along(at)
        return {GRADIENT: np.array([gradient @ np.concatenate([dx, du]) - dx[n:].sum()])}

    def adjoint(at: Values) -> dict[str, NDArray]:
        x, u, p = given(at)
        (gradient,) = call(f"{m.name}_expl_vde_adj", [x, weights(at), u, p], [(N,)])
        return weighed(gradient, at)

    def hessian(at: Values) -> dict[str, NDArray]:
        (x, u, p), (dx, du, _), (ex, eu, _) = given(at), along(at), across(at)
        Su = np.ones((nx, m.nu)) / 4
        arrays = [x, slanted.T.ravel(), Su.T.ravel(), weights(at), u, p]
        gradient, packed = call(f"{m.name}_expl_ode_hess", arrays, [(N,), (N * (N + 1) // 2,)])
        H = np.zeros((N, N))
        H.T[np.triu_indices(N)] = packed
        H = H + np.tril(H, -1).T
        p1, r1 = (np.concatenate([np.linalg.solve(slanted, a - Su @ b), b]) for a, b in ((dx, du), (ex, eu)))
        return weighed(gradient, at) | {BENT: np.array([r1 @ H @ p1])}

    slopes = {"expl_vde_forw": forward, "expl_vde_adj": adjoint, "expl_ode_hess": hessian}
    same = {"expl_ode_fun": ode, "expl_vde_forw": lambda at: rates(sensitivities(at, np.ones(nx))[0], at)}
    return tuple({f"{m.name}_{ending}": run for ending, run in of.items()} for of in (same, slopes))


def _implicit_called(m: _Model, program: Program, call: Entry) -> tuple[dict[str, StateRun], ...]:
    y = program.outputs[0].name
    given, along, across = (_packed(m, ending) for ending in ("", ALONG, ACROSS))
    n, nx, N = m.n, m.nx, 2 * m.nx + m.nu
    none, zero, eye = np.zeros(0), np.zeros((n, n)), np.eye(n)
    shapes = {"x": (nx, nx), "xdot": (nx, nx), "u": (m.nu, nx), "z": (0,)}
    fixed = {"x": np.hstack([zero, -eye]), "xdot": np.hstack([eye, zero]), "u": zero}
    xdot_1, u = np.ones(n), np.full(n, 2.0)

    def arrays(at: Values) -> list[NDArray]:
        x, qdd, p = given(at)
        return [x, np.concatenate([xdot_1, qdd]), u, none, none, p]

    def residual(ending: str, blocks: Sequence[str] = ()) -> StateRun:
        def run(at: Values) -> dict[str, NDArray]:
            f = call(f"{m.name}_impl_dae_{ending}", arrays(at), [(nx,), *(shapes[block] for block in blocks)])[0]
            return {y: _where(f[:n], xdot_1 - at["qd"], f[n:] + u)}

        return run

    def jacobian(ending: str, blocks: Sequence[str], with_residual: bool) -> StateRun:
        def run(at: Values) -> dict[str, NDArray]:
            wanted = [(nx,)] * with_residual + [shapes[block] for block in blocks]
            found = call(f"{m.name}_impl_dae_{ending}", arrays(at), wanted)
            by = {block: array.T for block, array in zip(blocks, found[with_residual:]) if block != "z"}
            dx, dqdd, _ = along(at)
            known = [(matrix[:n], fixed[block]) for block, matrix in by.items()]
            known.append((by["xdot"][n:, :n], zero))
            if "u" in by:
                known.append((by["u"][n:], -eye))
            left, right = (np.concatenate([pair[k].ravel() for pair in known]) for k in (0, 1))
            return {y + SLOPE: _where(left, right, by["x"][n:] @ dx + by["xdot"][n:, n:] @ dqdd)}

        return run

    def hessian(at: Values) -> dict[str, NDArray]:
        x, xdot, control, z, t, p = arrays(at)
        multiplier = np.concatenate([np.ones(n), at[y + WEIGHT]])
        (H,) = call(f"{m.name}_impl_dae_hess", [x, xdot, control, z, multiplier, t, p], [(N, N)])
        dx, dqdd, _ = along(at)
        ex, eqdd, _ = across(at)
        d, e = (np.concatenate([a, np.ones(n), b, np.ones(m.nu)]) for a, b in ((dx, dqdd), (ex, eqdd)))
        return {BENT: np.array([e @ H @ d])}

    same = {ending: residual(ending, blocks) for ending, blocks, with_residual in JACOBIANS if with_residual}
    slopes = {ending: jacobian(ending, blocks, with_residual) for ending, blocks, with_residual in JACOBIANS}
    both = ({"fun": residual("fun"), **same}, {**slopes, "hess": hessian})
    return tuple({f"{m.name}_impl_dae_{ending}": run for ending, run in of.items()} for of in both)


def _packed(m: _Model, ending: str) -> Callable[[Values], tuple[NDArray, NDArray, NDArray]]:
    """x, u or qdd, and p of a state, or of a direction."""
    third = "tau" if m.explicit else "qdd"

    def packed(at: Values) -> tuple[NDArray, NDArray, NDArray]:
        x = np.concatenate([at["q" + ending], at["qd" + ending]])
        return x, at[third + ending], at["parameters" + ending] if m.np else np.zeros(0)

    return packed


def _where(left: NDArray, right: NDArray, value: NDArray) -> NDArray:
    """The value where left and right are the same numbers, and otherwise none."""
    return value if np.array_equal(left, right) else np.full_like(value, np.nan)
