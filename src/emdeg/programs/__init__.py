"""Straight-line programs: data, tracing, counting, simplification, verification; the search is `search`."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.programs.best import program
    from emdeg.programs.build import Trace, base_places, function_inputs, joined_functions, open_trace, plain_program
    from emdeg.programs.companions import (
        Companion,
        Pattern,
        companions_of,
        dense_derivatives,
        matrix_shape,
        prefixes_of,
    )
    from emdeg.programs.differentiation import cotangents
    from emdeg.programs.domains import limits_box, nowhere_negative, nowhere_zero
    from emdeg.programs.explicit import (
        LARGE,
        explicit_program,
        formulas_program,
        printed_program,
        term_program,
    )
    from emdeg.programs.explicit_sums import LINK_RATES, SharedSums, ShortestForms
    from emdeg.programs.formulations import Formulated, compared_formulations
    from emdeg.programs.instructions import Act
    from emdeg.programs.ir import (
        LAWS,
        Count,
        Dependence,
        InputGroup,
        Kind,
        Op,
        OutputGroup,
        Program,
        Ref,
        Slot,
        count,
        count_by_dependence,
        dependences,
        digest_text,
        live,
        uses,
    )
    from emdeg.programs.lines import (
        ACROSS,
        ALONG,
        BENT,
        GRADIENT,
        SLOPE,
        WEIGHT,
        along_lines,
        along_lines_of,
        check_slopes,
    )
    from emdeg.programs.network import signed
    from emdeg.programs.proof import FALSE_PASS, PLAIN, Certificate, verify
    from emdeg.programs.registers import Allocation, allocated, in_given_order, quickest
    from emdeg.programs.residues import angle_atoms, evaluate_residues
    from emdeg.programs.rounding import MOST_STATES, Rounding, check_rounding, float_error, states_of
    from emdeg.programs.search.on_file import on_file
    from emdeg.programs.search.optimise import optimise
    from emdeg.programs.simplification import (
        angles_first,
        for_one_state,
        included,
        prune,
        retrace,
        retraced,
        schedule,
        simplify,
        split_constants,
        split_rates,
        split_shared,
    )
    from emdeg.programs.sine import DOUBLE, SINGLE, TrigTable
    from emdeg.programs.slopes import slopes_on_file
    from emdeg.programs.store import from_data, keep, normal_digest, robot_digest, to_data, wrong_format
    from emdeg.programs.trace import Traced, Tracer
    from emdeg.programs.values import ARITHMETIC, constants, evaluate, every_value
    from emdeg.programs.verification import probed, probing, reference_program, verify_program
    from emdeg.programs.weights import (
        OPERATIONS,
        ROOM,
        WEIGHTS,
        Effort,
        Progress,
        Weights,
        as_text,
        cost,
        fullest,
        label,
        parsed,
    )

on_demand(globals())
