#!/usr/bin/env bash
# Live nodes whose machine is a real Slurm of two nodes (cluster.sh): whatever ends in between, each program runs once,
# no job and no reservation is left, and the run repeats.
#
#   live.sh HAGGLE [accounting]
set -euo pipefail
haggle=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d /tmp/haggle-live.XXXXXX)
chmod 755 "$place"
nodes=()
stop() {
    kill -9 "${nodes[@]}" 2>/dev/null || true
    "$here/cluster.sh" stop "$place/cluster"
    [ -n "${KEEP:-}" ] || rm -rf "$place" || true
}
trap stop EXIT
mkdir "$place/cluster"
"$here/cluster.sh" start "$place/cluster" "${2:-}"
export SLURM_CONF=$place/cluster/slurm.conf
cd "$place"

step() { printf '  -- %s\n' "$*"; }
fail() {
    echo "FAILED: $*" >&2
    squeue --states=all >&2 || true
    grep -h '"WARN"\|"ERROR"' "$place"/*.log >&2 || true
    tail -n 15 "$place"/*.log "$place"/cluster/log/slurm* >&2 || true
    exit 1
}
until_is() {
    for _ in $(seq ${TRIES:-960}); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.25
    done
    fail "never came: $*"
}
begun() { [ "$(grep -c begins runs)" -ge "$1" ]; }
ended() { [ "$(grep -c ends runs)" -ge "$1" ]; }
no_jobs() { [ -z "$(squeue --noheader)" ]; }
node() {
    "$haggle" live node "run/$1" --log json 2>>"$1.log" >>"$1.log" &
    nodes+=($!)
    last=$!
}

cat >real.toml <<'EOF'
[scenario]
name = "real"
[[workload]]
name = "jobs"
log = "jobs.swf"
[[user]]
name = "users"
workload = "jobs"
submits-to = "north"
[[provider]]
name = "north"
processors = 2
policy = "easy"
EOF
{
    echo '; MaxProcs: 2'
    for number in $(seq 8); do
        processors=$((number % 3 == 0 ? 2 : 1))
        echo "$number $((number * 30)) -1 240 $processors -1 -1 $processors 14400 -1 1 1 1 -1 1 1 -1 -1"
    done
} >jobs.swf

# Makes a run of two nodes, whose provider has this machine.
make_run() {
    rm -rf run runs ./*.log
    touch runs
    "$haggle" live init real.toml --scale 60 -o run --port 23100 --status-port 23150 >/dev/null
    printf '\n[machine]\nkind = "slurm"\n%s\n' "$1" >>run/north/node.toml
}
repeats() {
    "$haggle" live verify run >verified.txt && grep -q 'the same' verified.txt || fail "the run does not repeat: $(cat verified.txt)"
}
finish() {
    wait "$1" || fail "users ended with $?"
    wait "$2" || fail "north ended with $?"
    for job in $(seq 0 7); do
        [ "$(grep -cx "begins $job" runs)" = "$3" ] || fail "job $job did not begin $3 times: $(sort runs | uniq -c)"
        [ "$(grep -cx "ends $job" runs)" = "$3" ] || fail "job $job did not end $3 times"
    done
    until_is no_jobs
    "$haggle" live results run --check --no-figures --quiet >results.txt || fail "the results are not sound"
    repeats
}
program='command = ["sh", "-c", "echo begins {job} >> '$place'/runs; sleep {seconds}; echo ends {job} >> '$place'/runs"]'

step "a reservation; node and controller end and come back"
make_run "$program
hold = { mode = \"operator\", nodes = \"n1,n2\" }"
node users; users=$last
node north; north=$last
until_is begun 1
scontrol show reservations | grep -q 'ReservationName=haggle-.*north' || fail "there is no reservation"
kill -9 "$north"
until_is ended 1
node north; north=$last
until_is begun 3
# By SIGTERM, since Slurm itself forgets jobs of its last seconds after SIGKILL, and then closes nodes.
kill "$(cat cluster/slurmctld.pid)"
until_is ended 3
"$here/cluster.sh" controller "$place/cluster"
until_is begun 5
finish "$users" "$north" 1
scontrol show reservations | grep -q haggle && fail "the reservation is left"
grep -q '^[0-9-]*,[0-9]*,[0-9.]*,[0-9]*,[0-9.]*$' run/north/work/starts.csv || fail "no start is noted: $(cat run/north/work/starts.csv)"
sed 's/^/     /' run/north/work/starts.csv | head -3

step "the answer of sbatch is lost"
make_run "$program
hold = { mode = \"operator\", nodes = \"n1,n2\" }"
# An sbatch that submits, and then says nothing; every second time it does not even submit.
mkdir -p lossy
cat >lossy/sbatch <<EOF
#!/bin/sh
case " \$* " in *" --test-only "*) exec /usr/bin/sbatch "\$@" ;; esac
count=\$(cat $place/lossy/count 2>/dev/null || echo 0)
echo \$((count + 1)) >$place/lossy/count
case \$((count % 3)) in
0) /usr/bin/sbatch "\$@" >/dev/null; exit 1 ;;
1) exit 1 ;;
2) exec /usr/bin/sbatch "\$@" ;;
esac
EOF
chmod 755 lossy/sbatch
PATH=$place/lossy:$PATH
node users; users=$last
node north; north=$last
finish "$users" "$north" 1
PATH=${PATH#*:}
echo "     sbatch was called $(cat lossy/count) times"

step "a pilot job; the node ends and comes back"
make_run "$program
hold = { mode = \"user\", time = \"10:00\" }"
node users; users=$last
node north; north=$last
until_is begun 1
kill -9 "$north"
until_is ended 1
node north; north=$last
wait "$users" "$north" || fail "a node failed"
# srun starts a program on each of its processors.
for job in $(seq 0 7); do
    processors=$(((job + 1) % 3 == 0 ? 2 : 1))
    [ "$(grep -cx "ends $job" runs)" = "$processors" ] || fail "job $job: $(sort runs | uniq -c)"
done
until_is no_jobs
repeats
