#!/bin/sh
# Builds harness-anonymizer-vpc:SYSTEM from files that the user brings; run it in the repository's
# root with the environment of `make .venv`.
# usage: build.sh B1|B1.a|B1.b|B3|B4|B5|B6 FOLDER BASE_IMAGE [NAME, instead of harness-anonymizer-vpc]
# Exit status: docker/inputs.py's where an input is at fault, else the build's.
set -eu
system=$1 folder=$2 base=$3 name=${4:-harness-anonymizer-vpc}
here=docker/anonymizer-vpc
names=$(python docker/inputs.py check "$here/inputs.lock" "$folder" --system "$system")
case "$system" in B1*) edition=2022 seeding= ;; *) edition=2024 seeding=seeding ;; esac
# Gigabytes go to the engine as they lie, without a copy.
tar -c --exclude __pycache__ -C "$here" "$edition.Dockerfile" anonymize.py systems.py $seeding \
    -C "$(realpath "$folder")" $names |
    docker build --network none --file "$edition.Dockerfile" \
        --tag "$name:$(echo "$system" | tr B b)" \
        --build-arg "BASE_IMAGE=$base" --build-arg "SYSTEM=$system" -
