"""The search for small programs: formulations tried and counted, then values said anew in terms of others."""
