"""WHERE: public geography. Nothing in this room knows about any user."""
