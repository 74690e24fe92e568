#!/usr/bin/env bash
# Queues, accounts and priorities on a real Slurm of four nodes with accounting, and the same case in haggle: starts are
# compared job by job. Takes some six minutes. If the folder RECORD has the records of Slurm already, only haggle runs.
#
#   queues.sh HAGGLE [RECORD]
#
# haggle gets submissions and run times as they were in Slurm. Two starts may be in another order if Slurm has less than
# `slack` seconds between them, since it takes up to two seconds for a start. The case avoids what haggle does not model:
#
# - Slurm's backfilling foresees the ends of running jobs in steps of 30 seconds or more, and comes up to a second after an
#   event. So the time limits are such that no job fits into a gap only just, or misses it by less than that.
# - Slurm knows the order of events within a second, which its records do not have. No start depends on that order.
# - The first jobs make all users known, since Slurm ranks users without jobs, too. They end before the first calculation.
# - Time zero is a calculation of priorities. Slurm counts its periods from the start of slurmctld.
# - Nodes have weights, so that Slurm takes the first one that is free, as haggle does for jobs that state their nodes.
# - The order of level fair shares is clear at each calculation, as Slurm charges usage in steps.
set -euo pipefail
haggle=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -gt 1 ]; then
    mkdir -p "$2"
    record=$(realpath "$2")
else
    record=$(mktemp -d /tmp/haggle-queues.XXXXXX)
    temporary=$record
fi
finish() {
    "$here/cluster.sh" stop "$record/cluster"
    [ -z "${temporary:-}" ] || rm -rf "$temporary" || true
}
trap finish EXIT

# Waits until a command succeeds, for so many seconds.
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

# Submission in seconds, user, queue, nodes, processors, run time in seconds, time limit in minutes. The first jobs make
# all users known.
jobs='
2 root long 1 1 2 1
3 daemon long 1 1 6 1
4 bin long 1 1 4 1
5 sys long 1 1 8 1
65 daemon long 1 4 50 25
66 daemon long 1 4 35 16
67 bin long 1 4 45 40
69 daemon short 1 2 40 5
70 sys short 1 2 50 11
72 daemon short 1 2 20 11
73 bin long 2 8 30 40
75 sys long 1 4 40 25
77 daemon long 1 4 25 1
78 bin short 1 4 30 7
80 sys short 1 2 20 3
82 sys long 2 8 20 40
85 daemon long 1 2 15 2
88 bin long 1 2 30 13
91 daemon short 1 2 30 2
95 bin short 1 4 20 5
100 sys short 1 2 25 7
110 daemon long 1 4 30 13
115 bin long 1 4 20 20
120 sys long 1 4 45 25
125 daemon short 1 4 20 2
135 bin short 1 2 30 9
145 sys short 1 4 15 3
155 daemon long 2 8 20 2
175 bin long 1 4 30 40
195 sys long 1 4 20 13
'
jobs=$(grep . <<<"$jobs")
count=$(wc -l <<<"$jobs")

account_of() {
    case $1 in
    root) echo root ;;
    sys) echo biology ;;
    *) echo physics ;;
    esac
}

nodes_are_idle() { [ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | wc -l)" = 4 ]; }
# Instants at which Slurm calculated fair shares.
calculations() { sed -n 's/^\[\([^.]*\).*Fair Tree fairshare algorithm, starting at root.*/\1/p' "$record/cluster/log/slurmctld"; }
calculations_after() { [ "$(calculations | wc -l)" -gt "$1" ]; }
# Notes priorities and reasons meanwhile.
no_jobs_wait_or_run() {
    date +%s >>"$record/watched"
    squeue --noheader --format='%j %u %P %T %Q %r %S' >"$record/queue"
    cat "$record/queue" >>"$record/watched"
    sprio --noheader --format='%i %Y %A %F %J %P' >>"$record/watched"
    sleep 3
    [ ! -s "$record/queue" ]
}
all_are_recorded() {
    SLURM_TIME_FORMAT=%s sacct --allusers --allocations --noheader --parsable2 --starttime=now-1hour \
        --format=JobName,User,Submit,Start,End,State,NodeList >"$record/sacct"
    [ "$(grep -c '|COMPLETED|' "$record/sacct")" = "$count" ]
}

run_slurm() {
    local cluster=$record/cluster
    mkdir -p "$cluster"
    chmod 755 "$record"
    # Its functions, and the variable `dir`.
    . "$here/cluster.sh" functions "$cluster"
    configure
    local port
    port=$(sed -n 's/^SlurmctldPort=//p' "$cluster/slurm.conf")
    sed -i '/^NodeName=/d; /^PartitionName=/d; /^SelectTypeParameters=/d; /^SchedulerParameters=/d' "$cluster/slurm.conf"
    cat >>"$cluster/slurm.conf" <<CONF
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=1,batch_sched_delay=0,bf_window_linear=1,default_queue_depth=1000
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityDecayHalfLife=00:30:00
PriorityMaxAge=00:10:00
PriorityWeightAge=600
PriorityWeightFairshare=1000
PriorityWeightJobSize=400
PriorityWeightPartition=300
SlurmctldDebug=debug
DebugFlags=Priority,Backfill,BackfillMap
NodeName=DEFAULT Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 State=UNKNOWN
$(for node in 1 2 3 4; do echo "NodeName=n$node NodeHostname=localhost Port=$((port + node)) Weight=$node"; done)
PartitionName=long Nodes=n1,n2,n4 Default=YES MaxTime=1:00:00 PriorityJobFactor=5 State=UP
PartitionName=short Nodes=n3,n4 MaxTime=1:00:00 PriorityJobFactor=10 QOS=short State=UP
CONF
    munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
        --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=2
    account
    export SLURM_CONF=$cluster/slurm.conf
    local set='sacctmgr --immediate --quiet'
    $set add qos short >/dev/null
    $set modify qos short set MaxJobsPerUser=1 >/dev/null
    $set add account physics fairshare=3 >/dev/null
    $set add account biology fairshare=1 >/dev/null
    $set add user daemon account=physics fairshare=2 >/dev/null
    $set add user bin account=physics fairshare=1 >/dev/null
    $set add user sys account=biology >/dev/null
    start_controller
    for node in 1 2 3 4; do start_node "n$node"; done
    within 60 nodes_are_idle
    local before zero
    before=$(calculations | wc -l)
    within 70 calculations_after "$before"
    zero=$(date --date="$(calculations | tail -n 1)" +%s)
    echo "$zero" >"$record/zero"
    local number=0 submit user queue nodes processors run minutes
    while read -r submit user queue nodes processors run minutes; do
        number=$((number + 1))
        while [ "$(date +%s)" -lt $((zero + submit)) ]; do sleep 0.1; done
        sbatch --quiet --job-name="$number" --uid="$user" --gid="$user" --account="$(account_of "$user")" --partition="$queue" \
            --nodes="$nodes" --ntasks="$processors" --time="$minutes" --output=/dev/null --chdir=/ --wrap="sleep $run" >>"$record/sbatch" 2>&1
    done <<<"$jobs"
    within 600 no_jobs_wait_or_run
    within 60 all_are_recorded
    sort -t '|' -n "$record/sacct" -o "$record/sacct"
    sshare --all >"$record/sshare"
    "$here/cluster.sh" stop "$cluster"
}

# The case as a scenario. Submissions and run times are those of Slurm's records.
scenario_of() {
    echo "# Made by tests/slurm/queues.sh."
    echo '[[workload]]'
    echo 'name = "jobs"'
    echo 'jobs = ['
    paste -d ' ' <(tr '|' ' ' <"$record/sacct") - <<<"$jobs" | awk -v zero="$(cat "$record/zero")" '
        BEGIN { numbers["root"] = 0; numbers["daemon"] = 1; numbers["bin"] = 2; numbers["sys"] = 3 }
        {
            user = $2; queue = $10
            group = user == "root" ? "" : user == "sys" ? ", group = 2" : ", group = 1"
            printf "    { submit = \"%ds\", processors = %d, nodes = %d, run = \"%ds\", requested = \"%dmin\", user = %d%s, queue = %d },\n",
                $3 - zero, $12, $11, $5 - $4, $14, numbers[user], group, queue == "long" ? 1 : 2
        }'
    cat <<TOML
]

[[provider]]
name = "cluster"
policy = $1

[[provider.node]]
name = "long"
count = 2
cores = 4

[[provider.node]]
name = "short"
cores = 4

[[provider.node]]
name = "common"
cores = 4

[[provider.queue]]
name = "long"
number = 1
priority = 5
nodes = ["long", "common"]

[[provider.queue]]
name = "short"
number = 2
priority = 10
nodes = ["short", "common"]
user-limits = { running = 1 }

[[provider.account]]
name = "physics"
groups = [1]
shares = 3
users = [{ user = 1, shares = 2 }]

[[provider.account]]
name = "biology"
groups = [2]

[provider.priority]
weights = { age = 600, fair-share = 1000, size = 400, queue = 300 }
max-age = "10min"
half-life = "30min"
calculation-period = "1min"

[[user]]
name = "users"
workload = "jobs"
submits-to = "cluster"
TOML
}

# Starts of a policy, one a line, in the order of the list of jobs.
starts_of() {
    scenario_of "$2" >"$record/$1.toml"
    "$haggle" run "$record/$1.toml" -o "$record/$1" --format csv --check --force --quiet >"$record/$1.txt" 2>&1 || { cat "$record/$1.txt" >&2; exit 1; }
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i; next } { print $place["job"], $place["starting_time"] }' "$record/$1/jobs.csv" |
        sort -n | cut -d ' ' -f 2
}

[ -f "$record/sshare" ] || run_slurm
starts_of conservative '{ name = "conservative", compression = "replan" }' >"$record/starts-conservative"
starts_of easy '"easy"' >"$record/starts-easy"
paste -d ' ' <(tr '|' ' ' <"$record/sacct") "$record/starts-conservative" "$record/starts-easy" <(cut -d ' ' -f 3-5 <<<"$jobs") |
    awk -v zero="$(cat "$record/zero")" -v slack=3 '
    function order(name, starts,   a, b, turned, largest, same, d) {
        turned = largest = same = 0
        for (a = 1; a <= NR; a++) {
            d = starts[a] - slurm[a]
            if (d < 0) d = -d
            if (d > largest) largest = d
            if (d < slack) same++
            for (b = 1; b <= NR; b++)
                if (slurm[a] + slack <= slurm[b] && starts[a] > starts[b]) {
                    turned++
                    printf "  %s starts job %d before job %d, Slurm %d s after it\n", name, b, a, slurm[b] - slurm[a]
                }
        }
        printf "%s: %d of %d starts within less than %d s, largest difference %g s, %d pairs in another order\n", name, same, NR, slack, largest, turned
        return turned
    }
    NR == 1 { printf "%3s %-6s %-5s %5s %5s %6s %5s %5s %12s %5s %5s %5s  %s\n", "job", "user", "queue", "nodes", "cores", "submit", "run", "Slurm", "conservative", "diff", "easy", "diff", "nodes of Slurm" }
    {
        slurm[NR] = $4 - zero; conservative[NR] = $8; easy[NR] = $9
        printf "%3d %-6s %-5s %5d %5d %6d %5d %5d %12g %5g %5g %5g  %s\n", $1, $2, $10, $11, $12, $3 - zero, $5 - $4, slurm[NR], $8, $8 - slurm[NR], $9, $9 - slurm[NR], $7
    }
    END { exit order("conservative", conservative) + order("easy", easy) > 0 }'
