"""emdeg: explicit equations of motion of robots."""
