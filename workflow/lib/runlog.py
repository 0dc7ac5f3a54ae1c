"""The log of the runs that computed rows: a line of JSON when one begins and when it ends, kept beside its
results. A run that was lost has no end; calling it again goes on, and has lines of its own."""

import json
import warnings
from datetime import UTC, datetime
from pathlib import Path

from svmselect.atomic import replacing

from lib.damage import DamagedError, set_aside_if_damaged

BEGIN, END = "begin", "end"
COMPLETE = "all was made"  # how a run ends that is not to be called again


def note(path, event, **told):
    """Add a line to the log: the event (a run begins or ends), the time, and further values."""
    path = Path(path)
    before = path.read_bytes() if path.exists() else b""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with replacing(path) as file:
        file.write(before + json.dumps({"at": now, "what": event, **told}).encode() + b"\n")


def runs(path):
    """Return the work of each run, a list of dicts that say when it began and ended, the last one last.

    A run that was lost or could not make all goes on where it is called again with the same ``commit``;
    ``calls`` counts how often it was started. It began with the first call, which tells ``cells`` and what
    else there is. ``ended`` is None while the last one runs, and ``how`` says how it ended.
    """
    if not Path(path).is_file():
        return []
    try:
        with set_aside_if_damaged(path):
            lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    except DamagedError as error:
        warnings.warn(str(error), stacklevel=2)
        return []
    entries = []
    for line in lines:
        moment, event, told = line.pop("at"), line.pop("what"), line
        if event == END:
            entries[-1] |= {"ended": moment, **told}
        elif entries and entries[-1]["commit"] == told["commit"] and entries[-1].get("how") != COMPLETE:
            entries[-1] |= {"ended": None, "calls": entries[-1]["calls"] + 1}
            entries[-1].pop("how", None)
        else:
            entries.append({**told, "began": moment, "ended": None, "calls": 1})
    return entries
