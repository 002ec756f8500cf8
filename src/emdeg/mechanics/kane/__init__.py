"""Kane's method: generalized speeds, partial velocities, forces."""
