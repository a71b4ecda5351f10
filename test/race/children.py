"""Child processes that talk in lines of JSON, one answer for each command.

A child reads commands from its standard input and ends when that ends, so no
child outlives its parent, however the parent dies.  Each child leads a process
group in the parent's session: an interrupt from the terminal reaches the
parent alone, which then ends its children in order; and if the parent is
killed while a child is stopped, the kernel wakes the child with a hangup.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time

PATIENCE = 60
HERE = os.path.dirname(os.path.abspath(__file__))


class Child:
    def __init__(self, script, *arguments):
        self.script = script
        self.arrived = b""
        self.process = subprocess.Popen(
            [sys.executable, "-B", os.path.join(HERE, script), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            process_group=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.resume()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ask(self, command):
        self.tell(command)
        return self.hear()

    def tell(self, command):
        self.process.stdin.write(json.dumps(command).encode() + b"\n")

    def hear(self):
        """The next answer; waits for it at most PATIENCE seconds."""
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self.arrived:
            if not self.readable(max(0, deadline - time.monotonic())):
                raise TimeoutError(f"{self.script} did not answer")
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise EOFError(f"{self.script} ended before it answered")
            self.arrived += piece
        line, self.arrived = self.arrived.split(b"\n", 1)
        return json.loads(line)

    def is_silent(self):
        """Whether it has said nothing that was not heard."""
        return not self.arrived and not self.readable(0)

    def readable(self, seconds):
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def stop(self):
        """Stopped when this returns, as the kernel itself reports."""
        self.process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + PATIENCE
        while not os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.script} did not stop")
            time.sleep(0.005)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def crash(self):
        self.process.kill()
        self.process.wait()


def serve(answer):
    """The child's side: answer(command) for each line until there are no more."""
    for line in sys.stdin:
        say(answer(json.loads(line)))


def say(content):
    print(json.dumps(content), flush=True)


def listen():
    """The child's side: the next command, outside serve()."""
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)
