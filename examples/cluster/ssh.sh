#!/bin/bash
# A search on this machine and others that SSH reaches:  ./ssh.sh HOST... -- papers/hotspot --evals 20000
# Each has the same gevolve in the same folder, with its extra `ray`, and reaches this one's port.
set -eu
hosts=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  hosts+=("$1")
  shift
done
shift
port=${RAY_PORT:-6379}
bin=${BIN:-$(dirname "$(command -v ray)")}
address=${HEAD:-$(hostname -I | cut -d ' ' -f 1)}:$port

# The token goes to the hosts by way of SSH's input, where no list of processes shows it.
RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export RAY_AUTH_MODE RAY_AUTH_TOKEN RAY_USAGE_STATS_ENABLED=0

pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait' EXIT
"$bin/ray" start --block --head --port="$port" --include-dashboard=false >ray-head.log 2>&1 &
pids+=($!)
for _ in $(seq 60); do
  "$bin/ray" health-check --address="$address" >/dev/null 2>&1 && break
  sleep 1
done
for host in ${hosts[@]+"${hosts[@]}"}; do
  printf 'export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=%s\nexec %s start --block --address=%s\n' \
    "$RAY_AUTH_TOKEN" "$bin/ray" "$address" | ${SSH:-ssh} -T "$host" bash -s >"ray-$host.log" 2>&1 &
  pids+=($!)
done
"$bin/gevolve" run "$@" --cluster "$address"
