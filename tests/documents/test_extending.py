"""The page on extending: its picture of the workflow has the rules that there are."""

import re

from checkouts import ROOT

RULE = r"\b(?:download|prepare|gather|make|plot)_\w+"


def test_the_picture_has_the_rules_of_the_workflow():
    page = (ROOT / "docs/extending.md").read_text()
    (picture,) = re.findall(r"```text\n(download_data.*?)```", page, flags=re.S)
    files = [path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk")]
    # an underscore before it is no boundary of a word
    named = rf'^(?:rule |\s*f"{{paper\.key}}_)({RULE[2:]})(?::|"$)'
    rules = {name for text in files for name in re.findall(named, text, flags=re.M)}
    assert set(re.findall(RULE, picture)) == rules - {"make_provenance"}
