"""A Parquet file as the cells of a table."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from decimal import Decimal

from svmselect.cli.contents import MAX_BYTES, check_size

__all__ = ["MAGIC", "parquet_cells"]

MAGIC = b"PAR1"
# what a cell may be; a date is a category
KINDS = (str, bool, int, float, Decimal, date, datetime, time)


def parquet_cells(path, raw, max_bytes=MAX_BYTES):
    """Names of the columns, and rows of cells as text.

    Parameters
    ----------
    path : str or Path
        What errors call the file.
    raw : bytes
    max_bytes : int
        The most that the file may have, unpacked, where each value counts as one byte at least.

    Returns
    -------
    names : list of str
    rows : list of lists of str
        Numbers with all their digits; a null is an empty text.

    Raises
    ------
    ValueError
        pyarrow is not installed, the file is damaged or too large, or a column holds something else than
        numbers and text.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"{path}: a Parquet file, which needs pyarrow: install it, or write CSV instead"
        ) from None
    try:
        facts = pyarrow.parquet.ParquetFile(io.BytesIO(raw)).metadata
        n_bytes = sum(facts.row_group(n).total_byte_size for n in range(facts.num_row_groups))
        # a column of one value takes no bytes, and its cells do
        check_size(path, max(n_bytes, facts.num_rows * facts.num_columns), max_bytes)
        table = pyarrow.parquet.read_table(io.BytesIO(raw))
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a Parquet file ({' '.join(str(error).split())})") from None
    if table.num_rows == 0:
        raise ValueError(f"{path}: no row of data")
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.to_pylist()
        odd = next((value for value in values if value is not None and not isinstance(value, KINDS)), None)
        if odd is not None:
            raise ValueError(
                f"{path}, column {name!r}: a value of type {type(odd).__name__} is neither a number nor text"
            )
        columns.append(["" if value is None else str(value).strip() for value in values])
    return [name.strip() for name in table.column_names], [list(row) for row in zip(*columns, strict=True)]
