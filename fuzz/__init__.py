"""Fuzz targets for the readers of documents. Run ``make fuzz``."""
