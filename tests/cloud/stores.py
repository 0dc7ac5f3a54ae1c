"""An object store in memory, on this machine's loopback."""

import logging

import boto3
from moto.server import ThreadedMotoServer

# a line for each request
logging.getLogger("werkzeug").setLevel(logging.ERROR)


class Store:
    """An S3 server in memory with one bucket.

    Parameters
    ----------
    bucket : str

    Attributes
    ----------
    environment : dict of str to str
        What tells Snakemake's plugin where it is.
    """

    def __init__(self, bucket):
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.environment = {
            "SNAKEMAKE_STORAGE_S3_ENDPOINT_URL": f"http://{host}:{port}",
            "SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "key",
            "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "secret",
        }
        access = {"aws_access_key_id": "key", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        self._client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", **access)
        self._client.create_bucket(Bucket=bucket)
        self._bucket = bucket

    def names(self, folder):
        """The names of the objects below a folder of the bucket, without it."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=f"{folder}/"
        )
        return {
            entry["Key"].removeprefix(f"{folder}/") for page in pages for entry in page.get("Contents", [])
        }

    def download(self, folder, path):
        """Write the objects below a folder of the bucket to a folder of this disk, which is returned."""
        for name in self.names(folder):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            self._client.download_file(self._bucket, f"{folder}/{name}", str(path / name))
        return path

    def remove(self, folder, name):
        """Delete an object."""
        self._client.delete_object(Bucket=self._bucket, Key=f"{folder}/{name}")

    def stop(self):
        self._server.stop()
