"""Many rows of many users at once: the same mechanism, each user with a memory of her own."""
