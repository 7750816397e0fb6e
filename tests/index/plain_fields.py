"""The pieces of text of each field, as plainly as they can be said; kernels find them in packed documents."""

from periplus.index.format.fields import BODY, FIELDS, MARGIN, TITLE, further_pieces


def field_pieces(document, anchors=()):
    """The pieces of text of each field, in the order of ``FIELDS``."""
    pieces = [[] for _ in FIELDS]
    for field, text in ((TITLE, document.title), (BODY, document.text), (MARGIN, document.description)):
        if text:
            pieces[field].append(text)
    for field, text in further_pieces(document, anchors, with_address=True):
        pieces[field].append(text)
    return pieces
