"""Motions that are prescribed: in joint space, along the tool's paths, within the joints' limits."""
