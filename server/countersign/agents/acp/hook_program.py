"""The program that an agent runs as its pre-tool hook: it asks Countersign and prints the answer.

An agent starts it by its path, with the path of our socket (``hook_door.py``) as the one argument and the call on
standard input; it imports nothing of Countersign. It fails closed: without a whole answer it ends with code 2, which
hooks take for a refusal.
"""

from __future__ import annotations

import os
import sys

LENGTH_BYTES = 8
"""The call is sent with its length in front, big-endian; the answer is one line and then the end."""


def main(address: str) -> None:
    """Ask at this address.

    Raises:
        OSError: nobody answers there.
        EOFError: the answer is cut off.
    """
    import socket  # noqa: PLC0415  so that nothing can fail outside of the ``try`` below

    call = sys.stdin.buffer.read()
    answer = bytearray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(address)
        line.sendall(len(call).to_bytes(LENGTH_BYTES, "big") + call)
        while piece := line.recv(1 << 16):
            answer += piece
    if not answer.endswith(b"\n"):
        raise EOFError("the answer is cut off")
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except BaseException as error:
        # INVARIANT (strictest): whatever goes wrong here is a refusal.
        os.write(2, f"Countersign did not answer, so this call is refused: {error!r}\n".encode())
        os._exit(2)
