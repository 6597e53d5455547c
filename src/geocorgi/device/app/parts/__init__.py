"""What stands beside the map, one thing a module."""
