"""Table 1: test error along C.

Table of the test error of a linear SVM, one row per C, ours beside what the paper prints.

On {{ facts["dataset_name"] }}.
"""

from lib.tables import arranged, lines_of, lookup, measured, part, shown

STAGES = ("cells",)


def tidy(rows, context):
    for row in rows["cells"].itertuples():
        row_key = {"exhibit": "table1", "dataset": row.dataset, "setting": f"C={row.C:g}", "method": "svm"}
        yield measured(row_key, "test_error", 100 * row.estimate, "percent")
        yield measured(row_key, "test_rows", row.rows_tested, "count")


def table(tidy, context):
    columns = [
        ("", "Data set", part(0)),
        ("", "Model", part(1)),
        ("Error (%)", "ours", shown(lookup(tidy), 1, "svm", "test_error")),
        ("Error (%)", "published", shown(lookup(context.published), 1, "svm", "test_error")),
    ]
    return arranged(lines_of(tidy, "dataset", "setting"), columns, [])
