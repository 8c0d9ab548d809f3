"""Outcomes that no search has made, so that what they amount to is known."""

from gevolve.results.outcome import Found, Outcome


def found(gain, **more):
    values = {
        "id": "m1",
        "search": gain,
        "held_out": gain,
        "fresh": gain,
        "large": gain,
        "nvcc": gain,
        "error": 0.0,
        "edits": 2,
        "words": ["declare `a` as `__restrict__` (k.cu:3)", "unroll by 4 (k.cu:9)"],
    }
    return Found(**values | more)


def outcome(workload="papers/nn", gain=0.5, seed=0, **more):
    best = found(gain) if gain else None
    values = {
        "workload": workload,
        "device": "sim:t4",
        "preset": "default",
        "seed": seed,
        "status": "finished",
        "tolerance": 0.01,
        "time": 1000.0,
        "exact": best,
        "within": best,
        "evaluations": 10,
        "ok": 8,
        "seconds": 2.0,
        "bound": {"memory": 0.75, "issue": 0.25},
    }
    return Outcome(**values | more)
