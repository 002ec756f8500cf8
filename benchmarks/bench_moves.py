"""What each kind of move wins on each robot, alone and all together: operations of a function's program.

    python benchmarks/bench_moves.py [--function inverse_dynamics] [--effort 8]

Each column allows one kind of choice only, starting from the plain program; `all` allows every choice; `+ algebra` adds
resubstitution. Writes benchmarks/results/moves.json.
"""

from __future__ import annotations

import argparse

import emdeg
from emdeg.programs.build import plain_program
from emdeg.programs.ir import count
from emdeg.programs.search.formulation import Descent
from emdeg.programs.search.resubstitute import resubstitute
from emdeg.programs.weights import OPERATIONS, Effort
from record import record

KINDS = {
    "frames turned back": ("back",),
    "frames slid": ("slide",),
    "inertia handed over": ("axial", "keep_mass"),
    "moments": ("moment",),
    "inertia split": ("apart", "apart_back"),
    "closed form": ("closed",),
    "method": ("method",),
}
ROBOTS = ("puma560", "stanford_arm", "jpl_rrp", "ur5e", "iiwa14", "panda", "scara")


def descend(robot, function: str, fields: tuple[str, ...] | None, effort: float) -> int:
    budget = Effort(effort)
    search = Descent(robot, [function], 0, OPERATIONS, budget.spend)
    if fields is not None:
        search.options = [option for option in search.options if option.name in (*fields, "method")]
        if "method" not in fields:
            first = next(option for option in search.options if option.name == "method")
            search.options = [o for o in search.options if o.name != "method"] + [first]
    found = [end.cost for end in search.run(budget.until(1.0))]
    return int(min(found))


def main() -> None:
    parser = argparse.ArgumentParser(description="What each kind of move wins.")
    parser.add_argument("--function", default="inverse_dynamics")
    parser.add_argument("--effort", type=float, default=8.0)
    arguments = parser.parse_args()
    rows = []
    titles = "".join(f"{name:>21}" for name in KINDS) + f"{'all':>6}{'+ algebra':>11}{'algebra alone':>15}"
    print(f"{'robot':14}{'plain':>7}{titles}")
    for name in ROBOTS:
        robot = emdeg.load(name)
        row: dict[str, object] = {"robot": name, "plain": count(plain_program(robot, arguments.function)).total}
        for kind, fields in KINDS.items():
            row[kind] = descend(robot, arguments.function, fields, arguments.effort)
        row["all"] = descend(robot, arguments.function, None, arguments.effort)
        row["with algebra"] = emdeg.optimise(robot, arguments.function, 3 * arguments.effort).count.total
        row["algebra alone"] = count(resubstitute(plain_program(robot, arguments.function), arguments.effort)).total
        rows.append(row)
        print(
            f"{name:14}{row['plain']:7}"
            + "".join(f"{row[kind]:21}" for kind in KINDS)
            + f"{row['all']:6}{row['with algebra']:11}{row['algebra alone']:15}",
            flush=True,
        )
    record(f"moves_{arguments.function}", {"effort": arguments.effort, "rows": rows})


if __name__ == "__main__":
    main()
