"""Print the results that a run has made, and where to look: run_summary.py results/demo"""

import csv
import sys
from pathlib import Path

# what "make open" shows
OPENED = Path("results/demo/report.html")


def said(results):
    """Return sentences about a folder of results, with the paths of its pages."""
    tables, figures = (sum(1 for _ in results.glob(f"*/**/*{end}")) for end in (".tex", ".svg"))
    sentences = [
        f"Made {tables} tables (CSV, Markdown, LaTeX) and {figures} figures (CSV, PDF, SVG) in {results}"
    ]
    claims = results / "scorecard_claims.csv"
    if claims.exists():
        with claims.open() as lines:
            tested = [claim for claim in csv.DictReader(lines) if int(claim["tests"])]
        whole = sum(claim["held"] == claim["tests"] for claim in tested)
        sentences.append(f"Reproduced: {whole} of the {len(tested)} claims that this run tests")
    report = results / "report.html"
    if report.exists():
        command = "make open" if report == OPENED else f"make open PAGE={report}"
        sentences.append(f"Every table, figure and published number on one page: {report} ({command})")
    return sentences


if __name__ == "__main__":
    print("", *said(Path(sys.argv[1])), sep="\n")
