"""The reading form: lumped constants, names, hierarchy."""
