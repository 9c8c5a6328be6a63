"""A scheduler, workers as SLURM jobs, and `xling run` with the options given, until it has ended."""

import subprocess
import sys

from dask_jobqueue import SLURMCluster

with SLURMCluster(
    cores=1,  # a job trains as many runs at a time
    processes=1,
    memory="8GB",
    walltime="08:00:00",
    # queue="gpu", account="...", interface="ib0", job_extra_directives=["--gpus=1"],
) as cluster:
    cluster.adapt(minimum_jobs=20, maximum_jobs=20)  # a job whose time is over is submitted again
    command = [".venv/bin/xling", "run", "--engine", "dask", "--scheduler", cluster.scheduler_address]
    sys.exit(subprocess.run([*command, *sys.argv[1:]]).returncode)
