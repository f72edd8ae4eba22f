"""What a container may touch of the host is judged by its mounts, in every spelling and for every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

RUNS = (
    "docker run {} img ls",
    "docker run --rm -it {} img ls",
    "docker --context x run {} img ls",
    "docker container run {} img ls",
    "docker create {} img",
    "podman run {} img ls",
    "podman --log-level debug run {} img ls",
    "nerdctl run {} img ls",
    "docker compose run {} web ls",
    "docker-compose run {} web ls",
    "sudo docker run {} img ls",
    "timeout 9 docker run {} img ls",
    "(cd . && docker run {} img ls)",
)
MOUNTS = (
    "-v {}:/x",
    "-v {}:/x:rw",
    "-v {}:/x:z,delegated",
    "-itv {}:/x",
    "--volume {}:/x",
    "--volume={}:/x",
    "--mount type=bind,source={},target=/x",
    "--mount=type=bind,src={},dst=/x",
    '--mount \'"type=bind","src={}","dst=/x"\'',
    "--mount type=bind,src={},dst=/x,readonly=false",
    "--mount type=volume,dst=/x,volume-opt=type=none,volume-opt=o=bind,volume-opt=device={}",
)
READ_ONLY = (
    "-v {}:/x:ro",
    "-v {}:/x:z,ro",
    "--mount type=bind,src={},dst=/x,readonly",
    "--mount type=bind,ro,src={},dst=/x",
)
RIGHTS = (
    "--privileged",
    "--cap-add=SYS_ADMIN",
    "--cap-add ALL",
    "--device /dev/sda",
    "--device=/dev/mem:/dev/mem",
    "--pid=host",
    "--pid host",
    "--ipc container:other",
    "--userns=host",
    "--security-opt seccomp=unconfined",
    "--security-opt=label=disable",
    "--volumes-from other",
    "--use-api-socket",
)
"""Options by which a container reaches more of the host than it is given by name."""


NOT_READ_ONLY = (
    "-v {}:/x:ro,rw",
    "-v {}:/x:ro,U",
    "--mount type=bind,src={},dst=/x,ro,readonly=false",
    "--mount type=bind,src={},dst=/x,readonly=0,ro",
    "--mount type=bind,ro=0,src={},dst=/x,readonly",
    "--mount type=bind,src={},dst=/x,ro,rw",
    "--mount type=bind,src={},dst=/x,ro,bind-recursive=writable",
    "--mount type=bind,src={},dst=/x,ro,U=true",
)
"""Mounts that say `ro` and may be writable, or change what is mounted, all the same."""

SOCKETS = (
    "/run",
    "/run/docker",
    "/run/../run/docker",
    "/var/./run",
    "/etc/../var/run",
    "/run/user/1000",
    "/run/user/1000/podman",
    "/run/containerd",
    "/run/systemd",
    "/run/dbus",
    "{home}/.docker/run",
    "{home}/.colima",
    "{home}",
    "./toRun",
    "./toRun/docker",
)
"""Places below or above which sockets of services lie."""

NAMED = (
    "podman push img dir:.git",
    "podman push img docker-archive:.git/x",
    "podman push img oci:.git/x:tag",
    "podman manifest push x oci-archive:.git/x",
    "podman pull docker-archive:.env",
    "podman container checkpoint -e .git/x c",
    "podman container checkpoint --export=.git/x c",
    "buildah push img dir:.git",
    "skopeo copy docker://x dir:.git",
    "skopeo copy dir:/etc docker://x",
    "ctr images export .git/x img",
    "docker context export x .git/y",
    "docker buildx bake --set '*.output=.git'",
    "docker buildx bake --set x.output=type=local,dest=.git/x",
    "docker secret create x .env",
    "docker config create x ./.env",
    "podman machine init -v /:/x",
    "podman container clone x --volume /:/x",
    "podman pod clone x --privileged",
    "docker run -v '~/.ssh:/x' img",
    "docker compose run -v '~/.ssh:/x' web",
)
"""Commands that start nothing, or start it in another way, and name a protected place, a secret or a mount."""


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    spots = {"workspace": tmp_path / "ws", "home": tmp_path / "home"}
    for folder in ("ws/src", "ws/.git/hooks", "home/.ssh", "out"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "home/.ssh/id_rsa").touch()
    (tmp_path / "ws/toRun").symlink_to("/run")
    (tmp_path / "ws/.env").touch()
    return {name: str(path) for name, path in spots.items()}


def auto(command: str, places: dict[str, str]) -> str:
    return decide(command, mode="auto", **places)


@pytest.mark.parametrize("run", RUNS)
def test_a_writable_mount_asks_unless_nothing_there_would_ask(run: str, places: dict[str, str]) -> None:
    out = str(Path(places["workspace"]).parent / "out")
    # `compose run` knows no `--mount`, so nothing is known of what that takes.
    mounts = [mount for mount in MOUNTS if "compose" not in run or "--mount" not in mount]
    asked = (out, "/", "/etc", ".", "..", "./.git", places["workspace"], places["home"], "/var/run/docker.sock")
    wrong = [
        command
        for mount in mounts
        for source, expected in (*((each, "ask") for each in asked), ("./src", "allow"))
        if auto(command := run.format(mount.format(source)), places) != expected
    ]
    assert wrong == []


@pytest.mark.parametrize("run", RUNS)
def test_a_read_only_mount_is_a_read_of_all_that_lies_there(run: str, places: dict[str, str]) -> None:
    wrong = [
        command
        for mount in READ_ONLY
        if "compose" not in run or "--mount" not in mount
        for source, expected in (
            ("./src", "allow"),
            (".", "allow"),
            (f"{places['home']}/.ssh", "ask"),
            ("/", "ask"),
            ("/var/run/docker.sock", "ask"),
        )
        if auto(command := run.format(mount.format(source)), places) != expected
    ]
    assert wrong == []
    denied = run.format("-v ./src:/x:ro")
    assert decide(denied, deny=["Read(./src/key)"], mode="auto", **places) in {"ask", "deny"}


@pytest.mark.parametrize("run", RUNS)
def test_a_mount_is_read_only_if_nothing_says_otherwise(run: str, places: dict[str, str]) -> None:
    wrong = [
        command
        for mount in NOT_READ_ONLY
        for source in ("/etc", "./.git")
        if auto(command := run.format(mount.format(source)), places) != "ask"
    ]
    assert wrong == []


@pytest.mark.parametrize("mount", READ_ONLY)
def test_a_read_only_mount_where_sockets_lie_asks(mount: str, places: dict[str, str]) -> None:
    sources = [source.format(**places) for source in SOCKETS]
    assert [s for s in sources if auto(f"docker run {mount.format(s)} img ls", places) != "ask"] == []


@pytest.mark.parametrize("command", NAMED)
def test_what_an_engine_names_without_a_container_is_judged(command: str, places: dict[str, str]) -> None:
    rules = [f"Bash({command.partition(' ')[0]}:*)", f"Bash({' '.join(command.split()[:2])}:*)"]
    assert auto(command, places) == "ask"
    assert decide(command, allow=rules, **places) == "ask"


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("right", RIGHTS)
def test_a_right_over_the_host_asks(run: str, right: str, places: dict[str, str]) -> None:
    assert auto(run.format(right), places) == "ask"


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    "harmless",
    [
        "",
        "-v data:/x",
        "-v /x",
        "-e A=b",
        "-p 80:80",
        "--network host",
        "--tmpfs /x",
    ],
)
def test_a_container_that_sees_nothing_of_the_host_is_a_command_like_others(
    run: str, harmless: str, places: dict[str, str]
) -> None:
    unknown = "compose" in run and harmless.startswith("--")  # compose has no such options
    assert auto(run.format(harmless), places) == ("ask" if unknown else "allow")


def test_what_stands_behind_the_image_is_no_option_of_the_engine(places: dict[str, str]) -> None:
    assert auto("docker run --security-opt no-new-privileges img", places) == "allow"
    assert auto("docker run img pytest -v tests/x:y --privileged", places) == "allow"
