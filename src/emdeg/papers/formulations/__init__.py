"""Formulations as papers printed them, over any scalar: for comparison and operation counts, one file a formulation."""
