#!/bin/sh
# Writes the locks in requirements/ anew from pyproject.toml: every package with the hashes of all its files, for every
# platform and Python from 3.11, and with no word of where a package comes from. Versions stay where they are unless
# asked otherwise:  make lock  ·  make lock UPGRADE=1
set -eu
cd "$(dirname "$0")/.."

upgrade=${UPGRADE:+--upgrade}

compile() { # compile <lock> <uv's arguments…>
    lock=$1
    shift
    .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-emit-index-url --no-emit-find-links $upgrade --output-file "requirements/$lock" "$@"
}

compile run.txt pyproject.toml
# What ships and what is tested are the same versions, and the uv that syncs is the uv that is locked.
compile dev.txt pyproject.toml --group dev --constraints requirements/run.txt
echo uv | compile bootstrap.txt - --constraints requirements/dev.txt

# Away from node_modules: with them beside it, npm locks only what it finds installed, which is this platform's share.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for package in client-ts scripts/tools tests/e2e tests/bench/gemini tests/bench/sandbox_runtime $(ls -d tests/agents/*/package.json | xargs -n 1 dirname); do
    mkdir -p "$scratch/$package"
    cp "$package/package.json" "$package/.npmrc" "$scratch/$package"
    [ -n "$upgrade" ] || [ ! -f "$package/package-lock.json" ] || cp "$package/package-lock.json" "$scratch/$package"
    (cd "$scratch/$package" && npm install --package-lock-only --loglevel=error)
    # npm leaves out, without a word, what a registry does not have for some platform, and then refuses its own lock.
    (cd "$scratch/$package" && npm ci --dry-run --silent >/dev/null 2>&1) || {
        echo "lock: \`npm ci\` would refuse the lock of $package; is each of its packages there for every platform?" >&2
        exit 1
    }
    cp "$scratch/$package/package-lock.json" "$package/package-lock.json"
done
