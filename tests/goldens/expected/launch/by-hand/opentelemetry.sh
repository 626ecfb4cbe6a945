#!/usr/bin/env bash
# Starts the workload of trial 1, opentelemetry otlp, by hand. It is no measurement.
# Its records go to port 10008, where the sink was. Something that listens: PORT=4318 bash command.sh
# It reads commands from standard input: "warm-up 1000", "measure", "drained"; Ctrl-D ends it.
# The agent's files lie in the cache: where they are gone, a run fetches them again.
set -euo pipefail
port=${PORT:-10008}
work=$(mktemp -d)
mkdir -p "$work/workload" "$work/records"
cd "$work"
echo "its output, status.txt and logs: $work" >&2
exec env -i \
  PATH="/usr/bin:/bin" \
  HOME="/home/user" \
  TZ="UTC" \
  LANG="C.UTF-8" \
  LC_ALL="C.UTF-8" \
  "/jdk-0/bin/java" \
  "-Xms1073741824" \
  "-Xmx1073741824" \
  "-XX:+UseG1GC" \
  "-XX:+AlwaysPreTouch" \
  "-XX:ActiveProcessorCount=2" \
  "-Xshare:auto" \
  "-XX:-UsePerfData" \
  "-XX:+ExitOnOutOfMemoryError" \
  "-XX:ErrorFile=$work/hs_err.log" \
  "-javaagent:/artifacts/agent" \
  "-Dotel.service.name=tracetax" \
  "-Dotel.instrumentation.methods.include=tracetax.calltree.MonitoredClass[monitoredMethod]" \
  "-Dotel.exporter.otlp.endpoint=http://127.0.0.1:${port}" \
  "-cp" \
  "/classes" \
  "tracetax.calltree.Main" \
  "--calls" \
  "1000" \
  "--depth" \
  "10" \
  "--method-time-ns" \
  "0" \
  "--threads" \
  "1" \
  "--rate" \
  "full" \
  "--wait" \
  "spin" \
  "--out" \
  "$work/workload" \
  "--status" \
  "$work/status.txt"
