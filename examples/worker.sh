#!/usr/bin/env bash
# A worker in curl and jq: claim a task, run a command for it, keep the lease meanwhile, finish.
#
#   DIBS_KEY=KEY ./worker.sh ./do-task.sh
#
# The command gets the task as JSON on stdin; exit status 0 completes the task with the end of its output as the
# result, any other gives it back to try again. Run as many copies as you like, each with an agent's key of its own:
# no two ever work on the same task, and what a crashed one held goes to the others when its lease ends.
#
#   DIBS_URL       the server (http://127.0.0.1:4747)
#   LABELS         only tasks that carry all of these, as JSON: '["invoices"]'
#   LEASE_SECONDS  how long a claim lives without a heartbeat (300)
#   WHEN_EMPTY     wait (for the next task, the default) or exit
set -uo pipefail

: "${DIBS_KEY:?is the key of the agent that works here: dibs agent add NAME}"
[ $# -gt 0 ] || { echo "usage: worker.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
url="${DIBS_URL:-http://127.0.0.1:4747}/v1"
lease="${LEASE_SECONDS:-300}"
empty="${WHEN_EMPTY:-wait}"
[ "$empty" = exit ] && wait=0 || wait=30
claim=$(jq -nc --argjson labels "${LABELS:-[]}" --argjson lease "$lease" --argjson wait "$wait" \
  '{labels: $labels, lease_seconds: $lease} + if $wait > 0 then {wait_seconds: $wait} else {} end')
folder=$(mktemp -d)
started=$(date +%s)
answer= work= beat=

# POST to a path with a JSON body; prints the answer. A repeat after a broken connection carries the same
# Idempotency-Key, so it has the effect of one call. Returns 1 when the server can't be reached, 2 when it refuses,
# which it says on stderr.
post() {
  local path=$1 body=$2 reply=$folder/${1##*/} status
  shift 2
  status=$(curl -sS --retry 5 --retry-connrefused "$@" -X POST "$url/$path" -o "$reply" -w '%{http_code}' \
    -H "X-Agent-Key: $DIBS_KEY" -H "Content-Type: application/json" \
    -H "Idempotency-Key: $started-$$-$RANDOM$RANDOM$RANDOM$RANDOM" -d "$body") || status=000
  case $status in
    2??) cat "$reply" ;;
    4??) jq -r '"\(.code): \(.detail)"' "$reply" >&2; return 2 ;;
    *) return 1 ;;
  esac
}

# Reads what the last claim gave: the task's id, its record, and what is sent with everything that follows, so that
# only this grant of the task can be meant. Nothing when the queue was empty.
unpack() {
  id= proof= record=
  { read -r id && read -r proof && read -r record; } \
    < <(jq -rc '.task.id // empty, (.task | select(.) | {lease_id, fence}, .)' <<<"$answer")
}

# Renews the lease at each third of its length until it is stopped. When that is refused the task is not ours any
# more, and when it fails twice nobody knows: then the command is stopped, in time before the lease ends.
keep() {
  local nap= pause=$((lease / 3)) misses=0
  trap 'kill $nap 2>/dev/null; exit 0' TERM
  while [ "$misses" -lt 2 ]; do
    sleep "$pause" & nap=$!
    wait "$nap"
    post "tasks/$id/heartbeat" "$proof" --retry 0 --max-time $((lease / 6 + 1))
    case $? in
      0) misses=0 pause=$((lease / 3)) ;;
      1) misses=$((misses + 1)) pause=$((lease / 6)) ;;
      2) break ;;
    esac
  done
  kill "$work"
}

# On the way out, whatever the reason: stop what runs and give the task back at once, not only when its lease ends.
leave() {
  [ -n "$beat" ] && kill "$beat" 2>/dev/null
  [ -n "$work" ] && kill "$work" 2>/dev/null && wait "$work" 2>/dev/null
  unpack
  [ -n "$id" ] && post "tasks/$id/release" "${proof%\}},\"handoff\":\"The worker was stopped.\"}" >/dev/null
  rm -rf "$folder"
}
trap leave EXIT
trap 'exit 130' INT TERM

while :; do
  answer=$(post tasks/claim "$claim")
  case $? in
    1) sleep 5; continue ;;
    2) exit 1 ;;
  esac
  if ! unpack; then
    [ "$empty" = exit ] && exit 0
    continue
  fi
  "$@" <<<"$record" >"$folder/output" & work=$!
  keep </dev/null >/dev/null & beat=$!
  wait "$work"
  status=$?
  work=
  if [ "$status" -eq 0 ]; then
    body=$(tail -c 4000 "$folder/output" | jq -Rsc --argjson proof "$proof" '$proof + {result: .}')
    post "tasks/$id/complete" "$body" >/dev/null && echo "$id completed"
  else
    post "tasks/$id/fail" "${proof%\}},\"retry\":true,\"reason\":\"exit status $status\"}" >/dev/null
    echo "$id failed with exit status $status"
  fi
  answer=
  kill "$beat" 2>/dev/null && wait "$beat" 2>/dev/null
  beat=
done
