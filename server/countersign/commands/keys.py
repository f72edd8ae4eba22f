"""``countersign keys``: keys of models and agents in the system's keyring, for editors without a secret storage.

VS Code has one; there *Countersign: Set Key* asks for keys, and this command is not needed.
"""

from __future__ import annotations

import argparse
import getpass
import sys

from countersign.settings.stored_keys import blocking_remove_key, blocking_store_key
from countersign.settings.system_keyring import KeyringError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "A key is given to nothing but what it was entered for. The server's message about a missing key"
        " prints the whole command."
    )
    actions = parser.add_subparsers(dest="action", required=True)
    setting = actions.add_parser("set", help="ask for a key and keep it in the system's keyring")
    setting.add_argument("name", help="`models.NAME`, or `agents.NAME/SECRET`")
    setting.add_argument("origin", help="what the key is for: the origin of a server, or the command line of an agent")
    removing = actions.add_parser("remove", help="remove a key from the system's keyring")
    removing.add_argument("name", help="as it was set")


def run(arguments: argparse.Namespace) -> int:
    """Return 0 on success, else 2. A key is read from the terminal without echo, or from standard input without one."""
    try:
        if arguments.action == "remove":
            removed = blocking_remove_key(arguments.name)
            print(f"the key of {arguments.name} is removed" if removed else f"there is no key of {arguments.name}")
            return 0
        blocking_store_key(arguments.name, arguments.origin, _typed(arguments.name, arguments.origin))
    except (KeyringError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except (EOFError, KeyboardInterrupt):
        print("no key was entered", file=sys.stderr)
        return 2
    print(f"the key of {arguments.name} is kept in the system's keyring, for {arguments.origin} only")
    return 0


def _typed(name: str, origin: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    return getpass.getpass(f"Key of {name}, for {origin}: ").strip()
