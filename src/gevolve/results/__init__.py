"""Results: the runs of many workloads in one folder, what they amount to, and two such folders compared.

What ``gevolve suite`` does. Each run is an ordinary one, with one worker, in a folder of its own, and several go on
side by side. Nothing is kept beside the runs that cannot be made from them again.
"""
