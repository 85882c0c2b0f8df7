# B3, B4, B5 or B6 of the 2024 challenge, in its own code, by docs/contracts.md. build.sh calls it.
#
# NOT TRIED: neither the challenge's code nor a weight could be had by its authors. Tried
# were the check of the inputs, and, for B3 and B5, this file and anonymize.py with stand-ins for
# run_anonymization.py and the packages. Not known are: whether the packages install from wheels
# alone; whether a copy of the hub's folder is enough without a network; whether B4's order of voices,
# which follows the file system, repeats; whether B4 and B5 give the same bytes twice on a GPU.
# `harness conformance anonymizer` tells.
# The base has python3.11; for B3 also espeak-ng.
ARG BASE_IMAGE
FROM ${BASE_IMAGE} AS build
ARG SYSTEM
COPY . /inputs
WORKDIR /opt/vpc/upstream
RUN case "$SYSTEM" in B3) pipeline=sttts ;; B4) pipeline=nac ;; B5|B6) pipeline=asrbn ;; *) exit 1 ;; esac \
 && tar -xzf /inputs/voice-privacy-challenge-2024.tar.gz --strip-components 1 \
 && mkdir /wheels exp && tar -xf /inputs/wheels.tar -C /wheels \
 && python3.11 -m venv /opt/vpc/venv \
 && if [ "$SYSTEM" = B4 ]; then \
        mkdir -p anonymization/modules/nac/coqui_tts \
        && tar -xzf /inputs/nac-requirements.tar.gz --strip-components 1 -C anonymization/modules/nac/coqui_tts \
        && packages=anonymization/modules/nac/coqui_tts; \
    else packages="--requirement anonymization/pipelines/$pipeline/requirements.txt"; fi \
 && /opt/vpc/venv/bin/pip install --no-index --find-links /wheels torch==2.0.1 torchaudio==2.0.2 \
        --requirement requirements.txt $packages
RUN unpack() { mkdir -p "$2" && python3.11 -m zipfile -e "/inputs/$1" "$2"; } \
 && case "$SYSTEM" in \
    B3) for name in anonymization asr tts; do unpack "$name.zip" exp/sttts_models; done ;; \
    B4) unpack nac_speaker_mappings.zip exp/nac_mappings && tar -xf /inputs/nac_models.tar -C exp ;; \
    B5) mkdir /opt/vpc/torch && tar -xf /inputs/torch-hub-b5.tar -C /opt/vpc/torch ;; \
    B6) mkdir /opt/vpc/torch && tar -xf /inputs/torch-hub-b6.tar -C /opt/vpc/torch ;; \
    esac
# What the install scripts leave, so that they find nothing to fetch at each run.
RUN touch env.sh .done-sttts-requirements .done-espeak .done-nac-requirements .done-asrbn-requirements \
 && for name in asrbn nac; do \
        script=anonymization/pipelines/$name/install.sh \
        && sha256sum "$script" | cut -d " " -f 1 > ".install-hash-$(echo $name | tr a-z A-Z)"; done

FROM ${BASE_IMAGE}
ARG SYSTEM
LABEL org.opencontainers.image.title="anonymization-harness anonymizer-vpc ${SYSTEM}"
COPY --from=build /opt/vpc /opt/vpc
COPY anonymize.py systems.py /opt/vpc/
COPY seeding /opt/vpc/seeding
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 VPC_SYSTEM=${SYSTEM}
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["/opt/vpc/venv/bin/python", "/opt/vpc/anonymize.py"]
