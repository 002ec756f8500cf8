"""What a robot is, how it is read and written, the rules it must keep, where it moves, its numbers as symbols."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.robot.algebra import algebra_of, branch, geometry, massless, parallel_joints
    from emdeg.robot.assembly import GRAVITY, Draft, assemble, findings, loaded_inertias
    from emdeg.robot.checks import BUDGET
    from emdeg.robot.constraints import Constraints, ConstraintsDraft
    from emdeg.robot.fields import (
        as_joints,
        as_real,
        flag,
        joint_index,
        joint_list,
        need_table,
        numbers,
        optional_real,
        per_joint,
        real,
    )
    from emdeg.robot.joint_types import JOINT_TYPES, JointType, joint_type, register_joint_type
    from emdeg.robot.kinds import TREE as TREE_KIND
    from emdeg.robot.kinds import Kind, by_kind, kind_named, known_kinds, register_kind, registered, resolved
    from emdeg.robot.loading import (
        SNAP,
        SUFFIXES,
        RobotLike,
        as_robot,
        check,
        library_names,
        load,
        load_text,
        parse_locks,
        read_draft,
        read_text,
    )
    from emdeg.robot.markup import Element, parse_xml
    from emdeg.robot.memory import remembered
    from emdeg.robot.model import (
        BASE,
        NOWHERE,
        Drive,
        Frame,
        Friction,
        Inertia,
        Joint,
        Limits,
        Link,
        Payload,
        Placement,
        Pose,
        Robot,
        Stated,
        Vector,
    )
    from emdeg.robot.normal_form import Body
    from emdeg.robot.substitution import need_numbers, substitute
    from emdeg.robot.symbols import (
        AXES,
        Known,
        Opened,
        ParameterGroup,
        letter_paths,
        opened,
        parameter_paths,
        stated_tolerances,
        symbolize,
        with_assumed_tolerances,
        with_symbolic_payload,
    )
    from emdeg.robot.template import LOOP_TEMPLATE, TEMPLATE
    from emdeg.robot.toml_reader import read_toml
    from emdeg.robot.toml_table import MAX_BYTES, Remarks, TomlDocument, TomlTable, array, kind_of, single
    from emdeg.robot.toml_writer import angle, number, quoted, to_toml
    from emdeg.robot.transform import ExactTransform, about, of_pose, to_pose
    from emdeg.robot.urdf_writer import with_inertials
    from emdeg.robot.workspaces import ACCELERATION, SPEED, Range, Workspace, joint_number, workspace

on_demand(globals())
