#!/usr/bin/env bash
# Prints a folder with the programs aws and moto_server: the AWS CLI, and a
# stand-in for Amazon's APIs. Their packages are pinned by hash.
source "$(dirname "${BASH_SOURCE[0]}")/lib/steps.sh"

environment() {
	python_environment "$REPO/hack/aws/requirements.txt" "$1"
	mkdir "$1/programs"
	program "$1/programs/aws" awscli
	program "$1/programs/moto_server" moto.server
}

# program FILE MODULE: a script that still works after the environment's move into the cache.
program() {
	# shellcheck disable=SC2016  # for the script to expand
	printf '#!/bin/sh\nexec "$(dirname "$0")/../bin/python" -m %s "$@"\n' "$2" >"$1"
	chmod 755 "$1"
}

folder=$(python_folder aws "$REPO/hack/aws/requirements.txt")
cached aws-cli "$folder" environment
echo "$folder/programs"
