# Co-occurrence counts part by part on one machine; what is done stays done, and the sum has
# the bytes of one big count.
#   make -j4 -f pipelines/cooc-cluster.make PARTS=parts VOCAB=vocab OUT=x.cooc \
#       [NORMALIZE=en] [COUNT="-w 5 --memory 2G"]
# PARTS is a file with a part a line, as for cooc-count: LANG=FILE or a shard.
.DELETE_ON_ERROR:
ifeq ($(and $(PARTS),$(VOCAB),$(OUT)),)
$(error usage: make -f pipelines/cooc-cluster.make PARTS=file VOCAB=file OUT=x.cooc)
endif
# no name is an option, nor read by a shell
override PARTS := $(abspath $(PARTS))
override VOCAB := $(abspath $(VOCAB))
override OUT := $(abspath $(OUT))
q = '$(subst ','\'',$1)'
NUMBERS := $(shell awk '{ print NR }' $(call q,$(PARTS)))
COOCS := $(NUMBERS:%=$(OUT).parts/%.cooc)
$(OUT): $(COOCS)
	cooc-merge $(if $(NORMALIZE),--normalize $(NORMALIZE)) -o $(call q,$@) $(foreach c,$^,$(call q,$c))
$(OUT).parts/%.cooc: $(PARTS) $(VOCAB)
	@mkdir -p $(call q,$(@D))
	cooc-count -v $(call q,$(VOCAB)) $(COUNT) -o $(call q,$@) "$$(sed -n $*p $(call q,$(PARTS)))"
