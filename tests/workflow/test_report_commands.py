"""The commands that the report prints, and what its page shows at a reduced scale."""

import html
import re
import shlex

import pytest
from checkouts import ROOT, SMALL, Checkout, planned
from lib.config import call_of

COMMAND = re.compile(r"<dd><code>(\S*snakemake .*?)</code>")


def run(checkout, command, *more):
    """Run a printed command in a checkout, whose snakemake is the one of this Python."""
    program, *words = shlex.split(command)
    assert program.endswith("snakemake")
    place = words.index("--cores")
    return checkout.snakemake(*words[:place], *more, *words[place:])


@pytest.mark.slow
def test_commands_of_a_configuration_of_ones_own(small_run):
    """Each of them; what they make is there, and nothing is planned for it."""
    page = (small_run.folder / "results/small/report.html").read_text()
    # the checkout has links, and its own Snakefile is one of them
    linked = f"--snakefile {shlex.quote(str(ROOT / 'Snakefile'))} "
    commands = [html.unescape(command).replace(linked, "") for command in COMMAND.findall(page)]
    assert len(commands) > 20 and len({command.rpartition(" ")[0] for command in commands}) == 1
    targets = [shlex.split(command)[-1] for command in commands]
    done = run(small_run, shlex.join([*shlex.split(commands[0]), *targets[1:]]), "--dry-run")
    assert done.returncode == 0 and "Nothing to be done" in done.stdout + done.stderr
    (small_run.folder / targets[0]).unlink()
    done = run(small_run, commands[0], "--quiet", "rules")
    assert done.returncode == 0 and (small_run.folder / targets[0]).stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "is_demo", "jobs"), [("demo", True, "prepare_data"), ("paper", False, "")]
)
def test_commands_of_the_demo_and_of_the_paper(tmp_path, monkeypatch, preset, is_demo, jobs):
    checkout = Checkout(tmp_path)
    for rows in (ROOT / "results/paper").glob("*/rows"):
        link = tmp_path / rows.relative_to(ROOT)
        link.parent.mkdir(parents=True)
        link.symlink_to(rows)
    monkeypatch.chdir(ROOT)
    target = f"results/{preset}/chapelle1999/figure2.pdf"
    done = run(checkout, f"{call_of({'preset': preset}, '', is_demo=is_demo)} {target}", "--dry-run")
    assert done.returncode == 0, done.stderr
    plan = planned(done.stdout)
    assert plan["chapelle1999_make_exhibits"] == 1 and {jobs} - {""} <= plan.keys()
    assert bool(jobs) or plan["total"] == 1


def test_a_command_from_elsewhere_names_the_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = shlex.split(call_of({"preset": "mine"}, "a b/results/mine", is_demo=False))
    assert call[call.index("--snakefile") + 1] == str(ROOT / "Snakefile")
    assert call[-3:] == ["--configfile", "a b/results/mine/config.yaml", "--"]
    assert str(ROOT / "config/paper.yaml") in call_of({"preset": "paper"}, "", is_demo=False)


@pytest.mark.slow
def test_a_page_at_a_reduced_scale(small_run):
    """The title is before the contents, columns have values, and what is missed is not red."""
    page = (small_run.folder / "results/small/report.html").read_text()
    assert page.index("<h1") < page.index("<nav") < page.index("<main")
    assert '<body class="reduced">' in page and re.search(r"\.reduced { --bad: var\(--small\)", page)
    table = page.partition('<table class="sortable exhibits">')[2].partition("</table>")[0]
    headings = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table)
    rows = re.findall(r"<tr id=.*?</tr>", table, flags=re.DOTALL)
    cells = [
        re.findall(r"<td[^>]*data-(?:value|label)[^>]*>(.*?)</td>", row, flags=re.DOTALL) for row in rows
    ]
    assert {len(row) for row in cells} == {len(headings) - 3}
    assert all(any(cell.strip() for cell in column) for column in zip(*cells, strict=True))
    decided = [bool(row[0].strip()) for row in cells]
    assert decided == sorted(decided, reverse=True) and SMALL["preset"] in page
