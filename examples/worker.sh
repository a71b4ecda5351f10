#!/usr/bin/env bash
# A worker in psql and shell that polls for tasks, keeps alive the one it is at, and
# stops when it must.
#
#   worker.sh OWNER [TTL]         TTL in seconds, 30 if not given
#
# Works off tasks one after the other until SIGTERM or SIGINT, and then gives its
# task back.  What the work is stands in work(); put your own there.  All else comes
# down to this: work() runs only until a moment that is reckoned, by a clock that
# nobody sets, from when the last request that was granted *left*.  Silence, errors
# and `busy` do not move that moment, and mean nothing else.  The database is that
# of libpq's variables; its role has `use` there.
set -euo pipefail
set -m # a job is a process group, and ends with all that it has started

owner=$1
ttl=${2:-30}
name='' fence='' job='' why='' limit='' stopping=''
said=$(mktemp -d)
trap 'end_work; rm -r "$said"' EXIT
trap 'stopping=yes' TERM INT

# Import the lines that no attempt has imported yet, each in one transaction with the
# note that it is done; say what the result is.
work()
{
	local line count
	read -r line count < <(ask "SELECT coalesce((checkpoint->>'lines')::int, 0),
		jsonb_array_length(payload->'lines') FROM lease_task_get(:'name')")
	while [ "$line" -lt "$count" ]; do
		ask >/dev/null "BEGIN;
			SELECT FROM lease_present(:'name', :'owner', :fence);
			INSERT INTO imported SELECT name, :line + 1, payload->'lines'->>:line FROM lease_task_get(:'name');
			-- refused, it is an error, and all is rolled back
			SELECT 1 / ok::int FROM lease_renew(:'name', :'owner', :fence,
				checkpoint => jsonb_build_object('lines', :line + 1));
			COMMIT" line="$line"
		line=$((line + 1))
	done
	echo "{\"lines\": $count}"
}

# SQL about the present task, with more values as NAME=VALUE; within the limit, if any.
ask()
{
	local sql=$1
	shift
	${limit:+timeout "$limit"} psql -XqAt -F ' ' --set=ON_ERROR_STOP=1 --set=owner="$owner" \
		--set=name="$name" --set=fence="$fence" "${@/#/--set=}" <<<"$sql"
}

# Hundredths of a second since the machine was started.
now()
{
	local uptime
	read -r uptime _ </proc/uptime
	echo "${uptime/./}"
}

# Prolong the task until the deadline that this answer means.  A server that is silent
# does not keep us from the present one.
renew()
{
	local left=$1 outcome ok remaining length cancelled limit
	printf -v limit %d.%02d $(((deadline - left) / 100)) $(((deadline - left) % 100))
	read -r outcome ok remaining length cancelled < <(ask "
		SELECT outcome, ok, (extract(epoch FROM remaining) * 100)::int,
			(extract(epoch FROM ttl) * 100)::int, cancel_deadline IS NOT NULL
		FROM lease_renew(:'name', :'owner', :fence)") || return 0
	if [ "$cancelled" = t ]; then
		why="cancel requested"
	elif [ "$ok" = t ]; then
		deadline=$((left + remaining - length / 10))
		beat_at=$((left + length / 3))
	elif [ "$outcome" != busy ]; then
		why=$outcome
	fi
}

# A psql that is interrupted cancels its statement.
end_work()
{
	[ -n "$job" ] && kill -INT -- -"$job" 2>/dev/null || return 0
	sleep 0.2
	kill -KILL -- -"$job" 2>/dev/null || :
	wait "$job" 2>/dev/null || :
}

# End the attempt; repeated until there is an answer, which does no harm.  psql reads
# what the work has said: it may be long, and of errors the end has to do.
settle()
{
	local outcome=busy status limit=10
	while [ "${outcome:-busy}" = busy ]; do
		status=0
		outcome=$(ask "\\set result \`cat '$said/result'\`
			\\set error \`tail -c 60000 '$said/errors' | iconv -c -f UTF-8 -t UTF-8 | tr -d '\\000'\`
			SELECT outcome FROM $1" 2>>"$said/errors") || status=$?
		[ "${outcome:-busy}" = busy ] || break
		[[ $status = 3 && $1 = lease_complete* ]] && return 1
		if [ "$(now)" -ge "$deadline" ]; then
			outcome=unknown
		fi
		sleep 0.1
	done
	echo "$name $fence ${why:+stopped, $why: }$outcome"
}

# Work at the task that was granted until the deadline.
attempt()
{
	local moment
	why=''
	work >"$said/result" 2>"$said/errors" &
	job=$!
	while :; do
		moment=$(now)
		[ "$moment" -lt "$deadline" ] || why="out of time"
		[ -z "$stopping" ] || why=interrupted
		if [ -n "$why" ]; then
			end_work
			# Not ours any more, or to be given back: then a cancelled one is cancelled.
			settle "lease_release(:'name', :'owner', :fence)"
			return
		fi
		kill -0 "$job" 2>/dev/null || break
		[ "$moment" -lt "$beat_at" ] || renew "$moment"
		sleep 0.1 || : # which may have been stopped
	done
	# A result that the database does not take is a failure too.
	if ! { wait "$job" && settle "lease_complete(:'name', :'owner', :fence, result => :'result')"; }; then
		settle "lease_fail(:'name', :'owner', :fence, :'error')"
	fi
	job=''
}

request=$(</proc/sys/kernel/random/uuid)
while [ -z "$stopping" ]; do
	left=$(now)
	# What a poll waits for a task is time of the task's.  A signal to the whole process
	# group does not end it: the server would grant the task to nobody.
	if ! task=$(trap '' TERM && ask "SELECT ok, outcome, fence, (extract(epoch FROM remaining) * 100)::int,
			(extract(epoch FROM ttl) * 100)::int, name
			FROM lease_poll(:'owner', ttl => make_interval(secs => :ttl),
				wait => make_interval(secs => least(:ttl / 3.0, 2)), request_id => :'request')" \
			ttl="$ttl" request="$request"); then
		sleep 1 # not known: the same request again is told what it was granted
		continue
	fi
	# That was the answer; only the twin of a poll in flight has none yet.
	read -r ok outcome fence remaining length name <<<"$task"
	[ "$outcome" = busy ] || request=$(</proc/sys/kernel/random/uuid)
	if [ "$ok" = t ]; then
		deadline=$((left + remaining - length / 10)) beat_at=$((left + length / 3))
		attempt
	fi
done
