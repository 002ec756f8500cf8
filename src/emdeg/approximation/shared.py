"""The efforts of a short model as sums of products, with what the rows have in common taken out.

Entries stand in several rows with the same coefficients (b214 is -b412), rows of parallel joints have most terms in
common: extraction finds that from the sums alone, constants being letters until the program is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction

from emdeg.algebra import Atom, TrigPoly
from emdeg.algebra.factoring import Extraction, Key
from emdeg.approximation.efforts import Forms, Rates, Table, Writing, inner_neighbours, on_links, tables
from emdeg.approximation.short_model import ShortModel
from emdeg.programs import Program

Letter = Atom | tuple[str, int] | Fraction
"""A sine, cosine or displacement; ("qd", joint) or ("qdd", joint); a constant's value."""


class SharedEfforts:
    """Inverse dynamics by extraction; `links`: what is that of links that turn about parallel axes, not of joints."""

    def __init__(self, short: ShortModel, links: Collection[str] = ()) -> None:
        self.short = short
        self.n = short.full.robot.n
        groups = short.full.lumped.groups
        self.links = links
        self.before: Mapping[int, int] = inner_neighbours(groups) if links else {}
        self._letters: dict[Letter, int] = {}
        forms = Forms(short.full.lumped.algebra, groups)
        own = self.before if "efforts" in links else ()
        self.alone = {j: self.n + i for i, j in enumerate(sorted(own))}
        """{joint: the number of a sum for what its effort has and the inner neighbour's has not}."""
        rows: list[dict[Key, dict[str, Fraction]]] = [{} for _ in range(self.n + len(self.alone))]
        for constant, mine in tables(short.lumped.expansions, short.one_sided).items():
            for at, rates, function in self._placed(mine):
                for product, c in forms(function).items():
                    key = tuple(sorted([*map(self._letter, product), *self._rates(rates)]))
                    into = rows[at].setdefault(key, {})
                    into[constant] = into.get(constant, Fraction(0)) + c
        self.sums = [dict(filter(None, (self._term(k, mix) for k, mix in row.items()))) for row in rows]
        self._take_alone()
        self.names = {number: letter for letter, number in self._letters.items()}
        self.fixed = {number for number, letter in self.names.items() if isinstance(letter, Fraction)}

    def _placed(self, mine: Table) -> Iterator[tuple[int, Rates, TrigPoly]]:
        """(the sum's number, rates, coefficient): on links; accelerations of joints stay with the joints' efforts."""
        staying = {} if "accelerations" in self.links else {key: f for key, f in mine.items() if len(key[1]) == 1}
        for (row, rates), function in staying.items():
            yield self.alone.get(row, row - 1), rates, function
        moving = {key: f for key, f in mine.items() if key not in staying}
        for (row, rates), function in on_links(moving, self.before, self.links).items():
            yield row - 1, rates, function

    def _take_alone(self) -> None:
        """Terms that stand in two rows of links with opposite signs are of the outer joint's effort alone."""
        for j, alone in self.alone.items():
            row, other = self.sums[j - 1], self.sums[self.before[j] - 1]
            both = {key: c for key, c in row.items() if other.get(key) == -c}
            if len(both) > 1 or self.sums[alone]:
                for key, c in both.items():
                    del row[key], other[key]
                    self.sums[alone][key] = c

    def _letter(self, letter: Letter) -> int:
        return self._letters.setdefault(letter, len(self._letters) + 1)

    def _rates(self, rates: Rates) -> list[int]:
        kind = "qdd" if len(rates) == 1 else "qd"
        return [self._letter((kind, j)) for j in rates]

    def _term(self, key: Key, mix: Mapping[str, Fraction]) -> tuple[Key, Fraction] | None:
        """A term with its number as a letter: one constant, or several with the same function as one."""
        mix = {name: c for name, c in mix.items() if c}
        if not mix:
            return None
        lead = next(iter(mix.values()))
        value = sum((self.short.numbers[name] * c / lead for name, c in mix.items()), Fraction(0))
        if not value:
            return None
        if value < 0:
            value, lead = -value, -lead
        return tuple(sorted((*key, self._letter(value)))), Fraction(lead)

    @property
    def longest(self) -> int:
        """The terms of the longest sum."""
        return max(map(len, self.sums), default=0)

    def quick_program(self) -> Program:
        """One good program, always the same."""
        return self.program(self.extraction(noise=0.0))

    def extraction(self, seed: int = 0, noise: float = 0.6, stopped: Callable[[], bool] = lambda: False) -> Extraction:
        """One run of extraction, as far as it comes until it is told to stop."""
        return Extraction(self.sums, self.fixed, seed, noise).run(stopped)

    def program(self, found: Extraction) -> Program:
        """The program that an extraction of these sums gives."""
        writing = Writing(self.short, self.before, self.links)

        def value(number: int):
            letter = self.names[number]
            if isinstance(letter, Atom):
                return writing.letter(letter)
            assert isinstance(letter, tuple)
            return (writing.qd if letter[0] == "qd" else writing.qdd)[letter[1] - 1]

        def number_of(number: int) -> Fraction:
            letter = self.names[number]
            assert isinstance(letter, Fraction)
            return letter

        tau = found.values(len(self.sums), value, number_of)
        for j, inner in sorted(self.before.items(), reverse=True) if "efforts" in self.links else ():
            tau[inner - 1] = tau[inner - 1] + tau[j - 1]
        for j, alone in self.alone.items():
            tau[j - 1] = tau[j - 1] + tau[alone]
        return writing.tracer.program("inverse_dynamics", {"tau": tau[: self.n]})
