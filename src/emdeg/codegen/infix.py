"""A program as statements of a language with infix operators, or as formulas for people; what differs is data.

A product or a sum that is read once stands inside the expression that reads it: a reader sees formulas and a
compiler may fuse a multiplication with an addition. Operators in the text are exactly the operations
of the program: negations appear only in front of a stored output and under a root.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from emdeg.programs import (
    Act,
    Allocation,
    Kind,
    Op,
    Program,
    Ref,
    constants,
    count,
    digest_text,
    live,
    split_constants,
    split_rates,
    uses,
)


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes what programs are made of: one for machines, or the mathematics of a paper."""

    number: Callable[[Fraction], str]
    element: Callable[[str, int], str]
    declare: Callable[[str, str], str]
    sqrt: Callable[[str], str]
    sincos: Callable[[str | None, str | None, str], list[str]] = lambda sine, cosine, angle: []
    """Statements for a sine and a cosine."""
    together: Callable[[list[str]], tuple[list[str], list[tuple[str, str]]]] | None = None
    """Statements for the sines and cosines of several angles at once, and the pairs' names."""
    store: Callable[[str, str], str] = "{} = {};".format
    """A statement that stores an expression in an entry of an output."""
    law: Callable[[str, str], str] = "{}({})".format
    """`sign`, `exp` or `tanh` of an expression."""
    temporary: Callable[[int], str] = "t{}".format
    times: str = " * "
    slash: str = " / "
    over: Callable[[str, str], str] | None = None
    """A quotient; None: with a slash between."""
    longest: int = 87
    """Characters of an expression that may stand inside another."""
    trigonometric: Callable[[str, str], str] | None = None
    """"s" or "c" of an angle, as it stands in a formula for people: such formulas name no more than they must, and
    their products need no brackets. None: a language for machines, where every operation stays as it is."""

    @property
    def for_people(self) -> bool:
        return self.trigonometric is not None


@dataclass(frozen=True, slots=True)
class Summand:
    """A term of a formula as it is written behind its sign, and the program's value that it is, with that sign."""

    text: str
    value: Ref


@dataclass(frozen=True, slots=True)
class Listing:
    """Statements in order, and the expression of every output entry, row by row, by output name."""

    statements: tuple[str, ...]
    outputs: dict[str, tuple[str, ...]]
    ready: dict[str, tuple[int, ...]]
    """Of every entry how many statements come before it may be stored: its own, and all that read an input."""
    sums: tuple[tuple[Summand, ...], ...] = ()
    """Of formulas for people the terms of every statement, brackets around sums opened."""
    output_sums: dict[str, tuple[tuple[Summand, ...], ...]] = field(default_factory=dict)
    """And of every entry; a zero has none."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression. `level`: 0 an atom, 1 a product, 2 a sum, 3 a negative, in the order in which they bind."""

    text: str
    level: int = 0

    def at(self, level: int) -> str:
        """The text as it may stand where `level` binds: in brackets if it binds less."""
        return self.text if self.level <= level else f"({self.text})"


def listing(program: Program, language: Language) -> Listing:
    """The program's statements and outputs in `language`."""
    return listings(program, [language])[0]


def listings(program: Program, languages: Sequence[Language]) -> list[Listing]:
    """The same statements in several languages; the first decides what is long enough to get a name."""
    needed, times = live(program), uses(program)
    printers = [_Printer(program, language, needed) for language in languages]
    first = printers[0]
    for index, op in enumerate(program.ops):
        if not needed[index]:
            continue
        for printer in printers:
            printer.read(index, op)
        text = first.operands[index].text
        if (
            op.kind in _ARITHMETIC
            and index not in first.numbers
            and (times[index] > 1 or index in first.rooted or len(text) > first.language.longest)
        ):
            for printer in printers:
                printer.name(index)
    return [printer.listing() for printer in printers]


def parts(program: Program, name: str, multirate: bool = False) -> list[Program]:
    """The functions of a file, by name: constants of open parameters where there are any, itself, its two rates."""
    constants, main = split_constants(replace(program, name=name))
    return [*([] if constants is None else [constants]), main, *(split_rates(main) if multirate else ())]


def body(program: Program, language: Language) -> list[str]:
    """Statements that compute the outputs and store their entries in the caller's arrays.

    Nothing is stored before all inputs are read, so that an output may overwrite an input; from there on each entry as
    soon as it is known, so that it takes no register up to the end.
    """
    lines = listing(program, language)
    stores: list[list[str]] = [[] for _ in range(len(lines.statements) + 1)]
    for name, texts in lines.outputs.items():
        for place, (text, ready) in enumerate(zip(texts, lines.ready[name])):
            stores[ready].append(language.store(language.element(name, place), text))
    found = stores[0]
    for statement, after in zip(lines.statements, stores[1:]):
        found += [statement, *after]
    return found


@dataclass(frozen=True, slots=True)
class Memory:
    """How a language writes values that wait in memory, by their place there and their name."""

    keep: Callable[[int, str], str]
    """A statement that writes a value there."""
    kept: Callable[[int, str], str]
    """The value where it is read from there."""
    pause: str
    """A statement over which a compiler takes nothing along that lies there."""
    stretch: int
    """Operations between two of them."""


def allocated_body(allocation: Allocation, language: Language, memory: Memory) -> list[str]:
    """As `body`, an operation a statement, with values where the allocation has them."""
    program = allocation.program
    printer = _Printer(program, language, live(program))
    for index, op in enumerate(program.ops):
        if index in printer.numbers or op.kind in (Kind.INPUT, Kind.ANGLE):
            printer.read(index, op)
    refs = {(group.name, place): ref for group in program.outputs for place, ref in enumerate(group.entries)}
    lying = dict(printer.operands)
    computed = 0

    def write(value: int, expression: Op) -> None:
        """A value as it may stand where it is read, what stands inside it first."""
        for arg in expression.args:
            if arg in allocation.inside and arg not in printer.operands:
                write(arg, program.ops[arg])
                if len(printer.operands[arg].text) > language.longest:
                    printer.name(arg)
        printer.read(value, expression)

    for step in allocation.steps:
        match step.act:
            case Act.COMPUTE:
                op = program.ops[step.value]
                if allocation.places and computed % memory.stretch == memory.stretch - 1:
                    printer.statements.append(memory.pause)
                computed += 1
                write(step.value, op)
                if op.kind in _TRIG:
                    lying[step.value] = printer.operands[step.value]
                else:
                    printer.name(step.value)
            case Act.LOAD:
                printer.name(step.value)
            case Act.KEEP:
                name = printer.operands[step.value].text
                printer.statements.append(memory.keep(step.place, name))
                lying[step.value] = Operand(memory.kept(step.place, name))
            case Act.LEAVE:
                printer.operands[step.value] = lying[step.value]
            case Act.STORE:
                printer.statements.append(
                    language.store(language.element(*step.entry), printer.output(refs[step.entry]))
                )
    return printer.statements


def unused(program: Program) -> list[str]:
    """Names of the inputs that are not read and of the outputs that have no entry; some compilers warn of them."""
    read = {op.slot[0] for op, needed in zip(program.ops, live(program)) if needed and op.kind is Kind.INPUT}
    names = [group.name for group in program.inputs if group.name not in read]
    return names + [group.name for group in program.outputs if not group.entries]


_TRIG = (Kind.SIN, Kind.COS)
_ARITHMETIC = frozenset(Kind) - {Kind.INPUT, Kind.ANGLE, *_TRIG}


class _Printer:
    """One language's expressions and statements while a program is read."""

    def __init__(self, program: Program, language: Language, needed: Sequence[bool]) -> None:
        self.program, self.language = program, language
        self.operands: dict[int, Operand] = {}
        self.statements: list[str] = []
        self.rooted = set() if language.for_people else set(program.roots())
        self.numbers = {
            index: value
            for index, value in constants(program).items()
            if not (language.for_people and program.ops[index].kind in _TRIG)
        }
        self.waves = {
            (op.kind, op.args[0])
            for index, op in enumerate(program.ops)
            if needed[index] and op.kind in _TRIG and index not in self.numbers
        }
        self.angles: dict[int, int] = {}
        self.pairs: dict[int, tuple[str, str]] = {}
        self.fresh = itertools.count(1)
        self.from_inputs: set[int] = set()
        """Values whose text, as it stands where it is read, names an input."""
        self.all_read = 0
        """Statements up to the last that reads an input."""
        self.known: dict[int, int] = {}
        """Statements before a value's text may stand."""
        self.sums: dict[int, tuple[Summand, ...]] = {}
        """Of formulas for people the terms of a sum that has no name."""
        self.stated: list[tuple[Summand, ...]] = []

    def read(self, index: int, op: Op) -> None:
        """Write a value as it may stand where it is read."""
        inside = op.kind not in _TRIG or self.language.for_people
        if op.kind is Kind.INPUT or (inside and not self.from_inputs.isdisjoint(op.args)):
            self.from_inputs.add(index)
        if index in self.numbers:
            self.operands[index] = self._literal(self.numbers[index])
        elif op.kind is Kind.INPUT:
            self.operands[index] = Operand(self.language.element(*op.slot))
        elif op.kind is Kind.ANGLE:
            exact = Operand(str(op.angle)) if self.language.for_people else None
            self.operands[index] = exact or self._literal(Fraction(float(op.angle)))
        elif op.kind in _TRIG:
            self.operands[index] = self._wave(op)
        else:
            self.operands[index] = self._expression(op)
            if self.language.for_people and op.kind in (Kind.ADD, Kind.SUB):
                first, second = op.args
                sign = 1 if op.kind is Kind.ADD else -1
                turned = (Summand(one.text, Ref(one.value.value, sign * one.value.sign)) for one in self._terms(second))
                self.sums[index] = (*self._terms(first), *turned)
        self.known[index] = len(self.statements)

    def name(self, index: int) -> None:
        """A statement for a value, and its name where it is read."""
        name = self.language.temporary(next(self.fresh))
        self._state([self.language.declare(name, self.operands[index].text)], [index])
        self.stated.append(self._terms(index))
        self.sums.pop(index, None)
        self.operands[index] = Operand(name)
        self.from_inputs.discard(index)
        self.known[index] = len(self.statements)

    def _state(self, statements: Sequence[str], reading: Sequence[int]) -> None:
        """Statements that read these values."""
        self.statements += statements
        if not self.from_inputs.isdisjoint(reading):
            self.all_read = len(self.statements)

    def listing(self) -> Listing:
        # Inputs handed through are read before anything is stored, so that an output may overwrite an input.
        for index in sorted(self.rooted):
            if self.program.ops[index].kind is Kind.INPUT:
                self.name(index)
        outputs = {group.name: tuple(self.output(ref) for ref in group.entries) for group in self.program.outputs}
        ready = {
            group.name: tuple(max(self.all_read, self.known[ref.value] if ref.sign else 0) for ref in group.entries)
            for group in self.program.outputs
        }
        if not self.language.for_people:
            return Listing(tuple(self.statements), outputs, ready)
        sums = {group.name: tuple(map(self._output_terms, group.entries)) for group in self.program.outputs}
        return Listing(tuple(self.statements), outputs, ready, tuple(self.stated), sums)

    def _terms(self, index: int) -> tuple[Summand, ...]:
        """The terms of a value, brackets around sums opened."""
        return self.sums.get(index) or (Summand(self.operands[index].at(1), Ref(index)),)

    def _output_terms(self, ref: Ref) -> tuple[Summand, ...]:
        terms = self._terms(ref.value) if ref.sign else ()
        return tuple(Summand(one.text, Ref(one.value.value, ref.sign * one.value.sign)) for one in terms)

    def output(self, ref: Ref) -> str:
        if not ref.sign:
            return self.language.number(Fraction(0))
        operand = self.operands[ref.value]
        return operand.text if ref.sign > 0 else self._negative(operand)

    def _literal(self, value: Fraction) -> Operand:
        return Operand(self.language.number(value), 0 if value >= 0 else 3)

    def _negative(self, operand: Operand) -> str:
        return "-" + operand.at(1 if self.language.for_people else 0)

    def _wave(self, op: Op) -> Operand:
        """A sine or cosine where it is read, or its name after the statements that compute it."""
        angle = op.args[0]
        letter = "s" if op.kind is Kind.SIN else "c"
        if self.language.trigonometric is not None:
            return Operand(self.language.trigonometric(letter, self.operands[angle].text))
        if not self.pairs and self.language.together and all(place in self.operands for _, place in self.waves):
            places = sorted({place for _, place in self.waves})
            if len(places) > 1:
                lines, names = self.language.together([self.operands[place].text for place in places])
                self._state(lines, places)
                self.pairs = dict(zip(places, names))
        if angle in self.pairs:
            return Operand(self.pairs[angle][op.kind is Kind.COS])
        if angle not in self.angles:
            self.angles[angle] = len(self.angles) + 1
            sine = f"s{self.angles[angle]}" if (Kind.SIN, angle) in self.waves else None
            cosine = f"c{self.angles[angle]}" if (Kind.COS, angle) in self.waves else None
            self._state(self.language.sincos(sine, cosine, self.operands[angle].text), [angle])
        return Operand(f"{letter}{self.angles[angle]}")

    def _expression(self, op: Op) -> Operand:
        args, language = [self.operands[arg] for arg in op.args], self.language
        match op.kind:
            case Kind.ADD:
                return Operand(f"{args[0].at(2)} + {args[1].at(1)}", 2)
            case Kind.SUB:
                return Operand(f"{args[0].at(2)} - {args[1].at(1)}", 2)
            case Kind.MUL:
                if language.for_people and args[1].text[0].isdigit():
                    args.reverse()
                return Operand(f"{args[0].at(1)}{language.times}{args[1].at(1 if language.for_people else 0)}", 1)
            case Kind.DIV:
                if language.over is not None:
                    return Operand(language.over(args[0].text, args[1].text))
                return Operand(f"{args[0].at(1)}{'/' if language.for_people else language.slash}{args[1].at(0)}", 1)
            case Kind.NEG:
                return Operand(self._negative(args[0]), 3)
            case Kind.SIGN | Kind.EXP | Kind.TANH:
                return Operand(language.law(op.kind.value, args[0].text))
            case _:
                return Operand(language.sqrt(args[0].text))


def identifier(name: str) -> str:
    """`name` in lower case, every character outside [a-z0-9_] made an underscore; starts with a letter.

    No word that a language keeps for itself, and no function of its library: `short` becomes `robot_short`.
    """
    text = re.sub(r"[^a-z0-9_]", "_", name.lower())
    return text if re.match(r"[a-z]", text) and text not in _RESERVED else f"robot_{text}"


_RESERVED = frozenset(
    re.findall(
        r"\w+",
        # C and C++; Python, JavaScript, Rust; what C's headers declare; how these headers are called, for a library's
        # own header stands beside them; CMake's targets; Rust's crates, and what MATLAB text calls
        """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
        compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
        default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
        long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
        reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
        template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
        virtual void volatile wchar_t while xor xor_eq linux unix main errno stdin stdout stderr size_t ptrdiff_t

        as assert async await def del elif except finally from global import in is lambda nonlocal pass raise with yield
        let var function debugger instanceof arguments eval super self crate dyn fn impl loop match mod move mut pub ref
        trait type unsafe use where abstract become box final macro override priv unsized

        acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
        fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn y0 y1 yn ldexp lgamma llrint llround log log10 log1p log2 logb
        lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn signgam
        significand sin sincos sinh sqrt tan tanh tgamma trunc drem finite pow10 isnan isinf signbit isfinite isnormal
        abs labs div ldiv abort exit free malloc calloc realloc memcpy memset memmove strlen strcpy index rand
        system time clock signal read write open close printf puts remove rename link select send accept

        assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef
        stdint stdio stdlib string strings tgmath time uchar wchar wctype
        all test help clean install package edit_cache rebuild_cache list_install_components
        core std alloc proc_macro zeros size max min error isequal end classdef methods""",
    )
)


def escaped(name: str) -> str:
    """A name from a file as it may stand in any language's comment: everything unusual percent-encoded.

    Neither a comment's end, nor a line's end, nor a continuation survives.
    """
    return "".join(
        char if char in _PLAIN else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace")) for char in name
    )


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:=+@()[]/'")


def header(
    program: Program, name: str, robot: str, command: str, multirate: bool = False, *, split: bool = True
) -> list[str]:
    """Origin, operation count, digest, inputs and outputs; everything from outside escaped.

    `multirate`: how the two rates' functions are to be called, too. `split`: constants of parameters are made by a
    function of their own.
    """
    digest = hashlib.sha256(digest_text(program).encode()).hexdigest()
    lines = [f"{name}: generated by emdeg, do not edit.", ""]
    if robot:
        lines.append(f"robot: {escaped(robot)}")
    if command:
        lines.append(f"command: {escaped(command)}")
    lines += [f"operations: {count(program)}", f"program: sha256 {digest}", ""]
    for group in program.inputs:
        labels = ", ".join(escaped(label) for label in group.labels)
        lines.append(f"in   {group.name}[{group.size}]" + (f": {labels}" if labels else ""))
    constants, main = split_constants(program) if split else (None, program)
    if constants is not None:
        size = len(constants.outputs[0].entries)
        lines.append(f"     constants[{size}]: {name}_constants makes them of the parameters; {name} takes them")
    for out in program.outputs:
        shape = " x ".join(map(str, out.shape)) or "1"
        lines.append(f"out  {out.name}[{len(out.entries)}]: {shape}, row by row")
    if multirate:
        handed = split_rates(main)[1].inputs[-1].size
        lines += ["", f"{name}_rates takes x[{handed}], which {name}_configuration computes."]
    return lines
