"""The archive: every exchange as WARC 1.1, one gzip member a record; read by place, iterated, repaired."""

from periplus.archive.blanking import blank, check_plan, places_of
from periplus.archive.cutting import Stretch, can_be_cut, stretches
from periplus.archive.encoding import unpack
from periplus.archive.foreign import SUFFIXES, Damaged, Passed, contents
from periplus.archive.holdings import Holding, closed_file, holdings, is_settled
from periplus.archive.package import PackagedPage, write_listing, write_package
from periplus.archive.parts import ArchivePart, ArchiveParts, settle_all, settle_parts, write_parts
from periplus.archive.reader import ArchiveSource, iterate, read, references
from periplus.archive.repair import Repair, repair, repair_file, write_again
from periplus.archive.salvage import ArchivePlace
from periplus.archive.streams import unpacked
from periplus.archive.subset import write_subset
from periplus.archive.thinned import KeptRecord, extent, is_thinned, thin
from periplus.archive.writer import ArchiveWriter, Revisit, begun_on

__all__ = [
    "SUFFIXES",
    "ArchivePart",
    "ArchiveParts",
    "ArchivePlace",
    "ArchiveSource",
    "ArchiveWriter",
    "Damaged",
    "Holding",
    "KeptRecord",
    "PackagedPage",
    "Passed",
    "Repair",
    "Revisit",
    "Stretch",
    "begun_on",
    "blank",
    "can_be_cut",
    "check_plan",
    "closed_file",
    "contents",
    "extent",
    "holdings",
    "is_settled",
    "is_thinned",
    "iterate",
    "places_of",
    "read",
    "references",
    "repair",
    "repair_file",
    "settle_all",
    "settle_parts",
    "stretches",
    "thin",
    "unpack",
    "unpacked",
    "write_again",
    "write_listing",
    "write_package",
    "write_parts",
    "write_subset",
]
