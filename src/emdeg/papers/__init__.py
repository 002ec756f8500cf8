"""The papers' historical formulations, validation of published models, and bench measurement."""
