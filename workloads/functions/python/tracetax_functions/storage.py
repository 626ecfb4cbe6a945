"""Where functions keep objects: a bucket of inputs, which anybody may read, and one of outputs, by S3."""

import os
from urllib.parse import urlsplit
from uuid import uuid4

import boto3
from botocore.config import Config

INPUTS, OUTPUTS = "inputs", "outputs"

_place = urlsplit(os.environ["TRACETAX_STORE"])
ADDRESS = f"http://{_place.hostname}:{_place.port}"

_client = boto3.client(
    "s3",
    endpoint_url=ADDRESS,
    aws_access_key_id=_place.username,
    aws_secret_access_key=_place.password,
    region_name="us-east-1",
    config=Config(s3={"addressing_style": "path"}),
)


def read(name: str) -> bytes:
    """An object of the inputs."""
    return _client.get_object(Bucket=INPUTS, Key=name)["Body"].read()


def write(data: bytes, suffix: str) -> str:
    """Put an object into the outputs; give its name, which is new."""
    name = f"{uuid4()}{suffix}"
    _client.put_object(Bucket=OUTPUTS, Key=name, Body=data)
    return name
