"""How many words behind a program's name say what it does: the width of a rule for "always". Data.

A rule that ends before these words would let the program do something else than was seen, so whatever may stand in
front of them or between them (options, with the value that some take) belongs to the rule as well.
"""

from __future__ import annotations

from collections.abc import Mapping

_NONE = "nox tox"

_ONE = """
airflow alembic ansible-galaxy ant apt apt-get argocd artillery asdf astro bazel bazelisk brew buck2 buf bun bundle
cabal caddy cargo cast cdk celery changeset cmake composer conda consul copilot coverage crystal cypress dagster dart dbmate
dbt deno django-admin docker docker-compose docusaurus dotnet drush dune dvc earthly eksctl elm expo firebase flask
flutter flux fly flyctl flyway forever forge fossil gatsby gem git-lfs gitleaks gleam go goose gradle gradlew grunt gulp
hatch hcloud helm heroku hg chg sl hugo husky ionic java jekyll jj just k3d k6 kind kubectl oc lefthook lein lerna
liquibase localstack manage.py mamba maturin mdbook meson micromamba minikube mise mix mkdocs mlflow moon multipass mvn
mvnw nerdctl netlify next ng nim nomad npm nuxt nvm nx opam packer pants pdm phing pip pip3 pipenv pipx pixi playwright
pm2 pnpm podman podman-compose poetry pre-commit prisma pulumi rails rake ray rebar3 rush rustup ruff rye sam scala-cli
scons serverless skaffold snyk spago sqlc sst stack steampipe supabase svelte-kit svn swift systemctl task terraform
terragrunt tilt tofu trivy turbo twine uv vagrant vault vercel vite vitest volta wails wrangler xmake yarn zig zola
make ninja sbt
act apk atlas awslocal azd bentoml bicep blitz bower bq brownie buildah bw cap capacitor carthage cdktf chalice chezmoi
cilium colima commitizen contentful cosign crane cz datasette detox dnf drizzle-kit eas eb ember esy fastlane
feast flatpak func golangci-lint gopass goreleaser gsutil guix hasura hexo hf huggingface-cli infracost istioctl
jest-cli jupyter kedro knex ko kops kopia kubeadm limactl linkerd litestream llm lume luarocks magento mc modal neonctl
nest ngrok nimble nmcli ollama oras pass phinx platformio pod poe prefect pscale pyenv quasar rbenv react-native
redwood restic rclone rw sanity scoop sequelize sequelize-cli shards shopify skopeo snap sqlite-utils sqlmesh strapi
streamlit stripe swa symfony tflocal tuist turso typeorm ufw velero virsh vue-cli-service wandb wasp wp yum zappa
zellij zypper
"""
"""The commonest kind: the first word is the subcommand."""

_TWO = "aws gh glab ip"

DEPTH: Mapping[str, int] = {name: depth for depth, names in enumerate((_NONE, _ONE, _TWO)) for name in names.split()}
"""By the program's base name. A program that is in no table at all says it with its first word, if that looks so."""

TILL_VERB = frozenset("gcloud az doctl oci ibmcloud aliyun linode-cli scw openstack".split())
"""Programs whose groups nest: the words up to the first verb say what they do."""

EITHER = frozenset(
    "webpack webpack-cli rspack semgrep syft grype tap eleventy swc storybook biome nextflow phpstan rector php-cs-fixer "
    "infection deptrac gn karma wdio parcel purs v waf hub ocamlfind dmypy".split()
)
"""Programs of the tables that may be called with a subcommand or without one."""

PLAIN = frozenset(
    "air ansible-lint bats cloc cppcheck djlint editorconfig-checker hadolint htmlhint knip ktlint markdownlint "
    "markdownlint-cli2 modd ncdu pydoc scc shellcheck shfmt spectral start-server-and-test stylelint svelte-check "
    "swiftlint tokei typos vale vue-tsc wait-for-it wait-on yamllint ts-prune depcheck madge tsup unbuild vulture "
    "ltrace lsof umask ulimit jobs fg bg dirs times disown logout getopts suspend caller wait tectonic".split()
)
"""Programs beside those of the tables that have no subcommands."""

TARGETS = frozenset({"make", "ninja"})
"""Programs that are called without a target as a matter of course, so that all of them may be meant."""

MANY = frozenset({"make", "ninja", "rake", "mvn", "mvnw", "gradle", "gradlew", "ant", "sbt", "scons"})
"""Programs that take several targets: all of them say what is done."""

GROUPS: frozenset[tuple[str, ...]] = frozenset(
    (name, word)
    for names, words in (
        ("docker podman nerdctl", "compose image container volume network system builder buildx context plugin manifest "
         "trust service stack swarm node secret config pod machine generate kube"),
        ("git", "stash remote worktree submodule bisect notes lfs flow sparse-checkout maintenance subtree bundle reflog "
         "commit-graph multi-pack-index replace-ref annex"),
        ("npm", "run run-script rum urn cache config dist-tag team access org owner profile token hook pkg"),
        ("pnpm", "run run-script store config env server patch-commit recursive"),
        ("yarn", "run cache config workspaces plugin npm global version constraints"),
        ("bun", "run pm"),
        ("deno", "run task"),
        ("cargo", "nextest xtask sqlx"),
        ("go", "run mod tool work"),
        ("kubectl oc", "config rollout auth certificate set top krew create adm"),
        ("helm", "repo plugin dependency get registry show"),
        ("terraform tofu terragrunt", "state workspace providers metadata"),
        ("uv", "pip tool python cache self"),
        ("pip pip3", "cache config index"),
        ("poetry", "env cache config self source debug"),
        ("pdm", "cache config plugin python self venv"),
        ("hatch", "env dep project python self config fmt"),
        ("rye", "toolchain self tools config"),
        ("pipx", "environment interpreter"),
        ("pixi", "global project workspace task config"),
        ("conda mamba micromamba", "env config"),
        ("rustup", "toolchain component target override self set"),
        ("composer", "run run-script global config"),
        ("bundle", "config plugin"),
        ("brew", "services bundle analytics"),
        ("dotnet", "ef nuget tool workload sln new dev-certs user-secrets"),
        ("flutter", "pub config emulators"),
        ("dart", "pub run"),
        ("swift", "package"),
        ("jj", "git bookmark branch config op operation workspace file tag sparse util"),
        ("nx lerna turbo moon k6 crystal streamlit zig mix scala-cli", "run"),
        ("prisma", "migrate db"),
        ("flask", "db"),
        ("rails", "db"),
        ("celery", "control inspect"),
        ("pulumi", "stack config plugin state org policy"),
        ("supabase", "db functions migration migrations projects secrets branches storage domains orgs link gen"),
        ("firebase", "functions hosting apps projects target emulators database firestore"),
        ("fly flyctl", "apps secrets volumes machine machines scale postgres pg ips certs config tokens"),
        ("gcloud", "run config deploy"),
        ("az", "config"),
        ("gsutil bq", "iam"),
        ("vercel", "env domains dns certs secrets teams project alias"),
        ("netlify", "env sites functions api addons"),
        ("wrangler", "d1 kv r2 pages secret queues kv:key kv:namespace deployments versions"),
        ("argocd", "app cluster proj repo account context appset"),
        ("flux", "create get delete suspend resume reconcile"),
        ("eksctl", "create get delete scale upgrade"),
        ("kind", "create delete get load export build"),
        ("minikube", "addons config profile cache image node"),
        ("k3d", "cluster node registry image kubeconfig config"),
        ("airflow", "dags db tasks users connections pools variables"),
        ("dvc", "remote cache config exp"),
        ("asdf", "plugin"),
        ("mise", "run tasks plugins cache config settings alias"),
        ("opam", "switch repo pin"),
        ("vault consul nomad", "kv auth secrets policy token operator job node acl catalog"),
        ("vagrant", "box plugin snapshot"),
        ("ng", "cache config analytics"),
        ("expo eas", "build"),
        ("serverless", "plugin"),
        ("changeset", "pre"),
    )
    for name in names.split()
    for word in words.split()
) | {
    ("docker", "compose", "alpha"), ("gcloud", "beta", "run"), ("gcloud", "alpha", "run"), ("git", "flow", "feature"),
    ("git", "flow", "release"), ("git", "flow", "hotfix"), ("yarn", "workspaces", "foreach"), ("yarn", "workspaces", "foreach", "run"),
    ("yarn", "workspaces", "run"), ("pnpm", "recursive", "run"), ("dotnet", "ef", "database"), ("dotnet", "ef", "migrations"),
    ("dotnet", "ef", "dbcontext"), ("git", "lfs", "locks"),
}  # fmt: skip
"""Words behind which another one is needed to say what is done."""

VERBS = frozenset(
    """
abort add apply approve archive attach build bump cancel change check clean clear clone close commit config configure
copy cp create deactivate delete deploy deprecate describe destroy detach diff dir disable down downgrade download drain
drop dump edit enable end exec export fetch fix flush generate get import info init inspect install invoke join kill
label leave link list load lock login logout logs ls merge migrate mv new open pause ping plan pop prune publish pull
purge push read rebuild refresh register release reload remove rename reopen repair replace reset resolve restart
restore resume retry revert revoke rm roll rollback rotate run save scale search seed send serve set setup show sign
squash start stat status stop submit subscribe suspend switch sync tail terminate test trigger truncate trust
uninstall unlink unlock unpublish unregister unset up update upgrade upload use validate verify view wait watch wipe
write
""".split()
)
"""Words that say what is done, alone or before a dash (``get-credentials``)."""

ONLY_EXACT: frozenset[tuple[str, ...]] = frozenset({
    ("kill",), ("pkill",), ("killall",), ("chmod",), ("chown",), ("scp",), ("rsync",), ("wget",), ("coverage", "run"),
    ("docker", "run"), ("podman", "run"), ("kubectl", "delete"), ("kubectl", "apply"), ("terraform", "apply"),
    ("terraform", "destroy"), ("tofu", "apply"), ("tofu", "destroy"), ("oc", "apply"), ("oc", "delete"), ("history",), ("printenv",), ("gh", "api"), ("glab", "api"), ("az", "rest"),
})  # fmt: skip
"""Commands whose other words say what is hit, sent, or run: a person would not allow them all for having seen one."""

SAYING: Mapping[str, tuple[str, ...]] = {
    "cmake": ("--build", "--install", "--open", "--preset", "--workflow", "-S", "-B"),
    "java": ("-jar", "-m", "--module"),
}
"""Options that say with their value what is done, as a subcommand does."""


def _options(rows: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(options.split()) for names, options in rows.items() for name in names.split()}


VALUED = _options({
    "kubectl oc": "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid "
                  "--request-timeout --cache-dir -v --v --tls-server-name",
    "docker podman nerdctl": "-H --host -c --context --config -l --log-level --connection --url --identity --root -p "
                             "--project-name --profile --project-directory --env-file --ansi --progress --parallel -f --file",
    "docker-compose podman-compose": "-f --file -p --project-name --profile --project-directory --env-file --ansi --progress",
    "helm": "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --burst-limit --qps",
    "npm": "-w --workspace --prefix -C --loglevel --registry --userconfig --cache --omit --include --script-shell",
    "pnpm": "-C --dir -F --filter --filter-prod --reporter --loglevel --workspace-concurrency --config",
    "yarn": "--cwd --mutex --modules-folder --registry --network-timeout --cache-folder",
    "bun": "--cwd --filter -F --config -c --env-file --preload -r",
    "deno": "-c --config -L --log-level --cert --import-map --lock -r",
    "cargo": "-C -Z --config --color --manifest-path -p --package --target-dir --target --profile -j --jobs -F --features",
    "go": "-C",
    "gh glab": "-R --repo --hostname -g --group",
    "aws": "--profile --region --output --query --endpoint-url --color --ca-bundle --cli-read-timeout --cli-connect-timeout "
           "--cli-binary-format",
    "gcloud": "--project --account --configuration --format --verbosity --billing-project --impersonate-service-account "
              "--flags-file --filter --zone --region --access-token-file",
    "az": "--subscription -o --output --query -g --resource-group",
    "uv": "--project --directory -p --python --config-file --cache-dir --color --allow-insecure-host",
    "poetry": "-C --directory -P --project",
    "pdm": "-p --project -c --config",
    "hatch": "-e --env -p --project --data-dir --cache-dir --config",
    "pip pip3": "--python --log --proxy --retries --timeout --cache-dir --cert --client-cert --trusted-host",
    "mvn mvnw": "-f --file -pl --projects -P --activate-profiles -s --settings -gs --global-settings -t --toolchains -T "
                "--threads -rf --resume-from -l --log-file -b --builder --color -D --define",
    "gradle gradlew": "-p --project-dir -b --build-file -c --settings-file -x --exclude-task -I --init-script -g "
                      "--gradle-user-home --include-build --console --max-workers --warning-mode --priority",
    "systemctl": "-H --host -M --machine -t --type -p --property -n --lines -o --output --root",
    "heroku": "-a --app -r --remote",
    "fly flyctl": "-a --app -c --config -t --access-token",
    "vercel": "--cwd -A --local-config -Q --global-config -S --scope -T --team -t --token",
    "netlify": "--filter --auth --site",
    "wrangler": "-c --config -e --env --cwd --env-file",
    "firebase": "-P --project --account --token -c --config",
    "supabase": "--workdir --profile --network-id --dns-resolver -o --output",
    "pulumi": "-C --cwd --color --profiling --tracing -v -s --stack",
    "serverless": "-s --stage -r --region -c --config --aws-profile",
    "sam cdk": "--profile --region --config-env --config-file -a --app -c --context -o --output",
    "alembic": "-c --config -n --name -x",
    "flask": "-A --app -e --env-file",
    "celery": "-A --app -b --broker --workdir --config --result-backend --loader",
    "dbt": "--project-dir --profiles-dir --profile -t --target --log-level --log-format",
    "bundle": "--gemfile",
    "conda mamba micromamba": "-n --name -p --prefix",
    "jj": "-R --repository --config --config-file --at-operation --at-op --color",
    "hg chg sl": "-R --repository --cwd --config --encoding --color",
    "svn": "--config-dir --config-option --username --password",
    "stack": "--stack-yaml --resolver --snapshot --work-dir --stack-root --docker-image --color",
    "cabal": "--config-file --project-file --store-dir",
    "opam": "--root --switch --color",
    "dune": "--root --profile --workspace --build-dir",
    "composer": "-d --working-dir",
    "nx": "--projects --parallel",
    "argocd": "--server --auth-token --config --grpc-web-root-path --kube-context",
    "flux": "-n --namespace --context --kubeconfig --timeout",
    "minikube": "-p --profile",
    "skaffold": "-c --config -v --verbosity --kubeconfig",
    "vault consul nomad": "-address -namespace -region -token -token-file",
    "task": "-d --dir -t --taskfile -o --output -C --concurrency",
    "make": "-C --directory -f --file --makefile -I --include-dir -l -o -W",
    "java": "-cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports --add-reads",
    "cmake": "-G -T -A -D -C --toolchain --log-level",
})  # fmt: skip
"""Options that take the next word and may stand in front of what says what is done, beside those in the tables."""

FLAGS = _options({
    "docker podman nerdctl": "-D --remote --tls --tlsverify --all-resources --compatibility",
    "kubectl oc": "--insecure-skip-tls-verify --warnings-as-errors --match-server-version -A --all-namespaces",
    "npm": "-s -g --global --workspaces -ws --if-present --offline --prefer-offline --ignore-scripts --foreground-scripts",
    "pnpm": "-r --recursive -w --workspace-root -s --stream --parallel --aggregate-output --if-present --offline -g",
    "yarn": "-s --offline --frozen-lockfile --immutable --json --non-interactive --production",
    "bun": "-b --bun --watch --hot --smol --if-present -g",
    "deno": "-A --watch --check --reload --locked -q",
    "cargo": "--offline --locked --frozen --workspace --all",
    "mvn mvnw": "-B -ntp --batch-mode -o --offline -U --update-snapshots -X -e --errors -am --also-make -amd "
                "--also-make-dependents -fae -ff -fn -N --non-recursive -nsu -C -c -V --show-version --fail-at-end",
    "gradle gradlew": "--daemon -i --info --stacktrace --full-stacktrace --offline --parallel --continue -S -s "
                      "--rerun-tasks --build-cache --scan --refresh-dependencies --configuration-cache -t --continuous -w -d",
    "make": "-k -s -B -n -i -r -R -w -e -j --jobs --keep-going --always-make --just-print --ignore-errors",
    "ninja": "-n",
    "terraform tofu terragrunt": "-no-color",
    "poetry": "-n --no-interaction",
    "composer": "-n",
    "systemctl": "--user --system --no-pager --global",
    "pip pip3": "--isolated --require-virtualenv",
    "uv": "--offline -n --native-tls",
    "az": "--only-show-errors",
    "jj": "--ignore-working-copy",
    "task": "-s -f --force -p --parallel",
    "just": "-n -u --unstable",
    "rake": "-t --trace -m --multitask",
    "bazel bazelisk": "--batch",
    "dbt": "--debug --fail-fast -x",
    "stack": "--system-ghc --install-ghc",
    "java": "-server -client -ea -esa -da -enableassertions --enable-preview",
})  # fmt: skip
"""Options of these places that take no word, beside those in the tables."""

ALL_FLAGS = frozenset("-q -v -vv -vvv --quiet --verbose --silent --debug --yes -y --dry-run --offline".split())
"""Options that take no word wherever they are known at all."""

HOLD_THEIR_VALUE = frozenset("mvn mvnw gradle gradlew java javaw sbt scala-cli kotlin lein ant".split())
"""Programs of which ``-D…``, ``-P…`` and ``-X…`` hold in one word all that they say."""
