"""Programs as text: one folder a target."""
