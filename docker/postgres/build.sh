#!/bin/sh
# Builds harness-postgres. usage: build.sh [MIRROR]; needs what base.sh needs.
set -eu
cd "$(dirname "$0")"
base=$(sh ../base.sh "${1:-}" harness-postgres-base:bookworm postgresql-15)
docker build --network none --tag harness-postgres --build-arg "BASE_IMAGE=$base" .
