"""Quality of main-text extraction on pages labelled by hand. Run ``make bench-extract``."""
