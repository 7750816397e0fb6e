"""How fast pages become documents, and which HTML parser they are read with. Run ``make bench-documents``."""
