# Nereid's build.  `make` builds build/nereid and both libraries; the targets at the end of this
# file are the rest.  A room's sources are found by wildcard, so a new file needs no line here.

PREFIX ?= /usr/local
DESTDIR ?=
CC = gcc
RE2C ?= re2c
OBJCOPY ?= objcopy
BISON ?= bison
PROTOC_C ?= protoc-c
B ?= build
VERSION := 0.1.0
RELEASED := 2026-11-23

# The rooms, each of which may include headers of those before it only (`make lint`).
ROOMS := lang parser sema lower codegen runtime graph import tiling decompose \
  planner model cli python
# Those of the library.
LIBRARY_ROOMS := $(filter-out cli python,$(ROOMS))

# Lines alone, for backtraces.  Variables too (CFLAGS='-O2 -g') cost a quarter of a build's time.
CFLAGS ?= -O2 -g1
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -I. -I$B -iquote runtime -iquote lang/base -Wall -Wextra \
  -fPIC -fvisibility=hidden \
  -ffp-contract=off $(CPPFLAGS) $(CFLAGS) -MMD -MP -c
LINK = $(CC) $(CFLAGS) $(LDFLAGS)
# Libraries that are linked statically into the bundle, and those of the C library.
LIBS := -lsqlite3 -lxxhash -lminizip -lz -lprotobuf-c
SYSTEM_LIBS := -lm -ldl -lpthread
DYNAMIC := -Wl,--as-needed $(LIBS) $(SYSTEM_LIBS)
STATIC := -Wl,--as-needed -Wl,-Bstatic $(LIBS) -Wl,-Bdynamic $(SYSTEM_LIBS)

# ---- sources ----

# model/aot holds text that `nereid build` writes.
room_sources = $(filter-out model/aot/runtime/%,$(sort $(shell find $1 -name '*.c')))
PROTOS := import/onnx/onnx.proto
GENERATED := $B/lang/base/message_rows.c $B/lang/std/std_text.c \
  $B/planner/kernels/templates_text.c $B/model/aot/project_text.c \
  $B/planner/passes/rewrites_text.c \
  $(patsubst %.re,$B/%.c,$(wildcard parser/*.re)) $(patsubst %.y,$B/%.c,$(wildcard parser/*.y)) \
  $(PROTOS:%.proto=$B/%.pb-c.c)
GENERATED_H := $(patsubst %.y,$B/%.h,$(wildcard parser/*.y)) \
  $(PROTOS:%.proto=$B/%.pb-c.h)
# Tables that are searched by halves.
SORTED := $B/graph/ops/op_table.sorted $B/import/onnx/onnx_table.sorted
LIBRARY_SOURCES := $(foreach room,$(LIBRARY_ROOMS),$(call room_sources,$(room)))
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$B/%.o) $(GENERATED:.c=.o)
CLI_OBJECTS := $(patsubst %.c,$B/%.o,$(call room_sources,cli))
EXTENSION_OBJECTS := $(patsubst %.c,$B/%.o,$(call room_sources,python/extension))
PACKAGE_INFO = $B/python/nereid_compiler.dist-info
PACKAGE_FILES := $(sort $(shell find python/nereid -type f \( -name '*.py' -o -name '*.pyi' -o \
  -name py.typed \)))
# Modules of signatures, and what they are made from.
LANGUAGE_FILES := $(addprefix $B/python/nereid/language/,core.py standard.py math.py random.py \
  extra/libdevice.py extra/cuda/__init__.py)
LANGUAGE_FROM := $(wildcard python/generate/*.py) python/meanings.txt sema/value/builtins.h \
  lang/base/dtype.h $(wildcard lang/std/*.py) $(wildcard python/nereid/language/*.py)
# All files of the package that are no links to sources.
PACKAGE_MADE := $B/python/nereid/_nereid.abi3.so $B/python/nereid/bin/nereid \
  $B/python/nereid/_version.py $(LANGUAGE_FILES)
STD_FILES := $(sort $(wildcard lang/std/*.py))
GRAPH_TEMPLATES := $(sort $(wildcard planner/kernels/templates/*.py) \
  $(wildcard planner/kernels/templates/*/*.py))
GRAPH_REWRITES := $(sort $(wildcard planner/passes/rewrites/*.py))
PROJECT_FILES := $(sort $(wildcard model/aot/runtime/*)) runtime/support/team.h \
  runtime/support/cores.h runtime/support/npy_header.h runtime/device/cuda_api.h \
  runtime/device/ptx_registers.h runtime/device/boxed_tensor.h \
  planner/plan/buffer_offsets.h
UNIT_TESTS := $(patsubst %.c,$B/%,$(wildcard tests/*/unit/*.c))
FUZZ := $(patsubst %.c,$B/%,$(wildcard tests/fuzz/*.c))
BENCHES := $(patsubst %.c,$B/%,$(wildcard bench/*.c))
C_EXAMPLES := $(patsubst %.c,$B/%,$(wildcard examples/c/*.c))
PUBLIC_HEADERS := $(wildcard lang/base/nereid_options.h runtime/nereid.h runtime/nereid_tune.h \
  model/nereid_graph_options.h model/nereid_graph.h)

.PHONY: all demo python package-made check check-fast torch check-torch check-torch-all check-gpu \
  bench stress stress-assertions fuzz fuzz-programs golden docs lint structure fmt install bundle \
  wheel release clean
.DELETE_ON_ERROR:
.SECONDARY:
all: $(if $(CLI_OBJECTS),$B/nereid $B/man/nereid.1) $B/libnereid.a $B/libnereid.so

# ---- products ----

$B/nereid: $(CLI_OBJECTS) $B/nereid-internal.o
	$(LINK) -o $@ $^ $(DYNAMIC)

# A page of the program and one of each command.
$B/man/nereid.1: $B/nereid
	@mkdir -p $(@D)
	$B/nereid man -o $(@D)

# All rooms but cli as one object: unit tests and benches link it and see every internal name.
$B/nereid-internal.o: $(LIBRARY_OBJECTS)
	$(LD) -r -o $@ $^

# The same for users: only the names of the public headers are left to collide with theirs.
$B/nereid-public.o: $B/nereid-internal.o
	$(OBJCOPY) --localize-hidden $< $@

$B/libnereid.a: $B/nereid-public.o
	rm -f $@
	$(AR) rcs $@ $<

# The functions of the public headers, and their version (docs/stability.md).
$B/nereid.map: $(PUBLIC_HEADERS)
	@mkdir -p $(@D)
	{ echo 'NEREID_$(firstword $(subst ., ,$(VERSION))) {' && echo '  global:' && \
	  sed -n 's/^NEREID_API [^(]*[ *]\(nereid_[a-z0-9_]*\)(.*/    \1;/p' $^ | LC_ALL=C sort && \
	  echo '  local: *;' && echo '};'; } > $@

$B/libnereid.so: $B/nereid-internal.o $B/nereid.map
	$(LINK) -shared -Wl,-soname,libnereid.so.0 -Wl,--version-script=$B/nereid.map \
	  -o $@ $< $(DYNAMIC)

# ---- the Python package ----

# PYTHONPATH=build/python imports it: links to the sources, the extension, and the program.
python: $(PACKAGE_FILES:python/%=$B/python/%) $(PACKAGE_MADE) $(PACKAGE_INFO)/entry_points.txt
	@find -L $B/python/nereid -type l -delete # links to files that are gone

$(PACKAGE_FILES:python/%=$B/python/%): $B/python/%: python/%
	@mkdir -p $(@D)
	ln -sfnr $< $@

$(LANGUAGE_FILES) &: $(LANGUAGE_FROM)
	$(or $(PYTHON),python3) python/generate/language.py $B/python/nereid/language

# For setup.py, which copies them.
package-made: $(PACKAGE_MADE)
	@echo $(PACKAGE_MADE:$B/python/%=%) > $B/python/made

# That of the distribution, which differs for different sources until there is a release.
$B/python/nereid/_version.py: FORCE
	@mkdir -p $(@D)
	@echo "__version__ = \"$$(python/link/version)\"" > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# By which PyTorch, pytest and vLLM find the package.
$(PACKAGE_INFO)/entry_points.txt: pyproject.toml $B/python/nereid/_version.py
	@rm -rf $B/python/nereid_compiler-*.dist-info # of a version before
	@mkdir -p $(@D)
	printf 'Metadata-Version: 2.1\nName: nereid-compiler\n' > $(@D)/METADATA
	sed 's/.* = "\(.*\)"/Version: \1/' $B/python/nereid/_version.py >> $(@D)/METADATA
	sed -n 's/"//g; s/^\[project\.entry-points\.\(.*\)\]/[\1]/; /^\[\(torch_\|pytest\|vllm\)/,/^$$/p' \
	  $< > $@

# Headers of any Python from 3.10 on: the extension uses the stable ABI of 3.10 only.
PYTHON_INCLUDE ?= $(shell for p in $(PYTHON) python3 /usr/bin/python3; do i=$$($$p -c \
  'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null); \
  if [ -f "$$i/Python.h" ]; then echo "$$i"; break; fi; done)
need_include = $(or $(PYTHON_INCLUDE),$(error no headers of Python found: install python3-dev, or \
  set PYTHON or PYTHON_INCLUDE))
.PHONY: python-include test-python-include
python-include: ; @echo "$(need_include)"
test-python-include: ; @PYTHON=$(need_python) $(MAKE) -s python-include
$B/python/extension/%.o: override CPPFLAGS += -DPy_LIMITED_API=0x030a0000 \
  -isystem "$(need_include)"

# Both files run with the C library of 2018 (2.28) and later ones: functions that have newer
# versions are taken by their old names, wherever this machine's C library has them.
GLIBC_FLOOR ?= 28
OLD_GLIBC := python/link/old_glibc
glibc_names = CC='$(CC)' python/link/glibc_names $(GLIBC_FLOOR)
# Before 2.34 threads and loading were in libraries of their own.
THREADS := $(foreach l,libpthread.so.0 libdl.so.2 libm.so.6,$(shell $(CC) -print-file-name=$l))

# All that the extension needs but the C library, of which only the module's own name is left to
# collide with others of its process.
$B/python/extension.o: $(EXTENSION_OBJECTS) $B/$(OLD_GLIBC).o $B/nereid-public.o \
  python/link/glibc_names
	$(CC) -r -nostdlib -o $@ $(filter %.o,$^) $(filter -L%,$(LDFLAGS)) -Wl,-Bstatic $(LIBS)
	$(glibc_names) $@ > $@.names
	$(OBJCOPY) --keep-global-symbol=PyInit__nereid --redefine-syms=$@.names $@

$B/python/nereid/_nereid.abi3.so: $B/python/extension.o
	@mkdir -p $(@D)
	$(LINK) -s -shared -o $@ $< -Wl,--no-as-needed $(THREADS)

# Processes that measure kernels run it.  crt/ has the C library's own object that calls main.
$B/python/program.o: $(CLI_OBJECTS) $B/$(OLD_GLIBC).o $B/nereid-internal.o \
  python/link/glibc_names
	@mkdir -p $(@D)/crt
	$(CC) -r -nostdlib -o $@ $(filter %.o,$^) $(filter -L%,$(LDFLAGS)) -Wl,-Bstatic $(LIBS)
	cp "$$($(CC) -print-file-name=Scrt1.o)" $(@D)/crt/
	$(glibc_names) $@ $(@D)/crt/Scrt1.o > $@.names
	for o in $@ $(@D)/crt/Scrt1.o; do $(OBJCOPY) --redefine-syms=$@.names $$o || exit 1; done

$B/python/nereid/bin/nereid: $B/python/program.o
	@mkdir -p $(@D)
	$(LINK) -s -pie -B $B/python/crt -o $@ $< -Wl,--no-as-needed $(THREADS)

# ---- programs of tests and benches ----

# Compiled and linked quickly: each runs once, and lines for debuggers would be two thirds of the
# linker's time (`make UNIT_LDFLAGS=` has them).
UNIT_LDFLAGS ?= -Wl,--strip-debug
$(UNIT_TESTS:=.o): override CFLAGS += -O0
# This one is about the program.
$B/tests/cli/unit/tune_report: $(filter-out $B/cli/main.o,$(CLI_OBJECTS))
$(UNIT_TESTS): %: %.o $B/nereid-internal.o
	$(LINK) $(UNIT_LDFLAGS) -o $@ $^ $(DYNAMIC)

# A target, what all of them share, and the commands of the program without its main.
FUZZ_OBJECTS := $(patsubst %.c,$B/%.o,$(wildcard tests/fuzz/common/*.c)) \
  $(filter-out $B/cli/main.o,$(CLI_OBJECTS))
$(FUZZ): $B/tests/fuzz/%: $B/tests/fuzz/%.o $(FUZZ_OBJECTS) $B/nereid-internal.o
	$(LINK) $(UNIT_LDFLAGS) -o $@ $^ $(DYNAMIC)
# What `make stress` runs.
$B/tests/fuzz/stress/internal_errors: %: %.o $(filter-out $B/cli/main.o,$(CLI_OBJECTS)) \
  $B/nereid-internal.o
	$(LINK) -o $@ $^ $(DYNAMIC)
# What counts edges has none of its own.
$B/tests/fuzz/%.o: override CFLAGS := $(filter-out -fsanitize-coverage%,$(CFLAGS))

$B/bench/%: $B/bench/%.o $B/nereid-internal.o
	$(LINK) -o $@ $^ $(DYNAMIC)

$B/examples/c/%.o: override CPPFLAGS += -Ilang/base -Iruntime -Imodel
$B/examples/c/%: $B/examples/c/%.o $B/libnereid.a
	$(LINK) -o $@ $^ $(DYNAMIC)

# ---- objects and generated files ----

$B/%.o: %.c | $(GENERATED_H) $(SORTED) $B/build_id.h
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $<

$B/%.o: $B/%.c | $(GENERATED_H)
	$(COMPILE) -o $@ $<

# The names of a table's rows, which must be in strcmp's order.
$B/%.sorted: %.def
	@mkdir -p $(@D)
	@sed -nE 's/^OP\((\w+), (\w+), (\w+).*/\1.\2.\3/p; s/^ONNX\((\w+).*/\1/p' $< > $@
	@LC_ALL=C sort -cu $@ || { echo "$<: the rows must be in strcmp's order" >&2; false; }

# An archive of the sources has what these tools make (setup.py), and is built without them.
# $1 source, $2 files made of it
given = for f in $2; do [ ! $1 -nt generated/$$f ] && cp generated/$$f $B/$$f || exit 1; \
  done 2>/dev/null

$B/parser/%.c: parser/%.re
	@mkdir -p $(@D)
	($(call given,$<,parser/$*.c)) || $(RE2C) -W --input-encoding utf8 -o $@ $<

$B/parser/%.c $B/parser/%.h &: parser/%.y
	@mkdir -p $(@D)
	($(call given,$<,parser/$*.c parser/$*.h)) || \
	  $(BISON) -Wall -o $B/parser/$*.c --defines=$B/parser/$*.h $<

$B/%.pb-c.c $B/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	($(call given,$<,$*.pb-c.c $*.pb-c.h)) || \
	  $(PROTOC_C) --proto_path=. --c_out=$B $<

# Kernel sources as text: each line of a file becomes a C string.
# $1 header, $2 type and name of the array, $3 files
define embed
	@mkdir -p $(@D)
	{ echo '#include "$1"'; \
	  echo 'const $2[] = {'; \
	  for f in $3; do \
	    printf '{"%s",\n' "$${f##*/}"; \
	    sed 's/\\/\\\\/g; s/"/\\"/g; s/?/\\?/g; s/^/"/; s/$$/\\n"/' "$$f"; \
	    echo '""},'; \
	  done; \
	  echo '{0, 0}};'; } > $@
endef
$B/lang/std/std_text.c: $(STD_FILES) $(wildcard lang/std) Makefile
	$(call embed,lang/std/std.h,EmbeddedFile std_files,$(STD_FILES))
$B/planner/kernels/templates_text.c: $(GRAPH_TEMPLATES) $(wildcard planner/kernels/templates) \
  Makefile
	$(call embed,planner/kernels/templates.h,EmbeddedFile template_files,$(GRAPH_TEMPLATES))
$B/planner/passes/rewrites_text.c: $(GRAPH_REWRITES) $(wildcard planner/passes/rewrites) Makefile
	$(call embed,planner/passes/rewrites.h,EmbeddedFile rewrite_files,$(GRAPH_REWRITES))
$B/model/aot/project_text.c: $(PROJECT_FILES) $(wildcard model/aot/runtime) Makefile
	$(call embed,model/aot/project_state.h,EmbeddedFile project_files,$(PROJECT_FILES))

# The messages of all rooms, each with its id and, if R_ is there for it, its remedy.
MESSAGES := $(foreach room,$(LIBRARY_ROOMS) cli,$(wildcard $(room)/messages.h))
$B/lang/base/message_rows.c: $(MESSAGES) Makefile
	@mkdir -p $(@D)
	awk 'BEGIN { print "#include \"lang/base/diag.h\"" } \
	  FNR == 1 { printf "#include \"%s\"\n", FILENAME } \
	  /^#define [EWNHM]_[A-Z0-9_]+ / { ids[++n] = $$2 } \
	  /^#define R_[A-Z0-9_]+ / { has[substr($$2, 2)] = 1 } \
	  END { print "const MessageRow message_rows[] = {"; \
	    for (i = 1; i <= n; i++) { key = substr(ids[i], 2); \
	      printf "{\"%s\", %s, %s},\n", ids[i], ids[i], key in has ? "R" key : "0" } \
	    print "{0, 0, 0}};" }' $(MESSAGES) > $@

# Part of every cache key: two builds of the same sources agree, any edit of them differs.
BUILD_ID := $(shell find $(LIBRARY_ROOMS) cli -type f ! -name '*.pyc' | LC_ALL=C sort | \
  xargs cat | sha256sum | cut -c1-16)
$B/build_id.h: FORCE
	@mkdir -p $(@D)
	@printf '#define NEREID_%s "%s"\n' VERSION $(VERSION) RELEASED $(RELEASED) \
	  BUILD_ID $(BUILD_ID) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
.PHONY: FORCE

-include $(shell find $B -name '*.d' 2>/dev/null)

# ---- tests (tests/README.md) ----

# The first Python 3 that has NumPy.
find_python = $(shell for p in "$(PYTHON)" /usr/bin/python3 python3; do \
  if [ -n "$$p" ] && "$$p" -c 'import numpy' 2>/dev/null; then echo "$$p"; break; fi; done)
need_python = $(or $(find_python),$(error no Python 3 with NumPy found; set PYTHON))
TEST_ENV = NEREID=$(abspath $B/nereid) NEREID_BUILD=$(abspath $B) PYTHON=$(need_python)

# Benches are compiled only.
check: all python $(UNIT_TESTS) $(FUZZ) $(C_EXAMPLES) $(BENCHES:%=%.o)
	@$(TEST_ENV) $(need_python) tests/run --no-build $(TEST_OPTIONS)

# The most telling part of it, in under 20 s on two idle cores (tests/run says how many seconds of
# processors it took): golden texts of every stage but slow ones, unit tests that take no C compiler
# or other processes.  `make lint` takes 3 s more.
FAST_TESTS := cli/golden graph/golden sema project/docs project/environment lang \
  parser lower/golden lower/unit codegen/golden \
  $(addprefix runtime/unit/,alias api estimate runtime team) graph/passes graph/pt2 \
  $(filter-out $(addprefix graph/unit/,lifetime order sessions tune),$(patsubst tests/%.c,%, \
    $(wildcard tests/graph/unit/*.c))) \
  cli/tune_report cli/unit
check-fast: all $(UNIT_TESTS)
	@TESTS_QUICK=1 $(TEST_ENV) $(need_python) tests/run --no-build $(TEST_OPTIONS) $(FAST_TESTS)

# The tests of python/ with PyTorch, which pip fetches into build/torch-VERSION (`make torch` does
# that alone): those that tell most in the time that CI has, with one version; all of them, with the
# oldest and the newest, or with TORCH.  NumPy 1 goes with the oldest, as then.
TORCH_OLDEST ?= 2.10
TORCH_USUAL ?= 2.11
TORCH_NEWEST ?= 2.15
TORCH_PYTHON ?= $(need_python)
TORCH_TESTS := $(addprefix python/,torch_backend torch_attention torch_mixed torch_warm \
  torch_kernels torch_regions torch_hooks torch_standalone torch_logits torch_errors \
  torch_aliases torch_fourier torch_strides torch_devices torch_settings torch_flex \
  torch_operators torch_composites torch_failures torch_refused torch_numbers torch_dtypes \
  torch_weights torch_memory torch_lifetime torch_indices torch_indexing torch_rows \
  torch_collectives torch_recurrent torch_rounding torch_calls torch_sizes training)
torch: $B/torch-$(or $(TORCH),$(TORCH_USUAL))/ready
check-torch: torch all python
	$(call run_torch,$(or $(TORCH),$(TORCH_USUAL))) $(TORCH_TESTS)
check-torch-all: $(patsubst %,check-torch-%,$(or $(TORCH),$(TORCH_OLDEST) $(TORCH_NEWEST)))
check-torch-%: $B/torch-%/ready all python
	$(call run_torch,$*) python
run_torch = @$(TEST_ENV) PYTHON=$(abspath $B/torch-$1/bin/python) $B/torch-$1/bin/python \
  tests/run --no-build
$B/torch-%/ready:
	$(TORCH_PYTHON) -m venv --clear $(@D)
	$(@D)/bin/python -m pip install -q pytest \
	  "$(if $(filter $(TORCH_OLDEST),$*),numpy<2,numpy>=2)" "torch==$*.*"
	touch $@

# Both run what `make bundle` made, as they would on a machine without build tools.
check-gpu: bundle
	PYTHON=$(need_python) $(need_python) .bundle/nereid/tests/run gpu

bench: bundle
	PYTHON=$(need_python) .bundle/nereid/bench/all

SANITIZE := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined
STRESS = $(MAKE) B=build-stress UNIT_LDFLAGS= CFLAGS='$(SANITIZE)' \
  CPPFLAGS='-DARENA_STRESS -include tests/fuzz/stress/failing.h'
# The same tests with sanitizers, arenas of tiny chunks, and allocations that fail on demand; then
# each assertion fails in turn.  Two idle cores take half an hour after the build, by the seconds of
# processors of its parts; TEST_OPTIONS='--share 2/8' runs the second of eight shares of the tests.
stress:
	NEREID_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  $(STRESS) check
	NEREID=$(abspath build-stress/nereid) tests/fuzz/stress/failing-allocations
	$(MAKE) stress-assertions
stress-assertions:
	$(STRESS) build-stress/tests/fuzz/stress/internal_errors
	ASSERTIONS=$$(git grep -h 'BUG_IF(' '*.[ch]' ':!lang/base/bug.h' ':!tests' | wc -l) \
	  build-stress/tests/fuzz/stress/internal_errors

# Every reader of text and bytes, FUZZ_SECONDS each, guided by coverage (tests/fuzz/common/fuzz.h).
FUZZ_SECONDS ?= 60
fuzz:
	$(MAKE) B=build-fuzz UNIT_LDFLAGS= CFLAGS='$(SANITIZE) -fsanitize-coverage=trace-pc' fuzz-programs
	@failed=0; for t in $(FUZZ:$B/%=%); do \
	  build-fuzz/$$t -seconds $(FUZZ_SECONDS) -out build-fuzz/found || failed=1; done; exit $$failed
fuzz-programs: $(FUZZ)

golden: all $(addprefix $B/tests/,graph/unit/passes graph/unit/pt2 cli/unit/tune_report)
	@$(TEST_ENV) $(need_python) tests/support/golden.py --update
	@$(TEST_ENV) $(need_python) tests/graph/passes.py --update
	@$(TEST_ENV) $(need_python) tests/graph/pt2.py --update
	@$(TEST_ENV) $(need_python) tests/graph/onnx_read.py --update
	@$(TEST_ENV) $(need_python) tests/cli/tune_report.py --update

docs: all
	@$(need_python) tests/support/decisions.py --update
	@$(need_python) tests/project/docs.py --update
	@$(TEST_ENV) $(need_python) tests/project/pages.py --update
	@$(need_python) tests/project/pictures.py --update

# Folders, names, modules and English in figures.
structure: $B/nereid-internal.o $(CLI_OBJECTS)
	NEREID_BUILD=$(abspath $B) tests/support/structure

lint:
	@PYTHON=$(need_python) tests/project/lint

# Headers and tables are laid out by hand.
fmt:
	clang-format -i $$(grep -L 'define .*(X)' $(foreach room,$(ROOMS),$(call room_sources,$(room))) \
	  $(wildcard tests/*/unit/*.c tests/fuzz/*.c tests/fuzz/common/*.[ch] bench/*.c examples/c/*.c))

demo: $B/nereid
	@$(TEST_ENV) $(need_python) examples/demo.py

# ---- for users ----

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	install $B/nereid $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $B/libnereid.a $(DESTDIR)$(PREFIX)/lib/
	install $B/libnereid.so $(DESTDIR)$(PREFIX)/lib/libnereid.so.0
	ln -sf libnereid.so.0 $(DESTDIR)$(PREFIX)/lib/libnereid.so
	install -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(PREFIX)/include/
	for pc in nereid nereid-static; do sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
	  -e 's|@LIBS@|$(LIBS) $(SYSTEM_LIBS)|' $$pc.pc.in \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$pc.pc || exit 1; done
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $B/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	for s in bash-completion/completions/nereid zsh/site-functions/_nereid \
	  fish/vendor_completions.d/nereid.fish; do \
	  install -d "$(DESTDIR)$(PREFIX)/share/$${s%/*}" && \
	  $B/nereid completion "$${s%%[-/]*}" > "$(DESTDIR)$(PREFIX)/share/$$s" || exit 1; done
# The loader's list of libraries, where it is this machine's and may be written.
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true

# The distribution's files in dist/ (docs/releasing.md).
wheel:
	@$(need_python) python/link/release
release:
	@$(need_python) python/link/release --release

# A folder that runs on any x86-64 Linux with glibc 2.36 or newer: laid out as this repository is,
# so that the scripts in it find what they need in the same places.  The programs are linked
# statically but for the C library; the shared library, which benches load, has its libraries
# beside it, since Debian's archives hold no position-independent code (old dtags: those find each
# other too).
bundle: python $(CLI_OBJECTS) $B/nereid-internal.o $B/nereid.map $(BENCHES:%=%.o)
	rm -rf .bundle/nereid
	mkdir -p .bundle/nereid/build/bench .bundle/nereid/build/python
	$(LINK) -o .bundle/nereid/build/nereid $(CLI_OBJECTS) $B/nereid-internal.o $(STATIC)
	$(LINK) -shared -Wl,-soname,libnereid.so.0 -Wl,--version-script=$B/nereid.map \
	  -Wl,-rpath,'$$ORIGIN' -Wl,--disable-new-dtags \
	  -o .bundle/nereid/build/libnereid.so $B/nereid-internal.o $(DYNAMIC)
	cp $$(for l in $(LIBS:-l%=lib%); do ldd .bundle/nereid/build/libnereid.so | \
	  sed -n "s|.*=> \(.*/$$l\.so[^ ]*\) (.*|\1|p"; done) .bundle/nereid/build/
	for b in $(notdir $(BENCHES)); do $(LINK) -o .bundle/nereid/build/bench/$$b \
	  $B/bench/$$b.o $B/nereid-internal.o $(STATIC) || exit 1; done
	cp -RL $B/python/nereid $(PACKAGE_INFO) .bundle/nereid/build/python/
	cp -R README.md LICENSE examples tests bench .bundle/nereid/

clean:
	rm -rf build build-stress build-fuzz .bundle
