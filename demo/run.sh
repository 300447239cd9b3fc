#!/usr/bin/env bash
# Shows the program on a copy of the sample home: nothing of yours is read, and nothing is left behind.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
cp -R "$here/home" "$temp/home"

for name in $(env | sed -n -E 's/^((XDG|ASTER|AETHER|CLAUDE|CODEX|PI|OMP)_[A-Z_]*)=.*/\1/p'); do
  unset "$name"
done
export HOME="$temp/home"
cd "$HOME"

show() {
  printf '\n$ %s\n' "$1"
  eval "$1"
}

echo "A small invented home: sessions of Aster, Aether and Claude Code. Everything below runs on a copy of it."
show "asx ingest"
show "asx search midnight"
show "asx search --in all 'silent buoy'"
show "asx show --block deploy-window"
show "asx report tools --limit 5"
cat <<'TEXT'

The same on your own files, which are only ever read:

  .venv/bin/asx ingest           bring the index up to date
  .venv/bin/asx search WORDS     find what you typed
  .venv/bin/asx paths            every place that is read or written

Or install it for good: `uv tool install .` or `pipx install .`, then `asx ingest`.
TEXT
