"""Files of the formats that documents come in, made by hand so that tests need no tool and no sample."""

from __future__ import annotations

import io
import zipfile
import zlib


def zipped(entries: dict[str, str | bytes]) -> bytes:
    """A ZIP file with these entries, in this order; ``mimetype`` is stored unpacked as the formats ask."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else None)
    return target.getvalue()


def pdf_with(
    text: str, address: str = "https://example.org/linked", title: str = "Pilot book", content: bytes = b""
) -> bytes:
    """A PDF of one page with a line of text, a link, a title and a date."""
    packed = zlib.compress(content or f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode())
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [6 0 R] /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (%s) >> >>" % address.encode(),
        b"<< /Title (%s) /Author (P. Chart) /CreationDate (D:20240501000000Z) >>" % title.encode(),
    ]
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer << /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(data)
