"""``python -m geocorgi.demo``, which is what ``make demo`` runs."""

from geocorgi.demo.story import main

if __name__ == "__main__":
    main()
