"""Values that a robot's source prints, one TOML file a robot, to hold certified ones against."""
