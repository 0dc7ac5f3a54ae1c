"""Table 2: test error of the class weights that each rule selects.

Table of test errors, one row per data set: the error of the class weights that each selection rule chooses,
and the least error of all.

C+ and C- each take the values of the configuration's grid. Least error: the least test error of all models.
Exact LOO selects by the exact leave-one-out error, which the paper could not afford.
"""

from papers.sarafis2018.exhibits.selections import selected_errors, table_of_errors
from papers.sarafis2018.grid import CLASS_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "as Table 1"
EXPERIMENT = CLASS_WEIGHTS


def tidy(rows, context):
    return selected_errors("table2", EXPERIMENT, rows["cells"])


def table(tidy, context):
    return table_of_errors("table2", tidy, context.published)
