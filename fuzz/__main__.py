"""``python -m fuzz NAME [libFuzzer options or files]``; without a name all targets in turn, each in its own process.

``python -m fuzz --keep NAME …`` puts what was learned into ``fuzz/corpus`` (see ``corpus.py``).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import atheris

from fuzz import corpus

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "soak"
LONGEST = 16_384  # bytes of an input
PATIENCE = 20  # seconds for one input
MEMORY = 2048  # MiB
PORTION = 120  # seconds of one process: atheris keeps some 2 KB of each input, which would look like a leak
INSTRUMENTED = (
    "periplus.documents",
    "periplus.archive",
    "periplus.app.importing",
    "periplus.crawl.rules.robots",
    "periplus.search.query.language",
    "periplus.search.query.syntax",
    "periplus.search.query.conditions",
    "periplus.cluster.codec",
)


def fuzz(name: str, options: list[str]) -> None:
    with atheris.instrument_imports(include=[*INSTRUMENTED, "pypdf"]):
        import pypdf  # noqa: F401 (readers import it when they meet a PDF, which is too late to be instrumented)

        from fuzz import strangers, targets
    source = strangers if name in strangers.NAMES else targets
    place, learned = BUILD / name, learned_by(name)
    learned.mkdir(parents=True, exist_ok=True)
    corpus.lay_out([*source.seeds(name), *corpus.kept(name)], learned)
    if not any(Path(option).is_file() for option in options):
        options = [*options, str(learned)]
    limits = [f"-max_len={LONGEST}", f"-timeout={PATIENCE}", f"-rss_limit_mb={MEMORY}", f"-artifact_prefix={place}/"]
    atheris.Setup([sys.argv[0], *limits, *options], lambda data: source.check(name, data))
    atheris.Fuzz()


def learned_by(name: str) -> Path:
    """Where the inputs are that the runs of a target learned from."""
    return BUILD / name / "corpus"


def soak(names: list[str], seconds: int) -> int:
    """Every target for so many seconds; how many found something."""
    findings = {name: finding for name in names if (finding := soaked(name, seconds))}
    return len(findings)


def soaked(name: str, seconds: int) -> str:
    """What one target found; empty if nothing. Each process goes on with the corpus of the one before it."""
    portions = [min(PORTION, seconds - begun) for begun in range(0, seconds, PORTION)]
    finding = next(filter(None, (portion(name, each) for each in portions)), "")
    print(f"{name}: {'FINDING' if finding else 'nothing found'}", flush=True)
    if finding:
        print(finding, flush=True)
    return finding


def portion(name: str, seconds: int) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", name, f"-max_total_time={seconds}", "-verbosity=0"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    return (done.stdout + done.stderr)[-4000:] or f"status {done.returncode}" if done.returncode else ""


def main() -> int:
    if sys.argv[1:2] == ["--keep"]:
        for name in sys.argv[2:]:
            print(f"{name}: {corpus.keep(name, learned_by(name))} inputs")
        return 0
    if len(sys.argv) > 1:
        fuzz(sys.argv[1], sys.argv[2:])
        return 0
    from fuzz import strangers, targets  # not before: what is imported already is not instrumented

    wanted = os.environ.get("ONLY", "").split() or [*targets.NAMES, *strangers.NAMES]
    return 1 if soak(wanted, int(os.environ.get("SECONDS") or 60)) else 0


if __name__ == "__main__":
    sys.exit(main())
