"""JavaScript: an ES module without imports, for browsers and node."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.js.printer import emit_js

on_demand(globals())
