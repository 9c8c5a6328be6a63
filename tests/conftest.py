"""What all tests start from."""

from __future__ import annotations

import os
import signal

# A job in the background ignores interrupts and hands that on to its children, which tests here interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is compared here comes out bit for bit on a CPU alone, and the workers that only count cannot stack runs.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
