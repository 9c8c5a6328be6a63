"""For every Python process of the chapter that `make test` draws with runs of this machine: the controlled scale, with
the few steps of ``smoke`` in training and in fine-tuning.

The page has all that the one of `make book` has, laid out as there. What its numbers are worth, no test of pages asks.
"""

from dataclasses import replace

from xling_utils.core import scales

_controlled, _smoke = scales._SCALES["controlled"], scales._SCALES["smoke"]
scales._SCALES["controlled"] = replace(
    _controlled, name=_smoke.name, training=replace(_controlled.training, steps=_smoke.training.steps)
)
