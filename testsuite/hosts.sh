#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hosts.sh - several hosts on one machine: network and host-name spaces, joined by a virtual switch.
#
#   hosts.sh up N                          makes N hosts; prints the name of their SET
#   hosts.sh run SET -n RANKS PROGRAM...   mpirun across them, in blocks of consecutive ranks
#   hosts.sh run N -n RANKS PROGRAM...     the same on N hosts that exist for this run only
#   hosts.sh exec SET HOST COMMAND...      one command on host number HOST, from 0
#   hosts.sh down SET                      ends what runs on them and removes them
#
# Host number H is called hH and has the address 10.77.0.(H+1); nothing of it is to be seen from
# outside, so sets do not disturb each other. For root only: others get status 77, and are told so.
# More options for mpirun may stand before the program.
set -u
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

cannot() {
	echo "several hosts on one machine: $1" >&2
	exit 77
}

hosts_of() { # SET -> its namespaces
	ip netns list | awk -v set="$1-" 'index($1, set) == 1 { print $1 }'
}

address() { # HOST
	echo "10.77.0.$(($1 + 1))"
}

# Host 0 owns the switch, the others have a cable to it.
connect() { # SET HOST
	local port=switch
	if [ "$2" -eq 0 ]; then
		ip -n "$1-0" link add switch type bridge
	else
		port=port
		ip link add port netns "$1-$2" type veth peer name "port$2" netns "$1-0" &&
			ip -n "$1-0" link set "port$2" master switch up
	fi &&
		ip -n "$1-$2" address add "$(address "$2")/24" dev $port &&
		ip -n "$1-$2" link set $port up &&
		ip -n "$1-$2" link set lo up
}

up() { # SET N
	[ "$(id -u)" -eq 0 ] || cannot "only root may make network namespaces"
	command -v ip >/dev/null || cannot "needs the command ip (Debian package iproute2)"
	local h why
	for h in $(seq 0 $(($2 - 1))); do
		why=$( { ip netns add "$1-$h" && connect "$1" "$h"; } 2>&1) || {
			down "$1"
			cannot "no network namespaces here: $why"
		}
	done
}

down() { # SET
	local host pids
	for host in $(hosts_of "$1"); do
		pids=$(ip netns pids "$host") && [ -n "$pids" ] && kill -KILL $pids
		ip netns delete "$host"
	done 2>/dev/null
}

on_host() { # SET HOST COMMAND...
	local set=$1 host=$2
	shift 2
	exec ip netns exec "$set-$host" unshare --uts sh -c 'hostname "$0" && exec "$@"' "h$host" "$@"
}

run() { # SET -n RANKS PROGRAM...
	local set=$1 count hosts h list=
	shift
	[ "$1" = -n ] || usage
	count=$(hosts_of "$set" | wc -l)
	[ "$count" -gt 0 ] || { echo "hosts.sh: there is no set $set" >&2; exit 2; }
	for h in $(seq 0 $((count - 1))); do
		list+=,$(address "$h"):$((($2 + count - 1) / count))
	done
	on_host "$set" 0 mpirun --allow-run-as-root --oversubscribe --quiet --host "${list#,}" \
		--mca plm_rsh_agent "$self agent $set" --mca oob_tcp_if_include 10.77.0.0/24 \
		--mca btl tcp,self --mca btl_tcp_if_include 10.77.0.0/24 --mca mpi_yield_when_idle 1 "$@"
}

run_once() { # N -n RANKS PROGRAM...
	local set=dprof$$ status
	trap 'down "$set"' EXIT
	trap 'exit 143' TERM INT HUP
	up "$set" "$1"
	shift
	(run "$set" "$@") <&0 &
	wait $!
	status=$?
	exit $status
}

# What mpirun calls in place of ssh: ADDRESS COMMAND...; the command is a line for a shell.
agent() { # SET ADDRESS COMMAND...
	local set=$1 host=$((${2##*.} - 1))
	shift 2
	on_host "$set" "$host" sh -c "$*"
}

usage() {
	sed -n 's/^#   //p' "$self" >&2
	exit 2
}

[ $# -ge 2 ] || usage
command=$1
shift
case $command in
up) up "dprof$$" "$1" && echo "dprof$$" ;;
run) case $1 in *[!0-9]*) run "$@" ;; *) run_once "$@" ;; esac ;;
exec) on_host "$@" ;;
down) down "$1" ;;
agent) agent "$@" ;;
*) usage ;;
esac
