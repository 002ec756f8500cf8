"""The robot that is moved: its dynamics as compiled programs, what acts on it unasked, its constants of motion."""
