"""Plausible mistakes in each kernel of the suite, as replacements of source text.

A search will stumble on all of these; a workload whose cases let one pass would reward it.
"""

MISTAKES = {
    "hotspot": (
        (
            "- 2.0f * here;\n            const float horizontal",
            "- 1.9f * here;\n            const float horizontal",
        ),
        ("row > 0 ? ty - 1 : ty", "ty - 1"),
        ("col < cols - 1 ? tx + 1 : tx", "tx + 1"),
        (" + to_air * (AMBIENT - here)", ""),
        ("heat[ty][tx] + along_y", "along_y"),
        ("step <= steps", "step < steps"),
        ("TILE - 2 * steps;", "TILE - 2 * steps + 1;"),
        ("now[ty][tx] = next[ty][tx];", ""),
        ("tx >= step && tx < TILE - step", "tx > step && tx < TILE - step"),
    ),
    "pathfinder": (
        ("col > 0 ? tx - 1 : tx", "tx"),
        ("col < cols - 1 ? tx + 1 : tx", "tx"),
        ("i < height", "i < height - 1"),
        ("(first + i) * cols", "first * cols"),
        ("from = to;", ""),
        ("tx > i &&", ""),
    ),
    "gemm": (
        ("row < rows && col < cols ?", "row < rows ?"),
        ("row < rows && col < cols ?", "col < cols ?"),
        ("start < k", "start + DEPTH < k"),
        (" + beta * c[row * n + col]", ""),
        ("alpha * sum", "sum"),
        ("row < m && col < n", "row < m"),
    ),
    "reduction": (
        ("i < n;", "i < n - 1;"),
        ("distance > 0", "distance > 1"),
        ("lane < warps ?", "lane < warps - 1 ?"),
        ("sum += values[i]", "sum = values[i]"),
        ("gridDim.x * blockDim.x) {", "gridDim.x * blockDim.x + 1) {"),
    ),
    "histogram": (
        ("private_bins[i / BINS][i % BINS] = 0;", ""),
        ("rest < n", "rest < n - 1"),
        ("i < whole", "i < whole - 1"),
        ("warp < WARPS", "warp < WARPS - 1"),
        ("(word >> 8) & 0xff", "(word >> 7) & 0xff"),
        ("total > 0", "total > 1"),
    ),
    "bfs": (
        ("distance[node] + 1", "distance[node]"),
        ("if (!visited[neighbour]) {", "{"),
        ("begin[node + 1]; ++edge", "begin[node + 1] - 1; ++edge"),
        ("reached[node] = 0;", ""),
        ("frontier[node] = 1;", ""),
    ),
}
