"""Training of the ECAPA attacker with SpeechBrain's Brain and Checkpointer.

Killed at any moment and started again, it ends with the same weights bit for bit on the same CPU:
every batch is a pure function of seed, epoch and step, random state is set anew before each step,
and a checkpoint appears under its name only when it is whole.
"""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import speechbrain as sb
import torch
from speechbrain.core import Stage
from speechbrain.lobes.models.ECAPA_TDNN import Classifier
from speechbrain.nnet.losses import AdditiveAngularMargin, LogSoftmaxWrapper
from speechbrain.nnet.schedulers import CyclicLRScheduler
from speechbrain.utils.checkpoints import (
    Checkpointer,
    mark_as_loader,
    mark_as_saver,
    register_checkpoint_hooks,
)
from speechbrain.utils.epoch_loop import EpochCounter
from torch.utils.data import DataLoader

from harness.attackers.base import Machine
from harness.attackers.ecapa.data import Batches, Crops, split
from harness.attackers.ecapa.model import Embedder, prepare, write_model
from harness.attackers.ecapa.settings import Settings
from harness.corpora.opaque import Speech
from harness.errors import DataError, ResourceError, TrainingError
from harness.runtime.events import Events
from harness.runtime.files import disk_errors, fsync_folder, require_space
from harness.runtime.seeds import derived_seed

UNFINISHED = "unfinished"
# At most at once: of the last epoch, of the best, of the last steps, and the one being written.
CHECKPOINTS = 4
# Of a weight in a checkpoint: itself and Adam's two moments.
VALUES_A_WEIGHT = 3


@contextmanager
def checkpoint_errors(folder: Path) -> Iterator[None]:
    """`disk_errors`, also for torch's writer, which does not say why the system refused."""
    try:
        with disk_errors(folder):
            yield
    except RuntimeError as error:
        if "inline_container" not in str(error):
            raise
        raise ResourceError(
            "a checkpoint does not fit on the disk or is larger than `ulimit -f` allows",
            where=folder,
            fix="free some space or raise the limit, and run again",
        ) from error


class WholeCheckpointer(Checkpointer):
    """SpeechBrain's checkpointer, whose checkpoints are either absent or whole.

    The original writes the file that marks a folder as a checkpoint before the parameters.
    """

    checkpoints_dir: Path

    def save_checkpoint(self, *arguments: Any, **keywords: Any) -> Any:
        """Build the checkpoint in a subfolder that recovery ignores, then rename it.

        Raises ResourceError when the disk does not take it.
        """
        with checkpoint_errors(self.checkpoints_dir):
            return self._save_whole(*arguments, **keywords)

    def _save_whole(self, *arguments: Any, **keywords: Any) -> Any:
        final = self.checkpoints_dir
        building = final / UNFINISHED
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        self.checkpoints_dir = building
        try:
            # The default name has seconds and avoids only the names it can see.
            keywords["name"] = keywords.get("name") or str(time.time_ns())
            saved = super().save_checkpoint(*arguments, **keywords)
        finally:
            self.checkpoints_dir = final
        for path in saved.path.iterdir():
            with path.open("rb+") as stream:
                os.fsync(stream.fileno())
        target = final / saved.path.name
        saved.path.replace(target)
        fsync_folder(final)
        return saved._replace(
            path=target,
            paramfiles={name: target / file.name for name, file in saved.paramfiles.items()},
        )


@register_checkpoint_hooks
class History:
    """Metrics of the epochs that are done; part of every checkpoint."""

    def __init__(self) -> None:
        self.epochs: list[dict[str, float]] = []

    @mark_as_saver
    def _save(self, path: Path) -> None:
        Path(path).write_text(json.dumps(self.epochs), encoding="utf-8")

    @mark_as_loader
    def _load(self, path: Path, end_of_epoch: bool, device: object = None) -> None:
        self.epochs = json.loads(Path(path).read_text(encoding="utf-8"))


class SpeakerBrain(sb.Brain):  # type: ignore[misc]
    """Trains the embedder and a speaker classifier on crops."""

    settings: Settings
    seed: int
    batches: Batches
    history: History
    events: Events
    scheduler: CyclicLRScheduler
    loss: LogSoftmaxWrapper
    epochs: EpochCounter

    def on_fit_start(self) -> None:
        """Resume, and tell again what the resumed epochs had told."""
        super().on_fit_start()
        for number, metrics in enumerate(self.history.epochs, start=1):
            self._tell(number, metrics)

    def on_stage_start(self, stage: Stage, epoch: int | None = None) -> None:
        """Order the batches of this epoch, after those an interrupted run has done."""
        self._errors = 0
        self._seen = 0
        if stage == Stage.TRAIN:
            self.batches.epoch = epoch or 0
            self.batches.start = self.step

    def fit_batch(self, batch: Any) -> torch.Tensor:
        """Make every random number of a step depend on the place of the step alone."""
        torch.manual_seed(derived_seed(self.seed, "step", self.batches.epoch, self.step))
        return super().fit_batch(batch)

    def compute_forward(self, batch: Any, stage: Stage) -> torch.Tensor:
        """Cosines to the speakers, shape (batch, 1, speakers)."""
        waveforms, _ = batch
        embeddings = self.modules.embedder(waveforms.to(self.device))
        return self.modules.classifier(embeddings.unsqueeze(1))

    def compute_objectives(
        self, predictions: torch.Tensor, batch: Any, stage: Stage
    ) -> torch.Tensor:
        """Additive-angular-margin loss."""
        labels = batch[1].to(self.device).unsqueeze(1)
        if stage != Stage.TRAIN:
            self._errors += int((predictions.argmax(-1) != labels).sum())
            self._seen += len(labels)
        loss = self.loss(predictions, labels)
        # Stop at once: a network that met a NaN does not recover.
        if stage == Stage.TRAIN and not torch.isfinite(loss):
            raise TrainingError(
                f"the loss is {float(loss)}",
                where=f"epoch {self.batches.epoch}, step {self.step}",
                fix="lower max_lr",
            )
        return loss

    def on_fit_batch_end(
        self, batch: Any, outputs: Any, loss: torch.Tensor, should_step: bool
    ) -> None:
        """Move the learning rate; show progress."""
        self.scheduler.on_batch_end(self.optimizer)
        steps = len(self.batches)
        self.events.progress(
            "train",
            (self.batches.epoch - 1) * steps + self.step,
            self.settings.epochs * steps,
            "steps",
        )

    def on_stage_end(self, stage: Stage, stage_loss: float, epoch: int | None = None) -> None:
        """Tell the epoch's metrics and write its checkpoint."""
        if stage == Stage.TRAIN:
            rate = self.optimizer.param_groups[0]["lr"]
            self._metrics = {"train_loss": float(stage_loss), "learning_rate": float(rate)}
            if self.settings.validation_fraction:
                return
            self.step, self.avg_train_loss = 0, 0.0
        else:
            self._metrics["validation_loss"] = float(stage_loss)
            self._metrics["validation_error"] = self._errors / self._seen
        self.history.epochs.append(self._metrics)
        self._tell(len(self.history.epochs), self._metrics)
        self.checkpointer.save_and_keep_only(
            meta={
                "error": self._metrics.get("validation_error", 0.0),
                "epoch": len(self.history.epochs),
            },
            min_keys=["error"],
            verbosity=logging.DEBUG,
        )

    def _tell(self, epoch: int, metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            self.events.emit("metric", name=name, value=value, step=epoch)


def require_checkpoint_space(work: Path, *networks: torch.nn.Module) -> None:
    """Raise ResourceError when the checkpoints of a training, less those there, do not fit."""
    tensors = (tensor for network in networks for tensor in network.state_dict().values())
    weights = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    present = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    require_space(work, max(0, weights * VALUES_A_WEIGHT * CHECKPOINTS - present))


def train(
    settings: Settings,
    speech: Speech,
    model: Path,
    *,
    seed: int,
    work: Path,
    machine: Machine,
    events: Events,
) -> None:
    """Train on labelled speech and write the model. See `Attacker.train`."""
    device = prepare(machine, seed)
    data = split(speech, settings, seed)
    batches = Batches(len(data.training), settings.batch_size, seed, shuffle=True)
    if settings.epochs and not len(batches):
        raise DataError(
            f"{len(data.training)} training utterances do not make a batch",
            where="training set",
            fix="give more speech or a smaller batch_size",
        )
    embedder = Embedder(settings)
    classifier = Classifier(
        input_size=settings.embedding_dim,
        lin_neurons=settings.embedding_dim,
        out_neurons=data.speakers,
    )
    facts: dict[str, Any] = {"speakers": data.speakers, "utterances": len(data.training)}
    if settings.epochs:
        require_checkpoint_space(work, embedder.network, classifier)
        scheduler = CyclicLRScheduler(
            base_lr=settings.min_lr, max_lr=settings.max_lr, step_size=settings.step_size
        )
        counter, history = EpochCounter(settings.epochs), History()
        checkpointer = WholeCheckpointer(
            work / "checkpoints",
            recoverables={
                "embedder": embedder.network,
                "classifier": classifier,
                "scheduler": scheduler,
                "counter": counter,
                "history": history,
            },
        )
        with warnings.catch_warnings():
            # SpeechBrain's defaults meet newer torch; nothing here depends on them.
            warnings.filterwarnings("ignore", category=FutureWarning, module="speechbrain")
            brain = SpeakerBrain(
                modules={"embedder": embedder, "classifier": classifier},
                opt_class=lambda parameters: torch.optim.Adam(
                    parameters, lr=settings.min_lr, weight_decay=settings.weight_decay
                ),
                run_opts={
                    "device": str(device),
                    "noprogressbar": True,
                    "ckpt_interval_minutes": 0,
                    "ckpt_interval_steps": settings.checkpoint_steps,
                    # The official recipe's SpeechBrain, 0.5.16, limits the norm of gradients before
                    # it has computed them, which limits nothing; later ones would limit it to 5.
                    "max_grad_norm": math.inf,
                },
                checkpointer=checkpointer,
            )
        brain.settings, brain.seed, brain.batches = settings, seed, batches
        brain.history, brain.events, brain.scheduler = history, events, scheduler
        brain.loss = LogSoftmaxWrapper(AdditiveAngularMargin(settings.margin, settings.scale))
        loaders = {"num_workers": settings.loader_workers}
        held_out = Batches(len(data.validation), settings.batch_size, seed, shuffle=False)
        brain.fit(
            counter,
            DataLoader(Crops(data.training, settings, seed), batch_sampler=batches, **loaders),
            DataLoader(Crops(data.validation, settings, seed), batch_sampler=held_out, **loaders)
            if data.validation
            else None,
            progressbar=False,
        )
        facts["epoch"] = settings.epochs
        if settings.keep == "best":
            # Of several equally good epochs this is the last.
            facts["epoch"] = checkpointer.recover_if_possible(min_key="error").meta["epoch"]
    write_model(model, settings, embedder, facts)
