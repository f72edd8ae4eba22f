# Everything that is done with this project, in one word each. CI says the same words (.ci/run).
#   make setup      what the machine needs: .venv, node modules, the editor under test; nothing to do the second time
#   make run        the extension in an editor, with a profile and a demo folder of its own
#   make test-fast  the quick tests of Python, in less than a minute
#   make test       all tests; by part: test-py, test-ts, test-e2e, test-agents (ARGS="-k word" goes to the runner)
#                   test-agents also installs the real agents that CI leaves out (1 GB): ARGS="-k cline" for one
#   make agents     plays every decision with the installed agents and writes the table in docs/agents.md; ARGS="gemini"
#   make probe      probes the installed agents (make test-agents installs them); ARGS="gemini" for one
#   make test-pythons  gate, settings, stdio and wire tests on every other Python, and as an ordinary user;
#                   ARGS=--quick for the quick tests on the newest and as that user
#   make check      lint, format, types, layers, generated files
#   make fmt        puts the code into form
#   make wire       writes client-ts/src/wire.gen.ts and hidden.gen.ts from the server's
#   make programs   writes gate/shell/programs/compiled.py from the records of programs
#   make messages   writes tests/messages.txt, the list of every reason and error text
#   make pictures   draws the view in all themes and sizes, compares with client-ts/test/pictures; ARGS=--keep writes those
#   make bench      measures
#   make soak       the long run
#   make package    dist/countersign.vsix
#   make package-platforms   dist/countersign-<target>.vsix with all wheels; ARGS="linux-x64" picks
#   make lock       writes the locks anew; UPGRADE=1 takes newer versions
#   make clean      removes what was built and what was run, but not what was set up

PYTHON ?= python3
bin := .venv/bin
ARGS ?=
# Else each of the thousands of servers that tests start would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup run test test-fast test-py test-pythons test-ts test-e2e test-agents agents probe check fmt wire programs messages pictures bench soak package package-platforms lock clean

setup:
	@$(PYTHON) scripts/setup.py

run: package
	@node scripts/editor.mjs

# One after the other, even under `make -j`: the parts measure time and share two cores.
test: setup
	@$(MAKE) --no-print-directory test-py
	@$(MAKE) --no-print-directory test-ts
	@$(MAKE) --no-print-directory test-e2e

# Each file on one processor, as its tests share what they set up.
test-py: setup
	$(bin)/pytest -n auto --dist loadfile $(ARGS)

test-fast: setup
	$(bin)/pytest -n auto --dist loadfile -m "not slow" $(ARGS)

test-pythons: setup
	$(bin)/python scripts/test_pythons.py $(ARGS)

test-agents: setup
	$(PYTHON) scripts/setup.py all-agents
	$(bin)/pytest tests/agents $(ARGS)

agents: setup
	$(PYTHON) scripts/setup.py all-agents
	$(bin)/python scripts/agent_matrix.py $(ARGS)

probe: setup
	$(PYTHON) scripts/setup.py all-agents
	$(bin)/python scripts/probe_agents.py $(ARGS)

test-ts: setup
	cd client-ts && npm test -- $(ARGS)

test-e2e: package
	node --test --test-reporter=spec --test-concurrency=1 $(ARGS) tests/e2e/*.test.mjs

check: setup
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/pyright
	$(bin)/lint-imports
	$(bin)/python scripts/wire_types.py --check
	$(bin)/python scripts/hidden_characters.py --check
	$(bin)/python scripts/messages.py --check
	$(bin)/python scripts/programs.py --check
	$(bin)/python scripts/agent_matrix.py --check
	cd client-ts && npm run check

fmt: setup
	$(bin)/ruff check --fix-only
	$(bin)/ruff format
	cd client-ts && npm run --if-present fmt

wire: setup
	$(bin)/python scripts/wire_types.py
	$(bin)/python scripts/hidden_characters.py

programs: setup
	$(bin)/python scripts/programs.py

messages: setup
	$(bin)/python scripts/messages.py

pictures: setup
	cd client-ts && npm run build && npm run pictures -- $(ARGS)

bench: setup
	$(bin)/python tests/bench/run.py $(ARGS)

soak: setup
	$(bin)/python tests/soak.py $(ARGS)

package: setup
	@scripts/package.sh

package-platforms: setup
	@$(bin)/python scripts/package_platforms.py $(ARGS)

lock: setup
	@UPGRADE=$(UPGRADE) scripts/lock.sh

clean:
	rm -rf dist .run client-ts/out client-ts/dist client-ts/server client-ts/LICENSE
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache
