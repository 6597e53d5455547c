"""Pictures from values: a tree, a prior, a row of a matrix, what is removed, what is protected."""
