"""Scenarios: files that say what a robot shall do, read, carried out, and what came of them. Some come with emdeg."""
