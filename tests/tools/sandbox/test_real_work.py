"""Real work in the sandbox: package managers against a registry of this machine, builds, tests, servers, many runs."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import os
import shutil
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import pytest

from countersign.gate import Outcome
from countersign.tools.sandbox.confiner import PREFIX
from tests.tools.sandbox.support import SandboxBench, needs_sandbox

pytestmark = needs_sandbox


HOME = os.path.expanduser("~")
CARGO = (f"{HOME}/.cargo/bin/cargo", "/usr/bin/cargo")


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def wheel() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("little.py", "NAME = 'little'\n")
        archive.writestr("little-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: little\nVersion: 1.0\n")
        wheel_text = "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("little-1.0.dist-info/WHEEL", wheel_text)
        archive.writestr("little-1.0.dist-info/RECORD", "little.py,,\n")
    return made.getvalue()


def npm_package() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        package = json.dumps({"name": "little", "version": "1.0.0", "main": "index.js"})
        for name, text in {"package.json": package, "index.js": "module.exports = 'little'"}.items():
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return made.getvalue()


@pytest.fixture
def registry() -> Iterator[int]:
    """A registry for pip and npm on this machine's loopback; its port."""
    python, node = wheel(), npm_package()

    class Registry(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here = f"http://127.0.0.1:{made.server_port}"
            sha = base64.b64encode(hashlib.sha512(node).digest()).decode()
            version = {
                "name": "little",
                "version": "1.0.0",
                "dist": {"tarball": f"{here}/little.tgz", "integrity": f"sha512-{sha}"},
            }
            pages = {
                "/simple/little/": b"<a href='/little-1.0-py3-none-any.whl'>little-1.0-py3-none-any.whl</a>",
                "/little-1.0-py3-none-any.whl": python,
                "/little.tgz": node,
                "/little": json.dumps(
                    {"name": "little", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
                ).encode(),
            }
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html" if "simple" in self.path else "application/json")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made.server_port
    made.shutdown()
    made.server_close()


async def run(bench: SandboxBench, command: str) -> Outcome:
    bench.bench = replace(bench.bench, may_reach=lambda host: host in bench.policy.sandbox_hosts)
    prepared = bench.prepare("shell", command=command, timeout=120)
    return await bench.run("shell", prepared, arguments={"command": command})


@needs("python3")
async def test_pip_installs_from_a_listed_registry_and_from_no_other(bench: SandboxBench, registry: int) -> None:
    bench.set(sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
    index = f"--index-url http://127.0.0.1:{registry}/simple/"
    pip = f"python3 -m pip install -q --disable-pip-version-check --target deps {index} little"
    outcome = await run(bench, f"{pip} && PYTHONPATH=deps python3 -c 'import little; print(little.NAME)'")
    if "No module named pip" in outcome.output:
        pytest.skip("this machine's Python has no pip")
    assert outcome.output.endswith("little\n"), outcome.output
    bench.set(sandbox_hosts=("registry.example",))
    assert not (await run(bench, f"rm -r deps; no_proxy= NO_PROXY= {pip} --retries 0 --timeout 5")).success


UV = shutil.which("uv", path=os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", ""))))


@pytest.mark.skipif(UV is None, reason="not installed: uv")
async def test_uv_makes_an_environment_and_installs_from_a_listed_registry(bench: SandboxBench, registry: int) -> None:
    assert UV is not None
    bench.set(sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
    shutil.copy(UV, bench.workspace / "uv")  # where the tests' own environment lies is shown in no sandbox
    install = f"./uv pip install -q --python .venv/bin/python --index-url http://127.0.0.1:{registry}/simple/ little"
    made = "./uv venv -q --offline --python /usr/bin/python3 .venv"
    outcome = await run(bench, f"{made} && {install} && .venv/bin/python -c 'import little; print(little.NAME)'")
    assert outcome.output.endswith("little\n"), outcome.output
    bench.set(sandbox_hosts=("registry.example",))
    again = f"UV_HTTP_RETRIES=0 no_proxy= NO_PROXY= {install} --reinstall --no-cache"
    assert not (await run(bench, again)).success


@pytest.mark.skipif(not any(map(os.path.exists, CARGO)), reason="not installed: a cargo that a sandbox can show")
async def test_cargo_builds_a_package_and_runs_its_tests(bench: SandboxBench) -> None:
    """The toolchain in the person's home is shown; what cargo keeps there is private."""
    bench.set(home=HOME)
    bench.desk._base_environment = {**os.environ, "HOME": HOME}
    bench.file("Cargo.toml", '[package]\nname = "little"\nversion = "1.0.0"\nedition = "2021"\n')
    bench.file("src/main.rs", 'fn main() { println!("built"); }\n#[test]\nfn it() { assert_eq!(1 + 1, 2); }\n')
    outcome = await run(bench, "cargo build -q --offline && ./target/debug/little && cargo test -q --offline 2>&1")
    if "no default toolchain" in outcome.output or "could not choose a version" in outcome.output:
        pytest.skip("this machine's cargo has no toolchain")
    assert outcome.success, outcome.output
    assert outcome.output.startswith("built\n")
    assert "1 passed" in outcome.output


@needs("npm", "node")
async def test_npm_installs_from_a_listed_registry(bench: SandboxBench, registry: int) -> None:
    bench.set(sandbox_network="hosts", sandbox_hosts=("127.0.0.1",))
    bench.file("package.json", '{"name": "app", "version": "1.0.0"}')
    npm = f"npm install --silent --no-audit --no-fund --registry http://127.0.0.1:{registry}/ little"
    outcome = await run(bench, f"{npm} && node -p 'require(\"little\")'")
    assert outcome.output.endswith("little\n"), outcome.output
    assert (bench.workspace / "node_modules/little/index.js").exists()


@needs("make", "cc")
async def test_make_builds_and_the_program_runs(bench: SandboxBench) -> None:
    bench.file("hello.c", '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n')
    bench.file("Makefile", "hello: hello.c\n\tcc -o hello hello.c\n")
    assert (await run(bench, "make -s && ./hello")).output == "built\n"


@needs("python3")
async def test_python_tests_run(bench: SandboxBench) -> None:
    bench.file("test_it.py", "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n")
    assert "OK" in (await run(bench, "python3 -m unittest -q test_it 2>&1")).output


@needs("node")
async def test_a_node_server_is_reached_on_the_sandboxes_own_loopback(bench: SandboxBench) -> None:
    script = (
        "const h=require('http');const s=h.createServer((q,r)=>r.end('served')).listen(0,'127.0.0.1',()=>"
        "h.get({port:s.address().port,host:'127.0.0.1'},r=>r.on('data',d=>{console.log(String(d));s.close()})))"
    )
    for network in ("none", "hosts"):
        bench.set(sandbox_network=network)
        assert (await run(bench, f'node -e "{script}"')).output == "served\n"


async def test_nothing_is_left_after_a_hundred_runs(bench: SandboxBench) -> None:
    before, status = bench.content(), bench.git("status", "--porcelain")
    for number in range(100):
        await bench.output_of(("true", "cat .env", "mkdir d && rmdir d", "git status", "touch x && rm x")[number % 5])
    assert bench.content() == before
    assert bench.git("status", "--porcelain") == status
    assert not list(bench.storage.glob(f"{PREFIX}*"))
