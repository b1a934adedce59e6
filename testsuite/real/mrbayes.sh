#!/bin/bash
# SPDX-License-Identifier: MIT
#
# MrBayes (C): Bayesian inference of phylogeny, four Markov chains on two ranks, then summaries.
#
# What is found: the chains are balanced; sumt and sump are the work of rank 0, and the others wait for it.
. "$here/common.sh"
source_of mrbayes
build() {
	DPROF_WRAPPER=off ./configure --with-mpi --without-beagle --without-readline CC=dprof-mpicc MPICC=dprof-mpicc
	DPROF_WRAPPER_FLAGS=-fplugin-arg-dprof-auto=functions make
}
built program build
cp source/examples/primates.nex .

input() { # sumt or nothing: what to summarise after the chains have run
	cat <<-END
		begin mrbayes;
		  set autoclose=yes nowarn=yes seed=4711 swapseed=4712;
		  execute primates.nex;
		  lset nst=6 rates=invgamma;
		  mcmcp ngen=6000 nruns=2 nchains=2 samplefreq=10 printfreq=2000 diagnfreq=2000;
		  mcmc;
		  $1
		end;
	END
}
input "sumt;" >in.nex
input "" >without.nex
run() { # input: wall seconds
	local TIMEFORMAT=%R
	rm -rf primates.nex.* "$dir/again"
	mkdir "$dir/again"
	{ time DPROF_DIR=$dir/again mpi 2 program/src/mb "$1" >/dev/null 2>&1; } 2>&1
}

rm -f primates.nex.*
profile 2 program/src/mb in.nex
report
opinions

say "  What if DoSumt, the summary of the trees, cost nothing? The input without its command 'sumt' says."
pairs "run in.nex" "run without.nex"
what_if "$(predicted --region DoSumt --reduce 100)"
