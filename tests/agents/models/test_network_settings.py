"""The editor's network settings: which requests go through its proxy, and which certificate authorities count."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from countersign.agents.models import http_answer
from countersign.agents.models.endpoint import endpoint
from countersign.agents.models.http_answer import Network, post
from countersign.tools import authorities
from countersign.tools.authorities import EXTRA_CA_VARIABLE
from countersign.wire.errors import ModelError

FAR = endpoint("OpenAI", "entry", "m", "https://far.invalid/v1")
PROXY = Network("http://127.0.0.1:9", ("near.example", ".inside.example"))


@pytest.mark.parametrize(
    ("url", "proxied"),
    [
        ("https://far.invalid/v1", True),
        ("https://near.example/v1", False),
        ("https://a.inside.example/v1", False),
        ("https://nearer.example/v1", True),
    ],
)
async def test_a_host_of_no_proxy_is_asked_directly_and_every_other_by_the_proxy(url: str, proxied: bool):
    async with await http_answer._client(FAR, PROXY, httpx.Timeout(1)) as client:
        transport = client._transport_for_url(httpx.URL(url))
        assert isinstance(transport, httpx.AsyncHTTPTransport)
        assert ("Proxy" in type(transport._pool).__name__) is proxied


async def test_a_server_of_this_machine_is_asked_directly():
    at = endpoint("OpenAI", "entry", "m", "http://127.0.0.1:1/v1")
    async with await http_answer._client(at, PROXY, httpx.Timeout(1)) as client:
        assert client._mounts == {}
        assert client.trust_env is False


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the authority")
def test_an_authority_of_the_editors_variable_counts(tmp_path: Path):
    made = tmp_path / "ca.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=An Office CA"]
    subprocess.run([*request, "-keyout", tmp_path / "key.pem", "-out", made], check=True, capture_output=True)
    context = authorities._blocking_context(True, str(made))
    subjects = [str(each["subject"]) for each in context.get_ca_certs()]
    assert [subject for subject in subjects if "An Office CA" in subject]
    assert len(subjects) > 1, "beside the usual ones"


@pytest.mark.parametrize("text", [None, "no certificate"])
async def test_a_file_of_authorities_that_cannot_be_read_is_named(
    tmp_path: Path, text: str | None, monkeypatch: pytest.MonkeyPatch
):
    named = tmp_path / "ca.pem"
    if text is not None:
        named.write_text(text)
    monkeypatch.setenv(EXTRA_CA_VARIABLE, str(named))
    with pytest.raises(ModelError, match=f"`{EXTRA_CA_VARIABLE}` names `{named}`, which holds no .* correct"):
        async with post(FAR, "/responses", {}, {}, PROXY):
            pass
