"""Under a rule that forbids reading, a variable or a module that names such a file asks in every mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asked import decide

COMMANDS = (
    "export DJANGO_SETTINGS_MODULE={module}",
    "export DJANGO_SETTINGS_MODULE={module} && python manage.py check",
    "DJANGO_SETTINGS_MODULE={module} python manage.py check",
    "env DJANGO_SETTINGS_MODULE={module} python manage.py check",
    "timeout 9 env -u A DJANGO_SETTINGS_MODULE={module} make",
    "FLASK_APP={module}:app flask run",
    "FLASK_APP={path} flask run",
    "PYTEST_PLUGINS={module} pytest",
    "PYTEST_ADDOPTS='-p {module}' pytest",
    "NODE_OPTIONS='--require ./{path}' node a.js",
    "NODE_OPTIONS=--require=./{path} npm test",
    "JAVA_TOOL_OPTIONS=-javaagent:{path} java x",
    "PYTHONPATH={folder} pytest",
    "PYTHONPATH=src:{folder} pytest",
    "NODE_PATH={folder} node x",
    "export PYTHONSTARTUP={path}",
    "KUBECONFIG={path} kubectl get pods",
    "GOOGLE_APPLICATION_CREDENTIALS={path} gcloud x",
    "uvicorn {module}:app",
    "gunicorn -w 4 {module}:app",
    "python -m {module}",
    "pytest --ds={module}",
    "pytest -p {module}",
    "python manage.py check --settings={module}",
    "python manage.py check --settings {module}",
    "celery -A {module} worker",
)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    for folder in ("ws/.git", "ws/secret", "ws/open", "home"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("secret", "open"):
        (tmp_path / "ws" / folder / "key.py").touch()
    return {"workspace": str(tmp_path / "ws"), "home": str(tmp_path / "home")}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("rules", [{"deny": ["Read(./secret/**)"]}, {"ask": ["Read(./secret/**)"]}])
@pytest.mark.parametrize("how", [{"mode": "auto"}, {"bypass": True}])
def test_a_file_that_a_variable_or_module_names_is_looked_up_in_the_rules(
    command: str, how: dict[str, object], rules: dict[str, list[str]], places: dict[str, str]
) -> None:
    secret = command.format(module="secret.key", path="secret/key.py", folder="secret")
    assert decide(secret, **rules, **how, **places) != "allow"


@pytest.mark.parametrize("command", COMMANDS)
def test_another_file_or_module_runs_in_auto(command: str, places: dict[str, str]) -> None:
    other = command.format(module="open.key", path="open/key.py", folder="open")
    assert decide(other, deny=["Read(./secret/**)", "Bash(evil:*)"], mode="auto", **places) == "allow"


@pytest.mark.parametrize("command", ["NODE_ENV=secret npm test", "export MODE=secret && make", "pytest -m secret"])
def test_a_word_that_is_no_file_asks_nothing(command: str, places: dict[str, str]) -> None:
    assert decide(command, deny=["Read(./secret/**)"], mode="auto", **places) == "allow"
