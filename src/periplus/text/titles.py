"""Titles: what parts the title of a page from the name of its site."""

import re

TITLE_BORDER = re.compile(r"\s+(?:[-–—]{1,3}|[|·•»«]|::|&mdash;)\s+")  # with blanks around it
