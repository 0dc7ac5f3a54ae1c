"""The toy's table for readers."""

from lib.tables import KEY, number

__all__ = ["table1_layout"]


def table1_layout(tidy, published):
    theirs = published.set_index(KEY)["value"]
    body = [
        [
            row.dataset,
            row.setting,
            number(row.value, 1),
            number(theirs.get((row.exhibit, row.dataset, row.setting, row.method, row.metric)), 1),
        ]
        for row in tidy.itertuples()
    ]
    return [("", "Data set"), ("", "Model"), ("Error (%)", "ours"), ("Error (%)", "published")], body, []
