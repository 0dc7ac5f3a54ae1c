"""The profiles: groups, resources of the rules that run cells, and the script for PBS, LSF and SGE."""

import re
import shlex
import subprocess
import sys
import time
import tomllib

import pytest
import yaml
from lib.run import planned

RULE = re.compile(r"^ *rule (\w+):\n(.*?)(?=^\S|\Z)", flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def rules(root):
    """Text of each rule by name."""
    return dict(RULE.findall("\n".join(path.read_text() for path in (root / "workflow").rglob("*.smk"))))


def profile(root, name):
    return yaml.safe_load((root / f"profiles/{name}/config.yaml").read_text())


def test_cells_are_in_no_group_of_snakemakes(root, rules):
    """A failure in a group deletes what its other jobs have finished."""
    settings = profile(root, "default")
    groups = dict(entry.split("=") for entry in settings["groups"])
    assert groups == {"prepare_data": "data"} and set(groups) <= set(rules)
    assert [entry.split("=")[0] for entry in settings["group-components"]] == ["data"]


def test_jobs_of_several_cells_end_within_hours(root):
    papers, _, _ = planned(root / "config/paper.yaml")
    runs = [run for paper in papers.values() for run in paper.plan.runs if len(run.files) > 1]
    minutes = [sum(run.cells[name].minutes for name in names) for run in runs for names in run.jobs.values()]
    assert max(minutes) <= 360 and {run.name for run in runs} >= {"loo", "stopping", "test", "estimators"}


def test_executors_of_clusters_are_installed_by_the_command_that_is_named(root):
    groups = tomllib.loads((root / "pyproject.toml").read_text())["dependency-groups"]
    readme = (root / "profiles/README.md").read_text()
    for name in ("slurm", "cluster-generic"):
        plugin = f"snakemake-executor-plugin-{profile(root, name)['executor']}"
        assert any(entry.startswith(plugin) for entry in groups["cluster"]) and plugin in readme
    assert "`.venv/bin/python packages/install.py cluster`" in readme


@pytest.mark.parametrize("name", ["kubernetes", "s3"])
def test_profiles_of_stores_name_their_plugins(root, name):
    settings = profile(root, name)
    plugins = {settings["default-storage-provider"], settings.get("executor")} - {None}
    assert plugins == {"s3", "kubernetes"} & {"s3", name}
    for plugin in plugins:
        assert re.search(
            rf"snakemake-(?:storage|executor)-plugin-{plugin}", (root / "profiles/README.md").read_text()
        )


def test_the_rule_that_runs_cells_says_what_they_need(root):
    text = (root / "workflow/rules/cells.smk").read_text()
    assert text.count("**EXCLUSIVE") == text.count('mem_mb=run.most("mem_mb")') == 1
    assert text.count('runtime=run.total("minutes")') == 1


def test_profiles_give_defaults_for_the_other_rules(root):
    for name in ("slurm", "cluster-generic"):
        settings = profile(root, name)
        defaults = dict(entry.split("=") for entry in settings["default-resources"])
        assert {"mem_mb", "runtime"} <= set(defaults) and settings["retries"] >= 1


@pytest.mark.slow
def test_timed_cells_have_a_node_of_their_own(checkout):
    target = "results/timed/franc2008/cells/loo/titanic-table/realisation-1/linear.parquet"
    entry = {"preset": "timed", "franc2008": {"datasets": ["titanic-table"]}}
    for timing in ("shared", "exclusive"):
        done = checkout.snakemake("--dry-run", "--", target, config={**entry, "timing": timing})
        assert done.returncode == 0, done.stderr
        assert ("slurm_extra=--exclusive" in done.stdout + done.stderr) == (timing == "exclusive")


@pytest.fixture(params=["pbs", "lsf", "sge"])
def cluster(request, root, tmp_path, monkeypatch):
    """Call the script of the cluster-generic profile on a stand-in for one of the three systems."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("qsub", "qstat", "qacct", "qdel", "bsub", "bjobs", "bkill"):
        call = [
            sys.executable,
            str(root / "tests/workflow/batch_system.py"),
            request.param,
            str(tmp_path),
            name,
        ]
        (commands / name).write_text(f'#!/bin/sh\nexec {shlex.join(call)} "$@"\n')
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:/usr/bin:/bin")
    monkeypatch.setenv("SVMSELECT_CLUSTER", request.param)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        command = [str(root / "profiles/cluster-generic/cluster"), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    call.kind = request.param
    return call


def ended(cluster, number):
    """The final state of a job."""
    end = time.monotonic() + 300
    while (state := cluster("status", number)) == "running":
        assert time.monotonic() < end
        time.sleep(0.1)
    return state


def script(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_submit_and_status(cluster, tmp_path):
    good = cluster("submit", 2, 3000, 90, "shared", script(tmp_path, "good", "exit 0"))
    bad = cluster("submit", 1, 100, 5, "--exclusive", script(tmp_path, "bad", "exit 3"))
    assert ended(cluster, good) == "success" and ended(cluster, bad) == "failed"
    first, second = [line for line in (tmp_path / "calls").read_text().splitlines() if "sub " in line]
    expected = {
        "pbs": ("select=1:ncpus=2:mem=3000mb -l walltime=1:30:00", "place=excl"),
        "lsf": ("-n 2 -R span[hosts=1] rusage[mem=3000MB] -M 3000MB -W 90", " -x "),
        "sge": ("-pe smp 2 -l h_rss=1500M,h_rt=5400", "exclusive=true"),
    }[cluster.kind]
    assert expected[0] in first and expected[1] in second and expected[1] not in first


@pytest.mark.slow
def test_cancel_and_unknown_jobs(cluster, tmp_path):
    number = cluster("submit", 1, 100, 5, "shared", script(tmp_path, "long", "sleep 600"))
    assert cluster("status", number) == "running"
    cluster("cancel", number)
    assert cluster("status", number) == "failed"
    assert cluster("status", 99) == "failed"


@pytest.mark.slow
def test_cells_go_through_the_profile(checkout, cluster, monkeypatch):
    if cluster.kind != "pbs":
        pytest.skip("one of the three is enough here: the script is tested on all")
    target = "results/generic/franc2008/cells/loo/titanic-table/realisation-1/linear.parquet"
    entry = {"datasets": ["titanic-table"], "methods": ["unlearn"], "linear": {"C": [1]}}
    done = checkout.snakemake(
        "--profile",
        "profiles/cluster-generic",
        "--seconds-between-status-checks",
        "1",
        "--latency-wait",
        "5",
        "--",
        target,
        config={"preset": "generic", "franc2008": entry},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (checkout.folder / target).exists()
    calls = (checkout.folder / "calls").read_text()
    assert calls.count("qsub ") == 2 and "mem=1000mb" in calls and "walltime=9:30:00" in calls
