"""Runs a program whose requests go through a relay, and kills it at one moment: killed_at.py PORT SERVER-PORT METHOD MOMENT -- PROGRAM …

The moments of the first request with that method:

    asked       the program has sent its head, and the server has nothing of it
    within      the server has half of its content
    last        the server has all of its content but the last byte
    unheard     the server has all of it, and its answer does not come
    answered    its answer has come to the program, which may have read it

Prints `killed`, or `ended` with the program's status where there was no such request.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import threading

PORT, SERVER, METHOD, MOMENT = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
program = None
killed = threading.Event()


def end():
    killed.set()
    os.kill(program.pid, signal.SIGKILL)


def message(source, rest, start):
    """A head, and what has come behind it; nothing where the connection is over."""
    while b"\r\n\r\n" not in rest:
        piece = source.recv(65536)
        if not piece:
            return None, b"", rest
        rest += piece
    head, rest = rest.split(b"\r\n\r\n", 1)
    return head.split(start)[0], head + b"\r\n\r\n", rest


def length(head):
    found = re.search(rb"(?im)^content-length:\s*(\d+)", head)
    return int(found[1]) if found else 0


def carry(source, target, rest, count):
    while count > 0:
        piece = rest or source.recv(65536)
        if not piece:
            return False, b""
        rest = piece[count:]
        target.sendall(piece[:count])
        count -= len(piece[:count])
    return True, rest


def serve(client):
    server = socket.create_connection(("127.0.0.1", SERVER))
    rest, answers = b"", b""
    while True:
        method, head, rest = message(client, rest, b" ")
        if method is None:
            return
        at = MOMENT if method == METHOD.encode() and not killed.is_set() else None
        if at == "asked":
            return end()
        server.sendall(head)
        count = length(head)
        first = {"within": count // 2, "last": count - 1}.get(at, count)
        isWhole, rest = carry(client, server, rest, first)
        if not isWhole:
            return
        if at in ("within", "last"):
            return end()
        status = b"100"
        while True:
            status, head, answers = message(server, answers, b"\r\n")
            if status is None:
                return
            status = status.split(b" ")[1]
            isFinal = not status.startswith(b"1")
            if isFinal and at == "unheard":
                return end()
            client.sendall(head)
            if isFinal:
                break
        if method != b"HEAD" and status not in (b"204", b"304"):
            isWhole, answers = carry(server, client, answers, length(head))
            if not isWhole:
                return
        if at == "answered":
            return end()


def quietly(client):
    try:
        serve(client)
    except OSError:
        pass
    client.close()


listener = socket.create_server(("127.0.0.1", PORT))


def accept():
    while True:
        client, _ = listener.accept()
        threading.Thread(target=quietly, args=(client,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
program = subprocess.Popen(sys.argv[sys.argv.index("--") + 1 :], stdout=subprocess.DEVNULL)
status = program.wait()
print("killed" if killed.is_set() else f"ended {status}")
sys.stdout.flush()
os._exit(0)
