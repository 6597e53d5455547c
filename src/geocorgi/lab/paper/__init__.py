"""Section 6 of the paper: one module an experiment."""
