// One time step of bodies that attract each other: all pairs, with the bodies passing through
// shared memory a tile at a time. The fourth component of a position is the body's mass.

struct Setup {
    float step;
    float softening;
    int bodies;
};

__device__ float3 pull(float3 acceleration, float4 me, float4 other, float softening)
{
    const float dx = other.x - me.x;
    const float dy = other.y - me.y;
    const float dz = other.z - me.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
    const float scale = other.w * inverse * inverse * inverse;
    acceleration.x += dx * scale;
    acceleration.y += dy * scale;
    acceleration.z += dz * scale;
    return acceleration;
}

__global__ void __launch_bounds__(128)
advance_bodies(const float4* __restrict__ positions, float4* __restrict__ moved,
               float4* __restrict__ velocities, Setup setup)
{
    __shared__ float4 tile[128];

    const int body = blockIdx.x * blockDim.x + threadIdx.x;
    const bool real = body < setup.bodies;
    const float4 me = real ? positions[body] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 acceleration = make_float3(0.0f, 0.0f, 0.0f);

    for (int start = 0; start < setup.bodies; start += blockDim.x) {
        const int other = start + threadIdx.x;
        tile[threadIdx.x] =
            other < setup.bodies ? positions[other] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        #pragma unroll 4
        for (int i = 0; i < 128; ++i) {
            acceleration = pull(acceleration, me, tile[i], setup.softening);
        }
        __syncthreads();
    }

    if (real) {
        float4 velocity = velocities[body];
        velocity.x += acceleration.x * setup.step;
        velocity.y += acceleration.y * setup.step;
        velocity.z += acceleration.z * setup.step;
        velocities[body] = velocity;
        moved[body] = make_float4(me.x + velocity.x * setup.step, me.y + velocity.y * setup.step,
                                  me.z + velocity.z * setup.step, me.w);
    }
}
