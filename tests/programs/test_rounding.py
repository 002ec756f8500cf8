import numpy as np

from emdeg.programs.rounding import float_error, ulps
from tests.program_samples import pendulum_pair


def test_one_spacing_is_one_ulp():
    x = np.array([1.0, 1e10, 3.5])
    np.testing.assert_array_equal(ulps(np.nextafter(x, np.inf), x), 1.0)


def test_double_arithmetic_on_a_short_program_errs_by_few_ulps():
    assert 0 < float_error(pendulum_pair()[0])["tau"] < 16
