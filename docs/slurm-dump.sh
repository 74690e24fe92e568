#!/bin/sh
# Takes a dump of a Slurm site for `haggle import slurm`: jobs, nodes, partitions, limits, shares and down times.
#
#   slurm-dump.sh FOLDER [START [END]]
#
# FOLDER must not exist. START and END are times as GNU `date` reads them, such as 2026-01-01. The default is the last 30 days.
#
# The script only asks, by `sacct`, `scontrol show` and `sacctmgr --readonly show`. It runs on a login node, without root.
# Ask an operator to run it if PrivateData of slurm.conf hides the jobs of others: any other user would get a part of the jobs.
#
# Names of persons are removed: users become u1, u2, ..., accounts a1, a2, ..., Unix groups g1, g2, ... and reservations r1, r2, ...
# The user and the account `root` stay. Names of jobs, comments, addresses and paths are never in the dump.
# Names of the cluster, partitions, QOS, nodes, features and licenses stay: look at qos.txt and partitions.txt if they could name a person.
#
#   KEEP_NAMES=1   keeps names, and reasons of down times
#   STEP_DAYS=7    days of jobs in one query; 30 if not given. slurmdbd refuses a longer query than MaxQueryTimeRange of slurmdbd.conf
#                  to users who are not operators, and an answer of more than 3 GB to anyone.
set -eu
export SLURM_TIME_FORMAT=%s LC_ALL=C
unset SLURM_CLUSTERS SACCT_FEDERATION # of this cluster only
umask 077

fail() { echo "slurm-dump: $*" >&2; exit 1; }
warn() { echo "slurm-dump: warning: $*" >&2; }
# Seconds since 1970 of a time, and a time as Slurm reads it.
seconds() { date -d "$1" +%s || fail "'$1' is no time; write 2026-01-01, for example"; }
clock() { date -d "@$1" +%Y-%m-%dT%H:%M:%S; }

case $# in 1 | 2 | 3) ;; *) fail "usage: slurm-dump.sh FOLDER [START [END]]" ;; esac
for command in sacct scontrol sacctmgr awk sort mktemp date; do
    command -v "$command" >/dev/null || fail "the command '$command' is missing; run this on a login node of the cluster"
done
folder=$1
start=$(seconds "${2:-30 days ago}")
end=$(seconds "${3:-now}")
[ "$start" -lt "$end" ] || fail "the start must be before the end"
[ ! -e "$folder" ] || fail "'$folder' exists already; state a new folder"
raw=$(mktemp -d)
trap 'rm -rf "$raw"' EXIT
mkdir "$raw/dump"

# The controller: settings, nodes, partitions, and reservations that have not ended.
scontrol show config >"$raw/config.txt" || fail "the controller of Slurm does not answer"
for kind in node partition reservation; do
    scontrol show $kind --oneliner >"$raw/${kind}s.txt" || fail "Slurm does not show you each $kind; ask an operator"
done
private=$(sed -n 's/^PrivateData *= *//p' "$raw/config.txt")
[ "$private" = none ] || warn "PrivateData is '$private': the dump lacks jobs or users that you may not see"
cluster=$(sed -n 's/^ClusterName *= *//p' "$raw/config.txt")

# The database besides jobs. A site without these parts can still be imported.
account() {
    sacctmgr --readonly --parsable2 show "$@" 2>"$raw/error" || { warn "no '$1' of the accounting: $(head -n 1 "$raw/error")"; }
}
account qos >"$raw/qos.txt"
account association where cluster="$cluster" format=Cluster,Account,User,Partition,ParentName,Share,Priority,GrpJobs,GrpSubmit,GrpWall,GrpTRES,GrpTRESMins,GrpTRESRunMins,MaxJobs,MaxSubmit,MaxWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,QOS,DefaultQOS >"$raw/assoc.txt"
account event where event=node start="$(clock "$start")" end="$(clock "$end")" format=NodeName,Start,End,State,Reason >"$raw/events.txt"
# Reservations of the time of the dump, also ended ones.
account reservation where start="$(clock "$start")" end="$(clock "$end")" format=Name,Start,End,Flags,NodeNames,TRES >"$raw/past-reservations.txt"

# Jobs, a step of days at a time. Without a list of states, sacct leaves out jobs that ran without an eligible time: tasks of arrays
# that limit how many run at once, and jobs that were cancelled on hold. Columns that this version of Slurm does not have are left out.
# Constraints are last, since they may contain the sign between columns.
known=$(sacct --helpformat) || fail "sacct does not answer, and a dump without jobs is of no use"
columns=
for column in JobIDRaw JobID Submit Eligible Start End ElapsedRaw Suspended TimelimitRaw State ReqCPUS AllocCPUS ReqNodes NNodes ReqMem \
    ReqTRES AllocTRES Partition QOS QOSREQ Account User Priority Reservation ReqReservation Reason Flags Restarts Licenses Exclusive NodeList Constraints; do
    if echo "$known" | grep -qw "$column"; then columns=${columns:+$columns,}$column; fi
done
states=BF,CA,CD,DL,F,NF,OOM,PD,PR,R,RQ,S,TO
from=$start
while [ "$from" -lt "$end" ]; do
    to=$((from + ${STEP_DAYS:-30} * 86400))
    [ "$to" -le "$end" ] || to=$end
    sacct --allusers --allocations --duplicates --noheader --parsable2 --starttime="$(clock "$from")" --endtime="$(clock "$to")" \
        --state="$states" --format="$columns" >>"$raw/jobs" || fail "sacct refuses the jobs from $(clock "$from") to $(clock "$to"); try a smaller STEP_DAYS"
    from=$to
    sleep 1 # leaves slurmdbd time for others
done
# A job that ran across two steps is in both. Job, submission and start tell the runs of a requeued job apart.
echo "$columns" | tr , '|' >"$raw/sacct.txt"
sort -t '|' -u -k 1,1n -k 3,3n -k 5,5n -T "$raw" "$raw/jobs" >>"$raw/sacct.txt"

scontrol --version >"$raw/dump/slurm-version.txt"
cat >"$raw/dump/dump.txt" <<EOF
start=$start
end=$end
taken=$(date +%s)
time-zone=$(cat /etc/timezone 2>/dev/null || readlink /etc/localtime | sed 's|.*/zoneinfo/||')
utc-offset=$(date -d "@$start" +%z)
names=$([ -n "${KEEP_NAMES:-}" ] && echo kept || echo removed)
private-data=$private
EOF

# The same name becomes the same number in all files, so one program writes them all.
for file in "$raw"/*.txt; do : >"$raw/dump/${file##*/}"; done
awk -v folder="$raw/dump" -v keep="${KEEP_NAMES:-}" '
# A list of names of a kind. A sign before a name excludes it.
function renamed(letter, list,   names, number, i, sign, name, text) {
    if (keep || list ~ /^(|\(null\)|ALL|NONE)$/) return list
    number = split(list, names, ",")
    for (i = 1; i <= number; i++) {
        name = names[i]
        sign = name ~ /^[-+]/ ? substr(name, 1, 1) : ""
        name = tolower(substr(name, length(sign) + 1))
        if (name == "root") new[letter, name] = name
        if (!((letter, name) in new)) new[letter, name] = letter (++count[letter])
        text = text (i > 1 ? "," : "") sign new[letter, name]
    }
    return text
}
BEGIN {
    kind["User"] = kind["Users"] = kind["AllowUsers"] = "u"
    kind["Account"] = kind["Accounts"] = kind["ParentName"] = kind["Par Name"] = kind["AllowAccounts"] = kind["DenyAccounts"] = "a"
    kind["Groups"] = kind["AllowGroups"] = "g"
    kind["Reservation"] = kind["ReqReservation"] = kind["ReservationName"] = kind["Name", "past-reservations.txt"] = "r"
    # Free texts have spaces and may look like settings, so only these settings stay. Partitions have no free text.
    wanted["nodes.txt"] = "^(NodeName|Arch|CPUTot|CPUEfctv|CoresPerSocket|Sockets|Boards|ThreadsPerCore|CoreSpecCount|CPUSpecList|MemSpecLimit|AvailableFeatures|ActiveFeatures|Gres|RealMemory|TmpDisk|State|Weight|MCS_label|Partitions|CfgTRES)$"
    wanted["partitions.txt"] = "."
    wanted["reservations.txt"] = "^(ReservationName|StartTime|EndTime|Duration|Nodes|NodeCnt|CoreCnt|Features|PartitionName|AllowedPartitions|QOS|Flags|TRES|Users|Groups|Accounts|Licenses|State|MaxStartDelay)$"
    wanted["config.txt"] = "^(ClusterName|SLURM_VERSION|Priority[^S].*|Scheduler(Type|Parameters)|SelectType.*|Preempt.*|AccountingStorage(Enforce|TRES)|(Def|Max)Mem.*|Max(ArraySize|JobCount)|EnforcePartLimits|OverTimeLimit|ResvOverRun|KillWait|CompleteWait|JobRequeue|GresTypes|Licenses|(Suspend|Resume)(Time|Timeout|Rate)|FairShareDampeningFactor|TopologyPlugin|DependencyParameters|Slurmd(Timeout|Parameters)|ReturnToService|PrivateData)$"
    # Reasons that Slurm itself writes, without what follows.
    usual = "^(Not responding|Node unexpectedly rebooted|Kill task failed|Prolog error|Epilog error|Low [A-Za-z]+|Node (Down|Failure))"
}
FNR == 1 { file = FILENAME; sub(/.*\//, "", file); output = folder "/" file }
file == "config.txt" { if ($2 == "=" && $1 ~ wanted[file]) print >output; next }
file in wanted {
    line = ""
    split("", seen)
    for (i = 1; i <= NF; i++) {
        name = $i
        if (!sub(/=.*/, "", name) || name !~ wanted[file] || name in seen) continue
        seen[name]
        value = substr($i, length(name) + 2)
        line = line (line == "" ? "" : " ") name "=" (name in kind ? renamed(kind[name], value) : value)
    }
    if (line != "") print line >output
    next
}
# Tables: the first line has the names of the columns.
FNR == 1 { columns = split($0, column, "|"); print >output; next }
{
    fields = split($0, field, "|")
    line = ""
    for (i = 1; i <= fields; i++) {
        value = field[i]
        name = column[i]
        if (name in kind) value = renamed(kind[name], value)
        else if ((name, file) in kind) value = renamed(kind[name, file], value)
        # Cancelled jobs have the number of the user who cancelled them.
        else if (name == "State") sub(/ by [0-9]+$/, "", value)
        else if (name == "Reason" && file == "events.txt" && !keep) value = match(value, usual) ? substr(value, 1, RLENGTH) : ""
        if (i <= columns || file == "sacct.txt" || keep) line = line (i > 1 ? "|" : "") value
    }
    print line >output
}' "$raw/assoc.txt" "$raw"/[!a]*.txt
mv "$raw/dump" "$folder"
echo "The dump is in $folder. Look through it before you hand it on." >&2
