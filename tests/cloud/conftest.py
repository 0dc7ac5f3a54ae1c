"""An object store and an API of Kubernetes, both of them on this machine's loopback."""

import logging

import boto3
import pytest
from checkouts import Checkout
from cloud.pods import Kubernetes
from moto.server import ThreadedMotoServer

BUCKET = "reproduction"
# a line for each request
logging.getLogger("werkzeug").setLevel(logging.ERROR)


class Store:
    """An S3 server in memory with one bucket.

    Attributes
    ----------
    environment : dict of str to str
        What tells Snakemake's plugin where it is.
    """

    def __init__(self):
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.environment = {
            "SNAKEMAKE_STORAGE_S3_ENDPOINT_URL": f"http://{host}:{port}",
            "SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "key",
            "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "secret",
        }
        own = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        self._client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", **own)
        self._client.create_bucket(Bucket=BUCKET)

    def names(self, folder):
        """The names of the objects below a folder of the bucket, without it."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{folder}/")
        return {own["Key"].removeprefix(f"{folder}/") for page in pages for own in page.get("Contents", [])}

    def download(self, folder, path):
        """Write the objects below a folder of the bucket to a folder of this disk, which is returned."""
        for name in self.names(folder):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            self._client.download_file(BUCKET, f"{folder}/{name}", str(path / name))
        return path

    def remove(self, folder, name):
        """Delete an object."""
        self._client.delete_object(Bucket=BUCKET, Key=f"{folder}/{name}")

    def stop(self):
        self._server.stop()


@pytest.fixture(scope="module")
def store():
    own = Store()
    yield own
    own.stop()


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / "checkout").mkdir()
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def kubernetes(tmp_path):
    with Kubernetes(tmp_path / "cluster") as own:
        yield own
