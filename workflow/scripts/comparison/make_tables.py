"""Make the tables of the comparison: of all estimators, and regret, RMSE and cost per data set."""

from pathlib import Path

from lib.comparison.exhibits import per_set, summary
from lib.comparison.layout import TITLES, answer, layouts
from lib.joblog import start_log
from lib.rows import read_rows
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy

start_log(snakemake.log[0])
output = snakemake.output
tables = per_set(read_rows([snakemake.input.rows]))
for table, rows in tables.items():
    write_tidy(output[f"{table}_csv"], rows)
tidy = {table: read_tidy(output[f"{table}_csv"]) for table in tables}
write_tidy(output.estimators_csv, summary(tidy))
tidy["estimators"] = read_tidy(output.estimators_csv)
for table, layout in layouts(tidy).items():
    write_markdown(output[f"{table}_md"], TITLES[table], *layout)
    write_tex(output[f"{table}_tex"], TITLES[table], *layout)
Path(output.answer).write_text("\n\n".join(answer(tidy["estimators"])) + "\n")
