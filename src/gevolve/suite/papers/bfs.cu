// Breadth-first search: how many edges each node of a graph is away from a source node.
//
// The host launches the two kernels in turns, one pair for each level, until nothing was reached.

struct Node {
    int first;  // where its edges begin
    int edges;  // how many it has
};

// The nodes of the frontier give their unvisited neighbours a distance. Several may reach one neighbour.
extern "C" __global__ void visit(Node *nodes, int *edges, bool *frontier, int *reached,
                                 bool *visited, int *cost, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count && frontier[id]) {
        frontier[id] = false;
        for (int i = nodes[id].first; i < nodes[id].edges + nodes[id].first; i++) {
            int other = edges[i];
            if (!visited[other]) {
                atomicExch(&cost[other], cost[id] + 1);
                atomicExch(&reached[other], 1);
            }
        }
    }
}

// What was reached is the next frontier.
extern "C" __global__ void advance(bool *frontier, int *reached, bool *visited, int *over, int count)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < count && reached[id]) {
        frontier[id] = true;
        visited[id] = true;
        atomicExch(over, 1);
        reached[id] = 0;
    }
}
