#!/bin/sh
# Builds harness-anonymizer-vpc2024:SYSTEM from files that the user brings; run it in the
# repository's root with the environment of `make .venv`.
# usage: build.sh B3|B4|B5|B6 FOLDER BASE_IMAGE
# Exit status: docker/inputs.py's where an input is at fault, else the build's.
set -eu
system=$1 folder=$2 base=$3
here=docker/anonymizer-vpc2024
names=$(python docker/inputs.py check "$here/inputs.lock" "$folder" --system "$system")
# Gigabytes go to the engine as they lie, without a copy.
tar -c --exclude __pycache__ -C "$here" Dockerfile anonymize.py seeding -C "$(realpath "$folder")" $names |
    docker build --network none --tag "harness-anonymizer-vpc2024:$(echo "$system" | tr B b)" \
        --build-arg "BASE_IMAGE=$base" --build-arg "SYSTEM=$system" -
