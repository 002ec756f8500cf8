"""Motions to look at: figures over time, stick figures that move."""
