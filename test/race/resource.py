"""The protected resource: a process of its own, spoken to over HTTP.

    resource.py FILE fenced|unsafe

POST /effects  {"owner": text, "fence": integer, "effect": text}
    200: the effect is in FILE, and flushed to the disk.
    409: fenced mode only; the fence is below the highest one accepted so far.
GET /effects   every accepted effect in order, and that highest fence.

It knows nothing of leases, owners or clocks.  Its whole protection is one
number that never falls, and that number is computed from FILE at the start,
so it survives a crash.  In unsafe mode it accepts whatever comes.

It listens on a free port of the loopback, which it prints as a line of JSON,
and it ends when its standard input does, so it cannot outlive its parent.
"""

import http.server
import json
import os
import sys
import threading


class Store:
    """The accepted effects, one line of JSON each, and the mark they imply."""

    def __init__(self, path):
        self.file = open(path, "a+b")
        self.file.seek(0)
        content = self.file.read()
        complete = content.rfind(b"\n") + 1
        # A line that a crash cut short was never answered: it did not happen.
        self.file.truncate(complete)
        self.effects = [json.loads(line) for line in content[:complete].splitlines()]
        self.mark = max((effect["fence"] for effect in self.effects), default=0)

    def accept(self, effect):
        self.file.write(json.dumps(effect).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.effects.append(effect)
        self.mark = max(self.mark, effect["fence"])


class Handler(http.server.BaseHTTPRequestHandler):
    store = None
    fenced = True
    timeout = 10

    def do_GET(self):
        if self.path != "/effects":
            return self.answer(404, {"error": "no such page"})
        self.answer(200, {"effects": self.store.effects, "mark": self.store.mark})

    def do_POST(self):
        if self.path != "/effects":
            return self.answer(404, {"error": "no such page"})
        try:
            effect = self.effect()
        except (ValueError, KeyError, TypeError) as error:
            return self.answer(400, {"error": f"not an effect: {error}"})
        if self.fenced and effect["fence"] < self.store.mark:
            return self.answer(409, {"accepted": False, "mark": self.store.mark})
        self.store.accept(effect)
        self.answer(200, {"accepted": True, "mark": self.store.mark})

    def effect(self):
        length = int(self.headers["Content-Length"])
        if not 0 < length <= 4096:
            raise ValueError("length")
        body = json.loads(self.rfile.read(length))
        if type(body["fence"]) is not int:
            raise ValueError("fence")
        return {"owner": str(body["owner"]), "fence": body["fence"],
                "effect": str(body["effect"])}

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    path, mode = sys.argv[1:]
    Handler.store = Store(path)
    Handler.fenced = {"fenced": True, "unsafe": False}[mode]
    # One request at a time: judging the fence and storing the effect are one act.
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
