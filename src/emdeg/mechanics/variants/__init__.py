"""What an optimiser may vary without changing the function."""
