#!/usr/bin/env bash
# Run a program with Debian's SLURM and munge at hand, which it installs; as root.
#
# The program is the first process of a namespace of its own, in which /etc/slurm is empty and no port is taken: whatever ends it,
# the kernel ends every daemon and job that it started, and the configuration of this machine is what it was.
set -euo pipefail
ready() {
    for tool in slurmctld slurmd munged ip; do command -v $tool || return; done
}
if ! ready > /dev/null; then
    apt-get update -qq
    # the packages would start daemons of their own; the tests start theirs
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' > $policy
        chmod +x $policy
        trap 'rm $policy' EXIT
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge iproute2 < /dev/null
    if [ -e $policy ] && [ -n "$(trap -p EXIT)" ]; then
        rm $policy
        trap - EXIT
    fi
fi
mkdir -p /etc/slurm
# SLURM listens only where some address is not of the loopback network
start='mount -t tmpfs slurm /etc/slurm && ip link set lo up && ip address add 192.0.2.1/32 dev lo && exec "$@"'
export SVMSELECT_SLURM=1
exec unshare --mount --net --pid --fork --kill-child --mount-proc \
    sh -c "$start" run.sh "$@"
