"""How large the compiled code is: lines, entry points, the widest signatures and the longest functions.

    python scripts/core_size.py [FOLDER ...]

Folders are those of kernels; by default all of ``src/periplus/core`` but its compiler.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

CORE = Path(__file__).resolve().parent.parent / "src" / "periplus" / "core"
SHOWN = 5  # of the widest and of the longest


def main() -> None:
    given = [Path(name) for name in sys.argv[1:]] or [path for path in CORE.iterdir() if path.name != "compiler"]
    files = [
        file for path in given for file in (path.rglob("*.py") if path.is_dir() else [path]) if file.suffix == ".py"
    ]
    sources = {file: file.read_text(encoding="utf-8") for file in files}
    functions = [
        (file.stem, node)
        for file, text in sources.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]
    entries = sum(len(re.findall(r"^@(?:bare_)?kernel\(", text, re.MULTILINE)) for text in sources.values())
    print(f"{sum(len(text.splitlines()) for text in sources.values()):,} lines, {entries} entry points")
    for title, measure in (("arguments", _width), ("lines", _length)):
        largest = sorted(((measure(node), f"{stem}.{node.name}") for stem, node in functions), reverse=True)
        print(f"{title}: " + ", ".join(f"{name} {size}" for size, name in largest[:SHOWN]))


def _width(node: ast.FunctionDef) -> int:
    return len(node.args.args)


def _length(node: ast.FunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


if __name__ == "__main__":
    main()
