"""THE LABORATORY: the paper's experiments and honest comparisons. It sees both sides."""
