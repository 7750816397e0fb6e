"""The doctor: is the machine fit, is every file of a collection what was written, and what can be made again?"""

from periplus.app.doctor.examining import examine, examine_files, repair

__all__ = ["examine", "examine_files", "repair"]
