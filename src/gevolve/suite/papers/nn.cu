// How far each record of a table is from a place.

struct Place {
    float lat;
    float lng;
};

extern "C" __global__ void distances(Place *places, float *distance, int count, float lat, float lng)
{
    int id = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    Place *place = places + id;
    if (id < count) {
        float *mine = distance + id;
        *mine = (float)sqrt((lat - place->lat) * (lat - place->lat) +
                            (lng - place->lng) * (lng - place->lng));
    }
}
