"""Values of long functions that wait in memory, as C: what gcc would keep all at once comes and goes as planned."""

from __future__ import annotations

from emdeg.codegen.infix import Memory

_ROOM = 32
"""Places of a room: instructions reach 32 numbers around a pointer with a single byte."""
_ROOMS = 7
"""Pointers beside those of inputs and outputs for which a processor has registers; the last room holds the rest."""
NEAR = _ROOM * _ROOMS
"""Places that are reached so: the last room's first ones are, too."""
_STRIDE = 5
"""Places of a room that follow each other lie so far apart: of neighbours gcc makes vectors, whose first parts wait."""
_STRETCH = 60
"""Operations after which gcc is to forget what it knows of memory; 10 and 100 gave code as fast.

There the code jumps, to where it goes on anyway: a processor that once had to decode, because its cache of decoded
instructions has no room for some line, goes on decoding until a jump, and a straight line has none.
"""


def _place(place: int) -> str:
    shelf, within = divmod(place, _ROOM)
    room = min(shelf, _ROOMS - 1)
    return f"{room}, {(shelf - room) * _ROOM + within * _STRIDE % _ROOM}"


MEMORY = Memory(
    keep=lambda place, name: f"KEEP({_place(place)}, {name});",
    kept=lambda place, name: f"KEPT({_place(place)}, {name})",
    pause="PAUSE;",
    stretch=_STRETCH,
)


def rooms(places: int) -> list[str]:
    """The declarations of rooms for so many values."""
    many = -(-places // _ROOM)
    sizes = [_ROOM] * min(many, _ROOMS - 1) + [_ROOM * (many - _ROOMS + 1)] * (many >= _ROOMS)
    return [f"ROOM({room}, {size});" for room, size in enumerate(sizes)]


HELPERS = f"""\
/* What waits in memory between two uses, for compilers that would rather give a register to a value for as long as
   it lives, or none; others, and all with -DEMDEG_PLAIN, see the values themselves. Rooms are reached from their
   middle. A jump to what follows lets a processor look again whether it has that decoded already. */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__)) && !defined(EMDEG_PLAIN)
#define ROOM(room, size) \\
    emdeg_real room_##room[size], *at_##room = room_##room + {_ROOM // 2}; __asm__("" : "+r"(at_##room))
#define KEEP(room, place, value) at_##room[(place) - {_ROOM // 2}] = value
#define KEPT(room, place, value) at_##room[(place) - {_ROOM // 2}]
#define PAUSE __asm__ volatile("jmp 1f\\n1:" : : : "memory")
#else
#define ROOM(room, size) (void)0
#define KEEP(room, place, value) (void)0
#define KEPT(room, place, value) value
#define PAUSE (void)0
#endif
"""
