"""The toy's table for readers."""

from lib.tables import arranged, lines_of, lookup, part, shown


def table1_layout(tidy, published):
    columns = [
        ("", "Data set", part(0)),
        ("", "Model", part(1)),
        ("Error (%)", "ours", shown(lookup(tidy), 1, "svm", "test_error")),
        ("Error (%)", "published", shown(lookup(published), 1, "svm", "test_error")),
    ]
    return arranged(lines_of(tidy, "dataset", "setting"), columns, [])
