#!/usr/bin/env bash
# Debian's SLURM and munge, for the tests in this folder; as root.
set -euo pipefail
if command -v slurmctld slurmd munged > /dev/null; then exit 0; fi
apt-get update -qq
# the packages would start daemons of their own; the tests start theirs
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod +x $policy
    trap 'rm $policy' EXIT
fi
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge < /dev/null
