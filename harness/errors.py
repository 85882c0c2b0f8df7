"""The one exception tree.

    HarnessError
    ├── ConfigError      params.yaml, a protocol file, an environment variable, a command's argument
    ├── DataError        speech or lists that are not what the protocol says
    │   ├── AudioError   a file that cannot be decoded, or holds nothing usable
    │   ├── ListError    trials, enrolments, Kaldi files
    │   └── ScoreError   scores that cannot be scored
    ├── SubmissionError  an archive or a file of a stranger that is not to be trusted, or not read
    ├── IntegrityError   stored bytes that do not have their recorded hash
    ├── TrainingError    a training that cannot go on
    ├── ResourceError    disk, memory, permissions
    ├── ContainerError   the container engine, an image, or what a container left
    └── TrackingError    the MLflow store

Every message is one line that says what is wrong, where, and what to do about it.
"""

from __future__ import annotations


class HarnessError(Exception):
    """Root of all errors that a user can mend; printed as one line, exit status 1.

    what: the fault, in one clause.
    where: file, line, parameter or utterance, if there is one.
    fix: what to do about it.
    """

    def __init__(self, what: str, *, where: object = None, fix: str | None = None) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.fix = fix
        message = what if self.where is None else f"{self.where}: {what}"
        if fix is not None:
            message = f"{message}; {fix}"
        super().__init__(" ".join(message.split()))


class ConfigError(HarnessError):
    """A setting is unknown, missing, or out of range."""


class DataError(HarnessError):
    """Speech or lists differ from what the protocol says."""


class AudioError(DataError):
    """An audio file cannot be decoded or holds nothing usable."""


class ListError(DataError):
    """A trial list, enrolment list or Kaldi file is malformed."""


class ScoreError(DataError):
    """Scores that no error rate can be computed from."""


class SubmissionError(HarnessError):
    """A stranger's archive or file is refused. code: the check that names the fault."""

    def __init__(
        self, what: str, *, code: str, where: object = None, fix: str | None = None
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.code = code


class IntegrityError(HarnessError):
    """Stored bytes do not have their recorded hash."""


class TrainingError(HarnessError):
    """A training diverged or cannot go on."""


class ResourceError(HarnessError):
    """The machine lacks disk, memory or a permission."""


class ContainerError(HarnessError):
    """The container engine, an image, or what a container left is not as it has to be."""


class TrackingError(HarnessError):
    """The MLflow store cannot be reached or written."""
