"""From measurements to parameters: bench experiments, recorded motions, fitted friction."""
