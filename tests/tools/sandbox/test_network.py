"""A command with a network: what it reaches by the proxy, what it cannot reach around it, and what its result says."""

from __future__ import annotations

import asyncio
import http.server
import os
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from countersign.gate import Offer, Outcome
from tests.patience import PATIENCE
from tests.tools.sandbox.attempts import NETWORK_ATTEMPTS
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = [
    needs_sandbox,
    pytest.mark.skipif(not os.path.exists("/usr/bin/python3"), reason="the attempts are programs of Python's"),
]


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"REACHED")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


async def run(bench: SandboxBench, command: str, *allowed: str) -> Outcome:
    """Run a command whose chat has grants for these hosts."""
    bench.bench = replace(bench.bench, may_reach=lambda host: host in (*allowed, *bench.policy.sandbox_hosts))
    prepared = bench.prepare("shell", command=command)
    return await bench.run("shell", prepared, arguments={"command": command})


FETCH = (
    "/usr/bin/python3 -c 'import sys,urllib.request;"
    "print(urllib.request.urlopen(sys.argv[1],timeout=30).read().decode())' {} 2>&1 | tail -1"
)


async def test_a_listed_address_is_reached_and_no_other_port_of_this_machine_directly(
    bench: SandboxBench, server: http.server.ThreadingHTTPServer
) -> None:
    url = f"http://127.0.0.1:{server.server_port}/"
    bench.set(sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
    assert "REACHED" in (await run(bench, FETCH.format(url))).output
    assert "REACHED" not in (await run(bench, f"env -u http_proxy -u HTTP_PROXY {FETCH.format(url)}")).output
    bench.set(sandbox_hosts=())
    assert "REACHED" not in (await run(bench, f"no_proxy= NO_PROXY= {FETCH.format(url)}", "127.0.0.1")).output
    bench.set(sandbox_network="none", sandbox_hosts=("127.0.0.1",))
    assert "REACHED" not in (await run(bench, FETCH.format(url), "127.0.0.1")).output


OWN_SERVER = """
import http.server, os, sys, threading, urllib.request
class Own(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"OWN")
    def log_message(self, *args):
        pass
made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Own)
threading.Thread(target=made.serve_forever, daemon=True).start()
for port in (made.server_port, int(sys.argv[1]), made.server_port):
    print(urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).read().decode(), end=" ")
"""


async def test_a_program_reaches_its_own_server_and_the_listed_one_of_this_machine(
    bench: SandboxBench, server: http.server.ThreadingHTTPServer
) -> None:
    # As OpenCode does, which talks to a server of its own on 127.0.0.1, and may have its model on this machine.
    bench.file("own.py", OWN_SERVER)
    bench.set(sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
    said = await run(bench, f"/usr/bin/python3 own.py {server.server_port} 2>&1 | tail -1")
    assert "OWN REACHED OWN" in said.output


@pytest.mark.parametrize("network", ["hosts", "all"])
@pytest.mark.parametrize("name", NETWORK_ATTEMPTS)
async def test_nothing_gets_around_the_proxy(
    bench: SandboxBench, server: http.server.ThreadingHTTPServer, name: str, network: str
) -> None:
    bench.set(sandbox_network=network, sandbox_hosts=("example.org",))
    script = NETWORK_ATTEMPTS[name].replace("{port}", str(server.server_port))
    command = f"/usr/bin/python3 -c \"import socket;{script};print('ESCAPED')\" 2>&1 | tail -1"
    if network == "all":
        bench.bench = replace(bench.bench, may_reach=lambda _host: True)
        outcome = await bench.run("shell", bench.prepare("shell", command=command))
    else:
        outcome = await run(bench, command)
    assert "ESCAPED" not in outcome.output, outcome.output


async def test_a_refused_host_is_named_and_offered_on_a_card(bench: SandboxBench) -> None:
    bench.set(sandbox_network="hosts")
    command = FETCH.format("http://registry.example/x")
    outcome = await run(bench, command)
    assert "`registry.example` is not allowed in the sandbox" in outcome.output
    (offer,) = outcome.offers
    arguments = {"host": "registry.example", "port": 80, "command": command}
    assert (offer.tool, offer.arguments) == ("sandbox_host", arguments)
    assert outcome.record["sandbox"]["refusedHosts"] == ["registry.example"]  # type: ignore[index,call-overload]
    assert (await run(bench, command, "registry.example")).offers == (), "now it is allowed, and does not exist"


async def test_a_private_address_is_named_and_not_offered(bench: SandboxBench) -> None:
    bench.set(sandbox_network="all")
    bench.bench = replace(bench.bench, may_reach=lambda _host: True)
    command = f"no_proxy= NO_PROXY= {FETCH.format('http://169.254.169.254/latest')}"
    outcome = await bench.run("shell", bench.prepare("shell", command=command), arguments={"command": command})
    assert "`169.254.169.254` leads to `169.254.169.254`, which is no public address" in outcome.output
    assert [offer.tool for offer in outcome.offers] == []


@pytest.mark.parametrize(
    ("network", "words"), [("none", "the sandbox has none"), ("hosts", "does not use the sandbox's proxy")]
)
async def test_a_program_that_ignores_proxies_fails_and_the_result_says_why(
    bench: SandboxBench, network: str, words: str
) -> None:
    bench.set(sandbox_network=network, sandbox_hosts=("example.org",))
    command = "/usr/bin/python3 -c 'import socket; socket.create_connection((\"example.org\", 80))'"
    outcome = await run(bench, command)
    assert not outcome.success
    assert words in outcome.output
    (offer,) = outcome.offers
    assert offer.tool == "shell"
    assert words in str(offer.arguments["outside_sandbox"])


OUTSIDE: dict[str, tuple[str, str]] = {
    "a hidden file": ("cat .env", "`.env`: it is a secret"),
    "a denied file": ("cat notes.txt", "`notes.txt`: it is a secret, or a rule"),
    "a locked file": ("echo x >fixed.txt", "`fixed.txt`: it is protected, or a rule"),
    "a locked folder": ("touch locked/b", "`locked/b`: it is protected, or a rule"),
    "git's configuration": ("git config a.b c", "`.git/config`: it is protected"),
    "a protected name": ("mkdir -p .cursor/x", "`.cursor/x`: it is protected"),
    "a path outside": ("cat /srv/data/file", "`/srv/data/file`: the sandbox shows the workspace"),
    "the home": ("cat ~/notes", "/notes`: the sandbox shows the workspace"),
}


@pytest.mark.parametrize("name", OUTSIDE)
async def test_a_failure_caused_by_the_sandbox_says_what_and_offers_to_run_outside(
    bench: SandboxBench, name: str
) -> None:
    command, words = OUTSIDE[name]
    outcome = await run(bench, command)
    assert not outcome.success
    assert f"[the sandbox refused {words}" in outcome.output or words in outcome.output
    (offer,) = outcome.offers
    assert offer == Offer("shell", {"command": command, **offer.arguments}, offer.preface)
    assert words in str(offer.arguments["outside_sandbox"])


@pytest.mark.parametrize(
    "command", ["false", "exit 3", "grep nothing src/a.txt", "cat src/none", "ls nowhere", "cat .env; true", "true"]
)
async def test_a_failure_of_its_own_offers_nothing(bench: SandboxBench, command: str) -> None:
    assert (await run(bench, command)).offers == ()


async def test_a_host_refused_in_the_background_is_named_and_offered_once(bench: SandboxBench) -> None:
    bench.set(sandbox_network="hosts")
    bench.bench = replace(bench.bench, may_reach=lambda _host: False)
    command = FETCH.format("http://registry.example/x")
    started = await bench.do("shell", command=command, background=True)
    assert started.offers == ()
    shell_id = bench.desk.list()[-1].shell_id
    shell = bench.desk.find(shell_id)
    async with asyncio.timeout(PATIENCE):
        await shell.ended.wait()
    told = await bench.do("shell_output", shell_id=shell_id)
    assert "[`registry.example` is not allowed in the sandbox]" in told.output
    arguments = {"host": "registry.example", "port": 80, "command": command}
    assert [(offer.tool, offer.arguments) for offer in told.offers] == [("sandbox_host", arguments)]
    again = await bench.do("shell_output", shell_id=shell_id)
    assert (again.offers, "registry.example` is not allowed" in again.output) == ((), False)
