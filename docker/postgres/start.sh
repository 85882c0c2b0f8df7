#!/bin/sh
# Makes the database once, then serves it. Variables as in the official image.
set -eu
: "${POSTGRES_PASSWORD:?give it in docker/.env}"
data=/var/lib/postgresql/data/15
if [ ! -d "$data" ]; then
    # Made aside and renamed: one that was killed on the way is made anew.
    part=$data.part
    rm -rf "$part"
    umask 077
    printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
    initdb --pgdata "$part" --username "$POSTGRES_USER" --pwfile /tmp/password \
        --auth scram-sha-256 --encoding UTF8 --locale C.UTF-8 >/dev/null
    rm /tmp/password
    echo "host all all all scram-sha-256" >>"$part/pg_hba.conf"
    echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$part" postgres >/dev/null
    mv "$part" "$data"
fi
exec postgres -D "$data" -c listen_addresses='*'
