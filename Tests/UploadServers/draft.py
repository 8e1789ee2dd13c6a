"""A server of resumable uploads by the IETF's draft (draft-ietf-httpbis-resumable-upload), for tests: draft.py FOLDER PORT.

What has come of an upload is on disk as it comes, so that a client that dies loses nothing. A request for an upload ends an
earlier one for it, as the draft recommends. GET /stats tells what has come of all of them.
"""

import hashlib
import http.server
import json
import os
import socket
import sys
import threading

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
VERSION = "8"


class Upload:
    def __init__(self, number, length):
        self.path = os.path.join(FOLDER, f"upload-{number}")
        self.length = length
        self.offset = 0
        self.complete = False
        self.lock = threading.Lock()
        self.connection = None
        open(self.path, "wb").close()

    def digest(self):
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


uploads, objects, received, appending = {}, [], 0, 0
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, fields=(), content=b""):
        self.send_response(status)
        self.send_header("Upload-Draft-Interop-Version", VERSION)
        for name, value in fields:
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def do_GET(self):
        with lock:
            stats = {"objects": objects, "received": received, "appending": appending}
        self.reply(200, [("Content-Type", "application/json")], json.dumps(stats).encode())

    def do_POST(self):
        if self.headers.get("Upload-Complete") != "?0" or self.headers.get("Content-Length") != "0":
            return self.reply(400)
        with lock:
            place = f"/uploads/{len(uploads) + 1}"
            uploads[place] = Upload(len(uploads) + 1, int(self.headers["Upload-Length"]))
        self.wfile.write(f"HTTP/1.1 104 Upload Resumption Supported\r\nLocation: {place}\r\n\r\n".encode())
        self.reply(201, [("Location", place), ("Upload-Complete", "?0")])

    def upload(self):
        found = uploads.get(self.path)
        if found is None:
            self.close_connection = True
            self.reply(404)
            return None
        earlier = found.connection
        if earlier is not None:
            try:
                earlier.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        return found

    def do_HEAD(self):
        found = self.upload()
        if found is None:
            return
        with found.lock:
            state = [
                ("Upload-Offset", str(found.offset)),
                ("Upload-Length", str(found.length)),
                ("Upload-Complete", "?1" if found.complete else "?0"),
                ("Cache-Control", "no-store"),
            ]
        self.reply(204, state)

    def do_PATCH(self):
        global appending
        with lock:
            appending += 1
        try:
            found = self.upload()
            if found is None:
                return
            with found.lock:
                found.connection = self.connection
                try:
                    self.append(found)
                finally:
                    found.connection = None
        finally:
            with lock:
                appending -= 1

    def append(self, found):
        global received
        if self.headers.get("Content-Type") != "application/partial-upload":
            self.close_connection = True
            return self.reply(415)
        if found.complete or self.headers.get("Upload-Offset") != str(found.offset):
            self.close_connection = True
            return self.reply(409, [("Upload-Offset", str(found.offset))])
        left = int(self.headers["Content-Length"])
        with open(found.path, "r+b") as file:
            file.seek(found.offset)
            while left > 0:
                piece = self.rfile.read1(min(left, 65536))
                if not piece:
                    self.close_connection = True
                    return
                file.write(piece)
                file.flush()
                left -= len(piece)
                found.offset += len(piece)
                with lock:
                    received += len(piece)
        if self.headers.get("Upload-Complete") != "?1":
            return self.reply(204, [("Upload-Complete", "?0"), ("Upload-Offset", str(found.offset))])
        found.complete = True
        digest = found.digest()
        with lock:
            objects.append(digest)
        self.reply(200, [("Upload-Complete", "?1")], digest.encode())


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        pass


Server(("127.0.0.1", PORT), Handler).serve_forever()
