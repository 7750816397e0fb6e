"""PageRank over blocks: the sweeps of ``sweeps.py``, in which each block is a task and vectors are files.

    share-00012         ranks over weights out after 12 sweeps, of the whole graph, read by every task
    rank-00012-00007    ranks of the vertices of block 7 after 12 sweeps
    state.json          the last sweep that is whole: its number, the convergence table, checksums of its ranks

A task maps the shares for itself alone: it sees its own new values and those that the others had before, as a thread of
``Sweeps`` does. So the result is a function of the graph and its blocks, and does not depend on who runs them, or how
many at once. A task takes the memory of one block; shares are mapped, 8 bytes a vertex that may leave memory again.

After a kill the sweeps go on from the last whole one, if the graph is the same. Files are not flushed to the disk: what
a loss of power damaged is told by its checksum, and the sweeps begin anew.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from periplus.core.layout.link_graph import VertexTables
from periplus.errors import NotFound
from periplus.graph.block_travel import SentFiles, Travel, answered, received
from periplus.graph.blocks import EdgeBlock, block_edges, block_vertices, mapped
from periplus.graph.pagerank import Convergence
from periplus.graph.sweeps import BEFORE_EXTRAPOLATING, NOTHING, STEPS, least_step, scaling_factor
from periplus.storage import LocalFiles, Stored, reserve, results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from periplus.graph.blocks import BlockGraph
    from periplus.storage import Depot, Runner

    Floats = NDArray[np.float64]

STATE = "state.json"
_F64 = np.dtype(np.float64)


class SweepTask(Struct, frozen=True):
    """One block in one sweep, as plain data."""

    folder: Path
    block: EdgeBlock
    sweep: int  # that is begun from
    damping: float
    uniform: float  # what every vertex gets of a jump, where that is not personal
    is_personal: bool
    sinks: bool  # only these, else all others
    sent: SentFiles | None = None  # where the folder is another machine's


class SweptBlock(NamedTuple):
    """What came of a task."""

    sums: Floats  # of ``core.graph.sweep``
    ranks: Stored | None = None  # where they are, if they were made on another machine


class SweepState(Struct, frozen=True):
    """The last sweep that is whole."""

    digest: str  # of graph and teleport
    sweep: int
    pieces: dict[str, str]  # files of its ranks and their checksums
    history: tuple[Convergence, ...] = ()


class BlockSweeps:
    """Holds the unscaled solution in files and improves it; sinks have no rank before ``settle``."""

    def __init__(
        self, graph: BlockGraph, teleport: Floats, damping: float, runner: Runner, depot: Depot | None = None
    ) -> None:
        """``teleport`` has one value for all vertices, or one each. ``depot``: the tasks are on other machines."""
        self._graph = graph
        self._files = graph.files
        self._damping = damping
        self._runner = runner
        self._uniform = float(teleport[0])
        self._is_personal = len(teleport) > 1
        self._digest = xxh3_64_hexdigest(f"{graph.digest} {damping} ".encode() + teleport.tobytes())
        self._sweep = 0
        self._factor = 1.0
        self._first_step = BEFORE_EXTRAPOLATING  # sweep from which on steps may be extrapolated
        self._travel = Travel(depot, self._files) if depot is not None and len(graph.blocks) > 1 else None
        self._given = (1.0 - damping) * self._write_jumps(teleport)

    def begin(self, start: Floats) -> tuple[Convergence, ...]:
        """Start from these ranks, or go on from the last whole sweep; the convergence table up to there."""
        state = self._kept_state()
        if state is not None:
            self._sweep = state.sweep
            self._first_step = max(BEFORE_EXTRAPOLATING, self._sweep)
        else:
            self._forget(keep=())
            for block in self._graph.blocks:
                inverse = block_vertices(self._files, block).inverse
                self._write_rank(0, block, np.where(inverse == 0.0, 0.0, start[block.start : block.stop]))
        return state.history if state else ()

    def advance(self) -> tuple[float, float]:
        """One sweep: how much it changed, and the sum of all ranks, sinks included."""
        self._write_shares()
        sums = np.sum(self._run(sinks=False), axis=0)
        change, followed, total, reaching = sums.tolist()
        self._sweep += 1
        self._factor = scaling_factor(self._given, self._damping, change, total, reaching)
        return change, 1.0 - self._damping + self._damping * followed

    def improve(self) -> None:
        """Scale or extrapolate the ranks between two sweeps; a sweep must follow."""
        if self._sweep - self._first_step == STEPS:
            self._extrapolate()
        elif self._factor != 1.0:
            for block in self._graph.blocks:
                self._write_rank(self._sweep, block, self._factor * self._rank(self._sweep, block))

    def keep(self, history: Sequence[Convergence]) -> None:
        """Write down that the last sweep is whole, and remove what no later one needs."""
        names = [_rank_file(self._sweep, block) for block in self._graph.blocks]
        pieces = {name: xxh3_64_hexdigest(self._files.read(name)) for name in names}
        state = SweepState(self._digest, self._sweep, pieces, tuple(history))
        self._files.write(STATE, msgspec.json.encode(state), durable=False)
        self._forget(keep=range(self._sweep - STEPS, self._sweep + 1))

    def settle(self) -> Floats:
        """The ranks with those of the sinks."""
        self._write_shares()
        self._run(sinks=True)
        parts = [self._rank(self._sweep + 1, block) for block in self._graph.blocks]
        return np.concatenate(parts)

    def _run(self, *, sinks: bool) -> list[Floats]:
        common = (self._sweep, self._damping, self._uniform, self._is_personal, sinks)
        tasks = [SweepTask(self._files.root, block, *common, self._sent(block)) for block in self._graph.blocks]
        swept: list[SweptBlock] = results(self._runner.run(f"{__name__}:sweep_block", tasks))
        if self._travel is not None:
            for block, one in zip(self._graph.blocks, swept, strict=True):
                self._travel.receive(one.ranks, _rank_file(self._sweep + 1, block))
            self._travel.forget(self._sweep)
        return [one.sums for one in swept]

    def _sent(self, block: EdgeBlock) -> SentFiles | None:
        """What a task needs that has not our folder."""
        if self._travel is None:
            return None
        lasting = [block.edge_file, block.vertex_file, *([_jump_file(block)] if self._is_personal else [])]
        return self._travel.send([*lasting, _share_file(self._sweep), _rank_file(self._sweep, block)])

    def _write_jumps(self, teleport: Floats) -> float:
        """Files of a personal teleport; what of the teleport leads to vertices that are no sinks."""
        given = 0.0
        for block in self._graph.blocks:
            heard = block_vertices(self._files, block).inverse != 0.0
            if self._is_personal:
                jumps = teleport[block.start : block.stop]
                self._files.write(_jump_file(block), jumps.tobytes(), durable=False)
                given += float(jumps @ heard)
            else:
                given += self._uniform * int(np.count_nonzero(heard))
        return given

    def _kept_state(self) -> SweepState | None:
        """What was kept of the same graph, if it is whole."""
        with suppress(NotFound, msgspec.MsgspecError, ValueError):
            state = msgspec.json.decode(self._files.read(STATE), type=SweepState)
            wanted = {_rank_file(state.sweep, block) for block in self._graph.blocks}
            if state.digest == self._digest and wanted == set(state.pieces):
                whole = (xxh3_64_hexdigest(self._files.read(name)) == seal for name, seal in state.pieces.items())
                return state if all(whole) else None
        return None

    def _write_shares(self) -> None:
        """What every task reads of the sweep before."""
        path = self._files.path(_share_file(self._sweep))
        reserve(path, self._graph.vertices * _F64.itemsize)
        shares = np.memmap(path, _F64, "r+", shape=(self._graph.vertices,))
        for block in self._graph.blocks:
            inverse = block_vertices(self._files, block).inverse
            np.multiply(self._rank(self._sweep, block), inverse, out=shares[block.start : block.stop])

    def _extrapolate(self) -> None:
        from periplus.core.graph import combine_steps, measure_steps

        products = np.zeros(5)
        for block in self._graph.blocks:
            sums = np.empty(5)
            measure_steps(*self._steps(block), sums, 0, block.vertices)
            products += sums
        factors = least_step(*products.tolist())
        if factors is not None:
            for block in self._graph.blocks:
                _, second, third, last = self._steps(block)
                rank, inverse = last.copy(), block_vertices(self._files, block).inverse
                combine_steps(second, third, rank, np.empty_like(rank), inverse, *factors, 0, block.vertices)
                self._write_rank(self._sweep, block, rank)
        self._first_step = self._sweep

    def _steps(self, block: EdgeBlock) -> list[Floats]:
        """The ranks of a block after the last four sweeps."""
        return [self._rank(self._sweep - back, block) for back in range(STEPS, -1, -1)]

    def _rank(self, sweep: int, block: EdgeBlock) -> Floats:
        return mapped(self._files, _rank_file(sweep, block), _F64)

    def _write_rank(self, sweep: int, block: EdgeBlock, ranks: Floats) -> None:
        self._files.write(_rank_file(sweep, block), ranks.tobytes(), durable=False)

    def _forget(self, keep: Sequence[int]) -> None:
        """Remove the vectors of all other sweeps."""
        for name in self._files.names():
            kind, _, rest = name.partition("-")
            if kind in ("rank", "share") and int(rest.partition("-")[0]) not in keep:
                self._files.path(name).unlink()


def sweep_block(task: SweepTask) -> SweptBlock:
    """One block in one sweep: its ranks are left in a file, or sent."""
    from periplus.core.graph import sweep

    block = task.block
    files = LocalFiles(task.folder) if task.sent is None else received(task.sent)
    inverse, leak, heard = block_vertices(files, block)
    jumps = mapped(files, _jump_file(block), _F64) if task.is_personal else np.array([task.uniform])
    rank = mapped(files, _rank_file(task.sweep, block), _F64).copy()
    share = np.asarray(np.memmap(files.path(_share_file(task.sweep)), _F64, "c"))  # what is written stays ours
    sums = np.empty(4)
    given = (heard, task.damping, int(task.sinks), block.start)
    tables = VertexTables(inverse, leak, jumps)
    sweep(block_edges(files, block), tables, *given, rank, share, NOTHING, sums, 0, block.vertices)
    files.write(_rank_file(task.sweep + 1, block), rank.tobytes(), durable=False)
    return SweptBlock(sums, answered(task.sent, _rank_file(task.sweep + 1, block)) if task.sent else None)


def _rank_file(sweep: int, block: EdgeBlock) -> str:
    return f"rank-{sweep:05d}-{block.number:05d}"


def _share_file(sweep: int) -> str:
    return f"share-{sweep:05d}"


def _jump_file(block: EdgeBlock) -> str:
    return f"jumps-{block.number:05d}"
