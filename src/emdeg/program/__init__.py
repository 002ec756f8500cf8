"""Straight-line programs: data, tracing, counting, simplification, verification."""
