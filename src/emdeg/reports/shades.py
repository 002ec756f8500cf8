"""Significance as a shade: a term's largest value over that of the greatest term of its equation, in a few steps."""

from __future__ import annotations

SHADES = ((0.3, "30 % and more"), (0.1, "10 %"), (0.03, "3 %"), (0.01, "1 %"), (0.001, "0.1 %"), (0.0, "less"))
"""(least share, name), the most significant first."""


def shade(share: float) -> int:
    """The number of a share's shade, 0 the darkest.

    >>> [shade(s) for s in (1.0, 0.3, 0.05, 0.0001)]
    [0, 0, 2, 5]
    """
    return next(k for k, (least, _) in enumerate(SHADES) if share >= least)
