// Look-ups in a B+ tree: single keys, and ranges of keys. A block answers one query; its threads compare
// the keys of a node all at once, level by level from the root.

#define ORDER 64

struct Node {
    int children[ORDER + 1];
    int keys[ORDER + 1];
    int is_leaf;
    int count;
};

struct Record {
    int value;
};

extern "C" __global__ void find_key(int height, Node *nodes, Record *records, int *current,
                                    int *offset, int *keys, Record *answers)
{
    int thread = threadIdx.x;
    int query = blockIdx.x;

    for (int level = 0; level < height; level++) {
        if (nodes[current[query]].keys[thread] <= keys[query] &&
            nodes[current[query]].keys[thread + 1] > keys[query])
            offset[query] = nodes[current[query]].children[thread];
        __syncthreads();
        if (thread == 0)
            current[query] = offset[query];
        __syncthreads();
    }

    // In the leaf, the key itself.
    if (nodes[current[query]].keys[thread] == keys[query])
        answers[query].value = records[nodes[current[query]].children[thread]].value;
}

extern "C" __global__ void find_range(int height, Node *nodes, int *current, int *offset, int *last,
                                      int *last_offset, int *from, int *to, int *start, int *length)
{
    int thread = threadIdx.x;
    int query = blockIdx.x;

    for (int level = 0; level < height; level++) {
        if (nodes[current[query]].keys[thread] <= from[query] &&
            nodes[current[query]].keys[thread + 1] > from[query])
            offset[query] = nodes[current[query]].children[thread];
        if (nodes[last[query]].keys[thread] <= to[query] &&
            nodes[last[query]].keys[thread + 1] > to[query])
            last_offset[query] = nodes[last[query]].children[thread];
        __syncthreads();
        if (thread == 0) {
            current[query] = offset[query];
            last[query] = last_offset[query];
        }
        __syncthreads();
    }

    // The first record of the range, and then how many there are up to the last one.
    if (nodes[current[query]].keys[thread] == from[query])
        start[query] = nodes[current[query]].children[thread];
    __syncthreads();
    if (nodes[last[query]].keys[thread] == to[query])
        length[query] = nodes[last[query]].children[thread] - start[query] + 1;
}
