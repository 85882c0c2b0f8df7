"""Seeds every Python process of the challenge's code, which seeds nothing itself.

Python imports this module at its start; some pipelines start further processes.
"""

import os
import random
import sys

try:
    import numpy
    import torch
except ImportError as error:
    # Python would go on without this module, and so without a seed.
    print(f"seeding: {error}", file=sys.stderr)
    os._exit(1)

SEED = int(os.environ["HARNESS_SEED"])
random.seed(SEED)
numpy.random.seed(SEED % 2**32)
torch.manual_seed(SEED)
torch.backends.cudnn.benchmark = False
torch.backends.cudnn.deterministic = True
