"""Mechanisms with closed loops in formulas."""
