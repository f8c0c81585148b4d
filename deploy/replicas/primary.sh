#!/bin/sh
# The first member: a new cluster in PGDATA with the user and the database of mesocosm. Runs as the user postgres.
set -eu
: "${PGDATA:?}" "${REPLICATION_PASSWORD:?}" "${MESOCOSM_PASSWORD:?}" "${NETWORK:?such as 10.0.0.0/24}"

initdb --pgdata "$PGDATA" --encoding UTF8 --locale C --auth-local peer --auth-host scram-sha-256 --data-checksums
cat >>"$PGDATA/postgresql.conf" <<END
listen_addresses = '*'
cluster_name = 'a'
max_connections = 200
wal_sender_timeout = '5s'
wal_receiver_status_interval = '1s'
wal_keep_size = '4GB'
END
cat >>"$PGDATA/pg_hba.conf" <<END
host mesocosm mesocosm $NETWORK scram-sha-256
host replication replicator $NETWORK scram-sha-256
END
pg_ctl --pgdata "$PGDATA" --wait --log "$PGDATA/server.log" start
psql --dbname postgres --set ON_ERROR_STOP=1 --set replication="$REPLICATION_PASSWORD" --set own="$MESOCOSM_PASSWORD" <<END
CREATE ROLE replicator LOGIN REPLICATION PASSWORD :'replication';
CREATE ROLE mesocosm LOGIN PASSWORD :'own';
GRANT pg_monitor TO mesocosm;
CREATE DATABASE mesocosm;
GRANT CREATE ON DATABASE mesocosm TO mesocosm;
END
