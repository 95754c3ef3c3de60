# `make install`: programs as isoglot-NAME (Debian has a `translate` and a `plot` of its own), the
# dispatcher `isoglot NAME`, and what goes with them.
## make man           the man pages, into O/man
## make install       into PREFIX=/usr/local (DESTDIR= for packagers): isoglot-NAME programs,
##                      `isoglot NAME`, `isoglot pipeline X SETTING=VALUE`, *.sbatch scripts, man
##                      pages, file formats, completion, the CUDA side if it was built;
##                      lib/isoglot/bin there has the short names.
##                      SHORT=1 puts these into bin as well, COMPAT=1 those of fastBPE,
##                      subword-nmt, Moses' scripts and GloVe (docs/howto/compat.md); make uninstall
##                      removes all of it
## make install-lib   libisoglot.a, isoglot.h and isoglot.pc for C programs (docs/example.c)
PREFIX ?= /usr/local
DESTDIR ?=
bindir := $(DESTDIR)$(PREFIX)/bin
mandir := $(DESTDIR)$(PREFIX)/share/man/man1
man5dir := $(DESTDIR)$(PREFIX)/share/man/man5
compdir := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fishdir := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
includedir := $(DESTDIR)$(PREFIX)/include
archivedir := $(DESTDIR)$(PREFIX)/lib
# these three are isoglot's alone
datadir := $(DESTDIR)$(PREFIX)/share/isoglot
docdir := $(DESTDIR)$(PREFIX)/share/doc/isoglot
libdir := $(DESTDIR)$(PREFIX)/lib/isoglot
SBATCH := $(notdir $(wildcard pipelines/*.sbatch))
INSTALLED = $(includedir)/isoglot.h $(archivedir)/libisoglot.a $(archivedir)/pkgconfig/isoglot.pc \
    $(SBATCH:%=$(bindir)/%) $(zshdir)/_isoglot $(man5dir)/isoglot-formats.5 \
    $(foreach p,isoglot $(PROGRAMS:%=isoglot-%),\
    $(bindir)/$p $(mandir)/$p.1 $(compdir)/$p $(fishdir)/$p.fish)
COMPAT_NAMES := fast subword-nmt learn_bpe.py apply_bpe.py get_vocab.py tokenizer.perl \
    detokenizer.perl normalize-punctuation.perl replace-unicode-punctuation.perl \
    remove-non-printing-char.perl multi-bleu.perl sacrebleu vocab_count cooccur
# Man pages: the prose is docs/man/X.1.in, the options are those of the program's rows. EMULATOR
# runs programs of another kind of machine (EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu").
EMULATOR :=
PAGES := $(patsubst docs/man/%.in,$(O)/man/%,$(wildcard docs/man/*.1.in))
man: $(PAGES)
$(O)/man/%.1: docs/man/%.1.in docs/man/page.awk $(O)/bin/%
	@mkdir -p $(@D)
	@$(EMULATOR) $(O)/bin/$* --help=rows > $@.rows && awk -f docs/man/page.awk $@.rows $< > $@
# The options of every program, of one that has all of them.
$(O)/man/isoglot.1: docs/man/isoglot.1.in docs/man/page.awk $(O)/bin/tokenize
	@mkdir -p $(@D)
	@$(EMULATOR) $(O)/bin/tokenize --help=rows | sed -n 's/^\t/Options&/p' > $@.rows && \
	    awk -f docs/man/page.awk $@.rows $< > $@
# A page under the name that is installed: of itself (.Dt, .Nm) and of those it refers to (.Xr).
any_program := $(subst $() $(),|,$(strip $(PROGRAMS)))
page = sed -E '/^\./ s/\b(Xr|Nm) ($(any_program))( |$$)/\1 isoglot-\2\3/g; \
    s/^\.Dt ($(shell echo '$(any_program)' | tr a-z A-Z)) /.Dt ISOGLOT-\1 /' $1
.PHONY: man install install-lib uninstall
# Names that make or a shell would take apart, or a program for an option, are refused first.
export ASKED_DESTDIR = $(value DESTDIR)
export ASKED_PREFIX = $(value PREFIX)
sound = @case "$$ASKED_DESTDIR:$$ASKED_PREFIX" in \
    -* | *:-* | *[!A-Za-z0-9/._+,:@%~-]*) \
    echo "make: DESTDIR and PREFIX: letters, digits and /._+,@%~- make a folder's name here" >&2; \
    exit 2;; esac
# $(call copy,FOLDER,TO): what is in it, readable by all
copy = mkdir -p $2 && cp -R $1/. $2 && chmod -R u=rwX,go=rX $2
install: build-all man
	$(sound)
	@install -d $(bindir) $(mandir) $(man5dir) $(compdir) $(zshdir) $(fishdir) $(docdir) $(libdir)/bin
	@$(call copy,lib/text/nonbreaking,$(datadir)/nonbreaking)
	@$(call copy,docs/formats,$(docdir)/formats)
	@$(call copy,pipelines,$(datadir)/pipelines)
	@cd $(datadir)/pipelines && rm rules.mk isoglot.def $(SBATCH)
	@echo '$(VERSION), installed' > $(datadir)/packed
	@sed 's|@VERSION@|$(VERSION)|; s|@PREFIX@|$(PREFIX)|' install/modulefile > $(datadir)/modulefile
	@install -m 644 LICENSE $(docdir)/LICENSE
	@install $(SBATCH:%=pipelines/%) $(bindir)
	@for f in $(wildcard $(CUDA_LIB) $(MPI_LIB) $(NCCL_LIB)); do install $$f $(libdir); done
	@sed 's/@VERSION@/$(VERSION)/' install/isoglot > $(bindir)/isoglot && chmod 755 $(bindir)/isoglot
	@$(call page,$(O)/man/isoglot.1) > $(mandir)/isoglot.1
	@$(call page,docs/man/isoglot-formats.5) > $(man5dir)/isoglot-formats.5
	@install -m 644 install/completion.bash $(compdir)/isoglot
	@install -m 644 install/completion.zsh $(zshdir)/_isoglot
	@install -m 644 install/completion.fish $(fishdir)/isoglot.fish
	@set -e; for p in $(PROGRAMS); do \
	    install -m 755 $(O)/bin/$$p $(bindir)/isoglot-$$p; \
	    ln -sf ../../../bin/isoglot-$$p $(libdir)/bin/$$p; \
	    ln -sf isoglot $(compdir)/isoglot-$$p; \
	    ln -sf isoglot.fish $(fishdir)/isoglot-$$p.fish; \
	    $(call page,$(O)/man/$$p.1) > $(mandir)/isoglot-$$p.1; \
	    [ -z '$(SHORT)' ] || { ln -sf isoglot-$$p $(bindir)/$$p; \
	        ln -sf isoglot-$$p.1 $(mandir)/$$p.1; }; \
	done
	@[ -z '$(COMPAT)' ] || { install -m 755 install/compat $(libdir)/compat && cd $(bindir) && \
	    for n in $(COMPAT_NAMES); do ln -sf ../lib/isoglot/compat $$n; done; }
	@echo "installed in $(DESTDIR)$(PREFIX): isoglot$(if $(SHORT), and the short names,)"

# The library for C programs: lib/api/isoglot.h and what it needs, as one object that has no other
# global name than isoglot_*, so that none meets one of a stranger's.
$(O)/lib/libisoglot.a: $(O)/lib/api/isoglot.o $(EVERY_AR)
	@mkdir -p $(@D)
	@$(CROSS)ld -r -o $(O)/lib/libisoglot.o $< --start-group $(EVERY_AR) --end-group
	@$(CROSS)objcopy --strip-debug --wildcard --keep-global-symbol='isoglot_*' $(O)/lib/libisoglot.o
	@rm -f $@; $(CROSS)ar rcsD $@ $(O)/lib/libisoglot.o
# "aarch64-linux-gnu-" of CC=aarch64-linux-gnu-gcc
CROSS := $(if $(filter %-gcc,$(notdir $(CC))),$(patsubst %gcc,%,$(CC)))
install-lib: $(O)/lib/libisoglot.a
	$(sound)
	@install -d $(includedir) $(archivedir)/pkgconfig
	@install -m 644 lib/api/isoglot.h $(includedir)
	@install -m 644 $< $(archivedir)
	@sed 's|@VERSION@|$(VERSION)|; s|@PREFIX@|$(PREFIX)|' install/isoglot.pc \
	    > $(archivedir)/pkgconfig/isoglot.pc
# Folders that it leaves empty go as well, but not those that a system has from the beginning.
uninstall:
	$(sound)
	@[ ! -d $(bindir) ] || cd $(bindir); for p in $(PROGRAMS); do \
    [ "$$(readlink $$p)" != isoglot-$$p ] || rm -f $$p $(mandir)/$$p.1; done; \
    for n in $(COMPAT_NAMES); do \
    [ "$$(readlink $$n)" != ../lib/isoglot/compat ] || rm -f $$n; done
	@rm -f $(INSTALLED)
	@rm -rf $(libdir) $(datadir) $(docdir)
	@$(if $(filter /usr /usr/local,$(PREFIX)),,cd $(DESTDIR)$(PREFIX)/. 2> /dev/null && \
	    rmdir -p --ignore-fail-on-non-empty bin include lib/pkgconfig lib \
	    share/man/man1 share/man/man5 share/doc \
	    share/bash-completion/completions share/zsh/site-functions share/fish/vendor_completions.d \
	    2> /dev/null || true)
