#!/bin/sh
# Builds dist/countersign.vsix. It carries the server as a wheel and the hashed lock of what the server needs, from which the
# extension makes its private Python environment at first start. Fetches nothing.
set -eu
cd "$(dirname "$0")/.."

rm -rf client-ts/server dist/countersign.vsix
mkdir -p client-ts/server dist
.venv/bin/python -m hatchling build --target wheel --directory client-ts/server
cp requirements/run.txt client-ts/server/requirements.txt
cp LICENSE client-ts/LICENSE
cp CHANGELOG.md client-ts/CHANGELOG.md

cd client-ts
npm run --silent build
# Everything is bundled by then, so no node_modules go along.
../.venv/bin/python ../scripts/with_address.py node_modules/.bin/vsce package --no-dependencies \
    --allow-missing-repository --no-rewrite-relative-links --out ../dist/countersign.vsix </dev/null
