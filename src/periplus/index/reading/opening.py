"""Opening a generation: a view of each segment; where that is allowed, what is damaged is left out and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from periplus.errors import Corrupt, Incompatible
from periplus.index.format.overlays import read_live, read_prior
from periplus.index.retrieval.view import SegmentView

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy import uint8
    from numpy.typing import NDArray

    from periplus.index.format.manifest import Manifest, SegmentEntry
    from periplus.index.format.segment import Segment

DAMAGE = (Corrupt, Incompatible)


class Losses:
    """What an open generation does without: codes of ``degraded``, and sentences that say which file is damaged."""

    def __init__(self) -> None:
        self.codes: tuple[str, ...] = ()
        self.damage: tuple[str, ...] = ()

    def add(self, code: str, damage: str = "") -> None:
        """Have answers say that they lack something; without ``damage`` there was none."""
        self.codes = tuple(dict.fromkeys((*self.codes, code)))
        self.damage = tuple(dict.fromkeys((*self.damage, damage))) if damage else self.damage


class Opening:
    """Opens the segments of one generation."""

    def __init__(self, manifest: Manifest, overlays: Path, open_segment: Callable[[str, str], Segment]) -> None:
        self._manifest = manifest
        self._overlays = overlays
        self._open_segment = open_segment
        self.losses = Losses()

    def views(self, *, partial: bool) -> tuple[Manifest, list[SegmentView]]:
        """Those that are whole, and the manifest without the others; raises what is wrong with the first that is not.

        With ``partial``, only when nothing is left.
        """
        views: list[SegmentView] = []
        kept: list[SegmentEntry] = []
        for place, entry in enumerate(self._manifest.segments, 1):
            try:
                views.append(self._view(entry, len(views), partial=partial))
                kept.append(entry)
            except DAMAGE as error:
                if not partial or (not views and place == len(self._manifest.segments)):
                    raise
                self.losses.add("index", str(error))
        if views and not any(len(view.prior) for view in views):
            self.losses.add("ranks")
        live = sum(entry.live for entry in kept)
        return structs.replace(self._manifest, segments=tuple(kept), documents=live), views

    def _view(self, entry: SegmentEntry, ordinal: int, *, partial: bool) -> SegmentView:
        segment = self._open_segment(entry.name, entry.seal)
        live = read_live(self._overlays / entry.live_file, segment, entry.live_seal) if entry.live_file else None
        return SegmentView(segment, ordinal, self._manifest.epoch, live, self._prior(entry, segment, partial=partial))

    def _prior(self, entry: SegmentEntry, segment: Segment, *, partial: bool) -> NDArray[uint8] | None:
        if not entry.prior_file:
            return None
        try:
            return read_prior(self._overlays / entry.prior_file, segment, entry.prior_seal)
        except DAMAGE as error:
            if not partial:
                raise
            self.losses.add("ranks", str(error))
            return None
