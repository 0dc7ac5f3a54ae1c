#!/usr/bin/env bash
# Run a program with Debian's SLURM and munge at hand, which it installs; as root.
#
# The program is the first process of a namespace of its own, in which /etc/slurm is empty: whatever ends it, the kernel ends
# every daemon and job that it started, and the configuration of this machine is what it was.
set -euo pipefail
if ! command -v slurmctld slurmd munged > /dev/null; then
    apt-get update -qq
    # the packages would start daemons of their own; the tests start theirs
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' > $policy
        chmod +x $policy
        trap 'rm $policy' EXIT
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge < /dev/null
    if [ -e $policy ] && [ -n "$(trap -p EXIT)" ]; then
        rm $policy
        trap - EXIT
    fi
fi
mkdir -p /etc/slurm
export SVMSELECT_SLURM=1
exec unshare --mount --pid --fork --kill-child --mount-proc \
    sh -c 'mount -t tmpfs slurm /etc/slurm && exec "$@"' run.sh "$@"
