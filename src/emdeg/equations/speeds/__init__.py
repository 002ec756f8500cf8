"""The kinematic equations of generalized speeds, in formulas."""
