"""UNTRUSTED: what an operator runs. It never imports the device's side."""
