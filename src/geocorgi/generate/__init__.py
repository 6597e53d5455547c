"""HOW: the expensive part, from a problem to a matrix with its evidence."""
