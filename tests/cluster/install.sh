#!/usr/bin/env bash
# Debian's SLURM and munge, for the tests in this folder; as root.
set -euo pipefail
if command -v slurmctld slurmd munged > /dev/null; then exit 0; fi
apt-get update -qq
# the packages' own daemons are not wanted: the tests start theirs
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge < /dev/null
rm /usr/sbin/policy-rc.d
