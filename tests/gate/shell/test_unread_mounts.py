"""Where rules speak of files, a command asks whose mounts stand in a file that is not read (decisions/012)."""

from __future__ import annotations

import pytest

from .asked import HOME, WS, decide

STARTS = """
docker compose up
docker compose up -d
docker compose -f x/compose.yml up
docker compose -f ps up
docker compose --file=ps -p logs up
docker compose --env-file down -f a -f b run web ls
docker compose --unknown ps up
docker compose $VERB
docker compose "$FLAG" ps
docker --context x compose up
docker compose create
docker compose start
docker compose restart
docker compose build
docker compose config
docker compose watch
docker-compose up
docker-compose -f x up --build
podman-compose up
podman compose up
nerdctl compose up
timeout 9 docker compose up
podman kube play x.yaml
podman play kube x.yaml
docker stack deploy -c x.yml web
docker buildx bake
kind create cluster --config x
k3d cluster create --config x
vagrant up
devcontainer up
docker stack up -c x.yml web
docker stack config -c x.yml
docker buildx f
podman-remote compose up
podman-remote kube play x.yaml
nerdctl.lima compose up
colima nerdctl compose up
colima start --mount /x
vagrant resume
vagrant provision
vagrant rsync-auto
vagrant snapshot restore x
minikube start
minikube start --mount
minikube node add
act
act push -j test
gitlab-ci-local
lando start
lando rebuild -y
ddev start
./vendor/bin/sail up
devpod up .
localstack start
sam local invoke
vagrant "$VERB"
"""

QUIET = """
docker compose ps
docker compose -f x.yml ps -a
docker compose --file=x.yml logs web
docker compose logs -f web
docker compose down
docker-compose ps
docker-compose -f x.yml stop
docker ps
docker logs web
docker stack ls
kind get clusters
k3d cluster list
vagrant status
vagrant halt
docker stack ps web
minikube status
minikube stop
act -l
act --list
lando list
ddev describe
colima status
podman-remote ps
kubectl apply -f x.yaml
"""
PLACES = {"workspace": WS, "home": HOME}


@pytest.mark.parametrize("command", STARTS.strip().splitlines())
@pytest.mark.parametrize("rule", ["Read(./held/**)", "Edit(./held/**)"])
def test_what_may_mount_a_ruled_folder_asks(command: str, rule: str) -> None:
    assert decide(command, deny=[rule], mode="auto", **PLACES) == "ask"
    assert decide(command, ask=[rule], bypass=True, **PLACES) == "ask"
    assert decide(command, deny=[rule], allow=["Bash(docker compose:*)"], **PLACES) == "ask"


@pytest.mark.parametrize("command", ["docker compose up -d", "docker-compose up"])
def test_without_rules_for_files_nothing_is_asked(command: str) -> None:
    assert decide(command, mode="auto", **PLACES) == "allow"
    assert decide(command, deny=["Bash(rm:*)"], mode="auto", **PLACES) == "allow"
    assert decide(command, allow=[f"Bash({command})"], **PLACES) == "allow"


@pytest.mark.parametrize("command", QUIET.strip().splitlines())
def test_what_starts_nothing_is_not_asked_about(command: str) -> None:
    assert decide(command, deny=["Read(./held/**)"], mode="auto", **PLACES) == "allow"
