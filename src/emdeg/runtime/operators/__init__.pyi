from .casadi_operator import casadi as casadi
from .jax_operator import jax_function as jax_function
from .torch_operator import torch_function as torch_function
