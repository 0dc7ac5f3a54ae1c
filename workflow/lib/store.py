"""Files of a run while its rules are read: on this disk, or in the object store that Snakemake uses."""

import os
import tempfile
from pathlib import Path

COPIES = Path(".snakemake/copies")


class Files:
    """The files of a run before any job runs: their names, and whether they exist.

    Without a store, a path is a path. With one (``--default-storage-provider``), the files of a run are
    objects below its prefix, and none of them is on this disk.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    """

    def __init__(self, workflow):
        self._provider = workflow.storage_registry.default_storage_provider
        prefix = workflow.storage_settings.default_storage_prefix or ""
        self._prefix = f"{prefix.rstrip('/')}/" if prefix else ""

    @property
    def remote(self):
        """True if files are in a store."""
        return self._provider is not None

    def name(self, path):
        """Return Snakemake's name of a file: its path, or the path of the local copy of the object."""
        return str(self._object(path).local_path()) if self.remote else path

    def path(self, file):
        """Return the path of a file that Snakemake hands out; the reverse of `name`."""
        return file.storage_object.query.removeprefix(self._prefix) if file.is_storage else str(file)

    def exists(self, path):
        return self._object(path).exists() if self.remote else Path(path).exists()

    def readable(self, path):
        """Return a path at which the file can be read. An object is copied now. A file that the store lacks
        may be in this folder, such as committed rows, or nowhere."""
        if not self.remote or not self.exists(path):
            return path
        copy = COPIES / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        # other jobs may make the same copy
        descriptor, name = tempfile.mkstemp(dir=copy.parent)
        os.close(descriptor)
        try:
            thing = self._object(path)
            thing.set_local_path(Path(name))
            thing.retrieve_object()
            os.replace(name, copy)
        finally:
            Path(name).unlink(missing_ok=True)
        return str(copy)

    def _object(self, path):
        return self._provider.object(f"{self._prefix}{os.path.normpath(path)}")
