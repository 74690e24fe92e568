#!/usr/bin/env bash
# Queues, accounts and priorities on a real Slurm of four nodes (cluster.sh), and the same case in haggle: starts are
# compared job by job.
#
#   queues.sh HAGGLE [RECORD]
set -euo pipefail
haggle=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
record=${2:-$(mktemp -d /tmp/haggle-queues.XXXXXX)}
mkdir -p "$record"
record=$(realpath "$record")

# Submission in seconds, user, queue, nodes, processors, run time in seconds, time limit in minutes. The first jobs make
# all users known.
jobs='
2 root long 1 1 5 1
3 daemon long 1 1 5 1
4 bin long 1 1 5 1
5 sys long 1 1 5 1
20 daemon long 1 4 50 1
21 daemon long 1 4 35 1
22 bin long 1 4 45 2
24 daemon short 1 2 40 1
25 sys short 1 2 50 1
27 daemon short 1 2 20 1
28 bin long 2 8 30 1
30 sys long 1 4 40 2
32 daemon long 1 4 25 1
33 bin short 1 4 30 1
35 sys short 1 2 20 1
37 sys long 2 8 20 3
40 daemon long 1 2 15 1
43 bin long 1 2 30 1
46 daemon short 1 2 30 1
50 bin short 1 4 20 1
55 sys short 1 2 25 1
65 daemon long 1 4 30 1
70 bin long 1 4 20 1
75 sys long 1 4 45 1
80 daemon short 1 4 20 1
90 bin short 1 2 30 1
100 sys short 1 4 15 1
110 daemon long 2 8 20 1
130 bin long 1 4 30 1
150 sys long 1 4 20 1
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

run_slurm() {
    local cluster=$record/cluster
    mkdir -p "$cluster"
    chmod 755 "$record"
    # Its functions, and the variable `dir`.
    . "$here/cluster.sh" functions "$cluster"
    trap '"$here/cluster.sh" stop "$record/cluster"' EXIT
    configure
    local port
    port=$(sed -n 's/^SlurmctldPort=//p' "$cluster/slurm.conf")
    sed -i '/^NodeName=/d; /^PartitionName=/d; /^SelectTypeParameters=/d; /^SchedulerParameters=/d' "$cluster/slurm.conf"
    cat >>"$cluster/slurm.conf" <<CONF
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=bf_interval=1,bf_resolution=1,sched_interval=1,batch_sched_delay=0,default_queue_depth=1000
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityDecayHalfLife=00:05:00
PriorityMaxAge=00:10:00
PriorityWeightAge=600
PriorityWeightFairshare=1000
PriorityWeightJobSize=400
PriorityWeightPartition=300
SlurmctldDebug=verbose
DebugFlags=Priority
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
    $set add qos short
    $set modify qos short set MaxJobsPerUser=1
    $set add account physics fairshare=2
    $set add account biology fairshare=1
    $set add user daemon account=physics fairshare=3
    $set add user bin account=physics fairshare=1
    $set add user sys account=biology
    start_controller
    for node in 1 2 3 4; do start_node "n$node"; done
    for _ in $(seq 60); do
        [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = 4 ] && break
        sleep 0.5
    done
    # Priorities are calculated once in a minute from the start of slurmctld on.
    local calculation='Fair Tree fairshare algorithm, starting at root'
    local calculated
    calculated=$(grep -c "$calculation" "$cluster/log/slurmctld" || true)
    until [ "$(grep -c "$calculation" "$cluster/log/slurmctld" || true)" -gt "$calculated" ]; do sleep 0.2; done
    local zero
    zero=$(grep "$calculation" "$cluster/log/slurmctld" | tail -n 1 | sed 's/^\[\([^.]*\).*/\1/')
    zero=$(date --date="$zero" +%s)
    echo "$zero" >"$record/zero"
    local number=0 submit user queue nodes processors run minutes
    while read -r submit user queue nodes processors run minutes; do
        number=$((number + 1))
        while [ "$(date +%s)" -lt $((zero + submit)) ]; do sleep 0.1; done
        sbatch --quiet --job-name="$number" --uid="$user" --gid="$user" --account="$(account_of "$user")" --partition="$queue" \
            --nodes="$nodes" --ntasks="$processors" --time="$minutes" --output=/dev/null --chdir=/ --wrap="sleep $run" >>"$record/sbatch" 2>&1
    done <<<"$jobs"
    while [ -n "$(squeue --noheader)" ]; do
        {
            date +%s
            squeue --noheader --format='%j %u %P %T %Q %r %S'
            sprio --noheader --format='%i %Y %A %F %J %P'
        } >>"$record/watched"
        sleep 3
    done
    until
        SLURM_TIME_FORMAT=%s sacct --allusers --allocations --noheader --parsable2 --starttime=00:00:00 \
            --format=JobName,User,Submit,Start,End,State,NodeList >"$record/sacct"
        [ "$(grep -c '|COMPLETED|' "$record/sacct")" = "$count" ]
    do sleep 1; done
    sort -t '|' -n "$record/sacct" -o "$record/sacct"
    sshare --all >"$record/sshare"
    cp "$cluster/log/slurmctld" "$record/slurmctld.log"
    "$here/cluster.sh" stop "$cluster"
    trap - EXIT
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
shares = 2
users = [{ user = 1, shares = 3 }]

[[provider.account]]
name = "biology"
groups = [2]

[provider.priority]
weights = { age = 600, fair-share = 1000, size = 400, queue = 300 }
max-age = "10min"
half-life = "5min"
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
    awk -v zero="$(cat "$record/zero")" -v slack=2 '
    function order(name, starts,   a, b, turned, largest, same, d) {
        turned = largest = same = 0
        for (a = 1; a <= NR; a++) {
            d = starts[a] - slurm[a]
            if (d < 0) d = -d
            if (d > largest) largest = d
            if (d <= slack) same++
            for (b = 1; b <= NR; b++)
                if (slurm[a] + slack < slurm[b] && starts[a] > starts[b]) {
                    turned++
                    printf "  %s starts job %d before job %d, Slurm %d s after it\n", name, b, a, slurm[b] - slurm[a]
                }
        }
        printf "%s: %d of %d starts within %d s, largest difference %g s, %d pairs in another order\n", name, same, NR, slack, largest, turned
        return turned
    }
    NR == 1 { printf "%3s %-6s %-5s %5s %5s %6s %5s %5s %12s %5s %5s %5s  %s\n", "job", "user", "queue", "nodes", "cores", "submit", "run", "Slurm", "conservative", "diff", "easy", "diff", "nodes of Slurm" }
    {
        slurm[NR] = $4 - zero; conservative[NR] = $8; easy[NR] = $9
        printf "%3d %-6s %-5s %5d %5d %6d %5d %5d %12g %5g %5g %5g  %s\n", $1, $2, $10, $11, $12, $3 - zero, $5 - $4, slurm[NR], $8, $8 - slurm[NR], $9, $9 - slurm[NR], $7
    }
    END { exit order("conservative", conservative) + order("easy", easy) > 0 }'
