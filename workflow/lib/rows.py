"""Result rows: one per model and method, kept in Parquet files of a fixed schema.

A row says what was run (identity), what came out (result), what it took (cost) and how it ended (status). A
run that failed is a row too: its status is not ``ok``, its reason says why, and its result is empty or, where
a solver stopped early, partial.
"""

import hashlib
import io
import json
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from svmselect.atomic import replacing

from lib.damage import DamagedError, set_aside_if_damaged

OK, NOT_CONVERGED, ERROR, SKIPPED = "ok", "not_converged", "error", "skipped"

# Key under which the metadata of a file list its cells.
CELLS = b"svmselect_cells"

# Key in the metadata of a file that ends with the SHA-256 of the file, taken with zeros in its place. Parquet
# has checksums of its pages only: a changed bit elsewhere may turn a column's name into another one.
SEAL, UNSEALED = b"svmselect_sha256=", b"0" * 64

# Columns whose values are all different. Storing their bytes apart takes less room than a dictionary of them.
ALL_DIFFERENT = ("objective", "kkt_gap", "bound")

_BASE = [
    # identity
    ("paper", pa.string()),
    ("dataset", pa.string()),
    ("data_sha256", pa.string()),
    ("library", pa.string()),  # version and digest of the sources that the numbers depend on
    ("commit", pa.string()),  # the commit of the code that ran them, with "+changes" where files were changed
    ("cpu", pa.string()),  # model of the processor that they were computed on
    ("realisation", pa.int64()),
    ("origin", pa.string()),  # where the split is from: "original" or "seeded"
    ("seed", pa.list_(pa.int64())),  # the seed of a seeded split, as given to the random generator
    ("fold", pa.string()),
    ("method", pa.string()),
    ("kernel", pa.string()),
    ("C", pa.float64()),
    ("gamma", pa.float64()),
    ("eps", pa.float64()),
    ("tol", pa.float64()),
    # result
    ("m", pa.int64()),
    ("rows_tested", pa.int64()),
    ("errors", pa.int64()),
    ("estimate", pa.float64()),  # errors / rows_tested
    ("n_sv", pa.int64()),
    ("n_inbound", pa.int64()),
    ("objective", pa.float64()),
    ("kkt_gap", pa.float64()),
    # cost
    ("n_iter", pa.int64()),
    ("columns_requested", pa.int64()),
    ("kernel_values", pa.int64()),
    ("cpu_s", pa.float64()),
    ("wall_s", pa.float64()),  # null when other jobs may have run at the same time
    ("timing_mode", pa.string()),
    # status
    ("status", pa.string()),
    ("reason", pa.string()),
]

TEST_ROWS = pa.schema(_BASE)

LOO_ROWS = pa.schema(
    [
        *_BASE,
        ("gram_dtype", pa.string()),
        ("gram_cpu_s", pa.float64()),  # shared by all rows of a cell, in no row's cpu_s
        ("start_C", pa.float64()),  # the C of the model whose solution this one started from; null: from zero
        ("n_solved", pa.int64()),
        ("n_not_converged", pa.int64()),
        ("n_check1", pa.int64()),
        ("n_check2", pa.int64()),
        ("n_check3", pa.int64()),
        ("n_retrained", pa.int64()),
        ("n_certified", pa.int64()),
        ("min_abs_decision", pa.float64()),
        ("error_pattern", pa.string()),  # packed bits, see pack_bits
        ("decided", pa.string()),  # points that were, as packed bits; null, as the following are: all
        ("stands_for", pa.float64()),  # unresolved points that each one solved for stands for
        # the part of cpu_s that these took, and its deviation from point to point
        ("solving_cpu_s", pa.float64()),
        ("solving_cpu_s_sd", pa.float64()),
        ("solving_columns", pa.float64()),  # the same out of columns_requested
        ("solving_columns_sd", pa.float64()),
        ("differing_points", pa.list_(pa.int64())),  # points on whose error the cell's methods disagree
        ("differing_decisions", pa.list_(pa.float64())),  # this method's decision values there
        ("differing_exact", pa.list_(pa.float64())),  # the decision values by retraining to a KKT gap of 1e-8
    ]
)

BOUND_ROWS = pa.schema(
    [
        *_BASE,
        ("experiment", pa.string()),  # what the rows vary
        ("bound", pa.float64()),  # the value of a method that counts no errors
        ("gram_cpu_s", pa.float64()),  # shared by all rows of a kernel, in no row's cpu_s
        ("n_degenerate", pa.int64()),  # support vectors whose span is infinite, or 0 as that of a duplicate
    ]
)

CV_ROWS = pa.schema(
    [
        *_BASE,
        ("settings", pa.string()),  # data and hyper-parameters as published, or scaled and chosen
        ("folds", pa.string()),  # how the folds were drawn, where that varies
        ("k", pa.int64()),
        ("rounds", pa.int64()),  # folds run, the first ones: the row is about these
        ("gram_dtype", pa.string()),
        ("gram_cpu_s", pa.float64()),  # shared by all rows of a cell, in no row's cpu_s
        ("kernel_share", pa.float64()),  # the share of values off the diagonal that are above 1e-6
        ("kernel_largest", pa.float64()),  # off the diagonal
        # columns were kept within this, and anew for each fit; null: whole matrix
        ("cache_mb", pa.float64()),
        ("seeding_cpu_s", pa.float64()),  # the fit of all points included
        ("training_cpu_s", pa.float64()),
        ("full_n_iter", pa.int64()),  # the fit of all points that seeds come from; 0 without
        ("full_cpu_s", pa.float64()),
        ("full_kernel_values", pa.int64()),
        ("round_n_iter", pa.list_(pa.int64())),
        ("round_seeding_cpu_s", pa.list_(pa.float64())),
        ("round_training_cpu_s", pa.list_(pa.float64())),
        ("round_kernel_values", pa.list_(pa.int64())),
        ("n_not_converged", pa.int64()),
        ("seed_steps", pa.int64()),
        ("cg_iterations", pa.int64()),
        ("cg_residual", pa.float64()),  # the largest
        ("min_abs_decision", pa.float64()),
        ("differing_points", pa.list_(pa.int64())),  # points on whose class the cell's seeds disagree
        ("differing_folds", pa.list_(pa.int64())),
        ("differing_decisions", pa.list_(pa.float64())),  # decision values of this row's classifiers
    ]
)


WEIGHT_ROWS = pa.schema(
    [
        *BOUND_ROWS,
        ("C_positive", pa.float64()),  # class weights: the bounds C_i of the two classes
        ("C_negative", pa.float64()),
        ("A", pa.float64()),  # instance weights: C_i = max(C / (1 + exp(-A (q_i - B))), 0.01)
        ("B", pa.float64()),
        ("n_empty", pa.int64()),  # in-bound SVs with an empty Lambda_p
        ("folds_run", pa.list_(pa.int64())),  # null: all of them
        # by fold, where a sample is compared with all of them
        ("fold_errors", pa.list_(pa.int64())),
        ("fold_cpu_s", pa.list_(pa.float64())),
    ]
)

COMPARISON_ROWS = pa.schema(
    [
        *BOUND_ROWS,
        ("k", pa.int64()),  # folds of cross-validation
        # the smallest sphere's time, shared by all rows of a kernel, in no row's cpu_s
        ("sphere_cpu_s", pa.float64()),
        ("n_empty", pa.int64()),  # in-bound SVs with an empty Lambda_p
    ]
)

EDIT_ROWS = pa.schema(
    [
        *_BASE,
        ("experiment", pa.string()),
        ("level", pa.float64()),  # overlap of figure 1, deviation of figure 3, label noise of figure 4
        ("formulation", pa.string()),  # "C" or "nu": what the values are
        ("value", pa.float64()),  # the value of C or nu, for the SVM or the final one
        ("first_value", pa.float64()),  # the same for the first stage
        ("n_subsets", pa.int64()),
        ("subset_size", pa.int64()),
        ("validation_rows", pa.int64()),
        ("n_misclassified", pa.int64()),  # training points discarded as such
        ("n_recognised", pa.int64()),  # training points discarded as such, also those put back
        ("n_reinserted", pa.int64()),
        ("n_kept", pa.int64()),  # training points of the final SVM
        ("clean_errors", pa.int64()),  # on test labels before noise
        ("search_cpu_s", pa.float64()),  # the time of choosing values, in no row's cpu_s
        ("predict_cpu_s", pa.float64()),
        ("peak_mb", pa.float64()),  # memory of training, above what the process held before
        ("error_pattern", pa.string()),  # errors on the test rows, packed bits, see pack_bits
    ]
)


def write_rows(path, rows, schema, cell=None):
    """Write rows, dicts, to a Parquet file, atomically. Columns of the schema that a row does not name are
    null; the rows belong to `cell`, a `CellRecord`, if there is one.

    A `ValueError` is raised if there are no rows, a row names a column that the schema lacks, a status is
    unknown, a row that is ``ok`` has neither an error count nor a bound, or one that is not ``ok`` has no
    reason.
    """
    if not rows:
        raise ValueError(f"no rows to write to {path}")
    for row in rows:
        unknown = sorted(set(row) - set(schema.names))
        if unknown:
            raise ValueError(f"row for {path} has unknown columns: {', '.join(unknown)}")
        if row.get("status") not in (OK, NOT_CONVERGED, ERROR, SKIPPED):
            raise ValueError(f"row for {path} has the unknown status {row.get('status')!r}")
        if row["status"] == OK and row.get("errors") is None and row.get("bound") is None:
            raise ValueError(f"row for {path} is 'ok' but has no error count and no bound")
        if row["status"] != OK and not row.get("reason"):
            raise ValueError(f"row for {path} is {row['status']!r} but gives no reason")
    rows = [{name: row.get(name) for name in schema.names} for row in rows]
    records = [] if cell is None else [replace(cell, rows=len(rows))]
    _write(path, pa.Table.from_pylist(rows, schema=schema), records)


@dataclass(frozen=True)
class CellRecord:
    """A cell in a file of rows, and the parameters and code that its rows were made from. The rows stand
    together, in the order of the cells."""

    cell: str  # its name in its stage
    parameters: str  # digest of all that the numbers depend on, except the code (`lib.plan.Plan.parameters`)
    library: str  # version of the library and digest of the code
    rows: int = 0  # how many rows of the file belong to it
    # CPU time of the process that wrote them, which no clock of a method has all of; says nothing about them
    cpu_s: float | None = field(default=None, compare=False)

    def matches(self, required, any_code):
        """Return whether the rows have the parameters of the required cell (a CellRecord) and were computed
        by its code; with `any_code` the code does not matter."""
        return self.parameters == required.parameters and (any_code or self.library == required.library)


def cell_records(path):
    """Return the cells of a file of rows (CellRecord) by name. Without a file the dict is empty; so it is for
    a damaged file, with a warning."""
    if not Path(path).is_file():
        return {}
    try:
        with _opened(path) as file:
            return _records(file)
    except DamagedError as error:
        warnings.warn(str(error), stacklevel=2)
        return {}


def cell_name(path):
    """Return the name of the cell of a file with one cell."""
    with _opened(path) as file:
        (name,) = _records(file)
    return name


def cells_to_compute(path, required, any_code):
    """Return the names of the `required` cells (list of CellRecord) whose rows have to be computed, because
    the file lacks them or has others (`CellRecord.matches`)."""
    stored = cell_records(path)
    return [
        record.cell
        for record in required
        if record.cell not in stored or not stored[record.cell].matches(record, any_code)
    ]


def gather_rows(path, names, files, schema):
    """Put the rows of all cells of a stage into one file, atomically, and return their number.

    Parameters
    ----------
    path : path-like
        The file of the stage, which is replaced; the rows of cells that are not in `files` are taken over.
    names : list of str
        Names of the stage's cells, in the order in which their rows are to stand.
    files : dict of str to path-like
        The files of single cells, by the names of the cells.
    schema : pyarrow.Schema
        The schema of the rows. Columns that older rows lack are null.
    """
    former_cells = {} if set(names) <= set(files) else read_cells(path, schema)
    tables, records = [], []
    for name in names:
        record, rows = (read_cells(files[name], schema) if name in files else former_cells)[name]
        tables.append(rows)
        records.append(record)
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    _write(path, table, records)
    return table.num_rows


def read_rows(paths):
    """Return all rows of the given Parquet files, in their order, as one DataFrame (a null number is NaN)."""
    return _read(paths).to_pandas()


def read_columns(path, selects):
    """Return the columns of a Parquet file that the function `selects` picks by their names, as one
    DataFrame."""
    with _opened(path) as file:
        names = [name for name in dict.fromkeys(file.schema_arrow.names) if selects(name)]
        table = file.read(columns=names)
    return table.to_pandas()


def read_cell(path, name):
    """Return the rows of one cell of a file, as one DataFrame."""
    _, rows = read_cells(path)[name]
    return rows.to_pandas()


def copy_cell(path, name, output, schema):
    """Put the rows of one cell of a file into a file of its own, atomically."""
    record, rows = read_cells(path, schema)[name]
    _write(output, rows, [record])


def rewrite_cells(path, cells):
    """Write new records of cells (list of CellRecord) into the metadata of a file of rows; the rows do not
    change."""
    _write(path, _read([path]), cells)


def read_cells(path, schema=None):
    """Return the cells of a file (CellRecord) by name, each with its rows as a table."""
    with _opened(path) as file:
        table, cells = file.read(), _records(file)
    table, begin, rows_by_cell = _with_schema(table, schema), 0, {}
    for name, record in cells.items():
        rows_by_cell[name] = record, table.slice(begin, record.rows)
        begin += record.rows
    return rows_by_cell


def _read(paths):
    """Return the rows of files as one table."""
    tables = []
    for path in paths:
        with _opened(path) as file:
            tables.append(file.read().replace_schema_metadata())
    return pa.concat_tables(tables, promote_options="default")


def _with_schema(table, schema=None):
    """Return a table without metadata; with a schema, columns that it lacks are null."""
    if schema is None:
        return table.replace_schema_metadata()
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def _opened(path):
    """Yield a file of rows, a `pyarrow.parquet.ParquetFile`, whose bytes are those that were written. One
    that is damaged is set aside, with a `DamagedError`; the block is to do no more than to read it."""
    content = Path(path).read_bytes()
    before, seal, after = content.rpartition(SEAL)
    with set_aside_if_damaged(path):
        if seal and hashlib.sha256(before + seal + UNSEALED + after[64:]).hexdigest().encode() != after[:64]:
            raise ValueError(f"it does not have the SHA-256 {after[:64].decode(errors='replace')}")
    # an older file has no seal: what cannot be read in it is damage
    with nullcontext() if seal else set_aside_if_damaged(path):
        # read_table would import pandas, which takes longer than to gather the rows of a stage
        yield pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)


def _records(file):
    """Return the cells of an open file of rows (CellRecord) by name."""
    stored = (file.metadata.metadata or {}).get(CELLS, b"[]")
    cells = {entry[0]: CellRecord(*entry) for entry in json.loads(stored)}
    if cells and sum(record.rows for record in cells.values()) != file.metadata.num_rows:
        raise ValueError(f"its cells have other than its {file.metadata.num_rows} rows")
    return cells


def _write(path, table, records):
    options = {
        "compression": "zstd",
        "compression_level": 12,
        "use_dictionary": [name for name in table.column_names if name not in ALL_DIFFERENT],
        "use_byte_stream_split": [name for name in ALL_DIFFERENT if name in table.column_names],
        "write_statistics": False,
        "store_schema": False,
        "write_page_checksum": True,
    }
    cells, buffer = json.dumps([list(astuple(record)) for record in records]), io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({CELLS: cells, SEAL + UNSEALED: b""})
    before, seal, after = buffer.getvalue().rpartition(SEAL)
    digest = hashlib.sha256(before + seal + after).hexdigest().encode()
    with replacing(Path(path)) as file:
        file.write(before + seal + digest + after[64:])


def pack_bits(errors):
    """Return an error pattern (m,) bool as a hexadecimal string: two digits for eight points, highest bit
    first."""
    return np.packbits(np.asarray(errors, dtype=bool)).tobytes().hex()


def unpack_bits(text, m):
    """Return the error pattern (m,) bool of a string that `pack_bits` made."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=m).astype(bool)
