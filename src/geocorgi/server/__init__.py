"""UNTRUSTED: what an operator runs (Paper: §2.2). It never imports the device's side."""
