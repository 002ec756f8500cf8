from fractions import Fraction

import numpy as np
import pytest
import sympy

from emdeg.algebra import Angle, PrimeField
from emdeg.errors import Refuted
from emdeg.programs.ir import Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref
from emdeg.programs.simplification import prune, simplify
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate, evaluate_residues
from emdeg.programs.verification import FALSE_PASS, degree_bound, float_error, ulps, verify
from tests.program_samples import kitchen_sink, mutants, pendulum_pair, random_program, samples


def configuration(build, size=3, name="p"):
    t = Tracer()
    q = t.inputs("q", size, Dependence.CONFIGURATION)
    return t.program(name, {"y": build(t, q)})


@pytest.mark.parametrize(
    "build",
    [
        lambda t, q: [t.sincos_of(q[0])[0] ** 2 + t.sincos_of(q[0])[1] ** 2 - 1],
        lambda t, q: [
            t.sincos_of(q[0] + q[1])[0]
            - t.sincos_of(q[0])[0] * t.sincos_of(q[1])[1]
            - t.sincos_of(q[0])[1] * t.sincos_of(q[1])[0]
        ],
        lambda t, q: [t.sincos_of(2 * q[0])[1] - 1 + 2 * t.sincos_of(q[0])[0] ** 2],
        lambda t, q: [
            t.sincos_of(q[0] - q[1])[1] * 2
            - t.sincos_of(q[0])[1] * t.sincos_of(q[1])[1] * 2
            - t.sincos_of(q[0])[0] * t.sincos_of(q[1])[0] * 2
        ],
        lambda t, q: [sum(x * x for x in t.sincos(Angle(radians=Fraction(3, 10)))) - 1],
        lambda t, q: [t.sqrt(q[2] * q[2] + 5) ** 2 - q[2] * q[2] - 5],
        lambda t, q: [(q[0] / (q[1] + 2)) * (q[1] + 2) - q[0]],
    ],
)
def test_trigonometric_and_rational_identities_hold_modulo_the_prime(build):
    program = configuration(build)
    nothing = configuration(lambda t, q: [t.number(0)])
    assert verify(program, nothing).false_pass_probability < FALSE_PASS


def test_simplified_programs_are_verified_against_what_they_came_from():
    for program in (pendulum_pair()[0], kitchen_sink()[0], random_program(5, divisions=True)):
        certificate = verify(simplify(program), program, seed=4)
        assert certificate.false_pass_probability < FALSE_PASS
        assert certificate.prime == 2**61 - 1


def test_a_certificate_can_be_repeated_from_what_it_says():
    program, _ = pendulum_pair()
    first = verify(simplify(program), program, seed=11, artefact=b"text of the artefact")
    again = verify(simplify(program), program, seed=first.seed, points=first.points, artefact=b"text of the artefact")
    assert first == again
    assert len(first.digest) == 64


def test_the_degree_bound_is_at_least_the_degree():
    program = configuration(lambda t, q: [t.sincos_of(q[0])[0] ** 3 * q[1] + q[2] ** 5])
    assert 2 * 3 + 1 <= degree_bound(program) <= 2 * 3 + 1 + 5


def test_the_degree_bound_of_quotients_covers_the_degree_over_the_common_denominator():
    """Against SymPy's own numerator and denominator; a divisor that terms share counts once."""
    x = sympy.symbols("x0:4")

    def quotients(q):
        a = 1 / (q[0] * q[1] + q[2])
        b = q[3] * a + q[1] * a - a
        return [a + b, b / (q[0] + 1 / q[3]), b / a, (b + q[2] / q[0]) / (b - q[1]), b / (a * q[1] - 2)]

    for k, value in enumerate(quotients(x)):
        over, under = sympy.fraction(sympy.cancel(value))
        degree = sum(max(sympy.degree(part, name) for part in (over, under)) for name in x)
        program = configuration(lambda t, q, k=k: [quotients(q)[k]], 4)
        assert degree <= degree_bound(program)
    assert degree_bound(configuration(lambda t, q: quotients(q)[:1], 4)) == 2 + 3  # (q3 + q1) / (q0 q1 + q2)


def test_a_constant_that_is_off_by_one_part_in_a_billion_is_refuted():
    right = configuration(lambda t, q: [q[0] * Fraction(1, 3)])
    wrong = configuration(lambda t, q: [q[0] * Fraction(333333333, 10**9)])
    with pytest.raises(Refuted, match=r"y\[0\]"):
        verify(wrong, right)


def test_a_callable_formulation_needs_a_degree():
    program = configuration(lambda t, q: [q[0] * q[1]])

    def product(field: PrimeField):
        return {"y": [field.displacement(0) * field.displacement(1)]}

    with pytest.raises(ValueError, match="degree"):
        verify(program, product)
    assert verify(program, product, degree=2).points >= 1


@pytest.mark.parametrize("build", [pendulum_pair, lambda: (random_program(2, divisions=True), None)])
def test_every_mutant_that_changes_the_function_is_caught(build):
    original = build()[0]
    program = prune(original)
    inputs = samples(program, 8, seed=3, scale=2.0)
    right = evaluate(program, inputs)
    caught = 0
    for mutant in mutants(program):
        with np.errstate(all="ignore"):
            out = evaluate(mutant, inputs)
        changed = any(not np.allclose(out[n], right[n], rtol=1e-11, atol=1e-11 * np.abs(right[n]).max()) for n in right)
        if changed:
            with pytest.raises((Refuted, ValueError)):
                verify(mutant, original)
            caught += 1
        else:
            verify(mutant, original)
    assert caught > program.size


def test_a_sine_of_a_product_is_refused_by_name():
    program = configuration(lambda t, q: [t.sincos_of(q[0] * q[1])[0]])
    with pytest.raises(ValueError, match="no sum of angles"):
        evaluate_residues(program, PrimeField(0))


def test_programs_made_to_take_forever_are_refused_at_once():
    """A stored program may come from anybody: sums of sums of an angle, powers of powers of a number."""
    q = InputGroup("q", 1, Dependence.CONFIGURATION)

    def chain(first, kind, length, *rest):
        ops = (first, *(Op(kind, (i, i)) for i in range(length)), *rest)
        return Program("p", (q,), ops, (OutputGroup("y", (1,), (Ref(len(ops) - 1),)),))

    angle = chain(Op(Kind.INPUT, payload=("q", 0)), Kind.ADD, 60, Op(Kind.SIN, (60,)))
    with pytest.raises(ValueError, match="more than 1000 times an angle"):
        verify(angle, angle)
    power = chain(Op(Kind.NUMBER, payload=Fraction(3)), Kind.MUL, 60)
    with pytest.raises(ValueError, match="too many digits"):
        evaluate(power, {"q": np.zeros(1)})


def test_one_spacing_is_one_ulp():
    x = np.array([1.0, 1e10, 3.5])
    np.testing.assert_array_equal(ulps(np.nextafter(x, np.inf), x), 1.0)


def test_double_arithmetic_on_a_short_program_errs_by_few_ulps():
    assert 0 < float_error(pendulum_pair()[0])["tau"] < 16
