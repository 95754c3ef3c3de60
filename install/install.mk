# `make install`: programs as isoglot-NAME (Debian has a `translate` and a `plot` of its own), the
# dispatcher `isoglot NAME`, man pages and bash completion.
## make install       into PREFIX=/usr/local (DESTDIR= for packagers): isoglot-NAME programs,
##                      `isoglot NAME`, man pages, bash completion, the CUDA side if it was built;
##                      SHORT=1 also installs the short names, COMPAT=1 those of fastBPE,
##                      subword-nmt, Moses' scripts and GloVe (docs/compat.md); make uninstall
##                      removes all of it
PREFIX ?= /usr/local
DESTDIR ?=
bindir := $(DESTDIR)$(PREFIX)/bin
mandir := $(DESTDIR)$(PREFIX)/share/man/man1
compdir := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
datadir := $(DESTDIR)$(PREFIX)/share/isoglot
libdir := $(DESTDIR)$(PREFIX)/lib/isoglot
INSTALLED = $(bindir)/isoglot $(mandir)/isoglot.1 $(compdir)/isoglot \
    $(foreach p,$(PROGRAMS),$(bindir)/isoglot-$p $(mandir)/isoglot-$p.1 $(compdir)/isoglot-$p)
SHORT_INSTALLED = $(foreach p,$(PROGRAMS),$(bindir)/$p $(mandir)/$p.1)
COMPAT_NAMES := fast subword-nmt learn_bpe.py apply_bpe.py get_vocab.py tokenizer.perl \
    detokenizer.perl normalize-punctuation.perl replace-unicode-punctuation.perl \
    remove-non-printing-char.perl multi-bleu.perl sacrebleu vocab_count cooccur
# A page under the name that is installed: of itself (.Dt, .Nm) and of those it refers to (.Xr).
any_program := $(subst $() $(),|,$(strip $(PROGRAMS)))
page = sed -E '/^\./ s/\b(Xr|Nm) ($(any_program))( |$$)/\1 isoglot-\2\3/g; \
    s/^\.Dt ($(shell echo '$(any_program)' | tr a-z A-Z)) /.Dt ISOGLOT-\1 /' $1
.PHONY: install uninstall
# Names that make or a shell would take apart, or a program for an option, are refused first.
export ASKED_DESTDIR = $(value DESTDIR)
export ASKED_PREFIX = $(value PREFIX)
sound = @case "$$ASKED_DESTDIR:$$ASKED_PREFIX" in \
    -* | *:-* | *[!A-Za-z0-9/._+,:@%~-]*) \
    echo "make: DESTDIR and PREFIX: letters, digits and /._+,@%~- make a folder's name here" >&2; \
    exit 2;; esac
install: build-all
	$(sound)
	@install -d $(bindir) $(mandir) $(compdir)
	@install -d $(datadir)/nonbreaking && install -m 644 lib/text/nonbreaking/* $(datadir)/nonbreaking
	@[ ! -f $(CUDA_LIB) ] || { install -d $(libdir) && \
    install -m 755 $(CUDA_LIB) $(libdir)/libisoglot-cuda.so; }
	@[ ! -f $(MPI_LIB) ] || { install -d $(libdir) && \
	    install -m 755 $(MPI_LIB) $(libdir)/libisoglot-mpi.so; }
	@[ ! -f $(NCCL_LIB) ] || { install -d $(libdir) && \
	    install -m 755 $(NCCL_LIB) $(libdir)/libisoglot-nccl.so; }
	@sed 's/@VERSION@/$(VERSION)/' install/isoglot > $(bindir)/isoglot && chmod 755 $(bindir)/isoglot
	@$(call page,docs/man/isoglot.1) > $(mandir)/isoglot.1
	@install -m 644 install/completion $(compdir)/isoglot
	@set -e; for p in $(PROGRAMS); do \
	    install -m 755 $(O)/bin/$$p $(bindir)/isoglot-$$p; \
	    ln -sf isoglot $(compdir)/isoglot-$$p; \
	    $(call page,docs/man/$$p.1) > $(mandir)/isoglot-$$p.1; \
	    [ -z '$(SHORT)' ] || { ln -sf isoglot-$$p $(bindir)/$$p; \
        ln -sf isoglot-$$p.1 $(mandir)/$$p.1; }; \
	done
	@[ -z '$(COMPAT)' ] || { install -d $(libdir) && \
	    install -m 755 install/compat $(libdir)/compat && cd $(bindir) && \
	    for n in $(COMPAT_NAMES); do ln -sf ../lib/isoglot/compat $$n; done; }
	@echo "installed in $(DESTDIR)$(PREFIX): isoglot$(if $(SHORT), and the short names,)"
uninstall:
	$(sound)
	@rm -f $(libdir)/libisoglot-cuda.so $(libdir)/libisoglot-mpi.so \
	    $(libdir)/libisoglot-nccl.so $(libdir)/compat; \
	    rmdir $(libdir) 2>/dev/null || true
	@rm -f $(INSTALLED) \
    $(patsubst lib/text/nonbreaking/%,$(datadir)/nonbreaking/%,$(wildcard lib/text/nonbreaking/*))
	@rmdir $(datadir)/nonbreaking $(datadir) 2>/dev/null || true
	@[ ! -d $(bindir) ] || cd $(bindir); for p in $(PROGRAMS); do \
    [ "$$(readlink $$p)" != isoglot-$$p ] || rm -f $$p $(mandir)/$$p.1; done; \
    for n in $(COMPAT_NAMES); do \
    [ "$$(readlink $$n)" != ../lib/isoglot/compat ] || rm -f $$n; done
