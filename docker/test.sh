#!/bin/sh
# What needs Docker, from nothing: the engine, offline images, their tests. `make test-containers`.
set -eu
cd "$(dirname "$0")/.."
if ! docker info >/dev/null 2>&1; then
    if ! command -v dockerd >/dev/null || ! command -v debootstrap >/dev/null; then
        [ "$(id -u)" -eq 0 ] || { echo "test-containers: no Docker engine: start one" >&2; exit 1; }
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq docker.io debootstrap >/dev/null
    fi
    log=$(mktemp)
    dockerd >"$log" 2>&1 &
    engine=$!
    # The engine that was started here ends here.
    trap 'kill "$engine"; wait "$engine" || true' EXIT
    tries=0
    until docker info >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 60 ] || { tail "$log" >&2; exit 1; }
        sleep 1
    done
fi
python docker/build.py --offline
HARNESS_REQUIRE_DOCKER=1 python -P -m pytest tests/containers
