#!/bin/sh
# Makes .env of .env.example, with a random value in place of each <random>. An .env that exists stays as it is: a new
# WEBHOOK_ENCRYPTION_KEY could not read the stored signing keys, and new passwords are not those of the data.
#
#   new-env.sh [FILE]
set -eu

example=$(dirname "$0")/../../.env.example
file=${1:-$(dirname "$0")/../../.env}

# 32 bytes. As hexadecimal digits they need no care in a URL.
hexadecimal() {
  head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}
base64_text() {
  head -c 32 /dev/urandom | base64 | tr -d '\n'
}

umask 077
# Refuses a file that is there, without a moment in which another start could see half of one.
set -C
while IFS= read -r line; do
  case $line in
    WEBHOOK_ENCRYPTION_KEY=\<random\>) printf '%s=%s\n' "${line%%=*}" "$(base64_text)" ;;
    [A-Z]*=\<random\>) printf '%s=%s\n' "${line%%=*}" "$(hexadecimal)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <"$example" >"$file"
echo "$file is written; only you can read it."
