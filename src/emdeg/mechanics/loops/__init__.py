"""Closed loops: closure, mobility, reduction to independent coordinates."""
