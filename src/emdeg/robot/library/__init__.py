"""One robot a file, each with its source."""
