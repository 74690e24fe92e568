#!/usr/bin/env bash
# A site of six nodes of two kinds on a real Slurm with accounting: two overlapping partitions, three users in two accounts,
# three QOS, 200 jobs, a node that goes down, a node that stops to answer, and a maintenance. docs/slurm-dump.sh takes its dump,
# and haggle imports and runs it. Takes some ten minutes. If the folder RECORD has the dump already, only haggle runs.
#
#   site.sh HAGGLE [RECORD]
set -euo pipefail
haggle=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -gt 1 ]; then
    mkdir -p "$2"
    record=$(realpath "$2")
else
    record=$(mktemp -d /tmp/haggle-site.XXXXXX)
    temporary=$record
fi
finish() {
    "$here/cluster.sh" stop "$record/cluster"
    [ -z "${temporary:-}" ] || rm -rf "$temporary" || true
}
trap finish EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# Waits until a command succeeds, for so many seconds.
within() {
    local deadline=$((SECONDS + $1))
    until "${@:2}"; do
        if [ $SECONDS -gt $deadline ]; then
            tail -n 20 "$record"/cluster/log/* >&2
            fail "never came: ${*:2}"
        fi
        sleep 1
    done
}
nodes_are_idle() { [ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | wc -l)" = 6 ]; }
node_is_busy() { [ -n "$(squeue --noheader --states=running --nodelist=n1)" ]; }
no_jobs_wait_or_run() { [ -z "$(squeue --noheader)" ]; }

# One job a line: submission in seconds, user, account, partition, QOS, nodes, cores, MB a node, GPUs a node, limit in minutes,
# run time in seconds, and seconds from the submission to its cancellation, if it is cancelled. A generator of Park and Miller
# draws them, so that each awk makes the same jobs. Further jobs are an array whose tasks run one after the other, and a job that is
# cancelled on hold: sacct leaves out jobs without an eligible time if it is not asked well.
count=200
tasks=4
jobs() {
    awk -v count=$((count - tasks - 1)) '
    function draw(n) { state = (state * 16807) % 2147483647; return state % n }
    BEGIN {
        state = 2022
        split("daemon bin sys", users)
        split("physics physics biology", accounts)
        split("normal normal normal single few", classes)
        for (job = 1; job <= count; job++) {
            user = 1 + draw(3)
            partition = draw(3) ? "batch" : "short"
            nodes = draw(8) ? 1 : 2
            cores = nodes * (1 + (draw(3) ? draw(2) : draw(4)))
            # Many short jobs, and few long ones.
            run = draw(3) ? 1 + draw(15) : 15 + draw(46)
            limit = 1 + int(run / 60) + draw(4)
            # Few outlive their limit.
            if (job % 60 == 30) { run = 150; limit = 1 }
            print int(job * 1.3), users[user], accounts[user], partition, classes[1 + draw(5)], nodes, cores, 500 * (1 + draw(5)), \
                draw(10) ? 0 : 1, limit, run, job % 45 == 20 ? 6 : ""
        }
    }'
}

# Down times, at so many seconds.
disturb() {
    local zero=$1
    sleep 90
    # So that Slurm requeues a job.
    within 60 node_is_busy
    scontrol update nodename=n1 state=down reason="Paula changes a disk"
    sleep 60
    scontrol update nodename=n1 state=resume
    sleep $((zero + 200 - $(date +%s)))
    kill "$(cat "$record/cluster/slurmd-n3.pid")"
    sleep 60
    start_node n3
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
    # With ReturnToService=2, a node that answers would be up again at once.
    sed -i '/^NodeName=/d; /^PartitionName=/d; /^SelectTypeParameters=/d; s/^ReturnToService=.*/ReturnToService=1/' "$cluster/slurm.conf"
    cat >>"$cluster/slurm.conf" <<CONF
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
DefMemPerCPU=500
GresTypes=gpu
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations,limits,qos
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityDecayHalfLife=00:30:00
PriorityMaxAge=00:10:00
PriorityWeightAge=600
PriorityWeightFairshare=1000
PriorityWeightJobSize=400
PriorityWeightPartition=300
PriorityWeightQOS=200
NodeName=DEFAULT Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 State=UNKNOWN
$(for node in 1 2 3 4; do echo "NodeName=n$node NodeHostname=localhost Port=$((port + node)) RealMemory=4000"; done)
$(for node in 5 6; do echo "NodeName=n$node NodeHostname=localhost Port=$((port + node)) RealMemory=8000 Gres=gpu:2 Feature=gpu Weight=10"; done)
PartitionName=batch Nodes=n[1-6] Default=YES MaxTime=1:00:00 PriorityTier=1 PriorityJobFactor=5 State=UP
PartitionName=short Nodes=n[4-6] DefaultTime=1 MaxTime=5 MaxNodes=2 PriorityTier=2 PriorityJobFactor=10 AllowAccounts=physics,biology State=UP
CONF
    # Files instead of real GPUs.
    touch "$cluster"/gpu{0,1}
    echo "NodeName=n[5-6] Name=gpu File=$cluster/gpu[0-1]" >"$cluster/gres.conf"
    munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
        --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" --num-threads=2
    account
    export SLURM_CONF=$cluster/slurm.conf
    local set='sacctmgr --immediate --quiet'
    $set add qos single >/dev/null
    $set modify qos single set MaxJobsPerUser=1 Priority=100 >/dev/null
    $set add qos few >/dev/null
    $set modify qos few set GrpTRES=cpu=6 >/dev/null
    $set add account physics fairshare=3 >/dev/null
    $set add account biology fairshare=1 >/dev/null
    $set add user daemon account=physics fairshare=2 qos=normal,single,few >/dev/null
    $set add user bin account=physics fairshare=1 qos=normal,single,few >/dev/null
    $set add user sys account=biology qos=normal,single,few >/dev/null
    start_controller
    for node in 1 2 3 4 5 6; do start_node "n$node"; done
    within 60 nodes_are_idle

    local zero
    zero=$(date +%s)
    echo "$zero" >"$record/zero"
    scontrol create reservation reservation=mueller starttime="now+150" duration=2 nodes=n6 users=root flags=maint >>"$record/sbatch"
    disturb "$zero" >"$record/disturb" 2>&1 &
    local disturbing=$! number=0 submit user account partition class nodes cores memory gpus limit run cancel job
    local others=(--parsable --uid=sys --gid=sys --account=biology --time=1 --output=/dev/null --chdir=/ --wrap="sleep 8")
    sbatch "${others[@]}" --array="1-$tasks%1" >>"$record/sbatch"
    scancel "$(sbatch "${others[@]}" --hold)"
    while read -r submit user account partition class nodes cores memory gpus limit run cancel; do
        number=$((number + 1))
        while [ "$(date +%s)" -lt $((zero + submit)) ]; do sleep 0.1; done
        job=$(sbatch --parsable --job-name="secret-$number" --uid="$user" --gid="$user" --account="$account" --partition="$partition" \
            --qos="$class" --nodes="$nodes" --ntasks="$cores" --mem="$memory" --gres="gpu:$gpus" --time="$limit" --requeue \
            --output=/dev/null --chdir=/ --wrap="sleep $run" 2>>"$record/sbatch")
        [ -z "$cancel" ] || { sleep "$cancel"; scancel "$job"; } &
    done < <(jobs)
    wait "$disturbing"
    within 600 no_jobs_wait_or_run
    sshare --all --parsable2 --long >"$record/sshare"
    sleep 2 # until the database has the last ends
    "$here/../../docs/slurm-dump.sh" "$record/dump" "@$((zero - 60))"
    KEEP_NAMES=1 "$here/../../docs/slurm-dump.sh" "$record/dump-names" "@$((zero - 60))"
    "$here/cluster.sh" stop "$cluster"
}

# Lines of a file of the dump that match.
lines_of() { grep -cE "$2" "$record/dump/$1" || true; }

check_dump() {
    local jobs
    jobs=$(tail -n +2 "$record/dump/sacct.txt" | cut -d '|' -f 1 | sort -u | wc -l)
    [ "$jobs" = $count ] || fail "the dump has $jobs jobs instead of $count"
    local state file
    for state in COMPLETED CANCELLED TIMEOUT NODE_FAIL; do
        echo "$state: $(lines_of sacct.txt "\|$state\|")"
        [ "$(lines_of sacct.txt "\|$state\|")" -gt 0 ] || fail "no job is $state"
    done
    [ "$(lines_of events.txt '^n1\|.*\|DOWN')" -gt 0 ] || fail "no node was down"
    [ "$(lines_of events.txt '^n3\|.*\|DOWN.*\|Not responding')" -gt 0 ] || fail "the node n3 answered all of the time"
    [ "$(lines_of past-reservations.txt MAINT)" = 1 ] || fail "the maintenance is not in the dump"
    ! grep -rwE 'daemon|bin|sys|physics|biology|mueller|Paula|secret|localhost' "$record/dump" || fail "the dump has names"
    for file in "$record"/dump/*.txt; do
        [ "$(wc -l <"$file")" = "$(wc -l <"$record/dump-names/${file##*/}")" ] || fail "the names change the length of ${file##*/}"
    done
}

[ -d "$record/dump-names" ] || run_slurm
check_dump
if "$haggle" import --help >/dev/null 2>&1; then
    "$haggle" import slurm "$record/dump" -o "$record/site.toml"
    "$haggle" run "$record/site.toml" -o "$record/run" --format csv --check --force
fi
echo "passed"
