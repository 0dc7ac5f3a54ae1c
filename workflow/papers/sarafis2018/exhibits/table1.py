"""Table 1: data sets.

Table of the data sets, one row per set: training rows, test rows, features and realisation.

The pairs of MNIST have 784 pixels here and 780 features in the paper, because LIBSVM's file ends with the
last pixel that ever has a value. Realisation: the number of the registry's split; 1 where a set has a test
part of its own. The paper's adult set is adult (a1a), its splice is splice (LIBSVM).
"""

from lib.shown import dataset_in_words
from lib.tables import IN_BRACKETS, measured
from papers.sarafis2018.exhibits.models import each_set
from papers.sarafis2018.exhibits.published_beside import PublishedBeside
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "1.4 h for all"


def tidy(rows, context):
    """Yield the sizes of the data sets of both weightings, which Tables 4 to 6 have too."""
    for row_key, group in each_set("table1", rows["cells"], CLASS_WEIGHTS, INSTANCE_WEIGHTS):
        first = group[group["method"] == "test"].iloc[0]
        yield measured(row_key, "train_rows", first["m"], "count")
        yield measured(row_key, "test_rows", first["rows_tested"], "count")
        yield measured(row_key, "features", round(1 / first["gamma"]), "count")
        yield measured(row_key, "realisation", first["realisation"], "count")


def table(tidy, context):
    """Return the sizes of the data sets, the published ones in brackets."""
    both = PublishedBeside("table1", tidy, context.published)
    columns = [
        ("", "Training rows", both.both(0, "", "train_rows")),
        ("", "Test rows", both.both(0, "", "test_rows")),
        ("", "Features d", both.both(0, "", "features")),
        ("", "Realisation", both.alone(0, "", "realisation")),
    ]
    notes = [
        "Each feature is scaled to [0, 1] by its range over the training rows, and gamma = 1/d. "
        f"{IN_BRACKETS}"
    ]
    if (wisconsin := "breast-cancer-wisconsin") in both.datasets:
        notes.append(
            f"{dataset_in_words(wisconsin)}: the published 783 test rows do not fit the 683 rows of the set. "
            "Here all rows that are not trained on are test rows."
        )
    return both.arranged(columns, *notes)
