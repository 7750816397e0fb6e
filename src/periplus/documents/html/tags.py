"""Which tags end a block of text, which hold no text, and which are only part of a line."""

from __future__ import annotations

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Block-level tags that say nothing about the part of the page they stand in …
PLAIN_BLOCKS: Final = _names(
    "p blockquote caption address dt dd summary legend center hr optgroup option tbody thead tfoot fieldset"
    " details td th li body frameset colgroup hgroup search"
)
# … and those whose tag, role or class names may.
CONTAINERS: Final = _names(
    "div section ul ol dl table form header footer nav aside menu dialog noscript button select datalist label figure"
)
MAIN: Final = _names("main article")
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
CODE: Final = _names("pre listing xmp plaintext")
SKIPPED: Final = _names(
    "head script style template svg math iframe object audio video canvas textarea title meta link base noembed"
    " noframes"
)
FRAMES: Final = frozenset({"frame", "area"})

BLOCKS: Final = PLAIN_BLOCKS | CONTAINERS | MAIN | frozenset(HEADINGS) | CODE | {"tr", "figcaption"}

# An element with any of these below it is more than text and links, and must be walked through.
PARTING: Final = BLOCKS | SKIPPED | FRAMES | {"br"}
HIDING: Final = "[hidden],[style]"
# What is gathered beforehand, wherever it stands.
GATHERED: Final = _names("title meta link base script time img dfn")

# What the walk does with an element, by its tag; what is not here is only a part of a line.
PLAIN, CONTAINER, PLACED, APART = range(4)
KINDS: Final = {
    **dict.fromkeys(PARTING, APART),
    **dict.fromkeys(BLOCKS, PLACED),
    **dict.fromkeys(CONTAINERS, CONTAINER),
    **dict.fromkeys(PLAIN_BLOCKS, PLAIN),
}
INLINE: Final = 4
