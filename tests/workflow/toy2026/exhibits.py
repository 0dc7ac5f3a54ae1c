"""The toy's exhibits as tidy rows."""

from lib.tables import measured


def table1(rows):
    yield from _along_C(rows, "table1", "test_error", 100 * rows["estimate"], "percent")
    yield from _along_C(rows, "table1", "test_rows", rows["rows_tested"], "count")


def figure1(rows):
    return _along_C(rows, "figure1", "svs", rows["n_sv"], "count")


def _along_C(rows, exhibit, metric, values, unit):
    for row, value in zip(rows.itertuples(), values, strict=True):
        place = {"exhibit": exhibit, "dataset": row.dataset, "setting": f"C={row.C:g}", "method": "svm"}
        yield measured(place, metric, value, unit)
