"""The profile of macOS's sandbox, as text: no macOS reads it here."""

from __future__ import annotations

import pytest

from countersign.tools.sandbox.boundary import Boundary, SandboxRoot
from countersign.tools.sandbox.seatbelt import profile

ROOT = SandboxRoot(
    "/p/app",
    hidden_files=("/p/app/.env",),
    hidden_folders=("/p/app/deep/private",),
    read_only=("/p/app/.git/config",),
    missing_folders=("/p/app/.vscode",),
    missing_files=(("/p/app/.git/commondir", ".\n"),),
)
BOUNDARY = Boundary(
    roots=(ROOT, SandboxRoot("/p/seen", writable=False)), home="/Users/a", tools=("/Users/a/.cargo/bin",)
)


def test_a_profile_says_the_boundary() -> None:
    lines = profile(BOUNDARY, "/private/tmp/run").splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert lines[-9:] == [
        '(deny file-read* (subpath "/private/etc/master.passwd") (subpath "/private/etc/sudoers") '
        '(subpath "/private/etc/ssh") (subpath "/Library/Keychains"))',
        '(allow file-write-data (subpath "/dev/null") (subpath "/dev/zero") (subpath "/dev/tty") '
        '(subpath "/dev/random") (subpath "/dev/urandom"))',
        '(allow file-read* file-write* (subpath "/private/tmp/run"))',
        '(allow file-read* file-write* (subpath "/p/app"))',
        '(allow file-read* (subpath "/p/seen"))',
        '(deny file-write* (subpath "/p/app/.git/config") (subpath "/p/app/.vscode") '
        '(subpath "/p/app/.git/commondir"))',
        '(deny file-write-unlink (literal "/p/app/.git") (literal "/p/app/deep"))',
        '(deny file-read-data file-read-xattr file-write* (subpath "/p/app/.env") (subpath "/p/app/deep/private"))',
        "(deny network*)",
    ]
    assert sum(line.count("(") - line.count(")") for line in lines) == 0


def test_every_denial_stands_after_what_it_takes_from() -> None:
    lines = profile(BOUNDARY, "/private/tmp/run").splitlines()
    roots = [index for index, line in enumerate(lines) if "/p/" in line and line.startswith("(allow")]
    denials = [index for index, line in enumerate(lines) if "/p/" in line and line.startswith("(deny")]
    assert max(roots) < min(denials)


@pytest.mark.parametrize(
    ("path", "text"),
    [('/p/a"b', '"/p/a\\"b"'), ("/p/a\\b", '"/p/a\\\\b"'), ("/p/)(allow default)", '"/p/)(allow default)"')],
)
def test_a_name_ends_no_string(path: str, text: str) -> None:
    assert f"(subpath {text})" in profile(Boundary(roots=(SandboxRoot(path),), home="/h"), "/t")


def test_a_control_character_makes_no_profile() -> None:
    with pytest.raises(ValueError, match="control character"):
        profile(Boundary(roots=(SandboxRoot("/p/a\nb"),), home="/h"), "/t")
