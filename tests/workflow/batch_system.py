"""A stand-in for PBS, LSF or SGE: says what their commands say, and runs each job's script on this machine.

    batch_system.py KIND FOLDER COMMAND ARGUMENT ...

KIND is pbs, lsf or sge; calls and the states of jobs are kept in FOLDER.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

# run the script, then write its exit code, at once
WATCH = '"$0"; printf %d $? > "$1.code"; mv "$1.code" "$1"'


def submit(kind, jobs, script):
    number = str(len(list(jobs.glob("*.session"))) + 1)
    state = jobs / number
    state.write_text("running")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(["sh", "-c", WATCH, script, str(state)], start_new_session=True, **quiet)
    state.with_suffix(".session").write_text(str(process.pid))
    said = {"pbs": f"{number}.server", "lsf": f"Job <{number}> is submitted to queue <normal>."}
    print(said.get(kind, number))


def tell(kind, command, state):
    if kind == "pbs":
        print("job_state = R" if state == "running" else f"job_state = F\nExit_status = {state}")
    elif kind == "lsf":
        print({"running": "RUN", "0": "DONE"}.get(state, "EXIT"))
    elif (command == "qstat") != (state == "running"):
        sys.exit(1)  # SGE's qstat knows the jobs that run, its qacct the others
    else:
        print(f"failed 0\nexit_status  {state}")


def main(kind, folder, command, *arguments):
    with open(Path(folder) / "calls", "a") as calls:
        print(command, *arguments, file=calls)
    jobs = Path(folder) / "jobs"
    jobs.mkdir(exist_ok=True)
    if command in ("qsub", "bsub"):
        submit(kind, jobs, arguments[-1])
        return
    job = jobs / arguments[-1].split(".")[0]
    if not job.exists():
        sys.exit("unknown job")
    if command in ("qdel", "bkill"):
        if job.read_text() == "running":
            os.killpg(int(job.with_suffix(".session").read_text()), signal.SIGTERM)
            job.write_text("143")
    else:
        tell(kind, command, job.read_text())


main(*sys.argv[1:])
