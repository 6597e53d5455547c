"""TRUSTED: what runs where the user is. The real location lives here and nowhere else."""
