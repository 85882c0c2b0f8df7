"""Texts of the stand-ins for the challenges' codes: the same folders and command lines, no speech.

What they share is `speak`: it makes an utterance, or fails as `fault.json` beside the code says of
it. Everything is written by this project, after what was read in the challenges' repositories.
"""

from __future__ import annotations

POOL = "libritts_train_other_500"
XVECTORS = "exp/models/2_xvect_extr/exp/xvector_nnet_1a"

SPEAK = """\
import array, json, os, signal, sys, wave
from pathlib import Path

def speak(code, utterance, source, targets, factor):
    with wave.open(source) as stream:
        assert stream.getparams()[:3] == (1, 2, 16000)
        samples = array.array("h", stream.readframes(stream.getnframes()))
    fault = json.loads(Path(code, "fault.json").read_text()).get(utterance)
    if fault == "nothing":
        print("output will be in", targets[0])
        return
    made = array.array("h", [int(sample * factor) for sample in samples])
    if fault == "long":
        made += made
    rate = 24000 if fault == "rate" else 16000
    for target in targets if fault == "two" else targets[:1]:
        target.mkdir(parents=True, exist_ok=True)
        with wave.open(str(target / (utterance + ".wav")), "wb") as stream:
            channels = 2 if fault == "channels" else 1
            stream.setparams((channels, 1 if fault == "width" else 2, rate, 0, "NONE", None))
            stream.writeframes(b"" if fault == "empty" else made.tobytes())
        if fault == "truncated":
            os.truncate(target / (utterance + ".wav"), 44 + len(made))
    if fault == "crash":
        print("\\033[0;31mRuntimeError: out of memory\\033[0m\\n", file=sys.stderr, flush=True)
        sys.exit(9)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
"""

# Draws from all three generators, here and in a process of its own; the multiple is what it drew.
RUN_ANONYMIZATION = """\
import os, random, re, subprocess, sys
from pathlib import Path
import numpy, torch
from speak import speak
print("x" * 100000, flush=True)
assert sys.argv[1:] == ["--config", "config.yaml"]
config = Path("config.yaml").read_text()
(name,) = re.findall("data: (\\\\S+)", config)
(pipeline,) = re.findall("pipeline: (\\\\S+)", config)
exp = Path("exp", pipeline + "_models")
kept = Path(os.environ["TORCH_HOME"], "hub") if pipeline == "asrbn" else exp
(kept / "weights").read_bytes()
exp.mkdir(parents=True, exist_ok=True)
(exp / "cache").write_text("left by a run")
child = "import random, torch; print(random.random() + float(torch.rand(1)))"
drawn = random.random() + float(numpy.random.rand()) + float(torch.rand(1))
drawn += float(subprocess.run([sys.executable, "-c", child], capture_output=True).stdout)
(line,) = Path("data", name, "wav.scp").read_text().splitlines()
utterance, path = line.split()
for table in ("utt2spk", "spk2utt", "spk2gender"):
    assert Path("data", name, table).read_text().split()[0] == utterance
targets = [Path("data", name + suffix, "wav") for suffix in ("_stand-in", "_again")]
speak(".", utterance, path, targets, drawn / 5)
"""
CONFIG = """\
pipeline: {pipeline}
data_dir: data
anon_suffix: _stand-in

datasets:
  - name: dev
    data: libri_dev
    trials: [_trials_f, _trials_m]
  - name: other
    data: other

modules:
  device: "cuda"
  model_tag_version: "some"
"""

# The stages of the script, as far as they have files of their own.
ANONYMIZE_DATA_DIR = """\
#!/bin/bash
. ./path.sh
. ./cmd.sh
. ./config.sh
set -e
nj=20 stage=0 anoni_pool= data_netcdf= ppg_model= ppg_dir= model_type= inference_trunc_len=-1
xvec_nnet_dir= anon_xvec_out_dir= plda_dir= pseudo_xvec_rand_level=spk cross_gender=false
distance=cosine proximity=farthest anon_data_suffix=_anon rand_seed=2020
echo "$@" > asked
. utils/parse_options.sh
[ $# != 1 ] && echo "Usage: $0 [options] <data-dir>" && exit 1
data_dir=$1
for need in data/$data_dir/spk2utt data/$anoni_pool/spk2gender $ppg_model/final.mdl \\
        $anon_xvec_out_dir/xvectors_$anoni_pool/spk_xvector.scp $plda_dir/plda; do
  [ ! -f $need ] && echo "File $need does not exist" && exit 1
done
[ $(wc -l < data/$data_dir/spk2utt) != 1 ] && echo "more than one speaker" && exit 1
printf "${RED}\\\\nStage a.0: Extracting xvectors for ${data_dir}.${NC}\\\\n"
mkdir -p mfcc exp/make_mfcc $anon_xvec_out_dir/xvectors_$data_dir/pseudo_xvecs
gender=$(cut -d' ' -f2 data/$data_dir/spk2gender)
echo "$gender" > $anon_xvec_out_dir/xvectors_$data_dir/pseudo_xvecs/spk2gender
printf "${RED}\\\\nStage a.3: PPG extraction for ${data_dir}.${NC}\\\\n"
mkdir -p $ppg_dir/ppg_$data_dir
local/featex/extract_ppg_256.sh > $ppg_dir/ppg_$data_dir/gpu
case $model_type in
  am_nsf_old) weights=4_nsf/trained_network.jsn wav_output_dir_name=nsf_output_wav ;;
  joint_nsf_hifigan) weights=5_joint_tts_nsf_hifigan/trained_network_G.pt
    wav_output_dir_name=nsf_hifigan_output_wav
    # Its loader keeps the lengths of a data set beside itself.
    echo "$data_dir" > $nii_pt_scripts/projects/joint_tts_nsf_hifigan/lengths.dic ;;
  *) echo "Unknown ${model_type}"; exit 1 ;;
esac
printf "${RED}\\\\nStage a.6: Generate waveform from ${model_type} for ${data_dir}.${NC}\\\\n"
python3 local/generate.py exp/models/$weights $rand_seed data/$data_dir/wav.scp \\
  $data_netcdf/$data_dir/$wav_output_dir_name || exit 1
mkdir -p data/$data_dir$anon_data_suffix
"""
PARSE_OPTIONS = """\
while [ $# -gt 0 ]; do
  case "$1" in
    --*) name=$(echo "${1#--}" | sed s/-/_/g)
      [ -z "${!name+set}" ] && echo "$0: invalid option $1" 1>&2 && exit 1
      printf -v "$name" "%s" "$2"; shift 2 ;;
    *) break ;;
  esac
done
true
"""
GENERATE = """\
import random, sys
from pathlib import Path
sys.path.insert(0, "..")
from speak import speak
weights, seed, table, target = sys.argv[1:]
Path(weights).read_bytes()
random.seed(seed)
(line,) = Path(table).read_text().splitlines()
utterance, path = line.split()
speak("..", utterance, path, [Path(target)], random.random())
"""
GPU_2022 = "baseline/local/featex/extract_ppg_256.sh"
GPU_SCRIPT = "#!/bin/bash\nuse_gpu=yes\necho $use_gpu\n"
CPU_SCRIPT = GPU_SCRIPT.replace("yes", "no")
FILES_2022 = {
    "baseline/path.sh": ". ../env.sh\nRED='\\033[0;31m'\nNC='\\033[0m'\n",
    "baseline/cmd.sh": "export train_cmd=run.pl\n",
    "baseline/config.sh": "nj=$(nproc)\nxvect_type=kaldi\ntts_type=joint_nsf_hifigan\n",
    "baseline/utils/parse_options.sh": PARSE_OPTIONS,
    "baseline/local/anon/anonymize_data_dir.sh": ANONYMIZE_DATA_DIR,
    GPU_2022: GPU_SCRIPT,
    "baseline/local/generate.py": GENERATE,
    "nii_pytorch/projects/joint_tts_nsf_hifigan/main.py": "",
}
INSTALLED_2022 = {
    "kaldi/tools/config/common_path.sh": "",
    "env.sh": "export nii_pt_scripts={place}/nii_pytorch\n",
}
MODELS_2022 = {
    "models/1_asr_am/exp/final.mdl": "",
    "models/2_xvect_extr/exp/xvector_nnet_1a/plda": "",
    "models/3_ss_am/trained_network.jsn": "",
    "models/4_nsf/trained_network.jsn": "",
    "models/5_joint_tts_nsf_hifigan/trained_network_G.pt": "",
}
POOL_2022 = {
    f"data/{POOL}/spk2gender": "1 f\n2 m\n",
    f"{XVECTORS}/anon/xvectors_{POOL}/spk_xvector.scp": "1 x.ark:0\n2 x.ark:9\n",
}
SHARED = {"speak.py": SPEAK, "fault.json": "{}"}
# In place of the packages, for tests that need not wait for them.
NUMPY = """\
import random as _random
class random:
    generator = _random.Random()
    seed = generator.seed
    rand = generator.random
"""
TORCH = """\
import random as _random
_generator = _random.Random()
manual_seed = _generator.seed
def rand(n):
    return _generator.random()
class backends:
    class cudnn:
        benchmark = deterministic = None
"""


def code_2024() -> dict[str, str]:
    """The files of the code of 2024, without weights."""
    files = {"run_anonymization.py": RUN_ANONYMIZATION, "requirements.txt": "numpy\n", **SHARED}
    for pipeline in ("sttts", "nac", "asrbn"):
        files[f"configs/anon_{pipeline}.yaml"] = CONFIG.format(pipeline=pipeline)
        for name in ("install.sh", "requirements.txt"):
            files[f"anonymization/pipelines/{pipeline}/{name}"] = ""
    return files
