"""Write the results of a preset into one file, an RO-Crate: archive.py results/paper results.zip

The file holds what git tracks below the folder, with a description of each file, of the data sets and of the
run that made the rows, from ``provenance.json``. Its bytes depend on these alone.
"""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml

FORMATS = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".yaml": "application/yaml",
}
LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
# what files and runs are described by: RO-Crate, a term that version 1.1 of it lacks, and its profile of runs
CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "http://schema.org/sha256"}]
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"


def described(files, provenance, citation):
    """Return the description of files (contents by name) as a Process Run Crate in JSON-LD, from the contents
    of ``provenance.json`` and ``CITATION.cff``."""
    # files, the rows among them, data sets and authors, each an entity of the graph
    parts = [
        {
            "@id": name,
            "@type": "File",
            "name": name,
            "encodingFormat": FORMATS.get(Path(name).suffix, "application/octet-stream"),
            "contentSize": str(len(content)),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        for name, content in files.items()
    ]
    rows = [{"@id": part["@id"]} for part in parts if part["@id"].endswith(".parquet")]
    data = [
        {"@id": f"#{name}", "@type": "Dataset", "name": name, "identifier": json.dumps(entry, sort_keys=True)}
        for name, entry in provenance["datasets"].items()
    ]
    authors = [
        {"@id": f"#author-{i}", "@type": "Organization", **author}
        for i, author in enumerate(citation["authors"])
    ]
    # the data set as a whole
    root = {
        "@id": "./",
        "@type": "Dataset",
        "conformsTo": {"@id": PROFILE},
        "name": f"Rows and results of {citation['title']}",
        "description": "Rows of all runs, and the tables, figures and verdicts that are made from them.",
        "datePublished": provenance["written"],
        "license": {"@id": LICENCE},
        "author": one_or_more([{"@id": author["@id"]} for author in authors]),
        "publisher": {"@id": authors[0]["@id"]},
        "keywords": ", ".join(citation["keywords"]),
        "hasPart": [{"@id": part["@id"]} for part in parts],
        "mentions": {"@id": "#run"},
    }
    if "doi" in citation:
        root["identifier"] = f"https://doi.org/{citation['doi']}"
    # the graph: the metadata file, the root, and the run that links rows, data and software
    graph = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            "about": {"@id": "./"},
        },
        root,
        {
            "@id": PROFILE,
            "@type": "CreativeWork",
            "name": "Process Run Crate",
            "version": PROFILE.rpartition("/")[2],
        },
        {"@id": LICENCE, "@type": "CreativeWork", "name": citation["license"], "description": "The licence"},
        *authors,
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": "The run that wrote these results",
            "endTime": provenance["written"],
            "description": "commit {commit}, Python {python}, {cpu}".format_map(provenance),
            "agent": {"@id": authors[0]["@id"]},
            "instrument": {"@id": "#svmselect"},
            "object": [{"@id": dataset["@id"]} for dataset in data],
            "result": rows,
        },
        {
            "@id": "#svmselect",
            "@type": "SoftwareApplication",
            "name": "svmselect",
            "softwareVersion": provenance["library"],
            "softwareRequirements": [f"{name} {version}" for name, version in provenance["packages"].items()],
        },
        *data,
        *parts,
    ]
    return {"@context": CONTEXT, "@graph": graph}


def one_or_more(values):
    """Return the only value of a list, or the list itself, as compact JSON-LD has it."""
    return values[0] if len(values) == 1 else values


def main(folder, output):
    tracked = subprocess.run(
        ["git", "ls-files", "-z", folder], check=True, capture_output=True, text=True
    ).stdout
    paths = sorted(Path(name) for name in tracked.split("\0")[:-1])
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    provenance = json.loads(files["provenance.json"])
    citation = yaml.safe_load(Path("CITATION.cff").read_text())
    files["ro-crate-metadata.json"] = json.dumps(described(files, provenance, citation), indent=1).encode()
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(*sys.argv[1:])
