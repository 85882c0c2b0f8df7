#!/bin/sh
# Starts compose.yaml's services and waits until the MLflow server answers. `make up` calls it.
# COMPOSE: the command, with project and file; run in the repository's root.
set -eu
# The image that `make images` recorded, by its digest.
recorded=$(sed -n "s/^ *mlflow: {digest: '\(sha256:[0-9a-f]*\)'.*/\1/p" docker/images.lock 2>/dev/null || true)
export MLFLOW_IMAGE="${MLFLOW_IMAGE:-${recorded:-harness-mlflow}}"
$COMPOSE up --detach
server=$($COMPOSE ps --quiet mlflow)
tries=0
until [ "$(docker inspect --format '{{.State.Health.Status}}' "$server")" = healthy ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 120 ] || [ "$(docker inspect --format '{{.RestartCount}}' "$server")" -gt 0 ]; then
        docker logs --tail 1 "$server" >&2
        $COMPOSE stop >/dev/null 2>&1
        echo "make up: the server did not start, see the line above; it is stopped" >&2
        exit 1
    fi
    sleep 1
done
echo "MLflow answers on http://$($COMPOSE port mlflow 5000)"
