"""THE WALL: everything that ever crosses between a server and a device, and nothing else."""
