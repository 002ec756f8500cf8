"""Steps through time: fixed ones compiled together with robot and law, adaptive ones by SciPy."""
