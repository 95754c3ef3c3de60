# The Makefile of a folder that pack.sh made: experiments, nothing to build. ./make sets PACKED, and
# where the programs' libraries are.
ifndef PACKED
$(error say $(CURDIR)/make: it says where the libraries are)
endif
O := .
.PHONY: programs
programs:
include pipelines/rules.mk
