"""What an adversary makes of a matrix, exactly."""
