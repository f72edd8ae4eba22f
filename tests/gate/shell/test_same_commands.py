"""Deny and ask rules hold for a command whose program or options have other names; allow rules do not."""

from __future__ import annotations

import pytest

from .asked import decide

SAME = """
Bash(apt-get install:*) | apt-get -o a=b install x
Bash(apt-get install:*) | apt-get -t x install y
Bash(rm:*) | grm -rf x
Bash(rm:*) | /usr/local/bin/grm x
Bash(rm:*) | sudo grm x
Bash(rm:*) | busybox rm x
Bash(rm:*) | toybox rm x
Bash(grm:*) | rm x
Bash(cp:*) | gcp a b
Bash(tar:*) | gtar xf a.tgz
Bash(tar:*) | bsdtar xf a.tgz
Bash(node:*) | nodejs x.js
Bash(nodejs:*) | node x.js
Bash(vim:*) | vi x
Bash(vim:*) | nvim x
Bash(vi:*) | vim.basic x
Bash(grep:*) | egrep x y
Bash(grep -r:*) | fgrep -r x y
Bash(python3:*) | python3.11 x.py
Bash(python:*) | python3 x.py
Bash(python -c:*) | python3.12 -c 'x'
Bash(pip install:*) | pip3 install x
Bash(pip3 install:*) | pip3.11 install x
Bash(awk:*) | gawk 1 x
Bash(docker compose down:*) | docker-compose down -v
Bash(docker-compose down:*) | docker compose down
Bash(git push:*) | git-push origin
Bash(git push:*) | /usr/lib/git-core/git-push origin
Bash(rm -rf:*) | rm -fr x
Bash(rm -rf:*) | rm -Rf x
Bash(rm -rf:*) | rm -r -f x
Bash(rm -rf:*) | rm -f -v -R x
Bash(rm -rf:*) | rm --recursive --force x
Bash(rm -rf:*) | rm --rec --forc x
Bash(rm -rf:*) | rm x -rf
Bash(rm -rf:*) | grm --recursive -f x
Bash(rm -rf:*) | env rm --force -r x
Bash(rm -rf:*) | find . -exec rm -fR {} +
Bash(rm -rf:*) | bash -c 'rm -Rf x'
Bash(rm --recursive:*) | rm -r x
Bash(rm -rf x) | rm --force -R x
Bash(chmod -R:*) | chmod --recursive 777 x
Bash(chmod -R 777:*) | chmod 777 -R x
Bash(git push --force:*) | git push -f
Bash(git push --force:*) | git push origin main --force
Bash(git push -f:*) | git push --force origin
Bash(git push --force:*) | git -C x push -f
Bash(git push origin --force:*) | git push --force origin main
Bash(git clean -fd:*) | git clean -d --force
Bash(git commit --no-verify:*) | git commit -m x -n
Bash(git branch --delete:*) | git branch -d x
Bash(git checkout --force:*) | git checkout -f main
Bash(git reset --hard:*) | git reset -q --hard
Bash(git branch -D:*) | git branch --delete --force x
Bash(git branch -D:*) | git branch -df x
Bash(git branch -d:*) | git branch -D x
Bash(git branch --delete --force:*) | git branch -D x
Bash(curl -X POST:*) | curl -s --request POST https://a.example
Bash(curl --upload-file:*) | curl https://a.example -T x
Bash(npm install --global:*) | npm install x -g
Bash(git push origin main:*) | git push -q origin main
Bash(npm install:*) | npm i x
Bash(npm i:*) | npm install x
Bash(npm install -g:*) | npm i -g x
Bash(npm install -g:*) | npm -g add x
Bash(npm install -g:*) | npm --prefix sub --global isntall x
Bash(npm install -g:*) | npm --prefix sub install --global x
Bash(kubectl delete:*) | kubectl -n prod delete pod x
Bash(aws s3 rm:*) | aws --profile x s3 rm s3://a/b
Bash(npm uninstall:*) | npm rm x
Bash(npm publish:*) | npm publ
Bash(npm uninstall:*) | npm --prefix sub unins x
Bash(hg push:*) | hg pus
Bash(curl -X POST:*) | curl --data-bin x https://a.example
Bash(npm run deploy:*) | npm run-script deploy
Bash(pnpm remove:*) | pnpm un x
Bash(cargo run:*) | cargo r
Bash(docker rm:*) | docker container rm -f x
Bash(docker container rm:*) | docker rm x
Bash(docker rmi:*) | docker image remove x
Bash(docker run:*) | sudo docker --context a container run x
Bash(helm uninstall:*) | helm -n a delete b
Bash(gh pr create:*) | gh pr new
Bash(svn commit:*) | svn ci -m x
Bash(git add:*) | git stage x
Bash(git push --force:*) | git push origin +main
Bash(git push -f:*) | git push origin main +refs/heads/x:refs/heads/y
Bash(git push --delete:*) | git push origin :topic
Bash(curl -X POST:*) | curl -d a=b https://a.example
Bash(curl -X POST:*) | curl -s --json '{}' https://a.example
Bash(curl --request POST:*) | curl https://a.example -F a=b
Bash(curl -X PUT:*) | curl -T x https://a.example
"""
"""A deny rule, and a command that it denies."""

AKIN = """
Bash(rm:*) | unlink x
Bash(gradle:*) | ./gradlew build
Bash(python3.11:*) | python3 x.py
Bash(python2:*) | python x.py
Bash(sudo:*) | doas true
Bash(npm publish:*) | npm --otp 1 publish
Bash(npm publish:*) | npm --access public publish
Bash(npm install:*) | npm --otp 1 i x
Bash(aws s3 rm:*) | aws s3 --profile p rm x
Bash(pip install:*) | pip --use-feature x install y
Bash(systemctl stop:*) | systemctl -s 9 stop x
Bash(kubectl delete:*) | kubectl --vmodule x delete y
Bash(helm uninstall:*) | helm --repository-cache x uninstall y
Bash(git push:*) | git --foo log push origin
Bash(make deploy:*) | make A=b deploy
"""
"""The same where the name only may stand for the same program."""

OTHERS = """
Bash(rm -rf:*) | rm -r x
Bash(rm -rf:*) | rm -f x
Bash(rm -rf:*) | rm --force x
Bash(rm -rf x) | rm -fr y
Bash(python2:*) | python3 x.py
Bash(python3.11:*) | python3.12 x.py
Bash(unlink:*) | rm x
Bash(git push --force:*) | git push origin
Bash(git push --force:*) | git push --force-with-lease
Bash(git push origin main:*) | git push origin topic
Bash(git branch --delete:*) | git branch x
Bash(git branch -D:*) | git branch -d x
Bash(curl -X POST:*) | curl -X GET https://a.example
Bash(nodemon:*) | node x
Bash(vim:*) | vimtutor
Bash(chmod -R 777:*) | chmod -R 755 x
Bash(git stash:*) | git status
Bash(docker compose down:*) | docker-compose up
Bash(npm install:*) | npm run i
Bash(npm publish:*) | npm run publish
Bash(git push:*) | git -C push status
Bash(git push:*) | git commit -m push
Bash(docker rm:*) | docker run --rm x rm
Bash(npm install -g:*) | npm i x
Bash(docker rm:*) | docker image rm x
Bash(git push --force:*) | git push origin main:topic
Bash(curl -X POST:*) | curl -G -d a=b https://a.example
Bash(curl -X POST:*) | curl -X GET -d a=b https://a.example
"""


def _split(rows: str) -> list[list[str]]:
    return [line.split(" | ") for line in rows.strip().splitlines()]


@pytest.mark.parametrize(("rule", "command"), _split(SAME))
def test_a_deny_rule_means_the_command_however_it_is_spelled(rule: str, command: str) -> None:
    assert decide(command, deny=[rule], mode="auto") == "deny"
    assert decide(command, deny=[rule], bypass=True) == "deny"
    assert decide(command, ask=[rule], bypass=True) == "ask"


@pytest.mark.parametrize(("rule", "command"), _split(AKIN))
def test_a_name_that_may_stand_for_the_same_program_asks(rule: str, command: str) -> None:
    assert decide(command, deny=[rule], mode="auto") == "ask"
    assert decide(command, deny=[rule], bypass=True) == "ask"


@pytest.mark.parametrize(("rule", "command"), _split(OTHERS))
def test_another_command_is_left_alone(rule: str, command: str) -> None:
    assert decide(command, deny=[rule], bypass=True) == decide(command, deny=["Bash(something else)"], bypass=True)


@pytest.mark.parametrize(("rule", "command"), [row for row in _split(SAME) if "busybox" not in row[1]])
def test_an_allow_rule_covers_only_the_spelling_that_it_has(rule: str, command: str) -> None:
    before = decide(command)
    covered = decide(command, allow=[rule])
    assert covered == before or command.startswith(("sudo", "find", "bash", "env"))


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(rm -rf:*)", "rm -R --force {}"),
        ("Bash(npm publish:*)", "npm --otp 1 publish {}"),
        ("Bash(git add --force:*)", "git add {} -f"),
    ],
)
def test_many_words_do_not_hide_what_a_rule_means(rule: str, command: str) -> None:
    many = command.format(" ".join(f"f{number}" for number in range(400)))
    assert decide(many, deny=[rule], mode="auto") == "ask"
    assert decide(many, deny=["Bash(git tag:*)", "Bash(npm test -x:*)"], mode="auto") == "allow"
