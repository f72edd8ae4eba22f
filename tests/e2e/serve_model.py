"""Serve the scripted model of the tests until standard input ends: SCRIPT LOG. Prints its port."""

from __future__ import annotations

import sys

from countersign.agents.probe import model_server

if __name__ == "__main__":
    server, port = model_server.serve(0, sys.argv[1], sys.argv[2])
    print(port, flush=True)
    sys.stdin.read()
    server.shutdown()
    server.server_close()
