"""Make Tables 1 to 6, the published values in brackets."""

from lib.joblog import start_log
from lib.published import read_published
from lib.rows import read_rows
from lib.sarafis2018.exhibits import tables
from lib.sarafis2018.layout import TITLES, layouts
from lib.tables import read_tidy, write_markdown, write_tex, write_tidy

start_log(snakemake.log[0])
output = snakemake.output
for table, rows in tables(read_rows([snakemake.input.rows])).items():
    write_tidy(output[f"{table}_csv"], rows)
tidy = {table: read_tidy(output[f"{table}_csv"]) for table in TITLES}
published = read_published(snakemake.input.published)
published = {table: published[published["exhibit"] == table] for table in TITLES}
params = snakemake.params
for table, layout in layouts(tidy, published, params.published_rows, params.sv_share).items():
    number = table.removeprefix("table")
    write_markdown(output[f"{table}_md"], f"Table {number}. {TITLES[table]}", *layout)
    write_tex(output[f"{table}_tex"], TITLES[table], *layout)
