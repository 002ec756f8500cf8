"""Printed models judged: their file, what its expressions mean, and their errors, certified over the workspace."""
