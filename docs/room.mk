# SPDX-License-Identifier: MIT
# docs: manual pages, written in scdoc(5).

PAGES  := $(patsubst docs/%.scd,$(B)/man/%,$(wildcard docs/*.scd))
things += $(PAGES)

$(B)/man/%: docs/%.scd
	$(call say,MAN)
	$(Q)$(folder) && scdoc <$< >$@
