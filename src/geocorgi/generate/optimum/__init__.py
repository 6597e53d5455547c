"""The engine: from rates and costs to a provably optimal matrix.

``cone``               the one cone that every column lies in, and how its members are made
``pool``               the rays found so far, each with the column where it costs least
``interior_point``     the master: how much of each ray, and what each row is worth (its dual)
``repair``             from almost-feasible weights to rows that sum to one
``shipping``           a vectorised proof that a column has nothing to offer
``greedy_proof``       which columns that settles, and what it leaves to a solver
``transport``          one column's pricing problem: demands, capacities, rates
``pricing``            the best ray of a column, and a proof of how good it can be at most
``safe_bound``         a lower bound that no solver tolerance can spoil
``closed_form``        the matrix of scaled exponentials, optimal more often than one would think
``column_generation``  the spine that joins them
``capped_master``      the master with caps on what the largest entries of a row come to
``capped``             the optimum under such caps, with its bound
``twins``              places that cannot be told apart are one place
``solution``           what is handed back: the matrix and its evidence
``solver``             the only door to HiGHS
"""
