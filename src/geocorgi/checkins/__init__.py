"""WHEN: public check-ins, read in bounded batches with an account of every bad row."""
