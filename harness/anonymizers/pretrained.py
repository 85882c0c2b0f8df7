"""Models of the package transformers from local folders, and torch made repeatable for them.

A folder is a stranger's: of it only JSON and safetensors are read, nothing is unpickled or run; and
nothing is downloaded. The entry of params.yaml that names it gives its hash too, so that the entry
determines what comes out.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pickle import UnpicklingError
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from harness.errors import ConfigError, IntegrityError
from harness.runtime.files import sha256_bytes, sha256_file

FIX = "pip install 'anonymization-harness[neural]'"
WEIGHTS = "model.safetensors"


@runtime_checkable
class Pinned(Protocol):
    """One that can need files of the user's, each set of them pinned by a hash in its entry."""

    def require_files(self) -> None:
        """Look whether they are there, and those of the hash, before any work.

        Raises ConfigError for what is missing, the hash included, IntegrityError for other files.
        """
        ...


def package(name: str, where: str, fix: str = FIX) -> ModuleType:
    """An installed package. where, fix: of the ConfigError that it raises without it."""
    # Not at the top of any module: parameters of anonymizers are checked without these packages.
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        what = f"the module {error.name} is not installed"
        raise ConfigError(what, where=where, fix=fix) from error


def require_folder(folder: str, where: str, fix: str) -> None:
    """Raises ConfigError unless there is such a folder."""
    if not Path(folder).is_dir():
        raise ConfigError(f"no folder {folder}", where=where, fix=fix)


def require_files(folder: str, files: Sequence[str], where: str) -> None:
    """Raises ConfigError, with the names of all that it lacks, unless the folder has the files."""
    fix = f"put a model there, with {', '.join(files)}"
    require_folder(folder, where, fix)
    absent = [name for name in files if not (Path(folder) / name).is_file()]
    if absent:
        raise ConfigError(f"{folder} lacks {', '.join(absent)}", where=where, fix=fix)


def require_pinned(
    folder: str, files: tuple[str, ...], sha256: str | None, parameter: str, where: str
) -> None:
    """Raises IntegrityError unless the files are those of the hash, ConfigError for missing ones.

    sha256: of what the program sha256sum says of the files, in this order; ConfigError, with the
    command, for what is no hash. parameter: its name.
    """
    require_files(folder, files, where)
    if sha256 is None or not re.fullmatch(r"[0-9a-f]{64}", sha256):
        what = f"{parameter} is {'missing' if sha256 is None else repr(sha256)}"
        command = f"cd {shlex.quote(folder)} && sha256sum {shlex.join(files)} | sha256sum"
        raise ConfigError(what, where=where, fix=f"give the first word that `{command}` prints")
    found = _hash_of(folder, files)
    if found != sha256:
        what = f"the sha256 of {folder} is {found}, not {sha256}"
        fix = "put the weights back, or write that hash into params.yaml if you trust them"
        raise IntegrityError(what, where=where, fix=fix)


# Once a process: weights are gigabytes.
@lru_cache(maxsize=8)
def _hash_of(folder: str, files: tuple[str, ...]) -> str:
    lines = [f"{sha256_file(Path(folder) / name)}  {name}\n" for name in files]
    return sha256_bytes("".join(lines).encode())


def unusable_errors() -> tuple[type[Exception], ...]:
    """What torch and transformers raise for files that are damaged, or another model's.

    transformers must be installed.
    """
    from huggingface_hub.errors import StrictDataclassError

    return (
        ArithmeticError,
        AttributeError,
        EOFError,
        # A configuration can ask for a package, such as one for attention.
        ImportError,
        LookupError,
        OSError,
        RuntimeError,
        StrictDataclassError,
        TypeError,
        UnpicklingError,
        ValueError,
    )


def load(kind: str, folder: str, files: Sequence[str], where: str, **options: Any) -> Any:
    """An object of a class of transformers, from these files of a folder.

    It sees no other file there: one that is not pinned could change what it is. Raises ConfigError
    where they are not what the class stores.
    """
    transformers = package("transformers", where)
    from safetensors import SafetensorError

    # What it would write to the terminal is either an error below or of no consequence.
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        with tempfile.TemporaryDirectory() as alone:
            for name in files:
                Path(alone, name).symlink_to(Path(folder, name).resolve())
            return getattr(transformers, kind).from_pretrained(
                alone, local_files_only=True, **options
            )
    except SafetensorError as error:
        raise _unusable(kind, folder, where, f"{WEIGHTS}: {error}") from error
    except unusable_errors() as error:
        raise _unusable(kind, folder, where, str(error)) from error


def load_model(
    kind: str, folder: str, files: Sequence[str], where: str, device: str, **options: Any
) -> Any:
    """A model in 32 bits on a device that torch names so, ready for inference. Raises as `load`.

    options: what config.json has otherwise.
    """
    torch = package("torch", where)
    with repeatable(0, "cpu"):
        model, told = load(
            kind,
            folder,
            files,
            where,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
            **options,
        )
    # They would be drawn at random.
    missing = sorted(told["missing_keys"])
    if missing:
        what = f"{WEIGHTS} lacks {len(missing)} tensors, such as {missing[0]}"
        raise _unusable(kind, folder, where, what)
    return model.to(device).eval()


def _unusable(kind: str, folder: str, where: str, why: str) -> ConfigError:
    what = f"{folder} holds no usable {kind}: {why[:300]}"
    return ConfigError(what, where=where, fix="put a whole model there, as transformers stores it")


@contextmanager
def repeatable(seed: int, device: str) -> Iterator[None]:
    """Inference with torch whose noise follows from a 63-bit seed.

    On a CPU it takes one thread, so that it does not depend on their number. Generators and
    settings of this process are as before when the context ends.
    """
    import torch

    threads = torch.get_num_threads()
    # Encoders of transformers draw from numpy where nothing comes of it.
    state = np.random.get_state()
    on_gpu = device != "cpu"
    torch.set_num_threads(1)
    try:
        with (
            torch.no_grad(),
            torch.random.fork_rng(devices=[device] if on_gpu else []),
            torch.backends.cudnn.flags(
                enabled=True, benchmark=False, deterministic=True, allow_tf32=False
            ),
        ):
            torch.default_generator.manual_seed(seed)
            if on_gpu:
                torch.cuda.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)
        np.random.set_state(state)
