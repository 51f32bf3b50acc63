"""Completes the scenario of test/servers/generated-clients.test.ts with the package that openapi-python-client generates.

It asks its parent for what happens outside the API: it writes a request to standard output as a line, and reads a line.
"""

import json
import os
import time
from collections.abc import Callable
from typing import TypeVar

import httpx
from stowage.api.accounts import confirm_email_verification, register
from stowage.api.assets import add_asset, confirm_upload, issue_upload_url
from stowage.api.orders import get_order, place_order
from stowage.api.projects import create_project
from stowage.api.shares import create_share, verify_share
from stowage.api.storages import create_storage, get_storage, test_storage
from stowage.client import AuthenticatedClient, Client
from stowage.models import (
    Asset,
    AssetCreation,
    AssetUpload,
    EmailVerification,
    Error,
    NoFields,
    OpenedShareReply,
    OrderRequest,
    OrderStatus,
    OrderWithPayments,
    PaymentProvider,
    Project,
    ProjectCreation,
    Registration,
    Share,
    ShareCreation,
    ShareVerification,
    SignedInReply,
    Storage,
    StorageCreationS3,
    StorageKeyPair,
    StorageStatus,
    Upload,
    UploadConfirmation,
    UploadRequest,
)

Reply = TypeVar("Reply")
seconds_max = 60


def ask(question: str) -> str:
    print(question, flush=True)
    return input()


def must(reply: object, kind: type[Reply]) -> Reply:
    if isinstance(reply, Error):
        raise RuntimeError(f"{reply.code}: {reply.message}")
    if not isinstance(reply, kind):
        raise RuntimeError(f"{kind.__name__} was expected")
    return reply


def until(read: Callable[[], Reply], holds: Callable[[Reply], bool]) -> Reply:
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        found = read()
        if holds(found):
            return found
        time.sleep(0.1)
    raise RuntimeError("the state that was awaited did not come")


url = os.environ["STOWAGE_URL"]
email = os.environ["EMAIL"]
password = "Correct-Horse-7"
content = b"Rhine at dawn, by Python"
public = Client(base_url=url)

registered = must(register.sync(client=public, body=Registration(email=email, password=password)), SignedInReply)
client = AuthenticatedClient(base_url=url, token=registered.data.tokens.access_token)
verified = confirm_email_verification.sync_detailed(client=client, body=EmailVerification(code=ask(f"code {email}")))
if verified.status_code != 204:
    raise RuntimeError(f"the address was not verified: {verified.content!r}")

project = must(create_project.sync(client=client, body=ProjectCreation(name="Film")), Project)
ask(f"entitle {project.id}")

binding = StorageCreationS3(
    provider="s3",
    name="Rushes",
    bucket="rushes",
    region="us-east-1",
    endpoint=os.environ["BUCKET_ENDPOINT"],
    credentials=StorageKeyPair(access_key="a-key", secret_key="a-secret"),
)
storage = must(create_storage.sync(project.id, client=client, body=binding), Storage)
must(test_storage.sync(project.id, storage.id, client=client, body=NoFields()), Storage)
storage = until(
    lambda: must(get_storage.sync(project.id, storage.id, client=client), Storage),
    lambda read: read.status not in (StorageStatus.PENDING, StorageStatus.TESTING),
)

file = AssetCreation(
    # The default storage of the project follows the test within moments.
    storage_id=storage.id,
    name="Rhine",
    object_key="python/rhine.mp4",
    media_type="video/mp4",
    size=len(content),
)
asset = must(add_asset.sync(project.id, client=client, body=file), Asset)
upload = must(issue_upload_url.sync(project.id, asset.id, client=client, body=UploadRequest()), Upload)
httpx.put(upload.url, headers=upload.headers.additional_properties, content=content).raise_for_status()
asset = must(confirm_upload.sync(project.id, asset.id, client=client, body=UploadConfirmation()), Asset)
if asset.upload is not AssetUpload.COMPLETE:
    raise RuntimeError(f"the upload is {asset.upload}")

terms = ShareCreation(password="open sesame", asset_id=asset.id)
share = must(create_share.sync(project.id, client=client, body=terms), Share)
# Null only for those who may not share.
token = must(share.token, str)
refused = verify_share.sync(token, client=public, body=ShareVerification(password="wrong"))
if not isinstance(refused, Error):
    raise RuntimeError("a wrong password opened the share")
right = ShareVerification(password="open sesame")
opened = must(verify_share.sync(token, client=public, body=right), OpenedShareReply)
media = httpx.get(opened.data.media[0].url).raise_for_status().content

wish = OrderRequest(plan_id="capacity-100g", provider=PaymentProvider.STANDARD)
order = must(place_order.sync(client=client, body=wish), OrderWithPayments)
ask(f"pay {order.number}")
order = until(
    lambda: must(get_order.sync(order.id, client=client), OrderWithPayments),
    lambda read: read.status is OrderStatus.FULFILLED,
)

result = {
    "email": registered.data.user.email,
    "project": project.name,
    "storage": storage.status,
    "asset": asset.upload,
    "refused": refused.code,
    "media": media.decode(),
    "order": order.status,
}
print(f"done {json.dumps(result)}", flush=True)
