"""The real worker, with a checkpoint after every step."""

import sys

from xling_utils.runs import pretraining, worker

if __name__ == "__main__":
    pretraining.CHECKPOINT_SECONDS = 0.0
    sys.exit(worker.main(sys.argv[1:]))
