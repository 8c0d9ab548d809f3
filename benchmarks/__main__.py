"""Run benchmarks by name, or all of them."""

import importlib
import pkgutil
import sys

import benchmarks

names = sorted(
    module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.ispkg
)
names.remove("__main__")
for name in sys.argv[1:] or names:
    if name not in names:
        sys.exit(f"no benchmark {name!r}; there are {', '.join(names)}")
    print(f"\n== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
