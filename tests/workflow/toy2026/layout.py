"""The toy's table for readers."""

from lib.tables import arranged, lookup, number


def table1_layout(tidy, published):
    ours, theirs = lookup(tidy), lookup(published)
    columns = [
        ("", "Data set", lambda dataset, _: dataset),
        ("", "Model", lambda _, setting: setting),
        ("Error (%)", "ours", lambda *at: number(ours(*at, "svm", "test_error")[0], 1)),
        ("Error (%)", "published", lambda *at: number(theirs(*at, "svm", "test_error")[0], 1)),
    ]
    return arranged(dict.fromkeys(zip(tidy["dataset"], tidy["setting"], strict=True)), columns, [])
