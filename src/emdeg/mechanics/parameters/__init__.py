"""The dynamics as linear in its parameters: regressor, base parameters."""
