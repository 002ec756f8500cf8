"""Proof that a program computes what an independent formulation computes, and a certificate that says so.

Both are evaluated modulo primes, drawn from a large set when the proof is made, at random points, and must agree
exactly. `docs/verification.md` states the theorem; its hypotheses are checked here: two different functions agree at a
point with a probability that their degree and the height of their numbers bound; a root is one that the independent
formulation takes too, and roots are independent or taken with every sign; a divisor is one of the independent or the
plain formulations', or a number that is not zero; an angle stands in sines and cosines alone.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from emdeg.algebra import LEAST_PRIME, MANY_PRIMES, MODULO, REMAINDER, PrimeField, Residue, prime_of, root_of
from emdeg.documents import Shown
from emdeg.errors import NotGrounded, NotProvable, OffTheVariety, Refuted, UnluckyPoint
from emdeg.programs.height import difference_size
from emdeg.programs.ir import Kind, Program, digest_text, live
from emdeg.programs.residues import field_values, output_residues
from emdeg.programs.values import numbers_with

Residues = Mapping[str, tuple[int, ...]]
Direct = Callable[[PrimeField], Mapping[str, Any]]
"""The independent formulation itself, run over a field: nested sequences of `Residue` (or int) by output name."""

PRIMES = 4
"""How many primes are tried for a point: one may divide a denominator, or no point be found."""
ATTEMPTS = 8
"""How many points are tried for a prime; at each root half of the points fail, which doubles it."""
LUCK = 0.1
"""A point at which a difference may go unseen with a greater probability is none to prove anything with."""
MOST_ROOTS = 13
MOST_SIGNS = 5
"""Up to so many roots are taken with every sign where they cannot be shown independent."""
INDEPENDENT, PLAIN = "the independent formulation", "the plain formulation"
"""Whose divisors a program may have."""
OPEN_LOOPS = "open_loops"
"""An output of an independent formulation that must be zero: what its loops lack to being closed."""
FALSE_PASS = 1e-15
"""The probability of a false pass that a certificate must stay below."""
DRAWN = f"between 2^60 and 2^63, {REMAINDER} modulo {MODULO}, drawn when the proof is made"
"""What a certificate says about its primes."""


@dataclass(frozen=True, slots=True)
class Certificate(Shown):
    """What was checked and how to check it again. `digest` is the sha256 of the artefact's bytes.

    `points` were drawn anew, each with a prime of its own; one more comes from the `seed`, so that a failure there can
    be repeated. `height_bound` is the number of bits of the largest number in a difference. `divides_by` names, for
    each divisor that is no number, the operation of the program and the formulation that divides by the same;
    `roots_of` each radicand in the same way.
    """

    program: str
    formulations: tuple[str, str]
    primes: str
    seed: int
    points: int
    degree_bound: int
    height_bound: int
    false_pass_probability: float
    divides_by: tuple[tuple[int, str], ...]
    digest: str
    roots_of: tuple[tuple[int, str], ...] = ()

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def verify(
    program: Program,
    independent: Program,
    *,
    formulations: tuple[str, str] = ("program", "reference"),
    seed: int = 0,
    points: int | None = None,
    grounds: Callable[[], Sequence[Program]] | None = None,
    direct: Direct | None = None,
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that both compute the same outputs; raises `Refuted` at the first point that differs.

    `points` defaults to as many as FALSE_PASS needs. `grounds` yields further programs whose divisors and radicands are
    as good as the independent one's; None: any divisor and radicand will do. `direct` is the independent formulation
    without a trace: at one point it must yield what its trace does.
    """
    proof = Proof(program, independent, grounds)
    degree, bits, miss = proof.chance()
    if miss > LUCK:
        raise NotProvable(
            f"{program.name}: its degree, {degree}, or its numbers, {bits} bits, are too large for a proof"
        )
    if points is None:
        points = 1
        while miss**points >= FALSE_PASS:
            points += 1
    proof.check(f"{seed} and 0", "the seed's point")
    for number in range(points):
        proof.check(secrets.token_hex(32), f"point {number}", direct if number == 0 else None)
    proof.show_roots_independent(points)
    digest = hashlib.sha256(artefact if artefact is not None else digest_text(program).encode()).hexdigest()
    probability = max(miss**points, 1e-300)
    return Certificate(
        program.name,
        formulations,
        DRAWN,
        seed,
        points,
        degree,
        bits,
        probability,
        proof.divides_by,
        digest,
        proof.roots_of,
    )


class Roots:
    """The roots taken at one point, by their radicands: equal radicands have the same root in all programs.

    `signs` are bits: the root that is a square itself, or the other one, by the order in which radicands come up.
    """

    def __init__(self, prime: int, signs: int = 0) -> None:
        self.prime, self.signs = prime, signs
        self.known: dict[int, int] = {}
        self.closed = False

    def __call__(self, radicand: int) -> int:
        root = self.known.get(radicand)
        if root is None:
            if self.closed:
                raise NotGrounded("takes a root")
            root = root_of(radicand, self.prime)
            root = -root % self.prime if self.signs >> len(self.known) & 1 else root
            self.known[radicand] = root
        return root


Named = tuple[str, int]
"""A divisor: its program's name and the operation in it."""


@dataclass
class Proof:
    """An identity check in progress: what is compared, and what the points so far have shown."""

    program: Program
    independent: Program
    grounds: Callable[[], Sequence[Program]] | None
    sources: list[Program] = field(init=False)
    """Whose roots and divisors are as good as the independent formulation's; that one is the first."""
    apart: set[int] = field(default_factory=set)
    """Roots, by the order in which their radicands come up, seen not to be made of those before."""
    taken: int = 0
    """How many different radicands there are."""
    divisors: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    """A divisor of the program -> which source's which divisors have had the same value at every point."""
    plain_radicands: set[int] = field(default_factory=set)
    """Radicands of the program that the independent formulation does not take a root of."""

    def __post_init__(self) -> None:
        self.sources = [self.independent]
        self.grown = False
        own = {group.name: group.shape for group in self.program.outputs}
        other = {group.name: group.shape for group in self.independent.outputs if group.name != OPEN_LOOPS}
        if list(own.items()) != list(other.items()):
            name = self.program.name
            raise Refuted(f"{name}: its outputs are {_told(own)}, the independent formulation's {_told(other)}")
        counted = self.sources if self.grounds is not None else [*self.sources, self.program]
        self.roots = sum(op.kind is Kind.SQRT for one in counted for op in one.ops)
        if self.roots > MOST_ROOTS:
            raise NotProvable(f"{self.program.name}: it has {self.roots} roots, and a proof can follow {MOST_ROOTS}")
        self.attempts = ATTEMPTS << self.roots
        self._own_divisors = _read_by(self.program, Kind.DIV)
        if self.grounds is not None:
            sure = numbers_with(self.program, self._own_divisors, lambda ball: not ball.contains(0))
            self._own_divisors = [index for index in self._own_divisors if index not in sure]
            radicands = _read_by(self.program, Kind.SQRT)
            positive = numbers_with(self.program, radicands, lambda ball: ball > 0)
            self._own_radicands = [index for index in radicands if index not in positive]
        else:
            self._own_radicands = []

    def chance(self) -> tuple[int, int, float]:
        """(degree, bits of the numbers, probability that a difference goes unseen at a point) at most."""
        degree, bits = difference_size(self.program, self.independent)
        # Whatever points are tried until one is found at which all exists; a number of b bits has b / 60 such primes.
        return degree, bits, PRIMES * (self.attempts * degree / LEAST_PRIME + bits / 60 / MANY_PRIMES)

    @property
    def divides_by(self) -> tuple[tuple[int, str], ...]:
        """The program's divisors that are no numbers, each with the formulation that has the same one."""
        return tuple((index, INDEPENDENT if min(same)[0] == 0 else PLAIN) for index, same in self.divisors.items())

    @property
    def roots_of(self) -> tuple[tuple[int, str], ...]:
        """The program's radicands that are no positive numbers, each with the formulation that has the same one."""
        return tuple((index, PLAIN if index in self.plain_radicands else INDEPENDENT) for index in self._own_radicands)

    def check(self, draw: str, where: str, direct: Direct | None = None, signs: Sequence[int] = (0,)) -> None:
        """Raise `Refuted` if the two differ at a point drawn from the seed `draw`, or if no point can be found."""
        for turn in range(PRIMES):
            prime = prime_of(f"{draw} {turn}")
            for attempt in range(self.attempts):
                at = PrimeField(f"{draw} {turn} {attempt}", prime)
                try:
                    for pattern in signs:
                        self._check_at(at, where, pattern)
                    if direct is not None:
                        self._check_direct(at, direct)
                    return
                except ZeroDivisionError:
                    if attempt == 0 and any(_lacks(one, prime) for one in (*self.sources, self.program)):
                        break
        raise Refuted(f"{self.program.name}: no point was found at which its quotients and roots exist")

    def _check_at(self, at: PrimeField, where: str, signs: int) -> None:
        roots = Roots(at.prime, signs)
        try:
            known = [field_values(self.independent, at, roots)]
            independent = set(roots.known)
            known += [field_values(one, at, roots) for one in self.sources[1:]]
            self.taken = max(self.taken, len(roots.known))
            roots.closed = self.grounds is not None
            own = field_values(self.program, at, roots)
            self.taken = max(self.taken, len(roots.known))
            self._compare_divisors(at, known, own)
            self.plain_radicands |= {index for index in self._own_radicands if own[index] not in independent}
        except UnluckyPoint:
            if not signs:
                self.apart.add(len(roots.known))
            raise
        except NotGrounded as missing:
            if not self._grow():
                raise Refuted(
                    f"{self.program.name}: it {missing} that neither the independent nor the plain formulation has"
                ) from None
            return self._check_at(at, where, signs)
        expected = output_residues(self.independent, known[0], at.prime)
        if any(expected.pop(OPEN_LOOPS, ())):
            raise OffTheVariety(f"{self.program.name}: a loop stays open")
        _compare(self.program, output_residues(self.program, own, at.prime), expected, where)

    def _grow(self) -> bool:
        """Add the programs of `grounds` to the sources; False if that was done before."""
        if self.grown or self.grounds is None:
            return False
        self.grown = True
        self.sources += [one for one in self.grounds() if sum(op.kind is Kind.SQRT for op in one.ops) <= MOST_ROOTS]
        return True

    def _check_direct(self, at: PrimeField, direct: Direct) -> None:
        found = {name: tuple(_flat(values, at.prime)) for name, values in direct(at).items()}
        traced = output_residues(self.independent, field_values(self.independent, at), at.prime)
        traced.pop(OPEN_LOOPS, None)
        if found != traced:
            raise Refuted(f"{self.program.name}: the trace of the independent formulation is not what that computes")

    def _compare_divisors(self, at: PrimeField, known: list[list[int | None]], own: list[int | None]) -> None:
        """Raise `NotGrounded` if the program divides by what no source divides by, up to a constant factor."""
        if self.grounds is None or not self._own_divisors:
            return
        places = [(k, index) for k, one in enumerate(self.sources) for index in _read_by(one, Kind.DIV)]
        other: list[list[int | None]] | None = None
        for index in self._own_divisors:
            possible = [place for place in places if index not in self.divisors or place in self.divisors[index]]
            value = own[index]
            same = {(k, i) for k, i in possible if value in (known[k][i], _negative(known[k][i], at.prime))}
            if not same and value is not None:
                if other is None:  # a second point modulo the same prime tells a constant factor
                    other = self._second_point(at)
                same = {
                    (k, i) for k, i in possible if _proportional(value, known[k][i], other, (k, i, index), at.prime)
                }
            if not same:
                if not self.grown:
                    self.divisors.clear()
                raise NotGrounded(f"divides by something (operation {index})")
            self.divisors[index] = same

    def _second_point(self, at: PrimeField) -> list[list[int | None]]:
        """All values at another point modulo the same prime; raise `ZeroDivisionError` if none is found."""
        for attempt in range(self.attempts):
            second = PrimeField(f"{at.seed} second {attempt}", at.prime)
            roots = Roots(at.prime)
            try:
                return [field_values(one, second, roots) for one in (*self.sources, self.program)]
            except ZeroDivisionError:
                continue
        raise ZeroDivisionError("no second point was found")  # the first one is tried elsewhere, then

    def show_roots_independent(self, points: int) -> None:
        """Raise `Refuted` if the two differ for some signs of roots that are not independent.

        A root is independent of those before it if there is a point at which they exist and it does not.
        """
        prime = 0
        for attempt in range(PRIMES * self.attempts):
            if len(self.apart) >= self.taken:
                return
            if attempt % 8 == 0:
                prime = prime_of(secrets.randbits(256))
            at = PrimeField(secrets.randbits(256), prime)
            roots = Roots(at.prime)
            try:
                for one in (*self.sources, *([] if self.grounds is not None else [self.program])):
                    field_values(one, at, roots)
            except UnluckyPoint:
                self.apart.add(len(roots.known))
            except ZeroDivisionError:
                continue
        if self.taken > MOST_SIGNS:
            raise Refuted(f"{self.program.name}: its {self.taken} roots cannot be shown independent of each other")
        for number in range(points):
            self.check(secrets.token_hex(32), f"point {number}", signs=range(2**self.taken))


def _read_by(program: Program, kind: Kind) -> list[int]:
    """The values by which what the outputs need is divided, or of which it takes roots, each once."""
    operations = zip(program.ops, live(program))
    return list(dict.fromkeys(op.args[-1] for op, alive in operations if alive and op.kind is kind))


def _negative(value: int | None, prime: int) -> int | None:
    return None if value is None else -value % prime


def _proportional(
    value: int, known: int | None, other: list[list[int | None]], place: tuple[int, int, int], prime: int
) -> bool:
    """Whether two divisors have one quotient at both points; the program's values are the last of the `other` point."""
    k, there, here = place
    a, b = other[-1][here], other[k][there]
    return known is not None and a is not None and b is not None and (value * b - a * known) % prime == 0


def _lacks(program: Program, prime: int) -> bool:
    """Whether the prime divides the denominator of a number."""
    return any(op.kind is Kind.NUMBER and op.number.denominator % prime == 0 for op in program.ops)


def _told(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {' x '.join(map(str, shape)) or 1}" for name, shape in shapes.items()) or "none"


def _compare(program: Program, found: Residues, expected: Residues, where: str) -> None:
    for group in program.outputs:
        for place, (a, b) in enumerate(zip(found[group.name], expected[group.name], strict=True)):
            if a != b:
                index = tuple(int(i) for i in np.unravel_index(place, group.shape)) if group.shape else ()
                raise Refuted(
                    f"{program.name}: {group.name}{list(index)} differs from the independent formulation at {where}"
                )


def _flat(values: Any, prime: int) -> Iterator[int]:
    if isinstance(values, list | tuple):
        for value in values:
            yield from _flat(value, prime)
    else:
        yield values.value if isinstance(values, Residue) else values % prime
