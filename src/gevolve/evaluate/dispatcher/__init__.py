"""The dispatcher: the process between gevolve and Ray.

Ray prints to the terminal, retries for minutes and ends its process when a cluster is gone. So it has
a process of its own, which the main process can end and start again; what was submitted is not lost::

    main process    ray.py                submits patches, keeps what is outstanding
      dispatcher    dispatcher/main.py    connects to Ray, finds nodes (`crew`), hands out (`session`)
        actor       dispatcher/actor.py   on any node: a pool of one worker, as on one machine
"""
