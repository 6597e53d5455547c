"""The device's only way out: addresses, proxies, and one bounded GET that says nothing of its own.

No module here is ever given a location, and none keeps anything that a server chose.
"""
