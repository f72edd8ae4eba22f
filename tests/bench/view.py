"""What drawing costs in a real Chromium: a card beside the least that a webview can do, long answers, and many of both.

The bare page is told a text by this side and says when it is drawn; the view is told of a request, and says when its
card is drawn. A click on the bare page goes to this side and back; one on *Approve* too, until the card is gone.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[2] / "client-ts"
LIMITS = {
    "view: request to card, to a bare webview": 3.0,
    "view: click to closed, to a bare webview": 3.0,
    "view: longest task while 20,000 words stream, to opening an empty view": 0.5,
    "view: sum of such tasks over 50 ms, to opening an empty view": 1.5,
    "view: opening with 500 cards, to opening an empty view": 3.0,
    "view: opening a chat of 5,000 events, to opening an empty view": 3.0,
}


def run() -> dict[str, float]:
    done = subprocess.run(
        ["node", "test/view.bench.mjs"], cwd=CLIENT, capture_output=True, text=True, check=True, timeout=600
    )
    told = json.loads(done.stdout)
    return {
        "view: request to card, to a bare webview": told["shown"] / told["bare"],
        "view: click to closed, to a bare webview": told["closed"] / told["bareClick"],
        "view: longest task while 20,000 words stream, to opening an empty view": told["longest"] / told["empty"],
        "view: sum of such tasks over 50 ms, to opening an empty view": told["blocked"] / told["empty"],
        "view: opening with 500 cards, to opening an empty view": told["cards"] / told["empty"],
        "view: opening a chat of 5,000 events, to opening an empty view": told["events"] / told["empty"],
        "view: seconds from request to card": told["shown"],
        "view: seconds from click to closed": told["closed"],
        "view: seconds to open an empty view": told["empty"],
        "view: longest task while 20,000 words stream, s": told["longest"],
        "view: sum of such tasks over 50 ms, s": told["blocked"],
        "view: seconds to open with 500 cards": told["cards"],
        "view: seconds to open a chat of 5,000 events": told["events"],
    }
