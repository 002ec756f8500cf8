"""Programs of Kane's equations, and what proves them."""
