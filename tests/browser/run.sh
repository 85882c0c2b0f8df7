#!/bin/sh
# What needs a browser, from nothing: Chromium and its driver, then the tests. `make test-browser`.
set -eu
cd "$(dirname "$0")/../.."
# pdftotext reads what was printed.
if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null ||
    ! command -v pdftotext >/dev/null; then
    packages="chromium chromium-driver poppler-utils"
    [ "$(id -u)" -eq 0 ] || { echo "test-browser: install $packages" >&2; exit 1; }
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi
HARNESS_REQUIRE_BROWSER=1 python -P -m pytest tests/browser
