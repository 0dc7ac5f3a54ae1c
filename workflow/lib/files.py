"""Results as files that appear complete or not at all, also if the process is killed while it writes."""

from pathlib import Path

from svmselect.atomic import replacing


def write_text(path, text):
    """Write a text to a file."""
    with replacing(Path(path)) as file:
        file.write(text.encode())


def write_csv(path, frame, **options):
    """Write a DataFrame to a CSV file without its index; `options` are those of pandas."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n", **options))
