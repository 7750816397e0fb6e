"""The archive: every exchange as WARC 1.1, one gzip member a record; read by place, iterated, repaired."""

from periplus.archive.blanking import blank, places_of
from periplus.archive.cutting import Stretch, can_be_cut, stretches
from periplus.archive.encoding import unpack
from periplus.archive.foreign import SUFFIXES, Damaged, Passed, contents
from periplus.archive.package import PackagedPage, write_package
from periplus.archive.reader import iterate, read
from periplus.archive.repair import Repair, repair
from periplus.archive.salvage import Place
from periplus.archive.streams import unpacked
from periplus.archive.writer import ArchiveWriter, Revisit

__all__ = [
    "SUFFIXES",
    "ArchiveWriter",
    "Damaged",
    "PackagedPage",
    "Passed",
    "Place",
    "Repair",
    "Revisit",
    "Stretch",
    "blank",
    "can_be_cut",
    "contents",
    "iterate",
    "places_of",
    "read",
    "repair",
    "stretches",
    "unpack",
    "unpacked",
    "write_package",
]
