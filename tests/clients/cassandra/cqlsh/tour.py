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


equal("4.0" in run("SHOW VERSION"), True)
print("connect", flush=True)

run("CREATE KEYSPACE tour WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
run("CREATE TABLE tour.t (p int, c text, v double, tags set<text>, PRIMARY KEY (p, c))")
described = run("DESCRIBE TABLE tour.t")
equal("CREATE TABLE tour.t (" in described and "PRIMARY KEY (p, c)" in described, True)
equal(run("DESCRIBE TABLES", "-k", "tour").split(), ["t"])
equal("CREATE TABLE tour.t (" in run("DESCRIBE KEYSPACE tour"), True)
print("describe", flush=True)

run("; ".join(f"INSERT INTO tour.t (p, c, v, tags) VALUES ({n % 2}, 'c{n}', {n}.5, {{'x', 'y'}})" for n in range(7)))
paged = run("PAGING 2; SELECT p, c FROM tour.t WHERE p = 1")
equal([row for row in rows(paged) if row[0] == "1"], [["1", "c1"], ["1", "c3"], ["1", "c5"]])
print("pages", flush=True)

run(f"COPY tour.t TO '{file}' WITH HEADER = TRUE")
with open(file) as copied:
    lines = copied.read().split()
equal((len(lines), lines[0]), (8, "p,c,tags,v"))
run("TRUNCATE tour.t")
equal("(0 rows)" in run("SELECT * FROM tour.t"), True)
run(f"COPY tour.t FROM '{file}' WITH HEADER = TRUE")
found = run("SELECT p, c, v, tags FROM tour.t WHERE p = 0")
equal(rows(found)[0], ["0", "c0", "0.5", "{'x', 'y'}"])
equal("(4 rows)" in found, True)
print("copy", flush=True)

traced = run("TRACING ON; SELECT v FROM tour.t WHERE p = 1 AND c = 'c1'")
equal(bool(re.search(r"Tracing session: [0-9a-f-]{36}", traced)), True)
equal("Execute CQL3 query" in traced and "Request complete" in traced, True)
print("tracing", flush=True)
