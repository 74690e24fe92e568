#!/usr/bin/env bash
# A Slurm of our own on this host: slurmctld, two slurmd (n1, n2) and munge, without systemd, all in one
# folder and on ports of their own. Wants root and Debian's slurmctld, slurmd, slurm-client and munge.
#
#   cluster.sh start DIR       then: export SLURM_CONF=DIR/slurm.conf
#   cluster.sh start DIR accounting   the same with slurmdbd over MariaDB (slurmdbd and mariadb-server of Debian)
#   cluster.sh controller DIR  starts slurmctld again
#   cluster.sh node DIR NAME   starts a node again
#   cluster.sh stop DIR
set -euo pipefail
dir=$2

configure() {
    mkdir -p "$dir"/{state,log,munge}
    chmod 700 "$dir/munge"
    dd if=/dev/urandom of="$dir/munge/key" bs=128 count=1 status=none
    chmod 600 "$dir/munge/key"
    local port=$((20000 + RANDOM % 20000))
    cat >"$dir/slurm.conf" <<EOF
ClusterName=haggle
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdTimeout=10
KillWait=5
MinJobAge=600
MaxArraySize=9
MaxJobCount=1000
NodeName=n1 NodeHostname=localhost Port=$((port + 1)) CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=localhost Port=$((port + 2)) CPUs=1 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=1:00:00 State=UP
EOF
}

# A database of our own, and slurmdbd over it.
account() {
    local port=$((40000 + RANDOM % 20000))
    mkdir -p "$dir/database"
    mariadb-install-db --no-defaults --user=root --datadir="$dir/database/data" --auth-root-authentication-method=normal >"$dir/log/database" 2>&1
    mariadbd --no-defaults --user=root --datadir="$dir/database/data" --socket="$dir/database/socket" --skip-networking \
        --pid-file="$dir/database/pid" --innodb-buffer-pool-size=64M >>"$dir/log/database" 2>&1 &
    for _ in $(seq 60); do
        mariadb --no-defaults --socket="$dir/database/socket" -e 'create database if not exists slurm' 2>/dev/null && break
        sleep 0.5
    done
    cat >"$dir/slurmdbd.conf" <<EOF
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
DbdHost=localhost
DbdPort=$port
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageLoc=slurm
StorageUser=root
LogFile=$dir/log/slurmdbd
PidFile=$dir/slurmdbd.pid
EOF
    chmod 600 "$dir/slurmdbd.conf"
    sed -i "s|^AccountingStorageType=.*|AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=localhost\nAccountingStoragePort=$port\nAccountingStoragePass=$dir/munge/socket|" "$dir/slurm.conf"
    # The C library of MariaDB takes the socket from its option file.
    printf '[client]\nsocket=%s\n' "$dir/database/socket" >"$dir/my.cnf"
    HOME=$dir MARIADB_HOME=$dir MYSQL_HOME=$dir MYSQL_UNIX_PORT=$dir/database/socket SLURM_CONF=$dir/slurm.conf slurmdbd >"$dir/log/start-slurmdbd" 2>&1
    for _ in $(seq 60); do
        SLURM_CONF=$dir/slurm.conf sacctmgr --immediate --noheader list cluster >"$dir/log/sacctmgr" 2>&1 && break
        sleep 0.5
    done
    SLURM_CONF=$dir/slurm.conf sacctmgr --immediate --quiet add cluster haggle >/dev/null 2>&1 || true
}

start_controller() {
    SLURM_CONF=$dir/slurm.conf slurmctld >>"$dir/log/start" 2>&1
}

start_node() {
    mkdir -p "$dir/spool-$1"
    SLURM_CONF=$dir/slurm.conf slurmd -N "$1" >"$dir/log/start-$1" 2>&1
}

# Until both nodes are idle, or a minute has gone.
wait_idle() {
    for _ in $(seq 60); do
        [ "$(SLURM_CONF=$dir/slurm.conf sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" = 2 ] && return
        sleep 1
    done
    echo "the nodes did not come up:" >&2
    tail -n 20 "$dir"/log/* >&2
    return 1
}

case $1 in
start)
    configure
    munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
        --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" --num-threads=2
    [ "${3:-}" != accounting ] || account
    start_controller
    start_node n1
    start_node n2
    wait_idle
    ;;
controller)
    start_controller
    ;;
node)
    start_node "$3"
    wait_idle
    ;;
stop)
    pids=()
    for file in "$dir"/slurmd-*.pid "$dir/slurmctld.pid" "$dir/slurmdbd.pid" "$dir/database/pid" "$dir/munge/pid"; do
        [ -f "$file" ] && pids+=("$(cat "$file")")
    done
    kill "${pids[@]}" 2>/dev/null || true
    # A controller writes its state as it ends, into a folder that the caller may be about to remove.
    for _ in $(seq 60); do
        kill -0 "${pids[@]}" 2>/dev/null || exit 0
        sleep 0.25
    done
    kill -9 "${pids[@]}" 2>/dev/null || true
    ;;
esac
