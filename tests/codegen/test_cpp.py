"""Templates over the scalar: a type that differentiates goes through them."""

import numpy as np

import emdeg
from emdeg.codegen import generate
from tests.languages import need, told

DUAL = """
struct Dual {
    double value, slope;
    Dual(double v = 0.0, double s = 0.0) : value(v), slope(s) {}
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
inline Dual operator-(Dual a) { return {-a.value, -a.slope}; }
inline Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
inline Dual sin(Dual a);
inline Dual cos(Dual a);
"""
LATER = """
#include <cmath>
inline Dual sin(Dual a) { return {std::sin(a.value), std::cos(a.value) * a.slope}; }
inline Dual cos(Dual a) { return {std::cos(a.value), -std::sin(a.value) * a.slope}; }
"""


def test_automatic_differentiation_goes_through_the_template(tmp_path):
    need("g++")
    generate("stanford_arm", "inverse_dynamics", "cpp", out=tmp_path)
    (tmp_path / "use.cpp").write_text(
        f"""{DUAL}#include "stanford_arm_inverse_dynamics.hpp"
#include <cstdio>{LATER}
int main()
{{
    for (std::size_t k = 0; k < 6; ++k) {{
        std::array<Dual, 6> q{{}}, qd{{}}, qdd{{}};
        for (std::size_t i = 0; i < 6; ++i) {{
            q[i] = Dual(0.1 * double(i + 1), i == k), qd[i] = 0.2 * double(i), qdd[i] = 1.0 - 0.3 * double(i);
        }}
        for (const Dual &tau : emdeg::stanford_arm_inverse_dynamics(q, qd, qdd)) std::printf("%.17g ", tau.slope);
    }}
}}
"""
    )
    told(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "use.cpp", "-o", "use"], tmp_path)
    found = np.array(told([tmp_path / "use"], tmp_path).split(), float).reshape(6, 6).T
    i = np.arange(6)
    expected, _ = emdeg.inverse_dynamics_derivatives(emdeg.load("stanford_arm"), 0.1 * (i + 1), 0.2 * i, 1 - 0.3 * i)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
