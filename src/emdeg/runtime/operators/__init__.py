"""A robot's functions as operators of torch and JAX, differentiated by the adjoint programs, and of CasADi."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.runtime.operators.casadi_operator import casadi
    from emdeg.runtime.operators.jax_operator import jax_function
    from emdeg.runtime.operators.torch_operator import torch_function

on_demand(globals())
