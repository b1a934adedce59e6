# SPDX-License-Identifier: MIT
#
# runtime: libdprof (the recorder, knows no programming model), the adapters libdprof-pthread,
# libdprof-gomp and libdprof-openmpi, dprof.pc.
#
# All of it is loaded into programs that know nothing of us: so it is compiled apart (obj/guest),
# names are hidden unless a header exports them, and sanitizers stay out (the user's program may
# have none). $(GENERAL) runs with the user's vector registers live and must leave them alone: the
# compiler may use general registers only, and may not make calls to memset and memcpy out of
# loops.

OBJCOPY     ?= objcopy
GUEST_FLAGS := -D_GNU_SOURCE= -fvisibility=hidden -ftls-model=initial-exec -fno-sanitize=all \
               -fno-omit-frame-pointer
GENERAL     := slow chunk left helper recycle count unpacked
CORE        := settings pmi_client starter notice missing process lines children modules thread end sched unseen nursery \
               $(GENERAL) adapter polling instance library counters flags spins clocks objects local_peer fortran
ADAPTER     := calls fortran messages persistent partitioned collectives neighbors requests completions \
               communicators groups windows files members kvs hosts sync_options endpoint measure background gather
guest        = $(1:%=$(B)/obj/guest/%.o)

# A shared library is called, and asked for when a program starts, after the first part of the version.
MAJOR  := $(firstword $(subst ., ,$(VERSION)))
soname  = -Wl,-soname,$(@F).$(MAJOR)
named   = ln -sf $(@F) $@.$(MAJOR)

$(call guest,$(GENERAL:%=runtime/%)): \
	GUEST_FLAGS += -mgeneral-regs-only -fno-tree-loop-distribute-patterns

$(B)/obj/guest/%.o: %.c
	$(call say,CC)
	$(Q)$(folder) && $(CC) $(CFLAGS) $(GUEST_FLAGS) $(DEPS) -c $< -o $@
$(B)/obj/guest/%.o: %.S
	$(call say,AS)
	$(Q)$(folder) && $(CC) -I. $(DEPS) -c $< -o $@

# pack.o with what it uses of zstd, whose names nothing outside sees: neither does a program's own zstd get
# in our way, nor does ours get in its way, be libdprof shared or an archive.
$(B)/obj/guest/runtime/packer.o: $(B)/obj/guest/runtime/pack.o
	$(call say,LINK)
	$(Q)$(CC) -r -nostdlib -o $@.all $< -l:libzstd.a
	$(Q)$(OBJCOPY) --keep-global-symbol=dprof_pack --keep-global-symbol=dprof_pack_close $@.all $@
	$(Q)rm $@.all

# Only a shared libdprof can stand before the C library's _exit(), unshare(), sigaltstack() and __register_atfork().
$(B)/lib/libdprof.so: $(call guest,$(CORE:%=runtime/%) runtime/packer runtime/alone runtime/leave runtime/atfork runtime/altstack runtime/entry freezer/clock \
                       freezer/topology)
	$(call say,LINK)
	$(Q)$(folder) && $(CC) -shared -pthread $(soname) \
		-Wl,-z,defs,-z,nodelete,-z,now -o $@ $^ && $(named)
$(B)/lib/libdprof.a: $(call guest,$(CORE:%=runtime/%) runtime/packer runtime/entry freezer/clock freezer/topology)
	$(call say,AR)
	$(Q)$(folder) && rm -f $@ && $(AR) rcs $@ $^

# Adapters that stand before the library whose functions they record.
PTHREAD := $(addprefix pthread/,threads locks waits barriers c11 table jumps) \
           $(addprefix libc/,descriptors lifetimes opens transfers moves stdio formatted wide waits yields signals handlers \
             queues names syscalls sleeps notified)
GOMP    := teams barriers target tasks waits locks doacross worksharing

# Whatever a cancelled thread was in is recorded as it leaves; and calls must not become others.
$(B)/obj/guest/runtime/libc/%.o: GUEST_FLAGS += -fexceptions -fno-builtin -U_FORTIFY_SOURCE
# A jump may leave what a thread was in: so what is to be done there is found by unwinding, and registered nowhere.
$(B)/obj/guest/runtime/pthread/%.o: GUEST_FLAGS += -fexceptions
# The checking longjmp is a function of its own.
$(B)/obj/guest/runtime/pthread/jumps.o: GUEST_FLAGS += -fexceptions -fno-builtin -U_FORTIFY_SOURCE
$(B)/lib/libdprof-pthread.so: $(call guest,$(PTHREAD:%=runtime/%)) $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)$(folder) && $(CC) -shared $(soname) -Wl,-z,defs,-z,nodelete,-z,now \
		-Wl,-rpath,'$$ORIGIN' -o $@ $^ && $(named)
$(GOMP:%=$(B)/obj/guest/runtime/gomp/%.o): GUEST_FLAGS += -fopenmp
$(B)/lib/libdprof-gomp.so: $(call guest,$(GOMP:%=runtime/gomp/%)) $(B)/lib/libdprof.so
	$(call say,LINK)
	$(Q)$(folder) && $(CC) -shared -fopenmp $(soname) -Wl,-z,defs,-z,nodelete,-z,now \
		-Wl,-rpath,'$$ORIGIN' -o $@ $^ && $(named)

# One adapter for the ABI of each MPI, from the same source; Debian's names for their compilers, else
# what mpicc says of itself. dprof.pc has that of $(MPICC), dprof-openmpi.pc and dprof-mpich.pc theirs.
of_mpicc    := $(shell command -v $(MPICC) >/dev/null && { $(MPICC) --showme:version >/dev/null 2>&1 \
                 && echo openmpi || echo mpich; })
CC_openmpi  := $(or $(shell command -v mpicc.openmpi),$(if $(filter openmpi,$(of_mpicc)),$(MPICC)))
CC_mpich    := $(or $(shell command -v mpicc.mpich),$(if $(filter mpich,$(of_mpicc)),$(MPICC)))
MPIS        := $(if $(CC_openmpi),openmpi) $(if $(CC_mpich),mpich)
MPI_LIBS    := $(MPIS:%=$(B)/lib/libdprof-%.so)
LIBRARIES   := $(B)/lib/libdprof.so $(B)/lib/libdprof-pthread.so $(B)/lib/libdprof-gomp.so $(MPI_LIBS)
things      += $(LIBRARIES) $(B)/lib/libdprof.a

# OpenMPI with a PMIx of its own inside must not be loaded beside another one.
PMIX = $(shell ompi_info 2>/dev/null | grep -q 'MCA pmix: ext' && pkg-config --exists pmix && \
         echo -DDPROF_PMIX $$(pkg-config --cflags pmix))
$(B)/obj/openmpi/runtime/mpi/kvs.o: GUEST_FLAGS += $(PMIX)

# The compiler and what mpicc adds for compiling, found out when it is needed, once: that of MPICH is a script of thirty processes.
mpi_compiler = $(firstword $(1)) $(filter -I% -D%,$(1))

define mpi_rules
COMPILE_$(1) = $$(eval COMPILE_$(1) := $$(call mpi_compiler,$$(shell $(CC_$(1)) -show)))$$(COMPILE_$(1))
$(B)/obj/$(1)/%.o: %.c
	$$(call say,CC)
	$$(Q)$$(folder) && $$(COMPILE_$(1)) $$(CFLAGS) $$(GUEST_FLAGS) $$(DEPS) -c $$< -o $$@
$(B)/lib/libdprof-$(1).so: $(ADAPTER:%=$(B)/obj/$(1)/runtime/mpi/%.o) \
		$(call guest,$(FREEZER_MEASURE:%=freezer/%) runtime/pmi_client) $(B)/lib/libdprof.so
	$$(call say,LINK)
	$$(Q)$$(folder) && $(CC_$(1)) -shared -pthread $$(soname) -Wl,-z,defs,-z,nodelete \
		-Wl,-rpath,'$$$$ORIGIN' -o $$@ $$^ -lsodium && $$(named)
endef
$(foreach mpi,$(MPIS),$(eval $(call mpi_rules,$(mpi))))

# One template for the build tree and for installing: $(call dprof_pc,PREFIX,PLUGIN,INCLUDEDIR,MPI)
dprof_pc  = sed -e 's|@PREFIX@|$(1)|' -e 's|@PLUGIN@|$(2)|' -e 's|@INCLUDEDIR@|$(3)|' \
                -e 's|@VERSION@|$(VERSION)|' -e 's|@ADAPTER@|$(4:%=-ldprof-%)|' -e 's|@GCC@|$(GCC_MAJOR)|' runtime/dprof.pc.in

HERE := $(abspath $(B))
PCS  := $(B)/lib/pkgconfig/dprof.pc $(MPIS:%=$(B)/lib/pkgconfig/dprof-%.pc)
mpi_of_pc = $(if $(filter dprof.pc,$(notdir $(1))),$(of_mpicc),$(patsubst dprof-%.pc,%,$(notdir $(1))))
$(PCS): runtime/dprof.pc.in $(B)/lib/libdprof-pthread.so $(B)/lib/libdprof-gomp.so $(MPI_LIBS)
	$(Q)mkdir -p $(@D)
	$(Q)$(call dprof_pc,$(HERE),$${prefix}/plugin/dprof.so,$(CURDIR)/pragmas,$(call mpi_of_pc,$@)) >$@

things += $(PCS)

units += $(B)/test/runtime_trace $(B)/test/runtime_packed
$(B)/test/runtime_trace: $(B)/test/runtime_trace-scenarios
LIBS_runtime := -lzstd
$(B)/test/runtime_trace-scenarios: $(call guest,testsuite/fixtures/runtime/scenarios) \
		$(B)/lib/libdprof.a
	$(call say,LINK)
	$(Q)$(folder) && $(CC) -pthread -o $@ $^
