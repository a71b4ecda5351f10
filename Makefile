# Builds, installs and tests the extension.  `make help` lists the targets.
#
# demo, test and the checks work where PostgreSQL is not installed yet: they
# bring what they need (tools/bootstrap).  All else is PGXS and needs a
# pg_config; name another one with PG_CONFIG=...

EXTENSION = lease
DATA = lease--1.0.sql
MODULE_big = lease

OBJS = $(addprefix src/, \
	lease.o \
	settings.o \
	clock.o \
	wait.o \
	transaction.o \
	rules.o \
	outcomes.o \
	owner.o \
	mutex.o \
	rows.o \
	statement.o \
	ledger.o \
	request.o \
	store.o \
	floor.o \
	memo.o \
	privilege.o \
	policy.o \
	namespaces.o \
	due.o \
	payload.o \
	token_text.o \
	token.o \
	marks.o \
	rebase.o \
	protocol.o \
	poll.o \
	proof.o \
	guard.o \
	guard_ddl.o \
	guard_terms.o \
	guard_view.o \
	fencing.o \
	batch.o \
	purge.o \
	lockers.o \
	explain.o \
	check.o \
	arguments.o \
	result.o \
	api.o \
	observe.o \
	operate.o \
	task.o \
	admin.o \
	views.o \
	error.o)

PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers -Wshadow=compatible-local
ifneq ($(findstring clang,$(CC)),)
# PostgreSQL was configured with gcc, whose options and attributes it hands on.
PG_CFLAGS += -Wno-unknown-warning-option -Wno-ignored-optimization-argument \
	-Wno-ignored-attributes
endif
ifdef WERROR
PG_CFLAGS += -Werror
endif

# Results of `make installcheck`.
RESULTS = build

REGRESS = $(sort $(basename $(notdir $(wildcard $(srcdir)/sql/*.sql))))
REGRESS_OPTS = --outputdir=$(RESULTS)/regress
ISOLATION = $(sort $(basename $(notdir $(wildcard $(srcdir)/test/isolation/specs/*.spec))))
ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation \
	--outputdir=$(RESULTS)/isolation
REGRESS_PREP = results-dirs
EXTRA_CLEAN = build

# Where the report of `make demo`, or the results of `make test`, are put; if
# empty they are only shown.
OUT =

PG_CONFIG = pg_config
PGXS := $(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null))

.DEFAULT_GOAL := all

ifneq ($(PGXS),)
include $(PGXS)

# PGXS follows no header, so all of them are named here.
$(OBJS) $(OBJS:.o=.bc): $(wildcard $(srcdir)/src/*.h) $(srcdir)/Makefile
else
all install uninstall installcheck clean:
	@echo "$(PG_CONFIG) --pgxs names no file: install PostgreSQL's development" >&2
	@echo "files for servers, or pass PG_CONFIG=/path/to/pg_config" >&2
	@exit 1
endif

# Arguments of test/bench/run.
BENCH =

# Arguments of test/torture/run.
TORTURE =

# The mutants that `make mutants` builds; if empty, all.
MUTANTS =

# What `make test` or `make assert` runs of the suites; if empty, all that it has.
SUITES =

.PHONY: results-dirs demo bench torture test unit check-style mutants matrix assert dist indent help

results-dirs:
	@mkdir -p $(RESULTS)

server = PG_CONFIG='$(PG_CONFIG)' tools/server $(if $(OUT),--out '$(OUT)')

demo:
	@PG_CONFIG='$(PG_CONFIG)' tools/bootstrap demo
	@$(server) -- bash -c 'exec test/race/run --out "$$LEASE_OUT"'

# As durable as a server should be; tables in memory, no checkpoint within a run.
bench:
	@PG_CONFIG='$(PG_CONFIG)' tools/bootstrap demo
	@$(server) --set fsync=on --set shared_buffers=1GB --set max_wal_size=8GB \
		--set checkpoint_timeout=1h \
		-- bash -c 'exec test/bench/run --out "$$LEASE_OUT" "$$@"' bench $(BENCH)

torture:
	@PG_CONFIG='$(PG_CONFIG)' tools/bootstrap demo
	@$(server) -- bash -c 'exec test/torture/run --out "$$LEASE_OUT" "$$@"' torture $(TORTURE)

test unit check-style:
	@PG_CONFIG='$(PG_CONFIG)' tools/bootstrap demo test
	@PG_CONFIG='$(PG_CONFIG)' OUT='$(OUT)' test/run $(or $(subst check-style,style,$(filter-out test,$@)),$(SUITES))

mutants:
	@PG_CONFIG='$(PG_CONFIG)' tools/bootstrap demo test
	@PG_CONFIG='$(PG_CONFIG)' test/mutants/run $(MUTANTS)

matrix:
	@test/matrix/run $(VERSIONS)

assert:
	@PG_CONFIG='$(PG_CONFIG)' OUT='$(OUT)' test/assert/run $(if $(VALGRIND),--valgrind) $(SUITES)

dist:
	@tools/bootstrap dist
	@tools/dist $(OUT)

indent:
	@tools/indent

help:
	@echo "make               build against the PostgreSQL of PG_CONFIG"
	@echo "make install       install into it"
	@echo "make installcheck  regression and isolation tests on your running server"
	@echo "make demo          the heartbeat race, on a throw-away server [OUT=DIR keeps the report]"
	@echo "make bench         speed, measured against the yardsticks [OUT=DIR keeps the figures]"
	@echo "make torture       random histories, killed and stopped, and a checker [TORTURE='--seconds 600 --seed 7']"
	@echo "make test          every test, on a throw-away server [OUT=DIR keeps what failed; SUITES='style tap' only these]"
	@echo "make unit          the rules alone, without a server"
	@echo "make check-style   formatting, layers, and the other checks of tools/"
	@echo "make mutants       breaks the extension on purpose, and sees the tests fail [MUTANTS='name name']"
	@echo "make matrix        the suites on the servers that Debian 12 does not have [VERSIONS='17 18']"
	@echo "make assert        the suites on a server with assertions [VALGRIND=1 beneath valgrind]"
	@echo "make dist          the archive for PGXN, from the last commit [OUT=DIR]"
	@echo "make indent        format the C code in place"
	@echo "make clean         remove what was built"
	@echo "WERROR=1           warnings are errors;  CC=clang  another compiler"
