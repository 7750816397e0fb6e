"""``make bench-blocks``: PageRank of one process beside PageRank over blocks, on one drawn graph.

Each contender is a process of its own that reads the same edges, sorts them as a refresh does, and ranks the graph.
Memory is the highest sum over its process tree, sampled: what is a process's own, and all that is resident (mapped
files too, which the system may take back).
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from bench.rank import graphs

from periplus.graph import block_pagerank, blocks, csr, pagerank
from periplus.graph.blocks import BlockWriter
from periplus.graph.link_graph import CsrMaker
from periplus.graph.sorting import PairSorter
from periplus.jobs.runners import ProcessRunner
from periplus.storage import LocalFiles

CHUNK = 4_000_000
EVERY = 0.05  # seconds between two looks at memory
CONTENDERS = {"one process": 0, "blocks, 1 process": 1, "blocks, 2 processes": 2}


def sorted_edges(folder: Path) -> tuple[PairSorter, int]:
    edges = graphs.Edges.load(folder)
    sorter = PairSorter(edges.vertices)
    for start in range(0, len(edges.sources), CHUNK):
        part = slice(start, start + CHUNK)
        sorter.add(csr.distinct(csr.pair(np.array(edges.sources[part]), np.array(edges.targets[part]))))
    return sorter, edges.vertices


def work(folder: Path, workers: int, out: Path) -> None:
    """One contender, in this process."""
    began = time.perf_counter()
    sorter, vertices = sorted_edges(folder)
    place = out.with_suffix(".blocks")
    store = BlockWriter(LocalFiles(place), vertices) if workers else CsrMaker(vertices)
    for pairs in sorter.sorted():
        store.add(pairs, np.ones(len(pairs)))
    graph = store.finish()
    built = time.perf_counter()
    if workers:
        with ProcessRunner(workers) as runner:
            found = block_pagerank(graph, runner=runner)
    else:
        found = pagerank(graph)
    ended = time.perf_counter()
    np.save(out, found.ranks)
    shutil.rmtree(place, ignore_errors=True)
    parts = len(graph.blocks) if workers else 1
    figures = {
        "build": built - began,
        "rank": ended - built,
        "cpu": cpu(),
        "iterations": found.iterations,
        "blocks": parts,
    }
    print(json.dumps(figures | {"edges": graph.edges, "vertices": vertices}))


def cpu() -> float:
    """Seconds of processor time of this process and of those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(folder: Path, workers: int, out: Path, block_edges: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.rank.blocks", "--work", str(workers), "--folder", str(folder)]
    command += ["--block-edges", str(block_edges)]
    with subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.PIPE, text=True) as process:
        own = resident = 0
        while process.poll() is None:
            some = [memory_of(pid) for pid in tree(process.pid)]
            own, resident = max(own, sum(a for a, _ in some)), max(resident, sum(b for _, b in some))
            time.sleep(EVERY)
        said = process.stdout.read() if process.stdout else ""
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return json.loads(said) | {"own": own / 1e6, "resident": resident / 1e6}


def tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(one for child in children for one in tree(int(child)))]


def memory_of(pid: int) -> tuple[int, int]:
    """Bytes that are a process's own, and those that are resident; what processes share is parted among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines}
    return sizes["Pss_Anon"], sizes["Pss"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-blocks", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/bench-blocks"))
    parser.add_argument("--edges", type=int, default=100_000_000)
    parser.add_argument("--vertices", type=int, default=0, help="a tenth of the edges unless told")
    parser.add_argument("--block-edges", type=int, default=blocks.BLOCK_EDGES)
    parser.add_argument("--work", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    blocks.BLOCK_EDGES = options.block_edges
    if options.work is not None:
        work(options.folder, options.work, options.out)
        return
    vertices = options.vertices or options.edges // 10
    folder = options.folder / f"{vertices}-{options.edges}"
    graphs.make(folder, vertices, options.edges)
    rows, reference = [], None
    for name, workers in CONTENDERS.items():
        out = folder / f"ranks-{workers}.npy"
        figures = measured(folder, workers, out, options.block_edges)
        ranks = np.load(out)
        reference = ranks if reference is None else reference
        rows.append({"name": name, **figures, "difference": float(np.abs(ranks - reference).sum())})
    (options.folder / "figures.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(f"{rows[0]['edges']:,} edges, {rows[0]['vertices']:,} vertices\n")
    columns = ("blocks", "laid out s", "ranked s", "CPU s", "sweeps", "own memory MB", "resident MB", "L1 difference")
    print(f"| | {' | '.join(columns)} |\n|---|" + "---|" * len(columns))
    for row in rows:
        memory = f"{row['own']:,.0f} | {row['resident']:,.0f}"
        times = f"{row['build']:.1f} | {row['rank']:.1f} | {row['cpu']:.1f} | {row['iterations']}"
        print(f"| {row['name']} | {row['blocks']} | {times} | {memory} | {row['difference']:.1e} |")


if __name__ == "__main__":
    main()
