"""A made-up city and the truth about its people, for demonstrations and tests."""
