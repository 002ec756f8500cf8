"""What several tests of the JPL arm have in common: the load of the paper's tables."""

CUBE = "mass=1.8,com=0:0:0,inertia=0.0017407487859282:0.0017407487859282:0.0017407487859282@link6"
"""A cube of 1.8 kg at the hand's frame, as `--payload` has it."""
