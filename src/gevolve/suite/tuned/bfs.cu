// Breadth-first search: how many edges each node of a graph is away from a source node.
//
// The graph comes as compressed rows: the neighbours of node v are
// neighbours[begin[v]] … neighbours[begin[v + 1] - 1]. The host launches `expand` and `advance` in
// turns, one pair per level, until `advance` no longer raises the flag.

__device__ int node_of_thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Every node of the frontier gives its unvisited neighbours a distance. Several may reach the same
// neighbour at once, so it is told atomically; they all bring the same value.
__global__ void expand(const int* __restrict__ begin, const int* __restrict__ neighbours,
                       unsigned char* frontier, int* reached,
                       const unsigned char* visited, int* distance, int nodes)
{
    const int node = node_of_thread();
    if (node >= nodes || !frontier[node]) {
        return;
    }
    frontier[node] = 0;
    for (int edge = begin[node]; edge < begin[node + 1]; ++edge) {
        const int neighbour = neighbours[edge];
        if (!visited[neighbour]) {
            atomicExch(&distance[neighbour], distance[node] + 1);
            atomicExch(&reached[neighbour], 1);
        }
    }
}

// What was reached becomes the next frontier.
__global__ void advance(unsigned char* frontier, int* reached, unsigned char* visited,
                        int* more, int nodes)
{
    const int node = node_of_thread();
    if (node >= nodes || !reached[node]) {
        return;
    }
    frontier[node] = 1;
    visited[node] = 1;
    reached[node] = 0;
    atomicExch(more, 1);
}
