#!/usr/bin/env bash
# Checks the alert rules and the queries of the dashboard by Prometheus' own parser, promtool (2.40 or newer). Without a
# promtool on the path it takes the one of Debian's package. Exit code 75: no promtool can be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

find_promtool() {
  if command -v promtool; then return; fi
  if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then return 1; fi
  # The package is unpacked and not installed, because an installed one would start a server.
  (cd "$scratch" && { timeout 120 apt-get download prometheus || { timeout 120 apt-get update && timeout 120 apt-get download prometheus; }; } &&
    dpkg -x prometheus_*.deb unpacked) >/dev/null 2>&1 || return 1
  printf '%s\n' "$scratch/unpacked/usr/bin/promtool"
}

promtool=$(find_promtool) || exit 75
"$promtool" check rules deploy/prometheus/alerts.yml
# Each query of the dashboard becomes a rule, since promtool reads rules only. Grafana sets the interval.
node -e '
  const { panels } = JSON.parse(require("node:fs").readFileSync("deploy/grafana/stowage.json", "utf8"));
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m")));
  const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
  console.log(JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
' >"$scratch/dashboard.yml"
"$promtool" check rules "$scratch/dashboard.yml"
