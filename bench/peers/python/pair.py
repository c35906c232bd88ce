"""A second Python thread for calls by ctypes, which let go of the interpreter while they run."""

import threading


class Pair:
    """Two locks hand the work over, which takes some microseconds: a part of what is measured."""

    def __init__(self):
        self.go, self.done = threading.Lock(), threading.Lock()
        self.go.acquire()
        self.done.acquire()
        self.work = None
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            self.go.acquire()
            self.work()
            self.done.release()

    def both(self, first, second):
        """A call of both at once; returns when both are done."""
        def call():
            self.work = second
            self.go.release()
            first()
            self.done.acquire()
        return call
