"""``python -m periplus`` is the ``periplus`` command."""

from periplus.cli import main

if __name__ == "__main__":
    main()
