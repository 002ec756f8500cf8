"""Chains and trees: their state, and their functions by every formulation."""
