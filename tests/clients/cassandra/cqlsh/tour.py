"""A tour of the Cassandra API by cqlsh. Arguments: endpoint, key, file of the authority."""

import os
import re
import subprocess
import sys
import tempfile

endpoint, key, authority = sys.argv[1:4]
host, port = endpoint.rsplit(":", 1)
shell = os.path.join(os.path.dirname(sys.executable), "cqlsh")
home = tempfile.mkdtemp()
file = os.path.join(home, "rows.csv")
settings = os.path.join(home, "cqlshrc")
with open(settings, "w") as out:
    out.write(f"[ssl]\ncertfile = {authority}\nvalidate = true\n")


def run(statements, *more):
    command = [shell, "--ssl", "--cqlshrc", settings, "-u", "localhost", "-p", key, "--no-color"]
    command += ["--connect-timeout", "60", "--request-timeout", "60", *more, host, port, "-e", statements]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HOME": home})
    if done.returncode != 0:
        raise AssertionError(f"{statements}: {done.stdout} {done.stderr}")
    return done.stdout


def rows(output):
    """The cells of every row of a printed table."""
    lines = [line for line in output.split("\n") if "|" in line]
    return [[cell.strip() for cell in line.split("|")] for line in lines[1:]]


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


# The shell takes seconds to start: each run does as much as it can.
REPLICATION = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
described = run(
    "SHOW VERSION;"
    f"CREATE KEYSPACE tour WITH replication = {REPLICATION};"
    "CREATE TABLE tour.t (p int, c text, v double, tags set<text>, PRIMARY KEY (p, c));"
    "USE tour; DESCRIBE TABLES; DESCRIBE TABLE tour.t; DESCRIBE KEYSPACE tour"
)
equal("| Cassandra 4.0." in described, True)
print("connect", flush=True)

equal(bool(re.search(r"^t\s*$", described, re.MULTILINE)), True)
equal(described.count("CREATE TABLE tour.t ("), 2)
equal(described.count("PRIMARY KEY (p, c)"), 2)
equal(described.count("CREATE KEYSPACE tour WITH"), 1)
print("describe", flush=True)

INSERT = "INSERT INTO tour.t (p, c, v, tags) VALUES"
inserts = "; ".join(f"{INSERT} ({n % 2}, 'c{n}', {n}.5, {{'x', 'y'}})" for n in range(7))
copied = run(
    f"{inserts}; PAGING 2; SELECT p, c FROM tour.t WHERE p = 1; PAGING OFF;"
    f"COPY tour.t TO '{file}' WITH HEADER = TRUE; TRUNCATE tour.t; SELECT * FROM tour.t;"
    f"COPY tour.t FROM '{file}' WITH HEADER = TRUE; SELECT p, c, v, tags FROM tour.t WHERE p = 0"
)
found = rows(copied)
equal([row for row in found if row[0] == "1"], [["1", "c1"], ["1", "c3"], ["1", "c5"]])
print("pages", flush=True)

with open(file) as exported:
    lines = exported.read().split("\n")
equal((len(lines), lines[0].strip()), (9, "p,c,tags,v"))
equal("(0 rows)" in copied and "(4 rows)" in copied, True)
expected = [["0", f"c{n}", f"{n}.5", "{'x', 'y'}"] for n in (0, 2, 4, 6)]
equal([row for row in found if row[0] == "0"], expected)
print("copy", flush=True)

traced = run("TRACING ON; SELECT v FROM tour.t WHERE p = 1 AND c = 'c1'")
equal(bool(re.search(r"Tracing session: [0-9a-f-]{36}", traced)), True)
equal("Execute CQL3 query" in traced and "Request complete" in traced, True)
print("tracing", flush=True)
