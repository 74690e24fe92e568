#!/usr/bin/env bash
# Preemption on a real Slurm of four nodes with accounting, and the same case in haggle: starts and ends of all attempts are
# compared job by job. Takes some four minutes. If the folder RECORD has the records of Slurm already, only haggle runs.
#
#   preemption.sh HAGGLE [RECORD]
#
# With PREEMPT=qos, qualities of service preempt in place of partitions. CASE=file takes another list of jobs; CRED_EXPIRE,
# KILLWAIT, MSGTIMEOUT and GRACE set those times of Slurm (seconds), SLACK the difference that is allowed.
#
# haggle gets submissions and run times as they were in Slurm. The case avoids what haggle does not model:
#
# - Slurm lets a requeued job wait until `cred_expire` (AuthInfo, 120 s, at least 5 s) and one second have gone from the end of
#   its attempt. It is 5 s here, and no place that a requeued job could take is free before that, nor could it stop others.
# - Slurm looks at the end of a grace time when it tries the waiting job again, at the soonest KillWait + MessageTimeout after
#   its last try (40 s if not given; 2 s here), or else once in 30 s. So the waiting job still waits at that end.
# - A requeued job keeps its priority until the next calculation. One lies between each requeue and a start that depends on it.
# - Jobs of one start, or of one requeue, have no order that matters. No start lies on the order of events of a second.
# - Slurm's backfilling lets jobs behind the first one stop others, too. No such job waits.
set -euo pipefail
haggle=$(realpath "$1")
tests=$(cd "$(dirname "$0")" && pwd)
if [ $# -gt 1 ]; then
    mkdir -p "$2"
    record=$(realpath "$2")
else
    record=$(mktemp -d /tmp/haggle-preemption.XXXXXX)
    temporary=$record
fi
kind=${PREEMPT:-partition}
delay=${CRED_EXPIRE:-5}
grace=${GRACE:-10}
# Slurm looks at the victims of a job again after KillWait + MessageTimeout only.
killwait=${KILLWAIT:-0}
timeout=${MSGTIMEOUT:-2}
finish() {
    "$tests/cluster.sh" stop "$record/cluster" >/dev/null 2>&1 || true
    [ -z "${temporary:-}" ] || rm -rf "$temporary" || true
}
trap finish EXIT

within() {
    local deadline=$((SECONDS + $1))
    until "${@:2}"; do
        if [ $SECONDS -gt $deadline ]; then
            echo "FAILED: never came: ${*:2}" >&2
            tail -n 20 "$record"/cluster/log/* >&2
            exit 1
        fi
        sleep 0.2
    done
}

# Submission in seconds, queue, nodes, processors, run time in seconds, time limit in minutes.
if [ -n "${CASE:-}" ]; then jobs=$(cat "$CASE"); else jobs='
12 mid 1 2 60 10
14 low 1 2 50 10
16 mid 1 2 46 10
18 low 1 2 40 10
20 low 1 2 25 10
24 high 1 2 30 10
28 mid 1 2 30 10
34 high 1 2 21 10
76 scrap 1 2 20 10
88 scrap 1 1 30 10
90 low 1 1 30 10
94 high 1 1 12 10
97 high 1 2 24 10
110 high 2 4 15 10
127 low 2 4 40 10
129 mid 1 2 40 10
131 low 1 1 30 10
136 high 4 8 10 10
'; fi
jobs=$(grep -v '^#' <<<"$jobs" | grep .)
count=$(wc -l <<<"$jobs")

nodes_are_idle() { [ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | wc -l)" = 4 ]; }
calculations() { sed -n 's/^\[\([^.]*\).*Fair Tree fairshare algorithm, starting at root.*/\1/p' "$record/cluster/log/slurmctld"; }
calculations_after() { [ "$(calculations | wc -l)" -gt "$1" ]; }
no_jobs_wait_or_run() {
    date +%s >>"$record/watched"
    squeue --noheader --format='%j %P %T %Q %r %S %V %N' >"$record/queue"
    cat "$record/queue" >>"$record/watched"
    sleep 2
    [ ! -s "$record/queue" ]
}
all_are_recorded() {
    SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --noheader --parsable2 --starttime=now-1hour \
        --format=JobName,Submit,Start,End,State,NodeList >"$record/sacct"
    ! grep -qE '\|(RUNNING|PENDING|REQUEUED)\|' "$record/sacct" && [ "$(cut -d '|' -f 1 "$record/sacct" | sort -u | wc -l)" = "$count" ]
}

# GraceTime's SIGTERM goes to steps and not to the script of a job, so the script goes on. It ends at the SIGTERM that comes later.
write_job() {
    cat >"$record/job.sh" <<'JOB'
#!/bin/bash
note() { echo "$SLURM_JOB_NAME ${SLURM_RESTART_COUNT:-0} $1 $(date +%s.%N | cut -c 1-14) $(hostname) $SLURM_JOB_NODELIST" >>"$2"; }
events=$1 run=$2
trap 'note term "$events"; exit 1' TERM
note begin "$events"
start=$(date +%s%N)
until [ $((($(date +%s%N) - start) / 1000000)) -ge $((run * 1000)) ]; do sleep 0.1 & wait $!; done
note end "$events"
JOB
    chmod 755 "$record/job.sh"
}

run_slurm() {
    local cluster=$record/cluster
    mkdir -p "$cluster"
    chmod 755 "$record"
    . "$tests/cluster.sh" functions "$cluster"
    configure
    local port
    port=$(sed -n 's/^SlurmctldPort=//p' "$cluster/slurm.conf")
    sed -i '/^NodeName=/d; /^PartitionName=/d; /^SelectTypeParameters=/d; /^SchedulerParameters=/d; /^KillWait=/d; s/^AuthInfo=.*/&,cred_expire='"$delay"'/' "$cluster/slurm.conf"
    cat >>"$cluster/slurm.conf" <<CONF
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=1,batch_sched_delay=0,bf_window_linear=1,default_queue_depth=1000,preempt_youngest_first
AccountingStorageEnforce=associations,limits,qos
KillWait=$killwait
MessageTimeout=$timeout
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityDecayHalfLife=00:30:00
PriorityMaxAge=00:10:00
PriorityWeightAge=6000
PriorityWeightFairshare=1
SlurmctldDebug=${DEBUG:-debug2}
DebugFlags=Priority,Backfill${FLAGS:+,$FLAGS}
NodeName=DEFAULT Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 State=UNKNOWN
$(for node in 1 2 3 4; do echo "NodeName=n$node NodeHostname=localhost Port=$((port + node)) Weight=$node"; done)
PreemptMode=REQUEUE
CONF
    if [ $kind = partition ]; then
        cat >>"$cluster/slurm.conf" <<CONF
PreemptType=preempt/partition_prio
PartitionName=low Nodes=ALL Default=YES MaxTime=1:00:00 PriorityTier=1 State=UP
PartitionName=scrap Nodes=ALL MaxTime=1:00:00 PriorityTier=1 PreemptMode=CANCEL State=UP
PartitionName=mid Nodes=ALL MaxTime=1:00:00 PriorityTier=2 GraceTime=$grace State=UP
PartitionName=high Nodes=ALL MaxTime=1:00:00 PriorityTier=3 State=UP
CONF
    else
        cat >>"$cluster/slurm.conf" <<CONF
PreemptType=preempt/qos
PriorityWeightQOS=1000000
PartitionName=all Nodes=ALL Default=YES MaxTime=1:00:00 State=UP
CONF
    fi
    munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
        --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=2
    account
    export SLURM_CONF=$cluster/slurm.conf
    if [ $kind = qos ]; then
        local set='sacctmgr --immediate --quiet'
        $set add qos low priority=1 preemptmode=requeue >/dev/null
        $set add qos scrap priority=1 preemptmode=cancel >/dev/null
        $set add qos mid priority=2 preempt=low,scrap preemptmode=requeue gracetime=$grace >/dev/null
        $set add qos high priority=3 preempt=low,scrap,mid preemptmode=requeue >/dev/null
        $set modify user root set qos=low,scrap,mid,high,normal >/dev/null
    fi
    start_controller
    for node in 1 2 3 4; do start_node "n$node"; done
    within 60 nodes_are_idle
    write_job
    local before zero
    before=$(calculations | wc -l)
    # The first calculation is at the start of slurmctld.
    [ $before -gt 0 ] && [ $(date +%s) -lt $(($(date --date="$(calculations | tail -n 1)" +%s) + $(head -n 1 <<<"$jobs" | cut -d " " -f 1))) ] || within 70 calculations_after "$before"
    zero=$(date --date="$(calculations | tail -n 1)" +%s)
    echo "$zero" >"$record/zero"
    local number=0 submit queue nodes processors run minutes where
    while read -r submit queue nodes processors run minutes; do
        number=$((number + 1))
        while [ "$(date +%s)" -lt $((zero + submit)) ]; do sleep 0.05; done
        where=--partition=$queue
        [ $kind = partition ] || where=--qos=$queue
        sbatch --quiet --job-name="$number" $where --requeue --nodes="$nodes" --ntasks="$processors" --time="$minutes" \
            --output=/dev/null --chdir=/ "$record/job.sh" "$record/events" "$run" >>"$record/sbatch" 2>&1
    done <<<"$jobs"
    within 500 no_jobs_wait_or_run
    within 60 all_are_recorded
    sort -t '|' -k 1,1n -k 3,3n "$record/sacct" -o "$record/sacct"
    "$tests/cluster.sh" stop "$cluster"
    touch "$record/done"
}

# The case as a scenario: submissions are those of the first attempts, run times those of the last ones, where they are complete.
scenario_of() {
    echo '# Made by preemption.sh.'
    echo '[[workload]]'
    echo 'name = "jobs"'
    echo 'jobs = ['
    awk -v zero="$(cat "$record/zero")" '
        BEGIN { number["low"] = 1; number["scrap"] = 2; number["mid"] = 3; number["high"] = 4 }
        FNR == NR { split($0, field, "|"); job = field[1]; if (!(job in submit)) submit[job] = field[2]; if (field[5] == "COMPLETED") run[job] = field[4] - field[3]; next }
        {
            run_time = FNR in run ? run[FNR] : $5
            printf "    { submit = \"%ds\", processors = %d, nodes = %d, run = \"%ds\", requested = \"%dmin\", queue = %d },\n",
                submit[FNR] - zero, $4, $3, run_time, $6, number[$2]
        }' "$record/sacct" - <<<"$jobs"
    local table=queue tier='tier = '
    [ $kind = partition ] || { table=qos; tier='priority = '; }
    cat <<TOML
]

[[provider]]
name = "cluster"
policy = $1
on-failure = "requeue"

[[provider.node]]
name = "node"
count = 4
cores = 2

[[provider.$table]]
name = "low"
number = 1
${tier}1

[[provider.$table]]
name = "scrap"
number = 2
${tier}1
on-preemption = "cancel"

[[provider.$table]]
name = "mid"
number = 3
${tier}2
preempts = ["low", "scrap"]
grace = "${grace}s"

[[provider.$table]]
name = "high"
number = 4
${tier}3
preempts = ["low", "scrap", "mid"]

[provider.priority]
weights = { age = 6000$([ $kind = partition ] || echo ', qos = 1000000') }
max-age = "10min"
half-life = "30min"
calculation-period = "1min"

[[user]]
name = "users"
workload = "jobs"
submits-to = "cluster"
TOML
}

# Attempts of a policy: job, start, end, outcome, nodes, stopped for.
attempts_of() {
    scenario_of "$2" >"$record/$1.toml"
    "$haggle" run "$record/$1.toml" -o "$record/$1" --format csv --check --force --quiet >"$record/$1.txt" 2>&1 || { cat "$record/$1.txt" >&2; exit 1; }
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i; next }
        $place["starting_time"] != "" { print $place["job"] + 1, $place["starting_time"], $place["finish_time"], $place["outcome"], $place["stopped_for"] == "" ? "-" : $place["stopped_for"] + 1 }' \
        "$record/$1/attempts.csv" | sort -k 1,1n -k 2,2n >"$record/attempts-$1"
}

[ -f "$record/done" ] || run_slurm
awk -F '|' -v zero="$(cat "$record/zero")" '$3 != "Unknown" { split($5, state, " "); print $1, $3 - zero, $4 - zero, tolower(state[1]), $6 }' "$record/sacct" | sort -k 1,1n -k 2,2n >"$record/attempts-slurm"
failed=0
attempts_of conservative '{ name = "conservative", compression = "replan" }'
attempts_of easy '"easy"'
for policy in conservative easy; do
    echo "$policy"
    awk -v slack=${SLACK:-3} '
        function far(a, b) { return a - b >= slack || b - a >= slack }
        FILENAME == ARGV[1] { n[$1]++; slurm[$1, n[$1]] = $2 " " $3 " " $4 " " $5; if ($1 > last) last = $1; next }
        FILENAME == ARGV[2] { m[$1]++; own[$1, m[$1]] = $2 " " $3 " " $4 " " $5; next }
        { queue[FNR] = $2; cores[FNR] = $3 "x" $4; submit[FNR] = $1 }
        END {
            printf "  %3s %-6s %5s %6s | %5s %5s %-10s %-8s | %5s %5s %-10s %s\n", "job", "queue", "cores", "submit", "start", "end", "Slurm", "nodes", "start", "end", "haggle", "for"
            for (j = 1; j <= last; j++) for (k = 1; k <= n[j] || k <= m[j]; k++) {
                split(slurm[j, k], s, " "); split(own[j, k], h, " ")
                mark = ""
                if (k > n[j] || k > m[j] || s[3] != h[3]) { mark = "DIFFERS"; bad++ }
                else if (far(s[1], h[1]) || far(s[2], h[2])) { mark = "later or earlier"; bad++ }
                else good++
                if (s[3] == "preempted") preempted++
                printf "  %3d %-6s %5s %6d | %5s %5s %-10s %-8s | %5s %5s %-10s %-3s %s\n", j, queue[j], cores[j], submit[j], s[1], s[2], s[3], s[4], h[1], h[2], h[3], h[4], mark
            }
            printf "  %d of %d attempts within less than %d s, %d preempted in Slurm\n", good, good + bad, slack, preempted
            exit bad > 0
        }' "$record/attempts-slurm" "$record/attempts-$policy" - <<<"$jobs" || failed=1
done
exit $failed
