"""emdeg's functions as operators of torch: `emdeg.torch.function("panda", "forward_dynamics")`."""

from emdeg.runtime.operators import torch_function as function

__all__ = ["function"]
