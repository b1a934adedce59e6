# SPDX-License-Identifier: MIT
#
# dprof. `make help` lists what there is. Each room says in its room.mk what it builds and tests; this
# file joins the rooms and installs what they need.

B        ?= $(CURDIR)/$(if $(SAN),build/san,build)
PREFIX   ?= /usr/local
override PREFIX := $(abspath $(PREFIX))
VERSION  := $(shell sed -n 's/^.define DPROF_VERSION "\(.*\)"/\1/p' runtime/version.h)
CC       := gcc
CXX      := g++
MPICC    := mpicc
OPT      ?= -O2 -g
comma    := ,
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS   := -std=gnu17 $(OPT) $(WARN) $(SANFLAGS) -I. -fPIC -pthread
LDFLAGS  := $(SANFLAGS) -pthread
Q        := $(if $(V),,@)

# What is made, said without a program, and in columns; and the folder for it, where there is none: a process each for a thousand
# objects is 15 s.
space    := $(subst ,, )
columns  := CC..... CXX.... AS..... AR..... LINK... COPY... FETCH.. DPROF.. MPICC.. MAN....
say       = $(if $(V),,$(info $(space) $(subst .,$(space),$(filter $(1).%,$(columns))) $(patsubst $(B)/%,%,$@)))
folder    = { [ -d $(@D) ] || mkdir -p $(@D); }

# What an object depends on names it by B, so that a build folder that was moved, or copied to another clone, knows it still.
DEPS      = -MMD -MP -MT '$$(B)$(patsubst $(B)%,%,$@)'

# Debian packages: to build and test, and (only `make bench`) the peers that are measured beside us.
# Where there is no compiler yet, that which `gcc` stands for.
missing         = $(if $(shell command -v $(1) 2>/dev/null),,$(1))
GCC_MAJOR      := $(if $(call missing,$(CC)),$(shell apt-cache depends gcc 2>/dev/null | \
                    sed -n 's/.*Depends: gcc-\([0-9]*\)$$/\1/p'),$(shell $(CC) -dumpversion | cut -d. -f1))
PACKAGES       := $(call missing,$(CC)) $(call missing,$(CXX)) gcc-$(GCC_MAJOR)-plugin-dev gfortran libgmp-dev libmpfr-dev \
                  libelf-dev libsodium-dev libjansson-dev libglpk-dev uthash-dev zlib1g-dev libzstd-dev libopenmpi-dev \
                  openmpi-bin libmpich-dev libpmix-dev mpich libclips-dev libsqlite3-dev sqlite3 libotf2-trace-dev libtbb-dev \
                  otf2-tools python3-otf2 protobuf-compiler pajeng graphviz valgrind check pkg-config binutils iproute2 \
                  scdoc gnuplot-nox python3-networkx cmake ccache csmith libcsmith-dev jq gojq chromium
BENCH_PACKAGES := libfxt-dev liblttng-ust-dev lttng-tools uftrace tcl time
PAPER_PACKAGES := gnuplot-nox

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo '  V=1              shows the commands'
	@echo '  SAN=1            builds with address and undefined sanitizers, in build/san'
	@echo '  OPT="-O0 -g"     sets the optimisation'
	@echo '  B=DIR            builds elsewhere'
	@echo '  CHECK=PATTERN    runs those tests; SEED=N, TIMES=N: other cases, more'
	@echo '  BENCH="GOAL..."  measures only these; bench/run says which, and more knobs'

# What follows needs the packages; a stamp remembers that they are there.
all:     $(B)/packages ## build everything into build/
	+$(Q)$(MAKE) --no-print-directory now-all
demo:    $(B)/packages ## profile K-Means: who straggles, what would a fix buy
	+$(Q)$(MAKE) --no-print-directory now-demo
check:   $(B)/packages ## run all tests
	+$(Q)$(MAKE) --no-print-directory now-check
repeat:  $(B)/packages ## every test TIMES=20 times, JOBS=3 at a time; CHECK
	+$(Q)$(MAKE) --no-print-directory now-repeat
bench:   $(B)/packages $(B)/bench-packages ## measure what the design promises, beside its peers
	+$(Q)$(MAKE) --no-print-directory now-bench
paper:   $(B)/packages ## the paper's tables and figures beside its own; QUICK=1
	+$(Q)$(MAKE) --no-print-directory now-paper
fuzz:    $(B)/packages ## damage traces, texts and questions for SECONDS=60, from SEED on
	+$(Q)$(MAKE) --no-print-directory now-fuzz
real:    $(B)/packages ## three real programs from Debian's source; REAL=NAME
	+$(Q)$(MAKE) --no-print-directory now-real
whatif:  $(B)/packages ## what-ifs beside programs really changed; CASES PROGRAMS SEED
	+$(Q)$(MAKE) --no-print-directory now-whatif
suite:   $(B)/packages ## traces of known faults, and what diagnose says; SEEDS=20
	+$(Q)$(MAKE) --no-print-directory now-suite
sabotage: $(B)/packages ## break a copy line by line: the tests must notice; MODULE, ROW
	+$(Q)$(MAKE) --no-print-directory now-sabotage
truth:   $(B)/packages ## convert N stamps of made-up clocks; SEED, KIND, MODEL
	+$(Q)$(MAKE) --no-print-directory now-truth
install: $(B)/packages ## into $(DESTDIR)$(PREFIX), which is /usr/local
	+$(Q)$(MAKE) --no-print-directory now-install
uninstall: $(B)/packages ## remove what install puts there; same DESTDIR= PREFIX=
	+$(Q)$(MAKE) --no-print-directory now-uninstall
deb:     $(B)/packages ## a Debian package, in build/deb
	+$(Q)$(MAKE) --no-print-directory now-deb
clean:   ## remove build/
	rm -rf build

# Without a peer its rows are missing, no more.
$(B)/bench-packages: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)testsuite/packages $(BENCH_PACKAGES) && touch $@ || echo 'make bench: rows of these are left out' >&2

$(B)/packages: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)testsuite/packages $(PACKAGES)
	$(Q)touch $@

things :=
units  :=
include $(wildcard $(addsuffix /room.mk,pragmas plugin freezer runtime runtime/toolchain analysis examples testsuite testsuite/fuzz bench docs))

now-all: $(things)
	@:

$(B)/obj/%.o: %.c
	$(call say,CC)
	$(Q)$(folder) && $(CC) $(CFLAGS) $(CFLAGS_$(subst /,_,$*)) $(DEPS) -c $< -o $@

# testsuite/unit/ROOM_WHAT.c becomes build/test/ROOM_WHAT; the room adds archives and LIBS_ROOM. To optimise these more takes longer
# than what is won as they run.
$(B)/obj/testsuite/unit/%.o: CFLAGS += $(if $(filter -O2,$(OPT)),-O1)
$(B)/test/%: $(B)/obj/testsuite/unit/%.o
	$(call say,LINK)
	$(Q)$(folder) && $(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) \
		$(LIBS_$(firstword $(subst _, ,$*))) $$(pkg-config --libs check)

now-check: now-all $(units)
	$(Q)B=$(B) SAN=$(SAN) testsuite/run '$(CHECK)'

now-repeat: now-all $(units)
	$(Q)env -u TIMES B=$(B) ROUNDS=$(or $(TIMES),20) JOBS=$(or $(JOBS),3) testsuite/run '$(CHECK)'

now-demo: now-all
	$(Q)B=$(B) examples/demo.sh

to          = $(DESTDIR)$(PREFIX)
now-install: now-all
	$(Q)install -d $(to)/bin $(to)/include $(to)/lib/pkgconfig $(to)/share/man/man1 $(to)/share/man/man7 $(to)/share/dprof/rules
	$(Q)install $(B)/bin/dprof-analyze $(B)/bin/dprof-ab $(B)/bin/dprof-info $(B)/bin/freezer $(to)/bin
	$(Q)install -m 644 pragmas/dprof.h pragmas/dprof.inc $(to)/include
	$(Q)$(foreach so,$(notdir $(LIBRARIES)),install -m 644 $(B)/lib/$(so) $(to)/lib/$(so).$(VERSION) && \
		ln -sf $(so).$(VERSION) $(to)/lib/$(so).$(MAJOR) && ln -sf $(so).$(MAJOR) $(to)/lib/$(so) &&) :
	$(Q)install -m 644 $(B)/lib/libdprof.a $(to)/lib
	$(Q)install -m 644 $(RULES) $(to)/share/dprof/rules
	$(Q)install -m 644 $(filter %.1,$(PAGES)) $(to)/share/man/man1
	$(Q)install -m 644 $(filter %.7,$(PAGES)) $(to)/share/man/man7
	$(Q)$(foreach text,$(DOCUMENTS),install -m 644 -D $(text) $(to)/share/doc/dprof/$(text) &&) :
	$(Q)$(foreach pc,$(PCS),$(call dprof_pc,$(PREFIX),$${prefix}/lib/dprof/dprof.so,$${prefix}/include,$(call mpi_of_pc,$(pc))) \
		>$(to)/lib/pkgconfig/$(notdir $(pc));)

# What is to be removed is what would be installed: into a folder of its own, to see what there is. Folders go, too, if they are
# empty, the prefix itself among them; of a system's prefix, which has folders before, those of dprof alone.
system = $(and $(filter /usr /usr/local,$(PREFIX)),$(if $(DESTDIR),,yes))
listed = $(B)/uninstall
now-uninstall: now-all
	$(Q)rm -rf $(listed) && $(MAKE) --no-print-directory now-install DESTDIR=$(listed)
	$(Q)cd $(listed) && find . ! -type d | while read -r file; do rm -f "$(DESTDIR)/$$file"; done
	$(Q)cd $(listed)$(PREFIX) && find . $(if $(system),-mindepth 1) -depth -type d $(if $(system),-path '*dprof*') | \
		while read -r folder; do rmdir "$(to)/$${folder#.}" 2>/dev/null || :; done
	$(Q)rm -rf $(listed)

# Of a copy, as dpkg-buildpackage puts what it makes beside the source; what is built is taken from here.
now-deb: now-all
	$(Q)testsuite/packages dpkg-dev debhelper
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb/dprof-$(VERSION)
	$(Q)tar -c --exclude=./build --exclude=./.git --exclude='./dprof-*' . | tar -x -C $(B)/deb/dprof-$(VERSION)
	$(Q)cd $(B)/deb/dprof-$(VERSION) && env -u MAKEFLAGS B=$(B) dpkg-buildpackage -us -uc -b >../log 2>&1 || { tail -20 ../log; exit 1; }
	$(Q)rm -rf $(B)/deb/dprof-$(VERSION) && ls $(B)/deb/*.deb

# Who only asks for the packages, and then for a goal of this name, needs none.
-include $(if $(filter-out help all demo check repeat bench paper fuzz real whatif suite sabotage truth install uninstall deb clean,\
             $(MAKECMDGOALS)),$(shell find $(B)/obj -name '*.d' 2>/dev/null))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help all demo check repeat now-repeat fuzz bench paper real whatif suite sabotage truth install uninstall deb clean now-all now-demo now-check now-bench now-paper now-fuzz now-real now-whatif now-suite now-sabotage now-truth now-install now-uninstall now-deb
