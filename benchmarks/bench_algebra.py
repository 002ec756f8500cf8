"""How long formulas take: products of typical sizes, and a whole mass matrix with its Christoffel symbols.

    python benchmarks/bench_algebra.py

It prints the figures and writes them to benchmarks/results/algebra.json.
The chains are serial arms in modified DH with all ten inertial parameters of every link symbolic.
"""

from __future__ import annotations

import time
from fractions import Fraction

from emdeg.algebra import Angle, TrigAlgebra
from record import record

QUARTER = Fraction(1, 2)
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
# (alpha / pi, a, d) of each revolute joint: a six-joint arm with a wrist, and a seven-joint arm.
SIX = [
    (0, 0, 0),
    (-QUARTER, 0, "d2"),
    (0, "a3", "d3"),
    (QUARTER, "a4", "d4"),
    (-QUARTER, 0, 0),
    (QUARTER, 0, 0),
]
SEVEN = [
    (0, 0, Fraction("0.333")),
    (-QUARTER, 0, 0),
    (QUARTER, 0, Fraction("0.316")),
    (QUARTER, Fraction("0.0825"), 0),
    (-QUARTER, Fraction("-0.0825"), Fraction("0.384")),
    (QUARTER, 0, 0),
    (QUARTER, Fraction("0.088"), 0),
]


def dot(algebra, u, v):
    return algebra.sum_of_products(zip(u, v))


def cross(u, v):
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


def plus(*vectors):
    return [sum(parts[1:], parts[0]) for parts in zip(*vectors)]


def chain_algebra(chain):
    lengths = dict.fromkeys(x for row in chain for x in row[1:] if isinstance(x, str))
    names = [f"{name}{k}" for k in range(1, len(chain) + 1) for name in INERTIA]
    return TrigAlgebra(revolute=range(1, len(chain) + 1), parameters=[*lengths, *names])


def mass_matrix(algebra, chain):
    """The upper triangle {(i, j): formula} by composite bodies, inertia about each link frame's origin."""
    n = len(chain)
    zero, one = algebra.zero, algebra.one
    frames = {}
    for k, (alpha, a, d) in enumerate(chain, 1):
        (s, c), (sa, ca) = algebra.joint_sincos(k), algebra.sincos(Angle(Fraction(alpha)))
        a, d = (algebra.symbol(x) if isinstance(x, str) else algebra.number(Fraction(x)) for x in (a, d))
        R = [[c, -s, zero], [s * ca, c * ca, -sa], [s * sa, c * sa, ca]]
        frames[k] = R, [a, -(d * sa), d * ca]
    M = {}
    composite = None
    for k in range(n, 0, -1):
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, m = (algebra.symbol(f"{name}{k}") for name in INERTIA)
        J, h = [[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]], [MX, MY, MZ]
        if composite is not None:
            Jc, hc, mc = composite
            R, p = frames[k + 1]
            RJ = [[dot(algebra, row, column) for column in zip(*Jc)] for row in R]
            turned = [[dot(algebra, row, other) for other in R] for row in RJ]
            w = [dot(algebra, row, hc) for row in R]
            # Steiner with first moments: 2 p.w 1 - p w' - w p' + m (p.p 1 - p p').
            pw, pp = dot(algebra, p, w), dot(algebra, p, p)
            for i in range(3):
                for j in range(3):
                    shift = -(p[i] * w[j] + w[i] * p[j]) - mc * (p[i] * p[j])
                    if i == j:
                        shift = shift + 2 * pw + mc * pp
                    J[i][j] = J[i][j] + turned[i][j] + shift
            h = plus(h, w, [mc * x for x in p])
            m = m + mc
        composite = J, h, m
        moment, force = [J[0][2], J[1][2], J[2][2]], cross([zero, zero, one], h)
        M[k, k] = J[2][2]
        for i in range(k - 1, 0, -1):
            R, p = frames[i + 1]
            force = [dot(algebra, row, force) for row in R]
            moment = plus([dot(algebra, row, moment) for row in R], cross(p, force))
            M[i, k] = moment[2]
    return M


def christoffel(M, n):
    """{(i, j, k): (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2} for j <= k."""
    D = {(i, j, k): element.derivative(k) for (i, j), element in M.items() for k in range(1, n + 1)}

    def d(i, j, k):
        return D[min(i, j), max(i, j), k]

    joints = range(1, n + 1)
    return {
        (i, j, k): (d(i, j, k) + d(i, k, j) - d(j, k, i)) / 2 for i in joints for j in joints for k in range(j, n + 1)
    }


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def main() -> None:
    results = {}
    for name, chain in (("six joints", SIX), ("seven joints", SEVEN)):
        algebra = chain_algebra(chain)
        M, matrix_s = timed(lambda algebra=algebra, chain=chain: mass_matrix(algebra, chain))
        symbols, christoffel_s = timed(lambda M=M, chain=chain: christoffel(M, len(chain)))
        results[name] = {
            "mass_matrix_s": round(matrix_s, 3),
            "christoffel_s": round(christoffel_s, 3),
            "terms_of_M": sum(map(len, M.values())),
            "terms_of_longest_element": max(map(len, M.values())),
            "terms_of_christoffel": sum(map(len, symbols.values())),
        }
        for left, right in (((1, 1), (1, 2)), ((3, 4), (2, 4)), ((4, 5), (5, 6))):
            a, b = M[left], M[right]
            if len(a) * len(b) > 4_000_000:
                continue
            product, seconds = timed(lambda a=a, b=b: a * b)
            results[name][f"product {len(a)} x {len(b)} -> {len(product)} terms"] = round(seconds, 6)
    record("algebra", results)
    for name, figures in results.items():
        print(name)
        for what, value in figures.items():
            print(f"  {what:45} {value}")


if __name__ == "__main__":
    main()
