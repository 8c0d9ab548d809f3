#!/bin/bash
# A search on the nodes of a Slurm allocation:  sbatch slurm.sh papers/hotspot --evals 100000
#SBATCH --job-name=gevolve
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@120

set -eu
port=${RAY_PORT:-6379}
cpus=${SLURM_CPUS_PER_TASK:-1}
gpus=${SLURM_GPUS_ON_NODE:-0}
folder=${RUN:-runs/slurm-$SLURM_JOB_ID}

# Nobody but this job may use its cluster.
RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export RAY_AUTH_MODE RAY_AUTH_TOKEN RAY_USAGE_STATS_ENABLED=0

nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
export RAY_ADDRESS=${nodes[0]}:$port
trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
start() {  # start NODE OPTIONS...: a Ray node, until the job ends
  local node=$1
  shift
  srun --nodes=1 --ntasks=1 --overlap --nodelist="$node" \
    ray start --block --num-cpus="$cpus" --num-gpus="$gpus" "$@" >"ray-$node.log" 2>&1 &
}

start "${nodes[0]}" --head --port="$port" --include-dashboard=false
for _ in $(seq 60); do
  ray health-check --address="$RAY_ADDRESS" >/dev/null 2>&1 && break
  sleep 2
done
for node in "${nodes[@]:1}"; do
  start "$node" --address="$RAY_ADDRESS"
done

# Slurm says TERM two minutes before the end. Submit the script again with RUN=FOLDER to go on.
if [ -e "$folder/run.sqlite" ]; then
  gevolve resume "$folder" --cluster auto &
else
  gevolve run "$@" --out "$folder" --cluster auto &
fi
search=$!
trap 'kill -TERM $search' TERM
wait $search || wait $search
