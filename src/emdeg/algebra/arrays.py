"""The one name for an array of doubles."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
