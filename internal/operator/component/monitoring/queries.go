package monitoring

import (
	"fmt"
	"strings"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
)

// labelReload has CloudNativePG read a ConfigMap again when it changes
// (its pkg/utils/labels_annotations.go).
const labelReload = "cnpg.io/reload"

// Queries is the ConfigMap with the queries by which every instance reports the
// settings that durability depends on, and what alerts and dashboards need.
// CloudNativePG's own query of settings has numbers and booleans only. The instances run them as cnpg_metrics_exporter, a member of
// pg_monitor without superuser rights, in a read-only transaction.
func Queries(cr *v1alpha1.PgStorageCluster) *corev1ac.ConfigMapApplyConfiguration {
	labels := naming.Labels(cr.Name)
	labels[labelReload] = ""
	return corev1ac.ConfigMap(naming.DurabilityQueries(cr.Name, string(cr.UID)), cr.Namespace).
		WithLabels(labels).
		WithOwnerReferences(plan.ControllerReference("PgStorageCluster", cr)).
		WithData(map[string]string{naming.DurabilityQueriesKey: QueriesText()})
}

// QueriesText in CloudNativePG's form. Every query has a row for what it read at all:
// one that is missing means that nothing is known, not that nothing is there.
func QueriesText() string {
	var names []string
	for _, n := range postgres.FoundationNames() {
		names = append(names, "'"+n+"'")
	}
	return fmt.Sprintf(queries, strings.Join(names, ", "))
}

// A value that the session brings with it is not the server's: CloudNativePG's sessions
// have synchronous_commit=local (its pkg/management/postgres/pool/profiles.go).
// queries has limits that bound the series of an instance.
const queries = `# Settings that durability rests on, read by pgstorage. Changes are taken back.
pgstorage_setting:
  query: |
    SELECT s.name, s.setting AS value, 1 AS info
    FROM pg_catalog.pg_settings s
    WHERE s.name OPERATOR(pg_catalog.=) ANY (ARRAY[%[1]s]) AND s.source OPERATOR(pg_catalog.<>) ALL (ARRAY['client', 'session'])
  metrics:
    - name:
        usage: "LABEL"
        description: "Name of the setting"
    - value:
        usage: "LABEL"
        description: "Value of the setting"
    - info:
        usage: "GAUGE"
        description: "Always 1"
pgstorage_override:
  query: |
    WITH found AS (
      SELECT coalesce(d.datname::text, '') AS datname, coalesce(r.rolname::text, '') AS rolname,
        pg_catalog.split_part(c.entry, '=', 1) AS name,
        pg_catalog.substr(c.entry, pg_catalog.strpos(c.entry, '=') OPERATOR(pg_catalog.+) 1) AS value
      FROM pg_catalog.pg_db_role_setting s
      CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c(entry)
      LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.setdatabase
      LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) s.setrole
    ), mine AS (
      SELECT * FROM found WHERE name OPERATOR(pg_catalog.=) ANY (ARRAY[%[1]s])
    )
    SELECT '' AS datname, '' AS rolname, '' AS name, '' AS value, pg_catalog.count(*) AS rows FROM mine
    UNION ALL
    (SELECT datname, rolname, name, value, 1 FROM mine ORDER BY 1, 2, 3 LIMIT 100)
  metrics:
    - datname:
        usage: "LABEL"
        description: "Database whose sessions have the setting; empty for all"
    - rolname:
        usage: "LABEL"
        description: "Role whose sessions have the setting; empty for all"
    - name:
        usage: "LABEL"
        description: "Name of the setting; empty in the row that counts the others"
    - value:
        usage: "LABEL"
        description: "Value of the setting"
    - rows:
        usage: "GAUGE"
        description: "1, or how many there are"
pgstorage_follower:
  query: |
    SELECT '' AS application_name, 0 AS streams
    UNION ALL
    (SELECT coalesce(nullif(r.application_name, ''), 'without a name'), pg_catalog.count(*)
     FROM pg_catalog.pg_stat_replication r
     WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_replication_slots s
       WHERE s.active_pid OPERATOR(pg_catalog.=) r.pid AND s.slot_type OPERATOR(pg_catalog.=) 'logical')
     GROUP BY 1 ORDER BY 1 LIMIT 100)
  metrics:
    - application_name:
        usage: "LABEL"
        description: "Who receives WAL; empty in the row that is always there"
    - streams:
        usage: "GAUGE"
        description: "Number of connections"
pgstorage_receiver:
  query: |
    WITH here AS (
      SELECT r.status OPERATOR(pg_catalog.=) 'streaming' AS streaming, r.received_tli AS timeline,
        CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_wal_lsn_diff(
          greatest(pg_catalog.pg_last_wal_receive_lsn(), pg_catalog.pg_last_wal_replay_lsn()), '0/0') END AS reached,
        pg_catalog.pg_wal_lsn_diff(r.latest_end_lsn, pg_catalog.pg_last_wal_replay_lsn()) AS behind,
        pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.pg_last_xact_replay_timestamp() AS age
      FROM (SELECT 1) AS one
      LEFT JOIN pg_catalog.pg_stat_wal_receiver r ON pg_catalog.pg_is_in_recovery()
    )
    SELECT CASE WHEN streaming THEN 1 ELSE 0 END AS streaming,
      greatest(coalesce(behind, 0), 0) AS behind_bytes,
      CASE WHEN streaming AND behind OPERATOR(pg_catalog.<=) 0 THEN 0
        ELSE greatest(coalesce(EXTRACT(EPOCH FROM age), 0), 0) END AS delay_seconds,
      coalesce(timeline, 0) AS timeline, coalesce(reached, 0) AS position_bytes
    FROM here
  metrics:
    - streaming:
        usage: "GAUGE"
        description: "1 if the instance receives WAL from another one; 0 on a primary"
    - behind_bytes:
        usage: "GAUGE"
        description: "WAL that was announced to the instance, and that it has not replayed"
    - delay_seconds:
        usage: "GAUGE"
        description: "Age of the last commit that the instance replayed; 0 if nothing is left to replay"
    - timeline:
        usage: "GAUGE"
        description: "Timeline of the WAL that the instance receives; 0 if it receives none"
    - position_bytes:
        usage: "GAUGE"
        description: "Position in WAL up to which the instance received or replayed it; 0 on a primary"
pgstorage_wal:
  primary: true
  query: |
    WITH kept AS (
      SELECT pg_catalog.min(pg_catalog.substr(w.name, 9) COLLATE pg_catalog."C") AS first
      FROM pg_catalog.pg_ls_waldir() w
      WHERE w.name OPERATOR(pg_catalog.~) '^[0-9A-F]{24}$'
    ), segment AS (
      SELECT s.setting::bigint AS bytes FROM pg_catalog.pg_settings s WHERE s.name OPERATOR(pg_catalog.=) 'wal_segment_size'
    )
    SELECT coalesce(
      ('x' OPERATOR(pg_catalog.||) pg_catalog.substr(kept.first, 1, 8))::bit(32)::bigint OPERATOR(pg_catalog.*) 4294967296 OPERATOR(pg_catalog.+)
        (('x' OPERATOR(pg_catalog.||) pg_catalog.substr(kept.first, 9))::bit(32)::bigint OPERATOR(pg_catalog.*) segment.bytes), 0) AS kept_from_bytes
    FROM kept CROSS JOIN segment
  metrics:
    - kept_from_bytes:
        usage: "GAUGE"
        description: "Position in WAL from which on the primary keeps it"
pgstorage_synchronous:
  primary: true
  query: |
    SELECT pg_catalog.count(*) AS standbys
    FROM pg_catalog.pg_stat_replication r
    WHERE r.state OPERATOR(pg_catalog.=) 'streaming' AND r.sync_state OPERATOR(pg_catalog.=) ANY (ARRAY['sync', 'quorum'])
  metrics:
    - standbys:
        usage: "GAUGE"
        description: "Standbys that can confirm a commit"
pgstorage_commit:
  query: |
    SELECT pg_catalog.count(*) AS waiting,
      coalesce(pg_catalog.max(EXTRACT(EPOCH FROM (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) a.query_start))), 0) AS longest_wait_seconds
    FROM pg_catalog.pg_stat_activity a
    WHERE a.wait_event OPERATOR(pg_catalog.=) 'SyncRep'
  metrics:
    - waiting:
        usage: "GAUGE"
        description: "Sessions that wait for a standby to confirm their commit"
    - longest_wait_seconds:
        usage: "GAUGE"
        description: "Time since the oldest of them began"
pgstorage_xmin:
  query: |
    SELECT 'transaction' AS holder, coalesce(pg_catalog.max(pg_catalog.age(a.backend_xmin)), 0) AS age
    FROM pg_catalog.pg_stat_activity a
    WHERE a.backend_type OPERATOR(pg_catalog.=) 'client backend' AND a.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid()
    UNION ALL
    SELECT 'prepared transaction', coalesce(pg_catalog.max(pg_catalog.age(p.transaction)), 0)
    FROM pg_catalog.pg_prepared_xacts p
    UNION ALL
    SELECT 'replication slot', coalesce(pg_catalog.max(greatest(pg_catalog.age(s.xmin), pg_catalog.age(s.catalog_xmin))), 0)
    FROM pg_catalog.pg_replication_slots s
    UNION ALL
    SELECT 'standby', coalesce(pg_catalog.max(pg_catalog.age(r.backend_xmin)), 0)
    FROM pg_catalog.pg_stat_replication r
  metrics:
    - holder:
        usage: "LABEL"
        description: "What still needs dead rows"
    - age:
        usage: "GAUGE"
        description: "Age in transactions of the oldest snapshot; VACUUM removes no row that died later"
`
