"""Evaluation: a patch goes in, a verdict comes out, whatever the variant does.

Three kinds of processes work on it. Each of the rooms `worker` and `child` has a ``process.py``, the
process as its parent sees it, and a ``main.py``, what the process itself does::

    main process   pool.py          hands out patches, collects evaluations, replaces dead workers
      worker       worker/main.py   builds variants, owns the expected outputs, decides (`judge`)
        child      child/main.py    runs artefacts on the device; is killed when it misbehaves

They exchange the messages of `protocol`. What comes out is an `Evaluation` (see `verdict`).
"""
