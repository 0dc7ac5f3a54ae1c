"""Result rows: one per model and method, kept in Parquet files of a fixed schema.

A row says what was run (identity), what came out (result), what it took (cost) and how it ended (status). A
run that failed is a row too: its status is not ``ok``, its reason says why, and its result is empty or, where
a solver stopped early, partial.
"""

import hashlib
import io
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from svmselect.atomic import replacing

from lib.damage import DamagedError, set_aside

OK, NOT_CONVERGED, ERROR, SKIPPED = "ok", "not_converged", "error", "skipped"

# Key in the metadata of a file for the digest of all that its rows depend on, see `lib.job.run_cell`.
DIGEST = b"svmselect_digest"

# Key in the metadata of a file that ends with the SHA-256 of the file, taken with zeros in its place. Parquet
# has checksums of its pages only: a changed bit elsewhere may turn a column's name into another one.
SEAL, UNSEALED = b"svmselect_sha256=", b"0" * 64

# the first bytes of every Parquet file
PARQUET = b"PAR1"

# Columns whose values are all different. Storing their bytes apart takes less room than a dictionary of them.
ALL_DIFFERENT = ("objective", "kkt_gap", "bound")

_BASE = [
    # identity
    ("paper", pa.string()),
    ("dataset", pa.string()),
    ("cell", pa.string()),  # its name in its stage
    ("data_sha256", pa.string()),
    ("library", pa.string()),  # version, and hash of the sources
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


def write_rows(path, rows, schema, digest=""):
    """Write rows, dicts, to a Parquet file, atomically. Columns of the schema that a row does not name are
    null; `digest` is stored with them, see `digest_of`.

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
    write_table(path, pa.Table.from_pylist(rows, schema=schema), digest)


def gather_rows(path, files, schema):
    """Write the rows of the files of all cells of a stage to one file, atomically, and return their number.
    A damaged one is set aside, with a `DamagedError`: the next run makes it again."""
    tables = [schema.empty_table()]
    for file in files:
        try:
            tables.append(_table(file))
        except DamagedError as error:
            raise set_aside(file, error.why) from error
    table = pa.concat_tables(tables)
    write_table(path, table)
    return table.num_rows


def check_stage(path, paper, schema, cells):
    """Raise a `ValueError` unless a file has the rows of a stage: unchanged since this workflow wrote it,
    with the columns of the schema, of this paper, of each of the planned cells once, and not all failed."""
    file = _opened(path)
    types = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
    planned_types = dict(zip(schema.names, schema.types, strict=True))
    for name in dict.fromkeys([*planned_types, *types]):
        if name not in types:
            raise DamagedError(path, f"it lacks the column {name}")
        if name not in planned_types:
            raise DamagedError(path, f"it has a column {name}, which is none of its rows")
        if types[name] != planned_types[name]:
            raise DamagedError(path, f"its column {name} is {types[name]}, not {planned_types[name]}")
    columns = ["paper", "cell", "status", "reason"]
    rows = file.read(columns, use_threads=False)
    papers, names, states, reasons = (rows[column].combine_chunks() for column in columns)
    if foreign := [name for name in papers.unique().to_pylist() if name != paper]:
        raise ValueError(f"{path} has rows of the paper {foreign[0]!r}, not of {paper!r}")
    # the rows of a cell stand together
    blocks = [name for name, _ in groupby(names.to_pylist())]
    present = set(blocks)
    if unknown := [name for name in blocks if name not in cells]:
        raise ValueError(f"{path} has rows of the cell {unknown[0]!r}, which {paper} does not plan")
    if missing := [name for name in cells if name not in present]:
        raise ValueError(
            f"{path} has the rows of {len(present)} of the {len(cells)} cells that {paper} plans; "
            f"the first that is missing is {missing[0]!r}"
        )
    if len(blocks) > len(present):
        twice = next(name for name in blocks if blocks.count(name) > 1)
        raise DamagedError(path, f"it has the rows of the cell {twice!r} twice")
    if not {OK, NOT_CONVERGED} & {*states.unique().to_pylist()}:
        raise DamagedError(path, f"none of its rows succeeded; the first says: {reasons[0].as_py()}")


def read_rows(paths):
    """Return all rows of the given Parquet files, in their order, as one DataFrame (a null number is NaN). A
    damaged file raises a `DamagedError`."""
    return pa.concat_tables(map(_table, paths), promote_options="default").to_pandas(use_threads=False)


def digest_of(path):
    """Return the digest of all that the rows of a file depend on, as it was given to `write_rows`; None
    without a file."""
    if not Path(path).exists():
        return None
    return (_opened(path).metadata.metadata or {}).get(DIGEST, b"").decode()


def _table(path):
    """Return the rows of a file as a table without metadata."""
    # threads of pyarrow can abort a process that ends (apache/arrow issue 50482), and rows are few
    return _opened(path).read(use_threads=False).replace_schema_metadata()


def _opened(path):
    """Return a file of rows as a `pyarrow.parquet.ParquetFile`; a `DamagedError` is raised unless it has the
    bytes that `write_table` wrote."""
    if Path(path).is_dir():
        raise DamagedError(path, "it is a folder")
    content = Path(path).read_bytes()
    before, seal, after = content.rpartition(SEAL)
    if not content.startswith(PARQUET):
        raise DamagedError(path, f"it is no Parquet file: it begins with {content[:20]!r}")
    if not seal:
        raise DamagedError(path, "it has no checksum: it is cut off, or other software wrote it")
    if hashlib.sha256(before + seal + UNSEALED + after[64:]).hexdigest().encode() != after[:64]:
        raise DamagedError(path, f"it does not have the SHA-256 {after[:64].decode(errors='replace')}")
    # read_table would import pandas, which takes longer than to gather the rows of a stage
    return pq.ParquetFile(pa.BufferReader(content))


def write_table(path, table, digest=""):
    """Write a table to a sealed Parquet file, atomically."""
    options = {
        "compression": "zstd",
        "compression_level": 12,
        "use_dictionary": [name for name in table.column_names if name not in ALL_DIFFERENT],
        "use_byte_stream_split": [name for name in ALL_DIFFERENT if name in table.column_names],
        "write_statistics": False,
        "store_schema": False,
        "write_page_checksum": True,
    }
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({DIGEST: digest, SEAL + UNSEALED: b""})
    before, seal, after = buffer.getvalue().rpartition(SEAL)
    sha256 = hashlib.sha256(before + seal + after).hexdigest().encode()
    with replacing(Path(path)) as file:
        file.write(before + seal + sha256 + after[64:])


def pack_bits(errors):
    """Return an error pattern (m,) bool as a hexadecimal string: two digits for eight points, highest bit
    first."""
    return np.packbits(np.asarray(errors, dtype=bool)).tobytes().hex()


def unpack_bits(text, m):
    """Return the error pattern (m,) bool of a string that `pack_bits` made."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=m).astype(bool)
