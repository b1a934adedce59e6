#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Slow-down of MrBayes (C): built without dprof, with every function a region, and with a filter; one rank, so that
# nothing waits. Processor seconds of runs in turn, and instructions, which other jobs do not disturb.
. "$here/common.sh"
source_of mrbayes
rounds=${ROUNDS:-7}

cat >filter <<'END'
SCOREP_REGION_NAMES_BEGIN
  EXCLUDE *
  INCLUDE main DoMcmc RunChain LogLike Print* DoSum*
SCOREP_REGION_NAMES_END
END
build() {
	DPROF_WRAPPER=off ./configure --with-mpi --without-beagle --without-readline CC=dprof-mpicc MPICC=dprof-mpicc
	make SIMD_FLAGS="-mavx2 -mfma" # what valgrind knows
}
for which in plain functions filtered; do
	case $which in
	plain)     export DPROF_WRAPPER=off ;;
	functions) export DPROF_WRAPPER=on DPROF_WRAPPER_FLAGS=-fplugin-arg-dprof-auto=functions ;;
	filtered)  export DPROF_WRAPPER_FLAGS="-fplugin-arg-dprof-auto=functions -fplugin-arg-dprof-filter=$dir/filter" ;;
	esac
	built $which build
done

cp source/examples/primates.nex .
input() { # generations
	cat <<-END
		begin mrbayes;
		  set autoclose=yes nowarn=yes seed=4711 swapseed=4712;
		  execute primates.nex;
		  lset nst=6 rates=invgamma;
		  mcmcp ngen=$1 nruns=2 nchains=2 samplefreq=100 printfreq=10000 diagnfreq=10000;
		  mcmc;
		end;
	END
}
input 20000 >in.nex
input 500 >short.nex

seconds() { # folder: of the processor
	local TIMEFORMAT='%U %S'
	rm -rf primates.nex.* "$DPROF_DIR"
	mkdir -p "$DPROF_DIR"
	{ time mpi 1 "$1/src/mb" in.nex >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
instructions() { # folder
	rm -rf primates.nex.* "$DPROF_DIR"
	mkdir -p "$DPROF_DIR"
	mpi 1 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1/src/mb" short.nex 2>&1 | awk '/Collected/ { print $NF }'
}

for _ in $(seq "$rounds"); do
	for which in plain functions filtered; do echo "$which $(seconds $which)"; done
done >seconds
events() { # of the last run with this build
	seconds "$1" >/dev/null
	dprof-analyze check --json "$DPROF_DIR"/dprof-* | sed -n 's/.*"events": \([0-9]*\).*/\1/p'
}
base=$(instructions plain)
echo "  build       processor seconds: median, least, most    than plain    events    instructions, than plain"
for which in plain functions filtered; do
	n=0
	[ $which = plain ] || n=$(events $which)
	i=$([ $which = plain ] && echo "$base" || instructions $which)
	sed -n "s/^$which //p" seconds | sort -g | awk -v which=$which -v plain="$(sed -n 's/^plain //p' seconds | sort -g |
		sed -n "$(((rounds + 1) / 2))p")" -v events="$n" -v i="$i" -v base="$base" '
		{ v[NR] = $1 }
		END { m = v[int((NR + 1) / 2)]
			printf "  %-10s %12.3f %10.3f %10.3f %18.2f %% %12d %14.2f %%\n", which, m, v[1], v[NR],
			100 * (m / plain - 1), events, 100 * (i / base - 1) }'
done | tee table
verdict 0 "slow-down: $(awk '{ printf "%s %s %s %% of time, %s %% of instructions; ", $1, "", $5, $8 }' table)"
