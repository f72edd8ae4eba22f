"""A listing counts only where one command gets all of it, or a loop each line of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide
from .listed_places import lay_out, make, track


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    return lay_out(tmp_path)


@pytest.mark.parametrize(
    "reader",
    [
        "{ head -c 1 > /dev/null; xargs cat; }",
        "{ head -c 4 | wc -c; xargs cat; }",
        "{ read -r -n 4 x; xargs cat; }",
        "{ read -r x; xargs cat; }",
        "{ xargs cat; }",
        "(xargs cat)",
        "{ od -N 4; xargs cat; }",
        "if true; then xargs cat; fi",
        "xargs cat $(head -c 4)",
        "xargs cat 2> $(head -c 4)",
        'while read -r f; do cat "$f"; head -c 4; done',
        'while read -r f; do head -c1 < /dev/stdin; cat "$f"; done',
        'while read -r f; do head -c1 < /dev/fd/0; cat "$f"; done',
        'while read -r f; do { head -c1; cat "$f"; } < /dev/stdin; done',
        'while read -r f; do if head -c1; then cat "$f"; fi < /proc/self/fd/0; done',
        'while read -r f; do head -c1 <&0; cat "$f"; done',
        'while read -r f; do head -c "$f"; cat "$f"; done',
        'while read -r f; do grep -q -- "$f"; cat "$f"; done',
        "while read -r f; do sed -n '1R /dev/stdin' \"$f\"; done",
        'while read -r f; do cat "$f" -; done',
        'while read -r f; do head -c 4 "$f" /dev/stdin; done',
        'while read -r f; do cat "$f"; x=$(head -c 4); done',
        'while read -r f; do cat "$f"; cat <<< "$(head -c 4)"; done',
        'while read -r f; do cat "$f"; read -r g; done',
        'while read -r f; do if head -c 4; then cat "$f"; fi; done',
        'while read -r f; do if true; then cat "$f"; fi <<< "$(head -c 4)"; done',
        'while read -r f && head -c 4; do cat "$f"; done',
        'while head -c 4; read -r f; do cat "$f"; done',
        'until read -r -d "" f; do cat "$f"; break; done',
        "while read -r -d '' f; do cat \"$f\"; done",
        'while read -r -n 4 f; do cat "$f"; done',
        "head -c 4 | xargs cat",
        "tail -c 4 | xargs cat",
        "cut -c 2- | xargs cat",
    ],
)
@pytest.mark.parametrize("listing", ["find d -type f", "git ls-files"])
@pytest.mark.parametrize(
    "rules", [(), ("Bash(find:*)", "Bash(git ls-files:*)", "Bash(xargs:*)", "Bash(cat:*)", "Bash(head:*)")]
)
def test_what_another_command_takes_of_the_listing_asks(
    reader: str, listing: str, rules: tuple[str, ...], places: dict[str, str]
) -> None:
    make("d/etc/shadow", places)
    track(places)
    assert decide(f"{listing} | {reader}", rules, **places) == "ask"
    assert decide(f"{listing} | {reader.replace('cat', 'wc')}", rules, **places) == "ask"


@pytest.mark.parametrize(
    "reader",
    [
        'while read -r f; do echo "$f"; wc -l "$f"; done',
        'while read -r f; do [ -f "$f" ] && wc -l "$f"; done',
        'while read -r f; do if [ -f "$f" ]; then head -3 "$f" | sort; fi; done',
        'while IFS= read -r f; do echo "== $f" && cat "$f" || true; done',
        'while read -r f; do n=$(wc -l "$f"); echo "$n"; done',
        'while read -r f; do cat "$f"; wc -l < /dev/null; done',
    ],
)
def test_a_loop_that_takes_line_by_line_is_covered_by_rules(reader: str, places: dict[str, str]) -> None:
    command = f"find src -name '*.py' | {reader}"
    assert decide(command, **places) == "ask"
    assert decide(command, ["Bash(wc:*)", "Bash(cat:*)", "Bash(head:*)"], **places) == "allow"
