"""The explicit model: equations of motion as formulas, and what can be read off them."""
