"""Write the summary of a scorecard into another Markdown file: readme.py scorecard.md README.md"""

import sys
from pathlib import Path

from lib.scorecard import between


def main(scorecard, readme):
    source, target = Path(scorecard).read_text(), Path(readme).read_text()
    target_new = target.replace(between(target), between(source))
    if target_new != target:
        Path(readme).write_text(target_new)


if __name__ == "__main__":
    main(*sys.argv[1:])
