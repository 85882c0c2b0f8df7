# B1, B1.a or B1.b in the code of the 2022 challenge, by docs/contracts.md. build.sh calls it.
#
# NOT TRIED: neither the challenge's code, nor its models, nor a build of Kaldi and CURRENNT could be
# had by its authors. How the code is run was read in its repository, in versions around
# d72b50c, few of them that one. Tried were the check of the inputs, and, for B1.a and B1.b, this file
# and anonymize.py with a stand-in for anonymize_data_dir.sh. Not known are: whether what install.sh
# leaves works behind links; whether the code writes elsewhere than to baseline and nii_pytorch, or
# executes what it wrote, which /tmp forbids; whether B1.a works without a GPU; whether B1 and B1.b
# give the same bytes twice on a GPU, for which the code turns cuDNN's determinism off.
# `harness conformance anonymizer` tells.
#
# It is not quite the baseline: see `departures` in systems.py.
# The base has python3.11, bash, perl, and the libraries that Kaldi was built with.
ARG BASE_IMAGE
FROM ${BASE_IMAGE} AS build
ARG SYSTEM
COPY . /inputs
WORKDIR /opt/vpc/upstream
RUN case "$SYSTEM" in B1.a) models="3_ss_am 4_nsf" ;; B1|B1.b) models=5_joint_tts_nsf_hifigan ;; *) exit 1 ;; esac \
 && tar -xf /inputs/installed-2022.tar \
 && tar -xzf /inputs/voice-privacy-challenge-2022.tar.gz --strip-components 1 \
 && mkdir -p baseline/exp \
 && tar -xzf /inputs/models.2022.tar.gz -C baseline/exp \
 && tar -xf /inputs/pool-2022.tar -C baseline \
 && xvectors=2_xvect_extr/exp/xvector_nnet_1a/anon/xvectors_libritts_train_other_500/spk_xvector.scp \
 && for name in 1_asr_am 2_xvect_extr $models "$xvectors"; do \
        test -e "baseline/exp/models/$name" || { echo "no $name in the models or the pool" >&2; exit 1; }; done
# The same for machines without a GPU.
RUN cd baseline/local/featex \
 && sed 's/^use_gpu=yes$/use_gpu=no/' extract_ppg_256.sh > extract_ppg_256_cpu.sh \
 && chmod 755 extract_ppg_256_cpu.sh \
 && { ! cmp -s extract_ppg_256.sh extract_ppg_256_cpu.sh || { echo "extract_ppg_256.sh does not say use_gpu=yes" >&2; exit 1; }; }

FROM ${BASE_IMAGE}
ARG SYSTEM
LABEL org.opencontainers.image.title="anonymization-harness anonymizer-vpc ${SYSTEM}"
COPY --from=build /opt/vpc /opt/vpc
COPY anonymize.py systems.py /opt/vpc/
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 VPC_SYSTEM=${SYSTEM}
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["python3.11", "/opt/vpc/anonymize.py"]
