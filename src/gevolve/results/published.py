"""What the papers report of workloads like these, as they word it; None where no figure was published or found.

Their GPU was a P100 and their programs were others of the same kind, so the figures stand beside ours and are not
a bar to clear on each line.
"""

import msgspec


class Published(msgspec.Struct, frozen=True):
    """A figure of a paper: an improvement t0/t - 1 unless the paper says less."""

    gain: float
    source: str


_GEVO = "GEVO: Liou et al., ACM TACO 17(4), 2020, Tesla P100"
_LATER = "Liou et al., Understanding the Power of Evolutionary Computation for GPU Code Optimization, 2022"

MEAN_EXACT = Published(0.4948, _GEVO)
"""The mean over the paper's Rodinia programs, with exact output."""
MEAN_WITHIN = Published(0.5108, _GEVO)
"""The same with up to 1 % error."""
MOST = Published(4.12, _GEVO)
"""The best of them."""
WORKLOADS: dict[str, Published] = {
    "papers/svm-mnist": Published(2.24, _GEVO),
    "papers/svm-a9a": Published(1.93, _GEVO),
    "papers/resnet18": Published(0.79, _GEVO),
    "papers/alignment": Published(0.289, _LATER),
    "papers/lung": Published(0.29, _LATER),
}
"""By workload; of single Rodinia programs no figures were found as text."""
