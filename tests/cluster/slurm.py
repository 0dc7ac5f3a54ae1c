"""A SLURM cluster on this machine: one controller and several nodes, all of it in a temporary folder."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

# where the commands look when the environment does not say: Snakemake's plugin clears it of what is SLURM's
STANDARD = Path("/etc/slurm/slurm.conf")
NEEDED = ("munged", "munge", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
PORT = 17000  # and those after it: tests/cluster/run.sh has a network of its own

CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=2,sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
MinJobAge=300
SlurmdTimeout=10
KillWait=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
NodeName=DEFAULT CPUs={cpus} RealMemory={memory}
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}]
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def missing():
    """What stands in the way of a cluster here, as a sentence; None if nothing does."""
    if not STANDARD.parent.is_mount():
        return f"{STANDARD.parent} is this machine's, which tests leave alone: tests/cluster/run.sh"
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)} (tests/cluster/run.sh)" if absent else None


class Slurm:
    """The cluster; `start` and `stop` it, and kill its nodes.

    Parameters
    ----------
    folder : Path
        Configuration, state, spool, sockets and logs.
    nodes, cpus, memory : int
        Nodes n1, n2, ...; processors and memory (MB) of each, whatever the machine has.
    """

    def __init__(self, folder, nodes=3, cpus=2, memory=6000):
        self.folder, self.nodes = Path(folder), nodes
        self.conf = self.folder / "slurm.conf"
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("state", *(f"spool-n{number}" for number in range(1, nodes + 1))):
            (self.folder / name).mkdir()
        text = CONF.format(
            host=socket.gethostname().split(".")[0],
            folder=self.folder,
            port=PORT,
            first=PORT + 1,
            last=PORT + nodes,
            nodes=nodes,
            cpus=cpus,
            memory=memory,
        )
        self.conf.write_text(text)
        self.environment = {"SLURM_CONF": str(self.conf)}
        self.daemons = {}

    def start(self):
        """Bring everything up; wait until all nodes are idle."""
        if (why := missing()) is not None:
            raise RuntimeError(why)
        STANDARD.symlink_to(self.conf)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self._run("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", *files)
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged", 120)
        self._run("slurmctld", "-D", "-f", str(self.conf))
        for number in range(1, self.nodes + 1):
            self.start_node(f"n{number}")
        self._wait(lambda: set(self.states().values()) == {"idle"}, "idle nodes", 600)
        return self

    def stop(self):
        """Cancel what runs and end all daemons, the nodes first."""
        if self.daemons:
            self.call("scancel", "--user=root", check=False)
        for daemon in reversed(list(self.daemons.values())):
            if daemon.poll() is None:
                daemon.terminate()
                try:
                    daemon.wait(20)
                except subprocess.TimeoutExpired:
                    daemon.kill()
        STANDARD.unlink(missing_ok=True)

    def start_node(self, name):
        """Start the daemon of a node."""
        self._run("slurmd", "-D", "-N", name, "-f", str(self.conf), key=name)

    def lose_node(self, name):
        """Kill a node's daemon and everything that runs on it: nobody is left to tell the controller."""
        self.daemons[name].kill()
        self.daemons[name].wait()
        # whoever watches a job before the job
        for number in [number for number, node in self.running().items() if node == name]:
            kill("cmdline", f"slurmstepd: [{number}.")
        kill("environ", f"SLURMD_NODENAME={name}\0", str(self.conf))

    def states(self):
        """State of each node."""
        lines = self.call("sinfo", "--noheader", "--Node", "--format=%N %T", check=False).split("\n")
        return dict(line.split() for line in lines if line.strip())

    def running(self, words=""):
        """Numbers of the running jobs whose comment has these words, with the node of each."""
        lines = self.call("squeue", "--noheader", "--states=RUNNING", "--format=%i|%N|%k").split("\n")
        rows = [line.split("|") for line in lines if line.strip()]
        return {number: node for number, node, comment in rows if words in comment}

    def call(self, *command, check=True):
        """Output of a SLURM command."""
        done = subprocess.run(
            command, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stderr}")
        return done.stdout

    def _run(self, *command, key=None):
        log = open(self.folder / f"{key or command[0]}.out", "w")  # noqa: SIM115
        # a group of its own: Ctrl-C is for the tests
        self.daemons[key or command[0]] = subprocess.Popen(
            command, stdout=log, stderr=log, start_new_session=True, env={**os.environ, **self.environment}
        )

    def _wait(self, condition, event, seconds):
        end = time.monotonic() + seconds
        while not condition():
            dead = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if dead or time.monotonic() > end:
                why = f"{dead[0]} ended" if dead else f"waited {seconds} s"
                raise RuntimeError(f"no {event}: {why}; logs are in {self.folder}")
            time.sleep(0.2)


def kill(file, *words):
    """Kill every process of which this file in /proc has all the words."""
    for path in Path("/proc").glob(f"[0-9]*/{file}"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if all(word.encode() in text for word in words):
            os.kill(int(path.parent.name), signal.SIGKILL)
