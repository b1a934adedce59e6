# SPDX-License-Identifier: MIT
# docs: manual pages, written in scdoc(5); and the documents that are installed as they are, where they find each other.

PAGES  := $(patsubst docs/%.scd,$(B)/man/%,$(wildcard docs/*.scd))
things += $(PAGES)

DOCUMENTS := README.md ARCHITECTURE.md examples/README.md docs/report.png $(wildcard docs/*.md docs/*/*.md)

$(B)/man/%: docs/%.scd
	$(call say,MAN)
	$(Q)$(folder) && scdoc <$< >$@
