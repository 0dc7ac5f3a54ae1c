"""The exhibits of the toy, in the order of the report."""

from papers.toy2026.exhibits import table1

EXHIBITS = (table1,)
