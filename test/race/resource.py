"""The protected resource: a process of its own, spoken to over HTTP.

    resource.py FILE fenced|unsafe

It is examples/http_resource.py; in unsafe mode it accepts whatever comes.

It listens on a free port of the loopback, which it prints as a line of JSON,
and it ends when its standard input does, so it cannot outlive its parent.
"""

import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))

import http_resource


class UnsafeJournal(http_resource.Journal):
    def admit(self, effect):
        self.keep(effect)
        return True


def main():
    path, mode = sys.argv[1:]
    journal = {"fenced": http_resource.Journal, "unsafe": UnsafeJournal}[mode](path)
    server = http_resource.Server(journal, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
