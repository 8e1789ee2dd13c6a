"""tuspyserver, a server of tus that the authors of this package did not write, for tests: tus.py FOLDER PORT.

GET /stats tells what has come of the uploads that are complete, how many bytes have come in all, and how many requests bring
more now.
"""

import hashlib
import os
import sys

import uvicorn
from fastapi import FastAPI
from tuspyserver import create_tus_router

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
objects = []
received = 0
appending = 0


def completed(path, _):
    with open(path, "rb") as file:
        objects.append(hashlib.file_digest(file, "sha256").hexdigest())


application = FastAPI()
application.include_router(
    create_tus_router(
        prefix="files", files_dir=os.path.join(FOLDER, "files"), on_upload_complete=completed,
        strict_offset_validation=True))


@application.get("/stats")
def stats():
    return {"objects": objects, "received": received, "appending": appending}


class Counted:
    """Counts what comes, whatever becomes of it."""

    def __init__(self, inner):
        self.inner = inner

    async def __call__(self, scope, receive, send):
        global appending

        async def counted():
            global received
            message = await receive()
            received += len(message.get("body", b""))
            return message

        isAppend = scope.get("method") == "PATCH"
        appending += isAppend
        try:
            await self.inner(scope, counted, send)
        finally:
            appending -= isAppend


uvicorn.run(Counted(application), host="127.0.0.1", port=PORT, log_level="warning")
