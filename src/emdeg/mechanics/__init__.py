"""The algorithms of mechanics, each written once and generic in its scalar; `numeric` runs them over doubles."""
