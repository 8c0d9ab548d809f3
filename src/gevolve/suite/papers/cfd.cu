// The flow of air around a body: the Euler equations on a grid of tetrahedra, by finite volumes.
//
// Each element has density, momentum and energy, one array after the other. The flux through its four
// faces comes from its neighbours; a negative neighbour is the body's wall (-1) or the far field (-2).

#define GAMMA 1.4f
#define FACES 4
#define DENSITY 0
#define MOMENTUM 1
#define ENERGY 4
#define VARIABLES 5

__constant__ float far_variable[VARIABLES];
__constant__ float3 far_momentum_x;
__constant__ float3 far_momentum_y;
__constant__ float3 far_momentum_z;
__constant__ float3 far_energy;

__device__ inline float3 velocity_of(float density, float3 momentum)
{
    float3 velocity;
    velocity.x = momentum.x / density;
    velocity.y = momentum.y / density;
    velocity.z = momentum.z / density;
    return velocity;
}

__device__ inline float squared(float3 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

__device__ inline float pressure_of(float density, float energy, float speed_squared)
{
    return (GAMMA - 1.0f) * (energy - 0.5f * density * speed_squared);
}

__device__ inline float sound_of(float density, float pressure)
{
    return sqrtf(GAMMA * pressure / density);
}

__device__ inline void flux_of(float density, float3 momentum, float energy, float pressure,
                               float3 velocity, float3 &fx, float3 &fy, float3 &fz, float3 &fe)
{
    fx.x = velocity.x * momentum.x + pressure;
    fx.y = velocity.x * momentum.y;
    fx.z = velocity.x * momentum.z;
    fy.x = fx.y;
    fy.y = velocity.y * momentum.y + pressure;
    fy.z = velocity.y * momentum.z;
    fz.x = fx.z;
    fz.y = fy.z;
    fz.z = velocity.z * momentum.z + pressure;
    float whole = energy + pressure;
    fe.x = velocity.x * whole;
    fe.y = velocity.y * whole;
    fe.z = velocity.z * whole;
}

extern "C" __global__ void initialize(int count, float *variables)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= count)
        return;
    for (int j = 0; j < VARIABLES; j++)
        variables[i + j * count] = far_variable[j];
}

// How large a step in time each element allows.
extern "C" __global__ void step_factor(int count, float *variables, float *areas, float *factors)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= count)
        return;
    float density = variables[i + DENSITY * count];
    float3 momentum;
    momentum.x = variables[i + (MOMENTUM + 0) * count];
    momentum.y = variables[i + (MOMENTUM + 1) * count];
    momentum.z = variables[i + (MOMENTUM + 2) * count];
    float energy = variables[i + ENERGY * count];
    float3 velocity = velocity_of(density, momentum);
    float speed_squared = squared(velocity);
    float pressure = pressure_of(density, energy, speed_squared);
    float sound = sound_of(density, pressure);
    factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed_squared) + sound));
}

extern "C" __global__ void compute_flux(int count, int *neighbours, float *normals,
                                        float *variables, float *fluxes)
{
    const float smoothing = 0.2f;
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= count)
        return;

    float density_i = variables[i + DENSITY * count];
    float3 momentum_i;
    momentum_i.x = variables[i + (MOMENTUM + 0) * count];
    momentum_i.y = variables[i + (MOMENTUM + 1) * count];
    momentum_i.z = variables[i + (MOMENTUM + 2) * count];
    float energy_i = variables[i + ENERGY * count];
    float3 velocity_i = velocity_of(density_i, momentum_i);
    float squared_i = squared(velocity_i);
    float speed_i = sqrtf(squared_i);
    float pressure_i = pressure_of(density_i, energy_i, squared_i);
    float sound_i = sound_of(density_i, pressure_i);
    float3 fx_i, fy_i, fz_i, fe_i;
    flux_of(density_i, momentum_i, energy_i, pressure_i, velocity_i, fx_i, fy_i, fz_i, fe_i);

    float flux_density = 0.0f;
    float3 flux_momentum;
    flux_momentum.x = 0.0f;
    flux_momentum.y = 0.0f;
    flux_momentum.z = 0.0f;
    float flux_energy = 0.0f;

    for (int j = 0; j < FACES; j++) {
        int other = neighbours[i + j * count];
        float3 normal;
        normal.x = normals[i + (j + 0 * FACES) * count];
        normal.y = normals[i + (j + 1 * FACES) * count];
        normal.z = normals[i + (j + 2 * FACES) * count];
        float length = sqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);

        if (other >= 0) {
            float density_n = variables[other + DENSITY * count];
            float3 momentum_n;
            momentum_n.x = variables[other + (MOMENTUM + 0) * count];
            momentum_n.y = variables[other + (MOMENTUM + 1) * count];
            momentum_n.z = variables[other + (MOMENTUM + 2) * count];
            float energy_n = variables[other + ENERGY * count];
            float3 velocity_n = velocity_of(density_n, momentum_n);
            float squared_n = squared(velocity_n);
            float pressure_n = pressure_of(density_n, energy_n, squared_n);
            float sound_n = sound_of(density_n, pressure_n);
            float3 fx_n, fy_n, fz_n, fe_n;
            flux_of(density_n, momentum_n, energy_n, pressure_n, velocity_n, fx_n, fy_n, fz_n, fe_n);

            // Artificial viscosity.
            float factor =
                -length * smoothing * 0.5f * (speed_i + sqrtf(squared_n) + sound_i + sound_n);
            flux_density += factor * (density_i - density_n);
            flux_energy += factor * (energy_i - energy_n);
            flux_momentum.x += factor * (momentum_i.x - momentum_n.x);
            flux_momentum.y += factor * (momentum_i.y - momentum_n.y);
            flux_momentum.z += factor * (momentum_i.z - momentum_n.z);

            factor = 0.5f * normal.x;
            flux_density += factor * (momentum_n.x + momentum_i.x);
            flux_energy += factor * (fe_n.x + fe_i.x);
            flux_momentum.x += factor * (fx_n.x + fx_i.x);
            flux_momentum.y += factor * (fy_n.x + fy_i.x);
            flux_momentum.z += factor * (fz_n.x + fz_i.x);

            factor = 0.5f * normal.y;
            flux_density += factor * (momentum_n.y + momentum_i.y);
            flux_energy += factor * (fe_n.y + fe_i.y);
            flux_momentum.x += factor * (fx_n.y + fx_i.y);
            flux_momentum.y += factor * (fy_n.y + fy_i.y);
            flux_momentum.z += factor * (fz_n.y + fz_i.y);

            factor = 0.5f * normal.z;
            flux_density += factor * (momentum_n.z + momentum_i.z);
            flux_energy += factor * (fe_n.z + fe_i.z);
            flux_momentum.x += factor * (fx_n.z + fx_i.z);
            flux_momentum.y += factor * (fy_n.z + fy_i.z);
            flux_momentum.z += factor * (fz_n.z + fz_i.z);
        } else if (other == -1) {
            flux_momentum.x += normal.x * pressure_i;
            flux_momentum.y += normal.y * pressure_i;
            flux_momentum.z += normal.z * pressure_i;
        } else if (other == -2) {
            float factor = 0.5f * normal.x;
            flux_density += factor * (far_variable[MOMENTUM + 0] + momentum_i.x);
            flux_energy += factor * (far_energy.x + fe_i.x);
            flux_momentum.x += factor * (far_momentum_x.x + fx_i.x);
            flux_momentum.y += factor * (far_momentum_y.x + fy_i.x);
            flux_momentum.z += factor * (far_momentum_z.x + fz_i.x);

            factor = 0.5f * normal.y;
            flux_density += factor * (far_variable[MOMENTUM + 1] + momentum_i.y);
            flux_energy += factor * (far_energy.y + fe_i.y);
            flux_momentum.x += factor * (far_momentum_x.y + fx_i.y);
            flux_momentum.y += factor * (far_momentum_y.y + fy_i.y);
            flux_momentum.z += factor * (far_momentum_z.y + fz_i.y);

            factor = 0.5f * normal.z;
            flux_density += factor * (far_variable[MOMENTUM + 2] + momentum_i.z);
            flux_energy += factor * (far_energy.z + fe_i.z);
            flux_momentum.x += factor * (far_momentum_x.z + fx_i.z);
            flux_momentum.y += factor * (far_momentum_y.z + fy_i.z);
            flux_momentum.z += factor * (far_momentum_z.z + fz_i.z);
        }
    }

    fluxes[i + DENSITY * count] = flux_density;
    fluxes[i + (MOMENTUM + 0) * count] = flux_momentum.x;
    fluxes[i + (MOMENTUM + 1) * count] = flux_momentum.y;
    fluxes[i + (MOMENTUM + 2) * count] = flux_momentum.z;
    fluxes[i + ENERGY * count] = flux_energy;
}

// One stage of a Runge-Kutta step.
extern "C" __global__ void time_step(int stage, int count, float *before, float *variables,
                                     float *factors, float *fluxes)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= count)
        return;
    float factor = factors[i] / (float)(3 + 1 - stage);
    for (int j = 0; j < VARIABLES; j++)
        variables[i + j * count] = before[i + j * count] + factor * fluxes[i + j * count];
}
