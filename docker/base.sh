#!/bin/sh
# A base image from Debian's packages alone, for machines that reach no registry: prints its id.
# usage: base.sh [MIRROR [IMAGE PACKAGES]]; needs root, debootstrap and a Docker engine.
set -eu
image=${2:-harness-base:bookworm}
packages=${3:-python3,python3-venv}
mirror=${1:-$(sed -n 's/^URIs: *//p; s/^deb \([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -1)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
debootstrap --variant=minbase "--include=$packages" bookworm "$work/root" "$mirror" >&2
# What differs from build to build, and what no container needs.
rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/* "$work"/root/var/log/* \
    "$work"/root/usr/share/doc "$work"/root/usr/share/man "$work"/root/usr/share/locale \
    "$work"/root/var/cache/ldconfig/aux-cache "$work"/root/etc/apt/sources.list "$work"/root/etc/resolv.conf \
    "$work"/root/etc/hostname
find "$work/root" -name '__pycache__' -prune -exec rm -rf {} +
tar --sort=name --numeric-owner --mtime=@0 -C "$work/root" -c . | docker import - "$image"
