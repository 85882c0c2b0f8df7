"""Builds the images; `make images` calls it.

usage: python docker/build.py --offline|--base IMAGE@sha256:… [IMAGE ...]

Everything that goes into an image is downloaded first, by hash, on the host: the build itself has
no network. `--offline` builds on a base made from Debian packages (base.sh), for machines that
reach no registry. images.lock records what was built: the digest of each image, of its base, and
of its lock file.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "docker"
LOCK = HERE / "images.lock"
OFFLINE_BASE = "harness-base:bookworm"
# Image to the lock of what it holds.
IMAGES = {"verifier": "verifier", "anonymizer-b2": "anonymizer-b2"}


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def offline_base() -> str:
    """The digest of the base made from Debian packages; it is made where it is missing."""
    if not run("docker", "images", "--quiet", OFFLINE_BASE):
        run("sh", HERE / "base.sh")
    return digest(OFFLINE_BASE)


def digest(image: str) -> str:
    return run("docker", "image", "inspect", "--format", "{{.Id}}", image)


def build(name: str, base: str) -> tuple[str, str]:
    """Build one image; its digest, and the hash of its lock file."""
    lock = ROOT / "requirements" / f"{IMAGES[name]}.lock"
    lock_hash = hashlib.sha256(lock.read_bytes()).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        context = Path(folder)
        shutil.copy(HERE / name / "Dockerfile", context)
        shutil.copy(lock, context)
        pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
        wheels = context / "wheels"
        run(*pip, "download", "--require-hashes", "--only-binary=:all:", "-r", lock, "-d", wheels)
        run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, ROOT)
        revision = run("git", "rev-parse", "HEAD")
        run(
            *("docker", "build", "--network", "none", "--tag", f"harness-{name}"),
            *("--build-arg", f"BASE_IMAGE={base}", "--build-arg", f"BASE_DIGEST={base}"),
            *("--build-arg", f"REVISION={revision}", "--build-arg", f"LOCK_SHA256={lock_hash}"),
            context,
        )
    return digest(f"harness-{name}"), lock_hash


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", nargs="*", default=list(IMAGES), metavar="IMAGE")
    bases = parser.add_mutually_exclusive_group(required=True)
    bases.add_argument("--offline", action="store_true", help="on a base made from Debian packages")
    bases.add_argument("--base", metavar="IMAGE@sha256:…", help="with Python 3.11 as python3.11")
    arguments = parser.parse_args()
    if arguments.base is not None and "@sha256:" not in arguments.base:
        parser.error("name the base by its digest: IMAGE@sha256:…")
    base = offline_base() if arguments.offline else arguments.base
    known = yaml.safe_load(LOCK.read_text(encoding="utf-8")) if LOCK.exists() else {}
    # What was built on another base is not what this lock speaks of.
    built = {name: known[name] for name in IMAGES if name in known and known["base"] == base}
    for name in arguments.images:
        image, lock_hash = build(name, base)
        built[name] = {"digest": image, "lock_sha256": lock_hash}
        print(f"harness-{name} {image}")
    text = yaml.safe_dump({"base": base, **dict(sorted(built.items()))}, sort_keys=False)
    LOCK.write_text(f"# Written by docker/build.py.\n{text}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
