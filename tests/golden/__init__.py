"""Recorded results that a restructuring of the package must not change; see `test_golden.py`."""
