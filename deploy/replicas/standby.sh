#!/bin/sh
# One more member: a copy of the primary in PGDATA that follows it under its name. Runs as the user postgres.
set -eu
: "${PGDATA:?}" "${REPLICATION_PASSWORD:?}" "${NAME:?b, c or d}" "${PRIMARY:?host of the primary}"

PGPASSWORD=$REPLICATION_PASSWORD pg_basebackup --pgdata "$PGDATA" --host "$PRIMARY" --port "${PRIMARY_PORT:-5432}" --username replicator \
  --wal-method stream --checkpoint fast
chmod 700 "$PGDATA"
touch "$PGDATA/standby.signal"
cat >>"$PGDATA/postgresql.auto.conf" <<END
primary_conninfo = 'host=$PRIMARY port=${PRIMARY_PORT:-5432} user=replicator password=$REPLICATION_PASSWORD application_name=$NAME'
synchronous_standby_names = ''
END
echo "cluster_name = '$NAME'" >>"$PGDATA/postgresql.conf"
pg_ctl --pgdata "$PGDATA" --wait --log "$PGDATA/server.log" start
