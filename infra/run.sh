#!/bin/sh
# What `npm start`, `npm test` and their like call: install what is pinned, then become the command's own program, on
# the Node that the images run where the registry has it for this machine, else on the one that is here. The same
# process, so signals and the exit code need no passing on.
cd "$(dirname "$0")/.." || exit 1
# 99: it has shown the help of the command, and that was all.
node infra/install.mjs "$@" || { code=$?; [ $code = 99 ] && exit 0; exit $code; }
# The package manager's wrapper of that Node is a shell in between, which passes no signal on.
rm -f node_modules/.bin/node
# turbo and the checks look for pnpm on the PATH; npm puts it there, a direct call does not.
PATH="$PWD/node_modules/.bin:$PATH"
for pinned in "$PWD"/node_modules/node-*/bin; do
  # It is made for glibc: elsewhere it is there and does not run.
  "$pinned/node" --version >/dev/null 2>&1 && PATH="$pinned:$PATH"
done
export PATH
exec node infra/bootstrap.mjs "$@"
