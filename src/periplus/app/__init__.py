"""The Python surface and the wiring of rooms from settings."""

from periplus.app.collection import Collection

__all__ = ["Collection"]
