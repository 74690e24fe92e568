#!/usr/bin/env bash
# Sweeps on a real Slurm of two nodes (cluster.sh): whatever happens to tasks, what is left in the end is
# byte for byte what one machine leaves. Takes some five minutes, most of it Slurm's own waiting.
#
#   check.sh HAGGLE
set -euo pipefail
haggle=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d /tmp/haggle-slurm.XXXXXX)
chmod 755 "$place"
stop() {
    umount "$place/small" 2>/dev/null || true
    "$here/cluster.sh" stop "$place/cluster"
    rm -rf "$place" || true
}
trap stop EXIT
mkdir "$place/cluster"
"$here/cluster.sh" start "$place/cluster"
export SLURM_CONF=$place/cluster/slurm.conf
cd "$place"

step() { printf '  -- %s\n' "$*"; }
fail() {
    echo "FAILED: $*" >&2
    squeue --states=all >&2 || true
    tail -n 5 "$place"/*/.sweep/slurm/log/* "$place"/cluster/log/* >&2 || true
    exit 1
}

# Waits until a command succeeds, for two minutes.
until_is() {
    for _ in $(seq 480); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.25
    done
    fail "never came: $*"
}
no_jobs() { [ -z "$(squeue --noheader)" ]; }
runs_there() { [ "$(find "$1" -name provenance.json | grep -vc partial)" -ge "$2" ]; }
same() {
    diff -r -x timing.json -x .sweep "$1" "$2" || fail "$1 and $2 differ"
    [ -z "$(find "$2" -name '.*partial')" ] || fail "$2 has what is half-written"
}
said() { grep -rqF "$2" "$1/.sweep/slurm/log" || fail "no task of $1 said: $2"; }
# Processes of tasks on a node of ours.
tasks_on() {
    local process
    for process in $(grep -lzx "SLURMD_NODENAME=$1" /proc/[0-9]*/environ 2>/dev/null); do
        grep -qzx "SLURM_CONF=$SLURM_CONF" "$process" 2>/dev/null && echo "$process" | cut -d / -f 3
    done
    true
}

# The same once there are any.
until_task() {
    local found
    for _ in $(seq 400); do
        found=$(tasks_on "$1")
        [ -n "$found" ] && echo "$found" && return
        sleep 0.05
    done
    fail "no task on $1"
}

cat >sweep.toml <<'EOF'
[scenario]
name = "policies"

[[workload]]
name = "jobs"
model = "lublin-feitelson"
lublin = { jobs = 80000, processors = 64, load = 0.8 }

[[provider]]
name = "north"
processors = 64

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[sweep]
replications = 6

[[sweep.axis]]
path = "provider.north.policy"
values = ["fcfs", "easy", "conservative"]

[[figure]]
kind = "lines"
metric = "mean-waiting-time"
x = "policy"
EOF
"$haggle" sweep sweep.toml -o local --quiet >local.txt
"$haggle" sweep sweep.toml -o local-packed --pack 4 --quiet >local.txt

step "two arrays over both nodes, one of which dies"
"$haggle" sweep sweep.toml -o died --slurm --chunk 2 --time 1min
cp died/.sweep/slurm/1.json submitted.json
grep -q '"tasks": 9' submitted.json || fail "MaxArraySize is 9"
"$haggle" sweep sweep.toml -o short --slurm --chunk 1 --time 1min >/dev/null && grep -q '"first": 9' short/.sweep/slurm/1.json || fail "18 tasks are two arrays"
"$haggle" sweep cancel short
until_is runs_there died 2
victims=$(until_task n2)
# A node that dies takes everything with it: the daemon, the step's and the task.
kill -9 "$(cat cluster/slurmd-n2.pid)" $(for task in $victims; do awk '/^PPid/ { print $2 }' "/proc/$task/status"; done) $victims 2>/dev/null || true
until_is sh -c 'sinfo -h -n n2 -o %t | grep -q down'
"$haggle" sweep status died
until_is no_jobs
same local died
restarted=$(scontrol show job --oneliner | grep -c 'Restarts=[1-9]') || fail "no task was lost with the node"
echo "     $restarted task began again"
"$here/cluster.sh" node "$place/cluster" n2

step "a task over its time, then --resume"
"$haggle" sweep sweep.toml -o late --slurm --chunk 9 --time 1min
until_is runs_there late 2
frozen=$(for node in n1 n2; do tasks_on $node; done)
kill -STOP $frozen
sleep 50
until_is no_jobs
"$haggle" sweep status late | tee status.txt
grep -q 'TIMEOUT' status.txt || fail "the status says nothing of time"
[ ! -e late/runs.csv ] || fail "something was summed up that is not there"
said late "are not there yet"
[ -z "$(find late -name '.*partial')" ] || fail "late has what is half-written"
"$haggle" sweep sweep.toml -o late --slurm --chunk 9 --time 1min 2>refused.txt && fail "submitted twice"
grep -q -- --resume refused.txt || fail "--resume is not named"
"$haggle" sweep sweep.toml -o late --slurm --resume --time 10min
until_is no_jobs
same local late

step "a task killed as by the system that is out of memory, then --resume"
"$haggle" sweep sweep.toml -o killed --slurm --chunk 9 --time 2min
until_is runs_there killed 2
kill -9 $(until_task n1)
until_is no_jobs
[ ! -e killed/runs.csv ] || fail "something was summed up that is not there"
"$haggle" sweep status killed | grep -q 'FAILED' || fail "the status says nothing of the end"
"$haggle" sweep sweep.toml -o killed --slurm --resume --time 2min
until_is no_jobs
same local killed

step "cancel, then --resume"
"$haggle" sweep sweep.toml -o ended --slurm --chunk 2
until_is runs_there ended 2
"$haggle" sweep cancel ended
until_is no_jobs
[ ! -e ended/runs.csv ] || fail "something was summed up that is not there"
"$haggle" sweep sweep.toml -o ended --slurm --resume --partition main
until_is no_jobs
same local ended

step "runs that fail for reasons of their own"
cat >logs.toml <<'EOF'
[[workload]]
name = "jobs"
log = "$LOGS/whole.swf"

[[provider]]
name = "north"
processors = 8

[[user]]
name = "users"
workload = "jobs"
submits-to = "north"

[[sweep.axis]]
name = "log"
path = "workload.jobs.log"
values = ["$LOGS/damaged.swf", "$LOGS/whole.swf"]
EOF
mkdir logs
export LOGS=$place/logs
printf '1 2 3\n' >logs/damaged.swf
printf '; MaxProcs: 8\n1 0 -1 80 4 -1 -1 4 100 -1 1 1 1 -1 -1 -1 -1 -1\n' >logs/whole.swf
"$haggle" sweep logs.toml -o logs-local --quiet >/dev/null 2>&1 && fail "a damaged log is no success"
"$haggle" sweep logs.toml -o logs-out --slurm --chunk 1 -- --export=NONE
until_is no_jobs
same logs-local logs-out
grep -q "expected 18 fields" logs-out/failed.csv || fail "the failure is not in the table"
"$haggle" sweep status logs-out 2>&1 | tee status.txt
grep -q "1 of 2 runs failed" status.txt || fail "the status says nothing of the failure"

step "another program on the nodes"
cp "$haggle" other
./other sweep sweep.toml -o other-out --slurm --chunk 9 -- --hold
cp other newer && printf ' ' >>newer && mv newer other
scontrol release $(sed -n 's/.*"\(job\|merge\)": "\([0-9]*\)".*/\2/p' other-out/.sweep/slurm/1.json)
until_is no_jobs
said other-out "is not the program that submitted"

step "the shared disk is full, then larger"
mkdir small
if mount -t tmpfs -o size=20m none small 2>/dev/null; then
    "$haggle" sweep sweep.toml -o small/out --slurm --chunk 3
    until_is no_jobs
    said small/out "no space left"
    [ -z "$(find small/out -name '.seed*partial')" ] || fail "something is half-written"
    mount -o remount,size=400m none small
    "$haggle" sweep sweep.toml -o small/out --slurm --resume --chunk 3
    until_is no_jobs
    same local small/out
else
    echo "     nothing can be mounted here: left out"
fi

step "packs"
"$haggle" sweep sweep.toml -o packed --pack 4 --slurm --chunk 1
until_is no_jobs
same local-packed packed
cmp local/aggregate.csv packed/aggregate.csv

step "a reproduction"
"$haggle" reproduce haggle-sessions --quick -o figures-local --quiet >figures.txt || true
"$haggle" reproduce haggle-sessions --quick -o figures --slurm --chunk 4
until_is no_jobs
same figures-local figures
[ -n "$(find figures -name '*.png')" ] || fail "nothing was drawn"

step "what sbatch refuses is shown with its command"
"$haggle" sweep sweep.toml -o refused --slurm --chunk 9 --partition none 2>refused.txt && fail "submitted"
grep -q 'sbatch --parsable .* failed: .*[Ii]nvalid partition' refused.txt || fail "$(cat refused.txt)"

echo "  all as on one machine"
