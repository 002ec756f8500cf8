"""The explicit model: entries as formulas, the constants in them, and the forms a person reads."""
