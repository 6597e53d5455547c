"""A policy to begin with, commented; a test reads it and finds every key in it."""

EXAMPLE = """\
# A policy: what may be said of you, and what never.  geocorgi policy check policy.toml

privacy_level = 2      # hidden among the 49 leaves below one cell of this level
precision_level = 0    # a report is a cell of this level, below the privacy level

# A cell that does not meet a preference is never reported. As in the paper: = ≠ < > ≤ ≥
preferences = [
    "home = False",              # your own places: geocorgi policy places HISTORY
    "office = False",
    # "popular = True",          # what the public map knows
    # "distance ≤ 5 miles",      # from the centre of the area that hides you; or: from gym
    # { rule = 'weather ≠ "storm"', unknown = "remove", private = true },
]

# rows = "keep"              # keep: reports also come from removed places; drop: none do
# on_excess = "universal"    # too much removed: universal mechanism, fewer preferences, refuse
# on_unreachable = "refuse"  # no forest can be had: refuse, or universal (needs no server)
# precision = "coarsen"      # coarser cells: coarsen (an ancestor is said) or average (Eq. 17)
# decoys = false             # hide your removed cells among others, fixed by a secret
# private = false            # true: no preference is sent to the server as a filter

# black_list = ["89283082803ffff"]     # cells that are never reported
# [[black_list]]
# place = "gym"
# radius = "300 m"
# [[white_list]]                       # only these are reported
# geojson = "downtown.geojson"
# [place.gym]
# latitude = 37.77
# longitude = -122.42

# [protection]               # one of the two
# epsilon_per_km = 5.0
# radius = "500 m"
# least_area_km2 = 0.05      # refuse a map on which a report reveals a smaller area than this

# [budget]
# ceiling_per_km = 60.0
# period = "24 hours"
# at_ceiling = "refuse"      # or repeat: the last report once more

# [recipient.weather]        # who asks gets a coarser cell
# precision_level = 1

# [source.weather]           # values of a variable: from a table or an address
# kind = "category"          # boolean, number, length, time, temperature, category
# url = "https://weather.example/cells.json?roots={roots}"   # or: table = "weather.csv"
# time_to_live = "30 minutes"
# time_out = "10 seconds"
# column = "now"
# unit = "km"                # of a length, time or temperature, as they come
# subtree = "872830828ffffff"   # asks for this subtree alone, and so tells which
"""
