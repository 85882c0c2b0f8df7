.DEFAULT_GOAL := help

# Python 3.11, git and make are all that has to be there.
PYTHON ?= python3.11
PORT ?= 5000

BIN := .venv/bin
LOCK := requirements/full.lock
# Stamps are written last: what a killed make left has none, and is made anew.
LOCKED := .venv/full.lock
READY := .venv/ready

IS_3_11 = $(shell $(PYTHON) -c 'import sys; print(sys.version_info[:2] == (3, 11))' 2>/dev/null)
NEED_3_11 = $(if $(filter True,$(IS_3_11)),,$(error $(PYTHON) is not Python 3.11: install it, or name one with make PYTHON=/path/to/python3.11))
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The plug-in, or the older program of its own.
COMPOSE = $(if $(shell docker compose version 2>/dev/null),docker compose,docker-compose) --project-name harness --file docker/compose.yaml
COMPILE := uv pip compile --quiet --generate-hashes --python-version 3.11 $(UPGRADE)

.PHONY: help repro doctor ui test test-browser test-containers images up down lint .venv lock demo-clean clean

help:  ## show this list
	@awk -F ':.*## ' '/^[.a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' Makefile

repro: $(READY)  ## bring the benchmark that params.yaml names up to date (dvc repro)
	@PATH="$(CURDIR)/$(BIN):$$PATH" harness doctor --brief
	PATH="$(CURDIR)/$(BIN):$$PATH" dvc repro

doctor: $(READY)  ## say what this machine lacks for that benchmark
	@PATH="$(CURDIR)/$(BIN):$$PATH" harness doctor

ui: $(READY)  ## show the runs in the MLflow UI on 127.0.0.1, port 5000 (PORT=)
	@env -u MLFLOW_TRACKING_URI $(BIN)/harness track check
	MLFLOW_DISABLE_TELEMETRY=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false \
	$(BIN)/mlflow server --host 127.0.0.1 --port $(PORT) --workers 1 \
		--backend-store-uri sqlite:///mlruns/mlflow.db --default-artifact-root mlruns/artifacts

test: $(READY)  ## run the whole suite: style and types, the torch-free part alone, everything
	$(BIN)/tox run

test-browser: $(READY)  ## what needs a browser: installs Chromium (as root), opens the report in it
	PATH="$(CURDIR)/$(BIN):$$PATH" sh tests/browser/run.sh

test-containers: $(READY)  ## what needs Docker: installs, starts and builds it offline (as root)
	PATH="$(CURDIR)/$(BIN):$$PATH" sh docker/test.sh

images: $(READY)  ## build the images (OFFLINE=1: on Debian packages; else BASE=IMAGE@sha256:…; IMAGES=)
	@$(BIN)/python docker/build.py $(if $(OFFLINE),--offline) $(if $(BASE),--base "$(BASE)") $(IMAGES)

up:  ## start the MLflow server of docker/compose.yaml (needs its image, and docker/.env)
	@COMPOSE="$(COMPOSE)" sh docker/up.sh

# No password is needed to stop, and what any profile started stops.
down:  ## stop it; runs and artifacts stay
	@MLFLOW_AUTH_ADMIN_PASSWORD=- COMPOSE_PROFILES=postgres,gpu $(COMPOSE) down

lint: $(READY)  ## check style and types
	$(BIN)/tox run -e lint

.venv: $(READY)  ## make the environment, about 6 GB (PYTHON=)

lock:  ## pin the packages of requirements/*.in (UPGRADE=--upgrade: to new releases)
	$(NEED_3_11)tools=$$(mktemp -d) && trap 'rm -rf "$$tools"' EXIT && \
	$(PYTHON) -m venv "$$tools" && "$$tools/bin/python" -m pip install --quiet uv && \
	export PATH="$$tools/bin:$$PATH" UV_CUSTOM_COMPILE_COMMAND='make lock' && cd requirements && \
	$(COMPILE) full.in -o full.lock && \
	$(COMPILE) light.in -c full.lock -o light.lock && \
	$(COMPILE) light-test.in -c full.lock -o light-test.lock && \
	$(COMPILE) lint.in -c full.lock -o lint.lock && \
	$(COMPILE) fuzz.in -c full.lock -o fuzz.lock && \
	$(COMPILE) verifier.in -c full.lock -o verifier.lock && \
	$(COMPILE) anonymizer-b2.in -c full.lock -o anonymizer-b2.lock && \
	$(COMPILE) attacker.in -c full.lock -o attacker.lock && \
	$(COMPILE) mlflow.in -c full.lock -o mlflow.lock && \
	$(COMPILE) attacker-vpc2024.in -o attacker-vpc2024.lock

demo-clean:  ## delete what the demo benchmark made (its tables and DVC's cache stay)
	rm -rf data/demo models/demo results/demo/scores results/demo/eer .work/*demo* .work/voices-* .work/anonymize-*

clean:  ## delete build and test leftovers (.venv, data, models and results stay)
	rm -rf .tox build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find harness tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# A lock that was touched but says the same is no reason to install it all again. The stamps go
# before anything else does, so half an environment never has one.
$(LOCKED): $(LOCK)
	$(NEED_3_11)@cmp -s $(LOCK) $@ && touch $@ || { set -ex; \
		rm -f $(LOCKED) $(READY); \
		$(PYTHON) -m venv --clear .venv; \
		$(PIP_INSTALL) --require-hashes -r $(LOCK); \
		cp $(LOCK) $@; }

$(READY): $(LOCKED) pyproject.toml harness/__init__.py
	$(PIP_INSTALL) --no-deps --no-build-isolation -e .
	rm -rf build *.egg-info  # a stale one would hide the entry points of the installed package
	touch $@
