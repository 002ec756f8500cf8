"""Who wants emdeg to say something wrong, to hang, to be hurt: forgers, mutators, poisoners, fault injectors.

They know the formats and recompute whatever can be recomputed. `SECURITY.md` says what they must not achieve.
"""
