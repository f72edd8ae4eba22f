"""How wide the rules for "always" are: up to the word that says what is done, and never so far that they would let a
program do something else than was seen."""

from __future__ import annotations

import pytest

from countersign.gate.approvals.rule_examples import samples

from .asked import decide
from .test_proposals import decided

WIDEST = [
    # An option and its value in front of what is done, or in the middle of it.
    ("kubectl -n prod get pods", "kubectl -n prod get"),
    ("kubectl --context c get pods -o wide", "kubectl --context c get"),
    ("kubectl --namespace=prod logs web", "kubectl --namespace=prod logs"),
    ("kubectl -nprod -v 6 describe pod web", "kubectl -nprod -v 6 describe"),
    ("docker -H tcp://far ps", "docker -H tcp://far ps"),
    ("docker --context far images", "docker --context far images"),
    ("docker --debug ps", "docker --debug ps"),
    ("docker compose -f dev.yml up -d", "docker compose -f dev.yml up"),
    ("docker compose -p web --profile all logs web", "docker compose -p web --profile all logs"),
    ("helm -n prod list", "helm -n prod list"),
    ("yarn --cwd web build", "yarn --cwd web build"),
    ("cargo +nightly fmt", "cargo +nightly fmt"),
    ("cargo --offline -q test", "cargo --offline -q test"),
    ("go -C sub test ./...", "go -C sub test"),
    ("gh -R a/b pr list", "gh -R a/b pr list"),
    ("gh pr -R a/b merge 3", "gh pr -R a/b merge"),
    ("aws --profile p s3 ls", "aws --profile p s3 ls"),
    ("gcloud --project p compute instances list", "gcloud --project p compute instances list"),
    ("npm run -w web test", "npm run -w web test"),
    ("npm -w web run test", "npm -w web run test"),
    ("npm --silent run lint -- --fix", "npm --silent run lint"),
    ("pnpm --filter web build", "pnpm --filter web build"),
    ("pnpm -r run build", "pnpm -r run build"),
    ("make -j4 test", "make -j4 test"),
    ("make -j 4 test", "make -j 4 test"),
    ("mvn -pl core -am verify", "mvn -pl core -am verify"),
    ("gradle -x test build", "gradle -x test build"),
    ("terraform -chdir=infra plan", "terraform -chdir=infra plan"),
    ("heroku -a web ps", "heroku -a web ps"),
    # An option that nobody knows may take the word behind it.
    ("kubectl --unheard-of get pods", "kubectl --unheard-of get pods"),
    ("kubectl --unheard-of get", None),
    ("kubectl --unheard-of delete pod web", None),
    ("gh --unheard-of x api repos/x/y", None),
    ("frobnicate --unheard-of status", None),
    # What a program that nobody knows may run for its words.
    ("frobnicate exec ls", None),
    ("frobnicate eval x", None),
    ("frobnicate run", None),
    ("frobnicate run build --x", "frobnicate run build"),
    ("frobnicate start web", "frobnicate start web"),
    ("frobnicate run -- ls", None),
    ("frobnicate script run x", "frobnicate script run x"),
    ("pm2 start x.js", None),
    ("forever restart x.js", None),
    ("frobnicate --unheard-of web status", "frobnicate --unheard-of web status"),
    # What is done takes two or more words.
    ("docker image prune", None),
    ("git stash push -m x", "git stash push"),
    ("git submodule update --init", "git submodule update"),
    ("gcloud run deploy web --region x", "gcloud run deploy"),
    ("az network vnet delete -n x", "az network vnet delete"),
    ("flask db upgrade", "flask db upgrade"),
    ("rustup toolchain install stable", "rustup toolchain install"),
    ("dotnet ef database update", "dotnet ef database update"),
    ("flutter pub get", "flutter pub get"),
    ("jj git push", "jj git push"),
    ("pulumi stack rm dev", "pulumi stack rm"),
    ("supabase db reset", None),
    ("turbo run build", "turbo run build"),
    ("prisma migrate dev", "prisma migrate dev"),
    ("mvn clean install", "mvn clean install"),
    ("make clean all", "make clean all"),
    ("mvn -q test exec:java", None),
    ("yarn workspaces foreach -A run build", "yarn workspaces foreach -A run build"),
    ("nx run web:build", "nx run web:build"),
    # Words of their own.
    ("pnpm add zod", "pnpm add"),
    ("pnpm remove zod", "pnpm remove"),
    ("bun add zod", "bun add"),
    ("npm uninstall zod", "npm uninstall"),
    ("npm install zod", "npm install"),
    ("yarn add zod", "yarn add"),
    ("rails db:migrate", "rails db:migrate"),
    ("bin/rails test test/models", "bin/rails test"),
    ("stack build", "stack build"),
    ("cabal test", "cabal test"),
    ("elm make src/Main.elm", "elm make"),
    ("dbt run --select x", "dbt run"),
    ("twine upload dist/x.whl", "twine upload"),
    ("moon run web:build", "moon run web:build"),
    ("rush install", "rush install"),
    ("volta install node", "volta install"),
    ("flask run", "flask run"),
    ("next build", "next build"),
    ("vite build", "vite build"),
    ("vitest run", "vitest run"),
    ("cypress run", "cypress run"),
    ("mkdocs build", "mkdocs build"),
    ("cmake --build build", "cmake --build build"),
    ("cmake --build build --target install", "cmake --build build"),
    ("cmake --install build", "cmake --install build"),
    ("cmake -S . -B build", "cmake -S . -B build"),
    ("cmake -B build", "cmake -B build"),
    # A program that no table knows.
    ("frobnicate status now", "frobnicate status"),
    ("frobnicate db:drop", "frobnicate db:drop"),
    ("frobnicate src/x.py", "frobnicate src/x.py"),
    ("frobnicate notes.txt", "frobnicate notes.txt"),
    ("frobnicate", "frobnicate"),
    ("frobnicate --all", "frobnicate"),
    ("frobnicate --version", None),
    ("frobnicate help", None),
    ("./scripts/build.sh", "./scripts/build.sh"),
    ("./scripts/build.sh web", "./scripts/build.sh web"),
    ("./manage.py migrate", "./manage.py migrate"),
    ("./scripts/check.py src", "./scripts/check.py"),
    ("npx create-thing app", "npx create-thing app"),
    ("hatch run lint", "hatch run lint"),
    # Nothing says what is done, or what was said can do anything.
    ("npm run", None),
    ("docker compose", None),
    ("docker", None),
    ("yarn", None),
    ("git stash", None),
    ("git stash -u", None),
    ("gh pr", None),
    ("vitest --coverage", None),
    ("gcloud compute instances", None),
    ("just", None),
    ("gh api repos/x/y", None),
    ("gh api -X DELETE repos/x/y", None),
    ("gh -R a/b api repos/x/y", None),
    ("kubectl -n prod delete pod web", None),
    ("terraform -chdir=infra apply", None),
    # Interpreters.
    ("poetry run python x.py --fast", "poetry run python x.py"),
    ("poetry run python", None),
    ("poetry run python -m pytest -q", "poetry run python -m pytest"),
    ("pipenv run python manage.py migrate", "pipenv run python manage.py migrate"),
    ("uv run python", None),
    ("uv run python tools/x.py", "uv run python tools/x.py"),
    ("uv run x.py", "uv run x.py"),
    ("bundle exec ruby x.rb", "bundle exec ruby x.rb"),
    ("npx ts-node x.ts", "npx ts-node x.ts"),
    ("npx tsx watch src/x.ts", "npx tsx watch src/x.ts"),
    ("java -jar x.jar --port 1", "java -jar x.jar"),
    ("java -Xmx1g -jar x.jar", "java -Xmx1g -jar x.jar"),
    ("java -cp build Main", "java -cp build Main"),
    ("deno run x.ts", "deno run x.ts"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "words"), WIDEST)
def test_the_widest_rule_ends_where_it_is_said_what_is_done(command: str, words: str | None) -> None:
    offered = decided(command).proposals
    wide = [rule for rule in offered if rule.endswith(":*)")]
    assert offered
    assert wide == ([] if words is None else [f"Bash({words}:*)"])


OTHERS = [
    ("kubectl -n prod get pods", "kubectl -n prod delete pod x"),
    ("docker --context c images", "docker --context c rm x"),
    ("helm -n prod list", "helm -n prod uninstall x"),
    ("rails db:migrate", "rails db:drop"),
    ("frobnicate status", "frobnicate delete x"),
    ("npm run -w web test", "npm run -w web deploy"),
    ("git stash", "git stash drop"),
    ("gh api repos/x/y", "gh api repos/x/y -X DELETE"),
    ("gcloud compute instances list", "gcloud compute instances delete x"),
    ("poetry run python x.py", "poetry run python y.py"),
    ("java -jar x.jar", "java -jar y.jar"),
    ("yarn", "yarn deploy"),
    ("mvn clean install", "mvn clean deploy"),
    ("cmake --build build", "cmake --install build"),
    ("flask db upgrade", "flask db downgrade"),
    ("dotnet ef database update", "dotnet ef database drop"),
    ("docker system df", "docker system prune"),
    ("gcloud beta run deploy x", "gcloud beta run services delete x"),
    ("git flow feature start x", "git flow feature delete x"),
    ("dart run build_runner", "dart run other"),
    ("nohup", "nohup npm publish"),
    ("pulumi -s dev stack ls", "pulumi -s dev stack rm"),
    ("pulumi stack ls", "pulumi stack rm x"),
]


@pytest.mark.parametrize(("command", "other"), OTHERS)
def test_no_rule_lets_the_program_do_something_else(command: str, other: str) -> None:
    assert [rule for rule in decided(command).proposals if decide(other, [rule]) == "allow"] == []


@pytest.mark.parametrize(
    "command",
    [
        "git -c x=y commit -m z",
        "git -c user.name=x commit -m z",
        "rg --pre x y",
        "tar --use-compress-program x -cf a b",
    ],
)
def test_the_value_of_an_option_is_never_offered_as_a_command(command: str) -> None:
    said = command.partition(" ")[0]
    assert [rule for rule in decided(command).proposals if not rule.startswith(f"Bash({said} ")] == []


def test_an_option_in_front_does_not_make_the_examples_worse() -> None:
    assert samples("Bash(kubectl -n prod get:*)", [])[:2] == (
        "kubectl -n prod get pods",
        "kubectl -n prod get secrets -A",
    )


def test_what_an_option_runs_keeps_nothing_from_being_offered_where_it_needs_no_rule() -> None:
    assert decided("git -c commit.gpgsign=false commit -m z").proposals == (
        "Bash(git -c commit.gpgsign=false commit -m z)",
    )


HAVE_SUBCOMMANDS = frozenset(
    "npm pnpm yarn bun deno cargo go docker podman kubectl helm gh glab aws gcloud az pip uv poetry pdm hatch "
    "terraform just rake bundle mvn gradle gradlew dotnet git brew apt systemctl rails stack cabal elm dbt twine "
    "moon rush volta flask next vite vitest cypress mkdocs cmake alembic prisma fly heroku vercel netlify wrangler "
    "firebase supabase pulumi serverless sam cdk nx turbo lerna bazel zig swift flutter dart mix composer conda "
    "rustup asdf mise dune opam ruff coverage pre-commit jj hg svn playwright webpack nuxt astro ng expo celery "
    "airflow dvc kind minikube skaffold argocd flux eksctl goose dbmate sqlc buf golangci-lint java docker-compose "
    "nim gleam crystal lein".split()
)

EVERYDAY = """
npm test|npm run build|npm ci|npm install zod|npm run lint -- --fix|npm publish|npm audit fix|npm t|npm start
npm update|pnpm test|pnpm dev|pnpm -r build|pnpm add -D zod|pnpm --filter web test|yarn|yarn test|yarn add zod
yarn run build|yarn install|bun test|bun run dev|bun install|bun x.ts|deno test -A|deno task dev|deno run -A x.ts
deno fmt|cargo test|cargo build --release|cargo clippy -- -D warnings|cargo +nightly fmt|cargo run -- x
cargo add serde|cargo nextest run|go test ./...|go build ./cmd/x|go mod tidy|go run .|go generate ./...|go vet ./...
golangci-lint run|docker ps|docker build -t x .|docker compose up -d|docker compose -f x.yml down|docker image prune
docker-compose up|docker logs x|kubectl get pods|kubectl -n prod get pods|kubectl rollout status deploy/x
kubectl config use-context x|kubectl apply -f x.yml|helm list|helm -n x upgrade a b
helm repo add a https://example.com|gh pr list|gh pr create --title x|gh issue list|gh run list|gh api repos/a/b
gh repo view|glab mr list|aws s3 ls|aws --profile p ec2 describe-instances|gcloud compute instances list
az group list|pip install x|pip list|uv sync|uv pip install x|uv run pytest|uv add x|poetry install
poetry run pytest|poetry add x|pdm install|hatch build|hatch run test|terraform plan|terraform state list
terraform init|terraform -chdir=x plan|make|make test|make -j4 all|just|just test|rake db:migrate|rake
bundle install|bundle exec rspec|mvn test|mvn clean verify|gradle build|./gradlew test|dotnet test
dotnet ef database update|git commit -m x|git push|git add .|git stash|git stash pop|git worktree add x
git rebase main|git fetch|git remote add a b|git merge main|brew install x|apt install x|systemctl restart x
rails db:migrate|rails test|bin/rails s|stack build|cabal test|elm make x.elm|dbt run|twine upload x|moon run a:b
rush build|volta install node|flask run|flask db migrate|next build|vite build|vite|vitest run|vitest|cypress run
mkdocs serve|cmake --build build|cmake -S . -B build|ctest|alembic upgrade head|prisma migrate dev
npx prisma generate|fly deploy|heroku logs|vercel deploy|netlify deploy|wrangler deploy|firebase deploy
supabase start|pulumi up|serverless deploy|sam build|cdk deploy|nx build web|nx run web:test|turbo build
turbo run test|lerna run build|bazel test //...|zig build|swift test|flutter test|dart pub get|mix test
mix ecto.migrate|composer install|rustup update|asdf install|mise install|dune build|opam install x|ruff check
ruff check --fix .|ruff format src|coverage report|pre-commit run -a|jj commit|hg commit|svn update|pytest
pytest -q tests|mypy src|eslint src|prettier --check .|tsc --noEmit|jest|mocha|black .|isort .|rspec|phpunit|tox
tox -e py312|playwright test|npx playwright test|webpack build|nuxt dev|astro build|ng build|expo start
celery worker|airflow dags list|dvc pull|kind get clusters|skaffold dev|argocd app sync x
flux reconcile x|eksctl get cluster|goose up|dbmate up|sqlc generate|buf generate|frobnicate|frobnicate status
frobnicate --x|java -jar x.jar|java -version|python -m pytest|python -m pip install x|npx tsc|npx -y create-vite x
npx ts-node x.ts|poetry run python x.py|mkdir -p x|cp a b|mv a b|touch x|curl https://example.com|./build.sh
./build.sh x|scripts/check.py src|nim c x.nim|gleam test|crystal build x.cr|lein test|shellcheck x.sh
""".replace("\n", "|").strip("|").split("|")  # fmt: skip


def test_enough_everyday_commands_are_looked_at() -> None:
    assert len(set(EVERYDAY)) > 200
    assert sum(bool(decided(command).proposals) for command in EVERYDAY) > 150


@pytest.mark.parametrize("command", EVERYDAY)
def test_every_rule_for_an_everyday_command_allows_it_and_says_what_is_done(command: str) -> None:
    for rule in decided(command).proposals:
        assert decide(command, [rule]) == "allow"
        if rule.endswith(":*)"):
            words = rule.removeprefix("Bash(").removesuffix(":*)").split()
            assert len(words) > 1 or words[0].rsplit("/", 1)[-1] not in HAVE_SUBCOMMANDS, rule
            assert not words[-1].startswith("-"), rule
            assert len(samples(rule, [command])) == 3
