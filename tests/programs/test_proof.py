from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle, P, PrimeField, prime_of
from emdeg.errors import OffTheVariety, Refuted
from emdeg.programs.ir import Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref
from emdeg.programs.proof import FALSE_PASS, OPEN_LOOPS, Proof, verify
from emdeg.programs.residues import evaluate_residues
from emdeg.programs.simplification import prune, simplify
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate
from emdeg.programs.verification import verify_program
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


def test_a_certificate_can_be_repeated_from_what_it_says():
    program, _ = pendulum_pair()
    first = verify(simplify(program), program, seed=11, artefact=b"text of the artefact")
    again = verify(simplify(program), program, seed=first.seed, points=first.points, artefact=b"text of the artefact")
    assert first == again
    assert len(first.digest) == 64


def test_a_constant_that_is_off_by_one_part_in_a_billion_is_refuted():
    right = configuration(lambda t, q: [q[0] * Fraction(1, 3)])
    wrong = configuration(lambda t, q: [q[0] * Fraction(333333333, 10**9)])
    with pytest.raises(Refuted, match=r"y\[0\]"):
        verify(wrong, right)


def test_a_formulation_is_held_against_its_own_trace():
    program = configuration(lambda t, q: [q[0] * q[1]])

    def product(field: PrimeField):
        return {"y": [field.displacement(0) * field.displacement(1)]}

    def another(field: PrimeField):
        return {"y": [field.displacement(0) * field.displacement(2)]}

    assert verify(program, program, direct=product).points >= 1
    with pytest.raises(Refuted, match="trace of the independent formulation"):
        verify(program, program, direct=another)


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


def nothing_but(program):
    """Divisors and radicands are to be those of the independent formulation alone."""
    return {"independent": program, "grounds": list}


def test_two_numbers_that_are_one_modulo_a_known_prime_are_two():
    """Hypothesis: the prime is not known beforehand. That of the fixed seed is, and 2^61 - 1 is."""
    right = configuration(lambda t, q: [q[0] * 3])
    for known in (P, prime_of("0 and 0 0"), P * prime_of("0 and 0 0") * 2**200):
        with pytest.raises(Refuted, match=r"y\[0\] differs"):
            verify(configuration(lambda t, q, known=known: [q[0] * (3 + known)]), right)


def test_a_difference_that_vanishes_at_the_seed_s_point_is_seen_at_another():
    """Hypothesis: the points are not known beforehand."""
    prime = prime_of("7 and 0 0")
    there = PrimeField("7 and 0 0 0", prime).displacement(0).value
    right = configuration(lambda t, q: [q[1]])
    wrong = configuration(lambda t, q: [q[1] + q[1] * (q[0] - there)])
    with pytest.raises(Refuted, match="point 0"):
        verify(wrong, right, seed=7)


def test_an_angle_is_no_number():
    """Hypothesis: angles stand in sines and cosines alone; 5 radians are nothing in a field."""
    right = configuration(lambda t, q: [q[0]])
    for wrong in (
        lambda t, q: [q[0] + t.angle(Angle(radians=Fraction(5)))],
        lambda t, q: [q[0] + t.angle(Angle(radians=Fraction(5))) * 0 + t.angle(Angle(Fraction(1, 3))) * q[1]],
        lambda t, q: [t.sqrt(q[0] * q[0] + t.angle(Angle(radians=Fraction(5))))],
        lambda t, q: [q[0] / t.angle(Angle(radians=Fraction(1)))],
    ):
        with pytest.raises(Refuted, match="outside sines and cosines"):
            verify(configuration(wrong), right)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t, q: [t.sqrt(q[0] * q[0])],
        lambda t, q: [-t.sqrt(q[0] * q[0])],
        lambda t, q: [t.sqrt((q[0] * q[1]) * (q[0] * q[1])) / q[1]],
        lambda t, q: [t.sqrt(q[0] * 9) * t.sqrt(q[0]) * Fraction(1, 3)],
        lambda t, q: [t.sqrt(q[0] * q[1]) * t.sqrt(q[0] / q[1])],
        lambda t, q: [t.sqrt(q[0] + 1) * t.sqrt(q[1]) * t.sqrt((q[0] + 1) * q[1]) / ((q[0] + 1) * q[1]) * q[0]],
    ],
)
def test_roots_that_are_not_independent_have_every_sign(wrong):
    """Hypothesis: no product of radicands is a square, or every sign is tried. A real root of x^2 is |x|, not x."""
    right = configuration(lambda t, q: [q[0]])
    for seed in range(4):
        with pytest.raises(Refuted):
            verify(configuration(wrong), right, seed=seed)


def test_the_same_dependent_roots_on_both_sides_are_no_reason_to_refuse():
    def build(t, q):
        return [t.sqrt(q[0] * q[0] * 4 + q[1]) + t.sqrt(q[0] * q[0] + q[1] / 4), t.sqrt(t.number(2)) * q[1]]

    program = configuration(build)
    assert verify(program, **nothing_but(program)).false_pass_probability < FALSE_PASS
    nested = configuration(lambda t, q: [t.sqrt(t.sqrt(q[0] + 3) + q[1])])
    assert verify(nested, **nothing_but(nested)).points >= 1


def test_a_root_that_the_independent_formulation_does_not_take_is_refused():
    """Hypothesis: the program is defined wherever that is; r^2 - u is zero only where u is not negative."""
    right = configuration(lambda t, q: [q[0]])
    wrong = configuration(lambda t, q: [q[0] + t.sqrt(q[1] - 5) * t.sqrt(q[1] - 5) - (q[1] - 5)])
    assert verify(wrong, right).points  # as formulas they are equal
    with pytest.raises(Refuted, match="takes a root that neither"):
        verify(wrong, **nothing_but(right))


def test_radicands_are_named_with_the_formulation_that_has_them():
    """Hypothesis: for real inputs a root is the same real number, because its radicand is the same value."""
    right = configuration(lambda t, q: [t.sqrt(q[0] + 3) + t.sqrt(t.number(2)) * q[1]])
    program = configuration(lambda t, q: [t.sqrt(t.number(2)) * q[1] + t.sqrt(3 + q[0])])
    ((index, whose),) = verify(program, **nothing_but(right)).roots_of  # 2 is no radicand that could be negative
    assert (program.ops[index].kind, whose) == (Kind.ADD, "the independent formulation")
    more = configuration(lambda t, q: [t.sqrt(q[0] + 3) * (1 + t.sqrt(q[1]) - t.sqrt(q[1])) * t.sqrt(q[1]) ** 2])
    bare = configuration(lambda t, q: [t.sqrt(q[0] + 3) * q[1]])
    assert [whose for _, whose in verify(more, bare, grounds=lambda: [more]).roots_of] == [
        "the independent formulation",
        "the plain formulation",
    ]
    with pytest.raises(Refuted, match="takes a root that neither"):
        verify(more, **nothing_but(bare))
    # The other root of the same radicand is another function.
    with pytest.raises(Refuted, match="differs"):
        verify(configuration(lambda t, q: [-t.sqrt(q[0] + 3) * q[1]]), **nothing_but(bare))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t, q: [q[0] * t.sincos_of(q[1])[0] / t.sincos_of(q[1])[0]],
        lambda t, q: [q[0] + (q[1] - q[1] * q[2] / q[2])],
        lambda t, q: [(q[0] * q[1] + q[0]) / (q[1] + 1)],
    ],
)
def test_a_divisor_that_the_independent_formulation_does_not_have_is_refused(wrong):
    """Hypothesis: a divisor that may vanish is one of the plain formulation's own."""
    right = configuration(lambda t, q: [q[0]])
    program = configuration(wrong)
    assert verify(program, right).points
    with pytest.raises(Refuted, match="divides by something"):
        verify(program, **nothing_but(right))
    assert verify(program, right, grounds=lambda: [program]).divides_by[0][1] == "the plain formulation"


def test_a_divisor_may_differ_by_a_number_and_a_number_may_divide_unless_it_is_zero():
    right = configuration(lambda t, q: [q[0] / (q[1] + 3)])
    scaled = configuration(lambda t, q: [q[0] * 7 / (q[1] * 7 + 21)])
    certificate = verify(scaled, **nothing_but(right))
    assert [word for _, word in certificate.divides_by] == ["the independent formulation"]

    def with_sine(t, q, offset):
        by = t.sincos(Angle(Fraction(1, 6)))[0] - offset
        return [q[0] / (q[1] + 3) * by / by]

    assert verify(configuration(lambda t, q: with_sine(t, q, Fraction(1, 3))), **nothing_but(right)).points
    with pytest.raises(Refuted, match="no point was found"):  # the sine of 30 degrees is 1/2, modulo primes too
        verify(configuration(lambda t, q: with_sine(t, q, Fraction(1, 2))), **nothing_but(right))


def test_where_no_second_point_is_found_the_first_one_is_drawn_anew(monkeypatch):
    found, unlucky = Proof._second_point, iter([True, True])

    def seldom(proof, at):
        if next(unlucky, False):
            raise ZeroDivisionError
        return found(proof, at)

    monkeypatch.setattr(Proof, "_second_point", seldom)
    right = configuration(lambda t, q: [q[0] / (q[1] + 3)])
    assert verify(configuration(lambda t, q: [q[0] * 7 / (q[1] * 7 + 21)]), **nothing_but(right)).points
    assert next(unlucky, None) is None


def test_a_divisor_that_is_zero_everywhere_has_no_point():
    q = InputGroup("q", 1, Dependence.CONFIGURATION)
    ops = (Op(Kind.INPUT, payload=("q", 0)), Op(Kind.SUB, (0, 0)), Op(Kind.DIV, (0, 1)))
    program = Program("p", (q,), ops, (OutputGroup("y", (1,), (Ref(2),)),))
    with pytest.raises(Refuted, match="no point was found"):
        verify(program, program)


def test_a_prime_that_divides_a_denominator_is_replaced():
    unlucky = prime_of("3 and 0 0")
    program = configuration(lambda t, q: [q[0] * Fraction(1, unlucky)])
    assert verify(program, program, seed=3).points


def test_a_loop_that_stays_open_is_no_reference():
    program = configuration(lambda t, q: [q[0]])
    t = Tracer()
    q = t.inputs("q", 3, Dependence.CONFIGURATION)
    with pytest.raises(OffTheVariety):
        verify(program, t.program("p", {"y": [q[0]], OPEN_LOOPS: [q[1] - q[2]]}))


def test_a_shipped_program_s_divisors_are_named():
    robot = emdeg.load("fourbar")
    certificate = verify_program(emdeg.program(robot, "inverse_dynamics"), robot, "inverse_dynamics")
    assert len(certificate.divides_by) == 2
    assert certificate.height_bound > 100
