"""The algorithms of mechanics, each written once and generic in its scalar; `numeric` runs them over doubles."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.arrays import ANYWHERE, Surroundings, real_array, stacked
    from emdeg.dynamics.mechanism import (
        Frames,
        Mechanism,
        frames,
        in_base,
        lift_positions,
        mechanism_of,
        path,
        pose_matrices,
        symbolic_positions,
        written,
    )
    from emdeg.dynamics.spatial import (
        BodyInertia,
        Mat3,
        Scalar,
        Spatial,
        Transform,
        Vec3,
        add,
        cross,
        dot,
        identity,
        matmul,
        mul,
        scale,
        skew,
        sub,
        tmul,
        total,
        transpose,
    )
    from emdeg.dynamics.state import TREE, Balance, Inputs, MechanismKind, Outputs, State, kind_of, mechanism_kinds

on_demand(globals())
