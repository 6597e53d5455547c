"""What the paper does not show: adversaries, equal guarantees, peers."""
