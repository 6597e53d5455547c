"""WHAT: the obfuscation matrix and what may be done to it."""
