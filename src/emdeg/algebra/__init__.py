"""Exact scalars: numbers, angles, trigonometric polynomials and quotients, residues, dual numbers. No robots here.

What is done with them stands in `linear` (exact linear algebra), `factoring` (sums of products), `expression`
(formulas in print) and `short_forms` (the shortest ways to write a trigonometric polynomial).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
