#!/usr/bin/python3
"""A resource behind HTTP that turns former holders away.

    http_resource.py FILE [PORT]          listens on 127.0.0.1; PORT 8080, 0: a free one

POST /effects  {"owner": text, "fence": integer, "effect": text}
    200  the effect is in FILE, and flushed to the disk
    409  the fence is below the highest one accepted so far; nothing is done
    400  not an effect
GET /effects   every accepted effect in order, and that highest fence, the mark

It knows nothing of leases, owners or clocks.  Its whole protection is one
number that never falls.  That number is computed from FILE at the start, so no
crash can part it from the effects.  An answer that was lost says nothing: look,
or send the effect again under the same fence.
"""

import fcntl
import http.server
import json
import os
import sys
import threading

LONGEST = 4096


class Journal:
    """The accepted effects, one line of JSON each, and the mark they imply."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = open(path, "a+b")
        # A second process would keep a mark of its own beside this one.
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.file.seek(0)
        content = self.file.read()
        complete = content.rfind(b"\n") + 1
        # A line that a crash cut short was never answered: it did not happen.
        self.file.truncate(complete)
        self.effects = [json.loads(line) for line in content[:complete].splitlines()]
        self.mark = max((effect["fence"] for effect in self.effects), default=0)
        sync_directory(path)

    def admit(self, effect):
        """Compare the fence and keep the effect, in one act; whether it was kept."""
        with self.lock:
            if effect["fence"] < self.mark:
                return False
            self.keep(effect)
            return True

    def keep(self, effect):
        try:
            self.file.write(json.dumps(effect).encode() + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            # What is on the disk is unknown, and only a new process that reads
            # it again can tell.
            print(f"cannot write: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        self.effects.append(effect)
        self.mark = max(self.mark, effect["fence"])


def sync_directory(path):
    """A new file survives a crash only once its directory was flushed too."""
    directory = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def read_effect(body):
    effect = json.loads(body)
    if not isinstance(effect, dict) or effect.keys() != {"owner", "fence", "effect"}:
        raise ValueError("owner, fence and effect are wanted")
    # JSON's true is an int to Python, and 2.0 would pass for 2.
    if type(effect["fence"]) is not int or not 0 < effect["fence"] < 1 << 63:
        raise ValueError("the fence is not one")
    if not all(isinstance(effect[key], str) for key in ("owner", "effect")):
        raise ValueError("owner and effect are texts")
    return effect


class Handler(http.server.BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self):
        if self.path != "/effects":
            return self.answer(404, {"error": "no such page"})
        journal = self.server.journal
        with journal.lock:
            content = {"effects": list(journal.effects), "mark": journal.mark}
        self.answer(200, content)

    def do_POST(self):
        if self.path != "/effects":
            return self.answer(404, {"error": "no such page"})
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 < length <= LONGEST:
                raise ValueError(f"a length from 1 to {LONGEST} is wanted")
            effect = read_effect(self.rfile.read(length))
        except (ValueError, RecursionError) as error:
            return self.answer(400, {"error": str(error)})
        journal = self.server.journal
        accepted = journal.admit(effect)
        self.answer(200 if accepted else 409, {"accepted": accepted, "mark": journal.mark})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, journal, port):
        super().__init__(("127.0.0.1", port), Handler)
        self.journal = journal


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: http_resource.py FILE [PORT]")
    try:
        journal = Journal(sys.argv[1])
    except BlockingIOError:
        sys.exit(f"another process has {sys.argv[1]}")
    listening = Server(journal, int(sys.argv[2]) if len(sys.argv) == 3 else 8080)
    print(f"listening on 127.0.0.1:{listening.server_port}, mark {journal.mark}", flush=True)
    try:
        listening.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
