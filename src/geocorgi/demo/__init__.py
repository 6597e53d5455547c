"""The main job end to end, on made-up people: every party a process of its own, on loopback."""
