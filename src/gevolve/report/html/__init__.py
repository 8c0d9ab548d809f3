"""A run as one HTML file that opens offline, or several runs side by side.

What the page knows is worked out here; what it looks like is in ``report/assets``.
"""
