#!/usr/bin/env bash
# Fuzzes the served process with schemathesis, which reads only /openapi.json. Every reply must be described there: no server
# error, and no other status, content type or shape of a reply. There are six passes: without an account; as a registered
# user with the agent secret and made-up ids; as a viewer, with an API key, and as an operator who owns the project, each with
# the ids of an existing project, storage and asset; and all operations that end a session, an account, a project, a storage
# or an asset.
#
# FUZZ_SEED and FUZZ_EXAMPLES (cases for each operation in a pass) repeat a run; arguments go to schemathesis.
# FUZZ_PASS_SECONDS is the time limit of a pass in seconds. 45 cases for each operation are some 61,000 in all passes. On a busy
# machine, `--request-timeout 900` keeps a slow reply from being an error.
# Needs python3, 3.10 or newer, and curl. Exit status 75: the installation of schemathesis failed; 76: no failure was found,
# but a pass ended before it had tried all cases.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${FUZZ_SEED:-1}
examples=${FUZZ_EXAMPLES:-25}
pass_seconds=${FUZZ_PASS_SECONDS:-300}
schemathesis_version=4.32.5
hypothesis_version=6.170.15
tool=$PWD/.cache/schemathesis-$schemathesis_version-$hypothesis_version

if [ ! -f "$tool/complete" ]; then
  rm -rf "$tool"
  python3 -m venv "$tool"
  timeout 240 "$tool/bin/pip" install --quiet --disable-pip-version-check \
    "schemathesis==$schemathesis_version" "hypothesis==$hypothesis_version" || exit 75
  touch "$tool/complete"
fi

scratch=$(mktemp -d)
log=$scratch/service.log
service=
mail_catcher=

finish() {
  local status=$?
  trap - EXIT
  if [ -n "$service" ]; then kill -TERM -- "-$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true; fi
  if [ -n "$mail_catcher" ]; then kill "$mail_catcher" 2>/dev/null || true; fi
  if [ "$status" -ne 0 ] && [ "$status" -ne 76 ]; then
    printf '\nWarnings and errors in the log of the service:\n'
    grep -v -e '"level":30' -e 'a payment callback was not taken' "$log" | tail -n 30 || true
    printf 'Repeat this run with FUZZ_SEED=%s FUZZ_EXAMPLES=%s %s\n' "$seed" "$examples" "$0"
  fi
  rm -rf "$scratch"
  exit "$status"
}
trap finish EXIT

# Accepts mail and discards it. Without it every operation that sends mail answers 503, and the code behind it is not tested.
mail_port=$(node scripts/free-port.mjs)
node -e '
  const { SMTPServer } = require("smtp-server");
  const onData = (stream, session, done) => stream.resume().on("end", done);
  new SMTPServer({ authOptional: true, disabledCommands: ["STARTTLS"], onData }).listen(Number(process.argv[1]), "127.0.0.1");
' "$mail_port" &
mail_catcher=$!
export SMTP_URL=smtp://127.0.0.1:$mail_port

port=$(node scripts/free-port.mjs)
url=http://127.0.0.1:$port
export NODE_AGENT_SECRET=fuzz-agent-secret-$seed
export PASSKEY_RP_ID=localhost PASSKEY_ORIGINS=http://localhost
export DATA_DIR=$scratch/data
# The service uses embedded stores, also when the caller has servers for other suites.
unset EVENTSTOREDB_URL MONGODB_URL
# Sets up every payment platform with the keys that signed the tests' messages. Without them callbacks answer 503, and the
# code behind them is not tested. PayPal's certificate is a file, because a download may fail.
for variable in "${!PAYMENT_@}"; do unset "$variable"; done
node -e '
  const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
  const [to] = process.argv.slice(1);
  const vectors = (provider) => JSON.parse(readFileSync(`test/areas/payments/platforms/vectors/vectors-${provider}.json`, "utf8"));
  const write = (directory, files) => {
    mkdirSync(`${to}/${directory}`);
    for (const [name, text] of Object.entries(files)) writeFileSync(`${to}/${directory}/${name}`, text);
  };
  write("wechatpay", vectors("wechatpay").keys);
  write("paypal", { "signing.pem": vectors("paypal").certificates.signing });
  write("alipay", { "public-keys": vectors("alipay").publicKeys.join() });
' "$scratch"
export PAYMENT_STRIPE_WEBHOOK_SECRETS=whsec_fuzz-canary-stripe-secret
export PAYMENT_WECHATPAY_API_V3_KEY=fuzz-canary-wechatpay-secret-000
export PAYMENT_WECHATPAY_MCHID=1900000109 PAYMENT_WECHATPAY_APPID=wxd678efh567hg6787
export PAYMENT_WECHATPAY_KEYS_DIR=$scratch/wechatpay
export PAYMENT_ALIPAY_APP_ID=2021000000000001 PAYMENT_ALIPAY_SELLER_ID=2088000000000001
export PAYMENT_ALIPAY_PUBLIC_KEYS_FILE=$scratch/alipay/public-keys
export PAYMENT_PAYPAL_WEBHOOK_ID=7AB12345CD678901E PAYMENT_PAYPAL_CERTIFICATES_DIR=$scratch/paypal
PAYMENT_STANDARD_WEBHOOK_SECRETS=whsec_$(printf 'fuzz canary standard secret 00' | base64)
export PAYMENT_STANDARD_WEBHOOK_SECRETS
export PAYMENT_EPAY_ENABLED=true PAYMENT_EPAY_PID=1001 PAYMENT_EPAY_KEYS=fuzz-canary-epay-secret
# Other tests cover the limits; here they would hide the code behind them.
cat >"$scratch/limits.json" <<'EOF'
{
  "register": { "limit": 1000000, "seconds": 60 },
  "login": { "limit": 1000000, "seconds": 60 },
  "email_code": { "limit": 1000000, "seconds": 60 },
  "email_code_day": { "limit": 1000000, "seconds": 60 },
  "refresh": { "limit": 1000000, "seconds": 60 },
  "two_factor": { "limit": 1000000, "seconds": 60 },
  "session": { "limit": 1000000, "seconds": 60 },
  "user": { "limit": 1000000, "seconds": 60 },
  "email_change": { "limit": 1000000, "seconds": 60 },
  "email_revert": { "limit": 1000000, "seconds": 60 },
  "passkey_options": { "limit": 1000000, "seconds": 60 },
  "register_invalid": { "limit": 1000000, "seconds": 60 },
  "wrong_agent_secret": { "limit": 1000000, "seconds": 60 },
  "wrong_api_key": { "limit": 1000000, "seconds": 60 },
  "api_key": { "limit": 1000000, "seconds": 60 }
}
EOF
HOST=127.0.0.1 PORT=$port LIMITS_FILE=$scratch/limits.json setsid npm start >"$log" 2>&1 &
service=$!
# The start includes a build, which takes long on a slow machine.
for _ in $(seq 900); do
  curl --silent --fail --output /dev/null "$url/readyz" && break
  kill -0 "$service"
  sleep 0.2
done
curl --silent --fail --output /dev/null "$url/readyz"
for provider in stripe wechatpay alipay paypal standard epay; do
  status=$(curl --silent --output /dev/null --write-out '%{http_code}' --data '{}' "$url/api/v1/payment/webhooks/$provider")
  if [ "$status" -ne 401 ]; then
    printf 'An unsigned callback of %s got %s in place of 401: the platform is not set up.\n' "$provider" "$status"
    exit 1
  fi
done

field() { node -p "JSON.parse(require('node:fs').readFileSync(0, 'utf8'))$1"; }
post() { # path body [header...]
  local path=$1 body=$2
  shift 2
  curl --silent --show-error --fail-with-body --max-time 60 "$url/api/v1$path" -H 'content-type: application/json' "$@" --data "$body"
}
password=Fuzz-Canary-9876
access_token() {
  post /auth/register "{\"email\":\"$1@example.org\",\"password\":\"$password\"}" | field .data.tokens.access_token
}

# Operators need a second factor.
add_totp() { # access token
  local code secret
  secret=$(post /auth/2fa/totp '{}' -H "authorization: Bearer $1" | field .data.secret)
  code=$(node -p 'const { Secret, TOTP } = require("otpauth"); new TOTP({ secret: Secret.fromBase32(process.argv[1]) }).generate()' "$secret")
  post /auth/2fa/totp/confirm "{\"code\":\"$code\"}" -H "authorization: Bearer $1" >/dev/null
}

# On a busy machine a request may exceed its time limit, and the service answers 503. The last step of this script checks
# every 503. One check is off: that the service accepts each request which the document allows. A password must also mix
# kinds of characters, and an endpoint must fit its provider; JSON Schema cannot express these rules.
cat >"$scratch/anonymous.toml" <<'EOF'
[generation]
database = "none"

[auth]
auto-signup = false

[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 503]
positive_data_acceptance.enabled = false
# The list adds 412, 413, 414 and 431 to the default. Rules that depend on stored state come after If-Match. A value that is
# too long for its field may also be too long for a body, a URL or the headers.
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 414, 415, 422, 428, 429, 431, "5xx"]
EOF
{
  printf 'headers = { Authorization = "Bearer ${FUZZ_TOKEN}", X-Agent-Secret = "${NODE_AGENT_SECRET}" }\n'
  cat "$scratch/anonymous.toml"
} >"$scratch/user.toml"
{
  cat "$scratch/user.toml"
  printf '\n[parameters]\n"path.projectId" = "${FUZZ_PROJECT}"\n"path.storageId" = "${FUZZ_STORAGE}"\n"path.assetId" = "${FUZZ_ASSET}"\n'
} >"$scratch/known.toml"
# A key decides alone (docs/api.md#5-authentication): with it, an `Authorization` that is missing or wrong changes nothing.
sed -e 's/^headers = .*/headers = { X-API-Key = "${FUZZ_KEY}" }/' \
  -e 's/^\[checks\]$/&\nignored_auth.enabled = false\nmissing_required_header.enabled = false/' \
  "$scratch/known.toml" >"$scratch/key.toml"

is_whole=true
cases=0
pass() { # title config [option...]
  local title=$1 config=$2 status=0
  shift 2
  printf '\n-- %s\n' "$title"
  # It runs in the scratch directory, because schemathesis leaves files where it runs. After SIGINT it reports its findings so far.
  (cd "$scratch" && timeout --foreground --signal=INT --kill-after=30 "$pass_seconds" \
    "$tool/bin/schemathesis" --config-file "$config" run "$url/openapi.json" \
    --seed "$seed" --max-examples "$examples" --request-timeout 60 --no-color "$@") | tee "$scratch/pass.txt" || status=$?
  cases=$((cases + $(sed -nE 's/^ *([0-9]+) generated.*/\1/p' "$scratch/pass.txt" | tail -n 1 | grep . || echo 0)))
  if grep -qE '^=+ (FAILURES|ERRORS) =+$' "$scratch/pass.txt"; then return 1; fi
  if [ "$status" -eq 124 ]; then
    printf 'The pass ended after %d s, before it had tried all cases.\n' "$pass_seconds"
    is_whole=false
    return
  fi
  return "$status"
}

# These run in a separate pass: after one of them the caller has no account or resource to test the others with.
endings=(logout revokeSession eraseMe changePassword deleteProject removeMember deleteStorage deleteAsset)
without_endings=() only_endings=()
for operation in "${endings[@]}"; do
  without_endings+=(--exclude-operation-id "$operation")
  only_endings+=(--include-operation-id "$operation")
done

pass 'without an account' "$scratch/anonymous.toml" "$@"

FUZZ_TOKEN=$(access_token user)
export FUZZ_TOKEN
pass 'as a user and an agent' "$scratch/user.toml" "${without_endings[@]}" "$@"

FUZZ_TOKEN=$(access_token owner)
FUZZ_PROJECT=$(post /projects '{"name":"Fuzz"}' -H "authorization: Bearer $FUZZ_TOKEN" | field .id)
node dist/cli.js project grant "$FUZZ_PROJECT" allow_s3
node dist/cli.js user verify owner@example.org
node dist/cli.js operator grant owner@example.org
credential=fuzz-canary-secret-key
FUZZ_STORAGE=$(post "/projects/$FUZZ_PROJECT/storages" \
  "{\"name\":\"a\",\"provider\":\"s3\",\"bucket\":\"rushes\",\"region\":\"eu-central-1\",\"credentials\":{\"access_key\":\"AKIAFUZZ\",\"secret_key\":\"$credential\"}}" \
  -H "authorization: Bearer $FUZZ_TOKEN" | field .id)
FUZZ_ASSET=$(post "/projects/$FUZZ_PROJECT/assets" \
  "{\"storage_id\":\"$FUZZ_STORAGE\",\"name\":\"a\",\"object_key\":\"a.mp4\",\"media_type\":\"video/mp4\",\"size\":1}" \
  -H "authorization: Bearer $FUZZ_TOKEN" | field .id)
FUZZ_KEY=$(post "/projects/$FUZZ_PROJECT/api-keys" \
  '{"name":"a","scopes":["storage:read","storage:test","asset:read","asset:write","share:read","share:write","order:read","audit:read"]}' \
  -H "authorization: Bearer $FUZZ_TOKEN" | field .key)
export FUZZ_PROJECT FUZZ_STORAGE FUZZ_ASSET FUZZ_KEY
add_totp "$FUZZ_TOKEN"
owner_token=$FUZZ_TOKEN
FUZZ_TOKEN=$(access_token viewer)
node dist/cli.js user verify viewer@example.org
post "/projects/$FUZZ_PROJECT/members" '{"email":"viewer@example.org","role":"viewer"}' -H "authorization: Bearer $owner_token" >/dev/null
pass 'as a viewer of the project' "$scratch/known.toml" "${without_endings[@]}" "$@"
pass 'with an API key of the project' "$scratch/key.toml" "${without_endings[@]}" "$@"
FUZZ_TOKEN=$owner_token
pass 'as an operator who owns a project, a storage and an asset' "$scratch/known.toml" "${without_endings[@]}" "$@"
pass 'operations that end sessions, accounts, projects, storages and assets' "$scratch/known.toml" "${only_endings[@]}" "$@"

printf '\n-- afterwards\n'
kill -0 "$service"
curl --silent --fail --max-time 5 "$url/readyz"
payment_secrets=("$PAYMENT_STRIPE_WEBHOOK_SECRETS" "$PAYMENT_WECHATPAY_API_V3_KEY" "$PAYMENT_STANDARD_WEBHOOK_SECRETS" "$PAYMENT_EPAY_KEYS")
for secret in "$password" "$NODE_AGENT_SECRET" "$FUZZ_TOKEN" "$FUZZ_KEY" "$credential" "${payment_secrets[@]}"; do
  if grep -qF -- "$secret" "$log"; then
    printf '\nThe log contains a secret.\n'
    exit 1
  fi
done
# Requests come one at a time, and every dependency but the bucket is set up. So only the bucket, or a time limit on a busy
# machine, may cause a 503.
node -e '
  const lines = require("node:fs").readFileSync(process.argv[1], "utf8").split("\n").filter((line) => line.startsWith("{"));
  const codes = new Map();
  const wrong = [];
  let requests = 0;
  for (const { request_id: id, code, route, status, duration_ms: ms } of lines.map((line) => JSON.parse(line))) {
    if (code !== undefined) codes.set(id, code);
    if (ms !== undefined) requests += 1;
    // /readyz answers 503 until the service is ready.
    const isExpected = route === "/readyz" || codes.get(id) === "bucket_unavailable";
    if (status === 503 && ms < 1_000 && !isExpected) wrong.push(`${route}: ${codes.get(id)}`);
  }
  if (requests === 0) throw new Error("the log contains no request");
  if (wrong.length > 0) throw new Error(`answered 503 at once:\n${[...new Set(wrong)].join("\n")}`);
' "$log"
# To schemathesis every status is documented where `default` is. The log shows whether the shared response has the status too.
curl --silent --max-time 20 "$url/openapi.json" >"$scratch/openapi.json"
node -e '
  const { readFileSync } = require("node:fs");
  const [log, document] = process.argv.slice(1).map((file) => readFileSync(file, "utf8"));
  const { paths, components } = JSON.parse(document);
  const lines = log.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const wrong = new Set();
  for (const { method, route, status } of lines) {
    if (route === undefined || route === null) continue;
    const operation = paths[route.replaceAll(/:(\w+)/g, "{$1}")]?.[method === "HEAD" ? "get" : method.toLowerCase()];
    const isListed = operation?.responses[status] !== undefined || status in components.responses.Usual["x-codes"];
    if (operation !== undefined && !isListed) wrong.add(`${method} ${route} ${status}`);
  }
  if (wrong.size > 0) throw new Error(`undocumented:\n${[...wrong].join("\n")}`);
' "$log" "$scratch/openapi.json"
printf '\n%s cases; ready, and no secret in the log\n' "$cases"
if [ "$is_whole" = false ]; then exit 76; fi
