#!/bin/sh
# What needs Docker, from nothing: the engine, offline images, their tests. `make test-containers`.
set -eu
cd "$(dirname "$0")/.."
install() {
    [ "$(id -u)" -eq 0 ] || { echo "test-containers: install $*" >&2; exit 1; }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}
if ! docker info >/dev/null 2>&1; then
    if ! command -v dockerd >/dev/null || ! command -v debootstrap >/dev/null; then
        install docker.io debootstrap
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
docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || install docker-compose
python docker/build.py --offline
HARNESS_REQUIRE_DOCKER=1 python -P -m pytest tests/containers
