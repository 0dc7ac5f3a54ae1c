"""The toy's exhibits as tidy rows."""

__all__ = ["figure1", "table1"]


def table1(rows):
    return _along_C(rows, "table1", "test_error", 100 * rows["estimate"], "percent")


def figure1(rows):
    return _along_C(rows, "figure1", "svs", rows["n_sv"], "count")


def _along_C(rows, exhibit, metric, values, unit):
    return [
        {
            "exhibit": exhibit,
            "dataset": row.dataset,
            "setting": f"C={row.C:g}",
            "method": "svm",
            "metric": metric,
            "value": value,
            "unit": unit,
        }
        for row, value in zip(rows.itertuples(), values, strict=True)
    ]
