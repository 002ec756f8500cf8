"""`emdeg functions`: the catalogue."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from emdeg.cli.common import Json, head, out, print_json
from emdeg.dynamics import mechanism_kinds
from emdeg.dynamics.functions import CATALOGUE, Function, known_functions, proved_by


def functions(
    function: Annotated[
        str | None, typer.Argument(metavar="[FUNCTION]", help="One function, with everything known of it.")
    ] = None,
    json: Json = False,
) -> None:
    """List the functions of a model: inputs, outputs, units, formulations, what proves them.

    Examples:

      emdeg functions

      emdeg functions mass_matrix

      emdeg functions forward_dynamics_vjp

      emdeg functions --json
    """
    wanted = CATALOGUE if function is None else {name: CATALOGUE[name] for name in known_functions(function)}
    if json:
        print_json({name: as_data(entry) for name, entry in wanted.items()})
    elif function is None:
        for name, entry in CATALOGUE.items():
            yields = ", ".join(output.name for output in entry.outputs)
            known = "" if len(entry.ways) == len(mechanism_kinds()) else f" ({', '.join(entry.ways)} only)"
            out.print(f"{name}({', '.join(entry.inputs)}) -> {yields}: {entry.meaning}{known}", soft_wrap=True)
    else:
        for entry in wanted.values():
            _print(entry)


def as_data(entry: Function) -> dict[str, Any]:
    """An entry of the catalogue as plain data."""
    return {
        "meaning": entry.meaning,
        "inputs": [
            {
                "name": name,
                "shape": list(entry.arrays[name].shape),
                "unit": entry.arrays[name].unit,
                "meaning": entry.arrays[name].meaning,
            }
            for name in entry.inputs
        ],
        "outputs": [
            {"name": output.name, "shape": list(output.shape), "unit": output.unit} for output in entry.outputs
        ],
        "kinds": {
            kind: {"formulations": list(ways.formulations), "reference": proved_by(entry, kind)}
            for kind, ways in entry.ways.items()
        },
    }


def _print(entry: Function) -> None:
    head(entry.name, entry.meaning)
    for name in entry.inputs:
        array = entry.arrays[name]
        shape = ", ".join(array.shape) or "1"
        out.print(f"takes {name} ({shape}) [{array.unit}]: {array.meaning}", soft_wrap=True)
    for output in entry.outputs:
        shape = f" ({', '.join(output.shape)})" if output.shape else ""
        out.print(f"yields {output.name}{shape} [{output.unit}]", soft_wrap=True)
    for kind, ways in entry.ways.items():
        out.print(f"{kind}: by {', '.join(ways.formulations)}; proved by {proved_by(entry, kind)}", soft_wrap=True)
