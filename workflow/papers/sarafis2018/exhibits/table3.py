"""Table 3: test error of the instance weights that each rule selects.

Table of test errors, one row per data set: the error of the instance weights that each selection rule
chooses, and the least error of all.

Weights are max(C / (1 + exp(-A (q - B))), 0.01), where q in [0, 1] is the importance of a training point. For
Parkinson's speech, q is the UPDRS score scaled by its range over the patients, and 1 for the healthy. For
bank marketing, q is the length of the call scaled by its range. Both ranges are those of the training rows.
All else is as in Table 2.
"""

from papers.sarafis2018.exhibits.selections import selected_errors, table_of_errors
from papers.sarafis2018.grid import INSTANCE_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "as Table 1"
EXPERIMENT = INSTANCE_WEIGHTS


def tidy(rows, context):
    return selected_errors("table3", EXPERIMENT, rows["cells"])


def table(tidy, context):
    return table_of_errors("table3", tidy, context.published)
